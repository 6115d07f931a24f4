//! Checks of element accesses in loops, put off until the loop ends.
//!
//! # Algorithm
//! In an innermost loop that orders nothing (`effects.rs`), a statement that walks over
//! an array does not check each element. It keeps in locals which array it uses and the
//! first and the last index so far; when the array is another one, or the index has not
//! moved by the expected stride, what was kept is checked as one range, and a new one
//! begins. Wherever control leaves the loop, by a jump, a return or an exception, the
//! range is checked. A statement that comes to the same element in each round, or to a field
//! of the same object (`fields.rs`), is checked when it first does, and again when the element
//! is another one.
//!
//! Moving checks is BigFoot's idea (Rhodes, Flanagan, Freund, PLDI 2017). There ranges
//! are proven by static analysis; here they are found when the program runs, so that no
//! proof about indices or about who else assigns a field is needed. Only where array and
//! stride are plain (`strides.rs`: a steady walk) the accesses are counted, and nothing is
//! compared: compiled code then has next to nothing to do in the loop.
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
//! Final fields of `this` are an exception. Reading one acquires what the constructor
//! released, and once that is known, reading it again does nothing. So they are read before
//! the loop, as far as the order of threads is concerned.
//!
//! Should a thread order something all the same (see `effects.rs` on class loaders), the
//! check would speak of an epoch that the accesses were not in. So the loop remembers the
//! epoch that it began in, and a check in another one is not made: that can hide a
//! race, and cannot invent one.
//!
//! Checks are late by one execution of an innermost loop at most, whose counter is bounded
//! (`strides.rs`).

mod fields;
mod regions;
mod strides;

use std::collections::{BTreeMap, BTreeSet};

use classfile::flow::Flow;
use classfile::{Asm, Insn, Slot, Snippet, op};

use crate::class::Mode;
use crate::effects::{Effect, effect};
use crate::method::{WeaveError, Weaver, keeps_this};
use crate::points::copy_element;
use crate::probes::{self, EPOCH, TRACK_READ, TRACK_WRITE};
use crate::site::SiteKind;
use regions::{Entry, Region};
use strides::Walk;

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
    /// A steady walk: nothing has to be compared, counting the accesses is enough.
    Counted {
        array: u16,
        last: u16,
        count: u16,
        stride: i32,
    },
    Range {
        array: u16,
        first: u16,
        last: u16,
        stride: i32,
    },
    /// Checked when array or index are others than the last time.
    Once { array: u16, index: u16 },
    /// A field, checked when the object is another one than the last time.
    Field { seen: u16 },
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
    /// Reads of final fields of `this` that are made before the loop.
    read_before: BTreeSet<u32>,
    /// The local with the epoch of the loop.
    epoch: u16,
    /// Checks all that is kept.
    pub(crate) flush_all: Option<Snippet>,
}

impl Deferred {
    pub(crate) fn is_read_before(&self, pc: u32) -> bool {
        self.read_before.contains(&pc)
    }
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
            && (self.code.insns.iter()).any(|i| is_element(i.op) || fields::kind(i.op).is_some());
        if !wanted {
            return Ok(());
        }
        let code = self.code;
        let found = regions::find(code, |at| {
            effect(self.cx, &code.insns[at]) == Effect::NONE || self.reads_own_final(at)
        });
        if found.is_empty() {
            return Ok(());
        }
        let Ok(flow) = Flow::analyze(&self.cx.class, code) else {
            return Ok(());
        };
        let mut regions = Vec::new();
        let mut flushes = 0;
        for region in found {
            let walks = strides::walks(&self.cx.class.pool, code, &flow, &region);
            let walks = self.worth_it(walks);
            flushes += walks.len() * region.exits.len();
            let count: usize = regions.iter().map(|(_, w): &(_, Vec<_>)| w.len()).sum();
            if flushes > MOST_FLUSHES || count + walks.len() > MOST {
                break;
            }
            if !walks.is_empty() {
                regions.push((region, walks));
            }
        }
        if regions.is_empty() {
            return Ok(());
        }
        let mut all = Vec::new();
        self.deferred.epoch = self.editor.keep_local(Slot::Long);
        for (region, walks) in regions {
            let tracked = self.track_all(&walks);
            self.enter_loop(&region, &tracked)?;
            self.read_finals(&region)?;
            if tracked.iter().any(|t| t.how.is_range()) {
                let flush = self.flush(&tracked)?;
                for pc in &region.exits {
                    self.editor.insert_before(*pc, flush.clone());
                }
            }
            all.extend(tracked);
        }
        let epoch = self.deferred.epoch;
        let mut asm = Snippet::new(&mut self.cx.class.pool);
        asm.push_long(0).lstore(epoch);
        for tracked in &all {
            match tracked.how {
                How::Counted { last, count, .. } => {
                    asm.push_int(0).istore(count).push_int(0).istore(last)
                }
                How::Range { first, last, .. } => {
                    asm.push_int(0).istore(first).push_int(0).istore(last)
                }
                How::Once { index, .. } => asm.push_int(0).istore(index),
                How::Field { .. } => &mut asm,
            };
            asm.aconst_null().astore(tracked.how.array());
        }
        let snippet = asm.finish()?;
        // Before what enters a loop at the start of the method.
        self.editor.insert_first_at_entry(snippet);
        if all.iter().any(|t| t.how.is_range()) {
            self.deferred.flush_all = Some(self.flush(&all)?);
        }
        Ok(())
    }

    /// Whether it is a final field of `this` that is read. What that acquires, it acquires when the
    /// thread first does it, and so it may as well be done before the loop.
    fn reads_own_final(&mut self, at: usize) -> bool {
        let insn = &self.code.insns[at];
        let of_this = at > 0 && self.code.insns[at - 1].op == op::ALOAD_0;
        if insn.op != op::GETFIELD || !of_this || self.targets.binary_search(&insn.pc).is_ok() {
            return false;
        }
        let used = insn.cp().and_then(|cp| self.cx.field_use(cp));
        used.is_some_and(|used| self.cx.is_frozen(&used))
            && self.has_this()
            && keeps_this(self.code)
    }

    fn has_this(&self) -> bool {
        let method = self.cx.class.method_index(&self.cx.method, &self.cx.desc);
        method.is_some_and(|index| !self.cx.class.methods[index].is_static())
    }

    /// Reads the final fields of `this` that the loop reads, as far as other threads are
    /// concerned.
    fn read_finals(&mut self, region: &Region) -> Result<(), WeaveError> {
        for at in region.insns.clone() {
            if !self.reads_own_final(at) {
                continue;
            }
            let insn = &self.code.insns[at];
            let Some(used) = insn.cp().and_then(|cp| self.cx.field_use(cp)) else {
                continue;
            };
            let site = self.field_site(SiteKind::FieldRead, insn, &used);
            let snippet = self.snippet(probes::READ, |a| {
                a.aload(0).push_int(site);
            })?;
            self.insert_at_entries(region, &snippet);
            self.deferred.read_before.insert(insn.pc);
        }
        Ok(())
    }

    fn insert_at_entries(&mut self, region: &Region, snippet: &Snippet) {
        for entry in &region.entries {
            let snippet = snippet.clone();
            match entry {
                Entry::Method => self.editor.insert_at_entry(snippet),
                Entry::After(pc) => self.editor.insert_after(*pc, snippet),
                Entry::Goto(pc) => self.editor.insert_before(*pc, snippet),
            }
        }
    }

    /// The accesses that are to be put off.
    fn worth_it(&mut self, walks: BTreeMap<u32, Walk>) -> Vec<(u32, Walk)> {
        let all = walks.into_iter();
        let wanted = all.filter(|(pc, walk)| {
            let Some(insn) = self.code.at(*pc) else {
                return false;
            };
            if fields::kind(insn.op).is_some() {
                return self.is_plain_and_checked(insn);
            }
            let dropped = is_load(insn.op) && self.is_compound(insn);
            walk.stride.unsigned_abs() <= WIDEST && !self.facts.is_unshared(*pc) && !dropped
        });
        wanted.collect()
    }

    fn track_all(&mut self, walks: &[(u32, Walk)]) -> Vec<Tracked> {
        let mut all = Vec::new();
        for (pc, walk) in walks {
            let Some(insn) = self.code.at(*pc) else {
                continue;
            };
            let array = self.editor.keep_local(Slot::Object);
            let used = insn.cp().and_then(|cp| self.cx.field_use(cp));
            if let (Some(kind), Some(used)) = (fields::kind(insn.op), used) {
                let tracked = Tracked {
                    how: How::Field { seen: array },
                    site: self.field_site(kind, insn, &used),
                    write: kind == SiteKind::FieldWrite,
                };
                self.deferred.by_pc.insert(*pc, tracked);
                all.push(tracked);
                continue;
            }
            let write = !is_load(insn.op);
            let kind = if write {
                SiteKind::ElemWrite
            } else {
                SiteKind::ElemRead
            };
            let site = self.element(kind, insn);
            let (stride, mut int) = (walk.stride, || self.editor.keep_local(Slot::Int));
            let how = match walk {
                Walk { stride: 0, .. } => How::Once {
                    array,
                    index: int(),
                },
                Walk { steady: true, .. } => How::Counted {
                    array,
                    last: int(),
                    count: int(),
                    stride,
                },
                _ => How::Range {
                    array,
                    first: int(),
                    last: int(),
                    stride,
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
        let (epoch, bridge) = (self.deferred.epoch, self.cx.class_of_probe(EPOCH));
        let mut asm = Snippet::new(&mut self.cx.class.pool);
        if tracked.iter().any(|t| t.how.is_range()) {
            asm.invokestatic(bridge, EPOCH.name, EPOCH.desc);
            asm.lstore(epoch);
        }
        for tracked in tracked {
            asm.aconst_null().astore(tracked.how.array());
            if let How::Counted { count, .. } = tracked.how {
                asm.push_int(0).istore(count);
            }
        }
        let snippet = asm.finish()?;
        self.insert_at_entries(region, &snippet);
        Ok(())
    }

    /// Checks what is kept, if anything is, and keeps nothing.
    fn flush(&mut self, tracked: &[Tracked]) -> Result<Snippet, WeaveError> {
        let (epoch, bridge) = (self.deferred.epoch, self.cx.class_of_probe(EPOCH));
        let mut asm = Snippet::new(&mut self.cx.class.pool);
        for t in tracked {
            let array = t.how.array();
            let stride = match t.how {
                How::Counted {
                    last,
                    count,
                    stride,
                    ..
                } => {
                    asm.aload(array).iload(last);
                    asm.push_int(1).iload(count).isub();
                    asm.push_int(stride).imul().iadd().iload(last);
                    stride
                }
                How::Range {
                    first,
                    last,
                    stride,
                    ..
                } => {
                    asm.aload(array).iload(first).iload(last);
                    stride
                }
                How::Once { .. } | How::Field { .. } => continue,
            };
            let probe = if t.write {
                probes::WRITE_RANGE
            } else {
                probes::READ_RANGE
            };
            asm.push_int(stride).lload(epoch).push_int(t.site);
            asm.invokestatic(bridge, probe.name, probe.desc);
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
        let (epoch, bridge) = (self.deferred.epoch, self.cx.class_of_probe(EPOCH));
        let mut asm = Snippet::new(&mut self.cx.class.pool);
        copy(&mut asm);
        match tracked.how {
            How::Counted {
                array, last, count, ..
            } => {
                asm.istore(last).astore(array).iinc(count, 1);
            }
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
                asm.invokestatic(bridge, probe.name, probe.desc);
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
                asm.invokestatic(bridge, probe.name, probe.desc);
                copy(&mut asm);
                asm.istore(index).astore(array);
            }
            How::Field { .. } => return Ok(false),
        }
        let snippet = asm.finish()?;
        self.editor.insert_before(insn.pc, snippet);
        Ok(true)
    }
}

impl How {
    /// Whether something is kept that is to be checked.
    fn is_range(self) -> bool {
        matches!(self, How::Counted { .. } | How::Range { .. })
    }

    /// The local with the array, or the object.
    fn array(self) -> u16 {
        match self {
            How::Counted { array, .. } | How::Range { array, .. } | How::Once { array, .. } => {
                array
            }
            How::Field { seen } => seen,
        }
    }
}

fn is_load(opcode: u8) -> bool {
    (op::IALOAD..=op::SALOAD).contains(&opcode)
}

fn is_element(opcode: u8) -> bool {
    is_load(opcode) || (op::IASTORE..=op::SASTORE).contains(&opcode)
}
