//! Members of the report about controlled runs: outcomes of races that were
//! made to happen, deadlocks and livelocks, uncaught exceptions, and how to
//! replay them.

use crate::finding::{self, AccessOp, Frame, StuckThreads, Uncaught, Waiting, place};
use crate::story::StoryLine;
pub use protocol::control::Delay;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What came of a trial in which the race was made to happen.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// A thread died of an exception or assertion error, or caught one.
    Exception,
    Deadlock,
    /// Threads that go on without progress.
    Livelock,
    /// The program printed something else than in the reference run, or ended
    /// with another exit code.
    OutputDiffers,
    /// Nothing out of the ordinary.
    Ok,
}

impl Effect {
    /// As the JSON has it.
    pub fn name(self) -> &'static str {
        match self {
            Effect::Exception => "exception",
            Effect::Deadlock => "deadlock",
            Effect::Livelock => "livelock",
            Effect::OutputDiffers => "output-differs",
            Effect::Ok => "ok",
        }
    }
}

/// Trials that ended in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Which of the race's accesses went first.
    #[schemars(range(max = 1))]
    pub first: u8,
    /// What the first and the second of the accesses that met did; several where a line reads
    /// and writes, as `x = x + 1` does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<[AccessOp; 2]>,
    pub result: Effect,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// Of the exception.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
    /// The program caught the exception.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub caught: bool,
    /// What speaks for a failure in how the program ended and what it printed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failure_signs: Vec<String>,
    /// How many trials.
    #[serde(default)]
    pub trials: u64,
    /// The reads that saw older writes, in trials in which they could.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<StaleRead>,
    /// One of them again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
}

impl Outcome {
    /// Other accesses met in a trial that ended in this way.
    pub fn met(&mut self, orders: &[[AccessOp; 2]]) {
        let known = std::mem::take(&mut self.orders);
        self.orders = Outcome::distinct([&known, orders].concat());
    }

    /// The form in which orders are kept.
    pub fn distinct(mut orders: Vec<[AccessOp; 2]>) -> Vec<[AccessOp; 2]> {
        orders.sort();
        orders.dedup();
        orders
    }
}

/// A read that saw an older write than the newest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StaleRead {
    /// The thread that read, where, and the value that it got.
    pub thread: String,
    #[serde(flatten)]
    pub at: Frame,
    pub value: String,
    /// The write that it saw; absent: the value that was there before any of the writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saw: Option<PastWrite>,
    /// The newest write, made before the read, and not seen.
    pub missed: PastWrite,
    /// The value of that.
    pub newest: String,
    /// Why Java allows it.
    pub why: String,
}

/// A write of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PastWrite {
    pub thread: String,
    #[serde(flatten)]
    pub at: Frame,
}

impl From<&finding::StaleRead> for StaleRead {
    fn from(found: &finding::StaleRead) -> StaleRead {
        let past = |access: &finding::Access| PastWrite {
            thread: access.thread.name.clone(),
            at: access.frame.clone(),
        };
        let missed = past(&found.missed);
        let read = &found.read;
        let not_ordered = |one: &Frame, other: &Frame| {
            format!(
                "no unlock, volatile write, start or end of a thread orders {} before {} by happens-before",
                one.short(),
                other.short()
            )
        };
        let why = match (&found.saw, found.missed_is_before) {
            (Some(saw), true) => format!(
                "{}: neither write replaces the other, so the read may see either (JLS 17.4.5)",
                not_ordered(&saw.frame, &missed.at)
            ),
            _ => format!(
                "{}, so the read may see what was there before (JLS 17.4.5)",
                not_ordered(&missed.at, &read.frame)
            ),
        };
        StaleRead {
            thread: read.thread.name.clone(),
            at: read.frame.clone(),
            value: found.value.clone(),
            saw: found.saw.as_ref().map(past),
            missed,
            newest: found.newest.clone(),
            why,
        }
    }
}

/// Reference runs of `confirm`, in which no order was forced, that ended in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceRuns {
    /// How many.
    pub runs: u64,
    /// `ok`: as the run that the output of trials was compared with.
    pub result: Effect,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// What speaks for a failure in how the program ended and what it printed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failure_signs: Vec<String>,
}

impl ReferenceRuns {
    /// One entry for each way to end, the most frequent first.
    pub fn grouped(all: impl IntoIterator<Item = ReferenceRuns>) -> Vec<ReferenceRuns> {
        let mut ways: Vec<ReferenceRuns> = Vec::new();
        for one in all {
            let mut alike = ways.iter_mut();
            match alike.find(|way| {
                ReferenceRuns {
                    runs: way.runs,
                    ..one.clone()
                } == **way
            }) {
                Some(way) => way.runs = way.runs.saturating_add(one.runs),
                None => ways.push(one),
            }
        }
        ways.sort_by(|a, b| {
            let rest =
                |way: &ReferenceRuns| (way.result, way.detail.clone(), way.failure_signs.clone());
            b.runs.cmp(&a.runs).then_with(|| rest(a).cmp(&rest(b)))
        });
        ways
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Trials {
    pub run: u64,
    /// In how many of them the race was made to happen.
    pub hit: u64,
    /// How many were asked for, if the rest was not needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// In how many of them the two statements met on one location, if that is more often than the race was made to
    /// happen: the other times other calls of the program had led to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub met: Option<u64>,
}

/// As observed in the trials; others might show more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Harm {
    /// Some trial threw an exception, deadlocked, failed by its exit code or
    /// printed an error, and other runs did not.
    Harmful,
    /// Nothing of that, but some trial printed something else than others.
    ChangesOutput,
    /// Nothing of that, though each two accesses were tried in both orders.
    Harmless,
    /// Nothing of that, but not all orders were seen, or the output could not be
    /// compared.
    Unknown,
}

/// How to see it again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Replay {
    pub seed: u64,
    /// To be pasted into a shell.
    #[schemars(regex(pattern = r"^photofinish replay "))]
    pub command: String,
    /// Threads that the schedule makes late, the longest delays first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delays: Vec<Delay>,
    /// Of a run that was made as short as could be: how often a thread that could have gone on did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemptions: Option<u32>,
    /// No run has fewer: all of them were tried.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fewest: bool,
}

impl Replay {
    /// The name under which its schedule is kept.
    pub fn name(&self) -> &str {
        self.command.rsplit(' ').next().unwrap_or_default()
    }
}

/// Whether a replay was the same run again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReplayVerdict {
    /// Of the schedule.
    pub name: String,
    pub seed: u64,
    pub same: bool,
    /// The step at which it went another way, if that is known.
    #[serde(default)]
    pub diverged_at: Option<u64>,
    /// How.
    #[serde(default)]
    pub what: Option<String>,
}

/// A deadlock or livelock of a controlled run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Deadlock {
    #[schemars(regex(pattern = r"^[A-Z][0-9]+$"))]
    pub id: String,
    /// `deadlock` or `livelock`.
    #[schemars(extend("enum" = ["deadlock", "livelock"]))]
    pub kind: String,
    /// The threads wait for each other in a ring.
    pub cycle: bool,
    pub threads: Vec<Waiting>,
    /// In how many runs.
    #[serde(default)]
    pub runs: u64,
    #[serde(default)]
    pub first_run: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
    /// The shortest run that shows it, in a few lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub story: Vec<StoryLine>,
}

impl Deadlock {
    pub fn new(kind: &str, still: StuckThreads, run: u64) -> Deadlock {
        Deadlock {
            id: String::new(),
            kind: kind.to_owned(),
            cycle: still.cycle,
            threads: still.threads,
            runs: 1,
            first_run: run,
            replay: None,
            story: Vec::new(),
        }
    }

    /// The same threads at the same places. In a livelock they are met
    /// anywhere in their loops, so the threads are enough.
    pub fn same(&self, other: &Deadlock) -> bool {
        let is_moving = self.kind == "livelock";
        let same = |(a, b): (&Waiting, &Waiting)| {
            a.thread == b.thread && (is_moving || place(&a.stack) == place(&b.stack))
        };
        self.kind == other.kind
            && self.threads.len() == other.threads.len()
            && self.threads.iter().zip(&other.threads).all(same)
    }
}

/// An exception that nobody caught.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failure {
    #[schemars(regex(pattern = r"^[A-Z][0-9]+$"))]
    pub id: String,
    pub thread: String,
    pub exception: String,
    #[serde(default)]
    pub stack: Vec<Frame>,
    /// In how many runs.
    #[serde(default)]
    pub runs: u64,
    #[serde(default)]
    pub first_run: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
    /// The shortest run that shows it, in a few lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub story: Vec<StoryLine>,
}

impl Failure {
    pub(crate) fn new(uncaught: Uncaught, run: u64) -> Failure {
        Failure {
            id: String::new(),
            thread: uncaught.thread,
            exception: uncaught.exception,
            stack: uncaught.stack,
            runs: 1,
            first_run: run,
            replay: None,
            story: Vec::new(),
        }
    }

    /// The same kind of exception from the same place.
    pub fn same(&self, other: &Failure) -> bool {
        let class = |f: &Failure| f.exception.split(':').next().map(str::to_owned);
        class(self) == class(other) && place(&self.stack) == place(&other.stack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deadlocks_are_told_apart_by_the_programs_lines() {
        let frame = |class: &str, line| Frame {
            class: class.into(),
            method: "m".into(),
            line: Some(line),
            ..Frame::default()
        };
        let waits = |kind: &str, line| {
            let waiting = Waiting {
                thread: "t".into(),
                stack: vec![frame("java.lang.Object", 338), frame("shop.Main", line)],
                ..Waiting::default()
            };
            let threads = StuckThreads {
                cycle: false,
                threads: vec![waiting],
            };
            Deadlock::new(kind, threads, 1)
        };
        assert!(waits("deadlock", 7).same(&waits("deadlock", 7)));
        assert!(!waits("deadlock", 7).same(&waits("deadlock", 8)));
        assert!(waits("livelock", 7).same(&waits("livelock", 8)));
        assert!(!waits("deadlock", 7).same(&waits("livelock", 7)));
    }
}
