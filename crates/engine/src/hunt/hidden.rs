//! Runs under control that look for what free runs do not show.

use super::Hunt;
use super::stages::{SLOW, add};
use crate::config;
use crate::controlled_run;
use crate::error::Error;
use crate::executions::{Execution, Executions, Novelty, Series, Taker};
use crate::launch::{Plan, RunDir};
use crate::may_trigger::Hidden;
use driver::options::{Control, Mode, Variant};
use driver::pool::Ended;
use driver::process::Output;
use driver::run::RunResult;
use findings::exploration::Schedules;
use findings::group;
use findings::text::counted;
use protocol::execution::AskedSeed;
use std::ops::ControlFlow;

/// Why nothing is done that looks for single schedules.
const EXPLORED: &str = "not needed: every schedule was explored";

/// Runs with threads held back, at most, and who does it.
const HELD_BACK_RUNS: u32 = 4;
const DRFINDER: &str = "drfinder-serial";

/// So many times as many runs under control as are wanted are made where they cost little.
const FURTHER: u64 = 100;

/// Who looks for hidden races, in turn.
const SEEKERS: [&str; 3] = ["random", "pct", "pos"];

/// Runs with one thread at a time, by one strategy after the other.
pub fn hidden(hunt: &mut Hunt<'_>) -> Result<String, Error> {
    if hunt.is_explored() {
        return Ok(EXPLORED.to_owned());
    }
    let (config, launcher) = (hunt.config, hunt.launcher);
    let before = group::findings(&hunt.report.races).len();
    let plan = Plan {
        control: Some(controlled_run::control(
            &config.control,
            SEEKERS[0],
            config.control.seed,
        )),
        input: hunt.input.clone(),
        // One that does not end should not take all the time.
        time_limit: (!hunt.ends).then(|| hunt.left() / 4),
        ..Plan::new(Mode::FASTTRACK, Output::Capture)
    };
    let variants = SEEKERS.map(|name| Variant {
        scheduler: name.to_owned(),
        pair: None,
    });
    let jobs = config::jobs(config.jobs);
    let mut executions = Executions::new(launcher, plan, variants.to_vec(), jobs, false);
    let wanted = config.shard.share(config.runs.into());
    if wanted == 0 {
        return Ok("not looked for: no runs are wanted".to_owned());
    }
    let series = Series {
        count: wanted * FURTHER,
        asked: &|number| {
            let number = config.shard.nth(number);
            let seed = controlled_run::seed(&config.control, number);
            AskedSeed(number as usize % SEEKERS.len(), seed)
        },
        alone: 0,
        deadline: Some(hunt.stage_end),
        name: "hidden".to_owned(),
    };
    let mut seekers = Seekers {
        hunt,
        novelty: Novelty::default(),
        wanted,
    };
    let made = executions.make(&series, &mut seekers)?;
    let novelty = seekers.novelty;
    let ran = novelty.tried;
    let schedules = hunt.report.schedules.get_or_insert_default();
    schedules.add(Schedules {
        tried: ran,
        different: novelty.different(),
        saturated: ran > wanted,
        since_new: novelty.since_new(),
        orders: Default::default(),
        reused_jvms: made.reused,
        isolated: made.isolated,
        reloads: made.reloads,
    });
    hunt.interrupted |= made.ended == Ended::Interrupted;
    if ran < wanted && !hunt.over() {
        hunt.limited = true;
        let text = format!("time was left for {ran} of {wanted} runs under control");
        hunt.report.warnings.push(text);
    }
    let found = group::findings(&hunt.report.races).len();
    let found = found.saturating_sub(before);
    Ok(format!(
        "{} under control ({}), {}",
        counted(ran, "run", "runs"),
        SEEKERS.join(", "),
        counted(found as u64, "further race", "further races")
    ))
}

/// The runs of [`hidden`] as they come: as many as are wanted, and further ones as long as they
/// cost little and some show something new.
struct Seekers<'h, 'a> {
    hunt: &'h mut Hunt<'a>,
    novelty: Novelty,
    wanted: u64,
}

impl Seekers<'_, '_> {
    fn has_enough(&self, was_alone: bool) -> bool {
        let since = self.novelty.since_shown();
        let is_long = was_alone || self.novelty.is_long(since);
        self.novelty.tried >= self.wanted && since > 0 && is_long
    }
}

impl Taker for Seekers<'_, '_> {
    fn is_known(&mut self, run: &RunResult) -> bool {
        self.novelty.is_known(run)
    }

    fn take(&mut self, execution: Execution) -> Result<ControlFlow<()>, Error> {
        let is_new = self.novelty.take(&execution);
        let ran = self.novelty.tried;
        let Execution { control, run, dir } = execution;
        self.hunt.noticed(&run.outcome);
        if is_new || ran <= self.wanted {
            keep(self.hunt, &control, dir.as_ref(), run);
        }
        self.hunt.head("hidden races");
        let text = format!("run {ran} under control");
        self.hunt.progress.doing(&text);
        let over = self.hunt.over() || self.has_enough(dir.is_some());
        Ok(match over {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    }
}

/// Adds a run under control. What it was the first to show can be seen again.
fn keep(hunt: &mut Hunt<'_>, control: &Control, dir: Option<&RunDir>, run: RunResult) {
    let summary = run.findings.summary.as_ref();
    let summary = summary.and_then(|s| s.control.as_ref());
    let row = controlled_run::schedule("", Mode::FASTTRACK.name(), control, summary, &run.outcome);
    add(hunt, run);
    let this = hunt.report.runs.len() as u64;
    controlled_run::keep(
        &hunt.config.control,
        &mut hunt.store,
        &mut hunt.report,
        |run| {
            let dir = dir.filter(|_| run == this)?;
            Some((row.clone(), std::fs::read(dir.log()).unwrap_or_default()))
        },
    );
}

/// Runs in which threads are held back before locks, where an earlier run says
/// that another may race with them then (DrFinder).
pub fn held_back(hunt: &mut Hunt<'_>) -> Result<String, Error> {
    let (config, launcher) = (hunt.config, hunt.launcher);
    let before = group::findings(&hunt.report.races).len();
    let wanted = config.runs.min(HELD_BACK_RUNS);
    if hunt.is_explored() {
        return Ok(EXPLORED.to_owned());
    }
    if wanted == 0 || !hunt.ends {
        return Ok("not looked for".to_owned());
    }
    if hunt.left() < hunt.cost * 2 {
        hunt.limited = true;
        return Ok(format!("not looked for: {SLOW}"));
    }
    hunt.progress
        .doing("which locks may make whom wait for whom");
    let each = (hunt.left() / (wanted + 1))
        .max(hunt.cost * 2)
        .min(hunt.left());
    let pipes = (hunt.input.clone(), Output::Capture);
    let (mut seeker, _) = Hidden::begin(launcher, None, None, pipes, Some(each))?;
    let mut ran = 0_u64;
    let mine = |number: &u32| config.shard.owns(u64::from(*number));
    for number in (0..wanted).filter(mine) {
        if hunt.over() || hunt.left().is_zero() {
            break;
        }
        hunt.head("races that hide behind locks");
        hunt.progress
            .doing(&format!("run {} of {wanted}", number + 1));
        let seed = controlled_run::seed(&config.control, u64::from(number));
        let mut control = controlled_run::control(&config.control, DRFINDER, seed);
        let dir = launcher.directory(&format!("held-back-{}", number + 1))?;
        seeker.aim(&mut control, &dir)?;
        let plan = Plan {
            control: Some(control.clone()),
            input: hunt.input.clone(),
            time_limit: Some(each.min(hunt.left())),
            ..Plan::new(Mode::FASTTRACK, Output::Capture)
        };
        let run = launcher.run_in(&dir, plan)?;
        hunt.noticed(&run.outcome);
        // A run that was cut short has seen little.
        if run.findings.deadlocks.is_empty() {
            seeker.learn(&dir);
        }
        keep(hunt, &control, Some(&dir), run);
        ran += 1;
    }
    hunt.limited |= ran < config.shard.share(wanted.into()) && !hunt.over();
    let found = group::findings(&hunt.report.races).len();
    let found = found.saturating_sub(before);
    Ok(format!(
        "{} with threads held back ({DRFINDER}), {}",
        counted(ran, "run", "runs"),
        counted(found as u64, "further race", "further races")
    ))
}
