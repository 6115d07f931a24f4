//! How threads came to wait for ever: which locks they took, or who woke whom, and what each waits for then.

use super::goal::named;
use super::words::{MOST, at_frame, line};
use findings::finding::{StuckThreads, Waiting, place};
use findings::story::StoryLine;
use schedule::labels::Labels;
use schedule::log::{Entry, Log};
use schedule::{Kind, Op, Thread};
use std::collections::BTreeSet;

/// A step of the log, by its number.
#[derive(Clone, Copy)]
struct Step {
    number: u64,
    thread: Thread,
    op: Op,
}

/// What came before, and how it ends.
pub(super) fn lines(log: &Log, stuck: &StuckThreads) -> (Vec<StoryLine>, Vec<StoryLine>) {
    let steps: Vec<Step> = { log.entries.iter() }
        .filter_map(|entry| match entry {
            Entry::Step { thread, op } => Some((*thread, *op)),
            _ => None,
        })
        .zip(0..)
        .map(|((thread, op), number)| Step { number, thread, op })
        .collect();
    let told = match stuck.cycle {
        true => taken(log, &steps, stuck),
        false => wakings(&steps, stuck, log),
    };
    let labels = Labels::new(log);
    let before: Vec<StoryLine> = { told.iter() }
        .map(|step| {
            let label = labels.label(Some(step.number), &step.op);
            let text = match label.split_once(' ') {
                Some(("lock", rest)) if rest.starts_with('#') => format!("takes lock {rest}"),
                Some(("lock", rest)) => format!("locks {rest}"),
                Some(("notify", rest)) => format!("notifies {rest}"),
                _ => label.clone(),
            };
            line(log, step.thread, text, log.place(step.number, &step.op))
        })
        .collect();
    // Lines are referred to by their numbers, if all of them are told.
    let fits = before.len() + stuck.threads.len().min(MOST / 2) <= MOST;
    let place_of = |waiting: &Waiting| {
        let holder = named(log, waiting.held_by.as_deref()?)?;
        let asked = attempt(log, &steps, waiting).map(|step| step.op.obj);
        let mut theirs = (1..).zip(&told).filter(|(_, step)| {
            step.thread == holder && asked.is_none_or(|object| object == step.op.obj)
        });
        let (number, _) = theirs.next()?;
        (fits && stuck.cycle && theirs.next().is_none()).then_some(number)
    };
    let end = ending(stuck, place_of);
    (before, end)
}

/// What each thread waits for; `place_of`: the line in which it was taken by somebody else.
pub(super) fn ending(
    stuck: &StuckThreads,
    place_of: impl Fn(&Waiting) -> Option<usize>,
) -> Vec<StoryLine> {
    let waiting = stuck.threads.iter().map(|waiting| {
        let what = without_hashes(&waiting.waits_for);
        let text = match (&waiting.held_by, place_of(waiting)) {
            (Some(other), Some(number)) => {
                format!("waits for the lock that {other} took in {number}")
            }
            (Some(other), None) => format!("waits for {what}, which {other} holds"),
            (None, _) => format!("waits for {what}, and nobody is left to wake it"),
        };
        at_frame(&waiting.thread, text, place(&waiting.stack)[1])
    });
    waiting.take(MOST / 2).collect()
}

/// Identity hashes are other ones in other runs: `java.lang.Object@5df2fc8c`.
fn without_hashes(text: &str) -> String {
    let words = text.split(' ').map(|word| match word.split_once('@') {
        Some((class, hash)) if hash.chars().all(|c| c.is_ascii_hexdigit()) => class,
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The locks that the threads hold in the end, in the order in which they were taken.
fn taken(log: &Log, steps: &[Step], stuck: &StuckThreads) -> Vec<Step> {
    let mut all: Vec<Step> = Vec::new();
    for waiting in &stuck.threads {
        let Some(thread) = named(log, &waiting.thread) else {
            continue;
        };
        let asked = attempt(log, steps, waiting).map(|step| step.number);
        let mine = { steps.iter().rev() }.filter(|step| {
            step.thread == thread && takes(step.op.kind) && Some(step.number) != asked
        });
        let mut objects = BTreeSet::new();
        let latest = mine.filter(|step| objects.insert(step.op.obj));
        all.extend(latest.take(waiting.holds.len().max(1)).copied());
    }
    all.sort_by_key(|step| step.number);
    all
}

/// The step with which a thread asked for the lock that it does not get. Where no other thread could go on there is none.
fn attempt(log: &Log, steps: &[Step], waiting: &Waiting) -> Option<Step> {
    let me = named(log, &waiting.thread)?;
    let holder = named(log, waiting.held_by.as_deref()?)?;
    let at = { steps.iter() }.rposition(|step| step.thread == me && takes(step.op.kind))?;
    let mut before = steps[..at].iter().rev();
    let latest = before.find(|s| takes(s.op.kind) && s.op.obj == steps[at].op.obj)?;
    let stands = place(&waiting.stack)[1].and_then(|frame| frame.line);
    let site = log.place(steps[at].number, &steps[at].op);
    let is_there = stands.is_none() || site.is_none_or(|site| site.line == stands);
    (latest.thread == holder && is_there).then_some(steps[at])
}

fn takes(kind: Kind) -> bool {
    matches!(kind, Kind::Acquire | Kind::TryAcquire | Kind::AcquireShared)
}

/// Who woke whom, and who waited, but for the last that each thread did: that is the end.
fn wakings(steps: &[Step], stuck: &StuckThreads, log: &Log) -> Vec<Step> {
    let blocks = |kind: Kind| {
        takes(kind) && kind != Kind::TryAcquire
            || matches!(kind, Kind::Wait | Kind::Park | Kind::Join)
    };
    let stands: BTreeSet<u64> = { stuck.threads.iter() }
        .filter_map(|waiting| {
            let thread = named(log, &waiting.thread)?;
            let mut mine = steps.iter().rev().filter(|s| s.thread == thread);
            Some(mine.find(|step| blocks(step.op.kind))?.number)
        })
        .collect();
    let wakes = |kind: Kind| {
        matches!(
            kind,
            Kind::Notify | Kind::NotifyAll | Kind::Unpark | Kind::Wait
        )
    };
    let told = { steps.iter() }.filter(|s| wakes(s.op.kind) && !stands.contains(&s.number));
    told.copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::finding::Frame;
    use schedule::log::{Site, ThreadRow};

    fn log(steps: &[(Thread, u64, u32)]) -> Log {
        let mut log = Log::default();
        for (thread, name) in [(1, "seller"), (2, "refunder")] {
            let row = ThreadRow {
                name: name.to_owned(),
                ..ThreadRow::default()
            };
            log.threads.insert(thread, row);
        }
        for (thread, obj, line) in steps {
            let op = Op {
                kind: Kind::Acquire,
                site: *line,
                obj: *obj,
                slot: 0,
            };
            let site = Site {
                line: Some(*line),
                ..Site::default()
            };
            log.sites.insert(*line, site);
            log.entries.push(Entry::Step {
                thread: *thread,
                op,
            });
        }
        log
    }

    fn waiting(thread: &str, other: &str, line: u32) -> Waiting {
        Waiting {
            thread: thread.to_owned(),
            waits_for: "the monitor of java.lang.Object@5df2fc8c".to_owned(),
            held_by: Some(other.to_owned()),
            stack: vec![Frame {
                class: "Seats".to_owned(),
                line: Some(line),
                ..Frame::default()
            }],
            holds: vec!["java.lang.Object@1 (monitor)".to_owned()],
        }
    }

    fn told(log: &Log) -> Vec<String> {
        let stuck = StuckThreads {
            cycle: true,
            threads: vec![
                waiting("seller", "refunder", 7),
                waiting("refunder", "seller", 8),
            ],
        };
        let (before, end) = lines(log, &stuck);
        let all = before.iter().chain(&end);
        all.map(|l| format!("{} {}", l.thread, l.text)).collect()
    }

    #[test]
    fn the_locks_that_are_held_and_what_is_waited_for() {
        // One thread could still choose when it asked for the second lock, the other could not: there is no such step.
        let found = told(&log(&[(1, 2, 6), (2, 3, 5), (2, 2, 8)]));
        assert_eq!(
            found,
            [
                "seller takes lock #2",
                "refunder takes lock #3",
                "seller waits for the lock that refunder took in 2",
                "refunder waits for the lock that seller took in 1",
            ]
        );
        // Locks that were given back before are no part of it.
        let found = told(&log(&[(1, 3, 1), (2, 2, 1), (1, 2, 6), (2, 3, 5)]));
        assert_eq!(found.len(), 4, "{found:?}");
        assert_eq!(found[0], "seller takes lock #2");
    }

    #[test]
    fn identity_hashes_are_left_out() {
        assert_eq!(
            without_hashes("the monitor of a.B@5df2fc8c, mail me@home"),
            "the monitor of a.B@5df2fc8c, mail me@home"
        );
        assert_eq!(without_hashes("to enter a.B@5df2fc8c"), "to enter a.B");
    }
}
