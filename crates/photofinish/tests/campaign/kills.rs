//! Workers that are killed and a server that is restarted: every unit has one result all the
//! same, and the findings are those of a campaign that nobody disturbed.

use crate::{command, findings, number, run, status, wait};
use std::fs::File;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use test_support::nats::NatsServer;
use test_support::programs::signal;

const WORKERS: usize = 3;

/// How long a unit takes, in microseconds.
const UNIT: &str = "20000";

/// The campaign: units that only take their time, and leases of half a second.
fn start<'a>(units: &'a str, json: &'a str) -> Vec<&'a str> {
    vec![
        "start",
        "--name",
        "kills",
        "--simulate",
        UNIT,
        "--max-units",
        units,
        "--campaign-time",
        "1h",
        "--lease",
        "500ms",
        "--json",
        json,
    ]
}

fn worker(server: &NatsServer, dir: &Path) -> Child {
    let log = File::options()
        .create(true)
        .append(true)
        .open(dir.join("log"));
    let mut tool = command(&["work", "--jobs", "2"], Some(server));
    tool.env("TMPDIR", dir.join("temporary"));
    tool.stdout(Stdio::null()).stderr(log.unwrap());
    tool.spawn().unwrap()
}

pub fn kills_change_nothing() {
    let units = number("PHOTOFINISH_UNITS", 1_500);
    let kills = number("PHOTOFINISH_KILLS", 9);
    let text = units.to_string();
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str| dir.path().join(name);

    // Undisturbed, without a server.
    let (quiet, results) = (file("quiet.json"), file("results"));
    let mut args = start(&text, quiet.to_str().unwrap());
    args.extend(["--results", results.to_str().unwrap(), "--jobs", "16"]);
    let (code, _, said) = run(&args, None);
    // Suspicions are no findings.
    assert_eq!(code, Some(0), "{said}");

    let mut server = NatsServer::start(dir.path(), &[]);
    let disturbed = file("disturbed.json");
    std::fs::create_dir(file("temporary")).unwrap();
    let mut coordinator = {
        let mut tool = command(&start(&text, disturbed.to_str().unwrap()), Some(&server));
        let log = File::create(file("coordinator.log")).unwrap();
        tool.stdout(Stdio::null()).stderr(log);
        tool.spawn().unwrap()
    };
    let mut workers: Vec<Child> = (0..WORKERS).map(|_| worker(&server, dir.path())).collect();
    let mut chance = fastrand::Rng::with_seed(number("PHOTOFINISH_SEED", 1));
    let began = Instant::now();
    let (mut killed, mut restarts) = (0, 0);
    // Units take time whatever the machine does, so there is time for all accidents before the end.
    let unit = Duration::from_micros(UNIT.parse().unwrap());
    let least = unit * units as u32 / (2 * WORKERS as u32);
    let pace = least.mul_f64(0.6) / kills as u32;
    while killed < kills && coordinator.try_wait().unwrap().is_none() {
        std::thread::sleep(pace.mul_f64(0.5 + chance.f64()));
        let which = chance.usize(..WORKERS);
        signal("KILL", workers[which].id());
        workers[which].wait().unwrap();
        workers[which] = worker(&server, dir.path());
        killed += 1;
        if killed == kills / 3 || killed == 2 * kills / 3 {
            server.restart();
            restarts += 1;
        }
    }
    let code = wait(
        &mut coordinator,
        "the coordinator",
        &file("coordinator.log"),
    );
    let said = std::fs::read_to_string(file("coordinator.log")).unwrap();
    let log = std::fs::read_to_string(file("log")).unwrap();
    assert_eq!(code, Some(0), "{said}\n{log}");
    let status = status(&server).unwrap();
    for mut worker in workers {
        signal("TERM", worker.id());
        worker.wait().unwrap();
    }
    // What killed workers leave has the name that the next command sweeps by.
    for left in std::fs::read_dir(file("temporary")).unwrap() {
        let name = left.unwrap().file_name();
        let name = name.to_string_lossy();
        assert!(name.starts_with("photofinish-run-"), "{name}");
    }
    println!(
        "{killed} kills, {restarts} restarts, {units} units in {:.1} s",
        began.elapsed().as_secs_f64()
    );
    assert_eq!(
        (killed, restarts),
        (kills, 2),
        "the campaign was over too soon"
    );
    let counts = &status["units"];
    assert_eq!(counts["done"], units, "{status}");
    assert_eq!(counts["made"], units, "{status}");
    assert_eq!(
        counts["stored"], units,
        "each unit has exactly one result: {status}"
    );
    assert_eq!(
        (&counts["given_up"], &counts["refused"]),
        (&0.into(), &0.into()),
        "{status}"
    );
    assert_eq!(findings(&disturbed), findings(&quiet));
    assert_eq!(findings(&quiet).len(), 5);
}
