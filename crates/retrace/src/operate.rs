//! Calls of methods that are atomic by themselves, each told as one critical section.
//!
//! What `map.put(k, v)` does inside depends on what others have put: another bucket, a
//! failed compare-and-set, a larger table. An order of the recorded events in which somebody else's `put` comes
//! first cannot have the same events inside. But the call as a whole is one step in every
//! order. So its events are left out, and these are told instead:
//! `Acquire`, `Read`, `Write` (if it changes anything), `Release` of an imaginary lock and variable of the
//! object, inside of the locks that it takes in truth: others may hold those for longer. They stand where
//! the call's last write stood.
//!
//! # What is assumed
//! The table of [operations](crate::operations), and that equal keys are in the same bucket, different ones
//! usually in different ones: a keyed call is about the first element of an array that it touches.
//! Objects of the JDK that one such call touches are taken to be one object. One on which no call takes a lock or
//! accesses anything volatile, a plain `ArrayList`, has no imaginary lock: its calls are only as atomic as
//! the program's own locks make them.
//!
//! # What stays as it is
//! Calls in which code of the program makes events (callbacks, the program's own collections), in which
//! a thread waits, or that touch an object that somebody waits for.

use crate::callee::Callee;
use crate::frame::{Caller, Val};
use crate::needs::{Need, Needs, Out};
use crate::operations::{Kind, Operation};
use crate::replay::Replay;
use classfile::{acc, op};
use smallvec::SmallVec;
use trace::tables::SiteKind;
use trace::{Loc, LockId, ObjId, Op, SiteId};

/// The class of the imaginary variables.
const CLASS: u32 = u32::MAX - 2;

/// Slots of imaginary variables: the whole, and behind it the elements.
pub(crate) const WHOLE: u32 = 0xF000_0000;

/// Decisions that are looked at, in each of so many frames.
const DECISIONS: usize = 4;
const FRAMES: usize = 2;

/// What the nearest decisions asked, each with whether it is a loop's.
pub(crate) type Steering = SmallVec<[(Need, bool); 2]>;

/// A call that has begun.
#[derive(Clone, Debug)]
pub(crate) struct Begun {
    what: Operation,
    /// Events of the thread before it.
    out: u32,
    floor: Need,
    happens: Need,
    /// What its arguments depend on, and the receiver.
    given: Need,
    receiver: Need,
    steering: Steering,
    method: u32,
    pc: u32,
    line: Option<u32>,
    /// Class and method, as the call names them.
    callee: (String, String),
}

/// A call that is over.
#[derive(Clone, Debug)]
pub(crate) struct Operated {
    pub kind: Kind,
    /// All its events: locks that it takes in truth are around the rest.
    pub events: (u32, u32),
    /// The imaginary lock that is taken; the read follows, then the writes.
    pub acquire: u32,
    pub read: u32,
    pub writes: u32,
    pub release: u32,
    /// The first and the last thing that it does, by their numbers in the recording.
    pub span: (u32, u32),
    pub given: Need,
    /// What the receiver depends on.
    pub receiver: Need,
    pub steering: Steering,
    /// About one entry, and nothing told which: there was no table yet.
    pub somewhere: bool,
    /// It takes a lock of its own, or accesses something volatile.
    pub guards: bool,
    /// Objects of the JDK that it touched, the receiver first.
    pub objects: Vec<ObjId>,
    pub method: u32,
    pub pc: u32,
    pub line: Option<u32>,
    pub callee: (String, String),
}

/// Whether the event is an access, or of a lock.
fn acts(op: Op) -> bool {
    matches!(
        op,
        Op::Read(_)
            | Op::Write(_)
            | Op::AtomicRead(..)
            | Op::AtomicWrite(..)
            | Op::AtomicUpdate(..)
            | Op::Acquire(_)
            | Op::AcquireShared(_)
            | Op::Release(_)
            | Op::ReleaseShared(_)
    )
}

impl Replay<'_, '_> {
    /// A call by a method of the program of one that is in the table.
    pub(crate) fn operation(&mut self, callee: &Callee, args: &[Val]) -> Option<Begun> {
        let table = self.program.operations?;
        let what = table.lookup(&callee.class, &callee.name, &callee.desc)?;
        let method = self.frames.last()?.method;
        let outer = self.frames.iter().any(|frame| {
            let open = frame.open.as_ref();
            open.is_some_and(|open| open.operation.is_some())
        });
        if callee.op == op::INVOKESTATIC || self.program.methods.get(method as usize)?.jdk || outer
        {
            return None;
        }
        let (receiver, rest) = args.split_first()?;
        let mut given = Need::NOTHING;
        for arg in rest {
            let whole = self.contents(*arg);
            given = self.needs.union(given, whole);
        }
        let key = rest.first().filter(|_| what.keyed);
        let named = key.map_or(Need::NOTHING, |key| key.need);
        let named = self.needs.union(receiver.need, named);
        Some(Begun {
            what,
            out: self.needs.out.len() as u32,
            floor: self.floor,
            happens: self.here(named),
            given,
            receiver: receiver.need,
            steering: self.steering(),
            method,
            pc: callee.pc,
            line: callee.line,
            callee: (callee.class.clone(), callee.name.clone()),
        })
    }

    /// What the nearest decisions asked that led here: in this frame, and before the call of it.
    fn steering(&self) -> Steering {
        let mut asked = Steering::new();
        for frame in self.frames.iter().rev().take(FRAMES) {
            let control = frame.body.decides();
            if control.is_coarse() {
                break;
            }
            let mut node = frame.body.stretch.get(frame.at as usize).copied();
            let mut left = frame.decided.len();
            for _ in 0..DECISIONS {
                let Some(at) = node else { break };
                let decided = &frame.decided[..left];
                let Some(latest) = decided.iter().rposition(|d| control.depends(at, d.stretch))
                else {
                    break;
                };
                let decision = &decided[latest];
                let again = control.depends(decision.stretch, decision.stretch);
                asked.push((decision.condition, again));
                left = latest;
                node = Some(decision.stretch);
            }
            if frame.caller != Caller::Direct {
                break;
            }
        }
        asked
    }

    /// A write of the program is next.
    pub(crate) fn steered_write(&mut self) {
        let mine = self.frames.last().and_then(|frame| {
            let method = self.program.methods.get(frame.method as usize)?;
            (!method.jdk && frame.open.is_none()).then_some(())
        });
        if mine.is_some() {
            let steering = self.steering();
            self.needs
                .steered
                .push((self.needs.out.len() as u32, steering));
        }
    }

    /// The call is over. Its result is given out if it is told as one step from now on.
    pub(crate) fn operated(&mut self, begun: Option<Begun>, threw: bool) -> Option<Need> {
        let begun = begun?;
        let mut kind = begun.what.kind;
        let from = begun.out as usize;
        let mut objects: Vec<ObjId> = Vec::new();
        let (mut element, mut first, mut last, mut written) = (None, None, None, None);
        let (mut mine, mut waits, mut guards) = (false, false, false);
        // Iterators of java.util.concurrent do not fail when others change their collection (its package says so), others
        // do that compare a count of changes.
        let (mut concurrent, mut counts_changes) = (false, false);
        let mut locks: Vec<(Op, Op)> = Vec::new();
        let mut held = 0i32;
        for out in self.needs.out.get(from..)? {
            if matches!(
                out.op,
                Op::MethodEnter(_) | Op::MethodExit(_) | Op::Branch(_)
            ) {
                continue;
            }
            let site = self.program.tables.sites.get(&out.site);
            let class = site.map_or("", |site| &site.class);
            mine |= site.is_some_and(|site| !classfile::is_jdk_name(&site.class));
            concurrent |= class.starts_with("java/util/concurrent/");
            let object = match out.op {
                Op::Read(loc)
                | Op::Write(loc)
                | Op::AtomicRead(loc, _)
                | Op::AtomicWrite(loc, _)
                | Op::AtomicUpdate(loc, _) => {
                    let is_element = site.is_some_and(|site| self.is_element(site.kind, loc));
                    if is_element {
                        element = element.or(Some(loc.slot));
                    }
                    let writes = !matches!(out.op, Op::Read(_) | Op::AtomicRead(..));
                    if writes {
                        written = out.event.or(written);
                    }
                    let field = self
                        .program
                        .tables
                        .fields
                        .get(&loc.slot)
                        .filter(|_| !is_element);
                    counts_changes |= field.is_some_and(|field| &*field.name == "modCount");
                    let of_class = field.is_some_and(|field| field.flags & acc::STATIC != 0);
                    let random =
                        field.is_some_and(|field| field.class.ends_with("ThreadLocalRandom"));
                    (!of_class && !random).then_some(loc.obj)
                }
                Op::Acquire(lock) | Op::AcquireShared(lock) => {
                    held += 1;
                    let give = match out.op {
                        Op::Acquire(_) => Op::Release(lock),
                        _ => Op::ReleaseShared(lock),
                    };
                    if !locks.contains(&(out.op, give)) {
                        locks.push((out.op, give));
                    }
                    Some(lock.0)
                }
                Op::Release(_) | Op::ReleaseShared(_) => {
                    held -= 1;
                    None
                }
                Op::Park | Op::WaitBegin(_) | Op::WaitEnd { .. } => {
                    waits = true;
                    None
                }
                _ => None,
            };
            // Where a class is first used, say, threads are ordered, too; that has no part in what the call does to its
            // object, and may come long before it gets the object's lock.
            if acts(out.op) {
                first = first.or(out.event);
                last = out.event.or(last);
            }
            if let Some(object) = object.filter(|_| class.starts_with("java/util/")) {
                guards |= !matches!(out.op, Op::Read(_) | Op::Write(_));
                if !objects.contains(&object) {
                    objects.push(object);
                }
            }
        }
        if kind == Kind::Next && concurrent && !counts_changes {
            kind = Kind::Check;
        }
        if waits || kind == Kind::Block {
            self.needs.waited.append(&mut objects);
            return None;
        }
        let span = (first?, last?);
        let place = written.unwrap_or(span.1);
        let waited = |object: &ObjId| self.program.waited.contains(object);
        if mine || held != 0 || objects.is_empty() || objects.iter().any(waited) {
            return None;
        }
        let end = self.needs.out.len() as u32;
        let element = element
            .filter(|_| begun.what.keyed)
            .filter(|slot| *slot < 0x0FFF_FFF0);
        let tell = |event, op, value| Out {
            event,
            // Known when all threads are.
            site: SiteId(0),
            op,
            happens: Some(begun.happens),
            value,
            class: CLASS,
            load: false,
        };
        let nobody = LockId(ObjId(0));
        let whole = Loc {
            obj: ObjId(0),
            slot: WHOLE,
        };
        let slot = element.map_or(WHOLE, |slot| WHOLE + 1 + slot);
        let loc = Loc { slot, ..whole };
        for (take, _) in &locks {
            self.needs.push(tell(None, *take, Need::NOTHING));
        }
        let acquire = self
            .needs
            .push(tell(None, Op::Acquire(nobody), Need::NOTHING));
        let read = self.needs.push(tell(None, Op::Read(loc), Need::NOTHING));
        let mut writes = 0;
        let changes = !kind.looks()
            && (written.is_some() || !matches!(kind, Kind::Try | Kind::Remove))
            && !threw;
        if changes {
            let seen = self.needs.union(begun.given, Needs::value(read));
            let value = if kind == Kind::Put { begun.given } else { seen };
            self.needs.push(tell(None, Op::Write(loc), value));
            writes = 1;
            if loc != whole {
                self.needs.push(tell(None, Op::Write(whole), seen));
                writes = 2;
            }
        }
        let end_of = |left: usize| (left == 0).then_some(place);
        let release = end_of(locks.len());
        let release = self
            .needs
            .push(tell(release, Op::Release(nobody), Need::NOTHING));
        let mut last = release;
        for (left, (_, give)) in locks.iter().enumerate().rev() {
            last = self.needs.push(tell(end_of(left), *give, Need::NOTHING));
        }
        self.needs.dropped.push((begun.out, end, read));
        self.floor = begun.floor;
        if kind.fails() || threw {
            let seen = self.needs.union(begun.given, Needs::value(read));
            self.decides_all(seen);
        }
        self.needs.operations.push(Operated {
            kind,
            events: (end, last),
            acquire,
            read,
            writes,
            release,
            span,
            given: begun.given,
            receiver: begun.receiver,
            steering: begun.steering,
            somewhere: begun.what.keyed && element.is_none(),
            guards,
            objects,
            method: begun.method,
            pc: begun.pc,
            line: begun.line,
            callee: begun.callee,
        });
        Some(Needs::value(read))
    }

    /// Whether an access is of an element: by its instruction, or, of `Unsafe` and handles, because
    /// no field has such a number.
    fn is_element(&self, kind: SiteKind, loc: Loc) -> bool {
        let unknown = || !self.program.tables.fields.contains_key(&loc.slot);
        let by_number = matches!(kind, SiteKind::Unsafe | SiteKind::VarHandle);
        kind.is_element() || by_number && loc.slot < WHOLE && unknown()
    }
}
