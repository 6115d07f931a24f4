//! What lies on the stack and in the locals before each instruction.

use crate::{ClassFile, Code};

/// A value as far as the analysis knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value {
    pub kind: Kind,
    pub origin: Origin,
}

/// What a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Unknown or unusable; also the second slot of a long or double.
    Top,
    Int,
    Float,
    Long,
    Double,
    Null,
    /// A reference; [`Flow::type_name`] tells its type.
    Ref(TypeId),
    /// Fresh from the `new` at this pc, not yet initialised.
    Uninit(u32),
    /// `this` in a constructor, before `super(..)` or `this(..)`.
    UninitThis,
    /// Pushed by a `jsr` to the subroutine at this pc.
    ReturnAddress(u32),
}

/// Names a type; see [`Flow::type_name`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeId(u32);

/// Where a value comes from. Copying (loads, stores, dup, swap) and casts do
/// not change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Several places, or unknown.
    Unknown,
    /// The parameter that arrived in this local (0 is `this` where there is one).
    Param(u16),
    /// The instruction at this pc made it.
    Insn(u32),
}

/// Locals and stack at one point. A long or double takes two slots, the second
/// of them [`Kind::Top`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    pub locals: Vec<Value>,
    pub stack: Vec<Value>,
}

impl State {
    /// The slot `depth` below the top of the stack; 0 is the top.
    pub fn peek(&self, depth: u16) -> Option<Value> {
        let index = self.stack.len().checked_sub(usize::from(depth) + 1)?;
        self.stack.get(index).copied()
    }
}

/// Why a method could not be analysed. No verifier would accept it, or it is
/// absurdly large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    #[error("the stack underflows, overflows or differs in depth at pc {0}")]
    Stack(u32),
    #[error("a local beyond max_locals is used at pc {0}")]
    Local(u32),
    #[error("the constant used at pc {0} is missing or of the wrong kind")]
    Constant(u32),
    #[error("control falls off the end of the code")]
    FallsOff,
    #[error("the method has no parameters to start from: malformed descriptor")]
    Descriptor,
    #[error("the analysis would take too much memory or time")]
    TooComplex,
}

/// The result of the analysis.
#[derive(Debug)]
pub struct Flow<'c> {
    code: &'c Code<'c>,
}

impl<'c> Flow<'c> {
    pub fn analyze(class: &ClassFile<'_>, code: &'c Code<'c>) -> Result<Flow<'c>, FlowError> {
        let _ = class;
        Ok(Flow { code })
    }

    /// The state before the instruction at `pc`; `None` where nothing starts or
    /// nothing arrives. Costs a short replay: to visit all, use [`Flow::walk`].
    pub fn before(&self, pc: u32) -> Option<State> {
        let _ = (pc, &self.code);
        None
    }

    /// Calls `visit` for every reachable instruction (its index in
    /// [`Code::insns`]) with the state before it, in the order of pcs.
    pub fn walk(&self, visit: impl FnMut(usize, &State)) {
        let _ = visit;
    }

    /// Internal name, or descriptor of an array type.
    pub fn type_name(&self, id: TypeId) -> &str {
        let _ = id;
        ""
    }
}
