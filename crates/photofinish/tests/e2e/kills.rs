//! `verify` whose JVMs, and which itself, are killed at random moments, resumed until it is
//! done: it comes to the verdict and the counts of an exploration that nobody disturbed.
//!
//! A few explorations here; `PHOTOFINISH_REPEAT=200 cargo test -p photofinish --test e2e kills
//! -- --nocapture` makes as many as it says, and `PHOTOFINISH_SEED` is the first one's seed.

use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use test_support::programs::{Program, children, photofinish, repeat};

/// Kills of one exploration. After that it may come to its end.
const MOST_KILLS: u32 = 12;
/// One of so many kills hits the tool itself.
const TOOL: u64 = 5;
/// One exploration on a machine that is very busy.
const PATIENCE: Duration = Duration::from_secs(1800);

/// What the Java program of the tests makes: so many classes.
const CLASSES: u64 = 252;

/// xorshift64*.
struct Chance(u64);

impl Chance {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % n
    }
}

fn start(program: &Program, results: &Path, json: &Path, resume: bool) -> Child {
    let mut tool = photofinish();
    tool.args(["verify", "--quiet", "--jobs", "2", "--results"]);
    tool.arg(results).arg("--json").arg(json);
    if resume {
        tool.arg("--resume");
    }
    tool.arg("--").args(&program.args);
    tool.stdout(Stdio::null()).stderr(Stdio::null());
    tool.spawn().unwrap()
}

/// Whether there is something to go on with.
fn is_saved(results: &Path) -> bool {
    let mut tool = photofinish();
    tool.args(["report", "--json", "-"]).arg(results);
    tool.stderr(Stdio::null()).stdin(Stdio::null());
    serde_json::from_slice::<Value>(&tool.output().unwrap().stdout).is_ok()
}

/// The process may have ended meanwhile.
fn kill(name: &str, pid: u32) {
    let mut kill = Command::new("kill");
    kill.args(["-s", name, &pid.to_string()])
        .stderr(Stdio::null());
    kill.status().unwrap();
}

/// What must not depend on who was killed.
fn outcome(report: &Value, code: Option<i32>) -> Value {
    let exploration = &report["exploration"];
    json!({
        "code": code,
        "complete": exploration["complete"],
        "classes": exploration["classes"],
        "rounds": exploration["rounds"],
        "max_depth": exploration["max_depth"],
        "not_complete": exploration["not_complete"],
        "races": report["races"],
        "deadlocks": report.get("deadlocks"),
        "failures": report.get("failures"),
    })
}

/// What an exploration comes to that nobody disturbs.
fn undisturbed(program: &Program) -> Value {
    let results = tempfile::tempdir().unwrap();
    let json = results.path().join("report.json");
    let ended = start(program, results.path(), &json, false).wait().unwrap();
    let report: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    outcome(&report, ended.code())
}

/// What comes of an exploration that is disturbed, its report, and how often it was.
fn disturbed(program: &Program, seed: u64) -> (Value, Value, [u32; 2]) {
    let results = tempfile::tempdir().unwrap();
    let json = results.path().join("report.json");
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let (mut jvms, mut tools) = (0, 0);
    let limit = Instant::now() + PATIENCE;
    let mut tool = start(program, results.path(), &json, false);
    loop {
        assert!(Instant::now() < limit, "seed {seed} does not end");
        std::thread::sleep(Duration::from_millis(30 + chance.below(400)));
        if let Some(ended) = tool.try_wait().unwrap() {
            let report = std::fs::read(&json).ok();
            let report: Option<Value> = report.and_then(|r| serde_json::from_slice(&r).ok());
            let is_done = |report: &Value| {
                ended.code().is_some() && report["exploration"]["resumable"] == false
            };
            if let Some(report) = report.filter(is_done) {
                return (outcome(&report, ended.code()), report, [jvms, tools]);
            }
            let resume = is_saved(results.path());
            tool = start(program, results.path(), &json, resume);
        } else if jvms + tools < MOST_KILLS {
            let all = children(tool.id());
            if chance.below(TOOL) == 0 {
                tools += 1;
                kill("KILL", tool.id());
            } else if !all.is_empty() {
                jvms += 1;
                let which = chance.below(all.len() as u64) as usize;
                let name = if chance.below(4) == 0 { "TERM" } else { "KILL" };
                kill(name, all[which]);
            }
        }
    }
}

fn first_seed() -> u64 {
    let asked = std::env::var("PHOTOFINISH_SEED").ok();
    asked.map_or(1, |n| n.parse().expect("PHOTOFINISH_SEED is a number"))
}

/// An execution whose JVM is told to end every time is set aside and named, the others are made;
/// whoever resumes when nobody ends it any more comes to what an undisturbed exploration says.
#[test]
fn an_execution_that_is_always_told_to_end_is_left_for_later() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("ends");
    let (results, json) = (dir.path().join("results"), dir.path().join("report.json"));
    let program = Program::own(&["ToldToEnd", file.to_str().unwrap()]);
    let whole = undisturbed(&program);
    assert_eq!(whole["complete"], true, "{whole}");

    std::fs::write(&file, "").unwrap();
    let explore = |resume: bool| {
        let code = start(&program, &results, &json, resume).wait().unwrap();
        let report = std::fs::read(&json).unwrap();
        let report: Value = serde_json::from_slice(&report).unwrap();
        (code.code(), report)
    };
    let (code, report) = explore(false);
    let exploration = &report["exploration"];
    assert_eq!(code, Some(75), "{report}");
    assert_eq!(exploration["resumable"], true, "{exploration}");
    let reasons = exploration["not_complete"].as_array().unwrap();
    assert_eq!(reasons.len(), 1, "{exploration}");
    let why = reasons[0].as_str().unwrap();
    assert!(why.contains("1 execution was set aside"), "{why}");
    assert!(why.contains("steps, the last "), "it is named: {why}");

    std::fs::remove_file(&file).unwrap();
    let (code, report) = explore(true);
    assert_eq!(outcome(&report, code), whole, "{report}");
}

#[test]
fn kills_change_nothing_but_the_time() {
    let program = Program::own(&["Relay", "plain", "5"]);
    let whole = undisturbed(&program);
    assert_eq!(whole["complete"], true, "{whole}");
    assert_eq!(whole["classes"], CLASSES, "{whole}");
    for seed in (first_seed()..).take(repeat()) {
        let (outcome, report, kills) = disturbed(&program, seed);
        let said = format!("seed {seed}, {kills:?} kills of JVMs and the tool");
        println!("{said}");
        assert_eq!(outcome, whole, "{said}: {report}");
    }
}
