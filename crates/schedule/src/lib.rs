//! Who runs next. A controlled program runs one thread at a time; before every
//! operation that others can notice, the controller asks a [`Strategy`]
//! which of the enabled threads goes on.
//!
//! Strategies are pure: what they answer depends on their [`Params`] and on the
//! [`View`]s they were shown, on nothing else, so a seed names a run. Each is a
//! file in `strategies`; adding one is such a file and a line of [`SCHEDULERS`].
//!
//! `contest` is for programs that run freely and are only disturbed; `may_trigger`
//! is how locks are handed out to show hidden races, for both kinds of runs.
//! `guided` follows an exploration of all schedules (crate `explore`).
//! `world` keeps track of who is enabled; `log` is what is kept of a run,
//! `replay` repeats it from there, `table` shows it; `delays` are those that it needs;
//! `reduce` finds the shortest run that shows a finding;
//! `progress` tells livelocks; `adversary` says which write a racy read sees; `partial_order` tells which runs are really different.

mod adversary;
pub mod contest;
mod decider;
mod delays;
pub mod guided;
pub mod labels;
pub mod log;
pub mod may_trigger;
mod op;
mod partial_order;
pub mod progress;
mod random;
pub mod reduce;
mod registry;
mod replay;
mod state;
mod status;
pub mod strategies;
mod strategy;
pub mod table;

pub use adversary::Adversary;
pub use contest::{Disturbance, Noise};
pub use decider::Decider;
pub use delays::Delay;
pub use guided::{Guided, Outcome};
pub use op::{Decision, Hit, Kind, Op, Ready, Thread, View};
pub use partial_order::PartialOrder;
pub use random::Rng;
pub use registry::{How, NATIVE, Row, Scheduler, strategies, strategy};
pub use replay::{Divergence, Expected, Explanation, Replay};
pub use state::{Range, SchedulerState};
pub use status::{Blocked, Counts, Next, Status, Trail, Wake, Why};
pub use strategies::SCHEDULERS;
pub use strategy::{Fact, Params, Strategy};
