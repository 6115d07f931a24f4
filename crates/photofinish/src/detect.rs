//! `detect`: run the program, one or many times, and report what raced.

use crate::args::{Detect, Detector, Scheduler};
use crate::exit::Failure;
use crate::launch::{Launcher, Plan};
use crate::offline;
use crate::outputs::Outputs;
use crate::session::Session;
use crate::show;
use crate::steer;
use crate::suppress;
use driver::options::Mode;
use driver::process::Output;
use driver::store::{Schedule, Writer};
use report::result::Report;
use report::timeline::Timelines;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;

pub fn command(args: &Detect) -> Result<u8, Failure> {
    if let Some(trace) = &args.trace {
        return offline::command(args, trace);
    }
    if args.detector == Detector::None
        && matches!(args.scheduler, Scheduler::Native | Scheduler::Contest)
    {
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

    let mut steered = Steered::new(args)?;
    let mut session = Session::new(&args.launch);
    for number in 1..=args.runs {
        if progress {
            eprintln!("photofinish: run {number} of {}", args.runs);
        }
        steered.run(&launcher, number, output, &mut session)?;
        if session.is_over() {
            break;
        }
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
}

impl<'a> Steered<'a> {
    fn new(args: &'a Detect) -> Result<Steered<'a>, Failure> {
        let serial = args.scheduler.strategy().is_some() && args.scheduler != Scheduler::Contest;
        Ok(Steered {
            args,
            store: serial.then(|| steer::store(&args.steer)).transpose()?,
            kept: BTreeMap::new(),
        })
    }

    fn run(
        &mut self,
        launcher: &Launcher<'_>,
        number: u32,
        output: Output,
        session: &mut Session,
    ) -> Result<(), Failure> {
        let args = self.args;
        let mode = mode(args.detector);
        let Some(strategy) = args.scheduler.strategy() else {
            session.add(launcher.run(number, mode, None, output)?);
            return Ok(());
        };
        let seed = steer::seed(&args.steer, u64::from(number) - 1);
        let mut control = steer::control(&args.steer, strategy, seed);
        control.depth = args.depth;
        let dir = launcher.directory(&format!("run-{number}"))?;
        let plan = Plan {
            control: Some(control.clone()),
            time_limit: args.launch.time_limit,
            ..Plan::new(mode, output)
        };
        let run = launcher.run_in(&dir, plan)?;
        let found = &run.findings;
        let worth = !found.races.is_empty()
            || !found.deadlocks.is_empty()
            || !found.livelocks.is_empty()
            || !found.uncaught.is_empty();
        let row = self.store.as_ref().filter(|_| worth).map(|_| {
            let summary = found.summary.as_ref().and_then(|s| s.control.as_ref());
            let ended = summary.map_or("unknown", |control| control.outcome.as_str());
            let ended = ended.to_owned();
            let row = steer::schedule("", mode.name(), &control, summary, &run.outcome, ended);
            (row, std::fs::read(dir.log()).unwrap_or_default())
        });
        let number = session.add(run);
        self.kept.extend(row.map(|row| (number, row)));
        Ok(())
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
        steer::keep(steer, &mut store, report, |run| {
            self.kept.get(&run).cloned()
        })?;
        let program = steer::program(&launcher.java, &self.args.launch, None)?;
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
