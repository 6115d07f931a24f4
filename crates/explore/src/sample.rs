//! Samples: executions whose schedule is drawn, to meet a bug early while the exploration,
//! which goes through everything, is still in a corner of it.
//!
//! * [`Way::Walk`]: every thread that can go on is as likely as any other.
//! * [`Way::Pos`]: partial order sampling (Yuan, Yang, Gu, 2018): every pending
//!   operation draws a priority, and again when one that depends on it was made.
//! * [`Way::Pct`]: probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi,
//!   Nagarakatte, 2010): every thread draws a priority, and at `depth - 1` steps drawn from
//!   so many the thread that makes the step falls below all others. A bug that needs `d`
//!   steps in a certain order is met with probability at least `1 / (n k^(d-1))` by a sample of
//!   that depth, with `n` threads and `k` steps.
//! * [`Way::Kinds`]: every kind of operation on every location draws a priority that all threads
//!   share; among equals, and in half of the samples now and then, anybody goes on. A bug between one thread and any of
//!   many that do the same (a reader among a hundred writers) needs certain orders of a few kinds
//!   only, so that the number of threads does not matter, where each of the other ways must
//!   find the right thread first. (The abstract schedules of Wolff et al., "Greybox Fuzzing for
//!   Concurrency Testing", ASPLOS 2024, abstract from threads in the same way.)
//!
//! They differ from the strategies of crate `schedule` in what they draw from: steps of an
//! exploration, where nothing blocks and every operation is one.

use crate::op::{Label, Op, Ready, Thread, Touching};
use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};
use std::hash::{Hash, Hasher};

/// How a schedule is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Way {
    Walk,
    Pos,
    Pct { depth: u32, steps: u64 },
    Kinds,
}

/// A schedule to be drawn: the same each time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sample {
    pub way: Way,
    pub seed: u64,
}

impl Sample {
    /// Number `n` of a series that takes every way in turn: partial order sampling and
    /// priorities of kinds more often, PCT of depths 2, 3, 4 and 1 and the walk once in ten.
    /// `steps` is how long executions are.
    pub fn nth(n: u64, steps: u64) -> Sample {
        let pct = |depth| Way::Pct { depth, steps };
        let way = match n % 10 {
            1 => pct(2),
            3 => pct(3),
            5 => pct(4),
            7 => pct(1),
            9 => Way::Walk,
            0 | 4 => Way::Kinds,
            _ => Way::Pos,
        };
        Sample { way, seed: n }
    }
}

/// SplitMix64 (Steele, Lea, Flood, 2014).
#[derive(Clone, Debug)]
struct Draw(u64);

impl Draw {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Less than `n`; the error of the remainder is nothing here.
    fn below(&mut self, n: u64) -> u64 {
        self.word() % n.max(1)
    }
}

/// Draws one schedule.
#[derive(Clone, Debug)]
pub(crate) struct Sampler {
    way: Way,
    seed: u64,
    /// With [`Way::Kinds`]: now and then anybody goes on.
    strays: bool,
    draw: Draw,
    step: u64,
    /// Of threads, or of what each does next.
    priorities: FxHashMap<Thread, (u64, Option<Label>)>,
    /// Where whoever makes the step falls.
    changes: Vec<u64>,
    /// Below all priorities that were drawn, and falling.
    floor: u64,
}

impl Sampler {
    pub fn new(sample: Sample) -> Sampler {
        let mut draw = Draw(sample.seed);
        let mut changes = Vec::new();
        if let Way::Pct { depth, steps } = sample.way {
            changes = (1..depth).map(|_| draw.below(steps)).collect();
        }
        Sampler {
            way: sample.way,
            seed: sample.seed,
            strays: draw.below(2) == 0,
            draw,
            step: 0,
            priorities: FxHashMap::default(),
            changes,
            floor: 1 << 32,
        }
    }

    /// Who goes on, and which way of several it takes.
    pub fn choose<'a>(&mut self, ready: &'a [Ready]) -> Option<(&'a Ready, u32)> {
        let chosen = match self.way {
            Way::Walk => {
                let at = self.draw.below(ready.len() as u64) as usize;
                ready.get(at)?
            }
            Way::Pos => self.highest(ready, true)?,
            Way::Pct { .. } => self.highest(ready, false)?,
            Way::Kinds => self.highest_kind(ready)?,
        };
        match self.way {
            Way::Walk | Way::Kinds => {}
            Way::Pos => {
                let made = Touching::new(&chosen.label);
                let waits = |label: &Option<Label>| {
                    label
                        .as_ref()
                        .is_some_and(|l| !made.depends(&Touching::new(l)))
                };
                self.priorities.retain(|_, (_, label)| waits(label));
            }
            Way::Pct { .. } => {
                if self.changes.contains(&self.step) {
                    self.floor -= 1;
                    let fallen = (self.floor, None);
                    self.priorities.insert(chosen.label.thread, fallen);
                }
            }
        }
        self.step += 1;
        let pick = self.draw.below(u64::from(chosen.picks)) as u32;
        Some((chosen, pick))
    }

    fn highest_kind<'a>(&mut self, ready: &'a [Ready]) -> Option<&'a Ready> {
        let anybody = self.strays && self.draw.below(16) == 0;
        let priority = |r: &Ready| match (&r.label.op, anybody) {
            (Op::Local, _) | (_, true) => 0,
            (op, false) => {
                let mut hasher = FxHasher::default();
                kind(op).hash(&mut hasher);
                Draw(self.seed ^ hasher.finish()).word()
            }
        };
        let all: Vec<u64> = ready.iter().map(priority).collect();
        let highest = all.iter().max()?;
        let equals = || ready.iter().zip(&all).filter(|(_, p)| *p == highest);
        let at = self.draw.below(equals().count() as u64) as usize;
        equals().nth(at).map(|(r, _)| r)
    }

    fn highest<'a>(&mut self, ready: &'a [Ready], of_steps: bool) -> Option<&'a Ready> {
        let mut best: Option<(u64, &Ready)> = None;
        for r in ready {
            let label = of_steps.then(|| r.label.clone());
            let priority = match self.priorities.get(&r.label.thread) {
                Some((priority, before)) if *before == label || !of_steps => *priority,
                _ => {
                    let drawn = self.draw.word() | 1 << 63;
                    self.priorities.insert(r.label.thread, (drawn, label));
                    drawn
                }
            };
            if best.is_none_or(|(highest, _)| priority > highest) {
                best = Some((priority, r));
            }
        }
        best.map(|(_, r)| r)
    }
}

/// The operation, whichever thread it is done to.
fn kind(op: &Op) -> Op {
    match *op {
        Op::Unpark(_) => Op::Unpark(0),
        Op::Start(_) => Op::Start(0),
        Op::Join {
            timed,
            interruptible,
            ..
        } => Op::Join {
            thread: 0,
            timed,
            interruptible,
        },
        Op::IsAlive(_) => Op::IsAlive(0),
        Op::Interrupt(_) => Op::Interrupt(0),
        Op::IsInterrupted(_) => Op::IsInterrupted(0),
        op => op,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Loc;
    use std::collections::BTreeSet;

    fn ready(threads: Thread) -> Vec<Ready> {
        let at = |slot| Loc { obj: 1, slot };
        let one = |thread| Ready {
            label: Label::new(thread, Op::Write(at(thread as u32))),
            picks: 1,
        };
        (0..threads).map(one).collect()
    }

    /// The order in which threads with one step each go, by each way.
    fn orders(way: Way, threads: Thread, samples: u64) -> BTreeSet<Vec<Thread>> {
        let order = |seed| {
            let mut sampler = Sampler::new(Sample { way, seed });
            let mut left = ready(threads);
            let mut order = Vec::new();
            while !left.is_empty() {
                let thread = sampler.choose(&left).unwrap().0.label.thread;
                left.retain(|r| r.label.thread != thread);
                order.push(thread);
            }
            order
        };
        (0..samples).map(order).collect()
    }

    #[test]
    fn every_order_is_drawn_some_time() {
        let pct = Way::Pct { depth: 3, steps: 4 };
        for way in [Way::Walk, Way::Pos, pct, Way::Kinds] {
            assert_eq!(orders(way, 4, 1_000).len(), 24, "{way:?}");
        }
    }

    #[test]
    fn a_seed_is_a_schedule() {
        let sample = |seed| orders(Way::Pos, 6, 1).len() + seed;
        assert_eq!(sample(1), sample(1));
        let ways: BTreeSet<String> = (0..10)
            .map(|n| format!("{:?}", Sample::nth(n, 9).way))
            .collect();
        assert_eq!(ways.len(), 7);
    }

    /// Writers of two locations and a reader of both: that it comes between the first write of
    /// the one and the first of the other is as likely with a hundred writers as with two.
    #[test]
    fn kinds_do_not_mind_how_many_threads_do_the_same() {
        let at = |slot| Loc { obj: 1, slot };
        let step = |thread: Thread, made: usize| {
            let place = at(made as u32);
            match (thread, made) {
                (_, 2..) => None,
                (0, _) => Some(Op::Read(place)),
                _ => Some(Op::Write(place)),
            }
        };
        let meets = |writers: Thread, seed| {
            let way = Way::Kinds;
            let mut sampler = Sampler::new(Sample { way, seed });
            let mut made = vec![0; writers as usize + 1];
            let (mut written, mut seen) = ([false; 2], [false; 2]);
            loop {
                let next = (0..=writers).filter_map(|t| Some((t, step(t, made[t as usize])?)));
                let ready: Vec<Ready> = next
                    .map(|(t, op)| Ready {
                        label: Label::new(t, op),
                        picks: 1,
                    })
                    .collect();
                let Some((chosen, _)) = sampler.choose(&ready) else {
                    return seen == [true, false];
                };
                let thread = chosen.label.thread;
                let slot = made[thread as usize];
                match thread {
                    0 => seen[slot] = written[slot],
                    _ => written[slot] = true,
                }
                made[thread as usize] += 1;
            }
        };
        for writers in [2, 100] {
            let met = (0..400).filter(|seed| meets(writers, *seed)).count();
            assert!(met > 20, "{writers} writers: met {met} times in 400");
        }
    }

    /// A thread that is ahead stays ahead, but for the steps at which it falls.
    #[test]
    fn pct_changes_its_mind_as_often_as_its_depth_says() {
        for seed in 0..200 {
            let depth = 1 + (seed % 4) as u32;
            let way = Way::Pct { depth, steps: 30 };
            let mut sampler = Sampler::new(Sample { way, seed });
            let all = ready(3);
            let mut last = None;
            let mut switches = 0;
            for _ in 0..30 {
                let thread = sampler.choose(&all).map(|(r, _)| r.label.thread);
                switches += u32::from(last.is_some() && last != thread);
                last = thread;
            }
            assert!(switches < depth, "seed {seed}: {switches} switches");
        }
    }
}
