//! What commands with controlled runs have in common: how the agent is told,
//! how results are kept, and the commands that replay them.

use crate::config::{ControlConfig, LaunchConfig};
use crate::error::{Context, Error};
use crate::verdict::{Answer, Facts};
use driver::java::Java;
use driver::options::Control;
use driver::process::Outcome;
use driver::store::{self, Schedule, Writer};
use findings::confirmed::Replay;
use findings::finding::ControlSummary;
use findings::result::Report;
use findings::suppress::Suppressions;
use protocol::RunEnd;
use protocol::Scheduler;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

/// The clock of a controlled run begins here unless told otherwise: runs of one
/// seed are alike from day to day. 2026-01-01, 00:00 UTC.
const CLOCK: i64 = 1_767_225_600_000;

/// The control of one run.
pub fn control(config: &ControlConfig, scheduler: impl Into<Scheduler>, seed: u64) -> Control {
    let mut control = Control::new(scheduler, seed);
    control.clock = Some(config.clock.unwrap_or(CLOCK));
    control.max_steps = config.max_steps;
    control.watchdog = Some(config.watchdog);
    control
}

/// The seed of the run or trial with this number, counted from 0.
pub fn seed(config: &ControlConfig, number: u64) -> u64 {
    config.seed.wrapping_add(number)
}

/// Where results are kept, made before the work begins.
pub fn store(config: &ControlConfig) -> Result<Writer, Error> {
    Writer::create(&config.results).or_usage()
}

/// How often what is known is saved,
const EVERY: Duration = Duration::from_secs(1);
/// and which part of the time that may take.
const SHARE: u32 = 20;

/// When to save: about once a second, and more rarely if it takes long.
#[derive(Debug)]
pub struct SavePace {
    next: Instant,
}

impl SavePace {
    pub fn new() -> SavePace {
        SavePace {
            next: Instant::now(),
        }
    }

    pub fn is_due(&self) -> bool {
        self.next <= Instant::now()
    }

    /// It was saved, which began then.
    pub fn saved(&mut self, began: Instant) {
        self.next = began + EVERY.max(began.elapsed() * SHARE);
    }
}

/// What the report of a command that was ended in the middle says.
const UNFINISHED: &str = "the command was still at work when this was saved: if it was killed, \
                          there may be more to find";

/// Saves what is known while the command goes on, so that a process that is killed leaves
/// it. That it cannot be saved now is no reason to stop: the last save says so.
pub fn save_so_far(
    store: &mut Writer,
    program: &store::Program,
    report: &Report,
    suppress: &Suppressions,
) {
    let mut report = report.clone();
    suppress.apply(&mut report);
    report.warnings.push(UNFINISHED.to_owned());
    report.limit_reached = true;
    let _ = store.save(program, &report);
}

/// Saves the result for the last time. If that fails, what was found is told all the same,
/// with a warning that it is kept nowhere.
pub fn finish(
    mut store: Writer,
    program: &store::Program,
    mut report: Report,
    mut facts: Facts,
) -> Answer {
    facts.tell(&mut report);
    if let Err(error) = store.save(program, &report) {
        facts.tool_failed = true;
        report
            .warnings
            .push(format!("the result is kept nowhere: {error}"));
    }
    Answer::new(report, facts)
}

/// What is needed to run the program again.
pub fn program(
    java: &Java,
    launch: &LaunchConfig,
    input: Option<&Path>,
) -> Result<store::Program, Error> {
    let directory = std::env::current_dir().context("the current directory is gone")?;
    let args: Option<Vec<String>> = launch
        .program
        .iter()
        .map(|arg| arg.to_str().map(str::to_owned))
        .collect();
    let args = args
        .ok_or_else(|| Error::usage("arguments that are not UTF-8 cannot be kept for a replay"))?;
    let input = input.map(|path| directory.join(path));
    Ok(store::Program {
        classes: digests(&directory, &launch.program, input.as_deref()),
        java: java.path.clone(),
        java_version: java.version.clone(),
        args,
        input,
        include: launch.include.clone(),
        exclude: launch.exclude.clone(),
        trusted: launch.trusted.clone(),
        untracked: launch.untracked.clone(),
        directory,
    })
}

/// Digests of the class path and of the program's input.
pub fn digests(
    directory: &Path,
    args: &[OsString],
    input: Option<&Path>,
) -> BTreeMap<String, String> {
    let mut found = driver::classes::digests(directory, args);
    if let Some(input) = input {
        driver::classes::add(&mut found, input, &directory.join(input));
    }
    found
}

/// A row for a run that is worth keeping.
pub fn schedule(
    name: &str,
    mode: &str,
    control: &Control,
    summary: Option<&ControlSummary>,
    outcome: &Outcome,
) -> Schedule {
    let ended = summary.map_or(RunEnd::Unknown, |s| s.outcome);
    let pair = control.pair.iter().flatten();
    Schedule {
        name: name.to_owned(),
        mode: mode.to_owned(),
        strategy: control.scheduler.name().to_owned(),
        seed: control.seed,
        digest: summary.and_then(|s| s.digest.clone()),
        delays: summary.map(|s| s.delays.clone()).unwrap_or_default(),
        exit: outcome.exit,
        output_sha256: outcome.output_sha256.clone(),
        ended: ended.to_string(),
        pair: pair
            .map(|side| side.iter().map(ToString::to_string).collect())
            .collect(),
        job: None,
    }
}

/// Keeps the schedules of runs that showed something for the first time, and
/// says in the report how to replay them; where that cannot be kept, that it is not.
/// `run` gives a run by its number.
pub fn keep(
    config: &ControlConfig,
    store: &mut Writer,
    report: &mut Report,
    run: impl Fn(u64) -> Option<(Schedule, Vec<u8>)>,
) {
    // A report of a single run leaves its number out.
    let number = |first: u64| first.max(1);
    let races = report
        .races
        .iter_mut()
        .filter(|race| race.replay.is_none())
        .map(|race| (&race.id, race.first_run, &mut race.replay));
    let deadlocks = report
        .deadlocks
        .iter_mut()
        .map(|d| (&d.id, d.first_run, &mut d.replay));
    let failures = report
        .failures
        .iter_mut()
        .map(|f| (&f.id, f.first_run, &mut f.replay));
    for (id, first, place) in races.chain(deadlocks).chain(failures) {
        if let Some((mut schedule, log)) = run(number(first)) {
            schedule.name.clone_from(id);
            let replay = replay(config, store.number(), &schedule);
            match store.add(schedule, &log) {
                Ok(()) => *place = Some(replay),
                Err(error) => report.warnings.push(no_schedule(id, &error)),
            }
        }
    }
}

/// Says that a finding cannot be replayed.
pub fn no_schedule(id: &str, error: &store::StoreError) -> String {
    format!("{id} cannot be replayed, its schedule is kept nowhere: {error}")
}

/// How to see again what is kept with the result of this number.
pub fn replay(config: &ControlConfig, result: i64, schedule: &Schedule) -> Replay {
    Replay {
        seed: schedule.seed,
        command: replay_command(config, result, &schedule.name),
        delays: schedule.delays.clone(),
        ..Replay::default()
    }
}

/// The command that replays what is kept under this name with the result of this number. It
/// stays good when later results, perhaps of other programs, use the same names.
pub fn replay_command(config: &ControlConfig, result: i64, name: &str) -> String {
    let mut command = "photofinish replay ".to_owned();
    if config.results != Path::new(store::DEFAULT) {
        let results = quoted(&config.results.to_string_lossy());
        command += &format!("--results {results} ");
    }
    command + &format!("--result {result} {}", quoted(name))
}

/// As a POSIX shell takes it for one word.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        for text in ["plain/R1.ok", "", "a b", "it's", "$HOME;`x`\n\"", "-x"] {
            let echoed = std::process::Command::new("sh")
                .args(["-c", &format!("printf %s {}", quoted(text))])
                .output()
                .unwrap();
            // printf takes a leading dash for an option.
            if !text.starts_with('-') {
                assert_eq!(echoed.stdout, text.as_bytes(), "{text:?}");
            }
        }
        assert_eq!(quoted("R1.ok"), "R1.ok");
    }
}
