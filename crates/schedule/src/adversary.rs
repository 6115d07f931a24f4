//! Which of the writes that a racy read may see (crate `memory`) it does see, after the strategies of
//! Flanagan and Freund's adversarial memory (PLDI 2010).
//!
//! A thread has a habit at each statement, drawn when it first has a choice there: it sees the newest write,
//! or the oldest that it may, or any. A read that sees the oldest write for ever is what makes a loop
//! endless; one habit for all statements would never read a new reference and then an old
//! field behind it.
//!
//! Pure: the answers depend on the seed and on the questions, so a seed names a run.

use crate::op::Thread;
use crate::random::Rng;
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Habit {
    Newest,
    Oldest,
    Any,
}

#[derive(Debug)]
pub struct Adversary {
    rng: Rng,
    habits: FxHashMap<(Thread, u32), Habit>,
}

impl Adversary {
    pub fn new(seed: u64) -> Adversary {
        Adversary {
            // Not the strategy's own numbers.
            rng: Rng::new(seed ^ 0x0061_6476_6572_7361),
            habits: FxHashMap::default(),
        }
    }

    /// One of so many candidates, the newest being 0.
    pub fn pick(&mut self, thread: Thread, site: u32, candidates: usize) -> usize {
        if candidates < 2 {
            return 0;
        }
        let rng = &mut self.rng;
        let habit = self.habits.entry((thread, site)).or_insert_with(|| {
            let habits = [Habit::Newest, Habit::Oldest, Habit::Oldest, Habit::Any];
            habits[rng.index(habits.len())]
        });
        match habit {
            Habit::Newest => 0,
            Habit::Oldest => candidates - 1,
            Habit::Any => rng.index(candidates),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_names_the_answers_and_every_habit_comes_up() {
        let answers = |seed| {
            let mut adversary = Adversary::new(seed);
            (0..20).map(|_| adversary.pick(1, 7, 3)).collect::<Vec<_>>()
        };
        let all: Vec<Vec<usize>> = (0..200).map(answers).collect();
        assert_eq!(all[3], answers(3));
        let constant = |n: usize| all.iter().filter(|a| a.iter().all(|x| *x == n)).count();
        assert!(constant(0) > 20 && constant(2) > 50);
        assert!(all.iter().any(|a| a.contains(&0) && a.contains(&2)));
        assert_eq!(Adversary::new(1).pick(0, 0, 1), 0);
    }
}
