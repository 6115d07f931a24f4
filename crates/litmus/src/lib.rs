//! Tiny concurrent programs, an interpreter that runs a given schedule, and
//! brute force over all of them: the oracle of detectors, predictors,
//! schedulers and the model checker. For tests only.
//!
//! ```
//! use litmus::{Program, Reg, Var, executions, read, write};
//!
//! // Store buffering: two threads, each writes one variable and reads the other.
//! let (x, y, r) = (Var(0), Var(1), Reg(0));
//! let program = Program::parallel([
//!     vec![write(x, 1), read(r, y)],
//!     vec![write(y, 1), read(r, x)],
//! ]);
//! assert_eq!(executions(&program).count(), 6);
//! ```
//!
//! `program` is the language, `code` its flat form, `machine` what runs it,
//! `explore` tries every schedule, `flow` says what events depend on, `closure` orders them by
//! happens-before, `random` makes programs up, `java` writes them as Java.
//!
//! Runs are sequentially consistent: one step of one thread at a time. `weak` has programs of accesses
//! under the Java memory model, and brute force over its axioms.

pub mod closure;
mod code;
mod explore;
pub mod flow;
pub mod java;
mod machine;
mod program;
pub mod random;
pub mod weak;

pub use explore::{Execution, Executions, executions, run, run_tracking, states};
pub use machine::{Ahead, Choice, Doing, Machine, Outcome, Pending};
pub use program::*;
