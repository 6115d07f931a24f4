//! Runs the commands on many programs, and counts.
//!
//! A JVM takes far longer to start than such a program to run, so programs share JVMs: `verify`
//! explores a program that first picks one of a group, `detect` and `predict` play a group's
//! programs one after the other (those that always end). Findings carry the program's class, so nothing is
//! lost by it. An exploration of a group that is not complete is repeated with each half of it.

use crate::claims::{self, Claims};
use crate::sample::Case;
use crate::workshop::Workshop;
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Programs that share a JVM.
const GROUP: usize = 24;

/// Programs that are compiled together.
const BLOCK: u64 = 48;

/// Of these, each group gets one, or all.
const SCHEDULERS: [&str; 3] = ["random", "pct", "pos"];

/// Of an execution of `verify`: many more than these programs have, unless one spins for ever in a way
/// that is not recognised.
const MAX_STEPS: &str = "2000";

/// No command may take longer.
const PATIENCE: &str = "300s";

#[derive(Clone, Debug)]
pub struct Config {
    /// The command line of the tool.
    pub tool: PathBuf,
    /// The number of the first program.
    pub from: u64,
    pub programs: u64,
    /// Begins no further block after this long.
    pub at_most: Option<Duration>,
    /// `confirm` takes ten JVMs or more: it gets one program of so many.
    pub confirm_every: u64,
    /// `detect` runs each group under every scheduler.
    pub every_scheduler: bool,
    /// Where programs that show a contradiction are kept.
    pub keep: Option<PathBuf>,
}

/// What was done, and what came of it.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub programs: usize,
    pub schedules: usize,
    pub racy: usize,
    pub deadlocking: usize,
    pub throwing: usize,
    /// Executions that `verify` made.
    pub executions: u64,
    /// Explorations of one program that are complete, and those that are not, by their reasons.
    pub complete: usize,
    pub incomplete: BTreeMap<String, usize>,
    /// Explorations of several programs that were not complete, and so repeated with each half.
    pub repeated: usize,
    /// Programs under each command.
    pub commands: BTreeMap<&'static str, usize>,
    /// How long each command took for all of them.
    pub took: BTreeMap<String, Duration>,
    /// Claims that brute force could judge.
    pub certain: usize,
    pub harmless: usize,
    pub contradictions: Vec<String>,
    /// Why the rest of a group was left out: a command that ended without a report.
    pub broken: Vec<String>,
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} programs with {} schedules: {} race, {} can deadlock, {} can throw",
            self.programs, self.schedules, self.racy, self.deadlocking, self.throwing
        )?;
        let commands = self.commands.iter();
        let commands: Vec<String> = commands.map(|(name, n)| format!("{name} {n}")).collect();
        writeln!(f, "programs under each command: {}", commands.join(", "))?;
        let took = self.took.iter();
        let took: Vec<String> = took
            .map(|(name, took)| format!("{name} {:.0}", took.as_secs_f64()))
            .collect();
        writeln!(f, "seconds of each command: {}", took.join(", "))?;
        writeln!(
            f,
            "complete explorations: {}, with {} executions; groups that were explored again by halves: {}",
            self.complete, self.executions, self.repeated
        )?;
        for (reason, n) in &self.incomplete {
            writeln!(f, "not complete: {n} ({reason})")?;
        }
        writeln!(
            f,
            "certain claims: {}; races called harmless: {}",
            self.certain, self.harmless
        )?;
        for error in &self.broken {
            writeln!(f, "a group was not finished: {error}")?;
        }
        write!(f, "contradictions: {}", self.contradictions.len())
    }
}

/// Runs it; `progress` is told after each group.
pub fn run(config: &Config, mut progress: impl FnMut(&Tally)) -> Result<Tally> {
    let mut tally = Tally::default();
    let began = Instant::now();
    let mut next = config.from;
    let end = config.from + config.programs;
    while next < end && config.at_most.is_none_or(|most| began.elapsed() < most) {
        let numbers = next..end.min(next + BLOCK);
        next = numbers.end;
        let cases: Vec<Case> = numbers.map(Case::draw).collect();
        let dir = tempfile::tempdir()?;
        let groups: Vec<&[Case]> = cases.chunks(GROUP).collect();
        let mut block = Block {
            config,
            dir: dir.path(),
            workshop: Workshop::new(dir.path(), &groups)?,
            tally: &mut tally,
        };
        for (n, group) in groups.iter().enumerate() {
            if let Err(error) = block.group(n, group) {
                block.tally.broken.push(format!("{error:#}"));
            }
            progress(block.tally);
        }
    }
    Ok(tally)
}

struct Block<'a> {
    config: &'a Config,
    dir: &'a Path,
    workshop: Workshop,
    tally: &'a mut Tally,
}

/// What a command said.
struct Said {
    code: Option<i32>,
    report: Value,
    claims: BTreeMap<String, Claims>,
    strange: Vec<String>,
}

impl Block<'_> {
    fn group(&mut self, n: usize, group: &[Case]) -> Result<()> {
        for case in group {
            let truth = &case.truth;
            self.tally.programs += 1;
            self.tally.schedules += truth.schedules;
            self.tally.racy += usize::from(!truth.races.is_empty());
            self.tally.deadlocking += usize::from(!truth.deadlocks.is_empty());
            self.tally.throwing += usize::from(!truth.failures.is_empty());
        }
        let (alone, shared): (Vec<&Case>, Vec<&Case>) =
            group.iter().partition(|case| case.is_explored_alone());
        self.verify_any(n, 0, &shared)?;
        for case in alone {
            self.verify(case.class(), &[], &[case])?;
        }

        let always_ends = |case: &&Case| case.truth.deadlocks.is_empty();
        let (end, stuck): (Vec<&Case>, Vec<&Case>) = group.iter().partition(always_ends);
        let together = format!("Group{n}");
        let turn = group[0].number / GROUP as u64;
        let seed = turn.to_string();
        for scheduler in self.schedulers(turn) {
            let detect = |runs| {
                let seeded = ["--seed", &seed, "--runs", runs];
                [&["detect", "--scheduler", scheduler][..], &seeded].concat()
            };
            if !end.is_empty() {
                self.under("detect", &detect("6"), &together, &end)?;
            }
            for case in stuck.iter().filter(|case| !case.may_spin_for_ever()) {
                self.under("detect", &detect("2"), case.class(), &[case])?;
            }
        }
        if !end.is_empty() {
            self.under("predict", &["predict"], &together, &end)?;
        }
        let every = self.config.confirm_every;
        // It also runs the program without control.
        let chosen = group.iter().filter(always_ends);
        for case in chosen.filter(|case| case.number.is_multiple_of(every)) {
            let confirm = ["confirm", "--trials", "20", "--seed", &seed];
            self.under("confirm", &confirm, case.class(), &[case])?;
        }
        Ok(())
    }

    /// Those that a group runs under.
    fn schedulers(&self, turn: u64) -> impl Iterator<Item = &'static str> + use<> {
        let (every, mine) = (self.config.every_scheduler, turn % SCHEDULERS.len() as u64);
        let numbered = (0..).zip(SCHEDULERS);
        numbered.filter_map(move |(n, name)| (every || n == mine).then_some(name))
    }

    /// Explores the programs of a group from this place on, and each half of them if that is not
    /// complete.
    fn verify_any(&mut self, n: usize, from: usize, cases: &[&Case]) -> Result<()> {
        let main = format!("Pick{n}");
        match cases {
            [] => Ok(()),
            [case] => self.verify(case.class(), &[], cases).map(drop),
            _ => {
                let [first, end] = [from, from + cases.len()].map(|place| place.to_string());
                if self.verify(&main, &[&first, &end], cases)? {
                    return Ok(());
                }
                let (front, back) = cases.split_at(cases.len() / 2);
                self.verify_any(n, from, front)?;
                self.verify_any(n, from + front.len(), back)
            }
        }
    }

    /// Explores a program; false if it stands for several, and the exploration is not complete.
    fn verify(&mut self, main: &str, args: &[&str], cases: &[&Case]) -> Result<bool> {
        let command = ["verify", "--jobs", "1", "--max-steps", MAX_STEPS];
        let said = self.command(&command, main, args)?;
        let complete = said.report["exploration"]["complete"] == true;
        let executions = said.report["exploration"]["executions"].as_u64();
        self.tally.executions += executions.unwrap_or(0);
        if !complete && cases.len() > 1 {
            self.tally.repeated += 1;
            eprintln!("{main}: {}", said.report["exploration"]["not_complete"]);
            return Ok(false);
        }
        *self.tally.commands.entry("verify").or_default() += cases.len();
        if complete {
            self.tally.complete += cases.len();
        } else {
            let reasons = said.report["exploration"]["not_complete"].to_string();
            *self.tally.incomplete.entry(reasons).or_default() += cases.len();
        }
        self.judge("verify", cases, &said, complete);
        let found = |claims: &Claims| claims.certain() > claims.outcomes.len();
        let expected = match said.claims.values().any(found) {
            true => 66,
            false if complete => 0,
            false => 75,
        };
        if said.code != Some(expected) {
            self.contradiction("verify", cases[0], &format!("exit code {:?}", said.code));
        }
        Ok(true)
    }

    /// Runs programs under a command whose answer is not complete.
    fn under(
        &mut self,
        name: &'static str,
        command: &[&str],
        main: &str,
        cases: &[&Case],
    ) -> Result<()> {
        let said = self.command(command, main, &[])?;
        *self.tally.commands.entry(name).or_default() += cases.len();
        self.judge(&command.join(" "), cases, &said, false);
        Ok(())
    }

    fn judge(&mut self, command: &str, cases: &[&Case], said: &Said, complete: bool) {
        let none = Claims::default();
        for case in cases {
            let claims = said.claims.get(case.class()).unwrap_or(&none);
            self.tally.certain += claims.certain();
            let harmless = |race: &&claims::Race| race.harm.as_deref() == Some("harmless");
            self.tally.harmless += claims.races.iter().filter(harmless).count();
            for wrong in claims.contradictions(case) {
                self.contradiction(command, case, &wrong);
            }
            for missing in claims.missing(case).iter().filter(|_| complete) {
                self.contradiction(command, case, &format!("complete, but {missing}"));
            }
        }
        for strange in &said.strange {
            self.contradiction(command, cases[0], strange);
        }
    }

    fn contradiction(&mut self, command: &str, case: &Case, what: &str) {
        let text = format!("{}: {command}: {what}", case.class());
        eprintln!("CONTRADICTION {text}");
        if let Some(keep) = &self.config.keep {
            let _ = std::fs::create_dir_all(keep);
            let file = keep.join(format!("{}.java", case.class()));
            let _ = std::fs::write(file, &case.source.text);
        }
        self.tally.contradictions.push(text);
    }

    fn command(&mut self, command: &[&str], main: &str, args: &[&str]) -> Result<Said> {
        let results = self.dir.join("results");
        let (json, told) = (self.dir.join("report.json"), self.dir.join("outcomes"));
        for old in [&json, &told] {
            let _ = std::fs::remove_file(old);
        }
        let _ = std::fs::remove_dir_all(&results);
        let mut tool = Command::new(&self.config.tool);
        tool.args(command);
        tool.args(["--quiet", "--no-config", "--time-limit", PATIENCE]);
        tool.arg("--results").arg(&results);
        tool.arg("--json").arg(&json);
        tool.arg("--").arg("-cp").arg(self.workshop.classes());
        tool.arg(format!("-Doutcomes={}", told.display()));
        tool.arg(main).args(args);
        tool.stdin(Stdio::null()).current_dir(self.dir);
        let began = Instant::now();
        let done = tool.output().context("the tool does not start")?;
        *self.tally.took.entry(command[0].to_owned()).or_default() += began.elapsed();
        let report = std::fs::read(&json);
        let complaint = String::from_utf8_lossy(&done.stderr);
        let report = report.with_context(|| format!("{command:?} {main}: {complaint}"))?;
        let report: Value = serde_json::from_slice(&report)?;
        let told = std::fs::read_to_string(&told).unwrap_or_default();
        let (claims, strange) = claims::read(&report, &told);
        Ok(Said {
            code: done.status.code(),
            report,
            claims,
            strange,
        })
    }
}
