//! `--memory`: what racy reads may see.

use clap::ValueEnum;
use engine::confirm;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Memory {
    /// The newest write
    Sc,
    /// Also older ones that the Java memory model allows
    Weak,
}

impl Memory {
    /// For `confirm`: all races are tried.
    pub fn of_confirm(self) -> confirm::Memory {
        match self {
            Memory::Sc => confirm::Memory::Sc,
            Memory::Weak => confirm::Memory::Weak,
        }
    }

    /// For `hunt`: those of which nothing came otherwise.
    pub fn of_hunt(self) -> confirm::Memory {
        match self {
            Memory::Sc => confirm::Memory::Sc,
            Memory::Weak => confirm::Memory::WeakIfHarmless,
        }
    }
}

/// For `verify`, which explores what interleavings show.
pub fn of_verify(text: &str) -> Result<Memory, String> {
    match text {
        "sc" => Ok(Memory::Sc),
        "weak" => Err(
            "verify explores sequentially consistent executions only; `confirm --memory weak` and \
             `hunt --memory weak` try what reads of older values lead to"
                .to_owned(),
        ),
        _ => Err("sc is the only one; `confirm` and `hunt` also have weak".to_owned()),
    }
}
