//! Predictors of races, one a file: what one recorded run says about other
//! schedules of the same program.
//!
//! | file | a reported pair ... | may be wrong? | cost |
//! |---|---|---|---|
//! | `hb` | is unordered by happens-before in this run | no, as a data race of the memory model | linear |
//! | `shb` | can be brought together without reordering any synchronisation | no | linear × threads |
//! | `wcp` | is unordered by weak causal precedence | only the first is a promise: a race or a deadlock | linear × threads |
//! | `syncp` | meets in a reordering that keeps the order of critical sections | no: the reordering is checked | about linear × threads² |
//! | `osr` | as `syncp`, or with critical sections reordered where needed | no: the reordering is checked | quadratic, bounded |
//! | `sliced` | as `osr`, and reads on which nothing hangs may see another value | no: the reordering is checked | as `osr` |
//!
//! `index` prepares a trace for the last three, `candidates` picks the pairs
//! worth a question, `check` believes no one and replays every witness. `deps`
//! is what events depend on, given by a component that knows the program. Beyond races,
//! `atomicity` looks for what can come into critical sections and methods, and
//! `property` checks formulas over named events. `windows` runs the engines over a run of any
//! length, in bounded memory.
//!
//! # What no engine can know
//! A thread's observation that leaves no event is not protected: `isAlive()`
//! that said yes, `interrupted()` that said no, `tryLock()` that failed. A
//! witness may reorder around them. Which of several racing writes a read saw is
//! as the trace has it; where its recorder could not tell, the trace says so
//! (`unsure`), and no witness goes beyond. Traces that do not claim to know
//! ([`trace::RunHeader::ordered`]) prove nothing: callers must not take more than
//! potential races from them.
//!
//! Pure: events in, predictions out.

pub mod atomicity;
pub mod check;
pub mod deps;
pub mod property;

mod candidates;
mod found;
mod hb;
mod history;
mod index;
mod osr;
mod shb;
mod signals;
mod sliced;
mod syncp;
mod unsure;
mod verify;
mod wcp;
mod windows;
mod witness;

pub use found::{Prediction, Predictions, Standing};
pub use hb::Hb;
pub use osr::Osr;
pub use shb::Shb;
pub use sliced::Sliced;
pub use syncp::SyncP;
pub use wcp::Wcp;
pub use windows::{Bounds, Control, Looked, Outcome, Windows};
pub use witness::{STRETCHES, Told, Witness};

use deps::Deps;
use trace::Event;

/// One way to predict. The events come in the order of the run, first in
/// pieces and then, for those that look at the whole, all at once.
pub trait Engine: std::fmt::Debug + Send {
    /// The next events. Engines that need the whole trace do nothing here.
    fn events(&mut self, events: &[Event]);

    /// Bytes that the engine may take at once for the next so many events, beyond what grows
    /// little by little: a table that has to move to a larger place.
    fn growth(&self, _events: usize) -> usize {
        0
    }

    /// The run is over. `trace` is all of it, or nothing if the caller did not
    /// keep it, which it must for engines that [need it](Method::needs_trace);
    /// `deps` is what its events depend on, for the engine that asks. A search
    /// that is told to stop gives what it has found, and says that it is not all.
    fn finish(self: Box<Self>, trace: &[Event], deps: &Deps, stop: &ShouldStop<'_>) -> Predictions;
}

/// Bytes of the larger map that the next so many entries may need.
pub(crate) fn map_growth<K, V>(map: &rustc_hash::FxHashMap<K, V>, entries: usize) -> usize {
    match map.len() + entries > map.capacity() {
        true => (map.capacity() + entries) * 16 / 7 * (size_of::<(K, V)>() + 1),
        false => 0,
    }
}

/// Says whether an engine is to stop before its end: asked now and then.
pub type ShouldStop<'a> = dyn Fn() -> bool + 'a;

/// Why an engine that was told to stop is not complete.
pub(crate) const STOPPED: &str = "there was no more time";

/// The registry: every engine by its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Method {
    Hb,
    Shb,
    Wcp,
    SyncP,
    Osr,
    Sliced,
}

impl Method {
    pub const ALL: [Method; 6] = [
        Method::Hb,
        Method::Shb,
        Method::Wcp,
        Method::SyncP,
        Method::Osr,
        Method::Sliced,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Method::Hb => "hb",
            Method::Shb => "shb",
            Method::Wcp => "wcp",
            Method::SyncP => "syncp",
            Method::Osr => "osr",
            Method::Sliced => "sliced",
        }
    }

    pub fn from_name(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|m| m.name() == name)
    }

    /// Whether [`Engine::finish`] has to be given the trace. SHB makes use of
    /// it: with it, what it reports comes with a witness.
    pub fn needs_trace(self) -> bool {
        matches!(self, Method::SyncP | Method::Osr | Method::Sliced)
    }

    pub fn engine(self) -> Box<dyn Engine> {
        match self {
            Method::Hb => Box::new(Hb::default()),
            Method::Shb => Box::new(Shb::default()),
            Method::Wcp => Box::new(Wcp::default()),
            Method::SyncP => Box::new(SyncP),
            Method::Osr => Box::new(Osr),
            Method::Sliced => Box::new(Sliced),
        }
    }

    /// Everything this method finds in a trace, nothing known of what its
    /// events depend on.
    pub fn run(self, trace: &[Event]) -> Predictions {
        self.run_with(trace, &Deps::unknown())
    }

    /// Everything this method finds in a trace.
    pub fn run_with(self, trace: &[Event], deps: &Deps) -> Predictions {
        self.run_until(trace, deps, &|| false)
    }

    /// What this method finds in a trace until it is told to stop.
    pub fn run_until(self, trace: &[Event], deps: &Deps, stop: &ShouldStop<'_>) -> Predictions {
        let mut engine = self.engine();
        // As many at a time as a reader of traces hands over.
        let mut some = trace.chunks(4096);
        let stopped = some.any(|some| {
            engine.events(some);
            stop()
        });
        let mut found = engine.finish(trace, deps, stop);
        if stopped {
            found.incomplete.get_or_insert_with(|| STOPPED.to_owned());
        }
        found
    }
}
