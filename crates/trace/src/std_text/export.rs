//! Events to STD text; what becomes of what is said in the module above.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::io::{Read, Seek, Write};

use rustc_hash::FxHashMap;

use super::{TOOL, VARIABLES};
use crate::error::Error;
use crate::event::{Event, Loc, LockId, ObjId, Op, SiteId, ThreadId};
use crate::merge::Gap;
use crate::reader::Trace;
use crate::tables::{RunHeader, Tables};

/// Text is handed on in pieces of about this size.
const PIECE: usize = 256 << 10;

/// How things are called in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Names {
    /// `T1`, `V7.3` (object and slot), `L7`, and the site's number.
    #[default]
    Numbers,
    /// As the tables of an imported trace say; numbers where they say nothing.
    Tables,
}

impl Names {
    /// What suits the trace.
    pub fn from_header(header: &RunHeader) -> Names {
        if &*header.tool == TOOL {
            Names::Tables
        } else {
            Names::Numbers
        }
    }
}

/// What was written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Exported {
    pub lines: u64,
    /// Events by kind that STD has nothing for, and that were left out.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Events by kind that became something stronger than they were.
    pub approximated: BTreeMap<&'static str, u64>,
    /// Acquisitions of a lock that another thread held, releases of one that
    /// was not held: left out, so that the text is well-formed. They come from
    /// traces cut at the front or with gaps.
    pub unmatched: u64,
    /// Where the trace lacks events: nothing behind it was written.
    pub gap: Option<Gap>,
}

/// Writes a trace up to its first gap as STD text.
pub fn export<R: Read + Seek>(
    trace: &mut Trace<R>,
    mut out: impl Write,
) -> Result<Exported, Error> {
    let tables = trace.tables().clone();
    let mut exporter = Exporter::new(Names::from_header(trace.header()), &tables);
    let mut text = Vec::new();
    let mut events = trace.events();
    while let Some(item) = events.next_item()? {
        exporter.event(&item.event, &mut text);
        if text.len() >= PIECE {
            out.write_all(&text)?;
            text.clear();
        }
    }
    out.write_all(&text)?;
    out.flush()?;
    Ok(Exported {
        gap: events.gap(),
        ..exporter.finish()
    })
}

/// Turns events into lines, one after the other.
#[derive(Debug)]
pub struct Exporter<'a> {
    names: Names,
    tables: &'a Tables,
    holders: FxHashMap<LockId, ThreadId>,
    done: Exported,
}

/// The middle of a line: what is done to what.
#[derive(Clone, Copy)]
enum Act {
    Read(Loc),
    Write(Loc),
    Acquire(Lock),
    Release(Lock),
    Fork(ThreadId),
    Join(ThreadId),
    Begin,
    End,
}

/// A lock of the program, or one that stands for another ordering.
#[derive(Clone, Copy)]
enum Lock {
    Plain(LockId),
    Volatile(Loc),
    Sync(ObjId),
    Interrupt(ThreadId),
}

impl<'a> Exporter<'a> {
    pub fn new(names: Names, tables: &'a Tables) -> Self {
        Exporter {
            names,
            tables,
            holders: FxHashMap::default(),
            done: Exported::default(),
        }
    }

    /// Appends the lines of an event.
    pub fn event(&mut self, event: &Event, out: &mut Vec<u8>) {
        let thread = event.thread;
        let mut line = |act| self.line(event, act, out);
        match event.op {
            Op::Read(loc) => line(Act::Read(loc)),
            Op::Write(loc) => line(Act::Write(loc)),
            Op::Fork(t) => line(Act::Fork(t)),
            Op::Join(t) => line(Act::Join(t)),
            Op::MethodEnter(_) => line(Act::Begin),
            Op::MethodExit(_) => line(Act::End),
            Op::AtomicRead(loc, _) | Op::AtomicWrite(loc, _) | Op::AtomicUpdate(loc, _) => {
                let lock = Lock::Volatile(loc);
                line(Act::Acquire(lock));
                if !matches!(event.op, Op::AtomicWrite(..)) {
                    line(Act::Read(loc));
                }
                if !matches!(event.op, Op::AtomicRead(..)) {
                    line(Act::Write(loc));
                }
                line(Act::Release(lock));
                self.approximated(event.op);
            }
            Op::Acquire(lock) | Op::WaitEnd { lock, .. } => {
                if let Entry::Vacant(free) = self.holders.entry(lock) {
                    free.insert(thread);
                    self.line(event, Act::Acquire(Lock::Plain(lock)), out);
                } else {
                    self.done.unmatched += 1;
                }
            }
            Op::Release(lock) | Op::WaitBegin(lock) => {
                if self.holders.get(&lock) == Some(&thread) {
                    self.holders.remove(&lock);
                    self.line(event, Act::Release(Lock::Plain(lock)), out);
                } else {
                    self.done.unmatched += 1;
                }
            }
            Op::AcquireShared(lock) | Op::ReleaseShared(lock) => {
                // A writer that also reads has the lock already.
                match self.holders.get(&lock) {
                    None => self.moment(event, Lock::Plain(lock), out),
                    Some(&holder) if holder == thread => {}
                    Some(_) => self.done.unmatched += 1,
                }
                self.approximated(event.op);
            }
            Op::SyncRelease(obj) | Op::SyncAcquire(obj) => {
                self.moment(event, Lock::Sync(obj), out);
                self.approximated(event.op);
            }
            Op::Interrupt(target) => {
                self.moment(event, Lock::Interrupt(target), out);
                self.approximated(event.op);
            }
            Op::Interrupted => {
                self.moment(event, Lock::Interrupt(thread), out);
                self.approximated(event.op);
            }
            Op::Begin
            | Op::End
            | Op::Notify(_)
            | Op::NotifyAll(_)
            | Op::Park
            | Op::Unpark(_)
            | Op::InitBegin(_)
            | Op::InitEnd(_)
            | Op::Branch(_)
            | Op::Unsure(_) => {
                *self.done.left_out.entry(event.op.name()).or_default() += 1;
            }
        }
    }

    pub fn finish(self) -> Exported {
        self.done
    }

    fn approximated(&mut self, op: Op) {
        *self.done.approximated.entry(op.name()).or_default() += 1;
    }

    fn moment(&mut self, event: &Event, lock: Lock, out: &mut Vec<u8>) {
        self.line(event, Act::Acquire(lock), out);
        self.line(event, Act::Release(lock), out);
    }

    fn line(&mut self, event: &Event, act: Act, out: &mut Vec<u8>) {
        self.done.lines += 1;
        self.thread(event.thread, out);
        out.push(b'|');
        match act {
            Act::Read(loc) => self.call(b"r(", |s, out| s.variable(loc, out), out),
            Act::Write(loc) => self.call(b"w(", |s, out| s.variable(loc, out), out),
            Act::Acquire(lock) => self.call(b"acq(", |s, out| s.lock(lock, out), out),
            Act::Release(lock) => self.call(b"rel(", |s, out| s.lock(lock, out), out),
            Act::Fork(t) => self.call(b"fork(", |s, out| s.thread(t, out), out),
            Act::Join(t) => self.call(b"join(", |s, out| s.thread(t, out), out),
            Act::Begin => out.extend_from_slice(b"begin"),
            Act::End => out.extend_from_slice(b"end"),
        }
        out.push(b'|');
        self.site(event.site, out);
        out.push(b'\n');
    }

    fn call(&self, name: &[u8], operand: impl Fn(&Self, &mut Vec<u8>), out: &mut Vec<u8>) {
        out.extend_from_slice(name);
        operand(self, out);
        out.push(b')');
    }

    fn thread(&self, thread: ThreadId, out: &mut Vec<u8>) {
        let row = self.tables.threads.get(&thread);
        match row {
            Some(row) if self.names == Names::Tables => out.extend_from_slice(row.name.as_bytes()),
            _ => {
                out.push(b'T');
                number(u64::from(thread.0), out);
            }
        }
    }

    fn variable(&self, loc: Loc, out: &mut Vec<u8>) {
        let row = self.tables.fields.get(&loc.slot);
        match row {
            Some(row) if self.names == Names::Tables && loc.obj.0 == VARIABLES => {
                out.extend_from_slice(row.name.as_bytes());
            }
            _ => {
                out.push(b'V');
                location(loc, out);
            }
        }
    }

    fn lock(&self, lock: Lock, out: &mut Vec<u8>) {
        match lock {
            Lock::Plain(LockId(obj)) => match self.tables.objects.get(&obj) {
                Some(row) if self.names == Names::Tables => {
                    out.extend_from_slice(row.class.as_bytes());
                }
                _ => {
                    out.push(b'L');
                    number(obj.0, out);
                }
            },
            Lock::Volatile(loc) => {
                out.extend_from_slice(b"vol.");
                location(loc, out);
            }
            Lock::Sync(obj) => {
                out.extend_from_slice(b"sync.");
                number(obj.0, out);
            }
            Lock::Interrupt(thread) => {
                out.extend_from_slice(b"int.");
                self.thread(thread, out);
            }
        }
    }

    fn site(&self, site: SiteId, out: &mut Vec<u8>) {
        if self.names == Names::Numbers {
            number(u64::from(site.0), out);
        } else if let Some(row) = self.tables.sites.get(&site) {
            out.extend_from_slice(row.method.as_bytes());
        }
    }
}

fn location(loc: Loc, out: &mut Vec<u8>) {
    number(loc.obj.0, out);
    out.push(b'.');
    number(u64::from(loc.slot), out);
}

fn number(mut n: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            out.extend_from_slice(&digits[at..]);
            return;
        }
    }
}
