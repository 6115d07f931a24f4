//! `--memory`: what racy reads may see.

use clap::ValueEnum;
use engine::{confirm, verify};

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

    /// For `verify`: a second exploration, of all executions.
    pub fn of_verify(self) -> verify::Memory {
        match self {
            Memory::Sc => verify::Memory::Sc,
            Memory::Weak => verify::Memory::Weak,
        }
    }
}
