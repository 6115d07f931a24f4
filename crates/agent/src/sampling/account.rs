//! When to watch, so that it costs no more than was allowed. Pure: readings of clocks go in, steps come out.
//!
//! # What is measured
//! Processor time of the whole process (all threads, compilers and collectors included), by period. All that is
//! used in a period in which probes do not rest is its cost, as if the program had stood still. That is more than it
//! costs, by a seventh where sampling is seven times slower than rest, and never less.
//!
//! Before each sampling period accesses are counted for a short while. It says how many there are in a second of
//! processor time at rest, and so which share of them was watched; nothing is decided by it.
//!
//! # What is allowed
//! The budget's share of the processor time at rest. It is saved first and spent later: a period begins when what
//! it may cost at most has been saved. So the cost never exceeds the budget by more than what a period goes on before the
//! controller wakes up. What probes at rest cost is not in it: nobody can measure that inside the process
//! (docs/server.md has measurements from outside).
//!
//! # The lengths of periods
//! In processor time 10, 20, 10, 40, 10, 20, 10, 80 ms and so on: most are short, so that many states of the
//! program are seen; some are long, because accesses that race may be far from each other. Comparing lasts as long as
//! the sampling before it.

use contract::phase;
use protocol::{Budget, summary};
use std::time::Duration;

/// Of the processor, in microseconds.
const COUNTING: u64 = 1_000;
const SHORTEST: u64 = 10_000;
/// The longest are that often twice as long as the shortest.
const DOUBLINGS: u32 = 4;

/// For how long the controller sleeps: as long as all processors need for what is left, within this.
const NAPS: [Duration; 2] = [Duration::from_micros(300), Duration::from_millis(5)];
const REST_NAP: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Rest,
    Count,
    Sample,
    Compare,
}

impl Phase {
    /// As the bridge knows it.
    pub fn number(self) -> i32 {
        match self {
            Phase::Rest => phase::REST,
            Phase::Count => phase::COUNT,
            Phase::Sample => phase::SAMPLE,
            Phase::Compare => phase::COMPARE,
        }
    }

    fn next(self) -> Phase {
        match self {
            Phase::Rest => Phase::Count,
            Phase::Count => Phase::Sample,
            Phase::Sample => Phase::Compare,
            Phase::Compare => Phase::Rest,
        }
    }
}

/// What clocks say: processor time of the process in microseconds, and accesses counted.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Reading {
    pub cpu: u64,
    pub accesses: u64,
}

/// What to do now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    Sleep(Duration),
    Turn(Phase),
}

#[derive(Debug)]
pub struct Account {
    budget: Budget,
    processors: u64,
    phase: Phase,
    since: Reading,
    totals: summary::Sampling,
    /// For tests: of periods that follow each other anyhow.
    random: u64,
    slept: bool,
}

impl Account {
    pub fn new(budget: Budget, processors: usize) -> Account {
        Account {
            budget,
            processors: processors.max(1) as u64,
            phase: Phase::Rest,
            since: Reading::default(),
            totals: summary::Sampling {
                budget: budget.hundredths,
                ..summary::Sampling::default()
            },
            random: 0x9E37_79B9_7F4A_7C15,
            slept: false,
        }
    }

    /// All that was measured.
    pub fn totals(&mut self, now: Reading) -> summary::Sampling {
        self.settle(now);
        self.totals.clone()
    }

    pub fn step(&mut self, now: Reading) -> Step {
        if let Some(most) = self.budget.turns {
            return self.any(now, most);
        }
        let used = now.cpu.saturating_sub(self.since.cpu);
        let (missing, most) = match self.phase {
            Phase::Rest => (self.missing(now), REST_NAP),
            Phase::Count => (COUNTING.saturating_sub(used), NAPS[1]),
            Phase::Sample | Phase::Compare => (self.length().saturating_sub(used), NAPS[1]),
        };
        if missing > 0 {
            let nap = Duration::from_micros(missing / self.processors);
            return Step::Sleep(nap.clamp(NAPS[0], most));
        }
        self.turn(now)
    }

    fn turn(&mut self, now: Reading) -> Step {
        self.settle(now);
        if self.phase == Phase::Compare {
            self.totals.periods += 1;
        }
        self.phase = self.phase.next();
        Step::Turn(self.phase)
    }

    /// Takes a nap or turns, in turn.
    fn any(&mut self, now: Reading, most: u32) -> Step {
        self.slept = !self.slept;
        if !self.slept {
            return self.turn(now);
        }
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let micros = self.random % u64::from(most.max(1));
        Step::Sleep(Duration::from_micros(micros))
    }

    /// What was measured since the last time is that of the phase.
    fn settle(&mut self, now: Reading) {
        let cpu = now.cpu.saturating_sub(self.since.cpu);
        let accesses = now.accesses.saturating_sub(self.since.accesses);
        let totals = &mut self.totals;
        match self.phase {
            // A thread may see late that nothing is counted any more.
            Phase::Rest => totals.rest_us += cpu,
            Phase::Count => {
                totals.counted_us += cpu;
                totals.counted += accesses;
            }
            Phase::Sample => {
                totals.sampled_us += cpu;
                totals.sampled += accesses;
            }
            Phase::Compare => {
                totals.compared_us += cpu;
                totals.compared += accesses;
            }
        }
        self.since = now;
    }

    /// How long the next sampling takes, or the one under way.
    fn length(&self) -> u64 {
        SHORTEST << (self.totals.periods + 1).trailing_zeros().min(DOUBLINGS)
    }

    /// Processor time at rest that it takes until the next period may begin.
    fn missing(&self, now: Reading) -> u64 {
        let resting = self.totals.rest_us + now.cpu.saturating_sub(self.since.cpu);
        let needed = cost(&self.totals) + COUNTING + 2 * self.length();
        let rest = needed.saturating_mul(10_000) / u64::from(self.budget.hundredths.max(1));
        rest.saturating_sub(resting)
    }
}

/// What periods took.
fn cost(totals: &summary::Sampling) -> u64 {
    totals.sampled_us + totals.compared_us + totals.counted_us
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(hundredths: u32) -> Budget {
        Budget {
            hundredths,
            turns: None,
        }
    }

    /// A program that keeps the processors busy, and a controller that wakes up late by so much. Returns what periods
    /// took over what was taken at rest.
    fn share(hundredths: u32, late: u64, seconds: u64) -> f64 {
        let mut account = Account::new(budget(hundredths), 2);
        let mut now = Reading::default();
        while now.cpu < seconds * 1_000_000 {
            if let Step::Sleep(nap) = account.step(now) {
                now.cpu += 2 * nap.as_micros() as u64 + late;
            }
        }
        let totals = account.totals(now);
        cost(&totals) as f64 / totals.rest_us as f64
    }

    #[test]
    fn the_budget_is_kept_and_used() {
        for hundredths in [200, 1000, 5000, 20_000] {
            for late in [50, 3_000] {
                let share = share(hundredths, late, 300);
                let used = share / (f64::from(hundredths) / 10_000.0);
                assert!((0.9..=1.02).contains(&used), "{hundredths}, {late}: {used}");
            }
        }
    }

    #[test]
    fn periods_follow_each_other() {
        let mut account = Account::new(budget(1_000_000), 1);
        let (mut now, mut phases) = (Reading::default(), vec![]);
        while phases.len() < 9 {
            match account.step(now) {
                Step::Turn(to) => phases.push(to),
                Step::Sleep(_) => now.cpu += 500,
            }
        }
        let cycle = [Phase::Count, Phase::Sample, Phase::Compare, Phase::Rest];
        assert!(phases.iter().eq(cycle.iter().cycle().take(9)));
        let totals = account.totals(now);
        assert_eq!(totals.periods, 2);
        assert_eq!((totals.sampled_us, totals.compared_us), (30_000, 30_000));
        let all = totals.rest_us + totals.counted_us + 60_000;
        assert_eq!(all, now.cpu);
    }

    #[test]
    fn an_idle_program_is_left_in_its_period() {
        let mut account = Account::new(budget(10_000_000), 1);
        let mut now = Reading::default();
        while account.step(now) != Step::Turn(Phase::Sample) {
            now.cpu += 100;
        }
        for _ in 0..1_000 {
            assert_eq!(account.step(now), Step::Sleep(NAPS[1]));
        }
    }

    #[test]
    fn turns_cost_what_they_do() {
        let turns = Some(200);
        let mut account = Account::new(
            Budget {
                hundredths: 1,
                turns,
            },
            1,
        );
        let mut turned = 0;
        for _ in 0..1_000 {
            match account.step(Reading::default()) {
                Step::Turn(_) => turned += 1,
                Step::Sleep(nap) => assert!(nap < Duration::from_micros(200)),
            }
        }
        assert_eq!(turned, 500);
    }
}
