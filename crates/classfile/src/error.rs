//! What can go wrong, one type a stage.

use thiserror::Error;

/// Why a class file, or a method of it, could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Error {
    #[error("class file ends early, at byte {0}")]
    Truncated(usize),
    #[error("not a class file")]
    Magic,
    #[error("constant {index} has unknown tag {tag}")]
    Tag { index: u16, tag: u8 },
    #[error("{0} bytes follow the class")]
    Trailing(usize),
    #[error("a name or type is not in the constant pool at index {0}")]
    Index(u16),
    #[error("code length {0} is not between 1 and 65535")]
    CodeLength(u32),
    #[error("unknown opcode {op:#04x} at pc {pc}")]
    Opcode { pc: u32, op: u8 },
    #[error("the operands of the instruction at pc {0} are malformed")]
    Operand(u32),
    #[error("pc {0} is not the start of an instruction")]
    Target(u32),
    #[error("malformed {0} attribute")]
    Attribute(&'static str),
    #[error("malformed descriptor")]
    Descriptor,
}

/// Why an edited method could not be written. The class is unchanged then,
/// but for constants that nothing uses.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EditError {
    #[error("the method would have {0} bytes of code; the limit is 65535")]
    CodeTooLarge(u32),
    #[error("the conditional branch at pc {0} would reach further than 32 KiB")]
    BranchTooFar(u32),
    #[error("the method would need more than 65535 stack slots or locals")]
    TooManySlots,
    #[error("no instruction starts at pc {0}")]
    NoInstruction(u32),
    #[error("the instruction at pc {0} was replaced twice, or is needed by a frame")]
    Replaced(u32),
    #[error("two stack map frames would fall on one pc")]
    FrameClash,
    #[error("a constructor cannot have a catch-all handler")]
    CatchInConstructor,
    #[error("the edited code has no method {0} to go to")]
    NoMethod(usize),
    #[error(transparent)]
    Pool(#[from] PoolFull),
    #[error(transparent)]
    Malformed(#[from] Error),
}

/// The constant pool cannot take another entry, or was asked for what is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the constant pool is full, a string is longer than 65535 bytes, or a descriptor is malformed"
)]
pub struct PoolFull;
