//! What can be said of a thread of a controlled run, and of the run as a whole.

use crate::log::ReadySet;
use crate::op::{Op, Ready, Thread};

/// What a blocked thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// A monitor that another thread holds.
    Monitor,
    /// Object.wait.
    Wait,
    /// LockSupport.park.
    Park,
    Sleep,
}

/// A blocked thread's reason; `obj` 0 where there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Blocked {
    pub why: Why,
    pub obj: u64,
    pub site: u32,
    /// Who holds the monitor.
    pub owner: Option<Thread>,
    /// In virtual nanoseconds.
    pub deadline: Option<u64>,
}

/// How a blocked thread came to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wake {
    /// The monitor was released, the thread notified or unparked.
    #[default]
    Signalled,
    TimedOut,
    Interrupted,
    /// For no reason, as wait and park may.
    Spurious,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Ready(Op),
    Running,
    Blocked(Blocked),
    Outside,
    Ended,
}

/// What is to happen now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// It has the turn from now on, and is to be told.
    Run(Thread),
    /// Nobody is to be told: somebody has the turn and keeps it, or nobody can run
    /// before one comes back from outside.
    Idle,
    /// Nobody can run and nobody inside can change that, although threads that
    /// the program waits for are alive.
    Stuck,
    /// Threads run in circles.
    Livelock,
    /// More steps than allowed.
    Limit,
}

/// Counts for the summary.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    pub steps: u64,
    pub switches: u64,
    pub spins: u64,
    pub ticks: u64,
}

/// A step of the run, for its log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trail {
    /// Who could go on with the decision that follows; see [`crate::log::ReadySet`].
    Ready(ReadySet),
    Step(Ready),
    /// Time passed to the next deadline although somebody could have run.
    Tick,
    /// A read saw this one of the writes that it could see, the newest being 0.
    Saw(u32),
}
