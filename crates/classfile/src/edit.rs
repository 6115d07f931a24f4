//! Insertions into a method, and writing it back.
//!
//! # Layout
//! The edited method is the entry snippet; then for each old instruction what
//! goes before it, itself (or its replacement), what goes after it; then the
//! catch-all handler. So an old pc has two new ones: where a jump to it must
//! land (at what goes before it), and where the instruction itself now is,
//! which is what a frame means by the `new` it names. `Layout` holds both
//! maps, and `remap` applies them to everything that holds a pc.

use std::borrow::Cow;

use crate::class::{Attribute, write_attributes};
use crate::code::{Insn, Operand};
use crate::hold::Hold;
use crate::kept::{Kept, Slot};
use crate::layout::{Layout, padding};
use crate::release::{self, Release};
use crate::{ClassFile, Code, EditError, PoolFull, Snippet, op, remap};

/// Collects edits of one method, then writes them all at once.
///
/// All pcs are the original ones. Edits at one pc keep the order of the calls.
/// A snippet must leave the stack as deep as the method expects it there.
#[derive(Debug)]
pub struct Editor<'c, 'a> {
    pub(crate) code: &'c Code<'a>,
    edits: Vec<Edit>,
    entry: Vec<u8>,
    pub(crate) catch: Option<Snippet>,
    /// Handlers behind handlers; see `release`.
    pub(crate) releases: Vec<Release>,
    pub(crate) hold: Option<Hold>,
    keeps_this: bool,
    /// New locals that hold a value through the whole method.
    kept: Vec<(u16, Slot)>,
    max_locals: u16,
    /// How much deeper than before some snippet makes the stack.
    extra_stack: i32,
    /// The first edit that made no sense; `finish` tells.
    error: Option<EditError>,
}

#[derive(Debug)]
pub(crate) struct Edit {
    /// Index of the instruction.
    pub at: u16,
    pub place: Place,
    pub snippet: Snippet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Before,
    Instead,
    After,
    /// Behind the instruction, never reached from it.
    Behind,
}

impl<'c, 'a> Editor<'c, 'a> {
    pub fn new(code: &'c Code<'a>) -> Editor<'c, 'a> {
        Editor {
            code,
            edits: Vec::new(),
            entry: Vec::new(),
            catch: None,
            releases: Vec::new(),
            hold: None,
            keeps_this: false,
            kept: Vec::new(),
            max_locals: code.max_locals,
            extra_stack: 0,
            error: None,
        }
    }

    /// The method as it was.
    pub fn code(&self) -> &'c Code<'a> {
        self.code
    }

    /// A local that the method does not use yet; `width` is 2 for long and
    /// double. It holds its value until the next stack map frame at most.
    pub fn alloc_local(&mut self, width: u16) -> u16 {
        let local = self.max_locals;
        match local.checked_add(width) {
            Some(max) => self.max_locals = max,
            None => self.fail(EditError::TooManySlots),
        }
        local
    }

    /// Runs `snippet` before the instruction, also when that is jumped to.
    /// The handlers that cover the instruction cover the snippet.
    pub fn insert_before(&mut self, pc: u32, snippet: Snippet) {
        self.edit(pc, Place::Before, snippet);
    }

    /// Runs `snippet` when the instruction has completed and control falls
    /// through; jumps to the next instruction skip it. The handlers that cover
    /// the instruction cover the snippet. Behind an instruction that never
    /// falls through nothing is inserted.
    pub fn insert_after(&mut self, pc: u32, snippet: Snippet) {
        self.edit(pc, Place::After, snippet);
    }

    /// Puts `snippet` in the instruction's place.
    pub fn replace(&mut self, pc: u32, snippet: Snippet) {
        self.edit(pc, Place::Instead, snippet);
    }

    /// Runs `snippet` once, when the method is entered: not again when a loop
    /// jumps to pc 0.
    pub fn insert_at_entry(&mut self, snippet: Snippet) {
        self.extra_stack = self.extra_stack.max(snippet.max);
        self.entry.extend_from_slice(&snippet.bytes);
    }

    /// The same, before all that was inserted there so far.
    pub fn insert_first_at_entry(&mut self, snippet: Snippet) {
        self.extra_stack = self.extra_stack.max(snippet.max);
        self.entry.splice(0..0, snippet.bytes);
    }

    /// Adds a handler for everything that the body (not the entry snippet)
    /// throws, outermost: every handler already there comes first. The snippet
    /// finds the exception alone on the stack, may use no local but kept ones, and must end
    /// in `athrow`. A constructor cannot have one: no single frame is true both
    /// before and after `super(..)`.
    pub fn catch_all(&mut self, snippet: Snippet) {
        self.catch = Some(snippet);
    }

    /// Says that what was inserted at the entry so far leaves an object in this
    /// new local and has entered its monitor, with its last instruction. The
    /// local then keeps the object through the whole method, and a catch-all
    /// handler may use it. What is inserted before each return, and the
    /// catch-all's snippet before its `athrow`, must exit the monitor with
    /// their last instruction; should something before that throw in the
    /// handler, the editor's own code exits it. See `hold`.
    pub fn hold_monitor(&mut self, local: u16, class: &mut ClassFile<'_>) -> Result<(), PoolFull> {
        self.hold = Some(Hold::new(local, self.entry.len() as u32, class)?);
        Ok(())
    }

    /// A local that the method does not use yet, which holds such a value through the
    /// whole method: what is inserted at the entry must put it there. Handlers, the
    /// catch-all included, may use it. Not for constructors.
    pub fn keep_local(&mut self, slot: Slot) -> u16 {
        let local = self.alloc_local(if slot == Slot::Long { 2 } else { 1 });
        self.kept.push((local, slot));
        local
    }

    /// Says that what is inserted behind the call of `super(..)` or `this(..)` uses
    /// local 0, to which the method never stores: frames that do not name it, since
    /// the method itself has no more use for it, name it again.
    pub fn keep_this(&mut self) {
        self.keeps_this = true;
    }

    /// For what is inserted before this `monitorexit`: if that throws in the
    /// handler that ends a `synchronized` block, the lock is given back and the
    /// exception goes on. Anywhere else this does nothing.
    pub fn guard_release(&mut self, pc: u32, class: &mut ClassFile<'_>) -> Result<(), PoolFull> {
        let found = self
            .code
            .index_of(pc)
            .and_then(|i| release::find(self.code, i));
        let Some(found) = found else { return Ok(()) };
        let snippet = Snippet::new(&mut class.pool)
            .aload(found.lock)
            .monitorexit()
            .athrow()
            .finish()?;
        self.edits.push(Edit {
            at: found.athrow as u16,
            place: Place::Behind,
            snippet,
        });
        // The exception and the lock.
        self.extra_stack = self.extra_stack.max(2 - i32::from(self.code.max_stack));
        self.releases.push(found);
        Ok(())
    }

    /// Nothing was inserted so far.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty() && self.entry.is_empty() && self.catch.is_none()
    }

    fn edit(&mut self, pc: u32, place: Place, snippet: Snippet) {
        let Some(at) = self.code.index_of(pc) else {
            return self.fail(EditError::NoInstruction(pc));
        };
        self.extra_stack = self.extra_stack.max(snippet.max);
        self.edits.push(Edit {
            at: at as u16,
            place,
            snippet,
        });
    }

    fn fail(&mut self, error: EditError) {
        self.error.get_or_insert(error);
    }

    /// Writes the method back into its class, which must be the one it was
    /// decoded from. After an error the class is as before, but for constants
    /// that nothing uses.
    pub fn finish(mut self, class: &mut ClassFile<'a>) -> Result<(), EditError> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let code = self.code;
        let method = class.methods.get(code.method_index);
        let method = method.ok_or(EditError::NoMethod(code.method_index))?;
        if self.catch.is_some() && class.member_name(method) == "<init>" {
            return Err(EditError::CatchInConstructor);
        }
        self.sort_edits()?;
        let layout = Layout::compute(code, self.entry.len() as u32, &self.edits)?;
        let catch = self.catch.as_ref();
        let hold = self.hold.as_ref().filter(|_| catch.is_some());
        let added = catch.into_iter().chain(hold.map(|h| &h.release));
        let code_len = layout.end() + added.clone().map(|c| c.bytes.len() as u32).sum::<u32>();
        if code_len > u32::from(u16::MAX) {
            return Err(EditError::CodeTooLarge(code_len));
        }
        let stack = i32::from(code.max_stack) + self.extra_stack;
        let stack = stack.max(added.clone().map(|c| c.max + 1).max().unwrap_or(0));
        let max_stack = u16::try_from(stack).map_err(|_| EditError::TooManySlots)?;

        let mut out = Vec::with_capacity(code_len as usize + code.bytes.len() / 2 + 64);
        out.extend(max_stack.to_be_bytes());
        out.extend(self.max_locals.to_be_bytes());
        out.extend(code_len.to_be_bytes());
        self.emit(&layout, &mut out);
        for snippet in added {
            out.extend_from_slice(&snippet.bytes);
        }
        self.emit_handlers(&layout, &mut out)?;

        let mut frames = remap::HandlerFrames::default();
        if (catch.is_some() || !self.releases.is_empty()) && class.major_version() >= 50 {
            frames.throwable = class.pool.add_class("java/lang/Throwable")?;
            frames.last = catch.map(|_| layout.end());
            if let (Some(hold), Some(catch)) = (hold, catch) {
                frames.behind = Some(layout.end() + catch.bytes.len() as u32);
                frames.kept = Some(hold.kept(class, code)?);
            }
            let same = |r: &Release| (code.insns[r.athrow].pc, layout.behind(r.athrow));
            frames.same.extend(self.releases.iter().map(same));
            frames.same.sort_unstable();
        }
        if !self.kept.is_empty() && class.major_version() >= 50 {
            let object = class.pool.add_class("java/lang/Object")?;
            let mut kept = match frames.kept.take() {
                Some(kept) => kept,
                None => Kept::new(class, code)?,
            };
            for (local, slot) in &self.kept {
                kept.add(*local, *slot, object);
            }
            frames.kept = Some(kept);
        }
        if self.keeps_this && frames.kept.is_none() && class.major_version() >= 50 {
            frames.kept = Kept::this(class, code)?;
        }
        let mut attributes = Vec::with_capacity(code.attributes.len() + 1);
        for attribute in &code.attributes {
            attributes.push(remap::attribute(class, attribute, &layout, &mut frames)?);
        }
        if let Some(alone) = frames.alone()? {
            // The method had no frames at all until now.
            attributes.push(Attribute {
                name_index: class.pool.add_utf8("StackMapTable")?,
                data: Cow::Owned(alone),
            });
        }
        write_attributes(&attributes, &mut out);

        let missing = EditError::NoMethod(code.method_index);
        let found = class.methods.get(code.method_index).and_then(|method| {
            let mut all = method.attributes.iter();
            all.position(|a| class.is_named(a, "Code"))
        });
        let at = found.ok_or(missing)?;
        class.methods[code.method_index].attributes[at].data = Cow::Owned(out);
        Ok(())
    }

    /// Brings the edits into the order of the code, and drops those behind
    /// instructions that never fall through.
    fn sort_edits(&mut self) -> Result<(), EditError> {
        let key = |e: &Edit| (e.at, e.place);
        if !self.edits.is_sorted_by_key(key) {
            self.edits.sort_by_key(key);
        }
        for pair in self.edits.windows(2) {
            if pair[0].place == Place::Instead && key(&pair[0]) == key(&pair[1]) {
                let pc = self.code.insns[usize::from(pair[0].at)].pc;
                return Err(EditError::Replaced(pc));
            }
        }
        let insns = &self.code.insns;
        let mut instead = None;
        self.edits.retain(|edit| {
            if edit.place == Place::Instead {
                instead = Some((edit.at, edit.snippet.ends));
            }
            edit.place != Place::After
                || match instead {
                    Some((at, ends)) if at == edit.at => !ends,
                    _ => !op::ends_flow(insns[usize::from(edit.at)].op),
                }
        });
        Ok(())
    }

    /// Writes the new code, without the catch-all handler.
    fn emit(&self, layout: &Layout<'_>, out: &mut Vec<u8>) {
        let bytes = &self.code.bytes;
        out.extend_from_slice(&self.entry);
        // Old code up to here is written; what follows unchanged is copied in
        // one go when something else comes up.
        let mut done = 0;
        let mut copy = |from_next: u32, upto: u32, out: &mut Vec<u8>| {
            out.extend_from_slice(&bytes[done as usize..upto as usize]);
            done = from_next;
        };
        let mut edits = self.edits.iter().peekable();
        for (i, insn) in self.code.insns.iter().enumerate() {
            let edited = edits.peek().is_some_and(|e| usize::from(e.at) == i);
            let moved = matches!(insn.operand, Operand::Branch(_) | Operand::Switch(_));
            if !edited && !moved {
                continue;
            }
            let next = self.code.end_of(i);
            copy(next, insn.pc, out);
            let mut own = true;
            let mut after = false;
            while let Some(edit) = edits.next_if(|e| usize::from(e.at) == i) {
                match edit.place {
                    Place::Before => {}
                    Place::Instead => own = false,
                    Place::After | Place::Behind if own && !after => {
                        after = true;
                        self.emit_insn(i, insn, layout, out);
                    }
                    Place::After | Place::Behind => {}
                }
                out.extend_from_slice(&edit.snippet.bytes);
            }
            if own && !after {
                self.emit_insn(i, insn, layout, out);
            }
        }
        copy(0, bytes.len() as u32, out);
    }

    /// Writes one old instruction at its new place.
    fn emit_insn(&self, i: usize, insn: &Insn, layout: &Layout<'_>, out: &mut Vec<u8>) {
        let pc = layout.insns[i];
        // Targets were checked when the code was decoded.
        let offset = |target: u32| layout.jump(target).unwrap_or(0).wrapping_sub(pc) as i32;
        match &insn.operand {
            &Operand::Branch(target) => {
                let by = offset(target);
                match layout.width(i, insn) {
                    5 => {
                        let wide = if matches!(insn.op, op::GOTO | op::GOTO_W) {
                            op::GOTO_W
                        } else {
                            op::JSR_W
                        };
                        out.push(wide);
                        out.extend(by.to_be_bytes());
                    }
                    _ => {
                        out.push(insn.op);
                        out.extend((by as i16).to_be_bytes());
                    }
                }
            }
            Operand::Switch(switch) => {
                out.push(insn.op);
                out.extend_from_slice(&[0; 3][..padding(pc) as usize]);
                out.extend(offset(switch.default).to_be_bytes());
                if insn.op == op::TABLESWITCH {
                    let low = switch.cases.first().map_or(0, |c| c.0);
                    let high = switch.cases.last().map_or(0, |c| c.0);
                    out.extend(low.to_be_bytes());
                    out.extend(high.to_be_bytes());
                } else {
                    out.extend((switch.cases.len() as u32).to_be_bytes());
                }
                for &(key, target) in &switch.cases {
                    if insn.op == op::LOOKUPSWITCH {
                        out.extend(key.to_be_bytes());
                    }
                    out.extend(offset(target).to_be_bytes());
                }
            }
            _ => {
                let range = insn.pc as usize..self.code.end_of(i) as usize;
                out.extend_from_slice(&self.code.bytes[range]);
            }
        }
    }
}
