//! `detect`: run the program, one or many times, and report what raced.

use crate::args::{Detect, Detector};
use crate::controlled_run;
use crate::exit::Failure;
use crate::launch::{Launcher, Plan};
use crate::may_trigger::Hidden;
use crate::offline;
use crate::outputs::Outputs;
use crate::session::Session;
use crate::show;
use crate::suppress;
use driver::options::Mode;
use driver::process::{Input, Output};
use driver::store::{Schedule, Writer};
use findings::result::Report;
use report::timeline::Timelines;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;

pub fn command(args: &Detect) -> Result<u8, Failure> {
    if let Some(trace) = &args.trace {
        return offline::command(args, trace);
    }
    if args.detector == Detector::None && !args.scheduler.is_serial() {
        return Err(Failure::usage(
            "without a detector there is nothing to find in a free run; choose a --scheduler",
        ));
    }
    let known = suppress::load(&args.show)?;
    let launcher = Launcher::new(&args.launch)?;
    let outputs = Outputs::open(&args.show)?;
    let output = show::program_output(&args.show);
    let progress =
        args.runs > 1 && !args.show.quiet && (args.show.verbose || std::io::stderr().is_terminal());

    let mut session = Session::new(&args.launch);
    let hidden = match args.scheduler.is_hidden() {
        true => {
            if progress {
                eprintln!("photofinish: which methods lead to which locks");
            }
            let relation = args.relation.as_deref();
            let limit = args.launch.time_limit;
            let hidden = Hidden::begin(
                &launcher,
                relation,
                args.depth,
                (Input::Inherit, output),
                limit,
            )?;
            Some(hidden.0)
        }
        false => None,
    };
    let mut steered = Steered::new(args, hidden)?;
    // A run that ends in a deadlock is made once more.
    let (mut number, mut extra) = (0, 0);
    while number < args.runs + extra {
        number += 1;
        if progress {
            eprintln!("photofinish: run {number} of {}", args.runs + extra);
        }
        let deadlock = steered.run(&launcher, number, output, &mut session)?;
        if session.is_over() {
            break;
        }
        if deadlock && args.scheduler.is_hidden() && extra < args.runs {
            extra += 1;
        }
    }
    for text in steered.warnings() {
        session.warn(text);
    }
    let (mut report, code) = session.finish("detect");
    let code = suppress::apply(&known, &mut report, code);
    let results = steered.results();
    steered.keep(&launcher, &mut report)?;
    let kept = results.map_or_else(Timelines::new, |dir| outputs.kept(dir, None));
    outputs.write_with(&report, &kept)?;
    show::with_schedules(
        &report,
        &args.show,
        &args.launch.program,
        &kept,
        std::io::stderr(),
    )?;
    Ok(code)
}

/// Runs under the scheduler that was asked for, with their schedules if they
/// can be replayed.
struct Steered<'a> {
    args: &'a Detect,
    store: Option<Writer>,
    /// By the number of the run, while something may need them.
    kept: BTreeMap<u64, (Schedule, Vec<u8>)>,
    hidden: Option<Hidden>,
}

impl<'a> Steered<'a> {
    fn new(args: &'a Detect, hidden: Option<Hidden>) -> Result<Steered<'a>, Failure> {
        let keeps = args.scheduler.is_serial() || hidden.is_some();
        Ok(Steered {
            args,
            store: keeps
                .then(|| controlled_run::store(&args.steer))
                .transpose()?,
            kept: BTreeMap::new(),
            hidden,
        })
    }

    fn warnings(&mut self) -> Vec<String> {
        let hidden = self.hidden.as_mut();
        hidden
            .map(|h| std::mem::take(&mut h.warnings))
            .unwrap_or_default()
    }

    /// True if it ended in a deadlock.
    fn run(
        &mut self,
        launcher: &Launcher<'_>,
        number: u32,
        output: Output,
        session: &mut Session,
    ) -> Result<bool, Failure> {
        let args = self.args;
        let mode = mode(args.detector);
        let Some(strategy) = args.scheduler.strategy() else {
            session.add(launcher.run(number, mode, None, output)?);
            return Ok(false);
        };
        let seed = controlled_run::seed(&args.steer, u64::from(number) - 1);
        let mut control = controlled_run::control(&args.steer, strategy, seed);
        control.depth = args.depth;
        let dir = launcher.directory(&format!("run-{number}"))?;
        let mut time_limit = args.launch.time_limit;
        if let Some(hidden) = &self.hidden {
            hidden.aim(&mut control, &dir)?;
            time_limit = Some(hidden.limit());
        }
        let plan = Plan {
            control: Some(control.clone()),
            time_limit,
            ..Plan::new(mode, output)
        };
        let run = launcher.run_in(&dir, plan)?;
        let found = &run.findings;
        let deadlock = !found.deadlocks.is_empty();
        // A run that was cut short has seen little.
        if let Some(hidden) = self.hidden.as_mut().filter(|_| !deadlock) {
            hidden.learn(&dir);
        }
        let worth = !found.races.is_empty()
            || !found.deadlocks.is_empty()
            || !found.livelocks.is_empty()
            || !found.uncaught.is_empty();
        let row = self
            .store
            .as_ref()
            .filter(|_| worth && control.serial())
            .map(|_| {
                let summary = found.summary.as_ref().and_then(|s| s.control.as_ref());
                let ended = summary.map_or("unknown", |control| control.outcome.as_str());
                let ended = ended.to_owned();
                let row = controlled_run::schedule(
                    "",
                    mode.name(),
                    &control,
                    summary,
                    &run.outcome,
                    ended,
                );
                (row, std::fs::read(dir.log()).unwrap_or_default())
            });
        let number = session.add(run);
        self.kept.extend(row.map(|row| (number, row)));
        Ok(deadlock)
    }

    /// Where schedules are kept, if they are.
    fn results(&self) -> Option<&'a Path> {
        self.store
            .as_ref()
            .map(|_| self.args.steer.results.as_path())
    }

    /// Keeps what it takes to see the findings again.
    fn keep(self, launcher: &Launcher<'_>, report: &mut Report) -> Result<(), Failure> {
        let Some(mut store) = self.store else {
            return Ok(());
        };
        let steer = &self.args.steer;
        controlled_run::keep(steer, &mut store, report, |run| {
            self.kept.get(&run).cloned()
        })?;
        if let Some(hidden) = &self.hidden {
            hidden.keep(store.dir())?;
        }
        let program = controlled_run::program(&launcher.java, &self.args.launch, None)?;
        Ok(store.finish(program, report)?)
    }
}

fn mode(detector: Detector) -> Mode {
    match detector {
        Detector::Fasttrack => Mode::FastTrack,
        Detector::Hybrid => Mode::Hybrid,
        Detector::Lockset => Mode::Lockset,
        Detector::H => Mode::H,
        Detector::None => Mode::None,
    }
}
