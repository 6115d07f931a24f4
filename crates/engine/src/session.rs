//! From runs of a program to a report and an exit code: what commands that run
//! programs have in common.

use crate::config::LaunchConfig;
use crate::verdict::Facts;
use driver::process::{Outcome, Stopped, signal_name};
use driver::run::RunResult;
use findings::merge::Merge;
use findings::result::{Jvm, Program, Report, Run};
use findings::sampling::Sampling;
use protocol::RunEnd;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// How a JVM that crashed looks from outside: ILL, ABRT, BUS, FPE, SEGV. Any
/// other signal was sent by somebody.
const CRASHES: [i32; 5] = [4, 6, 7, 8, 11];

/// The runs so far.
#[derive(Clone, Debug)]
pub struct Session {
    start: Instant,
    merge: Merge,
    runs: u64,
    program: Program,
    seen: Accidents,
    interrupted: bool,
    /// What runs before these came to, if somebody went on.
    earlier: Option<Report>,
}

/// What befell runs: it decides what the result comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accidents {
    /// Java refused its arguments.
    refused: bool,
    /// Some run was stopped before its end, or ended without a word.
    limited: bool,
    /// Some run died of what may be our fault.
    crashed: bool,
}

impl Session {
    pub fn new(launch: &LaunchConfig) -> Session {
        let args = launch
            .program
            .iter()
            .map(|arg| arg.to_string_lossy().into_owned())
            .collect();
        Session {
            start: Instant::now(),
            merge: Merge::new(),
            runs: 0,
            program: Program {
                args,
                ..Program::default()
            },
            seen: Accidents::default(),
            interrupted: false,
            earlier: None,
        }
    }

    /// Goes on after the runs of a report.
    pub fn resume(launch: &LaunchConfig, earlier: Report, seen: Accidents) -> Session {
        let mut session = Session::new(launch);
        session.runs = earlier.runs.len() as u64;
        session.program = earlier.program.clone();
        session.earlier = Some(earlier);
        session.seen = seen;
        session
    }

    /// What befell its runs.
    pub fn accidents(&self) -> Accidents {
        self.seen
    }

    pub fn warn(&mut self, text: String) {
        self.merge.warn(text);
    }

    /// Adds a run; its number, counted from 1.
    pub fn add(&mut self, result: RunResult) -> u64 {
        self.add_run(result, None)
    }

    /// Adds what one of the JVMs of a command did.
    pub fn add_jvm(&mut self, result: RunResult, jvm: Jvm) -> u64 {
        self.add_run(result, Some(jvm))
    }

    /// The command has ended.
    pub fn end_command(&mut self, outcome: &Outcome) {
        self.program.exit = outcome.exit;
        self.program.output_sha256 = outcome.output_sha256.clone();
    }

    fn add_run(&mut self, result: RunResult, jvm: Option<Jvm>) -> u64 {
        let RunResult {
            outcome,
            findings,
            started,
        } = result;
        let said = findings.summary.as_ref().map(|s| s.ended);
        let control = findings.summary.as_ref().and_then(|s| s.control.clone());
        let hidden = findings.summary.as_ref().and_then(|s| s.hidden.clone());
        let ended = ended(&outcome, said, started);
        self.seen.refused |= !started && outcome.stopped.is_none();
        // Without the agent's last word, what it found may be incomplete; and what
        // threads did that are not followed is not known.
        self.seen.limited |= outcome.stopped.is_some()
            || !findings.unwatched.is_empty()
            || started && said.is_none()
            || matches!(ended, RunEnd::Stuck | RunEnd::Limit);
        self.interrupted |= outcome.stopped == Some(Stopped::Interrupted);
        if let (Some(signal), None) = (outcome.signal, outcome.stopped) {
            self.seen.crashed |= CRASHES.contains(&signal);
        }
        for text in complaints(&outcome, said.is_some(), started) {
            self.merge.warn(text);
        }
        let dump = outcome
            .dump
            .or_else(|| findings.stuck.as_ref().map(|(_, dump)| dump.clone()));
        self.merge.add(
            findings,
            Run {
                exit: outcome.exit,
                signal: outcome.signal.map(signal_name),
                ended,
                races: 0,
                seconds: outcome.elapsed.as_secs_f64(),
                scheduler: match &hidden {
                    Some(hidden) => Some(hidden.scheduler.clone()),
                    None => control.as_ref().map(|c| c.strategy.clone()),
                },
                seed: control
                    .as_ref()
                    .map(|c| c.seed)
                    .or(hidden.as_ref().map(|h| h.seed)),
                steps: control.as_ref().map(|c| c.steps),
                switches: control.as_ref().map(|c| c.switches),
                digest: control.and_then(|c| c.digest),
                dump: dump.filter(|dump| !dump.is_empty()),
                hidden,
                jvm,
            },
        );
        self.program.exit = outcome.exit;
        self.program.output_sha256 = outcome.output_sha256;
        self.runs += 1;
        self.runs
    }

    /// The same for a run in a JVM that had made others before. How the program ends
    /// and what it prints is told of fresh ones.
    pub fn add_reused(&mut self, result: RunResult) -> u64 {
        let program = self.program.clone();
        let number = self.add(result);
        self.program = program;
        number
    }

    /// Somebody ended the work between two runs.
    pub fn interrupt(&mut self) {
        self.interrupted = true;
        self.seen.limited = true;
    }

    /// Whether another run makes no sense.
    pub fn is_over(&self) -> bool {
        self.interrupted || self.seen.refused
    }

    /// The report, and what else is known; with a warning if nothing was exercised.
    pub fn finish(self, command: &str) -> (Report, Facts) {
        let (mut report, facts) = self.conclude(command);
        if facts.not_exercised {
            let text = not_exercised(&report);
            if !report.warnings.contains(&text) {
                report.warnings.push(text);
            }
        }
        (report, facts)
    }

    /// The same, without the warning.
    pub fn conclude(self, command: &str) -> (Report, Facts) {
        let seconds = self.start.elapsed().as_secs_f64();
        let program = self.program.clone();
        let new = self
            .merge
            .finish(crate::tool(), command, self.program, seconds);
        let mut report = match self.earlier {
            Some(mut report) => {
                report.absorb(new);
                report.program = program;
                report
            }
            None => new,
        };
        let sampling = report.coverage.sampling.as_ref();
        if let Some(text) = sampling.map(Sampling::warning)
            && !report.warnings.contains(&text)
        {
            report.warnings.push(text);
        }
        let idle = self.seen.refused || idle(&report);
        let shown = !report.races.is_empty() || report.has_findings();
        let facts = Facts {
            tool_failed: self.seen.crashed,
            not_exercised: idle && !shown && !self.seen.crashed && !self.seen.limited,
            limit_reached: self.seen.limited,
            ..Facts::default()
        };
        (report, facts)
    }
}

/// Whether the runs that came to their end exercised nothing. Of a run that
/// did not, we do not know.
fn idle(report: &Report) -> bool {
    let c = &report.coverage;
    let told = report.runs.iter().any(|run| run.ended == RunEnd::Exit);
    let blind = c.sampling.as_ref().is_some_and(Sampling::is_blind);
    told && (c.classes_instrumented == 0 || c.threads < 2 || blind)
}

/// Why nothing was exercised.
pub fn not_exercised(report: &Report) -> String {
    let why = if report
        .runs
        .iter()
        .any(|run| run.ended == RunEnd::NotStarted)
    {
        "java did not start the program"
    } else if report.coverage.classes_instrumented == 0 {
        "no class was instrumented: check --include and --exclude, or the main class"
    } else if report.coverage.threads < 2 {
        "the program ran in a single thread"
    } else {
        "nothing was watched within the budget"
    };
    format!("nothing was exercised: {why}; that no race was found says nothing")
}

/// How the run ended. `said` is what the agent wrote, if it came to that.
fn ended(outcome: &Outcome, said: Option<RunEnd>, started: bool) -> RunEnd {
    match (outcome.stopped, said) {
        (Some(Stopped::TimeLimit), _) => RunEnd::TimeLimit,
        (Some(Stopped::Interrupted | Stopped::Unwanted), _) => RunEnd::Interrupted,
        (Some(Stopped::Stuck), _) => RunEnd::Stuck,
        (Some(Stopped::StillRuns), _) => RunEnd::Running,
        // That it diverged is said elsewhere.
        (None, Some(RunEnd::Diverged | RunEnd::Unknown)) => RunEnd::Exit,
        (None, Some(end)) => end,
        (None, None) if outcome.signal.is_some() => RunEnd::Killed,
        (None, None) if !started => RunEnd::NotStarted,
        (None, None) => RunEnd::Halt,
    }
}

/// What java said instead of running the program, where that was not shown as it came.
fn not_started(outcome: &Outcome) -> String {
    let how = match (outcome.exit, outcome.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => signal_name(signal),
        (None, None) => "no exit code".to_owned(),
    };
    let said = [&outcome.stderr, &outcome.stdout].map(|text| String::from_utf8_lossy(text));
    let mut lines = said.iter().flat_map(|text| text.lines());
    let said = lines.find(|line| !line.trim().is_empty());
    let said = said.map_or(String::new(), |line| format!(": {}", line.trim()));
    format!("nothing ran: java ended before the program began ({how}){said}")
}

/// Where a run was not what it seems.
fn complaints(outcome: &Outcome, summary: bool, started: bool) -> Vec<String> {
    let mut texts = Vec::new();
    if outcome.stopped == Some(Stopped::StillRuns) {
        return texts;
    }
    if !started {
        texts.push(not_started(outcome));
    } else if !summary {
        texts.push(
            "the program ended without an orderly exit: what was found up to then is reported, \
             how much was covered is unknown"
                .to_owned(),
        );
    }
    if outcome.stopped == Some(Stopped::Stuck) {
        texts.push(
            "the JVM showed no sign of life and was killed (--watchdog says after how long)"
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::{FAIL_ON, Verdict, decide};
    use findings::finding::{Findings, Summary};
    use std::time::Duration;

    fn launch() -> LaunchConfig {
        LaunchConfig::new(["Main"])
    }

    fn result(exit: Option<i32>, signal: Option<i32>, threads: Option<u64>) -> RunResult {
        let summary = threads.map(|threads| Summary {
            classes_instrumented: 3,
            threads,
            ended: RunEnd::Exit,
            ..Summary::default()
        });
        RunResult {
            outcome: Outcome {
                exit,
                signal,
                elapsed: Duration::from_millis(5),
                ..Outcome::default()
            },
            findings: Findings {
                summary,
                ..Findings::default()
            },
            started: true,
        }
    }

    #[test]
    fn what_java_said_instead_of_running_the_program_is_told() {
        let said = |stderr: &str, stdout: &str| {
            not_started(&Outcome {
                exit: Some(1),
                stderr: stderr.into(),
                stdout: stdout.into(),
                ..Outcome::default()
            })
        };
        let began = "nothing ran: java ended before the program began (exit code 1)";
        let shown = said("\nError: no main\nCaused by: this\n", "");
        assert_eq!(shown, format!("{began}: Error: no main"));
        // What is wrong with the JVM itself goes to standard output.
        assert_eq!(
            said("", "Too small heap\n"),
            format!("{began}: Too small heap")
        );
        assert_eq!(said("", ""), began);
    }

    fn verdict(result: RunResult) -> (Verdict, RunEnd) {
        let mut session = Session::new(&launch());
        session.add(result);
        let (report, facts) = session.finish("detect");
        let verdict = decide(Some(&report), FAIL_ON, facts);
        (verdict, report.runs[0].ended)
    }

    #[test]
    fn verdicts_say_what_is_known() {
        use Verdict::{Limit, NotExercised, NothingFound, ToolFailed};
        assert_eq!(
            verdict(result(Some(0), None, Some(2))),
            (NothingFound, RunEnd::Exit)
        );
        assert_eq!(
            verdict(result(Some(9), None, Some(2))),
            (NothingFound, RunEnd::Exit)
        );
        assert_eq!(
            verdict(result(Some(0), None, Some(1))),
            (NotExercised, RunEnd::Exit)
        );
        let mut unwatched = result(Some(0), None, Some(2));
        unwatched.findings.unwatched = vec!["virtual threads".to_owned()];
        assert_eq!(verdict(unwatched), (Limit, RunEnd::Exit));
        assert_eq!(verdict(result(Some(0), None, None)), (Limit, RunEnd::Halt));
        assert_eq!(
            verdict(result(None, Some(9), None)),
            (Limit, RunEnd::Killed)
        );
        assert_eq!(
            verdict(result(None, Some(11), None)),
            (ToolFailed, RunEnd::Killed)
        );
        let mut refused = result(Some(1), None, None);
        refused.started = false;
        assert_eq!(verdict(refused), (NotExercised, RunEnd::NotStarted));
        let mut stopped = result(Some(143), None, Some(2));
        stopped.outcome.stopped = Some(Stopped::TimeLimit);
        assert_eq!(verdict(stopped), (Limit, RunEnd::TimeLimit));
        let mut stuck = result(None, Some(9), None);
        stuck.outcome.stopped = Some(Stopped::Stuck);
        assert_eq!(verdict(stuck), (Limit, RunEnd::Stuck));
    }

    #[test]
    fn a_run_that_the_agent_ended_is_no_exit_of_the_programs() {
        let ended = |end: RunEnd| {
            let mut result = result(Some(112), None, Some(2));
            let summary = result.findings.summary.as_mut().unwrap();
            summary.ended = end;
            if end == RunEnd::Deadlock {
                result.findings.deadlocks.push(Default::default());
            }
            verdict(result)
        };
        assert_eq!(ended(RunEnd::Exit), (Verdict::NothingFound, RunEnd::Exit));
        assert_eq!(ended(RunEnd::Deadlock), (Verdict::Found, RunEnd::Deadlock));
        assert_eq!(ended(RunEnd::Stuck), (Verdict::Limit, RunEnd::Stuck));
        assert_eq!(ended(RunEnd::Limit), (Verdict::Limit, RunEnd::Limit));
    }

    #[test]
    fn what_was_before_counts_when_somebody_goes_on() {
        let mut first = Session::new(&launch());
        first.add(result(Some(3), None, Some(2)));
        first.add(result(None, Some(9), None));
        let accidents = first.accidents();
        let (earlier, facts) = first.finish("verify");
        assert!(facts.limit_reached);
        // Nothing more is run.
        let same = Session::resume(&launch(), earlier.clone(), accidents);
        let (report, facts) = same.finish("verify");
        assert_eq!(
            (report.runs, facts.limit_reached),
            (earlier.runs.clone(), true)
        );
        let mut more = Session::resume(&launch(), earlier, accidents);
        assert_eq!(more.add(result(Some(4), None, Some(2))), 3);
        let (report, facts) = more.finish("verify");
        assert_eq!((report.runs.len(), facts.limit_reached), (3, true));
        assert_eq!(report.program.exit, Some(4));
    }
}
