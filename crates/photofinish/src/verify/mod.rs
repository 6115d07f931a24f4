//! `verify`: every schedule of a program, and an honest word about whether that
//! was all (Java RaceFinder; crate `explore` has the search).
//!
//! ```text
//! search   the coordinator: executions out, results in
//! ```
//!
//! A race is reported as observed: it was unordered by happens-before in an
//! execution that was made. That there is no other is said only if the
//! exploration is complete and nothing in any execution was out of control.

pub mod search;

use crate::args::Verify;
use crate::exit::{self, Failure};
use crate::launch::Launcher;
use crate::outputs::Outputs;
use crate::session::Session;
use crate::show;
use crate::steer;
use crate::suppress;
use driver::process::Input;
use explore::{Config, Progress, Stop};
use report::result::Report;
use search::{Asked, Explored};
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Steps after which an execution is taken never to end.
const MAX_STEPS: u64 = 20_000;

pub fn command(args: &Verify) -> Result<u8, Failure> {
    let launcher = Launcher::new(&args.launch)?;
    let known = suppress::load(&args.show)?;
    let outputs = Outputs::open(&args.show)?;
    let mut store = steer::store(&args.steer)?;
    let began = Instant::now();
    let mut line = Line::new(args);
    let explored = search::explore(
        &launcher,
        Session::new(&args.launch),
        &asked(args, began),
        &mut |progress| line.show(progress),
    )?;
    line.clear();
    let verdict = Verdict::of(&explored);
    let Explored { session, kept, .. } = explored;
    let (mut report, code) = session.finish("verify");
    steer::keep(&args.steer, &mut store, &mut report, |run| {
        let kept = kept.get(&run)?;
        Some((kept.schedule.clone(), kept.log.clone()))
    })?;
    let code = suppress::apply(&known, &mut report, code);
    verdict.tell(&mut report);
    report.timing.total_s = began.elapsed().as_secs_f64();
    let program = steer::program(&launcher.java, &args.launch, args.input.as_deref())?;
    store.finish(program, &report)?;
    outputs.write(&report)?;
    show::to_terminal(&report, &args.show, &args.launch.program, std::io::stderr())?;
    if !args.show.quiet {
        eprint!("{}", verdict.text(&report));
    }
    Ok(match code {
        exit::NOTHING_FOUND | exit::LIMIT if verdict.complete => exit::NOTHING_FOUND,
        exit::NOTHING_FOUND => exit::LIMIT,
        code => code,
    })
}

fn asked(args: &Verify, began: Instant) -> Asked {
    let seconds = args.max_seconds.map(Duration::from_secs);
    let limit = match (seconds, args.launch.time_limit) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let mut control = steer::control(&args.steer, "explore", args.steer.seed);
    control.max_steps = Some(args.steer.max_steps.unwrap_or(MAX_STEPS));
    Asked {
        config: Config {
            order: args.order.order(),
            preemptions: args.bound,
            max_executions: args.max_executions,
            threshold: args.threshold,
        },
        jobs: args.jobs.map_or(cores, |n| n as usize),
        deadline: limit.and_then(|limit| began.checked_add(limit)),
        input: match &args.input {
            Some(file) => Input::File(file.clone()),
            None => Input::Empty,
        },
        control,
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

    fn show(&mut self, progress: &Progress) {
        let soon = |at: Instant| at.elapsed() < Duration::from_millis(200);
        if !self.shown || self.last.is_some_and(soon) {
            return;
        }
        self.last = Some(Instant::now());
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
    /// Why it is not complete.
    reasons: Vec<String>,
    /// A limit is the only reason.
    limited: bool,
}

impl Verdict {
    fn of(explored: &Explored) -> Verdict {
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
            "not_complete": self.reasons,
            "limited": self.limited,
        });
        report.other.insert("exploration".to_owned(), exploration);
    }

    fn text(&self, report: &Report) -> String {
        let p = &self.progress;
        let scope = match self.bounded {
            Some(k) => format!("schedule with at most {k} preemptions"),
            None => "schedule".to_owned(),
        };
        let executions = count(p.executions, "execution");
        let found = report.has_findings();
        if self.complete {
            let what = match (found, report.races.is_empty()) {
                (false, _) => {
                    format!("no data race, deadlock or uncaught exception in any {scope}")
                }
                (true, true) => format!("no data race in any {scope}"),
                (true, false) => format!("these are all that were found in every {scope}"),
            };
            return format!(
                "complete: {what} of this program on this input ({executions}, {} in the last round)\n",
                self.classes
            );
        }
        let share = match p.estimate {
            Some(all) if all >= 1.0 && p.stopped.is_some() | self.is_cut() => {
                let share = (self.classes as f64 / all * 100.0).min(99.0);
                format!(", about {share:.0}% of the estimated space")
            }
            _ => String::new(),
        };
        let mut text = format!("not complete: stopped after {executions}{share}\n");
        for reason in &self.reasons {
            text += &format!("  = {reason}\n");
        }
        text
    }

    fn is_cut(&self) -> bool {
        self.progress.outstanding > 0 || !self.progress.complete && self.progress.lost == 0
    }
}

fn count(n: u64, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}
