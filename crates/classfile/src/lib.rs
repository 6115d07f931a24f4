//! Reading and rewriting Java class files: bytes in, bytes out.
//!
//! # How a rewrite works
//! [`ClassFile::parse`] keeps everything it read; attributes nobody touches are
//! copied through verbatim, and the constant pool is copied and only appended
//! to, so no index in code we do not understand ever needs changing.
//! [`Code::decode`] gives the instructions of one method, named by their
//! *original* pcs. An [`Editor`] collects insertions made at those pcs, and
//! [`Editor::finish`] lays the method out anew and remaps everything that holds
//! a pc: branches, switches, the exception table, stack map frames, line and
//! local variable tables, type annotations.
//!
//! # What it claims
//! * Output without edits equals the input byte for byte, also when every
//!   method went through decode and [`Editor::finish`].
//! * Inserted code is straight-line and leaves the stack as it found it, so
//!   existing frames stay true and need only be moved; with that, what verified
//!   before verifies afterwards.
//! * No input makes it panic. What it cannot rewrite (a method that would pass
//!   64 KiB, a conditional branch that would pass 32 KiB) is an error, and the
//!   class is then left as it was.
//!
//! [`flow`] is a small abstract interpretation: what lies on the stack and in
//! the locals before each instruction, and where it came from. It does not need
//! stack maps.

mod class;
mod code;
mod decode;
mod desc;
mod edit;
mod error;
pub mod flow;
mod handlers;
mod hold;
mod jdk;
mod kept;
mod layout;
mod mutf8;
pub mod op;
mod pool;
mod reader;
mod release;
mod remap;
mod snippet;

pub use class::{Attribute, ClassFile, Member, acc};
pub use code::{Code, Handler, Insn, Operand, Switch};
pub use desc::{Method, method, slots};
pub use edit::Editor;
pub use error::{EditError, Error, PoolFull};
pub use jdk::is_jdk_name;
pub use kept::Slot;
pub use pool::{Constant, MemberRef, Pool};
pub use snippet::{Asm, Snippet};
