//! Virtual threads, on every JDK from 21 on that the machine has: followed where they share
//! carriers, and controlled where each has a thread to itself.

use crate::jdks;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use test_support::jdk::{installed, javac_for};
use test_support::programs::{
    Detected, Expected, Program, Section, confirm, finish, hunt, location, names, once,
    photofinish, repeat, root, scratch, sources, thorough, verify,
};
use test_support::trials::{Trial, skipped, trial};

/// Runs in which every race must have been seen.
const RUNS: &str = "5";

/// Sections of `racy` that are confirmed here, if each is once: two virtual threads, one and a platform thread, tasks, and
/// two that never meet by themselves.
const CONFIRMED: [&str; 6] = [
    "twoVirtual",
    "virtualAndPlatform",
    "executorTasks",
    "executorExpired",
    "afterSleep",
    "startedElsewhere",
];

pub fn trials() -> Vec<Trial> {
    let later = jdks::later();
    if later.is_empty() || javac_for(21).is_none() {
        let reason = "there is no JDK later than 17 with a compiler below /usr/lib/jvm, nor in PHOTOFINISH_JDKS";
        return vec![skipped("virtual_threads::all".to_owned(), reason)];
    }
    let mut all = Vec::new();
    for java in later {
        let java: &'static Path = Box::leak(java.into_boxed_path());
        let mut add = |name: &str, test: fn(&Path)| {
            let name = format!("virtual_threads::{}::{name}", jdks::name_of(java));
            all.push(trial(name, move || test(java)));
        };
        add("ordered", |java| ordered(java, &[]));
        add("ordered_after_a_sleep", ordered_after_a_sleep);
        add("ordered_events", |java| {
            ordered(java, &["--detector", "hybrid", "--fail-on", "observed"]);
        });
        add("ordered_under_control", |java| {
            ordered(java, &["--scheduler", "random", "--seed", "1"]);
        });
        add("nothing_predicted_of_ordered", nothing_predicted);
        add("racy", racy);
        add("racy_under_control", racy_under_control);
        add("explored_like_platform_threads", explored);
        add("joined_where_jvms_are_used_again", used_again);
        add("deadlock_names_them", deadlock);
        add("time_is_virtual", time_is_virtual);
        add("a_dump_shows_them", dump);
        add("held_back", held_back);
        add("hunted", hunted);
        add("advised", advised);
        all.extend(structured(java));
        let racy = Expected::for_trials("virtual/racy");
        let of_racy = racy.sections.iter().map(|section| section.name.as_str());
        for name in of_racy.filter(|name| thorough() || CONFIRMED.contains(name)) {
            let title = format!(
                "virtual_threads::{}::confirmed::{name}",
                jdks::name_of(java)
            );
            all.push(trial(title, move || confirmed(java, name)));
        }
    }
    all
}

/// The program, compiled for JDK 21 and later; all sections, or one.
fn program(dir: &str, section: &str) -> Program {
    compiled(dir, section, &javac_for(21).unwrap(), 21)
}

fn compiled(dir: &str, section: &str, javac: &Path, release: u32) -> Program {
    let source = root().join("programs/virtual").join(dir).join("src");
    let classes = once(format!("virtual {dir}"), || {
        let classes = scratch(&format!("virtual-{dir}"));
        let mut javac = Command::new(javac);
        javac.args(["-g", "-nowarn", "--release", &release.to_string()]);
        if release > 21 {
            javac.arg("--enable-preview");
        }
        javac.arg("-d").arg(&classes).args(sources(&source));
        assert!(javac.status().unwrap().success());
        classes
    });
    let main = Expected::load(&format!("virtual/{dir}")).main.unwrap();
    let args = ["-cp", classes.to_str().unwrap(), &main, section];
    let given = args.iter().filter(|arg| !arg.is_empty());
    Program {
        args: given.map(|arg| arg.to_string()).collect(),
        ..Program::default()
    }
}

/// Structured scopes and scoped values, a JVM for each section: what is used for the first time may behave otherwise
/// than later. The interface is a preview, and another one in each version.
fn structured(java: &'static Path) -> Vec<Trial> {
    let jdk = installed().into_iter().find(|jdk| jdk.java() == java);
    let Some(javac) = { jdk.filter(|jdk| jdk.feature == 25) }
        .map(|jdk| jdk.home.join("bin/javac"))
        .filter(|javac| javac.exists())
    else {
        return Vec::new();
    };
    let javac: &'static Path = Box::leak(javac.into_boxed_path());
    let expected = Expected::for_trials("virtual/scope");
    let taken = |s: &&Section| thorough() || s.name.starts_with("scoped");
    let each = expected.sections.iter().filter(taken).map(|section| {
        let name = format!(
            "virtual_threads::{}::scope::{}",
            jdks::name_of(java),
            section.name
        );
        trial(name, move || {
            let mut program = compiled("scope", &section.name, javac, 25);
            program.args.insert(0, "--enable-preview".to_owned());
            let found = program.detect(&on(java, &[]));
            let locations = found.locations();
            let locations = locations.iter().map(String::as_str);
            assert_eq!(
                locations.collect::<BTreeSet<_>>(),
                names(&section.races),
                "{}",
                found.stderr
            );
            assert_eq!(found.report["program"]["exit"], 0, "{}", found.stderr);
            nothing_missed(&found);
        })
    });
    each.collect()
}

fn on<'a>(java: &'a Path, options: &[&'a str]) -> Vec<&'a str> {
    [&["--java", java.to_str().unwrap()], options].concat()
}

/// All threads were followed and controlled, or the report would have said so.
fn nothing_missed(found: &Detected) {
    let said = &found.stderr;
    assert!(!said.contains("not watched"), "{said}");
    assert!(!said.contains("not controlled"), "{said}");
}

fn ordered(java: &Path, options: &[&str]) {
    let runs = repeat().to_string();
    let options = [&["--runs", &runs], options].concat();
    let found = program("ordered", "").detect(&on(java, &options));
    let certain = |race: &&Value| race["status"] != "potential";
    let races: Vec<&Value> = found.races().iter().filter(certain).collect();
    assert!(races.is_empty(), "{races:#?}");
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    nothing_missed(&found);
}

/// What a carrier is the first to use is followed as well when the program uses it; a JVM for each section.
fn ordered_after_a_sleep(java: &Path) {
    let expected = Expected::load("virtual/ordered");
    let names = expected.sections.iter().map(|s| s.name.as_str());
    for name in names.filter(|name| name.starts_with("task-after-")) {
        let found = program("ordered", name).detect(&on(java, &[]));
        assert_eq!(found.code, Some(0), "{name}: {}", found.stderr);
        nothing_missed(&found);
    }
}

fn nothing_predicted(java: &Path) {
    let command = ["predict", "--java", java.to_str().unwrap()];
    let found = program("ordered", "").reported(&command);
    let races: Vec<&Value> = found.races().iter().collect();
    assert!(races.is_empty(), "{races:#?}");
}

/// What must be found in all sections together, and what was not.
fn missing(found: &Detected) -> Vec<String> {
    let expected = Expected::load("virtual/racy");
    let sections = expected.sections.iter();
    let wanted: BTreeSet<&str> = sections.flat_map(|s: &Section| names(&s.races)).collect();
    let locations = found.locations();
    let other: Vec<_> = { locations.iter() }
        .filter(|l| !wanted.contains(l.as_str()))
        .collect();
    assert!(other.is_empty(), "false: {other:?}");
    let is_missing = |l: &&str| !locations.contains(*l);
    wanted
        .into_iter()
        .filter(is_missing)
        .map(str::to_owned)
        .collect()
}

fn racy(java: &Path) {
    let found = program("racy", "").detect(&on(java, &["--runs", RUNS]));
    assert_eq!(missing(&found), [""; 0], "{}", found.stderr);
    nothing_missed(&found);
}

fn racy_under_control(java: &Path) {
    let options = ["--runs", RUNS, "--scheduler", "random", "--seed", "1"];
    let found = program("racy", "").detect(&on(java, &options));
    assert_eq!(missing(&found), [""; 0], "{}", found.stderr);
    nothing_missed(&found);
}

fn confirmed(java: &Path, section: &str) {
    let results = tempfile::tempdir().unwrap();
    let options = on(java, &["--trials", "20"]);
    let found = confirm(&program("racy", section), results.path(), &options);
    let mut races = found.races().iter();
    let confirmed = races.find(|race| race["status"] == "confirmed");
    let confirmed = confirmed.unwrap_or_else(|| panic!("{}", found.stderr));
    nothing_missed(&found);
    for _ in 0..repeat() {
        let mut tool = photofinish();
        tool.args(["replay", confirmed["id"].as_str().unwrap(), "--results"]);
        tool.arg(results.path());
        let done = finish(tool, "");
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(said.contains("the same run again"), "{section}: {said}");
    }
}

/// As many executions as with platform threads, and all of them.
fn explored(java: &Path) {
    let expected = Expected::load("virtual/control");
    let names = [
        "locks-platform",
        "locks-virtual",
        "joins-platform",
        "joins-virtual",
    ];
    for name in names {
        let results = tempfile::tempdir().unwrap();
        let found = verify(&program("control", name), results.path(), &on(java, &[]));
        let exploration = &found.report["exploration"];
        assert_eq!(exploration["complete"], true, "{name}: {}", found.stderr);
        let wanted = expected.section(name).executions.unwrap();
        assert_eq!(exploration["classes"], wanted, "{name}: {}", found.stderr);
        // JVMs that are used again do the same as fresh ones.
        assert_eq!(
            exploration["isolated"],
            Value::Null,
            "{name}: {exploration}"
        );
    }
}

/// From JDK 24 on the JVM knows owners of monitors by the numbers of threads, those of the program's main thread too: with
/// one that another thread has, or that means something else, runs got stuck that were not the first in their JVM.
fn used_again(java: &Path) {
    let options = ["--scheduler", "random", "--seed", "1", "--runs", "12"];
    let found = program("control", "joins-virtual").detect(&on(java, &options));
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    let runs = found.report["runs"].as_array().unwrap();
    assert!(runs.iter().all(|run| run["ended"] == "exit"), "{runs:#?}");
    nothing_missed(&found);
}

fn deadlock(java: &Path) {
    let results = tempfile::tempdir().unwrap();
    let program = program("control", "deadlock");
    let found = verify(&program, results.path(), &on(java, &["--stop-at", "first"]));
    assert_eq!(found.code, Some(66), "{}", found.stderr);
    let deadlocks = found.report["deadlocks"].to_string();
    assert!(
        deadlocks.contains("\"one\"") && deadlocks.contains("\"two\""),
        "{deadlocks}"
    );
}

/// An hour of sleep, and one of waiting: no run hangs.
fn time_is_virtual(java: &Path) {
    for name in ["timed", "parked"] {
        let options = ["--scheduler", "random", "--runs", RUNS];
        let found = program("control", name).detect(&on(java, &options));
        assert_eq!(found.code, Some(0), "{name}: {}", found.stderr);
        nothing_missed(&found);
    }
}

/// A run that does not get on is ended, and what its virtual thread waits for is told.
fn dump(java: &Path) {
    let dir = tempfile::tempdir().unwrap();
    let json = dir.path().join("r.json");
    let options = ["--scheduler", "random", "--watchdog", "3", "--json"];
    let mut tool = photofinish();
    tool.arg("detect").args(on(java, &options)).arg(&json);
    tool.arg("--results").arg(dir.path().join("results"));
    tool.arg("--").args(program("control", "reads").args);
    let quiet = tool.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = quiet.stdin(Stdio::piped()).spawn().unwrap();
    let input = child.stdin.take();
    let status = child.wait().unwrap();
    drop(input);
    let report: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    assert_eq!(status.code(), Some(75), "{report}");
    assert_eq!(report["runs"][0]["ended"], "stuck");
    let dump = report["runs"][0]["dump"].as_str().unwrap();
    assert!(dump.contains("Controlled.reads"), "{dump}");
}

/// The scheduler of may-trigger relations holds virtual threads back as others.
fn held_back(java: &Path) {
    let options = ["--scheduler", "drfinder-serial", "--runs", RUNS];
    let found = program("racy", "twoVirtual").detect(&on(java, &options));
    assert!(found.locations().contains("vthreads.Racy.twoVirtual"));
    assert_eq!(found.code, Some(66), "{}", found.stderr);
    nothing_missed(&found);
}

/// All stages of a hunt but the repairs, which have a test below.
fn hunted(java: &Path) {
    let results = tempfile::tempdir().unwrap();
    let options = on(java, &["--runs", "3", "--skip", "advise,verify"]);
    let found = hunt(&program("racy", "twoLocks"), results.path(), &options);
    let race = found.races().first();
    let race = race.unwrap_or_else(|| panic!("{}", found.stderr));
    assert_eq!(location(race), "vthreads.Racy.twoLocks");
    assert_eq!(
        (&race["status"], found.races().len()),
        (&"confirmed".into(), 1)
    );
    assert_eq!(found.code, Some(66), "{}", found.stderr);
    nothing_missed(&found);
}

fn advised(java: &Path) {
    let command = [&["advise"], &on(java, &["--runs", "4"])[..]].concat();
    let found = program("racy", "twoVirtual").reported(&command);
    let advice = found.races()[0]["advice"].as_array().unwrap();
    let helps = |repair: &&Value| repair["validated"] == "removes-race";
    assert!(
        advice.iter().any(|repair| helps(&repair)),
        "{}",
        found.stderr
    );
    nothing_missed(&found);
}
