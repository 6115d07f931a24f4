//! Schedulers compared on one program: what each run found, and what follows from
//! that for each scheduler.
//!
//! A race is a location with two source lines, as in reports. A race is *new* if
//! only this scheduler found it.

use crate::result::{Hidden, Race, RunEnd};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A race as comparisons know it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Found {
    /// `Class.field` or the array's type.
    pub location: String,
    /// `File.java:12`, in order.
    pub lines: [String; 2],
}

impl Found {
    pub fn new(race: &Race) -> Found {
        use crate::finding::Location;
        let location = match &race.location {
            Location::Field { class, field, .. } => format!("{class}.{field}"),
            Location::Array { array, from, .. } => match from {
                Some(from) => format!("{array} ({from})"),
                None => array.clone(),
            },
        };
        let mut lines = race
            .accesses
            .each_ref()
            .map(|a| match (&a.at.file, a.at.line) {
                (Some(file), Some(line)) => format!("{file}:{line}"),
                _ => format!("{}.{}", a.at.class, a.at.method),
            });
        lines.sort();
        Found { location, lines }
    }
}

/// What was run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Subject {
    /// A scheduler; `alone`: the program without the tool; `phase-1`: the run that
    /// collects the relation.
    pub scheduler: String,
    /// Of drfinder, if it was varied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
}

impl Subject {
    pub fn new(scheduler: &str) -> Subject {
        Subject {
            scheduler: scheduler.to_owned(),
            depth: None,
        }
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    #[serde(flatten)]
    pub subject: Subject,
    /// Counted from 1.
    pub run: u32,
    pub seconds: f64,
    pub ended: RunEnd,
    #[serde(default)]
    pub races: Vec<Found>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Hidden>,
}

/// All runs so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    pub rows: Vec<Row>,
}

impl Comparison {
    pub fn runs_of<'a, 'b>(
        &'a self,
        subject: &'b Subject,
    ) -> impl Iterator<Item = &'a Row> + use<'a, 'b> {
        self.rows.iter().filter(move |row| row.subject == *subject)
    }

    /// Whether this run has been made.
    pub fn has(&self, subject: &Subject, run: u32) -> bool {
        self.runs_of(subject).any(|row| row.run == run)
    }

    /// Distinct races of a subject.
    pub fn races(&self, subject: &Subject) -> BTreeSet<&Found> {
        self.runs_of(subject).flat_map(|row| &row.races).collect()
    }

    /// Mean seconds of a run.
    pub fn seconds(&self, subject: &Subject) -> Option<f64> {
        let times: Vec<f64> = self.runs_of(subject).map(|row| row.seconds).collect();
        (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
    }

    /// How many distinct races there were after each run.
    pub fn cumulative(&self, subject: &Subject) -> Vec<usize> {
        let mut rows: Vec<&Row> = self.runs_of(subject).collect();
        rows.sort_by_key(|row| row.run);
        let mut seen = BTreeSet::new();
        let mut counts = Vec::new();
        for row in rows {
            seen.extend(&row.races);
            counts.push(seen.len());
        }
        counts
    }

    /// Races of some of these that none of the others found.
    pub fn new_races<'a>(&'a self, subject: &Subject, others: &[Subject]) -> BTreeSet<&'a Found> {
        let mut new = self.races(subject);
        for other in others.iter().filter(|other| *other != subject) {
            for race in self.races(other) {
                new.remove(race);
            }
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Comparison {
        let found = |n: u32| Found {
            location: format!("A.f{}", n / 2),
            lines: [format!("A.java:{n}"), "B.java:1".to_owned()],
        };
        let row = |scheduler: &str, run: u32, seconds: f64, races: &[u32]| Row {
            subject: Subject::new(scheduler),
            run,
            seconds,
            ended: RunEnd::Exit,
            races: races.iter().map(|n| found(*n)).collect(),
            hidden: (scheduler == "drfinder").then(|| Hidden {
                suspended: 8,
                thrashed: 2,
                ..Hidden::default()
            }),
        };
        Comparison {
            rows: vec![
                row("alone", 1, 0.5, &[]),
                row("native", 1, 1.0, &[1]),
                row("native", 2, 1.0, &[1]),
                row("phase-1", 1, 0.7, &[]),
                row("drfinder", 1, 1.5, &[2]),
                row("drfinder", 2, 2.5, &[1, 2, 3]),
            ],
        }
    }

    #[test]
    fn races_add_up_run_by_run() {
        let all = sample();
        let (native, drfinder) = (Subject::new("native"), Subject::new("drfinder"));
        assert_eq!(all.cumulative(&native), [1, 1]);
        assert_eq!(all.cumulative(&drfinder), [1, 3]);
        let both = [native.clone(), drfinder.clone()];
        assert_eq!(all.new_races(&drfinder, &both).len(), 2);
        assert_eq!(all.new_races(&native, &both).len(), 0);
        assert_eq!(all.seconds(&drfinder), Some(2.0));
        assert!(all.has(&native, 2) && !all.has(&native, 3));
    }

    #[test]
    fn rows_are_read_as_they_are_written() {
        for row in sample().rows {
            let text = serde_json::to_string(&row).unwrap();
            assert_eq!(serde_json::from_str::<Row>(&text).unwrap(), row);
        }
    }
}
