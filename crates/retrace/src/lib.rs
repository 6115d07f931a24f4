//! The pre-processor of prediction: follows each thread's recorded way through
//! the bytecode, completes the trace, and tells what every event depends on.
//!
//! `record --full` keeps little more than one bit a conditional, and the class
//! files. From these the way can be told again: which instructions ran, in
//! which frames, with which fields and which locals. So the value, the address
//! and the happening of each event can be traced back to the reads they come
//! from, through locals, stack, fields, elements, parameters and returns, and
//! through the decisions that led there; the result is [`predict::deps`].
//!
//! The way of the data:
//! `program` (what the trace knows of the code), `body` (a method made ready),
//! `control` (what of it depends on which decision), `stream` (one thread's
//! recording), `replay`, `frame`, `step` and `call` (following it), `needs` (what came
//! out), `complete` (all threads together). `purity` knows about code that is
//! not followed. For the search for stale values, `operations` knows methods that are atomic by
//! themselves, `operate` turns their calls into critical sections of one access, and `pairs` finds what flows
//! from a look into an act.
//!
//! # What it claims
//! For code that is followed, what is told holds for every schedule: leaving
//! something out of a list means that no value of it can keep the event from
//! happening as it did. It rests on the table of purity, and on what the module
//! `predict::deps` says of inputs; errors of the JVM (memory, stack, linking)
//! are left aside, and so are objects that leave their constructor before
//! their final fields are set. What cannot be explained depends on everything
//! before it, and is counted.
//!
//! Pure: events, tables and class files in, a trace and dependences out.

mod body;
mod call;
mod callee;
mod complete;
pub mod control;
mod frame;
mod needs;
mod operate;
pub mod operations;
mod pairs;
mod program;
mod purity;
mod replay;
mod step;
mod stream;

pub use complete::{Completed, Stats, complete, complete_operations, is_full};
pub use operations::Operations;
pub use pairs::is_imaginary;
pub use purity::{BadLine, Purity, Table};
