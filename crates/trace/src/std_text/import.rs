//! STD text to events: one pass over the bytes, a table of names, no copies.

use std::io::{self, Read, Write};

use super::names::Interner;
use super::{FIRST_LOCK, TOOL, VARIABLES};
use crate::event::{Event, Loc, LockId, ObjId, Op, SiteId, ThreadId};
use crate::linear::LinearWriter;
use crate::tables::{Field, Footer, Object, RunHeader, Site, Tables, Thread};

const BLOCK: usize = 256 << 10;
const MAX_LINE: usize = 1 << 20;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StdError {
    #[error("reading or writing failed: {0}")]
    Io(#[from] io::Error),

    #[error(
        "line {line} {what}: `{text}`; lines look like `T1|w(V3)|17`, with one of r, w, acq, \
         rel, fork, join, begin, end. A lenient import leaves such lines out"
    )]
    Line {
        line: u64,
        what: &'static str,
        text: String,
    },
}

/// What to do with lines that make no sense.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strictness {
    /// Stop at the first and say which.
    #[default]
    Strict,
    /// Leave them out and count them.
    Lenient,
}

/// What was imported.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Imported {
    pub tables: Tables,
    pub lines: u64,
    pub events: u64,
    /// Acquisitions of a lock already held, and their releases.
    pub reentrant: u64,
    /// Lines left out by a lenient import.
    pub skipped: u64,
    /// The first of them, and why.
    pub first_skipped: Option<(u64, &'static str)>,
}

/// Reads STD text and hands its events to `sink` in order.
pub fn import(
    mut input: impl Read,
    strictness: Strictness,
    mut sink: impl FnMut(&Event) -> io::Result<()>,
) -> Result<Imported, StdError> {
    let mut state = Importer::new(strictness);
    let mut buf = vec![0; BLOCK];
    let mut filled = 0;
    loop {
        if filled == buf.len() {
            // A line that long is no line.
            if filled > MAX_LINE {
                state.out.lines += 1;
                return Err(state.error("is longer than 1 MiB", &buf));
            }
            buf.resize(filled * 2, 0);
        }
        let n = match input.read(&mut buf[filled..]) {
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(e.into()),
        };
        filled += n;
        let mut text = &buf[..filled];
        while let Some(end) = find(b'\n', text) {
            state.line(&text[..end], &mut sink)?;
            text = &text[end + 1..];
        }
        if n == 0 {
            if !text.is_empty() {
                state.line(text, &mut sink)?;
            }
            return Ok(state.finish());
        }
        let rest = text.len();
        let done = filled - rest;
        buf.copy_within(done..filled, 0);
        filled = rest;
    }
}

/// Reads STD text and writes a binary trace of it. Names go at the end, when
/// all are known.
pub fn convert<W: Write>(
    input: impl Read,
    strictness: Strictness,
    out: W,
) -> Result<(W, Imported), StdError> {
    let header = RunHeader {
        tool: TOOL.into(),
        ordered: true,
        ..RunHeader::default()
    };
    let mut writer = LinearWriter::new(out, &header)?;
    let done = import(input, strictness, |event| writer.push(event))?;
    writer.writer().tables(&done.tables)?;
    Ok((writer.finish(Footer::default())?, done))
}

/// Where the first `wanted` is, eight bytes a step.
#[inline]
fn find(wanted: u8, text: &[u8]) -> Option<usize> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let mask = ONES * u64::from(wanted);
    let mut at = 0;
    let mut rest = text;
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        // Zero where it matches; the lowest zero byte is found exactly.
        let differs = u64::from_le_bytes(*word) ^ mask;
        let zeros = differs.wrapping_sub(ONES) & !differs & (ONES << 7);
        if zeros != 0 {
            return Some(at + zeros.trailing_zeros() as usize / 8);
        }
        at += 8;
        rest = after;
    }
    Some(at + rest.iter().position(|&b| b == wanted)?)
}

#[derive(Debug)]
struct Importer {
    strictness: Strictness,
    threads: Interner,
    variables: Interner,
    locks: Interner,
    sites: Interner,
    /// Who holds each lock, how often.
    holders: Vec<Option<(ThreadId, u32)>>,
    out: Imported,
}

/// A line that makes no sense, in words that go on after "line 12".
type Nonsense = &'static str;

impl Importer {
    fn new(strictness: Strictness) -> Self {
        Importer {
            strictness,
            threads: Interner::default(),
            variables: Interner::default(),
            locks: Interner::default(),
            sites: Interner::default(),
            holders: Vec::new(),
            out: Imported::default(),
        }
    }

    #[inline]
    fn line(
        &mut self,
        line: &[u8],
        sink: &mut impl FnMut(&Event) -> io::Result<()>,
    ) -> Result<(), StdError> {
        self.out.lines += 1;
        let line = match line {
            [text @ .., b'\r'] => text,
            text => text,
        };
        match self.event(line) {
            Ok(Some(event)) => {
                self.out.events += 1;
                sink(&event)?;
            }
            Ok(None) => {}
            Err(_) if line.trim_ascii().is_empty() => {}
            Err(what) if self.strictness == Strictness::Strict => {
                return Err(self.error(what, line));
            }
            Err(what) => {
                self.out.skipped += 1;
                self.out.first_skipped.get_or_insert((self.out.lines, what));
            }
        }
        Ok(())
    }

    #[inline]
    fn event(&mut self, line: &[u8]) -> Result<Option<Event>, Nonsense> {
        let no_text = "is not UTF-8";
        let (thread, rest) = split(line).ok_or("has no `|`")?;
        let (action, place) = split(rest).ok_or("has only one `|`")?;
        if find(b'|', place).is_some() {
            return Err("has more than two `|`");
        }
        if thread.is_empty() {
            return Err("names no thread");
        }
        let thread = ThreadId(self.threads.id(thread).ok_or(no_text)?);
        let site = match place {
            [] => SiteId(0),
            name => SiteId(self.sites.id(name).ok_or(no_text)?.saturating_add(1)),
        };
        let (name, operand) = match find(b'(', action) {
            Some(at) => match &action[at + 1..] {
                [operand @ .., b')'] => (&action[..at], operand),
                _ => return Err("has an operand without `)`"),
            },
            None => (action, &action[..0]),
        };
        if operand.is_empty() && !matches!(name, b"begin" | b"end") {
            return Err("has no operand");
        }
        let op = match name {
            b"r" | b"w" => {
                let slot = self.variables.id(operand).ok_or(no_text)?;
                let obj = ObjId(VARIABLES);
                let loc = Loc { obj, slot };
                if name == b"r" {
                    Op::Read(loc)
                } else {
                    Op::Write(loc)
                }
            }
            b"acq" | b"rel" => {
                let lock = self.locks.id(operand).ok_or(no_text)?;
                let outermost = if name == b"acq" {
                    self.acquire(thread, lock)?
                } else {
                    self.release(thread, lock)?
                };
                if !outermost {
                    self.out.reentrant += 1;
                    return Ok(None);
                }
                let lock = LockId(ObjId(FIRST_LOCK + u64::from(lock)));
                if name == b"acq" {
                    Op::Acquire(lock)
                } else {
                    Op::Release(lock)
                }
            }
            b"fork" => Op::Fork(ThreadId(self.threads.id(operand).ok_or(no_text)?)),
            b"join" => Op::Join(ThreadId(self.threads.id(operand).ok_or(no_text)?)),
            b"begin" => Op::MethodEnter(0),
            b"end" => Op::MethodExit(0),
            _ => return Err("has an unknown operation"),
        };
        Ok(Some(Event { thread, site, op }))
    }

    /// Whether this is the outermost acquisition.
    fn acquire(&mut self, thread: ThreadId, lock: u32) -> Result<bool, Nonsense> {
        let at = lock as usize;
        if at >= self.holders.len() {
            self.holders.resize(at + 1, None);
        }
        match &mut self.holders[at] {
            free @ None => {
                *free = Some((thread, 1));
                Ok(true)
            }
            Some((holder, depth)) if *holder == thread => {
                *depth += 1;
                Ok(false)
            }
            Some(_) => Err("acquires a lock that another thread holds"),
        }
    }

    /// Whether this gives the lock up.
    fn release(&mut self, thread: ThreadId, lock: u32) -> Result<bool, Nonsense> {
        match self.holders.get_mut(lock as usize) {
            Some(held @ Some(_)) => match held {
                Some((holder, depth)) if *holder == thread => {
                    *depth -= 1;
                    let last = *depth == 0;
                    if last {
                        *held = None;
                    }
                    Ok(last)
                }
                _ => Err("releases a lock that another thread holds"),
            },
            _ => Err("releases a lock that is not held"),
        }
    }

    #[cold]
    fn error(&self, what: Nonsense, text: &[u8]) -> StdError {
        let shown = &text[..text.len().min(80)];
        StdError::Line {
            line: self.out.lines,
            what,
            text: String::from_utf8_lossy(shown).into_owned(),
        }
    }

    fn finish(mut self) -> Imported {
        let tables = &mut self.out.tables;
        for (i, name) in self.threads.names.into_iter().enumerate() {
            let row = Thread {
                name,
                ..Thread::default()
            };
            tables.threads.insert(ThreadId(i as u32), row);
        }
        for (i, name) in self.variables.names.into_iter().enumerate() {
            let row = Field {
                name,
                ..Field::default()
            };
            tables.fields.insert(i as u32, row);
        }
        for (i, class) in self.locks.names.into_iter().enumerate() {
            let site = SiteId(0);
            let row = Object { class, site };
            tables.objects.insert(ObjId(FIRST_LOCK + i as u64), row);
        }
        for (i, name) in self.sites.names.into_iter().enumerate() {
            let row = Site {
                line: name.parse().ok(),
                method: name,
                checked: true,
                ..Site::default()
            };
            tables.sites.insert(SiteId(i as u32 + 1), row);
        }
        self.out
    }
}

#[inline]
fn split(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = find(b'|', text)?;
    Some((&text[..at], &text[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn find_is_position() {
        for len in 0..30 {
            for at in 0..=len {
                // 0x0b and 0x8a are what a careless trick would take for 0x0a.
                let mut text = vec![0x0b; len];
                for b in text.iter_mut().step_by(2) {
                    *b = 0x8a;
                }
                if at < len {
                    text[at] = 0x0a;
                }
                let expected = text.iter().position(|&b| b == 0x0a);
                assert_eq!(find(0x0a, &text), expected);
            }
        }
    }
}
