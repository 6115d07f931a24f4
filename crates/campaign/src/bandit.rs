//! Which arm gets the next unit: a bandit whose arms wear out.
//!
//! Discounted UCB (Garivier and Moulines, "On upper-confidence bound policies for switching bandit
//! problems", ALT 2011): an arm is worth the discounted mean of its rewards, plus a bonus that grows
//! while it is not played. Discounting matters here, because an arm that has shown all
//! it has to show stops paying. Two departures: rewards have no bound known beforehand, so means
//! are divided by the largest; and a share of all pulls (the floor) is divided evenly, whatever
//! arms pay, because what paid nothing so far may hide the one schedule that matters.
//!
//! A pull counts when it is handed out, its reward when it is known: between the two, the
//! arm is taken to have paid its mean.

/// What remains of a reward's weight after another one has come.
const DISCOUNT: f64 = 0.99;

/// How much not knowing is worth.
const BONUS: f64 = 0.35;

#[derive(Clone, Debug)]
pub struct Bandit {
    arms: Vec<Arm>,
    /// The share that is divided evenly.
    floor: f64,
    pulls: u64,
}

#[derive(Clone, Debug, Default)]
struct Arm {
    pulls: u64,
    /// Handed out, and not yet paid.
    pending: u64,
    /// Discounted number and sum of rewards.
    weight: f64,
    paid: f64,
    closed: bool,
}

impl Arm {
    fn mean(&self) -> f64 {
        match self.weight > 0.0 {
            true => self.paid / self.weight,
            false => 0.0,
        }
    }

    fn tried(&self) -> f64 {
        self.weight + self.pending as f64
    }
}

impl Bandit {
    pub fn new(floor: f64) -> Bandit {
        Bandit {
            arms: Vec::new(),
            floor: floor.clamp(0.0, 1.0),
            pulls: 0,
        }
    }

    /// Another arm; its number.
    pub fn add(&mut self) -> usize {
        self.arms.push(Arm::default());
        self.arms.len() - 1
    }

    /// This one is not played until it is opened again.
    pub fn close(&mut self, arm: usize) {
        self.arms[arm].closed = true;
    }

    pub fn open_again(&mut self, arm: usize) {
        self.arms[arm].closed = false;
    }

    pub fn pulls(&self, arm: usize) -> u64 {
        self.arms[arm].pulls
    }

    /// The arm to play, counted as handed out; none if all are closed.
    pub fn choose(&mut self) -> Option<usize> {
        let arm = self.starved().or_else(|| self.best())?;
        self.hand_out(arm);
        Some(arm)
    }

    /// A pull that somebody else decided on.
    pub fn hand_out(&mut self, arm: usize) {
        self.arms[arm].pulls += 1;
        self.arms[arm].pending += 1;
        self.pulls += 1;
    }

    /// What a pull has paid.
    pub fn pay(&mut self, arm: usize, reward: f64) {
        for each in &mut self.arms {
            each.weight *= DISCOUNT;
            each.paid *= DISCOUNT;
        }
        let arm = &mut self.arms[arm];
        arm.pending = arm.pending.saturating_sub(1);
        arm.weight += 1.0;
        arm.paid += if reward.is_finite() {
            reward.max(0.0)
        } else {
            0.0
        };
    }

    fn open(&self) -> impl Iterator<Item = (usize, &Arm)> {
        self.arms.iter().enumerate().filter(|(_, arm)| !arm.closed)
    }

    /// The arm that is furthest below its share of the floor; an arm that was never played
    /// is below any.
    fn starved(&self) -> Option<usize> {
        let share = self.floor * self.pulls as f64 / self.open().count().max(1) as f64;
        let below = self
            .open()
            .filter(|(_, arm)| arm.pulls == 0 || (arm.pulls as f64) < share);
        below
            .min_by_key(|(_, arm)| arm.pulls)
            .map(|(number, _)| number)
    }

    fn best(&self) -> Option<usize> {
        let largest = self.open().map(|(_, arm)| arm.mean()).fold(0.0, f64::max);
        let scale = if largest > 0.0 { largest } else { 1.0 };
        let all: f64 = self.open().map(|(_, arm)| arm.tried()).sum();
        let score = |arm: &Arm| {
            let tried = arm.tried().max(f64::MIN_POSITIVE);
            arm.mean() / scale + BONUS * (all.max(1.0).ln() / tried).sqrt()
        };
        let scored = self.open().map(|(number, arm)| (number, score(arm)));
        // Of equals the first.
        let better = |best: Option<(usize, f64)>, next: (usize, f64)| match best {
            Some(best) if best.1 >= next.1 => Some(best),
            _ => Some(next),
        };
        scored.fold(None, better).map(|(number, _)| number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays arms whose pay is a function of the arm and of how often it was played.
    fn play(
        arms: usize,
        rounds: u64,
        floor: f64,
        pay: impl Fn(usize, u64, &mut fastrand::Rng) -> f64,
    ) -> Vec<u64> {
        let mut bandit = Bandit::new(floor);
        let mut chance = fastrand::Rng::with_seed(7);
        for _ in 0..arms {
            bandit.add();
        }
        // As in a campaign, several are under way at a time.
        let mut under_way = std::collections::VecDeque::new();
        for _ in 0..rounds {
            under_way.push_back(bandit.choose().unwrap());
            if under_way.len() > 8 {
                let arm = under_way.pop_front().unwrap();
                let reward = pay(arm, bandit.pulls(arm), &mut chance);
                bandit.pay(arm, reward);
            }
        }
        (0..arms).map(|arm| bandit.pulls(arm)).collect()
    }

    #[test]
    fn it_comes_to_play_what_pays_most() {
        for scale in [1e-6, 1.0, 1e9] {
            // Arm 3 pays twice as much as the next, with noise.
            let pulls = play(6, 5_000, 0.1, |arm, _, chance| {
                let mean = if arm == 3 { 10.0 } else { arm as f64 };
                scale * mean * chance.f64() * 2.0
            });
            assert!(pulls[3] > 3_500, "{scale}: {pulls:?}");
        }
    }

    #[test]
    fn nobody_starves() {
        for arms in [1, 2, 7, 40] {
            let pulls = play(
                arms,
                4_000,
                0.2,
                |arm, _, _| if arm == 0 { 1.0 } else { 0.0 },
            );
            let least = (0.2 * 4_000.0 / arms as f64) as u64;
            assert!(pulls.iter().all(|n| n + 1 >= least), "{arms}: {pulls:?}");
            assert_eq!(pulls.iter().sum::<u64>(), 4_000);
        }
    }

    #[test]
    fn it_leaves_what_is_worn_out() {
        // Arm 0 pays ten times as much for 300 pulls, then nothing.
        let pulls = play(2, 3_000, 0.1, |arm, pulls, _| match arm {
            0 if pulls > 300 => 0.0,
            0 => 10.0,
            _ => 1.0,
        });
        assert!(pulls[1] > 2_000, "{pulls:?}");
    }

    #[test]
    fn it_divides_evenly_while_nobody_pays_and_skips_what_is_closed() {
        let pulls = play(4, 4_000, 0.0, |_, _, _| 0.0);
        assert!(pulls.iter().all(|n| (900..1_100).contains(n)), "{pulls:?}");
        let mut bandit = Bandit::new(1.0);
        for _ in 0..3 {
            bandit.add();
        }
        bandit.close(1);
        let chosen: Vec<usize> = (0..10).filter_map(|_| bandit.choose()).collect();
        assert!(!chosen.contains(&1) && chosen.len() == 10);
        bandit.close(0);
        bandit.close(2);
        assert_eq!(bandit.choose(), None);
        bandit.open_again(1);
        assert_eq!(bandit.choose(), Some(1));
    }

    #[test]
    fn rewards_that_are_no_numbers_do_no_harm() {
        let mut bandit = Bandit::new(0.1);
        for _ in 0..2 {
            bandit.add();
        }
        for reward in [f64::NAN, f64::INFINITY, -1.0, 2.0] {
            let arm = bandit.choose().unwrap();
            bandit.pay(arm, reward);
        }
        assert!(bandit.choose().is_some());
    }
}
