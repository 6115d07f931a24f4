//! Calls: into methods that are followed, and of code without probes, which may
//! make events of its own and call back.
//!
//! The recording counts steps (conditionals, switches, calls, returns), and every
//! beginning of a method and every event that orders threads comes with the
//! count. So it is known which call a method began in, directly or through
//! code without probes, and when such a call is over: the next thing is of
//! another count, or stands in this frame's own code.

use crate::callee::Callee;
use crate::frame::{Caller, Val};
use crate::needs::{Need, Needs};
use crate::operate::Begun;
use crate::purity::Purity;
use crate::replay::{Lost, Replay, Step, sees};
use crate::stream::Item;
use classfile::op;
use predict::deps::ANYWHERE;
use std::rc::Rc;
use trace::Op;
use trace::tables::SiteKind;

/// A call that has begun.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    pub callee: u32,
    args: Vec<Val>,
    /// What the arguments depend on, insides included.
    given: Need,
    /// What the result depends on besides.
    pub result: Need,
    /// What the events in it make it depend on.
    seen: Need,
    /// The elements of an array that is copied.
    copied: Need,
    /// Code without probes has shown itself.
    foreign: bool,
    /// It is a step by itself.
    pub operation: Option<Begun>,
}

impl Replay<'_, '_> {
    /// A call instruction begins.
    pub(crate) fn call(&mut self, number: u32) -> Step {
        if self.thrown() {
            return Ok(());
        }
        let frame = self.frames.last_mut().ok_or(Lost)?;
        let body = Rc::clone(&frame.body);
        let callee = body.callees.get(number as usize).ok_or(Lost)?;
        let from = frame
            .stack
            .len()
            .checked_sub(callee.pops.into())
            .ok_or(Lost)?;
        let args = frame.stack.split_off(from);
        self.counted()?;
        if callee.throws
            && let Some(receiver) = args.first()
        {
            self.decides_all(receiver.need);
        }
        let mut given = Need::NOTHING;
        for arg in &args {
            let whole = self.contents(*arg);
            given = self.needs.union(given, whole);
        }
        let operation = self.operation(callee, &args);
        self.top()?.open = Some(Open {
            callee: number,
            args,
            given,
            result: Need::NOTHING,
            seen: Need::NOTHING,
            copied: Need::NOTHING,
            foreign: false,
            operation,
        });
        Ok(())
    }

    /// Within a call: the next thing that happens in it, or its end.
    pub(crate) fn calling(&mut self) -> Step {
        let head = self.head();
        let here = match head {
            Some((_, Item::Copy { place, .. })) => self.is_here(place),
            Some((number, Item::Event(Some(place)))) => {
                self.is_here(place) || self.is_elsewhere(number, place)
            }
            Some((_, Item::Event(None))) => true,
            _ => false,
        };
        let frame = self.frames.last_mut().ok_or(Lost)?;
        let body = Rc::clone(&frame.body);
        let open = frame.open.as_mut().ok_or(Lost)?;
        let callee = body.callees.get(open.callee as usize).ok_or(Lost)?;
        match head {
            Some((_, Item::Enter { method, steps })) if steps == self.steps => {
                let called = &self.program.methods[method as usize];
                let direct = !open.foreign
                    && callee.op != op::INVOKEDYNAMIC
                    && called.name == callee.name
                    && called.desc == callee.desc;
                if direct {
                    let args = open.args.clone();
                    let receiver = match callee.op {
                        op::INVOKEVIRTUAL | op::INVOKEINTERFACE => args.first(),
                        _ => None,
                    };
                    let dispatch = receiver.map(|r| r.need).unwrap_or_default();
                    let control = self.control();
                    let entry = self.needs.union(control, dispatch);
                    return self.enter(method, Caller::Direct, entry, Val::default(), Some(&args));
                }
                // Initialisers come before the call itself, and tell nothing
                // of who is called.
                let machine = called.name == "<clinit>" || is_machine(callee);
                open.foreign |= !machine;
                if machine {
                    let entry = self.control();
                    return self.enter(method, Caller::Machine, entry, Val::from_need(entry), None);
                }
                let args = open.args.clone();
                let mut all = self.needs.union(open.given, open.seen);
                if purity(callee, true) == Purity::Impure {
                    self.stats.impure(callee);
                    all = self.needs.everything();
                }
                for arg in args {
                    self.whole(arg);
                }
                let control = self.control();
                let entry = self.needs.union(control, all);
                self.enter(method, Caller::Foreign, entry, Val::from_need(all), None)
            }
            Some((number, Item::Event(_))) if here => {
                self.stream.take();
                self.foreign(number, callee)
            }
            Some((_, Item::Copy { count, .. })) if here => {
                self.stream.take();
                let given = open.given;
                let values = self.copied(given, count)?;
                self.top()?.open.as_mut().ok_or(Lost)?.copied = values;
                Ok(())
            }
            _ => self.over(callee),
        }
    }

    /// An event of code without probes, or of an access that the call is.
    fn foreign(&mut self, number: u32, callee: &Callee) -> Step {
        let event = self.events[number as usize];
        if is_machine(callee) {
            let happens = self.here(Need::NOTHING);
            self.emit(number, happens, Need::NOTHING, ANYWHERE, false);
            return Ok(());
        }
        let open = self.top()?.open.as_mut().ok_or(Lost)?;
        open.foreign = true;
        let (given, seen) = (open.given, open.seen);
        let mut object = self.needs.union(given, seen);
        match purity(callee, false) {
            Purity::Impure => {
                self.stats.impure(callee);
                object = self.needs.everything();
            }
            // What is printed does not matter.
            Purity::Output => object = Need::NOTHING,
            _ => {}
        }
        let happens = self.here(object);
        let class = match self.program.kind(event.site.0) {
            Some(
                SiteKind::FieldRead
                | SiteKind::FieldWrite
                | SiteKind::StaticRead
                | SiteKind::StaticWrite,
            ) => location(event.op),
            _ => ANYWHERE,
        };
        let at = self.emit(number, happens, object, class, false);
        let more = match event.op {
            // By what the table says, it does not depend on them.
            _ if matches!(callee.purity, Some(Purity::Pure | Purity::Total)) => Need::NOTHING,
            op if sees(op) => Needs::value(at),
            Op::Join(_) | Op::WaitEnd { .. } | Op::Interrupted | Op::SyncAcquire(_) => {
                Needs::happened(at)
            }
            Op::Acquire(_) | Op::AcquireShared(_) if callee.pushes > 0 => Needs::happened(at),
            _ => Need::NOTHING,
        };
        let seen = self.needs.union(seen, more);
        let frame = self.top()?;
        frame.progress();
        if let Some(open) = &mut frame.open {
            open.seen = seen;
        }
        Ok(())
    }

    /// The call of code without probes is over.
    fn over(&mut self, callee: &Callee) -> Step {
        let mut open = self.top()?.open.take().ok_or(Lost)?;
        if let Some(seen) = self.operated(open.operation.take(), false) {
            for arg in &open.args {
                self.whole(*arg);
            }
            let need = self.needs.union(open.given, seen);
            self.push(Val::from_need(need), callee.pushes as u8)?;
            return self.advance();
        }
        let mut got = self.needs.union(open.given, open.seen);
        got = self.needs.union(got, open.result);
        let receiver = open.args.first().copied().unwrap_or_default();
        let mut object = 0;
        let kind = purity(callee, open.foreign);
        // Streams and the like are given elements by code with probes, in calls
        // of their own, and give out later what they made of them.
        if callee.op == op::INVOKEINTERFACE && kind == Purity::Pure {
            self.hidden = self.needs.union(self.hidden, got);
        } else if open.foreign && kind == Purity::Events {
            got = self.needs.union(got, self.hidden);
        }
        match kind {
            Purity::Total => {}
            Purity::Pure => self.decides_all(got),
            Purity::Output => got = Need::NOTHING,
            Purity::State => {
                let known = self.inside_mut(receiver).is_some_and(|i| !i.shared);
                self.decides_all(open.given);
                if known {
                    self.fill(receiver, got);
                    got = self.contents(receiver);
                } else if callee.pushes > 0 {
                    got = self.needs.everything();
                }
                if callee.returns_self {
                    object = receiver.object;
                }
                for arg in open.args.get(1..).unwrap_or_default() {
                    self.whole(*arg);
                }
            }
            Purity::Events => {
                self.decides_all(got);
                for arg in &open.args {
                    self.whole(*arg);
                }
            }
            Purity::Impure => {
                self.stats.impure(callee);
                for arg in &open.args {
                    self.whole(*arg);
                }
                got = self.needs.everything();
                self.decides_all(got);
            }
        }
        if callee.name == "<init>" {
            self.fill(receiver, got);
        }
        // The copy's elements have no events of their own making.
        got = self.needs.union(got, open.copied);
        let mut value = Val { need: got, object };
        // Made from its arguments: what comes out later came from them.
        if callee.op == op::INVOKEDYNAMIC && callee.returns_ref {
            value = self.make(got);
        }
        self.push(value, callee.pushes as u8)?;
        self.advance()
    }

    /// The called method has returned.
    pub(crate) fn returned(&mut self, value: Option<Val>) -> Step {
        let frame = self.top()?;
        let body = Rc::clone(&frame.body);
        let mut open = frame.open.take().ok_or(Lost)?;
        let callee = body.callees.get(open.callee as usize).ok_or(Lost)?;
        let value = match self.operated(open.operation.take(), false) {
            Some(seen) => {
                let need = self.needs.union(open.given, seen);
                value.map(|_| Val::from_need(need))
            }
            None => value,
        };
        match value {
            Some(value) => self.push(value, callee.pushes as u8)?,
            None if callee.pushes == 0 => {}
            None => return Err(Lost),
        }
        self.advance()
    }
}

/// What to make of a callee without probes. Calls through an interface that
/// nothing is known of go to lambdas, if anything shows that they went
/// somewhere.
fn purity(callee: &Callee, showed: bool) -> Purity {
    match callee.purity.or(callee.otherwise) {
        Some(purity) => purity,
        None if showed && callee.op == op::INVOKEINTERFACE => Purity::Pure,
        None => Purity::Impure,
    }
}

/// Whether what shows before the callee itself is the JVM at work: linking, and
/// loading its class. Of methods that have probes, and of those that have no
/// events.
fn is_machine(callee: &Callee) -> bool {
    match callee.op {
        op::INVOKEDYNAMIC => true,
        op::INVOKESTATIC => matches!(callee.purity, None | Some(Purity::Total | Purity::Output)),
        _ => false,
    }
}

fn location(op: Op) -> u32 {
    match op {
        Op::Read(loc)
        | Op::Write(loc)
        | Op::AtomicRead(loc, _)
        | Op::AtomicWrite(loc, _)
        | Op::AtomicUpdate(loc, _) => loc.slot,
        _ => ANYWHERE,
    }
}
