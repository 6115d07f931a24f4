//! The model checker's brain: which execution of a program to make next, until
//! every class of equivalent executions was seen once.
//!
//! Executions are made elsewhere, from the start of the program each time: this
//! crate says how to begin, is told what happened, and works out what else
//! there is to try. No state of the program is stored.
//!
//! **Algorithm.** Optimal dynamic partial-order reduction with wakeup trees and
//! sleep sets (Abdulla, Aronis, Jonsson, Sagonas: Optimal Dynamic Partial Order
//! Reduction, 2014), extended by operations that block, by steps with several
//! ways to make them (which waiter a notify wakes) and by spin loops.
//!
//! **What it guarantees**, for a program that depends on nothing but the
//! schedule, always ends, and gives its objects the same names in equivalent
//! executions: when it is complete, every class of executions that are equal
//! up to the order of independent operations ([`Label::depends`]) was executed
//! exactly once. So every deadlock, every failure and every race (with a
//! detector that finds the races of one execution) that any schedule shows was
//! shown. With a bound on preemptions see `bounded`: all classes within it, not
//! each once.
//!
//! **Departures.** In the paper no step stops another; here a step that had to
//! wait is compared with what stopped it rather than with what let it go on
//! (`races`). Threads that are blocked at the end count as if they were about
//! to make their step. Other ways to make a step are treated as steps of which
//! each stops the others. A thread that spins is blocked until a location it
//! looked at is written, so loops end and a class has no useless iterations.
//!
//! | module | what |
//! |---|---|
//! | `op` | operations and which depend on which |
//! | `history` | the order of an execution, and what could be done in a part of it |
//! | `races` | what could have gone the other way round |
//! | `tree` | what was and what is to be explored |
//! | `explorer` | jobs, results, limits, verdict |
//! | `bounded` | the search with a bound on preemptions |
//! | `search` | orders of search, and leading an execution |

mod bounded;
mod explorer;
mod history;
mod op;
mod races;
mod search;
mod tree;

pub use explorer::{Config, Error, Explorer, Job, Progress, Stop, explore};
pub use op::{Execution, Label, Loc, Object, Op, Ready, Step, Thread};
pub use search::{Divergence, Guide, Order, Past};
