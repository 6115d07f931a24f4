//! Program number N: the same one everywhere, drawn from a seed that is the number.

use crate::truth::Truth;
use litmus::java::{Source, source};
use litmus::random::java_programs;
use litmus::{Program, Stmt};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// Larger ones are drawn again: brute force goes through all schedules, and `verify` through as
/// many classes as there may be.
const MOST_SCHEDULES: usize = 3000;

/// One program of so many may be dull: whatever the schedule, it does the same.
const DULL: u64 = 8;

#[derive(Clone, Debug)]
pub struct Case {
    pub number: u64,
    pub program: Program,
    pub source: Source,
    pub truth: Truth,
}

impl Case {
    pub fn draw(number: u64) -> Case {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        let mut runner = TestRunner::new_with_rng(Config::default(), rng);
        let programs = java_programs();
        loop {
            let drawn = programs.new_tree(&mut runner).expect("nothing is rejected");
            let program = drawn.current();
            let source = source(&program, &format!("P{number}"));
            let truth = Truth::brute_force(&program, &source, MOST_SCHEDULES);
            let worth_it = |truth: &Truth| number.is_multiple_of(DULL) || truth.has_choice();
            if let Some(truth) = truth.filter(worth_it) {
                return Case {
                    number,
                    program,
                    source,
                    truth,
                };
            }
        }
    }

    pub fn class(&self) -> &str {
        &self.source.class
    }

    /// Then runs that are not explorations end only by a limit of time.
    pub fn may_spin_for_ever(&self) -> bool {
        let spins = self.program.threads.iter().flatten();
        let spins = { spins }.any(|stmt| matches!(stmt, Stmt::Spin { .. }));
        spins && !self.truth.deadlocks.is_empty()
    }

    /// Not with others in one exploration, which would be cut off, or have no end: it does not see
    /// that nothing changes from one iteration to the next if each takes a lock.
    pub fn is_explored_alone(&self) -> bool {
        let is_lock = |stmt: &Stmt| matches!(stmt, Stmt::Sync(..));
        let mut all = self.program.threads.iter().flatten();
        let locks =
            |stmt: &Stmt| matches!(stmt, Stmt::Spin { body, .. } if body.iter().any(is_lock));
        self.may_spin_for_ever() || all.any(locks)
    }
}
