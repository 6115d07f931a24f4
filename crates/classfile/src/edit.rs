//! Insertions into a method, and writing it back.

use crate::{ClassFile, Code, EditError, Snippet};

/// Collects edits of one method, then writes them all at once.
///
/// All pcs are the original ones. Edits at one pc keep the order of the calls.
#[derive(Debug)]
pub struct Editor<'c, 'a> {
    code: &'c Code<'a>,
}

impl<'c, 'a> Editor<'c, 'a> {
    pub fn new(code: &'c Code<'a>) -> Editor<'c, 'a> {
        Editor { code }
    }

    /// The method as it was.
    pub fn code(&self) -> &'c Code<'a> {
        self.code
    }

    /// A local that the method does not use yet; `width` is 2 for long and
    /// double. It holds its value until the next stack map frame at most.
    pub fn alloc_local(&mut self, width: u16) -> u16 {
        width
    }

    /// Runs `snippet` before the instruction, also when that is jumped to.
    /// The handlers that cover the instruction cover the snippet.
    pub fn insert_before(&mut self, pc: u32, snippet: Snippet) {
        let _ = (pc, snippet);
    }

    /// Runs `snippet` when the instruction has completed and control falls
    /// through; jumps to the next instruction skip it. The handlers that cover
    /// the instruction cover the snippet. Behind an instruction that never
    /// falls through nothing is inserted.
    pub fn insert_after(&mut self, pc: u32, snippet: Snippet) {
        let _ = (pc, snippet);
    }

    /// Puts `snippet` in the instruction's place.
    pub fn replace(&mut self, pc: u32, snippet: Snippet) {
        let _ = (pc, snippet);
    }

    /// Runs `snippet` once, when the method is entered: not again when a loop
    /// jumps to pc 0.
    pub fn insert_at_entry(&mut self, snippet: Snippet) {
        let _ = snippet;
    }

    /// Adds a handler for everything that the body (not the entry snippet)
    /// throws, outermost: every handler already there comes first. The snippet
    /// finds the exception alone on the stack, may use no local, and must end
    /// in `athrow`.
    pub fn catch_all(&mut self, snippet: Snippet) {
        let _ = snippet;
    }

    /// Nothing was inserted so far.
    pub fn is_empty(&self) -> bool {
        true
    }

    /// Writes the method back into its class.
    pub fn finish(self, class: &mut ClassFile<'a>) -> Result<(), EditError> {
        let _ = class;
        Ok(())
    }
}
