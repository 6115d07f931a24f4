//! `detect`: run the program, one or many times, and report what raced.

use crate::args::{Detect, Detector};
use crate::exit::{self, Failure};
use crate::launch::Launcher;
use crate::show;
use driver::options::Mode;
use driver::process::{Outcome, Stopped, signal_name};
use driver::run::RunResult;
use report::merge::Merge;
use report::result::{Program, Report, Run};
use std::io::IsTerminal;
use std::time::Instant;

pub fn command(args: &Detect) -> Result<u8, Failure> {
    let launcher = Launcher::new(&args.launch)?;
    // Fail now, not after an hour of running.
    let json = show::JsonFile::open(&args.show)?;
    let mode = match args.detector {
        Detector::Fasttrack => Mode::FastTrack,
        Detector::Hybrid => Mode::Hybrid,
        Detector::Lockset => Mode::Lockset,
        Detector::H => Mode::H,
    };
    let output = show::program_output(&args.show);
    let progress =
        args.runs > 1 && !args.show.quiet && (args.show.verbose || std::io::stderr().is_terminal());

    let start = Instant::now();
    let mut merge = Merge::new();
    let mut program = program(args);
    let mut answer = Answer::default();
    for number in 1..=args.runs {
        if progress {
            eprintln!("photofinish: run {number} of {}", args.runs);
        }
        let RunResult {
            outcome,
            findings,
            started,
        } = launcher.run(number, mode, None, output)?;
        answer.add(&outcome, findings.summary.is_some(), started);
        let summary = findings.summary.as_ref();
        let ended = ended(&outcome, summary.map(|s| s.ended.as_str()), started);
        for text in complaints(&outcome, summary.is_some(), started) {
            merge.warn(text);
        }
        merge.add(
            findings,
            Run {
                exit: outcome.exit,
                signal: outcome.signal.map(signal_name),
                ended: ended.to_owned(),
                races: 0,
                seconds: outcome.elapsed.as_secs_f64(),
            },
        );
        program.exit = outcome.exit;
        program.output_sha256 = outcome.output_sha256;
        if outcome.stopped == Some(Stopped::Interrupted) || !started {
            break;
        }
    }
    let mut report = merge.finish(
        show::tool(),
        "detect",
        program,
        start.elapsed().as_secs_f64(),
    );
    let code = answer.code(&report);
    if code == exit::NOT_EXERCISED {
        report.warnings.push(not_exercised(&report));
    }
    json.write(&report)?;
    show::to_terminal(&report, &args.show, &args.launch.program, std::io::stderr())?;
    Ok(code)
}

fn program(args: &Detect) -> Program {
    let text = args
        .launch
        .program
        .iter()
        .map(|a| a.to_string_lossy().into_owned());
    Program {
        args: text.collect(),
        ..Program::default()
    }
}

/// What the runs together allow us to say.
#[derive(Debug, Default)]
struct Answer {
    /// Some run did not get to its end.
    limited: bool,
    /// Java refused its arguments.
    refused: bool,
    /// Some run died of what looks like our fault.
    crashed: bool,
}

impl Answer {
    fn add(&mut self, outcome: &Outcome, summary: bool, started: bool) {
        self.refused |= !started && outcome.stopped.is_none();
        self.limited |= outcome.stopped.is_some();
        if let (Some(signal), None) = (outcome.signal, outcome.stopped) {
            // ILL, ABRT, BUS, FPE, SEGV: the JVM crashed. Anything else was
            // sent by somebody.
            let crash = [4, 6, 7, 8, 11].contains(&signal);
            self.crashed |= crash;
            self.limited |= !crash && !summary;
        }
    }

    fn code(&self, report: &Report) -> u8 {
        let c = &report.coverage;
        let ended_well = report.runs.iter().any(|run| run.ended == "exit");
        if !report.races.is_empty() {
            exit::FOUND
        } else if self.crashed {
            exit::TOOL_FAILED
        } else if self.limited {
            exit::LIMIT
        } else if self.refused || ended_well && (c.classes_instrumented == 0 || c.threads < 2) {
            exit::NOT_EXERCISED
        } else {
            exit::NOTHING_FOUND
        }
    }
}

/// One word for the run's end. `said` is what the agent wrote, if it came to
/// that.
fn ended(outcome: &Outcome, said: Option<&str>, started: bool) -> &'static str {
    match (outcome.stopped, said) {
        (Some(Stopped::TimeLimit), _) => "time-limit",
        (Some(Stopped::Interrupted), _) => "interrupted",
        (None, Some("halt")) => "halt",
        (None, Some(_)) => "exit",
        (None, None) if outcome.signal.is_some() => "killed",
        (None, None) if !started => "not-started",
        (None, None) => "halt",
    }
}

/// Where a run was not what it seems.
fn complaints(outcome: &Outcome, summary: bool, started: bool) -> Vec<String> {
    let mut texts = Vec::new();
    if !started {
        texts.push(
            "java ended before the program began (its message is above): nothing ran".to_owned(),
        );
    } else if !summary {
        texts.push(
            "the program ended without an orderly exit: what it found up to then is reported, \
             how much was covered is unknown"
                .to_owned(),
        );
    }
    if let (Some(signal), None) = (outcome.signal, outcome.stopped) {
        texts.push(format!(
            "the JVM was ended by {}; if it left an hs_err file, that says where",
            signal_name(signal)
        ));
    }
    texts
}

fn not_exercised(report: &Report) -> String {
    let why = if report.runs.iter().any(|run| run.ended == "not-started") {
        "java did not start the program"
    } else if report.coverage.classes_instrumented == 0 {
        "no class was instrumented: check --include and --exclude, or the main class"
    } else {
        "the program ran in a single thread"
    };
    format!("nothing was exercised: {why}; that no race was found says nothing")
}
