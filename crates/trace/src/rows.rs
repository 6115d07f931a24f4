//! How rows of the tables are written. A table's chunk is one block of rows:
//! number, length, bytes. The length lets later versions append to a row what
//! older readers then ignore.
//!
//! Inside a row: numbers are varints, strings are numbers of the string table
//! (optional ones plus one, 0 for none), lists start with their length.

use std::sync::Arc;

use crate::chunk::Kind;
use crate::event::{ObjId, SiteId, ThreadId};
use crate::tables::*;
use encoding::varint::{Input, put, unzigzag, zigzag};
use rustc_hash::FxHashMap;

/// Strings of the file so far, on the writing side.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    ids: FxHashMap<Str, u32>,
    /// Rows of the strings chunk that must go out before the row using them.
    pub fresh: Vec<u8>,
}

impl Interner {
    fn id(&mut self, s: &Str) -> u64 {
        if let Some(&id) = self.ids.get(s) {
            return u64::from(id);
        }
        let id = self.ids.len() as u32;
        self.ids.insert(Arc::clone(s), id);
        put(&mut self.fresh, u64::from(id));
        put(&mut self.fresh, s.len() as u64);
        self.fresh.extend_from_slice(s.as_bytes());
        u64::from(id)
    }
}

#[derive(Debug)]
pub(crate) struct RowOut<'a> {
    strings: &'a mut Interner,
    bytes: &'a mut Vec<u8>,
}

impl<'a> RowOut<'a> {
    pub(crate) fn new(strings: &'a mut Interner, bytes: &'a mut Vec<u8>) -> Self {
        RowOut { strings, bytes }
    }

    fn num(&mut self, n: impl Into<u64>) {
        put(self.bytes, n.into());
    }

    fn str(&mut self, s: &Str) {
        let id = self.strings.id(s);
        put(self.bytes, id);
    }

    fn opt(&mut self, s: Option<&Str>) {
        let id = s.map_or(0, |s| self.strings.id(s) + 1);
        put(self.bytes, id);
    }

    /// An optional number, which must not be the largest of 64 bits.
    fn opt_num(&mut self, n: Option<u32>) {
        self.num(n.map_or(0, |n| u64::from(n) + 1));
    }
}

/// A row being read. Every getter answers `None` where the row makes no sense.
#[derive(Debug)]
pub(crate) struct RowIn<'a> {
    strings: &'a [Str],
    input: Input<'a>,
}

impl<'a> RowIn<'a> {
    pub(crate) fn new(strings: &'a [Str], bytes: &'a [u8]) -> Self {
        RowIn {
            strings,
            input: Input::new(bytes),
        }
    }

    fn num<T: TryFrom<u64>>(&mut self) -> Option<T> {
        T::try_from(self.input.u64()?).ok()
    }

    fn string(&self, id: u64) -> Option<Str> {
        self.strings.get(usize::try_from(id).ok()?).cloned()
    }

    fn str(&mut self) -> Option<Str> {
        let id = self.input.u64()?;
        self.string(id)
    }

    fn opt(&mut self) -> Option<Option<Str>> {
        match self.input.u64()?.checked_sub(1) {
            None => Some(None),
            Some(id) => self.string(id).map(Some),
        }
    }

    fn opt_num(&mut self) -> Option<Option<u32>> {
        match self.input.u64()?.checked_sub(1) {
            None => Some(None),
            Some(n) => u32::try_from(n).ok().map(Some),
        }
    }

    /// A list: each element takes at least a byte, so a length that the row
    /// cannot hold fails before anything large is allocated.
    fn list<T>(&mut self, mut get: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let len: usize = self.num()?;
        if len > self.input.rest().len() {
            return None;
        }
        let mut out = Vec::new();
        for _ in 0..len {
            out.push(get(self)?);
        }
        Some(out)
    }
}

/// Reads `number, length, bytes` off the front of `input`.
pub(crate) fn split_row<'a>(input: &mut Input<'a>) -> Option<(u64, &'a [u8])> {
    let id = input.u64()?;
    let len = usize::try_from(input.u64()?).ok()?;
    Some((id, input.bytes(len)?))
}

pub(crate) trait Row: Sized {
    const KIND: Kind;
    fn put(&self, out: &mut RowOut<'_>);
    fn get(row: &mut RowIn<'_>) -> Option<Self>;
}

impl Row for RunHeader {
    const KIND: Kind = Kind::Header;

    fn put(&self, out: &mut RowOut<'_>) {
        out.str(&self.tool);
        out.str(&self.jdk);
        out.num(self.command.len() as u64);
        for arg in &self.command {
            out.str(arg);
        }
        out.num(self.start_ms);
        out.num(u64::from(self.ordered));
    }

    fn get(row: &mut RowIn<'_>) -> Option<Self> {
        Some(RunHeader {
            tool: row.str()?,
            jdk: row.str()?,
            command: row.list(RowIn::str)?,
            start_ms: row.num()?,
            // Versions before 2.0 did not know.
            ordered: row.num().unwrap_or(0) != 0,
        })
    }
}

impl Row for Footer {
    const KIND: Kind = Kind::Footer;

    fn put(&self, out: &mut RowOut<'_>) {
        // Shifted by one so that 0 can say "unknown".
        out.num(self.exit_code.map_or(0, |c| zigzag(i64::from(c)) + 1));
        out.num(self.events);
        out.num(self.dropped);
        out.num(self.classes_instrumented);
        out.num(self.skipped.len() as u64);
        for s in &self.skipped {
            out.str(&s.class);
            out.opt(s.method.as_ref());
            out.str(&s.why);
        }
    }

    fn get(row: &mut RowIn<'_>) -> Option<Self> {
        let exit_code = match row.input.u64()?.checked_sub(1) {
            None => None,
            Some(n) => Some(i32::try_from(unzigzag(n)).ok()?),
        };
        Some(Footer {
            exit_code,
            events: row.num()?,
            dropped: row.num()?,
            classes_instrumented: row.num()?,
            skipped: row.list(|row| {
                Some(Skipped {
                    class: row.str()?,
                    method: row.opt()?,
                    why: row.str()?,
                })
            })?,
        })
    }
}

const PLACES: u64 = 0;
const SOME_THREADS: u64 = 1;

impl Row for Part {
    const KIND: Kind = Kind::Part;

    fn put(&self, out: &mut RowOut<'_>) {
        match self {
            Part::Places(places) => {
                out.num(PLACES);
                out.num(places.start);
                out.num(places.end.saturating_sub(places.start));
            }
            Part::SomeThreads => out.num(SOME_THREADS),
        }
    }

    fn get(row: &mut RowIn<'_>) -> Option<Self> {
        Some(match row.input.u64()? {
            PLACES => {
                let first = row.input.u64()?;
                Part::Places(first..first.checked_add(row.input.u64()?)?)
            }
            // Parts of later versions are some part, of which no more is known.
            _ => Part::SomeThreads,
        })
    }
}

const CHECKED: u8 = 1;
const HAS_TARGET: u8 = 2;

impl Row for Site {
    const KIND: Kind = Kind::Sites;

    fn put(&self, out: &mut RowOut<'_>) {
        out.str(&self.class);
        out.str(&self.method);
        out.str(&self.desc);
        out.num(self.bci);
        out.opt(self.file.as_ref());
        out.opt_num(self.line);
        out.num(self.kind as u8);
        let mut flags = 0;
        if self.checked {
            flags |= CHECKED;
        }
        if self.target.is_some() {
            flags |= HAS_TARGET;
        }
        out.num(flags);
        if let Some(target) = &self.target {
            out.str(&target.class);
            out.str(&target.name);
            out.str(&target.desc);
        }
        out.opt(self.array_from.as_ref());
        out.opt_num(self.call.map(|call| call.0));
    }

    fn get(row: &mut RowIn<'_>) -> Option<Self> {
        let mut site = Site {
            class: row.str()?,
            method: row.str()?,
            desc: row.str()?,
            bci: row.num()?,
            file: row.opt()?,
            line: row.opt_num()?,
            kind: SiteKind::from_u8(row.num()?),
            ..Site::default()
        };
        let flags: u8 = row.num()?;
        site.checked = flags & CHECKED != 0;
        if flags & HAS_TARGET != 0 {
            site.target = Some(Member {
                class: row.str()?,
                name: row.str()?,
                desc: row.str()?,
            });
        }
        site.array_from = row.opt()?;
        // Since 2.1.
        site.call = row.opt_num().flatten().map(SiteId);
        Some(site)
    }
}

impl Row for Field {
    const KIND: Kind = Kind::Fields;

    fn put(&self, out: &mut RowOut<'_>) {
        out.str(&self.class);
        out.str(&self.name);
        out.str(&self.desc);
        out.num(self.flags);
    }

    fn get(row: &mut RowIn<'_>) -> Option<Self> {
        Some(Field {
            class: row.str()?,
            name: row.str()?,
            desc: row.str()?,
            flags: row.num()?,
        })
    }
}

const DAEMON: u8 = 1;
const SYSTEM: u8 = 2;

impl Row for Thread {
    const KIND: Kind = Kind::Threads;

    fn put(&self, out: &mut RowOut<'_>) {
        out.str(&self.name);
        out.opt_num(self.creator.map(|t| t.0));
        let daemon = if self.daemon { DAEMON } else { 0 };
        let system = if self.system { SYSTEM } else { 0 };
        out.num(daemon | system);
        out.num(self.created_at.len() as u64);
        for f in &self.created_at {
            out.str(&f.class);
            out.str(&f.method);
            out.opt(f.file.as_ref());
            out.opt_num(f.line);
        }
    }

    fn get(row: &mut RowIn<'_>) -> Option<Self> {
        let name = row.str()?;
        let creator = row.opt_num()?.map(ThreadId);
        let flags: u8 = row.num()?;
        Some(Thread {
            name,
            creator,
            daemon: flags & DAEMON != 0,
            system: flags & SYSTEM != 0,
            created_at: row.list(|row| {
                Some(Frame {
                    class: row.str()?,
                    method: row.str()?,
                    file: row.opt()?,
                    line: row.opt_num()?,
                })
            })?,
        })
    }
}

impl Row for Object {
    const KIND: Kind = Kind::Objects;

    fn put(&self, out: &mut RowOut<'_>) {
        out.str(&self.class);
        out.num(self.site.0);
    }

    fn get(row: &mut RowIn<'_>) -> Option<Self> {
        Some(Object {
            class: row.str()?,
            site: SiteId(row.num()?),
        })
    }
}

impl Row for Class {
    const KIND: Kind = Kind::Classes;

    fn put(&self, out: &mut RowOut<'_>) {
        out.str(&self.name);
        out.num(self.loader);
        out.num(self.hash.len() as u64);
        out.bytes.extend_from_slice(&self.hash);
    }

    fn get(row: &mut RowIn<'_>) -> Option<Self> {
        let name = row.str()?;
        let loader = row.num()?;
        let len = row.num()?;
        let hash = row.input.bytes(len)?.to_vec();
        Some(Class { name, loader, hash })
    }
}

impl Row for Method {
    const KIND: Kind = Kind::Methods;

    fn put(&self, out: &mut RowOut<'_>) {
        out.num(self.class);
        out.str(&self.name);
        out.str(&self.desc);
    }

    fn get(row: &mut RowIn<'_>) -> Option<Self> {
        Some(Method {
            class: row.num()?,
            name: row.str()?,
            desc: row.str()?,
        })
    }
}

impl Tables {
    /// Takes in the rows of an unpacked chunk; `None` if they make no sense.
    pub(crate) fn absorb(&mut self, kind: Kind, strings: &[Str], block: &[u8]) -> Option<()> {
        let mut input = Input::new(block);
        while !input.is_empty() {
            let (id, bytes) = split_row(&mut input)?;
            let mut row = RowIn::new(strings, bytes);
            let row = &mut row;
            let small = u32::try_from(id).ok();
            match kind {
                Kind::Sites => drop(self.sites.insert(SiteId(small?), Site::get(row)?)),
                Kind::Fields => drop(self.fields.insert(small?, Field::get(row)?)),
                Kind::Threads => drop(self.threads.insert(ThreadId(small?), Thread::get(row)?)),
                Kind::Objects => drop(self.objects.insert(ObjId(id), Object::get(row)?)),
                Kind::Classes => drop(self.classes.insert(small?, Class::get(row)?)),
                Kind::Methods => drop(self.methods.insert(small?, Method::get(row)?)),
                _ => return None,
            }
        }
        Some(())
    }
}
