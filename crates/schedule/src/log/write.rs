//! Writing a log as the run goes: one write a record.

use super::model::Model;
use super::{Digest, End, Header, ReadySet, Site};
use crate::op::{Hit, Op, Ready, Thread};
use encoding::varint::{put, put_option, put_text};
use rustc_hash::FxHashMap;
use std::io::{self, Write};

pub(super) const SIGNATURE: [u8; 8] = [0x89, b'P', b'F', b'S', 0x0D, 0x0A, 0x1A, 0x0A];
pub(super) const MAJOR: u16 = 1;
pub(super) const MINOR: u16 = 3;

/// Tags of records other than steps and ticks; each is followed by the length
/// of what follows.
pub(super) const TICK: u8 = 0;
pub(super) const HEADER: u8 = 1;
pub(super) const THREAD: u8 = 2;
pub(super) const SITE: u8 = 3;
pub(super) const HIT: u8 = 4;
pub(super) const NOTE: u8 = 5;
pub(super) const END: u8 = 6;
pub(super) const CALL: u8 = 7;
pub(super) const SAW: u8 = 8;
pub(super) const READY: u8 = 9;
pub(super) const TOLD: u8 = 10;

fn put_ready(p: &mut Vec<u8>, Ready { thread, op }: &Ready) {
    put(p, u64::from(*thread));
    put(p, op.kind as u64);
    put(p, u64::from(op.site));
    put(p, op.obj);
    put(p, u64::from(op.slot));
}

#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    model: Model,
    /// Sites written so far, with their identity.
    sites: FxHashMap<u32, u64>,
    digest: Digest,
    steps: u64,
    record: Vec<u8>,
    payload: Vec<u8>,
}

impl<W: Write> Writer<W> {
    pub fn new(mut out: W, header: &Header) -> io::Result<Writer<W>> {
        let mut start = SIGNATURE.to_vec();
        start.extend(MAJOR.to_le_bytes());
        start.extend(MINOR.to_le_bytes());
        out.write_all(&start)?;
        let mut writer = Writer {
            out,
            model: Model::default(),
            sites: FxHashMap::default(),
            digest: Digest::default(),
            steps: 0,
            record: Vec::new(),
            payload: Vec::new(),
        };
        writer.row(HEADER, |p| {
            put_text(p, &header.strategy);
            put(p, header.seed);
            put(p, header.clock);
            put(p, header.parameters.len() as u64);
            for (name, value) in &header.parameters {
                put_text(p, name);
                put_text(p, value);
            }
        })?;
        Ok(writer)
    }

    pub fn thread(&mut self, thread: Thread, name: &str, parent: Option<Thread>) -> io::Result<()> {
        self.row(THREAD, |p| {
            put(p, u64::from(thread));
            put_text(p, name);
            put_option(p, parent.map(u64::from));
        })
    }

    /// Must come before the first step at that site; again is harmless.
    pub fn site(&mut self, number: u32, site: &Site) -> io::Result<()> {
        self.sites.insert(number, site.identity());
        self.row(SITE, |p| {
            put(p, u64::from(number));
            put_text(p, &site.class);
            put_text(p, &site.method);
            put_text(p, &site.descriptor);
            put(p, u64::from(site.bci));
            put_option(p, site.line.map(u64::from));
            put(p, u64::from(site.file.is_some()));
            if let Some(file) = &site.file {
                put_text(p, file);
            }
            put_text(p, &site.target);
        })
    }

    pub fn knows_site(&self, number: u32) -> bool {
        self.sites.contains_key(&number)
    }

    /// What a statement is in every run. One that was never told counts by its number.
    pub fn identity(&self, site: u32) -> u64 {
        self.sites.get(&site).copied().unwrap_or(u64::from(site))
    }

    /// The next step is made in this call of the program, inside the JDK.
    pub fn call(&mut self, site: u32) -> io::Result<()> {
        self.row(CALL, |p| put(p, u64::from(site)))
    }

    /// Who could go on with the decision that follows.
    pub fn ready(&mut self, set: &ReadySet) -> io::Result<()> {
        self.row(READY, |p| {
            put(p, u64::from(set.may_tick));
            put(p, set.threads.len() as u64);
            for thread in &set.threads {
                put(p, u64::from(*thread));
            }
        })
    }

    /// An access is made now, to a variable that holds this value.
    pub fn told(
        &mut self,
        thread: Thread,
        op: &Op,
        call: Option<u32>,
        value: &str,
    ) -> io::Result<()> {
        self.row(TOLD, |p| {
            put_ready(p, &Ready { thread, op: *op });
            put_option(p, call.map(u64::from));
            put_text(p, value);
        })
    }

    /// What a strategy decided: a log has a step or a tick for every pick.
    pub fn step(&mut self, thread: Thread, op: &Op) -> io::Result<()> {
        let site = self.identity(op.site);
        self.digest.step(thread, op, site);
        self.steps += 1;
        self.record.clear();
        self.model.put(&mut self.record, thread, op);
        self.out.write_all(&self.record)
    }

    /// The strategy let time pass. Time that passes because nobody is enabled
    /// is no decision and not logged so.
    pub fn tick(&mut self) -> io::Result<()> {
        self.digest.tick();
        self.out.write_all(&[TICK])
    }

    /// So many reads in a row saw this one of the writes that they could see.
    pub fn saw(&mut self, which: u32, times: u64) -> io::Result<()> {
        self.digest.saw(which, times);
        self.row(SAW, |p| {
            put(p, u64::from(which));
            put(p, times);
        })
    }

    pub fn hit(&mut self, hit: &Hit) -> io::Result<()> {
        self.row(HIT, |p| {
            put(p, hit.step);
            put_ready(p, &hit.first);
            put_ready(p, &hit.second);
        })
    }

    pub fn note(&mut self, text: &str) -> io::Result<()> {
        self.row(NOTE, |p| put_text(p, text))
    }

    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Of the steps so far.
    pub fn digest(&self) -> u64 {
        self.digest.0
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Writes the end, flushes, and gives back what was written to.
    pub fn end(mut self, outcome: &str) -> io::Result<(W, End)> {
        let end = End {
            outcome: outcome.to_owned(),
            steps: self.steps,
            digest: self.digest.0,
        };
        self.row(END, |p| {
            put_text(p, &end.outcome);
            put(p, end.steps);
            p.extend(end.digest.to_le_bytes());
        })?;
        self.out.flush()?;
        Ok((self.out, end))
    }

    fn row(&mut self, tag: u8, fill: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        self.payload.clear();
        fill(&mut self.payload);
        self.record.clear();
        self.record.push(tag);
        put(&mut self.record, self.payload.len() as u64);
        self.record.extend_from_slice(&self.payload);
        self.out.write_all(&self.record)
    }
}
