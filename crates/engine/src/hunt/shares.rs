//! How the time of a hunt is divided: a stage gets its weight's part of the time that is left when
//! it begins, the weights being those of the stages that are still to come. So what a stage does
//! not use goes to all that follow, in proportion, and the last one may use all that is left.
//!
//! A stage that needs a few whole runs of the program to come to anything gets the time for
//! them, as long as there is any: where the program is slow, there are fewer trials, not none.

use std::time::Duration;

/// Of so many parts of the time one is for ending and saving, at most so long.
const PARTS: u32 = 30;
const MOST_MARGIN: Duration = Duration::from_secs(3);

/// What is kept of the time for ending what runs and saving the result.
pub fn margin(total: Duration) -> Duration {
    (total / PARTS).min(MOST_MARGIN)
}

/// What the first of the stages with these weights gets of the time that is `left`; no less
/// than it `needs`, if there is as much.
pub fn share(left: Duration, weights: &[f64], needs: Duration) -> Duration {
    let all: f64 = weights.iter().sum();
    let first = weights.first().copied().unwrap_or(0.0);
    let part = if all > 0.0 { first / all } else { 1.0 };
    left.mul_f64(part).max(needs).min(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// Stages that each use a part of their share: the time is never exceeded, and if the last
    /// one uses all it gets, none is left.
    #[test]
    fn what_one_stage_leaves_the_others_get() {
        let weights = [3.0, 4.0, 1.5, 4.0, 2.0];
        for used in [0.0, 0.1, 0.5, 1.0] {
            let mut left = 60 * SECOND;
            let mut last = Duration::ZERO;
            for at in 0..weights.len() {
                last = share(left, &weights[at..], Duration::ZERO);
                assert!(last <= left);
                let fair = (60 * SECOND).mul_f64(weights[at] / 14.5);
                assert!(last >= fair - SECOND / 100, "{at}: {last:?} of {fair:?}");
                left -= if at + 1 == weights.len() {
                    last
                } else {
                    last.mul_f64(used)
                };
            }
            assert!(left.is_zero() && !last.is_zero());
        }
    }

    #[test]
    fn a_slow_program_gets_its_few_runs() {
        let weights = [1.0, 9.0];
        assert_eq!(share(50 * SECOND, &weights, 3 * SECOND), 5 * SECOND);
        assert_eq!(share(50 * SECOND, &weights, 30 * SECOND), 30 * SECOND);
        assert_eq!(share(20 * SECOND, &weights, 30 * SECOND), 20 * SECOND);
    }

    #[test]
    fn some_of_the_time_is_for_the_end() {
        assert_eq!(margin(60 * SECOND), 2 * SECOND);
        assert_eq!(margin(3600 * SECOND), 3 * SECOND);
    }
}
