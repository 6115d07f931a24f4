//! Random programs under random schedules: the detectors against their twins
//! and against the transitive closure of happens-before.

use detect::fasttrack::Options;
use detect::h_sets::HSets;
use detect::sampled::{Phase, Sampled};
use detect::{Detector, FastTrack, FindingKey, H, Hybrid, Vectors};
use litmus::closure::{Closure, access};
use litmus::random::{Shape, programs, schedules};
use litmus::{Execution, Program, run};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use std::collections::BTreeSet;
use trace::{Event, Loc, Op, SiteId, ThreadId};

fn execute(program: &Program, schedule: &[usize]) -> Execution {
    let mut picks = schedule.iter().cycle();
    run(program, |_| *picks.next().unwrap())
}

fn fold<D: Detector>(mut detector: D, events: &[Event]) -> D {
    detector.events(events);
    detector
}

/// For every variable with findings, the first event that made one.
fn first_races(detector: &impl Detector) -> Vec<(Loc, usize)> {
    let mut all: Vec<(Loc, usize)> = detector
        .findings()
        .iter()
        .map(|f| (f.loc, f.event as usize))
        .collect();
    all.sort_unstable();
    all.dedup_by_key(|(loc, _)| *loc);
    all
}

const MIXED: Shape = Shape {
    threads: 3,
    length: 10,
    vars: 3,
    locks: 2,
    mixed: true,
    init: false,
    blocking: true,
    branchy: false,
};
const INIT: Shape = Shape {
    init: true,
    ..MIXED
};
/// Many short threads, to pass their places on.
const MANY: Shape = Shape {
    threads: 6,
    length: 5,
    ..MIXED
};

/// Every finding is a pair of conflicting accesses that nothing orders.
fn check_findings(detector: &impl Detector, closure: &Closure) -> Result<(), TestCaseError> {
    for f in detector.findings() {
        let j = f.event as usize;
        let second = &closure.events[j];
        prop_assert_eq!(
            (second.thread, second.site),
            (f.second.thread, f.second.site)
        );
        let (loc, write, _) = access(second).unwrap();
        prop_assert_eq!((loc, write), (f.loc, f.second.write));
        let real = closure.conflicts(j).any(|i| {
            let first = &closure.events[i];
            let (_, write, _) = access(first).unwrap();
            (first.thread, first.site, write) == (f.first.thread, f.first.site, f.first.write)
        });
        prop_assert!(real, "{:?}", f);
    }
    Ok(())
}

/// Which of the events are preceded by a turn, and to what.
fn turns() -> impl Strategy<Value = Vec<Option<Phase>>> {
    let turn = prop_oneof![
        6 => Just(None),
        1 => Just(Some(Phase::Rest)),
        2 => Just(Some(Phase::Sample)),
        2 => Just(Some(Phase::Compare)),
    ];
    prop::collection::vec(turn, 1..40)
}

/// The detector, and in which era (from 1) and phase each event was.
fn sampled(
    events: &[Event],
    turns: &[Option<Phase>],
    looks: Option<&[bool]>,
) -> (Sampled, Vec<(usize, Phase)>) {
    let mut detector = Sampled::new(looks.is_some());
    let mut looks = looks.unwrap_or(&[true]).iter().cycle();
    let (mut era, mut phase, mut periods) = (0, Phase::Rest, vec![]);
    for (e, turn) in events.iter().zip(turns.iter().cycle()) {
        if let Some(to) = *turn {
            detector.turn(to);
            era += usize::from(to == Phase::Sample);
            if (phase, to) != (Phase::Rest, Phase::Compare) {
                phase = to;
            }
        }
        if *looks.next().unwrap() {
            detector.look(e.thread);
        }
        periods.push((era, phase));
        detector.event(e);
    }
    (detector, periods)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn fasttrack_is_full_vectors_is_the_closure(
        program in programs(MIXED),
        schedule in schedules(),
    ) {
        let events = execute(&program, &schedule).events;
        let closure = Closure::new(&events, false);
        let fast = fold(FastTrack::default(), &events);
        let full = fold(Vectors::default(), &events);
        prop_assert_eq!(first_races(&full), closure.first_races());
        prop_assert_eq!(first_races(&fast), closure.first_races());
        check_findings(&fast, &closure)?;
        check_findings(&full, &closure)?;
    }

    #[test]
    fn plain_races_do_not_depend_on_mixed_ones(
        program in programs(MIXED),
        schedule in schedules(),
    ) {
        let events = execute(&program, &schedule).events;
        let options = Options { mixed: false, ..Options::default() };
        let fast = fold(FastTrack::new(options), &events);
        let closure = Closure::new(&events, false);
        check_findings(&fast, &closure)?;
        let plain = |i: &usize| !access(&events[*i]).unwrap().2;
        let mut want: Vec<(Loc, usize)> = closure
            .races()
            .into_iter()
            .filter(|(i, j)| plain(i) && plain(j))
            .map(|(_, j)| (access(&events[j]).unwrap().0, j))
            .collect();
        want.sort_unstable();
        want.dedup_by_key(|(loc, _)| *loc);
        prop_assert_eq!(first_races(&fast), want);
    }

    #[test]
    fn sampling_makes_no_race_up(
        program in prop_oneof![programs(MIXED), programs(MANY), programs(INIT)],
        schedule in schedules(),
        turns in turns(),
        looks in prop::option::of(prop::collection::vec(any::<bool>(), 1..20)),
    ) {
        let events = execute(&program, &schedule).events;
        let (found, _) = sampled(&events, &turns, looks.as_deref());
        check_findings(&found, &Closure::new(&events, false))?;
    }

    /// What FastTrack reports, if the first access was sampled and the second came in the same era.
    #[test]
    fn races_of_sampled_accesses_are_found(
        program in prop_oneof![programs(MIXED), programs(MANY)],
        schedule in schedules(),
        turns in turns(),
    ) {
        let events = execute(&program, &schedule).events;
        let options = Options { mixed: false, ..Options::default() };
        let full = fold(FastTrack::new(options), &events);
        let (found, periods) = sampled(&events, &turns, None);
        for f in full.findings() {
            let j = f.event as usize;
            let is_first = |i: &usize| {
                let e = &events[*i];
                let access = e.op.access();
                (e.thread, e.site, access) == (f.first.thread, f.first.site, Some((f.loc, f.first.write)))
            };
            let Some(i) = (0..j).rev().find(is_first) else { continue };
            let (era, phase) = periods[i];
            if phase != Phase::Sample || periods[j].0 != era || periods[j].1 == Phase::Rest {
                continue;
            }
            // Both are of one era only if it did not end in between.
            if periods[i..=j].iter().any(|(_, phase)| *phase == Phase::Rest) {
                continue;
            }
            let mut races = found.findings().iter();
            prop_assert!(races.any(|s| (s.loc, s.second) == (f.loc, f.second)), "{:?}", f);
        }
    }

    #[test]
    fn always_sampling_is_fasttrack(program in programs(MIXED), schedule in schedules()) {
        let events = execute(&program, &schedule).events;
        let mut always = Sampled::new(false);
        always.turn(Phase::Sample);
        always.events(&events);
        let options = Options { mixed: false, ..Options::default() };
        let full = fold(FastTrack::new(options), &events);
        prop_assert_eq!(first_races(&always), first_races(&full));
    }

    #[test]
    fn reusing_threads_places_changes_nothing(
        program in programs(MANY),
        schedule in schedules(),
    ) {
        let events = execute(&program, &schedule).events;
        let reused = fold(FastTrack::default(), &events);
        let options = Options { reuse_threads: false, ..Options::default() };
        let own = fold(FastTrack::new(options), &events);
        let places = |d: &FastTrack| d.clocks().threads.width();
        prop_assert!(places(&reused) <= places(&own));
        let found = |d: &FastTrack| {
            let mut all: Vec<_> = d.findings().iter().copied().map(|f| (f.key(), f)).collect();
            all.sort_unstable_by_key(|(key, f)| (*key, f.event));
            all
        };
        prop_assert_eq!(found(&reused), found(&own));
    }

    #[test]
    fn h_by_clocks_is_h_by_sets(program in programs(MANY), schedule in schedules()) {
        let events = execute(&program, &schedule).events;
        let (mut clocks, mut sets) = (H::default(), HSets::default());
        let locs: BTreeSet<Loc> = events.iter().filter_map(access).map(|(loc, ..)| loc).collect();
        let mut running: BTreeSet<ThreadId> = BTreeSet::new();
        for e in &events {
            match e.op {
                Op::Begin => _ = running.insert(e.thread),
                Op::End => _ = running.remove(&e.thread),
                _ => {}
            }
            clocks.event(e);
            sets.event(e);
            for thread in &running {
                for loc in &locs {
                    let (a, b) = (clocks.holds(*thread, *loc), sets.holds(*thread, *loc));
                    prop_assert_eq!(a, b, "{:?} {:?} after {:?}", thread, loc, e);
                }
            }
        }
        let seen: BTreeSet<u64> = clocks.findings().iter().map(|f| f.event).collect();
        let raced: BTreeSet<u64> = sets.races().iter().copied().collect();
        prop_assert!(seen.is_subset(&raced));
        prop_assert_eq!(seen.is_empty(), raced.is_empty());
        check_findings(&clocks, &Closure::new(&events, false))?;
    }

    #[test]
    fn hybrid_contains_every_happens_before_race(
        program in programs(MANY),
        schedule in schedules(),
    ) {
        let events = execute(&program, &schedule).events;
        let hybrid = fold(Hybrid::default(), &events);
        prop_assert_eq!(hybrid.dropped(), 0);
        let found: BTreeSet<FindingKey> = hybrid.findings().iter().map(|f| f.key()).collect();
        for (i, j) in Closure::new(&events, false).races() {
            let (a, b) = (events[i].site, events[j].site);
            let key = FindingKey {
                sites: (a.min(b), a.max(b)),
                slot: access(&events[j]).unwrap().0.slot,
            };
            prop_assert!(found.contains(&key), "{:?} and {:?}", events[i], events[j]);
        }
    }

    /// With few statements, each under several locksets.
    #[test]
    fn hybrid_is_its_definition(
        program in programs(MANY),
        schedule in schedules(),
        statements in 1u32..8,
    ) {
        let mut events = execute(&program, &schedule).events;
        events.iter_mut().for_each(|e| e.site = SiteId(e.site.0 % statements));
        let key = |i: usize, j: usize| {
            let (a, b) = (events[i].site, events[j].site);
            FindingKey {
                sites: (a.min(b), a.max(b)),
                slot: access(&events[j]).unwrap().0.slot,
            }
        };
        let hybrid = fold(Hybrid::default(), &events);
        let found: BTreeSet<FindingKey> = hybrid.findings().iter().map(|f| f.key()).collect();
        let closure = Closure::without_locks(&events);
        let pairs = closure.races().into_iter().filter(|(i, j)| !closure.excluded(*i, *j));
        let want: BTreeSet<FindingKey> = pairs.map(|(i, j)| key(i, j)).collect();
        prop_assert_eq!(found, want);
    }

    /// Compare-and-sets that are told of before their outcome is known, which
    /// comes when others have gone on: some succeed, some have only read. Every
    /// finding is one by definition, of the run as it was; with all outcomes
    /// told at once and all successful, nothing is missed.
    #[test]
    fn attempts_are_held_against_nobody_unless_they_succeed(
        program in programs(MANY),
        schedule in schedules(),
        outcomes in prop::collection::vec((any::<bool>(), 0usize..4), 1..8),
        exact in any::<bool>(),
    ) {
        let events = execute(&program, &schedule).events;
        let mut outcomes = outcomes.into_iter().cycle();
        let mut hybrid = Hybrid::default();
        // What happened, and attempts whose outcome is still to come.
        let mut truth: Vec<Event> = Vec::new();
        let mut open: Vec<(Event, bool, usize)> = Vec::new();
        for e in events.iter().map(Some).chain([None]) {
            for (attempt, succeeds, left) in std::mem::take(&mut open) {
                if left > 0 && e.is_some_and(|e| e.thread != attempt.thread) {
                    open.push((attempt, succeeds, left - 1));
                } else if succeeds {
                    hybrid.succeeded(&attempt);
                } else if let Op::AtomicUpdate(loc, mode) = attempt.op {
                    let read = Event { op: Op::AtomicRead(loc, mode), ..attempt };
                    hybrid.event(&read);
                    truth.push(read);
                }
            }
            let Some(e) = e else { break };
            if let Op::AtomicUpdate(..) = e.op {
                let (succeeds, left) = outcomes.next().unwrap();
                let (succeeds, left) = if exact { (true, 0) } else { (succeeds, left) };
                hybrid.attempt(e);
                open.push((*e, succeeds, left));
                if succeeds {
                    truth.push(*e);
                }
            } else {
                hybrid.event(e);
                truth.push(*e);
            }
        }
        let keys = |d: &Hybrid| d.findings().iter().map(|f| f.key()).collect::<BTreeSet<_>>();
        let want = keys(&fold(Hybrid::default(), &truth));
        let found = keys(&hybrid);
        prop_assert!(found.is_subset(&want), "{:?} and not {:?}", found, want);
        if exact {
            prop_assert_eq!(found, want);
        }
    }

    /// Static initialisers: nothing that happens-before orders is reported,
    /// nothing inside an ended one either, and what no initialiser can excuse
    /// is.
    #[test]
    fn class_initialisation_excuses_what_it_should(
        program in programs(INIT),
        schedule in schedules(),
    ) {
        let events = execute(&program, &schedule).events;
        let without = Closure::new(&events, false);
        let most = Closure::new(&events, true);
        for fast in [first_of(fold(FastTrack::default(), &events), &without)?,
                     first_of(fold(Vectors::default(), &events), &without)?] {
            if let Some((_, j)) = most.races().first() {
                prop_assert!(fast.is_some_and(|f| f <= *j));
            }
        }
    }
}

/// Checks all findings; the event of the first one.
fn first_of(detector: impl Detector, without: &Closure) -> Result<Option<usize>, TestCaseError> {
    check_findings(&detector, without)?;
    for f in detector.findings() {
        let j = f.event as usize;
        let inexcusable = without.conflicts(j).any(|i| {
            without.events[i].site == f.first.site && without.excuse(i).is_none_or(|end| end > j)
        });
        prop_assert!(inexcusable, "{:?}", f);
    }
    Ok(detector.findings().iter().map(|f| f.event as usize).min())
}

/// The random programs must be worth trying: enough with races, enough
/// without, and long enough.
#[test]
fn random_programs_are_of_both_kinds() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut racy, mut events, mut shared) = (0, 0, 0);
    let cases = 500;
    for _ in 0..cases {
        let case = (programs(MIXED), schedules())
            .new_tree(&mut runner)
            .unwrap();
        let (program, schedule) = case.current();
        let run = execute(&program, &schedule);
        let fast = fold(FastTrack::default(), &run.events);
        racy += usize::from(!fast.findings().is_empty());
        events += run.events.len();
        let site = |e: &Event| (e.site != SiteId(0)).then_some(e.thread);
        shared += usize::from(
            run.events
                .iter()
                .filter_map(site)
                .collect::<BTreeSet<_>>()
                .len()
                > 1,
        );
    }
    println!(
        "{racy} racy, {} events each, {shared} with several threads",
        events / cases
    );
    assert!(
        (cases / 5..cases * 4 / 5).contains(&racy),
        "{racy} of {cases} racy"
    );
    assert!(events / cases > 15);
    assert!(shared > cases * 3 / 4);
}
