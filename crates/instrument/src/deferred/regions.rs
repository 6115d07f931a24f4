//! Innermost loops that order nothing, and their borders.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use classfile::{Code, op};

use crate::jumps::each_target;

/// Longer loops are left alone.
const LONGEST: usize = 2_000;

/// Where control comes into a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// With the start of the method.
    Method,
    /// Past the instruction at this pc.
    After(u32),
    /// By the `goto` at this pc.
    Goto(u32),
}

/// A loop: instructions (by index) without a gap, from the one that is jumped back to
/// up to the last that jumps there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) insns: RangeInclusive<usize>,
    pub(super) entries: Vec<Entry>,
    /// The pcs that control comes to when it leaves, other than by an uncaught exception;
    /// returns inside stand for themselves. Sorted.
    pub(super) exits: Vec<u32>,
}

impl Region {
    pub(super) fn has(&self, index: usize) -> bool {
        self.insns.contains(&index)
    }

    /// The instructions that jump back.
    pub(super) fn back_jumps(&self, code: &Code<'_>) -> Vec<usize> {
        let start = code.insns[*self.insns.start()].pc;
        let jumps_back = |at: &usize| {
            let mut back = false;
            each_target(&code.insns[*at].operand, |to| back |= to == start);
            back
        };
        self.insns.clone().filter(jumps_back).collect()
    }
}

/// The innermost loops of which each instruction is `quiet`, and whose borders can be
/// watched.
pub(super) fn find(code: &Code<'_>, mut quiet: impl FnMut(usize) -> bool) -> Vec<Region> {
    let loops = loops(code);
    let mut found = Vec::new();
    for (&start, &end) in &loops {
        let meets = |(s, e): (&usize, &usize)| *s != start && *s <= end && *e >= start;
        let around = |(s, e): (&usize, &usize)| *s <= start && *e >= end;
        let innermost = loops.iter().all(|other| !meets(other) || around(other));
        if innermost
            && end - start < LONGEST
            && let Some(region) = region(code, start..=end)
            && region.insns.clone().all(&mut quiet)
        {
            found.push(region);
        }
    }
    found
}

/// Start and end of each.
fn loops(code: &Code<'_>) -> BTreeMap<usize, usize> {
    let mut loops = BTreeMap::new();
    for (at, insn) in code.insns.iter().enumerate() {
        each_target(&insn.operand, |to| {
            if let Some(start) = code.index_of(to).filter(|start| *start <= at) {
                let end = loops.entry(start).or_insert(at);
                *end = at.max(*end);
            }
        });
    }
    loops
}

/// `None` if there is a way in that nothing can be put into.
fn region(code: &Code<'_>, insns: RangeInclusive<usize>) -> Option<Region> {
    let mut region = Region {
        insns,
        entries: Vec::new(),
        exits: Vec::new(),
    };
    let (start, end) = (*region.insns.start(), *region.insns.end());
    match start.checked_sub(1) {
        None => region.entries.push(Entry::Method),
        Some(before) if !op::ends_flow(code.insns[before].op) => {
            region.entries.push(Entry::After(code.insns[before].pc));
        }
        Some(_) => {}
    }
    let mut closed = true;
    for (at, insn) in code.insns.iter().enumerate() {
        let inside = region.has(at);
        each_target(&insn.operand, |to| {
            let leads_in = code.index_of(to).is_some_and(|to| region.has(to));
            match (inside, leads_in) {
                (true, false) => region.exits.push(to),
                (false, true) if matches!(insn.op, op::GOTO | op::GOTO_W) => {
                    region.entries.push(Entry::Goto(insn.pc));
                }
                (false, true) => closed = false,
                _ => {}
            }
        });
        if inside && op::is_return(insn.op) {
            region.exits.push(insn.pc);
        }
    }
    let next = code.insns.get(end + 1);
    if let Some(next) = next.filter(|_| !op::ends_flow(code.insns[end].op)) {
        region.exits.push(next.pc);
    }
    let (first, last) = (code.insns[start].pc, code.insns[end].pc);
    for h in &code.handlers {
        let inside = code.index_of(h.handler).is_some_and(|at| region.has(at));
        closed &= !inside;
        if h.start <= last && h.end > first {
            region.exits.push(h.handler);
        }
    }
    region.exits.sort_unstable();
    region.exits.dedup();
    closed.then_some(region)
}
