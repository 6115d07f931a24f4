//! A report added to a report: the same as if all runs had been one report.

use findings::confirmed::{Effect, Outcome, Trials};
use findings::finding::{Findings, Race as Found};
use findings::merge::Merge;
use findings::result::{Program, Report, Run, Status};
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
        let key = format!("{} {lines:?}", findings::suppress::name(&race.location));
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
        met: None,
    });
    race.outcomes.push(Outcome {
        first: 1,
        orders: Vec::new(),
        result: Effect::Exception,
        detail: String::new(),
        stack: Vec::new(),
        caught: false,
        failure_signs: Vec::new(),
        trials: 3,
        memory: Vec::new(),
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
