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
//! ways to make them (which waiter a notify wakes, which write a read sees where memory is
//! weak) and by spin loops.
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
//! **For callers that make executions.** [`Explorer::next`] gives a [`Job`], its
//! [`Guide`] is asked before every step, and the recorded [`Execution`] goes back
//! with [`Explorer::finish`]. Several jobs may be under way at once, here or in
//! other processes: no two of them are ever equivalent. What the exploration
//! relies on:
//!
//! - A step is one [`Op`] and whatever its thread does up to the next one that
//!   others cannot notice. Every operation of the kinds in [`Op`] is a step and
//!   is told, also where only one thread could go on and nothing was to be
//!   decided; releases too. So are the beginning and the end of each thread.
//! - An operation is known before it is made, and what it is does not depend on
//!   what other threads do meanwhile, only on what its thread did and saw.
//! - Objects have the same names in equivalent executions: named after the
//!   thread that made them and how many it had made, not in order of appearance.
//! - A wait is two steps: giving the lock up, and having it again. Waits, parks
//!   and joins with a time limit may run out of time whenever they are chosen.
//! - Where memory is weak, what a read may see follows from the steps that happened before it,
//!   in the same numbering in equivalent executions, and the read says how many writes there
//!   are when it is made ([`Guide::sees`]). A class is then an order together with the choice of each read.
//! - A thread that spins says so: before the first step of an iteration after
//!   one that changed nothing (no write, no local variable), `awaits` has the
//!   locations that were read, and the thread is not ready until one of them was
//!   written; that is a step even if it is a plain access elsewhere. If a loop that makes progress says so by mistake, executions are
//!   missed; if one that spins does not, the exploration may never end.
//! - Plain accesses are steps only at statements that race, found out by a
//!   detector in every execution: see [`Campaign`].
//!   Until then a plain write may let a spinning thread go on unseen; that shows
//!   as a [`Divergence`].
//!
//! | module | what |
//! |---|---|
//! | `op` | operations and which depend on which |
//! | `history` | the order of an execution, and what could be done in a part of it |
//! | `races` | what could have gone the other way round |
//! | `tree` | what was and what is to be explored |
//! | `explorer` | jobs, results, limits, verdict |
//! | `parts` | explorations that several machines share: subtrees and shares |
//! | `portion` | subtrees that a machine explores one after the other |
//! | `campaign` | explorations until all races are found |
//! | `bounded` | the search with a bound on preemptions |
//! | `rules` | who can go on, and what a step does, for callers that make executions |
//! | `search` | orders of search, and leading an execution |
//! | `sample` | executions with drawn schedules, beside the exploration |

mod bounded;
mod campaign;
mod explorer;
mod history;
mod op;
mod parts;
mod portion;
mod races;
mod rules;
mod sample;
mod search;
mod tree;

pub use bounded::class_of;
pub use campaign::{Campaign, Task};
pub use explorer::{Config, Error, Explorer, Job, Progress, Stop, explore};
pub use op::{Execution, Label, Loc, Object, Op, Ready, Step, Thread};
pub use parts::{Explored, Reversal, Share, Subtree};
pub use portion::Explorations;
pub use rules::{Made, Rules};
pub use sample::{Sample, Way};
pub use search::{Divergence, Guide, Order, Past};
