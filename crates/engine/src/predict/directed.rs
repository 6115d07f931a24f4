//! Runs that are likely to show a stale value: one preemption, right before an act.
//!
//! In a run without preemptions ([`schedule::reduce::Steered`]) threads come one after the other: it is a
//! serial order. Its log says of each decision where the program was and who could have gone on
//! instead. If somebody else goes on where a thread is about to act, and goes on until it cannot, its whole look and act
//! come between. Random strategies hardly ever do that where an act has many scheduling points inside, as a
//! `put` into a map has: they stop the other one in the middle of its own, and then nobody knows which came first.
//! The same at a look is another serial order, to compare with.

use super::by_schedule::Lines;
use encoding::names::dotted;
use schedule::Thread;
use schedule::log::{Entry, Log, Site};
use schedule::reduce::{Course, Moment, Turn};
use std::collections::BTreeSet;

/// How much a decision promises; less is more.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Rank {
    /// In the statement of an act.
    Act,
    /// In its method: before the lock is taken, for instance.
    ActMethod,
    /// At a look.
    Look,
}

fn rank(place: &Site, wanted: &BTreeSet<Lines>) -> Option<Rank> {
    let class = dotted(&place.class);
    let ranks = wanted.iter().filter_map(|[look, act]| {
        let in_method =
            |(c, m, _): &(String, String, Option<u32>)| *c == class && *m == place.method;
        if act.0 == class && act.2.is_some() && act.2 == place.line {
            Some(Rank::Act)
        } else if in_method(act) {
            Some(Rank::ActMethod)
        } else {
            in_method(look).then_some(Rank::Look)
        }
    });
    ranks.min()
}

/// Courses with one preemption more than the run of this log, the most promising first.
pub(super) fn courses(log: &Log, wanted: &BTreeSet<Lines>) -> Vec<String> {
    let moments = Moment::of_log(log);
    let mut found: Vec<((usize, Rank, usize), String)> = Vec::new();
    // How many decisions in a row the thread was there.
    let mut row: Option<(Thread, Rank, usize)> = None;
    let (mut steps, mut decisions) = (0u64, 0usize);
    for entry in &log.entries {
        let (thread, op) = match entry {
            Entry::Step { thread, op } => (*thread, op),
            Entry::Tick => {
                decisions += 1;
                continue;
            }
            _ => continue,
        };
        let (step, at) = (steps, decisions);
        steps += 1;
        decisions += 1;
        let place = log.place(step, op);
        let Some(rank) = place.and_then(|place| rank(place, wanted)) else {
            row = None;
            continue;
        };
        let nth = match row {
            Some((t, r, n)) if (t, r) == (thread, rank) => n + 1,
            _ => 0,
        };
        row = Some((thread, rank, nth));
        let Some(moment) = moments.get(at) else {
            break;
        };
        for other in moment.ready.iter().filter(|other| **other != thread) {
            let Course(mut turns) = Course::of(&moments[..at]);
            turns.push(Turn {
                thread: Some(*other),
                steps: 1,
            });
            found.push(((nth, rank, at), Course::new(turns).to_string()));
        }
    }
    found.sort();
    found.into_iter().map(|(_, course)| course).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use schedule::log::ReadySet;
    use schedule::{Kind, Op};

    /// Two threads that each look (site 1) and act (site 2, in two steps), one after the other.
    fn log() -> Log {
        let mut log = Log::default();
        for (number, method, line) in [(1, "has", 10), (2, "put", 11), (3, "other", 12)] {
            let site = Site {
                class: "shop/Cart".into(),
                method: method.into(),
                line: Some(line),
                ..Site::default()
            };
            log.sites.insert(number, site);
        }
        let steps = [(1, 3), (1, 1), (1, 2), (1, 2), (2, 1), (2, 2)];
        for (at, (thread, site)) in (0u64..).zip(steps) {
            let op = Op {
                kind: Kind::Acquire,
                site,
                obj: 7,
                slot: 0,
            };
            log.entries.push(Entry::Step { thread, op });
            let threads = if thread == 1 { vec![1, 2] } else { vec![2] };
            let ready = ReadySet {
                threads,
                may_tick: false,
            };
            log.ready.insert(at, ready);
        }
        log
    }

    fn lines(method: &str, line: u32) -> (String, String, Option<u32>) {
        ("shop.Cart".into(), method.into(), Some(line))
    }

    #[test]
    fn the_other_thread_comes_right_before_the_act() {
        let wanted = BTreeSet::from([[lines("has", 10), lines("put", 11)]]);
        assert_eq!(courses(&log(), &wanted), ["1*2 2", "1 2", "1*3 2"]);
        // The method of the act, where its line has no step.
        let wanted = BTreeSet::from([[lines("none", 1), lines("put", 99)]]);
        assert_eq!(courses(&log(), &wanted), ["1*2 2", "1*3 2"]);
        let wanted = BTreeSet::from([[lines("none", 1), lines("none", 2)]]);
        assert!(courses(&log(), &wanted).is_empty());
    }

    #[test]
    fn a_log_that_does_not_say_who_was_ready_has_none() {
        let wanted = BTreeSet::from([[lines("has", 10), lines("put", 11)]]);
        let mut log = log();
        log.ready.clear();
        assert!(courses(&log, &wanted).is_empty());
    }
}
