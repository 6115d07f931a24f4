//! What runs under a budget watched: so that nobody takes "no race found" for more than it is.
//!
//! Accesses at rest are not counted, but estimated: in the short whiles in which they are counted
//! there are so many in a second of processor time, and the time at rest is known.

use protocol::summary;
pub use protocol::summary::SampledClass;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Of all runs together. Processor time is that of whole processes, in microseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Sampling {
    /// What watching was allowed to cost, in percent of the processor time without.
    pub budget_percent: f64,
    /// What it did cost at most: processor time of periods in which probes did not rest, in percent of
    /// the rest. What probes cost at rest is not in it.
    pub cost_percent: Option<f64>,
    /// Share of the program's accesses (to a range of elements: one) that were recorded and checked: the first access of a race
    /// must be one of these. Estimated; null if it cannot be.
    pub sampled_share: Option<f64>,
    /// Share of those that were only compared with recorded ones.
    pub compared_share: Option<f64>,
    /// Sampling periods.
    pub periods: u64,
    /// Processor time while probes rested, sampled, compared, and counted accesses.
    pub rest_us: u64,
    pub sampled_us: u64,
    pub compared_us: u64,
    pub counted_us: u64,
    /// Accesses in the last three.
    pub sampled: u64,
    pub compared: u64,
    pub counted: u64,
    /// Classes with statements that were checked, by name.
    pub classes: Vec<SampledClass>,
}

impl Sampling {
    /// Of one run.
    pub fn new(run: summary::Sampling) -> Sampling {
        let mut sampling = Sampling {
            budget_percent: f64::from(run.budget) / 100.0,
            periods: run.periods,
            rest_us: run.rest_us,
            sampled_us: run.sampled_us,
            compared_us: run.compared_us,
            counted_us: run.counted_us,
            sampled: run.sampled,
            compared: run.compared,
            counted: run.counted,
            classes: run.classes,
            ..Sampling::default()
        };
        sampling.estimate();
        sampling
    }

    /// Adds other runs. Of a class the run counts that saw most of it.
    pub fn join(&mut self, other: Sampling) {
        self.budget_percent = self.budget_percent.max(other.budget_percent);
        self.periods += other.periods;
        self.rest_us += other.rest_us;
        self.sampled_us += other.sampled_us;
        self.compared_us += other.compared_us;
        self.counted_us += other.counted_us;
        self.sampled += other.sampled;
        self.compared += other.compared;
        self.counted += other.counted;
        let mut classes: BTreeMap<String, SampledClass> = BTreeMap::new();
        for class in self.classes.drain(..).chain(other.classes) {
            let known = classes.entry(class.class.clone()).or_default();
            known.class = class.class;
            known.statements = known.statements.max(class.statements);
            known.sampled = known.sampled.max(class.sampled);
        }
        self.classes = classes.into_values().collect();
        self.estimate();
    }

    /// Adds what only one of two may have.
    pub fn join_some(known: &mut Option<Sampling>, new: Option<Sampling>) {
        match (known.as_mut(), new) {
            (Some(known), Some(new)) => known.join(new),
            (None, new) => *known = new,
            (Some(_), None) => {}
        }
    }

    fn estimate(&mut self) {
        let per_us = match (self.counted, self.counted_us) {
            (0, _) | (_, 0) => None,
            (counted, us) => Some(counted as f64 / us as f64),
        };
        let seen = (self.sampled + self.compared + self.counted) as f64;
        let all = per_us.map(|rate| seen + rate * self.rest_us as f64);
        let share = |some: u64| all.map(|all| rounded(some as f64 / all));
        (self.sampled_share, self.compared_share) = (share(self.sampled), share(self.compared));
        let cost = (self.sampled_us + self.compared_us + self.counted_us) as f64;
        let rest = self.rest_us as f64;
        self.cost_percent = (rest > 0.0).then(|| rounded(100.0 * cost / rest));
    }

    /// Nothing was watched, so nothing could be found.
    pub fn is_blind(&self) -> bool {
        self.sampled == 0
    }

    /// How many of the classes, and of their statements, were seen in a sampling period.
    pub fn seen(&self) -> [u64; 4] {
        let classes = self.classes.iter();
        let seen = classes.clone().filter(|class| class.sampled > 0).count();
        let sum = |f: fn(&SampledClass) -> u64| classes.clone().map(f).sum();
        [
            seen as u64,
            self.classes.len() as u64,
            sum(|class| class.sampled),
            sum(|class| class.statements),
        ]
    }

    /// `1.3 % of the accesses`, as far as that is known.
    pub fn watched(&self) -> String {
        match self.sampled_share {
            Some(share) => format!("{} of the accesses", percent(100.0 * share)),
            None => format!("{} accesses of an unknown number", self.sampled),
        }
    }

    /// What is to be said beside "no race found".
    pub fn warning(&self) -> String {
        match self.is_blind() {
            // As `detect` says it of other runs in which nothing was.
            true => "nothing was exercised: nothing was watched within the budget; \
                     that no race was found says nothing"
                .to_owned(),
            false => format!(
                "within the budget of {} {} were watched: what is not reported may be in the others",
                percent(self.budget_percent),
                self.watched()
            ),
        }
    }
}

/// Six digits: files are compared.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// `10 %`, `2.5 %`, `0.031 %`.
pub fn percent(value: f64) -> String {
    let digits = match value {
        value if value == value.round() || value >= 10.0 => 0,
        value if value >= 1.0 => 1,
        _ => 3,
    };
    format!("{value:.digits$} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, statements: u64, sampled: u64) -> SampledClass {
        SampledClass {
            class: name.to_owned(),
            statements,
            sampled,
        }
    }

    /// A million accesses a second at rest; sampling is ten times slower, comparing twice.
    fn run() -> Sampling {
        Sampling::new(summary::Sampling {
            budget: 1000,
            periods: 2,
            rest_us: 9_000_000,
            sampled_us: 500_000,
            compared_us: 100_000,
            counted_us: 50_000,
            sampled: 50_000,
            compared: 50_000,
            counted: 50_000,
            classes: vec![class("a.A", 4, 1), class("a.B", 2, 0)],
        })
    }

    #[test]
    fn shares_are_those_of_accesses() {
        let run = run();
        // 9.15 million in all.
        assert_eq!(run.sampled_share, Some(0.005464));
        assert_eq!(run.compared_share, Some(0.005464));
        // 0.65 s over 9 s.
        assert_eq!(run.cost_percent, Some(7.222222));
        assert_eq!(run.seen(), [1, 2, 1, 6]);
        assert_eq!(run.watched(), "0.546 % of the accesses");
        assert!(run.warning().contains("budget of 10 %"));
    }

    #[test]
    fn runs_add_up() {
        let mut both = run();
        let mut other = run();
        other.classes = vec![class("a.A", 4, 3), class("b.C", 1, 1)];
        both.join(other);
        assert_eq!(both.sampled_share, run().sampled_share);
        assert_eq!((both.periods, both.sampled), (4, 100_000));
        let names: Vec<_> = both
            .classes
            .iter()
            .map(|c| (&*c.class, c.sampled))
            .collect();
        assert_eq!(names, [("a.A", 3), ("a.B", 0), ("b.C", 1)]);
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let nothing = Sampling::new(summary::Sampling::default());
        assert!(nothing.is_blind());
        assert_eq!((nothing.sampled_share, nothing.cost_percent), (None, None));
        assert!(nothing.warning().starts_with("nothing was exercised"));
        let unknown = Sampling {
            sampled: 7,
            ..nothing
        };
        assert_eq!(unknown.watched(), "7 accesses of an unknown number");
    }
}
