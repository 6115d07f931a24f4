//! Campaigns end to end: the binary as coordinator and as workers, a real `nats-server` with
//! its files on disk, and accidents.
//!
//! `PHOTOFINISH_UNITS=10000 PHOTOFINISH_KILLS=50 cargo test -p photofinish --test campaign kills --
//! --nocapture` kills workers and restarts the server; `PHOTOFINISH_SEED` chooses other moments.

#[path = "../../../report/tests/browser/devtools.rs"]
#[allow(dead_code, reason = "the test of the report's page uses more of it")]
mod devtools;
mod kills;
mod machines;
mod page;
mod stories;
mod verify;

use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use test_support::nats::{self, NatsServer};
use test_support::programs::{photofinish, signal};
use test_support::trials::{self, Trial, skipped, trial};

fn main() {
    let mut all = vec![
        trial(
            "embedded::a_campaign_finds_confirms_and_goes_on",
            stories::embedded,
        ),
        trial(
            "embedded::what_a_campaign_found_can_be_replayed",
            stories::replayed,
        ),
        trial(
            "embedded::each_test_of_a_suite_has_its_own_verdict",
            stories::tests,
        ),
        trial(
            "verify::portions_come_to_what_one_machine_says",
            verify::portions_come_to_what_one_machine_says,
        ),
        trial("verify::goes_on_after_a_kill", verify::goes_on_after_a_kill),
        trial("verify::portions_share_jvms", verify::portions_share_jvms),
        trial("bad_usage_is_said", stories::bad_usage),
        page::page(),
    ];
    let mut with_server = |name: &str, test: fn()| {
        all.push(match nats::program() {
            Some(_) => trial(name, test),
            None => skipped(name, nats::MISSING),
        });
    };
    with_server(
        "nats::machines_find_what_one_process_finds",
        machines::same_findings,
    );
    with_server(
        "nats::a_campaign_can_be_stopped_and_removed",
        machines::stopped,
    );
    with_server("nats::kills_change_nothing", kills::kills_change_nothing);
    with_server(
        "nats::verify_goes_on_after_kills",
        verify::machines_are_killed,
    );
    let all: Vec<Trial> = all;
    trials::run(all);
}

/// Longer than anything here takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(600);

fn number(name: &str, default: u64) -> u64 {
    let asked = std::env::var(name).ok();
    asked.map_or(default, |n| {
        n.parse().unwrap_or_else(|_| panic!("{name} is a number"))
    })
}

/// The tool with these arguments, which nobody waits for yet.
fn spawn(args: &[&str], server: Option<&NatsServer>, log: &Path) -> Child {
    let mut tool = command(args, server);
    let log = std::fs::File::options()
        .create(true)
        .append(true)
        .open(log)
        .unwrap();
    tool.stdout(Stdio::null()).stderr(log);
    tool.spawn().unwrap()
}

/// `campaign COMMAND --nats URL ...`.
fn command(args: &[&str], server: Option<&NatsServer>) -> Command {
    let mut tool = photofinish();
    tool.arg("campaign").arg(args[0]);
    if let Some(server) = server {
        tool.args(["--nats", &server.url()]);
    }
    tool.args(&args[1..]);
    tool
}

/// Its exit code, standard output and standard error.
fn run(args: &[&str], server: Option<&NatsServer>) -> (Option<i32>, String, String) {
    let done = test_support::programs::finish(command(args, server), "");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

/// Waits for the end of a process; kills it if that does not come.
fn wait(child: &mut Child, what: &str, log: &Path) -> Option<i32> {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(ended) = child.try_wait().unwrap() {
            return ended.code();
        }
        if Instant::now() > until {
            let _ = child.kill();
            panic!(
                "{what} does not end:\n{}",
                std::fs::read_to_string(log).unwrap_or_default()
            );
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What `campaign status --json` says of the only campaign.
fn status(server: &NatsServer) -> Option<Value> {
    let (code, out, _) = run(&["status", "--json"], Some(server));
    let all: Value = serde_json::from_str(&out)
        .ok()
        .filter(|_| code == Some(0))?;
    Some(all[0].clone())
}

/// What must be equal however the campaign went: what was found, and how often.
fn findings(report: &Path) -> Vec<(String, String, u64)> {
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    let mut all: Vec<(String, String, u64)> = test_support::programs::races(&report)
        .iter()
        .map(|race| {
            let text = |member: &str| race[member].as_str().unwrap().to_owned();
            (
                text("fingerprint"),
                text("status"),
                race["count"].as_u64().unwrap(),
            )
        })
        .collect();
    all.sort();
    all
}
