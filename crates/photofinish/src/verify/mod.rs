//! `verify`: every schedule of a program, and an honest word about whether that
//! was all (Java RaceFinder; crate `explore` has the search).
//!
//! ```text
//! search   the coordinator: executions out, results in
//! resume   what is kept on disk, and going on with it
//! ```
//!
//! A race is reported as observed: it was unordered by happens-before in an
//! execution that was made. That there is no other is said only if the
//! exploration is complete and nothing in any execution was out of control.

mod resume;
pub mod search;

use crate::args::Verify;
use crate::controlled_run;
use crate::exit::{self, Failure};
use crate::launch::Launcher;
use crate::outputs::Outputs;
use crate::session::Session;
use crate::show;
use crate::suppress;
use driver::options::Control;
use driver::process::Input;
use explore::{Config, Progress, Stop};
use findings::result::Report;
use resume::{Keeper, Saved};
use search::{Search, SearchConfig, Standing};
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Steps after which an execution is taken never to end.
pub const MAX_STEPS: u64 = 20_000;

pub fn command(args: &Verify) -> Result<u8, Failure> {
    let launcher = Launcher::new(&args.launch)?;
    let known = suppress::load(&args.show)?;
    let outputs = Outputs::open(&args.show)?;
    let program = controlled_run::program(&launcher.java, &args.launch, args.input.as_deref())?;
    let (mut keeper, saved) = Keeper::new(args, program, &known)?;
    let (session, from) = match saved {
        Some(Saved { state, report, .. }) => {
            let session = Session::resume(&args.launch, report, state.accidents());
            (session, Some(state))
        }
        None => (Session::new(&args.launch), None),
    };
    let asked = asked(args);
    let mut line = Line::new(args);
    let mut watch = |search: &Search<'_>| {
        line.show(search);
        keeper.moment(search)
    };
    let search = search::explore(&launcher, session, &asked, from, &mut watch)?;
    line.clear();
    let verdict = Verdict::of(&search.standing());
    let (report, code) = search.session().clone().finish("verify");
    let (report, code) = keeper.finish(&search, report, code, &verdict)?;
    outputs.write(&report)?;
    show::to_terminal(&report, &args.show, &args.launch.program, std::io::stderr())?;
    Ok(match code {
        exit::NOTHING_FOUND | exit::LIMIT if verdict.complete => exit::NOTHING_FOUND,
        exit::NOTHING_FOUND => exit::LIMIT,
        code => code,
    })
}

fn control(args: &Verify) -> Control {
    let mut control = controlled_run::control(&args.steer, "explore", args.steer.seed);
    control.max_steps = Some(args.steer.max_steps.unwrap_or(MAX_STEPS));
    control
}

fn asked(args: &Verify) -> SearchConfig {
    let seconds = args.max_seconds.map(Duration::from_secs);
    let limit = match (seconds, args.launch.time_limit) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    SearchConfig {
        config: Config {
            order: args.order.order(),
            preemptions: args.bound,
            max_executions: args.max_executions,
            threshold: args.threshold,
        },
        jobs: args.jobs.map_or(cores, |n| n as usize),
        deadline: limit.and_then(|limit| Instant::now().checked_add(limit)),
        isolate: args.isolate,
        repairs: Vec::new(),
        input: match &args.input {
            Some(file) => Input::File(file.clone()),
            None => Input::Empty,
        },
        control: control(args),
    }
}

/// How far it is, on a terminal.
struct Line {
    shown: bool,
    last: Option<Instant>,
}

impl Line {
    fn new(args: &Verify) -> Line {
        Line {
            shown: !args.show.quiet && std::io::stderr().is_terminal(),
            last: None,
        }
    }

    fn show(&mut self, search: &Search<'_>) {
        let soon = |at: Instant| at.elapsed() < Duration::from_millis(200);
        if !self.shown || self.last.is_some_and(soon) {
            return;
        }
        self.last = Some(Instant::now());
        let progress = search.standing().progress;
        let of = progress.estimate.map_or(String::new(), |all| {
            format!(" of about {}", all.round() as u64)
        });
        let mut out = std::io::stderr();
        let _ = write!(
            out,
            "\r\x1b[Kphotofinish: {} executions{of}",
            progress.executions
        );
        let _ = out.flush();
    }

    fn clear(&self) {
        if self.last.is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

/// What can be said of the exploration as a whole.
struct Verdict {
    complete: bool,
    progress: Progress,
    classes: u64,
    rounds: u32,
    bounded: Option<u32>,
    is_cut: bool,
    /// Executions made in JVMs that made others before, and why there are no more.
    reused: u64,
    isolated: Option<String>,
    /// Why it is not complete.
    reasons: Vec<String>,
    /// A limit is the only reason.
    limited: bool,
}

impl Verdict {
    fn of(explored: &Standing) -> Verdict {
        let progress = &explored.progress;
        let mut reasons: Vec<String> = explored.missing.iter().cloned().collect();
        if progress.lost > 0 && reasons.is_empty() {
            reasons.push(format!(
                "{} executions could not be made as planned",
                progress.lost
            ));
        }
        if explored.interrupted {
            reasons.push("it was interrupted".to_owned());
        } else if explored.out_of_time {
            reasons.push("there was no more time".to_owned());
        } else {
            match progress.stopped {
                Some(Stop::Executions) => {
                    reasons.push("there were to be no more executions".to_owned());
                }
                Some(Stop::Threshold) => {
                    reasons.push("as many races were found as were asked for".to_owned());
                }
                None => {}
            }
        }
        Verdict {
            complete: explored.is_complete(),
            progress: progress.clone(),
            classes: explored.classes,
            rounds: explored.rounds,
            bounded: explored.bound,
            is_cut: explored.is_cut,
            reused: explored.reused,
            isolated: explored.isolated.clone(),
            reasons,
            limited: !explored.is_complete() && explored.missing.is_empty() && progress.lost == 0,
        }
    }

    /// Puts it into the report.
    fn tell(&self, report: &mut Report) {
        let by = "verify".to_owned();
        for race in &mut report.races {
            if !race.found_by.contains(&by) {
                race.found_by.push(by.clone());
            }
        }
        let p = &self.progress;
        let exploration = json!({
            "complete": self.complete,
            "executions": p.executions,
            "classes": self.classes,
            "rounds": self.rounds,
            "pruned": 0,
            "max_depth": p.max_depth,
            "lost": p.lost,
            "preemptions": self.bounded,
            "estimate": p.estimate.map(|all| all.round()),
            "reused_jvms": self.reused,
            "isolated": self.isolated,
            "not_complete": self.reasons,
            "limited": self.limited,
            "resumable": self.is_cut,
        });
        report.other.insert("exploration".to_owned(), exploration);
    }
}
