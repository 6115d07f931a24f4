//! One report out of two about the same program: what a later command found is
//! added to what is known.
//!
//! Races are the same by the rule of [`crate::merge`]. Ids of the earlier
//! report stay as they are, because schedules are kept under them; what is new
//! is numbered on. Of trials the later ones count: a later attempt knew
//! what was there.

use crate::confirmed::Harm;
use crate::finding::{Frame, is_jdks};
use crate::merge::{Key, statement};
use crate::result::{Race, Report};

impl Report {
    /// Adds a report; its runs come after those that are known.
    pub fn absorb(&mut self, later: Report) {
        let before = self.runs.len() as u64;
        // A report of a single run leaves the number out.
        let run = |first: u64| first.max(1) + before;
        for mut race in later.races {
            let key = Key::of(&race.location, lines(&race));
            let known = { self.races.iter_mut() }
                .find(|known| Key::of(&known.location, lines(known)) == key);
            match known {
                Some(known) => {
                    race.first_run = run(race.first_run);
                    add(known, race);
                }
                None => {
                    race.first_run = run(race.first_run);
                    race.id = next_id(self.races.iter().map(|race| race.id.as_str()), 'R');
                    self.races.push(race);
                }
            }
        }
        for mut new in later.deadlocks {
            match self.deadlocks.iter_mut().find(|known| known.same(&new)) {
                Some(known) => known.runs += new.runs,
                None => {
                    new.first_run = run(new.first_run);
                    new.id = next_id(self.deadlocks.iter().map(|d| d.id.as_str()), 'D');
                    self.deadlocks.push(new);
                }
            }
        }
        for mut new in later.failures {
            match self.failures.iter_mut().find(|known| known.same(&new)) {
                Some(known) => known.runs += new.runs,
                None => {
                    new.first_run = run(new.first_run);
                    new.id = next_id(self.failures.iter().map(|f| f.id.as_str()), 'F');
                    self.failures.push(new);
                }
            }
        }
        self.runs.extend(later.runs);
        let (known, new) = (&mut self.coverage, later.coverage);
        known.classes_instrumented = known.classes_instrumented.max(new.classes_instrumented);
        known.threads = known.threads.max(new.threads);
        if let Some(events) = new.events {
            known.events = Some(known.events.unwrap_or(0).saturating_add(events));
        }
        add_new(&mut known.classes_skipped, new.classes_skipped);
        add_new(&mut known.missing_models, new.missing_models);
        add_new(&mut self.warnings, later.warnings);
        self.timing.native_s = self.timing.native_s.or(later.timing.native_s);
        self.timing.total_s += later.timing.total_s;
        for (name, value) in later.other {
            self.other.entry(name).or_insert(value);
        }
        self.rank();
    }

    /// The same race in this report, whatever its id.
    pub fn find(&self, race: &Race) -> Option<&Race> {
        let key = Key::of(&race.location, lines(race));
        let same = |known: &&Race| Key::of(&known.location, lines(known)) == key;
        self.races.iter().find(same)
    }

    /// Strongest first, then what did harm, then the program's own before the
    /// JDK's; of equals the first found.
    pub fn rank(&mut self) {
        let number = |race: &Race| race.id.get(1..).and_then(|n| n.parse::<u64>().ok());
        self.races.sort_by_key(|race| {
            let harmless = race.harm != Some(Harm::Harmful);
            let inside = is_jdks(&race.location);
            (
                std::cmp::Reverse(race.status),
                harmless,
                inside,
                number(race),
            )
        });
    }
}

fn lines(race: &Race) -> [&Frame; 2] {
    race.accesses.each_ref().map(|access| &access.at)
}

/// The id after those in use.
fn next_id<'a>(ids: impl Iterator<Item = &'a str>, letter: char) -> String {
    let numbers = ids.filter_map(|id| id.strip_prefix(letter)?.parse::<u64>().ok());
    format!("{letter}{}", numbers.max().unwrap_or(0) + 1)
}

fn add_new<T: PartialEq>(known: &mut Vec<T>, new: Vec<T>) {
    for item in new {
        if !known.contains(&item) {
            known.push(item);
        }
    }
}

fn add(known: &mut Race, new: Race) {
    let mut statements = std::mem::take(&mut known.statements);
    let shown = lines(known).into_iter().chain(lines(&new));
    for frame in shown.chain(&new.statements) {
        let seen = |k: &Frame| statement(k) == statement(frame);
        if frame.bci.is_some() && !statements.iter().any(seen) {
            statements.push(frame.clone());
        }
    }
    known.first_run = known.first_run.max(1);
    if new.status > known.status {
        // The run that shows what is claimed.
        (known.status, known.first_run) = (new.status, new.first_run);
    }
    known.count = known.count.saturating_add(new.count);
    known.runs += new.runs;
    // What came of trials says which of the two accesses went first.
    let bare = |race: &Race| race.accesses.iter().filter(|a| a.stack.is_empty()).count();
    let longer = known.trials.is_none() && bare(known) > bare(&new);
    if longer || new.trials.is_some() {
        known.accesses = new.accesses;
        known.location = new.location;
        known.allocated = new.allocated;
    }
    if new.trials.is_some() {
        known.trials = new.trials;
        known.outcomes = new.outcomes;
        known.harm = new.harm;
    }
    add_new(&mut known.found_by, new.found_by);
    known.found_by.sort();
    if new.replay.is_some() {
        known.replay = new.replay;
    }
    for (name, value) in new.other {
        known.other.entry(name).or_insert(value);
    }
    statements.sort_by_key(statement);
    let shown = lines(known).map(Frame::clone);
    if !statements.iter().all(|frame| shown.contains(frame)) {
        known.statements = statements;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confirmed::{Effect, Outcome, Trials};
    use crate::finding::{Findings, Race as Found};
    use crate::merge::Merge;
    use crate::result::{Program, Run, Status};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// A race on one of three fields, at two of four lines.
    fn found(field: u8, lines: [u32; 2], detector: &str) -> Found {
        let access = |line: u32| {
            format!(
                r#"{{"op":"write","thread":{{"id":1,"name":"t"}},"frame":{{"class":"A",
                   "method":"m","file":"A.java","line":{line},"bci":{line}}}}}"#
            )
        };
        let text = format!(
            r#"{{"detector":"{detector}","location":{{"class":"A","field":"f{field}"}},
               "accesses":[{},{}],"count":1}}"#,
            access(lines[0]),
            access(lines[1])
        );
        serde_json::from_str(&text).unwrap()
    }

    fn report(runs: &[Vec<Found>]) -> Report {
        let mut merge = Merge::new();
        for races in runs {
            let findings = Findings {
                races: races.clone(),
                ..Findings::default()
            };
            merge.add(findings, Run::default());
        }
        merge.finish("t".into(), "detect", Program::default(), 1.0)
    }

    /// What is said of each race, without ids.
    fn said(report: &Report) -> BTreeMap<String, (Status, Vec<String>, u64, u64)> {
        let mut all = BTreeMap::new();
        for race in &report.races {
            let mut lines: Vec<_> = race.accesses.iter().map(|a| a.at.line).collect();
            lines.sort();
            let key = format!("{} {lines:?}", crate::suppress::name(&race.location));
            let value = (race.status, race.found_by.clone(), race.count, race.runs);
            assert!(all.insert(key, value).is_none(), "listed twice");
        }
        all
    }

    fn race() -> impl Strategy<Value = Found> {
        let detector = prop_oneof![Just("fasttrack"), Just("hybrid")];
        (0u8..3, 1u32..4, 1u32..4, detector).prop_map(|(f, a, b, d)| found(f, [a, b], d))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1500))]
        /// One after the other is as all at once.
        #[test]
        fn two_reports_made_one_say_what_one_would_have_said(
            runs in prop::collection::vec(prop::collection::vec(race(), 0..4), 0..6),
            at in 0usize..6,
        ) {
            let (first, later) = runs.split_at(at.min(runs.len()));
            let mut one = report(first);
            let before: BTreeMap<_, _> =
                one.races.iter().map(|r| (r.id.clone(), r.fingerprint.clone())).collect();
            one.absorb(report(later));
            prop_assert_eq!(said(&one), said(&report(&runs)));
            prop_assert_eq!(one.runs.len(), runs.len());
            for race in &one.races {
                if let Some(print) = before.get(&race.id) {
                    prop_assert_eq!(print, &race.fingerprint, "an id was given away");
                }
            }
            let mut ids: Vec<_> = one.races.iter().map(|race| &race.id).collect();
            ids.sort();
            ids.dedup();
            prop_assert_eq!(ids.len(), one.races.len());
        }
    }

    #[test]
    fn what_came_of_trials_keeps_its_accesses() {
        let mut known = report(&[vec![found(0, [1, 2], "hybrid")]]);
        let race = &mut known.races[0];
        race.trials = Some(Trials {
            run: 3,
            hit: 3,
            of: None,
        });
        race.outcomes.push(Outcome {
            first: 1,
            result: Effect::Exception,
            detail: String::new(),
            stack: Vec::new(),
            trials: 3,
            replay: None,
        });
        let mut turned = found(0, [2, 1], "fasttrack");
        for access in &mut turned.accesses {
            access.stack.push(access.frame.clone());
        }
        known.absorb(report(&[vec![turned]]));
        let [race] = &known.races[..] else { panic!() };
        assert_eq!(race.accesses[1].at.line, Some(2), "the outcome is about it");
        assert_eq!(race.status, Status::Observed);
        assert_eq!(race.first_run, 2, "the run that showed it");
        assert_eq!(race.outcomes.len(), 1);
    }
}
