//! The exception table of an edited method.

use crate::layout::Layout;
use crate::{EditError, Editor, op};

impl Editor<'_, '_> {
    /// Writes the table: what must come before the old entries, these, and the
    /// catch-all.
    pub(crate) fn emit_handlers(
        &self,
        layout: &Layout<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), EditError> {
        let catches = self.catch_ranges(layout)?;
        let more = self.releases.len() + catches.len();
        let count = self.code.handlers.len() + more;
        let count = u16::try_from(count).map_err(|_| EditError::TooManySlots)?;
        out.extend(count.to_be_bytes());
        // Before the handlers that cover themselves.
        for r in &self.releases {
            let start = layout.jump(self.code.insns[r.monitorexit].pc)?;
            let end = layout.insns[r.monitorexit];
            for pc in [start, end, layout.behind(r.athrow), 0] {
                out.extend((pc as u16).to_be_bytes());
            }
        }
        for h in &self.code.handlers {
            out.extend((self.range_start(layout, h.start)? as u16).to_be_bytes());
            for pc in [h.end, h.handler] {
                out.extend((layout.jump(pc)? as u16).to_be_bytes());
            }
            out.extend(h.catch_type.to_be_bytes());
        }
        for (start, end, handler) in catches {
            for pc in [start, end, handler, 0] {
                out.extend((pc as u16).to_be_bytes());
            }
        }
        Ok(())
    }

    /// What the catch-all covers: start, end, handler. With a monitor held,
    /// that is all but the returns, where it is given back already; and the
    /// handler itself is covered up to its `athrow` by what follows it.
    fn catch_ranges(&self, layout: &Layout<'_>) -> Result<Vec<(u32, u32, u32)>, EditError> {
        let Some(catch) = &self.catch else {
            return Ok(Vec::new());
        };
        let handler = layout.end();
        let Some(hold) = &self.hold else {
            return Ok(vec![(layout.jump(0)?, handler, handler)]);
        };
        let mut ranges = Vec::new();
        let mut start = hold.from;
        for (i, insn) in self.code.insns.iter().enumerate() {
            if op::is_return(insn.op) {
                ranges.push((start, layout.insns[i], handler));
                start = layout.starts[i + 1];
            }
        }
        ranges.push((start, handler, handler));
        ranges.retain(|(start, end, _)| start < end);
        let behind = handler + catch.bytes.len() as u32;
        ranges.push((handler, behind - 1, behind));
        Ok(ranges)
    }

    /// Where a handler's range now starts. One that starts behind a
    /// `monitorenter` also covers what was inserted there: the handler gives
    /// the lock back, and HotSpot does not compile a method where something
    /// may throw between taking a lock and such a range.
    fn range_start(&self, layout: &Layout<'_>, pc: u32) -> Result<u32, EditError> {
        let before = self.code.index_of(pc).and_then(|i| i.checked_sub(1));
        match before {
            Some(i) if self.code.insns[i].op == op::MONITORENTER && !layout.is_replaced(i) => {
                Ok(layout.insns[i] + 1)
            }
            _ => Ok(layout.jump(pc)?),
        }
    }
}
