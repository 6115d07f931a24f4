//! What each instruction does to the top frame.

use crate::body::{Act, Body, ELEMENTS};
use crate::frame::Val;
use crate::needs::{Need, Needs};
use crate::program::Place;
use crate::replay::{Lost, Replay, Step, sees};
use crate::stream::Item;
use classfile::op;
use predict::deps::ANYWHERE;
use std::rc::Rc;
use trace::Op;

impl Replay<'_, '_> {
    pub(crate) fn act(&mut self, body: &Rc<Body>, act: &Act) -> Step {
        match act {
            &Act::Compute {
                pops,
                pushes,
                throws,
            } => {
                // Of a division, the divisor; else there is but one.
                let risk = self.top()?.stack.last().copied().unwrap_or_default();
                let (need, object) = self.pop(pops.into())?;
                if throws {
                    self.decides_all(risk.need);
                }
                // A cast is of the same object.
                let object = if pops == 1 && pushes == 1 { object } else { 0 };
                self.push(Val { need, object }, pushes)?;
                self.advance()
            }
            &Act::Load { local, wide } => {
                let value = *self.top()?.locals.get(usize::from(local)).ok_or(Lost)?;
                self.push(value, 1 + u8::from(wide))?;
                self.advance()
            }
            &Act::Store { local, wide } => {
                let width = 1 + usize::from(wide);
                let stack = &mut self.top()?.stack;
                let value = *stack.last().ok_or(Lost)?;
                let left = stack.len().checked_sub(width).ok_or(Lost)?;
                stack.truncate(left);
                self.set(local, width, value)?;
                self.advance()
            }
            &Act::Iinc(local) => {
                let value = *self.top()?.locals.get(usize::from(local)).ok_or(Lost)?;
                self.set(local, 1, value)?;
                self.advance()
            }
            &Act::Shuffle(opcode) => {
                shuffle(opcode, &mut self.top()?.stack).ok_or(Lost)?;
                self.advance()
            }
            &Act::If {
                pops,
                sense,
                target,
            } => {
                if self.thrown() {
                    return Ok(());
                }
                let (need, _) = self.pop(pops.into())?;
                let bit = self.stream.next_bit().ok_or(Lost)?;
                self.counted()?;
                let behind = self.top()?.at + 1;
                let to = if bit == sense { target } else { behind };
                self.decide(body, to, need)
            }
            &Act::Goto { target, back } => {
                if back {
                    if self.thrown() {
                        return Ok(());
                    }
                    self.stream.next_bit().ok_or(Lost)?;
                    self.counted()?;
                }
                self.jump(target)
            }
            Act::Switch { default, cases } => {
                if self.thrown() {
                    return Ok(());
                }
                let (need, _) = self.pop(1)?;
                let Some((_, Item::Key { place, key })) = self.head() else {
                    return Err(Lost);
                };
                if !self.is_here(place) {
                    return Err(Lost);
                }
                self.stream.take();
                self.counted()?;
                let to = match cases.binary_search_by_key(&key, |c| c.0) {
                    Ok(at) => cases[at].1,
                    Err(_) => *default,
                };
                self.decide(body, to, need)
            }
            &Act::Return(width) => {
                let value = match width {
                    0 => None,
                    _ => Some(*self.top()?.stack.last().ok_or(Lost)?),
                };
                self.leave(value)
            }
            Act::Throw => {
                let value = *self.top()?.stack.last().ok_or(Lost)?;
                self.decides_all(value.need);
                // It comes down somewhere, or out of a constructor.
                if !self.thrown() {
                    self.throw();
                }
                Ok(())
            }
            &Act::Field {
                write,
                is_static,
                slots,
                throws,
            } => self.field(write, is_static, slots, throws),
            &Act::Elem { write, slots, refs } => self.element(write, slots, refs),
            Act::New => {
                let value = self.make(Need::NOTHING);
                self.push(value, 1)?;
                self.advance()
            }
            &Act::NewArray { pops } => {
                let (need, _) = self.pop(pops.into())?;
                self.decides_all(need);
                let value = self.make(need);
                self.push(value, 1)?;
                self.advance()
            }
            Act::Monitor => {
                let (need, _) = self.pop(1)?;
                self.decides_all(need);
                while let Some((number, Item::Event(Some(place)))) = self.head() {
                    if !self.is_here(place) {
                        break;
                    }
                    self.stream.take();
                    let happens = self.here(need);
                    self.emit(number, happens, Need::NOTHING, ANYWHERE, false);
                    self.top()?.progress();
                }
                self.advance()
            }
            &Act::Call(callee) => self.call(callee),
        }
    }

    /// A step: nothing that came before it has thrown.
    pub(crate) fn counted(&mut self) -> Step {
        self.steps = self.steps.wrapping_add(1);
        self.top()?.progress();
        Ok(())
    }

    /// Takes slots off the stack: what they depend on, and the object if it is
    /// one.
    pub(crate) fn pop(&mut self, count: usize) -> Step<(Need, u32)> {
        let stack = &mut self.frames.last_mut().ok_or(Lost)?.stack;
        let from = stack.len().checked_sub(count).ok_or(Lost)?;
        let mut need = Need::NOTHING;
        for value in &stack[from..] {
            need = self.needs.union(need, value.need);
        }
        let object = match &stack[from..] {
            [only] => only.object,
            _ => 0,
        };
        stack.truncate(from);
        Ok((need, object))
    }

    pub(crate) fn push(&mut self, value: Val, slots: u8) -> Step {
        let stack = &mut self.top()?.stack;
        for _ in 0..slots {
            stack.push(value);
        }
        // The largest that a class file can ask for.
        if stack.len() > usize::from(u16::MAX) {
            return Err(Lost);
        }
        Ok(())
    }

    /// Sets a local. The value also depends on control having come here; and
    /// if something has thrown, maybe before this, on what was there before.
    fn set(&mut self, local: u16, width: usize, value: Val) -> Step {
        let control = self.control();
        let mut need = self.needs.union(value.need, control);
        let pending = self.pending();
        let from = usize::from(local);
        if pending {
            let had = *self.top()?.locals.get(from).ok_or(Lost)?;
            need = self.needs.union(need, had.need);
        }
        let slots = self.top()?.locals.get_mut(from..from + width);
        let object = if pending { 0 } else { value.object };
        slots.ok_or(Lost)?.fill(Val { need, object });
        Ok(())
    }

    /// Whether a site is the instruction of the top frame.
    pub(crate) fn is_here(&self, place: Place) -> bool {
        self.frames.last().is_some_and(|frame| {
            frame.method == place.method && frame.body.pcs.get(frame.at as usize) == Some(&place.pc)
        })
    }

    /// Whether an event comes from a method that nobody told of when it began,
    /// since the JDK ran it for itself; but it is told at which step.
    pub(crate) fn is_elsewhere(&self, number: u32, place: Place) -> bool {
        let mine = self.frames.last().is_some_and(|f| f.method == place.method);
        !mine && self.told == self.steps && self.events[number as usize].op.is_sync()
    }

    /// The event of the access at the current instruction, if it had one, with
    /// what came before it there. `object` is what it names.
    fn accessed(&mut self, object: Need, value: Need, class: Option<u32>) -> Step<Option<u32>> {
        while let Some((number, Item::Event(Some(place)))) = self.head() {
            if !self.is_here(place) {
                break;
            }
            self.stream.take();
            let happens = self.here(object);
            let (loc, load, access) = match self.events[number as usize].op {
                Op::Read(loc) | Op::Write(loc) => (Some(loc), false, true),
                Op::AtomicRead(loc, _) => (Some(loc), true, true),
                Op::AtomicWrite(loc, _) | Op::AtomicUpdate(loc, _) => (Some(loc), false, true),
                _ => (None, false, false),
            };
            let class = class.or(loc.map(|l| l.slot)).unwrap_or(ANYWHERE);
            let event = self.emit(number, happens, value, class, load);
            self.top()?.progress();
            if access {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    fn field(&mut self, write: bool, is_static: bool, slots: u8, throws: bool) -> Step {
        let value = match write {
            true => {
                let value = *self.top()?.stack.last().ok_or(Lost)?;
                self.pop(slots.into())?;
                Some(value)
            }
            false => None,
        };
        let (need, object) = match is_static {
            true => (Need::NOTHING, 0),
            false => self.pop(1)?,
        };
        if throws {
            self.decides_all(need);
        }
        let object = Val { need, object };
        let Some(value) = value else {
            let read = self.accessed(need, Need::NOTHING, None)?;
            let need = match read {
                Some(event) => Needs::value(event),
                None => self.contents(object),
            };
            self.push(Val::from_need(need), slots)?;
            return self.advance();
        };
        let known =
            matches!(self.head(), Some((_, Item::Event(Some(place)))) if self.is_here(place));
        if known {
            let whole = self.whole(value);
            self.accessed(need, whole, None)?;
        } else if is_static {
            // Final: a thread that reads it comes after the initialiser.
            self.whole(value);
        } else {
            let inside = self.contents(value);
            let control = self.control();
            let inside = self.needs.union(inside, control);
            self.fill(object, inside);
        }
        self.advance()
    }

    fn element(&mut self, write: bool, slots: u8, refs: bool) -> Step {
        let value = match write {
            true => {
                let value = *self.top()?.stack.last().ok_or(Lost)?;
                self.pop(slots.into())?;
                Some(value)
            }
            false => None,
        };
        let (index, _) = self.pop(1)?;
        let (array, object) = self.pop(1)?;
        let array = Val {
            need: array,
            object,
        };
        let named = self.needs.union(array.need, index);
        // The length counts, too.
        let length = self.contents(array);
        let bounds = self.needs.union(length, index);
        match value {
            None => {
                self.decides_all(bounds);
                let read = self.accessed(named, Need::NOTHING, Some(ELEMENTS))?;
                let need = match read {
                    Some(event) => Needs::value(event),
                    None => bounds,
                };
                self.push(Val::from_need(need), slots)?;
            }
            Some(value) => {
                let whole = self.whole(value);
                // A reference may not fit into the array.
                let risk = match refs {
                    true => self.needs.union(bounds, value.need),
                    false => bounds,
                };
                self.decides_all(risk);
                if self.accessed(named, whole, Some(ELEMENTS))?.is_none() {
                    self.fill(array, whole);
                }
            }
        }
        self.advance()
    }

    /// The accesses of a copied array, at its call: the values that were read,
    /// and whether there were any.
    pub(crate) fn copied(&mut self, named: Need, mut count: u32) -> Step<Need> {
        let mut values = Need::NOTHING;
        while count > 0 {
            let Some((number, Item::Event(Some(place)))) = self.head() else {
                return Err(Lost);
            };
            if !self.is_here(place) {
                return Err(Lost);
            }
            self.stream.take();
            count -= 1;
            let happens = self.here(named);
            let event = self.emit(number, happens, values, ELEMENTS, false);
            if sees(self.events[number as usize].op) {
                values = self.needs.union(values, Needs::value(event));
            }
        }
        self.top()?.progress();
        Ok(values)
    }
}

/// Stack manipulation, on slots.
fn shuffle(opcode: u8, stack: &mut Vec<Val>) -> Option<()> {
    let n = stack.len();
    let top = |depth: usize| n.checked_sub(depth).and_then(|i| stack.get(i)).copied();
    match opcode {
        op::POP => stack.truncate(n.checked_sub(1)?),
        op::POP2 => stack.truncate(n.checked_sub(2)?),
        op::DUP => {
            let a = top(1)?;
            stack.push(a);
        }
        op::DUP_X1 => {
            let a = top(1)?;
            stack.insert(n.checked_sub(2)?, a);
        }
        op::DUP_X2 => {
            let a = top(1)?;
            stack.insert(n.checked_sub(3)?, a);
        }
        op::DUP2 => {
            let (b, a) = (top(2)?, top(1)?);
            stack.extend([b, a]);
        }
        op::DUP2_X1 => {
            let (b, a) = (top(2)?, top(1)?);
            let at = n.checked_sub(3)?;
            stack.splice(at..at, [b, a]);
        }
        op::DUP2_X2 => {
            let (b, a) = (top(2)?, top(1)?);
            let at = n.checked_sub(4)?;
            stack.splice(at..at, [b, a]);
        }
        op::SWAP => stack.swap(n.checked_sub(2)?, n.checked_sub(1)?),
        _ => return None,
    }
    Some(())
}
