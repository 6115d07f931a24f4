//! Reading a log, up to its end or to the last record that is whole.

use super::model::{Model, STEP};
use super::write::{
    CALL, END, HEADER, HIT, MAJOR, NOTE, READY, SAW, SIGNATURE, SITE, THREAD, TICK, TOLD,
};
use super::{Digest, End, Entry, Header, Log, ReadySet, Site, ThreadRow, Told};
use crate::op::{Hit, Kind, Op, Ready};
use encoding::varint::Input;
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    #[error("not a schedule log")]
    NotALog,
    #[error("a schedule log of version {0}, which is not known here")]
    Version(u16),
}

/// Never panics, whatever the bytes are.
pub fn read(bytes: &[u8]) -> Result<Log, Error> {
    let mut input = Input::new(bytes);
    if input.bytes(8) != Some(&SIGNATURE) {
        return Err(Error::NotALog);
    }
    let Some(&[low, high, _, _]) = input.bytes(4) else {
        return Err(Error::NotALog);
    };
    let major = u16::from_le_bytes([low, high]);
    if major != MAJOR {
        return Err(Error::Version(major));
    }
    let mut reader = Reader::default();
    while !input.is_empty() {
        if reader.log.end.is_some() {
            reader.log.complete = false;
            break;
        }
        if reader.record(&mut input).is_none() {
            break;
        }
    }
    Ok(reader.log)
}

#[derive(Default)]
struct Reader {
    log: Log,
    model: Model,
    identities: FxHashMap<u32, u64>,
    digest: Digest,
    steps: u64,
    ticks: u64,
    /// Of the step that comes next.
    call: Option<u32>,
}

impl Reader {
    /// One record, or none if it is cut off or makes no sense.
    fn record(&mut self, input: &mut Input<'_>) -> Option<()> {
        let tag = input.byte()?;
        if tag & STEP != 0 {
            let (thread, op) = self.model.take(tag, input)?;
            let site = self.identities.get(&op.site);
            let site = site.copied().unwrap_or(u64::from(op.site));
            self.digest.step(thread, &op, site);
            if let Some(call) = self.call.take() {
                self.log.calls.insert(self.steps, call);
            }
            self.steps += 1;
            self.log.entries.push(Entry::Step { thread, op });
            return Some(());
        }
        if tag == TICK {
            self.digest.tick();
            self.ticks += 1;
            self.log.entries.push(Entry::Tick);
            return Some(());
        }
        let len = usize::try_from(input.u64()?).ok()?;
        let mut row = Input::new(input.bytes(len)?);
        match tag {
            HEADER => self.log.header = header(&mut row)?,
            THREAD => {
                let number = row.u32()?;
                let name = row.text()?;
                let parent = row.option_u32()?;
                self.log.threads.insert(number, ThreadRow { name, parent });
            }
            SITE => {
                let number = row.u32()?;
                let site = site(&mut row)?;
                self.identities.insert(number, site.identity());
                self.log.sites.insert(number, site);
            }
            HIT => self.log.entries.push(Entry::Hit(Hit {
                step: row.u64()?,
                first: ready(&mut row)?,
                second: ready(&mut row)?,
            })),
            CALL => self.call = Some(row.u32()?),
            SAW => {
                let (which, times) = (row.u32()?, row.u64()?);
                self.digest.saw(which, times);
                self.log.entries.push(Entry::Saw { which, times });
            }
            READY => {
                let may_tick = row.u64()? != 0;
                let mut threads = Vec::new();
                for _ in 0..row.u64()? {
                    threads.push(row.u32()?);
                }
                let set = ReadySet { threads, may_tick };
                self.log.ready.insert(self.steps + self.ticks, set);
            }
            TOLD => {
                let Ready { thread, op } = ready(&mut row)?;
                self.log.told.push(Told {
                    at: self.log.entries.len(),
                    thread,
                    op,
                    call: row.option_u32()?,
                    value: row.text()?,
                });
            }
            NOTE => self.log.entries.push(Entry::Note(row.text()?)),
            END => {
                let end = End {
                    outcome: row.text()?,
                    steps: row.u64()?,
                    digest: u64::from_le_bytes(row.bytes(8)?.try_into().ok()?),
                };
                self.log.complete = end.steps == self.steps && end.digest == self.digest.0;
                self.log.end = Some(end);
            }
            // Of a later minor version.
            _ => {}
        }
        Some(())
    }
}

fn header(row: &mut Input<'_>) -> Option<Header> {
    let mut header = Header {
        strategy: row.text()?,
        seed: row.u64()?,
        clock: row.u64()?,
        parameters: Vec::new(),
    };
    for _ in 0..row.u64()? {
        header.parameters.push((row.text()?, row.text()?));
    }
    Some(header)
}

fn site(row: &mut Input<'_>) -> Option<Site> {
    Some(Site {
        class: row.text()?,
        method: row.text()?,
        descriptor: row.text()?,
        bci: row.u32()?,
        line: row.option_u32()?,
        file: match row.u64()? {
            0 => None,
            _ => Some(row.text()?),
        },
        // Before 1.2 nothing follows.
        target: row.text().unwrap_or_default(),
    })
}

fn ready(row: &mut Input<'_>) -> Option<Ready> {
    Some(Ready {
        thread: row.u32()?,
        op: Op {
            kind: Kind::from_number(u8::try_from(row.u64()?).ok()?)?,
            site: row.u32()?,
            obj: row.u64()?,
            slot: row.u32()?,
        },
    })
}
