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
//!
//! They differ from the strategies of crate `schedule` in what they draw from: steps of an
//! exploration, where nothing blocks and every operation is one.

use crate::op::{Label, Ready, Thread, Touching};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// How a schedule is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Way {
    Walk,
    Pos,
    Pct { depth: u32, steps: u64 },
}

/// A schedule to be drawn: the same each time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sample {
    pub way: Way,
    pub seed: u64,
}

impl Sample {
    /// Number `n` of a series that takes every way in turn: partial order sampling in one of
    /// two, PCT of depths 2, 3, 4 and 1 and the walk in the others. `steps` is how long
    /// executions are.
    pub fn nth(n: u64, steps: u64) -> Sample {
        let pct = |depth| Way::Pct { depth, steps };
        let way = match n % 10 {
            1 => pct(2),
            3 => pct(3),
            5 => pct(4),
            7 => pct(1),
            9 => Way::Walk,
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
        };
        match self.way {
            Way::Walk => {}
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::{Loc, Op};
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
        for way in [Way::Walk, Way::Pos, pct] {
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
        assert_eq!(ways.len(), 6);
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
