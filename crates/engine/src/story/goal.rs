//! What a run must show to be one of the same finding, and after how many decisions it has.

use crate::confirm::order;
use driver::run::RunResult;
use findings::confirmed::{Deadlock, Effect, Failure, Outcome};
use findings::finding::{Frame, StuckThreads, Uncaught, place};
use findings::result::Race;
use schedule::Thread;
use schedule::log::{Entry, Log};

/// See the module.
#[derive(Clone, Debug)]
pub(crate) enum Goal {
    /// The two accesses side by side, in this order if that matters, and what came of it.
    Race {
        race: Box<Race>,
        outcome: Option<Box<Outcome>>,
        /// Exit code and digest of the output, where they are what came of it.
        printed: Option<(Option<i32>, Option<String>)>,
    },
    Failure(Box<Failure>),
    Deadlock(Box<Deadlock>),
}

/// What a run that reached its goal showed.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    /// Decisions up to it.
    pub moments: usize,
    /// Accesses that the log tells up to it.
    pub told: usize,
    /// Of a race: where the log has it.
    pub hit: Option<usize>,
    pub uncaught: Option<Uncaught>,
    pub stuck: Option<StuckThreads>,
}

impl Goal {
    pub fn shown(&self, run: &RunResult, log: &Log) -> Option<Shown> {
        if run.outcome.stopped.is_some() {
            return None;
        }
        match self {
            Goal::Failure(failure) => {
                let uncaught = run.findings.uncaught.iter();
                let mut same =
                    uncaught.filter(|u| same_exception(u, &failure.exception, &failure.stack));
                died(log, same.next()?)
            }
            Goal::Deadlock(deadlock) => stuck(log, run, Some(&**deadlock)),
            Goal::Race {
                race,
                outcome,
                printed,
            } => {
                let first = outcome.as_ref().map(|outcome| outcome.first);
                let fits = |hit: &&findings::finding::Hit| {
                    order(race, hit).is_some_and(|order| {
                        order.symmetric || first.is_none_or(|first| first == order.first)
                    })
                };
                // The last one is what led to a bad end.
                let step = run.findings.hits.iter().rfind(fits)?.step;
                let is_hit = |entry: &Entry| matches!(entry, Entry::Hit(hit) if hit.step == step);
                let at = log.entries.iter().position(is_hit)?;
                let mut shown = came_of(log, run, outcome.as_deref(), printed.as_ref(), at)?;
                shown.hit = Some(at);
                Some(shown)
            }
        }
    }
}

fn came_of(
    log: &Log,
    run: &RunResult,
    outcome: Option<&Outcome>,
    printed: Option<&(Option<i32>, Option<String>)>,
    hit: usize,
) -> Option<Shown> {
    let Some(outcome) = outcome else {
        return Some(side_by_side(log, hit));
    };
    match outcome.result {
        Effect::Exception if outcome.caught => {
            let class = |text: &str| text.split([':', ' ']).next().map(str::to_owned);
            let caught = run.findings.caught.iter();
            let mut same = caught.filter(|c| class(&outcome.detail) == Some(c.exception.clone()));
            same.next().map(|_| whole(log))
        }
        Effect::Exception => {
            let uncaught = run.findings.uncaught.iter();
            let mut same = uncaught.filter(|u| same_exception(u, &outcome.detail, &outcome.stack));
            died(log, same.next()?)
        }
        Effect::Deadlock | Effect::Livelock => stuck(log, run, None),
        Effect::OutputDiffers => {
            let now = (run.outcome.exit, run.outcome.output_sha256.clone());
            (printed == Some(&now)).then(|| whole(log))
        }
        Effect::Ok => Some(side_by_side(log, hit)),
    }
}

/// The same kind of exception from the same place.
fn same_exception(now: &Uncaught, exception: &str, stack: &[Frame]) -> bool {
    let class = exception.split([':', ' ']).next().unwrap_or_default();
    let line = |stack: &[Frame]| {
        let frame = place(stack)[1].cloned();
        frame.map(|f| (f.class, f.method, f.line))
    };
    now.class() == class && (stack.is_empty() || line(&now.stack) == line(stack))
}

fn up_to(log: &Log, entries: usize) -> Shown {
    let before = log.entries.get(..entries).unwrap_or(&log.entries);
    let decisions = before
        .iter()
        .filter(|e| matches!(e, Entry::Step { .. } | Entry::Tick));
    Shown {
        moments: decisions.count(),
        told: log.told.len(),
        hit: None,
        uncaught: None,
        stuck: None,
    }
}

fn whole(log: &Log) -> Shown {
    up_to(log, log.entries.len())
}

/// Up to the second of the two accesses.
fn side_by_side(log: &Log, hit: usize) -> Shown {
    let Some(Entry::Hit(met)) = log.entries.get(hit) else {
        return whole(log);
    };
    let thread = met.second.thread;
    let told = { log.told.iter() }.position(|told| told.thread == thread && told.at > hit);
    match told {
        Some(told) => Shown {
            told: told + 1,
            ..up_to(log, log.told[told].at)
        },
        None => whole(log),
    }
}

/// Up to the last that the thread that died did.
fn died(log: &Log, uncaught: &Uncaught) -> Option<Shown> {
    let thread = named(log, &uncaught.thread);
    let last = log
        .entries
        .iter()
        .rposition(|e| matches!(e, Entry::Step { thread: t, .. } if Some(*t) == thread));
    // What it did alone is no decision, but what others did before that belongs to it.
    let told = { log.told.iter() }.rposition(|told| Some(told.thread) == thread);
    let last = last.map_or(log.entries.len(), |last| last + 1);
    Some(Shown {
        uncaught: Some(uncaught.clone()),
        told: told.map_or(0, |told| told + 1),
        ..up_to(log, last.max(told.map_or(0, |told| log.told[told].at)))
    })
}

fn stuck(log: &Log, run: &RunResult, like: Option<&Deadlock>) -> Option<Shown> {
    let kinds = [
        ("deadlock", &run.findings.deadlocks),
        ("livelock", &run.findings.livelocks),
    ];
    let all = kinds
        .into_iter()
        .flat_map(|(kind, all)| all.iter().map(move |still| (kind, still)));
    let same = |(kind, still): &(&str, &StuckThreads)| {
        like.is_none_or(|like| like.same(&Deadlock::new(kind, (*still).clone(), 0)))
    };
    let (_, still) = all.into_iter().find(same)?;
    Some(Shown {
        stuck: Some(still.clone()),
        ..whole(log)
    })
}

/// The thread of this name; the last one, if there are several.
pub(super) fn named(log: &Log, name: &str) -> Option<Thread> {
    let mut threads = log.threads.iter().filter(|(_, row)| row.name == name);
    threads.next_back().map(|(thread, _)| *thread)
}
