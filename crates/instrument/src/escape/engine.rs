//! The data flow itself, to a fixpoint, over the sets of at most [`BITS`]
//! followed objects. A maker has two bits: the object that it made last, and all
//! those that it made before. So what it makes is always new.

use classfile::{Code, op};

use super::Mask;
use super::lower::{Access, Act, Followed, Lowered, Step};
use crate::jumps::each_target;

/// A slot may hold something that is not followed.
pub(super) const OTHER: Mask = 1 << 63;
/// A slot may hold null.
pub(super) const NULL: Mask = 1 << 62;
/// So many can be followed at a time.
pub(super) const BITS: usize = 62;
/// So many makers, with one bit to spare.
pub(super) const MAKERS: usize = 30;

/// The bit of what a maker made last.
pub(super) fn maker(at: usize) -> Mask {
    1 << (2 * at)
}

const LAST: Mask = 0x5555_5555_5555_5555;

/// Of bits of makers, those of what was made before.
pub(super) fn earlier(made: Mask) -> Mask {
    (made & LAST) << 1
}

/// And the other way round.
pub(super) fn later(made: Mask) -> Mask {
    made >> 1 & LAST
}

/// Slots touched, at most: against methods that nobody writes.
const FUEL: u64 = 5_000_000;

/// An access: what its object may be, and what may have escaped before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenAccess {
    pub(super) pc: u32,
    pub(super) holds: Mask,
    pub(super) escaped: Mask,
    pub(super) is_element: bool,
    pub(super) is_write: bool,
}

/// What the data flow found.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) accesses: Vec<SeenAccess>,
    /// What may have escaped anywhere.
    pub(super) ever: Mask,
}

#[derive(Clone, Debug)]
struct State {
    locals: Vec<Mask>,
    stack: Vec<Mask>,
    escaped: Mask,
}

impl State {
    /// Takes another way to the same place into account; whether that changed
    /// anything.
    fn merge(&mut self, other: &State) -> bool {
        let mut grew = other.escaped & !self.escaped != 0;
        self.escaped |= other.escaped;
        let mine = self.locals.iter_mut().chain(&mut self.stack);
        for (a, b) in mine.zip(other.locals.iter().chain(&other.stack)) {
            grew |= b & !*a != 0;
            *a |= b;
        }
        grew
    }

    fn peek(&self, depth: u16) -> Mask {
        let at = self.stack.len().checked_sub(usize::from(depth) + 1);
        // What is not there cannot be known to be ours.
        at.and_then(|at| self.stack.get(at).copied())
            .unwrap_or(OTHER)
    }

    fn slots(&self) -> u64 {
        (self.locals.len() + self.stack.len()) as u64 + 1
    }
}

pub(super) struct Engine<'x> {
    code: &'x Code<'x>,
    lowered: &'x Lowered,
    /// Bits of what the method makes.
    made: Mask,
    /// By bit, what may be an element of it.
    elements: [Mask; BITS],
    elements_grew: bool,
    /// Where jumps lead and handlers begin, end or are: indices, sorted.
    starts: Vec<usize>,
    /// By start, the state there.
    entry: Vec<Option<State>>,
    queued: Vec<bool>,
    fuel: u64,
    seen: Seen,
}

/// It would take too long.
struct OutOfFuel;

impl<'x> Engine<'x> {
    /// `None` if the method is too large.
    pub(super) fn run(
        code: &'x Code<'x>,
        lowered: &'x Lowered,
        followed: &Followed<'_>,
    ) -> Option<Seen> {
        let starts = starts(code);
        let mut elements = [0; BITS];
        for (at, elements) in elements.iter_mut().enumerate() {
            // An array of arrays comes with its elements, which go by its bit.
            *elements = (lowered.nested | earlier(lowered.nested)) & 1 << at;
        }
        let mut engine = Engine {
            code,
            lowered,
            made: followed.made(),
            elements,
            elements_grew: false,
            entry: vec![None; starts.len()],
            queued: vec![false; starts.len()],
            starts,
            fuel: FUEL,
            seen: Seen::default(),
        };
        let mut start = State {
            locals: vec![OTHER; usize::from(code.max_locals)],
            stack: Vec::new(),
            escaped: 0,
        };
        let params = if followed.this { 1 } else { followed.params };
        for slot in 0..params {
            if let Some(local) = start.locals.get_mut(usize::from(slot)) {
                *local = followed.param(slot);
            }
        }
        engine.arrive(0, &start).ok()?;
        engine.reach_fixpoint().ok()?;
        engine.look().ok()?;
        Some(engine.seen)
    }

    fn reach_fixpoint(&mut self) -> Result<(), OutOfFuel> {
        loop {
            let mut any = false;
            for block in 0..self.queued.len() {
                if std::mem::take(&mut self.queued[block]) {
                    any = true;
                    self.block(block, false)?;
                }
            }
            if std::mem::take(&mut self.elements_grew) {
                // What was loaded, or escaped with its array, may be more now.
                for (queued, entry) in self.queued.iter_mut().zip(&self.entry) {
                    *queued = entry.is_some();
                }
            } else if !any {
                return Ok(());
            }
        }
    }

    /// Once nothing changes any more: what there is to say.
    fn look(&mut self) -> Result<(), OutOfFuel> {
        for block in 0..self.starts.len() {
            self.block(block, true)?;
        }
        Ok(())
    }

    fn block(&mut self, block: usize, look: bool) -> Result<(), OutOfFuel> {
        let Some(mut state) = self.entry[block].clone() else {
            return Ok(());
        };
        let (code, lowered) = (self.code, self.lowered);
        let end = self.starts.get(block + 1).copied();
        let end = end.unwrap_or(code.insns.len());
        let handlers = self.handlers(self.starts[block]);
        let length = end - self.starts[block] + code.handlers.len();
        self.spend(state.slots() + length as u64)?;
        // What a handler sees has changed since it was last told.
        let mut news = true;
        for at in self.starts[block]..end {
            let Some(Some(step)) = lowered.steps.get(at) else {
                return Ok(());
            };
            let insn = &code.insns[at];
            if let Some(access) = step.access.filter(|_| look) {
                self.note(insn.pc, access, &state);
            }
            let escaped = state.escaped;
            self.let_go(step, &mut state);
            news |= state.escaped != escaped;
            if news && !handlers.is_empty() {
                news = false;
                self.throw(&handlers, &state)?;
            }
            self.act(step.act, &mut state);
            self.seen.ever |= state.escaped;
            news |= matches!(
                step.act,
                Act::Store(_) | Act::Clear(..) | Act::Make { .. } | Act::StoreElement
            );
            let mut outcome = Ok(());
            each_target(&insn.operand, |to| {
                if outcome.is_ok() {
                    outcome = self.arrive_at(to, &state);
                }
            });
            outcome?;
            if op::ends_flow(insn.op) {
                return Ok(());
            }
        }
        if block + 1 < self.starts.len() {
            self.arrive(block + 1, &state)?;
        }
        Ok(())
    }

    fn note(&mut self, pc: u32, access: Access, state: &State) {
        self.seen.accesses.push(SeenAccess {
            pc,
            holds: state.peek(access.depth),
            escaped: state.escaped,
            is_element: access.is_element,
            is_write: access.is_write,
        });
    }

    /// What the instruction hands to others.
    fn let_go(&mut self, step: &Step, state: &mut State) {
        for depth in &step.escapes {
            let held = state.peek(*depth);
            self.escape(held, state);
        }
        for depth in &step.lent {
            // The array stays ours; its elements may go, and others may come.
            for bit in bits(state.peek(*depth) & self.made) {
                self.escape(self.elements[bit], state);
                self.add_element(bit, OTHER);
            }
        }
        if let Act::StoreElement = step.act {
            let (array, value) = (state.peek(2), state.peek(0));
            let ours = array & self.made & !state.escaped;
            if array & !NULL != ours {
                self.escape(value, state);
            }
            for bit in bits(array & self.made) {
                self.add_element(bit, value & !NULL);
            }
        }
    }

    /// These escape, with all that can be reached from them.
    fn escape(&self, held: Mask, state: &mut State) {
        let mut left = held & !(OTHER | NULL) & !state.escaped;
        while left != 0 {
            state.escaped |= left;
            let reached = bits(left).fold(0, |all, bit| all | self.elements[bit]);
            left = reached & !(OTHER | NULL) & !state.escaped;
        }
    }

    /// Elements are kept for the whole method: what is the last now, array or
    /// value, may be an earlier one when somebody looks.
    fn add_element(&mut self, array: usize, value: Mask) {
        let value = value | earlier(value & self.made);
        for array in bits(1 << array | earlier(1 << array & self.made)) {
            self.elements_grew |= value & !self.elements[array] != 0;
            self.elements[array] |= value;
        }
    }

    fn act(&mut self, act: Act, state: &mut State) {
        let State { locals, stack, .. } = state;
        match act {
            Act::Nothing => {}
            Act::Load(local) => {
                let held = locals.get(usize::from(local)).copied();
                stack.push(held.unwrap_or(OTHER));
            }
            Act::Store(local) => {
                let held = stack.pop().unwrap_or(OTHER);
                if let Some(local) = locals.get_mut(usize::from(local)) {
                    *local = held;
                }
            }
            Act::Clear(local, slots) => {
                for at in local..local.saturating_add(slots) {
                    stack.pop();
                    if let Some(local) = locals.get_mut(usize::from(at)) {
                        *local = 0;
                    }
                }
            }
            Act::Dup { count, below } => {
                let (count, below) = (usize::from(count), usize::from(below));
                if let Some(at) = stack.len().checked_sub(count + below) {
                    let copies = stack[stack.len() - count..].to_vec();
                    stack.splice(at..at, copies);
                }
            }
            Act::Swap => {
                let len = stack.len();
                if len >= 2 {
                    stack.swap(len - 1, len - 2);
                }
            }
            Act::LoadElement => {
                let array = state.peek(1);
                let ours = array & self.made & !state.escaped;
                let mut held = NULL;
                if array & !NULL != ours {
                    held |= OTHER;
                }
                held |= bits(array & self.made).fold(0, |all, bit| all | self.elements[bit]);
                state.stack.pop();
                state.stack.pop();
                state.stack.push(held);
            }
            Act::StoreElement => stack.truncate(stack.len().saturating_sub(3)),
            Act::Result { keep, push, value } => {
                stack.truncate(usize::from(keep));
                if push > 0 {
                    stack.push(value);
                    stack.resize(usize::from(keep + push), 0);
                }
            }
            Act::Make { keep, bit } => {
                stack.truncate(usize::from(keep));
                self.make(bit, state);
            }
        }
    }

    /// A new object; what was made here before goes by the other bit from now on.
    fn make(&self, bit: Mask, state: &mut State) {
        let slots = state.locals.iter_mut().chain(&mut state.stack);
        for held in slots.chain([&mut state.escaped]) {
            if *held & bit != 0 {
                *held = *held & !bit | earlier(bit);
            }
        }
        state.stack.push(bit);
    }

    fn spend(&mut self, amount: u64) -> Result<(), OutOfFuel> {
        self.fuel = self.fuel.checked_sub(amount).ok_or(OutOfFuel)?;
        Ok(())
    }

    fn arrive_at(&mut self, pc: u32, state: &State) -> Result<(), OutOfFuel> {
        let at = self.code.index_of(pc);
        match at.and_then(|at| self.starts.binary_search(&at).ok()) {
            Some(block) => self.arrive(block, state),
            None => Ok(()),
        }
    }

    fn arrive(&mut self, block: usize, state: &State) -> Result<(), OutOfFuel> {
        self.spend(state.slots())?;
        let grew = match &mut self.entry[block] {
            Some(entry) => entry.merge(state),
            empty => {
                *empty = Some(state.clone());
                true
            }
        };
        self.queued[block] |= grew;
        Ok(())
    }

    fn throw(&mut self, handlers: &[usize], state: &State) -> Result<(), OutOfFuel> {
        let caught = State {
            locals: state.locals.clone(),
            stack: vec![OTHER],
            escaped: state.escaped,
        };
        for block in handlers {
            self.arrive(*block, &caught)?;
        }
        Ok(())
    }

    /// The blocks of the handlers that cover the instruction.
    fn handlers(&self, at: usize) -> Vec<usize> {
        let pc = self.code.insns[at].pc;
        let covering = self.code.handlers.iter();
        let covering = covering.filter(|h| (h.start..h.end).contains(&pc));
        let blocks = covering.filter_map(|h| {
            let at = self.code.index_of(h.handler)?;
            self.starts.binary_search(&at).ok()
        });
        blocks.collect()
    }
}

fn starts(code: &Code<'_>) -> Vec<usize> {
    let mut starts = vec![0];
    let mut start = |pc: u32| starts.extend(code.index_of(pc));
    for insn in &code.insns {
        each_target(&insn.operand, &mut start);
    }
    for h in &code.handlers {
        [h.start, h.end, h.handler].into_iter().for_each(&mut start);
    }
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// The numbers of the bits that are set.
fn bits(mut mask: Mask) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros() as usize;
        mask &= mask.wrapping_sub(1);
        (bit < BITS).then_some(bit)
    })
}
