//! Where the analysis keeps states: the cuts of the code into blocks.

use std::ops::Range;

use super::FlowError;
use super::types::{TypeId, Types};
use crate::{Code, Operand, Pool, op};

#[derive(Debug)]
pub(super) struct Blocks {
    /// Index of the first instruction of each, and the number of instructions.
    starts: Vec<u32>,
    /// By block, where in `links` its handlers begin; one more at the end.
    offsets: Vec<u32>,
    /// Handler block and caught type.
    links: Vec<(usize, TypeId)>,
    /// Each `jsr`: its subroutine's pc, and the block it comes back to.
    calls: Vec<(u32, usize)>,
    /// Blocks that end in `ret`.
    rets: Vec<usize>,
}

/// A replay from the start of a block never takes longer.
const LONGEST: usize = 64;

/// Handlers times blocks, at most.
const LINKS: usize = 1 << 24;

impl Blocks {
    pub fn new(code: &Code<'_>, pool: &Pool, types: &mut Types) -> Result<Blocks, FlowError> {
        let n = code.insns.len();
        let mut cut = vec![false; n];
        let mut at = |pc: u32| {
            if let Some(i) = code.index_of(pc) {
                cut[i] = true;
            }
        };
        at(0);
        for (i, insn) in code.insns.iter().enumerate() {
            match &insn.operand {
                &Operand::Branch(target) => {
                    at(target);
                    if matches!(insn.op, op::JSR | op::JSR_W) {
                        at(code.end_of(i));
                    }
                }
                Operand::Switch(switch) => {
                    at(switch.default);
                    switch.cases.iter().for_each(|&(_, target)| at(target));
                }
                _ if insn.op == op::RET => at(code.end_of(i)),
                _ => {}
            }
        }
        for h in &code.handlers {
            [h.start, h.end, h.handler].into_iter().for_each(&mut at);
        }
        let mut starts = Vec::new();
        let mut last = 0;
        for (i, &cut) in cut.iter().enumerate() {
            if cut || i - last >= LONGEST {
                starts.push(i as u32);
                last = i;
            }
        }
        let count = starts.len();
        starts.push(n as u32);
        if count.saturating_mul(code.handlers.len()) > LINKS {
            return Err(FlowError::TooComplex);
        }
        let mut blocks = Blocks {
            starts,
            offsets: vec![0],
            links: Vec::new(),
            calls: Vec::new(),
            rets: Vec::new(),
        };
        blocks.link_handlers(code, pool, types)?;
        blocks.find_subroutines(code);
        Ok(blocks)
    }

    fn link_handlers(
        &mut self,
        code: &Code<'_>,
        pool: &Pool,
        types: &mut Types,
    ) -> Result<(), FlowError> {
        let mut handlers = Vec::with_capacity(code.handlers.len());
        for h in &code.handlers {
            let at = code.index_of(h.handler).ok_or(FlowError::FallsOff)?;
            let caught = match h.catch_type {
                0 => types.class("java/lang/Throwable"),
                index => {
                    let name = pool.class_name(index);
                    types.class(&name.ok_or(FlowError::Constant(h.handler))?)
                }
            };
            handlers.push((h.start..h.end, (self.containing(at), caught)));
        }
        for block in 0..self.len() {
            let pc = code.insns[self.starts[block] as usize].pc;
            let covering = handlers.iter().filter(|(range, _)| range.contains(&pc));
            self.links.extend(covering.map(|(_, link)| *link));
            self.offsets.push(self.links.len() as u32);
        }
        Ok(())
    }

    fn find_subroutines(&mut self, code: &Code<'_>) {
        for (i, insn) in code.insns.iter().enumerate() {
            match (insn.op, &insn.operand) {
                (op::RET, _) => self.rets.push(self.containing(i)),
                (op::JSR | op::JSR_W, &Operand::Branch(target)) if i + 1 < code.insns.len() => {
                    self.calls.push((target, self.containing(i + 1)));
                }
                _ => {}
            }
        }
    }

    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The instructions of a block.
    pub fn range(&self, block: usize) -> Range<usize> {
        self.starts[block] as usize..self.starts[block + 1] as usize
    }

    /// The block of an instruction.
    pub fn containing(&self, insn: usize) -> usize {
        let after = self.starts.partition_point(|&s| s as usize <= insn);
        (after - 1).min(self.len() - 1)
    }

    pub fn handlers(&self, block: usize) -> &[(usize, TypeId)] {
        &self.links[self.offsets[block] as usize..self.offsets[block + 1] as usize]
    }

    pub fn calls(&self) -> &[(u32, usize)] {
        &self.calls
    }

    pub fn with_ret(&self) -> &[usize] {
        &self.rets
    }
}
