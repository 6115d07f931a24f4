//! All threads' events in one legal order.
//!
//! Every synchronisation event has a number that is its place in the order of
//! the run; an access has none, and is put right behind the synchronisation
//! event that its thread did before it. So: events sorted by the number of the
//! latest synchronisation event of their thread (their own, if they have one),
//! program order kept, and accesses of threads that have not synchronised yet
//! first, by thread.
//!
//! Claims: program order and the order of sequence numbers are kept, hence
//! every happens-before edge. The order of unsynchronised accesses of
//! different threads need not be the one of the run; nobody recorded that.
//!
//! A record may have a number without being an event: it only says where its
//! thread goes on, and so keeps the order of accesses when somebody knew it.
//!
//! Numbers are dense, so a missing one is a lost event: a thread's last buffer
//! when the program was killed. Before the first such gap the merged events are
//! exactly those of a legal run, except that a thread's last accesses may be
//! missing, which no other thread can have synchronised with.
//!
//! A heap of threads by their next number; a thread is left only when another
//! one has a smaller number. In memory: one unpacked chunk for each thread that
//! has begun and not ended.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{Read, Seek};
use std::ops::ControlFlow;

use crate::decode::{Damaged, Decoder, Step};
use crate::error::Error;
use crate::event::{Event, ThreadId};
use crate::raw::FIRST_SEQ;
use crate::reader::{ChunkRef, read_payload};

/// Synchronisation events that are not in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gap {
    pub first: u64,
    pub last: u64,
}

/// An event and its place in the order of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Item {
    pub event: Event,
    /// Its sequence number, or for events that have none that of its thread's
    /// latest event that has one; 0 before that.
    pub seq: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scope {
    CompletePrefix,
    Everything,
    OneThread,
}

/// Where a thread is.
#[derive(Debug)]
struct Lane<'a> {
    thread: ThreadId,
    /// Not begun yet.
    chunks: &'a [ChunkRef],
    /// Walks through the chunk at `offset`; absent between chunks.
    decoder: Option<Decoder>,
    offset: u64,
    /// Decoded, but not this thread's turn yet.
    waiting: Option<Step>,
    /// The latest number handed out.
    seq: u64,
}

/// Merged events; an iterator over `Result<Item, Error>` that ends after the
/// first error. [`Events::for_each_event`] is the fast way through.
#[derive(Debug)]
pub struct Events<'a, R> {
    input: &'a mut R,
    lanes: Vec<Lane<'a>>,
    /// Lanes other than the current one by the number they go on with.
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    current: Option<usize>,
    /// The smallest number in the heap: the current lane may go on up to it.
    limit: u64,
    scope: Scope,
    expected: u64,
    gap: Option<Gap>,
    missing: u64,
    spare: Vec<Decoder>,
    payload: Vec<u8>,
}

impl<'a, R: Read + Seek> Events<'a, R> {
    pub(crate) fn new(
        input: &'a mut R,
        threads: impl Iterator<Item = &'a Vec<ChunkRef>>,
        scope: Scope,
    ) -> Self {
        let mut lanes = Vec::new();
        let mut heap = BinaryHeap::new();
        for chunks in threads {
            let Some(ChunkRef { head, .. }) = chunks.first() else {
                continue;
            };
            let key = if head.starts_with_sync {
                head.first_seq
            } else {
                0
            };
            heap.push(Reverse((key, lanes.len() as u32)));
            lanes.push(Lane {
                thread: head.thread,
                chunks,
                decoder: None,
                offset: 0,
                waiting: None,
                seq: 0,
            });
        }
        Events {
            input,
            lanes,
            heap,
            current: None,
            limit: 0,
            scope,
            expected: FIRST_SEQ,
            gap: None,
            missing: 0,
            spare: Vec::new(),
            payload: Vec::new(),
        }
    }

    /// The first gap met so far.
    pub fn gap(&self) -> Option<Gap> {
        self.gap
    }

    /// How many synchronisation events were found missing so far.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// Calls `f` with every event that is left.
    pub fn for_each_event(&mut self, mut f: impl FnMut(&Event)) -> Result<(), Error> {
        self.events_until(|event| {
            f(event);
            ControlFlow::Continue(())
        })
    }

    /// Calls `f` with the events that are left, until it breaks. The others of that block are lost.
    pub fn events_until(
        &mut self,
        mut f: impl FnMut(&Event) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut over = false;
        while !over {
            // Accesses need no thought about order: straight from the decoder.
            if let Some(lane) = self.current.and_then(|i| self.lanes.get_mut(i))
                && lane.waiting.is_none()
                && let Some(decoder) = &mut lane.decoder
            {
                let thread = lane.thread;
                let sound = decoder.accesses(|site, op| {
                    over = over || f(&Event { thread, site, op }).is_break();
                });
                if let Err(Damaged) = sound {
                    let offset = lane.offset;
                    return Err(self.stop(damaged(offset)));
                }
            }
            if !over {
                let Some(item) = self.next_item()? else {
                    break;
                };
                over = f(&item.event).is_break();
            }
        }
        Ok(())
    }

    /// The next event; `None` at the end.
    #[inline]
    pub fn next_item(&mut self) -> Result<Option<Item>, Error> {
        loop {
            let Some(lane) = self.current.and_then(|i| self.lanes.get_mut(i)) else {
                if self.switch() {
                    continue;
                }
                return Ok(None);
            };
            let step = match (&mut lane.waiting, &mut lane.decoder) {
                (waiting @ Some(_), _) => waiting.take(),
                (None, Some(decoder)) => match decoder.next() {
                    Ok(step) => step,
                    Err(Damaged) => {
                        let offset = lane.offset;
                        return Err(self.stop(damaged(offset)));
                    }
                },
                (None, None) => None,
            };
            let Some(step) = step else {
                self.next_chunk()?;
                continue;
            };
            if step.seq != 0 {
                if step.seq > self.limit {
                    lane.waiting = Some(step);
                    self.leave(step.seq);
                    continue;
                }
                lane.seq = step.seq;
            }
            let (thread, site, seq) = (lane.thread, step.site, lane.seq);
            if step.seq != 0 {
                if step.seq != self.expected && !self.jump(step.seq)? {
                    return Ok(None);
                }
                self.expected = step.seq.saturating_add(1);
            }
            let Some(op) = step.op else {
                continue;
            };
            let event = Event { thread, site, op };
            return Ok(Some(Item { event, seq }));
        }
    }

    /// Makes the lane with the smallest number the current one.
    #[cold]
    fn switch(&mut self) -> bool {
        let Some(Reverse((_, i))) = self.heap.pop() else {
            return false;
        };
        self.current = Some(i as usize);
        self.limit = self.heap.peek().map_or(u64::MAX, |&Reverse((n, _))| n);
        true
    }

    /// Leaves the current lane until it is the turn of `seq`, for the one with
    /// the smallest number: it takes its place in the heap.
    fn leave(&mut self, seq: u64) {
        let Some(i) = self.current else {
            return;
        };
        let Some(mut top) = self.heap.peek_mut() else {
            return;
        };
        let Reverse((_, next)) = std::mem::replace(&mut *top, Reverse((seq, i as u32)));
        drop(top);
        self.current = Some(next as usize);
        self.limit = self.heap.peek().map_or(u64::MAX, |&Reverse((n, _))| n);
    }

    /// The current lane is between two chunks: loads the next one, or leaves
    /// the lane.
    #[cold]
    fn next_chunk(&mut self) -> Result<(), Error> {
        let Some(lane) = self.current.and_then(|i| self.lanes.get_mut(i)) else {
            return Ok(());
        };
        self.spare.extend(lane.decoder.take());
        let Some((chunk, rest)) = lane.chunks.split_first() else {
            self.current = None;
            return Ok(());
        };
        if chunk.head.starts_with_sync && chunk.head.first_seq > self.limit {
            self.leave(chunk.head.first_seq);
            return Ok(());
        }
        lane.chunks = rest;
        lane.offset = chunk.offset;
        let mut decoder = self.spare.pop().unwrap_or_else(Decoder::new);
        if let Err(e) = read_payload(self.input, chunk.offset, chunk.len, &mut self.payload) {
            return Err(self.stop(e));
        }
        match decoder.load(&self.payload) {
            Ok(_) => lane.decoder = Some(decoder),
            Err(Damaged) => return Err(self.stop(damaged(chunk.offset))),
        }
        Ok(())
    }

    /// The numbers are not consecutive. Whether to go on.
    #[cold]
    fn jump(&mut self, seq: u64) -> Result<bool, Error> {
        if self.scope == Scope::OneThread {
            return Ok(true);
        }
        if seq < self.expected {
            return Err(self.stop(Error::DuplicateSeq { seq }));
        }
        self.missing += seq - self.expected;
        self.gap.get_or_insert(Gap {
            first: self.expected,
            last: seq - 1,
        });
        if self.scope == Scope::CompletePrefix {
            self.heap.clear();
            self.current = None;
            return Ok(false);
        }
        Ok(true)
    }

    /// Nothing comes after an error.
    #[cold]
    fn stop(&mut self, error: Error) -> Error {
        self.heap.clear();
        self.current = None;
        error
    }
}

fn damaged(offset: u64) -> Error {
    Error::Damaged {
        offset,
        what: "its events make no sense",
    }
}

impl<R: Read + Seek> Iterator for Events<'_, R> {
    type Item = Result<Item, Error>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_item().transpose()
    }
}
