//! Executions in JVMs that are used again: the same as in JVMs of their own, or
//! said not to be.

use serde_json::Value;
use std::process::Stdio;
use std::time::{Duration, Instant};
use test_support::programs::{
    Detected, Expected, Program, children, compile, jdk, photofinish, scratch, signal,
};

fn verify(program: &Program, options: &[&str]) -> Detected {
    let results = tempfile::tempdir().unwrap();
    let results = results.path().to_str().unwrap();
    program.reported(&[&["verify", "--results", results], options].concat())
}

fn relay(args: &[&str]) -> Program {
    Program::own(&[&["Relay"], args].concat())
}

/// Both, and that they say the same.
fn both_ways(program: &Program) -> (Value, Value) {
    let [again, alone] = [&[][..], &["--isolate"]].map(|options| verify(program, options));
    assert_eq!(again.code, alone.code, "{}", again.stderr);
    assert_eq!(again.locations(), alone.locations());
    for list in ["deadlocks", "failures"] {
        let some = |found: &Detected| found.report[list].as_array().map(Vec::len);
        assert_eq!(some(&again), some(&alone), "{list}: {}", again.stderr);
    }
    let [again, alone] = [again, alone].map(|found| found.report["exploration"].clone());
    assert_eq!(again["complete"], true, "{again}");
    for key in ["complete", "classes", "max_depth"] {
        assert_eq!(again[key], alone[key], "{key}: {again} {alone}");
    }
    (again, alone)
}

#[test]
fn an_execution_cannot_tell_which_it_is() {
    let (again, alone) = both_ways(&relay(&["plain"]));
    assert_eq!(again["classes"], 20);
    assert_eq!(again["isolated"], Value::Null, "{again}");
    assert!(again["reused_jvms"].as_u64().unwrap() > 5, "{again}");
    assert_eq!(alone["reused_jvms"], 0);
}

/// What the JVM's launcher does to find the main class is none of the program's.
#[test]
fn programs_in_jars() {
    let classes = compile("crates/photofinish/tests/java/src", &[]);
    let dir = scratch("explored-jars");
    for (jar, more, with) in [
        ("whole.jar", "", &["Relay.class"][..]),
        // The main class is in another one.
        ("parts.jar", "Class-Path: whole.jar\n", &[]),
    ] {
        let manifest = dir.join("manifest");
        std::fs::write(&manifest, format!("Main-Class: Relay\n{more}")).unwrap();
        let mut make = jdk::tool("jar");
        make.arg("cfm").arg(dir.join(jar)).arg(&manifest);
        for class in with {
            make.arg("-C").arg(&classes).arg(class);
        }
        assert!(make.status().unwrap().success());
        let program = Program::new(&["-jar", dir.join(jar).to_str().unwrap(), "plain"]);
        let found = verify(&program, &[]);
        let exploration = &found.report["exploration"];
        assert_eq!(exploration["complete"], true, "{jar}: {exploration}");
        assert_eq!(exploration["classes"], 20, "{jar}: {exploration}");
        assert_eq!(exploration["isolated"], Value::Null, "{jar}: {exploration}");
        assert!(exploration["reused_jvms"].as_u64().unwrap() > 5, "{jar}");
    }
}

#[test]
fn deadlocks_need_no_jvm_of_their_own() {
    let (again, _) = both_ways(&relay(&["wedge"]));
    assert_eq!(again["isolated"], Value::Null, "{again}");
}

#[test]
fn many_classes_are_counted_exactly() {
    let expected = Expected::load("verify");
    let section = expected.sections.iter().find(|s| s.name == "semaphore");
    let found = verify(&expected.program("verify", section.unwrap()), &[]);
    let exploration = &found.report["exploration"];
    assert_eq!(exploration["complete"], true, "{exploration}");
    assert_eq!(exploration["classes"], section.unwrap().executions.unwrap());
    assert_eq!(exploration["isolated"], Value::Null, "{exploration}");
}

#[test]
fn what_cannot_be_put_back_is_said() {
    // Otherwise a machine with few processors has threads of their own for such tasks.
    let pool = "-Djava.util.concurrent.ForkJoinPool.common.parallelism=2";
    for (program, why) in [
        (relay(&["exit", "4"]), "it ends the JVM itself"),
        (relay(&["hook", "4"]), "it has shutdown hooks"),
        // The pool is the JDK's, and has been used.
        (
            Program::own(&[pool, "Relay", "pool"]),
            "the first was not the same in a JVM that is used again",
        ),
    ] {
        let found = verify(&program, &["--max-executions", "30"]);
        let exploration = &found.report["exploration"];
        let said = exploration["isolated"].as_str().unwrap_or_default();
        assert!(said.starts_with(why), "{why}: {exploration}");
        assert_eq!(exploration["reused_jvms"], 0, "{why}: {exploration}");
    }
}

/// Of a run by a strategy: its seed, and all that must be the same however it was made.
fn rows(found: &Detected) -> Vec<[Value; 6]> {
    let rows = found.report["runs"].as_array().unwrap().iter();
    let members = ["seed", "digest", "ended", "exit", "steps", "races"];
    rows.map(|row| members.map(|member| row[member].clone()))
        .collect()
}

/// How many seeds are tried in reused JVMs, and how many of them in fresh ones. More by
/// `PHOTOFINISH_SEEDS=1000,10`.
fn seeds() -> (u64, usize) {
    let asked = std::env::var("PHOTOFINISH_SEEDS").unwrap_or_default();
    let asked = asked.split_once(',');
    asked.map_or((12, 4), |(all, some)| {
        (all.parse().unwrap(), some.parse().unwrap())
    })
}

/// One seed makes the same run in a JVM that is used again and in a fresh one.
#[test]
fn seeds_mean_the_same_in_reused_and_fresh_jvms() {
    let (all, some) = seeds();
    let racy = Expected::load("racy");
    let ordered = Expected::load("ordered");
    let racy = |name: &str| racy.program("racy", racy.section(name));
    let ordered = |name: &str| ordered.program("ordered", ordered.section(name));
    let programs = [
        relay(&["plain"]),
        relay(&["wedge"]),
        racy("linked-hash-map-get"),
        racy("int-field"),
        ordered("synchronizer-latch"),
        ordered("monitor-ping-pong"),
        Program::own(&["Kept", "collections"]),
        Program::own(&["Kept", "locks"]),
        Program::own(&["Kept", "late"]),
    ];
    for (at, program) in programs.iter().enumerate() {
        let scheduler = ["random", "pct", "pos"][at % 3];
        let results = tempfile::tempdir().unwrap();
        let detect = |options: &[&str]| {
            let results = results.path().to_str().unwrap();
            let common = ["--scheduler", scheduler, "--results", results];
            program.detect(&[&common[..], options].concat())
        };
        let again = detect(&["--runs", &all.to_string()]);
        let schedules = &again.report["schedules"];
        assert_eq!(
            schedules["isolated"],
            Value::Null,
            "{program:?}: {schedules}"
        );
        assert_eq!(schedules["tried"], all);
        assert!(
            schedules["reused_jvms"].as_u64().unwrap() > all / 3,
            "{schedules}"
        );
        let rows_again = rows(&again);
        let every = rows_again.len().div_ceil(some);
        for row in rows_again.iter().skip(2).step_by(every) {
            let alone = detect(&["--seed", &row[0].to_string(), "--isolate"]);
            assert_eq!(rows(&alone), std::slice::from_ref(row), "{program:?}");
            let known = again.locations();
            let of_both = alone.locations().iter().all(|at| known.contains(at));
            assert!(of_both, "{program:?}: {:?}", alone.locations());
        }
    }
}

/// Static fields are as they were at first, whether executions share their classes or have their own.
#[test]
fn statics_are_as_they_were_at_first() {
    for kind in [
        "numbers",
        "collections",
        "locks",
        "enums",
        "lambdas",
        "interfaces",
        "prints",
        "starts",
        "depends",
        "throws",
        "switches",
        "late",
        "holds",
        "invokes",
    ] {
        let program = Program::own(&["Kept", kind]);
        let detect = |options: &[&str]| {
            let results = tempfile::tempdir().unwrap();
            let results = results.path().to_str().unwrap();
            let common = ["--scheduler", "random", "--results", results, "--runs", "8"];
            program.detect(&[&common[..], options].concat())
        };
        let (again, alone) = (detect(&[]), detect(&["--isolate"]));
        let schedules = &again.report["schedules"];
        assert_eq!(schedules["isolated"], Value::Null, "{kind}: {schedules}");
        assert_eq!(schedules["reused_jvms"], 6, "{kind}: {schedules}");
        assert_eq!(rows(&again), rows(&alone), "{kind}");
        assert_eq!(again.locations(), alone.locations(), "{kind}");
    }
}

/// Trials make the same of a pair, wherever they are made.
#[test]
fn trials_count_the_same_in_reused_and_fresh_jvms() {
    let control = Expected::load("control");
    for name in ["lost-update", "swallows"] {
        let program = control.program("control", control.section(name));
        // Which of the statements that race a free run finds is up to chance.
        let free = program.detect(&["--runs", "3"]);
        let place = |access: &Value| {
            let file = access["file"].as_str().unwrap();
            format!("{file}:{}", access["line"])
        };
        let pairs = free.races().iter().map(|race| {
            format!(
                "{},{}",
                place(&race["accesses"][0]),
                place(&race["accesses"][1])
            )
        });
        let pair = pairs.min().unwrap_or_else(|| panic!("no race in {name}"));
        let confirm = |option: &[&str]| {
            let results = tempfile::tempdir().unwrap();
            let results = results.path().to_str().unwrap();
            let trials = [
                "confirm",
                "--trials",
                "16",
                "--all-trials",
                "--results",
                results,
                "--pair",
                &pair,
            ];
            let found = program.reported(&[&trials[..], option].concat());
            let races = found.races();
            let outcomes = |race: &Value| -> Vec<String> {
                let outcomes = race["outcomes"].as_array().unwrap().iter();
                let told = outcomes.map(|o| {
                    let first = o["first"].as_u64().map(|n| &race["accesses"][n as usize]);
                    let first = first.map(|access| (&access["op"], &access["line"]));
                    format!("{first:?} {} {}", o["result"], o["trials"])
                });
                let mut told: Vec<String> = told.collect();
                told.sort();
                told
            };
            let told =
                |race: &Value| (race["trials"].clone(), race["harm"].clone(), outcomes(race));
            let mut all: Vec<_> = races.iter().map(told).collect();
            all.sort_by_key(|told| format!("{told:?}"));
            all
        };
        let again = confirm(&[]);
        assert!(!again.is_empty(), "{name}");
        assert_eq!(again, confirm(&["--isolate"]), "{name}");
    }
}

/// Where there is nothing more to see, no more runs are made.
#[test]
fn runs_end_when_nothing_new_comes() {
    let options = ["--scheduler", "random", "--until", "saturated"];
    let found = relay(&["plain", "1"]).detect(&options);
    let schedules = &found.report["schedules"];
    assert_eq!(schedules["saturated"], true, "{schedules}");
    let count = |member: &str| schedules[member].as_u64().unwrap();
    assert!(
        count("tried") > 50 && count("tried") < 10_000,
        "{schedules}"
    );
    assert!(count("different") > 1, "{schedules}");
    assert!(count("different") < count("tried"), "{schedules}");
}

#[test]
fn runs_that_cannot_be_put_back_are_made_alone() {
    let found = relay(&["exit", "2"]).detect(&["--scheduler", "random", "--runs", "5"]);
    let schedules = &found.report["schedules"];
    assert_eq!(
        schedules["isolated"], "it ends the JVM itself",
        "{schedules}"
    );
    assert_eq!(
        (&schedules["tried"], &schedules["reused_jvms"]),
        (&5.into(), &0.into())
    );
    assert_eq!(found.report["runs"].as_array().unwrap().len(), 5);
}

/// The process of a worker of this tool, as soon as there is one.
fn worker(tool: u32) -> Option<u32> {
    let is_worker = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line);
        let out = line.split('\0').find_map(|arg| arg.split_once("=out="));
        let request = out.and_then(|(_, out)| std::fs::read(format!("{out}/request.json")).ok());
        let request = request.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
        request.is_some_and(|request| request["control"]["worker"] == true)
    };
    let limit = Instant::now() + Duration::from_secs(100);
    while Instant::now() < limit {
        if let Some(pid) = children(tool).into_iter().find(is_worker) {
            return Some(pid);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    None
}

#[test]
fn nothing_is_lost_when_a_worker_is_killed() {
    let results = tempfile::tempdir().unwrap();
    let json = results.path().join("report.json");
    let mut tool = photofinish();
    tool.args(["verify", "--quiet", "--results"])
        .arg(results.path())
        .arg("--json")
        .arg(&json)
        .arg("--")
        .args(&relay(&["plain", "5"]).args)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut tool = tool.spawn().unwrap();
    let killed = worker(tool.id()).expect("there are workers");
    signal("KILL", killed);
    assert!(tool.wait().unwrap().success());
    let report: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let exploration = &report["exploration"];
    assert_eq!(exploration["complete"], true, "{exploration}");
    assert_eq!(exploration["classes"], 252);
    assert_eq!(exploration["isolated"], Value::Null, "{exploration}");
}
