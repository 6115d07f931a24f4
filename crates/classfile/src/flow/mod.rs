//! What lies on the stack and in the locals before each instruction, and where
//! it came from.
//!
//! # Algorithm
//! Forward data flow to a fixpoint. Code is cut into blocks (at jump targets,
//! handlers, borders of guarded ranges, and every 64 instructions); each block
//! has one state at its start, and a block is run again when that state grew.
//! Where paths meet, slots merge: equal stays, null gives way to any reference,
//! two different reference types become `java/lang/Object`, everything else
//! becomes unusable; different origins become unknown. A handler receives the
//! locals as they are at the start of each guarded block and after every change
//! to them. A `ret` goes back behind every reached `jsr` to its subroutine.
//!
//! # What it claims
//! A kind or origin it reports holds on every path, for code that a verifier
//! accepts. It says less than it could in three places: interfaces and common
//! superclasses are not looked for (merging gives Object), locals that a
//! subroutine leaves alone are merged over its callers, and an `int` is an
//! `int` whether it is meant as a boolean or not. It needs no stack maps, ends
//! on any input, and gives up ([`FlowError::TooComplex`]) rather than eat
//! memory.

mod block;
mod step;
mod types;

use crate::{ClassFile, Code, class::acc, desc, op};
use block::Blocks;
use step::Effect;
use types::Types;
pub use types::{Kind, Origin, State, TypeId, Value};

/// Why a method could not be analysed: no verifier would accept it, or it is
/// absurdly large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    #[error("the stack underflows, overflows or differs in depth at pc {0}")]
    Stack(u32),
    #[error("a local beyond max_locals is used at pc {0}")]
    Local(u32),
    #[error("the constant used at pc {0} is missing or of the wrong kind")]
    Constant(u32),
    #[error("control falls off the end of the code")]
    FallsOff,
    #[error("the method's descriptor is malformed")]
    Descriptor,
    #[error("the analysis would take too much memory or time")]
    TooComplex,
}

/// The states of one method.
#[derive(Debug)]
pub struct Flow<'c> {
    code: &'c Code<'c>,
    types: Types,
    /// By instruction, what the constant it names means for the stack.
    effects: Vec<Effect>,
    blocks: Blocks,
    /// By block, the state at its start; `None` if nothing arrives there.
    entry: Vec<Option<State>>,
}

/// Slots touched plus instructions run, at most. The largest methods of the JDK
/// take a fiftieth of it.
const FUEL: u64 = 50_000_000;

/// What a slot that is kept costs, against one that is only looked at: memory
/// is the scarcer good.
const KEPT: u64 = 16;

impl<'c> Flow<'c> {
    pub fn analyze(class: &ClassFile<'_>, code: &'c Code<'c>) -> Result<Flow<'c>, FlowError> {
        let mut types = Types::new(&class.name());
        let effects = step::effects(&class.pool, code, &mut types)?;
        let start = start_state(class, code, &mut types)?;
        let blocks = Blocks::new(code, &class.pool, &mut types)?;
        let entry = vec![None; blocks.len()];
        let flow = Flow {
            code,
            types,
            effects,
            blocks,
            entry,
        };
        let mut run = Run {
            queued: vec![false; flow.blocks.len()],
            fuel: FUEL,
            flow,
        };
        run.arrive(0, &start, 0)?;
        run.reach_fixpoint()?;
        Ok(run.flow)
    }

    /// The state before the instruction at `pc`; `None` where no instruction
    /// starts or control never arrives. Costs a short replay: to see all of
    /// them, use [`Flow::walk`].
    pub fn before(&self, pc: u32) -> Option<State> {
        let at = self.code.index_of(pc)?;
        let block = self.blocks.containing(at);
        let mut state = self.entry[block].clone()?;
        for i in self.blocks.range(block).start..at {
            self.step(i, &mut state).ok()?;
            if op::ends_flow(self.code.insns[i].op) {
                return None;
            }
        }
        Some(state)
    }

    /// Calls `visit` for every instruction that control can reach (its index in
    /// [`Code::insns`]) with the state before it, in the order of pcs.
    pub fn walk(&self, mut visit: impl FnMut(usize, &State)) {
        let mut state = State::default();
        for (block, entry) in self.entry.iter().enumerate() {
            let Some(entry) = entry else { continue };
            state.clone_from(entry);
            for i in self.blocks.range(block) {
                visit(i, &state);
                // Every step succeeded during the analysis already.
                if self.step(i, &mut state).is_err() || self.leaves(i) {
                    break;
                }
            }
        }
    }

    /// The state behind an instruction (by index), from the one before it that
    /// [`Flow::walk`] showed.
    pub fn after(&self, index: usize, before: &State) -> Option<State> {
        self.effects.get(index)?;
        let mut state = before.clone();
        self.step(index, &mut state).ok()?;
        Some(state)
    }

    /// Internal name of a class, or descriptor of an array type.
    pub fn type_name(&self, id: TypeId) -> String {
        self.types.name(id)
    }

    /// The instruction does not pass control to the one behind it.
    fn leaves(&self, i: usize) -> bool {
        let op = self.code.insns[i].op;
        op::ends_flow(op) || matches!(op, op::JSR | op::JSR_W)
    }
}

/// The state a method starts in.
fn start_state(
    class: &ClassFile<'_>,
    code: &Code<'_>,
    types: &mut Types,
) -> Result<State, FlowError> {
    let method = class.methods.get(code.method_index);
    let method = method.ok_or(FlowError::Descriptor)?;
    let descriptor = class.member_desc(method);
    let descriptor = desc::method(&descriptor).map_err(|_| FlowError::Descriptor)?;
    let mut state = State {
        locals: vec![Value::TOP; usize::from(code.max_locals)],
        stack: Vec::new(),
    };
    let mut at = 0u16;
    let mut put = |kind: Kind, slots: u16| {
        let value = Value {
            kind,
            origin: Origin::Param(at),
        };
        let slot = state.locals.get_mut(usize::from(at));
        *slot.ok_or(FlowError::Local(0))? = value;
        at = at.saturating_add(slots);
        Ok(())
    };
    if method.access & acc::STATIC == 0 {
        let fresh = class.member_name(method) == "<init>" && class.name() != "java/lang/Object";
        let this = if fresh {
            Kind::UninitThis
        } else {
            Kind::Ref(types.this())
        };
        put(this, 1)?;
    }
    for param in descriptor.params() {
        put(types.kind_of(param), desc::slots(param))?;
    }
    if usize::from(at) > state.locals.len() {
        return Err(FlowError::Local(0));
    }
    Ok(state)
}

/// The analysis while it runs.
struct Run<'c> {
    flow: Flow<'c>,
    /// By block, whether its state grew since it was last run.
    queued: Vec<bool>,
    fuel: u64,
}

impl Run<'_> {
    fn reach_fixpoint(&mut self) -> Result<(), FlowError> {
        let mut state = State::default();
        loop {
            let mut any = false;
            for block in 0..self.queued.len() {
                if std::mem::take(&mut self.queued[block]) {
                    any = true;
                    self.run_block(block, &mut state)?;
                }
            }
            if !any {
                return Ok(());
            }
        }
    }

    fn run_block(&mut self, block: usize, state: &mut State) -> Result<(), FlowError> {
        match &self.flow.entry[block] {
            Some(entry) => state.clone_from(entry),
            None => return Ok(()),
        }
        let code = self.flow.code;
        let range = self.flow.blocks.range(block);
        self.spend((range.len() + state.locals.len() + state.stack.len()) as u64)?;
        self.throw(block, state)?;
        for i in range.clone() {
            let pc = code.insns[i].pc;
            if self.flow.step(i, state)? {
                self.throw(block, state)?;
            }
            match &code.insns[i].operand {
                &crate::Operand::Branch(target) => {
                    self.arrive_at(target, state)?;
                    if matches!(code.insns[i].op, op::JSR | op::JSR_W) {
                        // A new way into the subroutine is a new way out of it.
                        for b in self.flow.blocks.with_ret() {
                            self.queued[*b] = self.flow.entry[*b].is_some();
                        }
                    }
                }
                crate::Operand::Switch(switch) => {
                    self.arrive_at(switch.default, state)?;
                    for &(_, target) in &switch.cases {
                        self.arrive_at(target, state)?;
                    }
                }
                _ if code.insns[i].op == op::RET => self.come_back(i, state)?,
                _ => {}
            }
            if self.flow.leaves(i) {
                return Ok(());
            }
            if i + 1 == code.insns.len() {
                return Err(FlowError::FallsOff);
            }
            if i + 1 == range.end {
                self.arrive(block + 1, state, pc)?;
            }
        }
        Ok(())
    }

    fn spend(&mut self, amount: u64) -> Result<(), FlowError> {
        self.fuel = self.fuel.checked_sub(amount).ok_or(FlowError::TooComplex)?;
        Ok(())
    }

    /// Control reaches the block that starts at a pc.
    fn arrive_at(&mut self, pc: u32, state: &State) -> Result<(), FlowError> {
        let at = self.flow.code.index_of(pc).ok_or(FlowError::FallsOff)?;
        self.arrive(self.flow.blocks.containing(at), state, pc)
    }

    /// Control reaches a block in `state`.
    fn arrive(&mut self, block: usize, state: &State, pc: u32) -> Result<(), FlowError> {
        self.spend((state.locals.len() + state.stack.len()) as u64 + 1)?;
        let grew = match &mut self.flow.entry[block] {
            Some(entry) => entry.merge(state).ok_or(FlowError::Stack(pc))?,
            empty => {
                *empty = Some(state.clone());
                self.spend((state.locals.len() + state.stack.len()) as u64 * KEPT)?;
                true
            }
        };
        self.queued[block] |= grew;
        Ok(())
    }

    /// An instruction of the block may throw with these locals.
    fn throw(&mut self, block: usize, state: &mut State) -> Result<(), FlowError> {
        let count = self.flow.blocks.handlers(block).len();
        if count == 0 {
            return Ok(());
        }
        let stack = std::mem::take(&mut state.stack);
        let mut outcome = Ok(());
        for h in 0..count {
            let (to, caught) = self.flow.blocks.handlers(block)[h];
            state.stack.clear();
            state.stack.push(Value {
                kind: Kind::Ref(caught),
                origin: Origin::Unknown,
            });
            let pc = self.flow.code.insns[self.flow.blocks.range(to).start].pc;
            outcome = self.arrive(to, state, pc);
            if outcome.is_err() {
                break;
            }
        }
        state.stack = stack;
        outcome
    }

    /// A `ret` goes back behind the `jsr`s to its subroutine.
    fn come_back(&mut self, i: usize, state: &State) -> Result<(), FlowError> {
        let insn = &self.flow.code.insns[i];
        let local = insn.local().and_then(|n| state.locals.get(usize::from(n)));
        let Some(&Value {
            kind: Kind::ReturnAddress(subroutine),
            ..
        }) = local
        else {
            return Err(FlowError::Local(insn.pc));
        };
        for at in 0..self.flow.blocks.calls().len() {
            let (target, next) = self.flow.blocks.calls()[at];
            // The block that ends in the jsr is the one before.
            let reached = next > 0 && self.flow.entry[next - 1].is_some();
            if target == subroutine && reached {
                self.arrive(next, state, insn.pc)?;
            }
        }
        Ok(())
    }
}
