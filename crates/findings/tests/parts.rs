//! Reports put together: in any order and any grouping the same report, and what a dumb
//! account of all parts says.

use findings::parts::merge;
use findings::result::{Report, Status};
use findings::shard::{Parts, Shard};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Random parts: enough for every rule of the merger to meet every other.
const CASES: u64 = 3000;

fn frame(line: u64) -> Value {
    json!({ "class": "A", "method": "m", "file": "A.java", "line": line, "bci": line })
}

fn access(random: &mut fastrand::Rng, line: u64) -> Value {
    let mut access = frame(line);
    access["op"] = if line == 1 { "read" } else { "write" }.into();
    access["thread"] = format!("t{}", random.u8(..3)).into();
    if random.bool() {
        access["stack"] = json!([frame(line), frame(9)]);
    }
    access
}

fn replay(random: &mut fastrand::Rng) -> Value {
    let seed = random.u64(..5);
    json!({ "seed": seed, "command": format!("photofinish replay R{seed}") })
}

fn race(random: &mut fastrand::Rng, id: usize, field: u64, lines: [u64; 2], runs: usize) -> Value {
    let status = ["potential", "predicted", "observed", "confirmed"];
    let found_by = ["hybrid", "fasttrack", "verify"];
    let lines = if random.bool() {
        lines
    } else {
        [lines[1], lines[0]]
    };
    let mut race = json!({
        "id": format!("R{id}"), "fingerprint": "0".repeat(64),
        "location": { "class": "A", "field": format!("f{field}") },
        "status": status[random.usize(..4)], "found_by": [found_by[random.usize(..3)]],
        "accesses": [access(random, lines[0]), access(random, lines[1])],
        "count": random.u64(..9), "runs": random.u64(..4),
        "first_run": if runs > 1 { random.u64(1..=runs as u64) } else { 0 },
    });
    if random.bool() {
        let hit = random.u64(..5);
        race["trials"] = json!({ "run": 5, "hit": hit });
        if random.bool() {
            race["trials"]["of"] = json!(10);
        }
        let results = ["ok", "exception", "output-differs"];
        let outcome = |random: &mut fastrand::Rng| {
            let result = results[random.usize(..3)];
            let replay = replay(random);
            json!({ "first": random.u8(..2), "result": result, "trials": 1, "replay": replay })
        };
        race["outcomes"] = (0..hit).map(|_| outcome(random)).collect();
        race["harm"] =
            ["harmful", "changes-output", "harmless", "unknown"][random.usize(..4)].into();
        race["replay"] = replay(random);
    }
    if random.u8(..4) == 0 {
        let validated = ["removes-race", "still-races", "not-tried"][random.usize(..3)];
        let suggestion = json!({ "kind": "volatile", "target": format!("A.f{field}"),
            "removes": [format!("R{id}"), "R1"], "validated": validated });
        race["advice"] = json!([suggestion]);
    }
    race
}

fn part(random: &mut fastrand::Rng, number: u64) -> Report {
    let runs: Vec<Value> = (0..random.u64(..4))
        .map(|run| {
            // No two runs are equal to the last digit.
            json!({ "exit": 0, "ended": "exit", "races": 0, "seed": random.u64(..6),
                "seconds": (number * 10 + run) as f64 })
        })
        .collect();
    let mut keys = BTreeSet::new();
    for _ in 0..random.u8(..5) {
        let mut lines = [random.u64(1..4), random.u64(1..4)];
        lines.sort_unstable();
        keys.insert((random.u64(..3), lines));
    }
    let races: Vec<Value> = { keys.into_iter().enumerate() }
        .map(|(at, (field, lines))| race(random, at + 1, field, lines, runs.len()))
        .collect();
    let first = |random: &mut fastrand::Rng| match runs.len() {
        0 | 1 => 0,
        many => random.u64(1..=many as u64),
    };
    let deadlock = |random: &mut fastrand::Rng| {
        let line = random.u64(..2);
        json!({ "id": "D1", "kind": "deadlock", "cycle": true, "runs": random.u64(1..4),
            "threads": [{ "thread": "t", "waits_for": format!("m{}", random.u8(..2)),
                "stack": [frame(line)] }],
            "first_run": first(random), "replay": replay(random) })
    };
    let failure = |random: &mut fastrand::Rng| {
        json!({ "id": "F1", "thread": format!("t{}", random.u8(..2)), "runs": random.u64(1..4),
            "exception": format!("E{}", random.u8(..2)), "stack": [frame(7)],
            "first_run": first(random), "replay": replay(random) })
    };
    let digests = |random: &mut fastrand::Rng, most: u64| {
        let all: findings::digests::Digests =
            (0..random.u64(..4)).map(|_| random.u64(..most)).collect();
        all
    };
    let deadlocks: Vec<Value> = (0..random.u8(..2)).map(|_| deadlock(random)).collect();
    let failures: Vec<Value> = (0..random.u8(..2)).map(|_| failure(random)).collect();
    let command = if random.u8(..5) == 0 {
        "hunt"
    } else {
        "verify"
    };
    let mut text = json!({
        "schema": 1, "tool": "photofinish 0.1.0", "command": command,
        "program": { "args": ["Main"], "exit": random.u8(..2) },
        "runs": runs, "races": [], "deadlocks": deadlocks, "failures": failures,
        "coverage": { "classes_instrumented": random.u8(..3), "threads": random.u8(..4),
            "events": random.u8(..9), "missing_models": [format!("x{}", random.u8(..3))] },
        "limit_reached": random.u8(..4) == 0,
        "warnings": [format!("w{}", random.u8(..4)), "nothing was exercised: one thread"],
        "timing": { "total_s": random.u8(..9) },
    });
    text["not_exercised"] = json!(random.bool());
    let classes = digests(random, 9);
    let shard = Shard::new(random.u32(1..=3), 3).unwrap();
    if random.u8(..3) > 0 {
        let done = random.u8(..5) > 0;
        let limited = !done && random.bool();
        text["exploration"] = json!({ "complete": false, "part_complete": done,
            "executions": classes.len() + 1, "classes": classes.len(), "class_digests": classes,
            "points": if random.u8(..9) == 0 { json!(["p"]) } else { json!([]) },
            "limited": limited, "rounds": random.u8(1..4), "max_depth": random.u8(..9),
            "not_complete": if done { json!([]) } else { json!([format!("r{limited}")]) } });
        let work = format!("w{}", random.u8(..5) / 4);
        text["shards"] = serde_json::to_value(Parts::of_shard(shard, work)).unwrap();
    } else if random.bool() {
        text["exploration"] = json!({ "complete": true, "executions": 3, "classes": 0 });
    }
    let orders = digests(random, 9);
    text["schedules"] = json!({ "tried": orders.len() + 2, "different": orders.len(),
        "orders": orders, "since_new": random.u8(..4), "saturated": random.bool() });
    let pairs = digests(random, 5);
    let engine = ["hb", "wcp"][random.usize(..2)];
    text["engines"] = json!([{ "engine": engine, "pairs": pairs.len(), "observed": 0,
        "predicted": pairs.len(), "potential": 0, "alone": 0, "complete": random.bool(),
        "seconds": 1.0, "pair_digests": pairs }]);
    let mut report = Report::from_json(text.to_string().as_bytes()).unwrap();
    // Past the grouping of findings, which has tests of its own.
    report.races = races
        .into_iter()
        .map(|r| serde_json::from_value(r).unwrap())
        .collect();
    for race in &mut report.races {
        race.fingerprint = findings::fingerprint::fingerprint(race);
    }
    report
}

fn parts(seed: u64) -> Vec<Report> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..random.u64(1..6))
        .map(|number| part(&mut random, number))
        .collect()
}

fn print(report: &Report) -> String {
    serde_json::to_string_pretty(report).unwrap()
}

#[test]
fn neither_order_nor_grouping_matters() {
    for seed in 0..CASES {
        let mut random = fastrand::Rng::with_seed(seed ^ 0x5eed);
        let parts = parts(seed);
        let at_once = merge(parts.clone()).unwrap();
        let mut left = parts;
        random.shuffle(&mut left);
        while left.len() > 1 {
            let many = random.usize(2..=left.len());
            let some: Vec<Report> = left.drain(..many).collect();
            left.push(merge(some).unwrap());
            random.shuffle(&mut left);
        }
        // A report alone becomes one that was put together, too.
        let one_by_one = merge(left).unwrap();
        let (one, other) = (print(&at_once), print(&one_by_one));
        let differs = one.lines().zip(other.lines()).find(|(a, b)| a != b);
        assert_eq!(differs, None, "seed {seed}");
        assert_eq!(one.len(), other.len(), "seed {seed}");
    }
}

/// What is known of a race, without a word on how.
#[derive(Debug, Default, PartialEq)]
struct Account {
    status: Option<Status>,
    count: u64,
    runs: u64,
    trials: (u64, u64),
    found_by: BTreeSet<String>,
    /// Line of the access that went first, and the result: how many trials.
    outcomes: BTreeMap<(Option<u32>, String), u64>,
}

fn account(reports: &[Report]) -> BTreeMap<(String, Vec<Option<u32>>), Account> {
    let mut all: BTreeMap<_, Account> = BTreeMap::new();
    for race in reports.iter().flat_map(|report| &report.races) {
        let mut lines: Vec<_> = race.accesses.iter().map(|a| a.at.line).collect();
        lines.sort();
        let key = (findings::suppress::name(&race.location), lines);
        let account = all.entry(key).or_default();
        account.status = account.status.max(Some(race.status));
        account.count += race.count;
        account.runs += race.runs;
        let trials = race.trials.unwrap_or_default();
        account.trials.0 += trials.run;
        account.trials.1 += trials.hit;
        account.found_by.extend(race.found_by.iter().cloned());
        for outcome in &race.outcomes {
            let line = race.accesses[outcome.first as usize].at.line;
            let key = (line, outcome.result.name().to_owned());
            *account.outcomes.entry(key).or_default() += outcome.trials;
        }
    }
    all
}

#[test]
fn it_says_what_a_dumb_account_says() {
    let (mut whole, mut lacking, mut broken) = (0, 0, 0);
    for seed in 0..CASES {
        let parts = parts(seed);
        let merged = merge(parts.clone()).unwrap();
        assert_eq!(
            account(&parts),
            account(std::slice::from_ref(&merged)),
            "seed {seed}"
        );
        let ids: BTreeSet<&str> = merged.races.iter().map(|race| race.id.as_str()).collect();
        assert_eq!(ids.len(), merged.races.len(), "seed {seed}: an id twice");
        let runs: usize = parts.iter().map(|part| part.runs.len()).sum();
        assert_eq!(merged.runs.len(), runs);
        // The run that is named is one that a part names, with the strongest status.
        for race in merged.races.iter().filter(|race| race.first_run > 0) {
            let named = &merged.runs[race.first_run as usize - 1];
            let is_named = |part: &Report| {
                part.races.iter().any(|r| {
                    let at = r.first_run.max(1) as usize - 1;
                    r.location == race.location
                        && r.status == race.status
                        && part.runs.get(at) == Some(named)
                })
            };
            assert!(parts.iter().any(is_named), "seed {seed}: {}", race.id);
        }
        let deadlocks: u64 = parts
            .iter()
            .flat_map(|p| &p.deadlocks)
            .map(|d| d.runs)
            .sum();
        assert_eq!(
            merged.deadlocks.iter().map(|d| d.runs).sum::<u64>(),
            deadlocks
        );
        let failures: u64 = parts.iter().flat_map(|p| &p.failures).map(|f| f.runs).sum();
        assert_eq!(
            merged.failures.iter().map(|f| f.runs).sum::<u64>(),
            failures
        );
        let classes: BTreeSet<u64> = { parts.iter().filter_map(|p| p.exploration.as_ref()) }
            .flat_map(|e| e.class_digests.iter().collect::<Vec<_>>())
            .collect();
        let Some(explored) = &merged.exploration else {
            assert!(parts.iter().all(|part| part.exploration.is_none()));
            continue;
        };
        assert_eq!(explored.classes, classes.len() as u64, "seed {seed}");
        let mut here: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for part in parts.iter().flat_map(|part| &part.shards) {
            here.entry(&part.work).or_default().extend(&part.done);
        }
        let is_whole = here.values().all(|done| done.len() == 3);
        let told = || parts.iter().filter_map(|part| part.exploration.as_ref());
        let done = told().all(|e| e.part_complete.unwrap_or(e.complete));
        let points: BTreeSet<_> = told().filter_map(|e| e.points.as_ref()).collect();
        let expected = is_whole && done && points.len() < 2;
        assert_eq!(explored.complete, expected, "seed {seed}: {explored:?}");
        let says = |text: &&String| text.starts_with("not all shards are here");
        assert_eq!(
            merged.warnings.iter().filter(says).count(),
            usize::from(!is_whole)
        );
        assert!(
            explored.complete || !explored.not_complete.is_empty(),
            "seed {seed}"
        );
        whole += u32::from(explored.complete);
        lacking += u32::from(!is_whole);
        broken += u32::from(is_whole && !done);
    }
    // Each of these was met often enough to mean something.
    assert!(
        whole > 50 && lacking > 50 && broken > 50,
        "{whole} {lacking} {broken}"
    );
}

#[test]
fn nothing_makes_nothing() {
    assert!(merge(Vec::new()).is_none());
}
