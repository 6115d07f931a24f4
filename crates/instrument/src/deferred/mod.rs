//! Checks of element accesses in loops, put off until the loop ends.
//!
//! # Algorithm
//! In an innermost loop that orders nothing (`effects.rs`), a statement that walks over
//! an array does not check each element. It keeps in locals which array it uses and the
//! first and the last index so far; when the array is another one, or the index has not
//! moved by the expected stride, what was kept is checked as one range, and a new one
//! begins. Wherever control leaves the loop, by a jump, a return or an exception, the
//! range is checked. A statement that comes to the same element in each round
//! is checked when it first does, and again when the element is another one.
//!
//! Moving checks is BigFoot's idea (Rhodes, Flanagan, Freund, PLDI 2017). There ranges
//! are proven by static analysis; here they are found when the program runs, so that no
//! proof about indices or about who else assigns a field is needed.
//!
//! # What it claims
//! An access is *covered* by a check of the same location, of the same kind or stronger,
//! if between the two the thread neither acquires nor releases. A covered access races if
//! and only if its check finds a race:
//! * Another thread's access is ordered after ours only through a release of ours, and
//!   before ours only through an acquire of ours. As there is none in between, what holds
//!   of the time of the check holds of the time of the access.
//! * Somebody who makes a conflicting access between the two, and checks it before ours is
//!   known, is found by our check, since what he wrote down is not ordered before us.
//!
//! Every access of a loop is covered: nothing in it orders, each way out leads past the
//! check before anything else, and a handler for everything stands around the method.
//! Constructors have no such handler and are left alone. A finaliser is taken to come after
//! everything that other threads have done, without a release of theirs; but nothing
//! orders it after a loop that still uses the arrays of its object, so that a race between
//! the two is one.
//!
//! Should a thread order something all the same (see `effects.rs` on class loaders), the
//! check would speak of an epoch that the accesses were not in. So the loop remembers the
//! epoch that it began in, and a check in another one is not made: that can hide a
//! race, and cannot invent one.
//!
//! Checks are late by one execution of an innermost loop at most, whose counter is bounded
//! (`strides.rs`).

mod regions;
mod strides;

use std::collections::BTreeMap;

use classfile::flow::Flow;
use classfile::{Asm, Insn, Slot, Snippet, op};

use crate::class::Mode;
use crate::effects::{Effect, effect};
use crate::method::{WeaveError, Weaver};
use crate::points::copy_element;
use crate::probes::{self, BRIDGE, EPOCH, TRACK_READ, TRACK_WRITE};
use crate::site::SiteKind;
use regions::{Entry, Region};

/// Longer methods are left alone: what is put in must fit.
const LONGEST: u32 = 8_000;
/// So many statements of a method are followed.
const MOST: usize = 40;
/// So many checks are put in at the ends of its loops.
const MOST_FLUSHES: usize = 400;
/// Indices that move further in a round are not worth it.
const WIDEST: u32 = 64;

/// How the check of a statement is put off, and the locals that it takes.
#[derive(Clone, Copy, Debug)]
enum How {
    Range {
        array: u16,
        first: u16,
        last: u16,
        stride: i32,
    },
    /// Checked when array or index are others than the last time.
    Once { array: u16, index: u16 },
}

#[derive(Clone, Copy, Debug)]
struct Tracked {
    how: How,
    site: i32,
    write: bool,
}

/// The statements of a method whose checks are put off.
#[derive(Debug, Default)]
pub(crate) struct Deferred {
    by_pc: BTreeMap<u32, Tracked>,
    /// The local with the epoch of the loop.
    epoch: u16,
    /// Checks all that is kept.
    pub(crate) flush_all: Option<Snippet>,
}

impl Weaver<'_, '_, '_> {
    /// Finds the loops of the method and prepares them. To be called before anything
    /// else is inserted: what is kept must be checked before any other probe.
    pub(crate) fn defer(&mut self) -> Result<(), WeaveError> {
        let wanted = self.checks()
            && self.cx.mode == Mode::FastTrack
            && !self.cx.control.on
            && !self.cx.check_unshared
            && &*self.cx.method != "<init>"
            && self.code.code_len() <= LONGEST
            && self.code.insns.iter().any(|i| is_element(i.op));
        if !wanted {
            return Ok(());
        }
        let (cx, code) = (&mut *self.cx, self.code);
        let found = regions::find(code, |at| effect(cx, &code.insns[at]) == Effect::NONE);
        if found.is_empty() {
            return Ok(());
        }
        let Ok(flow) = Flow::analyze(&self.cx.class, code) else {
            return Ok(());
        };
        let mut regions = Vec::new();
        let mut flushes = 0;
        for region in found {
            let strides = strides::strides(&self.cx.class.pool, code, &flow, &region);
            let strides = self.worth_it(strides);
            flushes += strides.len() * region.exits.len();
            let count: usize = regions.iter().map(|(_, s): &(_, Vec<_>)| s.len()).sum();
            if flushes > MOST_FLUSHES || count + strides.len() > MOST {
                break;
            }
            if !strides.is_empty() {
                regions.push((region, strides));
            }
        }
        if regions.is_empty() {
            return Ok(());
        }
        self.deferred.epoch = self.editor.keep_local(Slot::Long);
        let mut all = Vec::new();
        for (region, strides) in regions {
            let tracked = self.track_all(&strides);
            self.enter_loop(&region, &tracked)?;
            let flush = self.flush(&tracked)?;
            for pc in &region.exits {
                self.editor.insert_before(*pc, flush.clone());
            }
            all.extend(tracked);
        }
        let epoch = self.deferred.epoch;
        let mut asm = Snippet::new(&mut self.cx.class.pool);
        asm.push_long(0).lstore(epoch);
        for tracked in &all {
            match tracked.how {
                How::Range { first, last, .. } => {
                    asm.push_int(0).istore(first).push_int(0).istore(last)
                }
                How::Once { index, .. } => asm.push_int(0).istore(index),
            };
            asm.aconst_null().astore(tracked.how.array());
        }
        let snippet = asm.finish()?;
        // Before what enters a loop at the start of the method.
        self.editor.insert_first_at_entry(snippet);
        self.deferred.flush_all = Some(self.flush(&all)?);
        Ok(())
    }

    /// The accesses that are to be put off, with their strides.
    fn worth_it(&self, strides: BTreeMap<u32, i32>) -> Vec<(u32, i32)> {
        let all = strides.into_iter();
        let wanted = all.filter(|(pc, stride)| {
            let Some(insn) = self.code.at(*pc) else {
                return false;
            };
            let dropped = is_load(insn.op) && self.is_compound(insn);
            stride.unsigned_abs() <= WIDEST && !self.facts.is_unshared(*pc) && !dropped
        });
        wanted.collect()
    }

    fn track_all(&mut self, strides: &[(u32, i32)]) -> Vec<Tracked> {
        let mut all = Vec::new();
        for (pc, stride) in strides {
            let Some(insn) = self.code.at(*pc) else {
                continue;
            };
            let write = !is_load(insn.op);
            let kind = if write {
                SiteKind::ElemWrite
            } else {
                SiteKind::ElemRead
            };
            let site = self.element(kind, insn);
            let array = self.editor.keep_local(Slot::Object);
            let how = match stride {
                0 => How::Once {
                    array,
                    index: self.editor.keep_local(Slot::Int),
                },
                _ => How::Range {
                    array,
                    first: self.editor.keep_local(Slot::Int),
                    last: self.editor.keep_local(Slot::Int),
                    stride: *stride,
                },
            };
            let tracked = Tracked { how, site, write };
            self.deferred.by_pc.insert(*pc, tracked);
            all.push(tracked);
        }
        all
    }

    /// The loop begins: in this epoch, with nothing kept.
    fn enter_loop(&mut self, region: &Region, tracked: &[Tracked]) -> Result<(), WeaveError> {
        let epoch = self.deferred.epoch;
        let mut asm = Snippet::new(&mut self.cx.class.pool);
        asm.invokestatic(BRIDGE, EPOCH.name, EPOCH.desc);
        asm.lstore(epoch);
        for tracked in tracked {
            asm.aconst_null().astore(tracked.how.array());
        }
        let snippet = asm.finish()?;
        for entry in &region.entries {
            let snippet = snippet.clone();
            match entry {
                Entry::Method => self.editor.insert_at_entry(snippet),
                Entry::After(pc) => self.editor.insert_after(*pc, snippet),
                Entry::Goto(pc) => self.editor.insert_before(*pc, snippet),
            }
        }
        Ok(())
    }

    /// Checks what is kept, if anything is, and keeps nothing.
    fn flush(&mut self, tracked: &[Tracked]) -> Result<Snippet, WeaveError> {
        let epoch = self.deferred.epoch;
        let mut asm = Snippet::new(&mut self.cx.class.pool);
        for t in tracked {
            let How::Range {
                array,
                first,
                last,
                stride,
            } = t.how
            else {
                continue;
            };
            let probe = if t.write {
                probes::WRITE_RANGE
            } else {
                probes::READ_RANGE
            };
            asm.aload(array).iload(first).iload(last).push_int(stride);
            asm.lload(epoch).push_int(t.site);
            asm.invokestatic(BRIDGE, probe.name, probe.desc);
            asm.aconst_null().astore(array);
        }
        Ok(asm.finish()?)
    }

    /// Puts off the check of an element access; `false` if it is to be made at once.
    pub(crate) fn put_off(&mut self, insn: &Insn) -> Result<bool, WeaveError> {
        let Some(&tracked) = self.deferred.by_pc.get(&insn.pc) else {
            return Ok(false);
        };
        let wide = matches!(insn.op, op::LASTORE | op::DASTORE);
        let copy = |asm: &mut Asm<'_>| {
            if is_load(insn.op) {
                asm.dup2();
            } else {
                copy_element(asm, wide);
            }
        };
        let epoch = self.deferred.epoch;
        let mut asm = Snippet::new(&mut self.cx.class.pool);
        copy(&mut asm);
        match tracked.how {
            How::Range {
                array,
                first,
                last,
                stride,
            } => {
                let probe = if tracked.write {
                    TRACK_WRITE
                } else {
                    TRACK_READ
                };
                asm.aload(array).iload(first).iload(last).push_int(stride);
                asm.lload(epoch).push_int(tracked.site);
                asm.invokestatic(BRIDGE, probe.name, probe.desc);
                asm.istore(first);
                copy(&mut asm);
                asm.istore(last).astore(array);
            }
            How::Once { array, index } => {
                let probe = if tracked.write {
                    probes::WRITE_ONCE
                } else {
                    probes::READ_ONCE
                };
                asm.aload(array).iload(index).push_int(tracked.site);
                asm.invokestatic(BRIDGE, probe.name, probe.desc);
                copy(&mut asm);
                asm.istore(index).astore(array);
            }
        }
        let snippet = asm.finish()?;
        self.editor.insert_before(insn.pc, snippet);
        Ok(true)
    }
}

impl How {
    fn array(self) -> u16 {
        match self {
            How::Range { array, .. } | How::Once { array, .. } => array,
        }
    }
}

fn is_load(opcode: u8) -> bool {
    (op::IALOAD..=op::SALOAD).contains(&opcode)
}

fn is_element(opcode: u8) -> bool {
    is_load(opcode) || (op::IASTORE..=op::SASTORE).contains(&opcode)
}
