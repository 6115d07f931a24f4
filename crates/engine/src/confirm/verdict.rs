//! What came of a run, held against what the program does when nobody forces
//! anything.
//!
//! The reference is what the program prints when it runs alone. If it prints
//! something else under control without any target (a clock that is virtual,
//! hashes that count up), then what controlled runs without a target agree on.
//! If they do not agree, output is not compared, and the report says so.

use driver::process::{Outcome, Stopped};
use driver::run::RunResult;
use findings::confirmed::{Effect, ReferenceRuns};
use findings::finding::{Caught, Frame, StuckThreads, Uncaught};
use protocol::RunEnd;
use std::collections::BTreeSet;

/// What an undisturbed run does.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    /// Exit code and output; `None` if they vary by themselves.
    output: Option<Printed>,
    /// Exceptions that are uncaught in every run.
    uncaught: Vec<(String, Option<Frame>)>,
    /// What each controlled run caught.
    caught: Vec<Vec<Caught>>,
    /// Signs of failure of each run.
    signs: Vec<Vec<String>>,
}

/// An exit code, a digest of the output and its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Printed {
    exit: Option<i32>,
    sha256: Option<String>,
    beginning: Vec<u8>,
    /// The beginning of what it wrote to standard error.
    complaints: Vec<u8>,
}

/// What programs print when something has failed.
const ERROR_WORDS: [&str; 7] = [
    "error",
    "exception",
    "failed",
    "failure",
    "fatal",
    "corrupt",
    "assertion",
];

impl Printed {
    fn by(outcome: &Outcome) -> Printed {
        Printed {
            exit: outcome.exit,
            sha256: outcome.output_sha256.clone(),
            beginning: outcome.stdout.clone(),
            complaints: outcome.stderr.clone(),
        }
    }

    /// What speaks for a failure: another exit code than 0, words of errors.
    fn signs(&self) -> Vec<String> {
        let text = [&self.beginning[..], &self.complaints[..]].concat();
        let text = String::from_utf8_lossy(&text).to_lowercase();
        let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphabetic()).collect();
        let said = ERROR_WORDS.into_iter().filter(|word| words.contains(word));
        let exit = self.exit.filter(|code| *code != 0);
        let exit = exit.map(|code| format!("exit code {code}"));
        let said = said.map(|word| format!("the word \"{word}\" in what it prints"));
        exit.into_iter().chain(said).collect()
    }

    fn same(&self, other: &Printed) -> bool {
        (self.exit, &self.sha256) == (other.exit, &other.sha256)
    }
}

/// Which run is the reference, or what else must be known to say so.
#[derive(Debug)]
pub enum Choice {
    /// The reference, and what it is in words.
    Known(Reference, String),
    /// Another controlled run without a target is needed.
    More,
}

/// The usual reference, in words.
pub const ALONE: &str = "the program run alone";

/// How many controlled runs without a target are looked at, at least: one may
/// happen to be the odd one.
const LEAST_RUNS: usize = 2;

/// How many before we give up.
const MOST_RUNS: usize = 3;

impl Reference {
    /// `alone`: without the tool; `controlled`: runs without a target.
    pub fn choose(alone: &Outcome, controlled: &[RunResult]) -> Choice {
        if controlled.len() < LEAST_RUNS {
            return Choice::More;
        }
        let whole = |run: &&RunResult| run.outcome.stopped.is_none() && !stands(run);
        let runs: Vec<&RunResult> = controlled.iter().filter(whole).collect();
        // What dies in every run dies anyway; what dies in some, of a race.
        let dies = |run: &RunResult, of: &(String, Option<Frame>)| {
            run.findings.uncaught.iter().any(|u| signature(u) == *of)
        };
        let first = runs.first().map(|run| run.findings.uncaught.as_slice());
        let uncaught: Vec<_> = first
            .unwrap_or_default()
            .iter()
            .map(signature)
            .filter(|one| runs.iter().all(|run| dies(run, one)))
            .collect();
        if !uncaught.is_empty() && controlled.len() < MOST_RUNS {
            return Choice::More;
        }
        let caught: Vec<_> = runs.iter().map(|r| r.findings.caught.clone()).collect();
        // What it printed until somebody ended it is nothing to compare with.
        let ended = alone.stopped.is_none();
        let alone = ended.then(|| Printed::by(alone));
        let printed: Vec<Printed> = runs.iter().map(|r| Printed::by(&r.outcome)).collect();
        let known = |output: Option<Printed>, text: &str| {
            let all = printed.iter().chain(&alone);
            let signs = all.map(Printed::signs).collect();
            let reference = Reference {
                output,
                uncaught,
                caught: caught.clone(),
                signs,
            };
            Choice::Known(reference, text.to_owned())
        };
        if let Some(alone) = &alone
            && printed.iter().any(|p| p.same(alone))
        {
            return known(Some(alone.clone()), ALONE);
        }
        if controlled.len() < MOST_RUNS {
            return Choice::More;
        }
        match printed.split_first() {
            Some((first, rest)) if rest.iter().all(|p| p.same(first)) => known(
                Some(first.clone()),
                match ended {
                    true => {
                        "a controlled run that forces nothing; alone the program prints something else"
                    }
                    false => "a controlled run that forces nothing; alone the program did not end",
                },
            ),
            _ => known(None, ""),
        }
    }

    /// What the reference runs themselves did, the one without the tool among them.
    pub fn told(&self, alone: &Outcome, controlled: &[RunResult]) -> Vec<ReferenceRuns> {
        let printed = Printed::by(alone);
        let (result, detail) = match &self.output {
            Some(wanted) if !wanted.same(&printed) => {
                (Effect::OutputDiffers, difference(wanted, &printed))
            }
            _ => (Effect::Ok, String::new()),
        };
        let alone = alone.stopped.is_none().then(|| ReferenceRuns {
            runs: 1,
            result,
            detail,
            failure_signs: printed.signs(),
        });
        let judged = controlled.iter().filter_map(|run| self.judge(run).ok());
        let judged = judged.map(|verdict| ReferenceRuns {
            runs: 1,
            result: verdict.effect,
            detail: verdict.detail,
            failure_signs: verdict.signs,
        });
        ReferenceRuns::grouped(alone.into_iter().chain(judged))
    }

    /// Nothing is said of what runs print.
    pub fn without_output(self) -> Reference {
        Reference {
            output: None,
            ..self
        }
    }

    /// The first exception that the run caught and not every reference run did. What
    /// ended a thread passed through handlers on its way, which is not told again.
    fn newly_caught<'r>(&self, run: &'r RunResult) -> Option<(&'r Caught, Regularity)> {
        let died = |c: &&Caught| { run.findings.uncaught.iter() }.any(|u| u.class() == c.exception);
        let same = |a: &Caught, b: &Caught| (&a.exception, &a.thrown) == (&b.exception, &b.thrown);
        let in_run = |run: &Vec<Caught>, one: &Caught| run.iter().any(|known| same(known, one));
        let caught = run.findings.caught.iter().filter(|c| !died(c));
        let mut found = caught.filter_map(|one| {
            let runs = self.caught.iter().filter(|run| in_run(run, one)).count();
            match runs {
                0 => Some((one, Regularity::Never)),
                n if n < self.caught.len() => Some((one, Regularity::Sometimes)),
                _ => None,
            }
        });
        found.next()
    }

    /// Whether a run has a sign of failure that none of the reference runs has, or
    /// lacks one that they all have: then they are the ones that failed.
    fn is_unusual(&self, signs: &[String]) -> bool {
        let runs = &self.signs;
        let new = |sign: &String| !runs.iter().any(|run| run.contains(sign));
        let shared = |sign: &&String| runs.iter().all(|run| run.contains(sign));
        let mut shared = runs.iter().flatten().filter(shared);
        self.output.is_some() && (signs.iter().any(new) || shared.any(|sign| !signs.contains(sign)))
    }

    /// What came of a run; an error if it cannot be judged, and why.
    pub fn judge(&self, run: &RunResult) -> Result<Verdict, String> {
        let outcome = &run.outcome;
        let control = run
            .findings
            .summary
            .as_ref()
            .and_then(|s| s.control.as_ref());
        let word = control.map_or(RunEnd::Unknown, |control| control.outcome);
        match outcome.stopped {
            None => {}
            Some(Stopped::Stuck) => return Err("the JVM was stuck and was killed".into()),
            Some(_) => return Err("it was stopped before its end".into()),
        }
        let printed = Printed::by(outcome);
        // What the agent ended did not exit by itself.
        let signs = match word {
            RunEnd::Exit if self.output.is_some() => printed.signs(),
            _ => Vec::new(),
        };
        let verdict = |effect, detail: String| Verdict {
            effect,
            detail,
            stack: Vec::new(),
            caught: None,
            signs: signs.clone(),
            unusual: word == RunEnd::Exit && self.is_unusual(&signs),
            compared: self.output.is_some(),
        };
        if let Some(still) = run.findings.deadlocks.first() {
            return Ok(verdict(Effect::Deadlock, who_waits(still)));
        }
        if let Some(still) = run.findings.livelocks.first() {
            return Ok(verdict(Effect::Livelock, who_turns(still)));
        }
        match word {
            RunEnd::Exit => {}
            RunEnd::Deadlock => return Ok(verdict(Effect::Deadlock, String::new())),
            RunEnd::Livelock => return Ok(verdict(Effect::Livelock, String::new())),
            RunEnd::Stuck => return Err("it was stuck and had to be ended".into()),
            RunEnd::Limit => return Err("it reached the limit of steps".into()),
            _ => return Err("it ended without a word from the agent".into()),
        }
        let mut uncaught = run.findings.uncaught.iter();
        if let Some(new) = uncaught.find(|u| !self.uncaught.contains(&signature(u))) {
            let mut verdict = verdict(
                Effect::Exception,
                format!("{} in thread \"{}\"", new.exception, new.thread),
            );
            verdict.stack = new.stack.clone();
            return Ok(verdict);
        }
        if let Some((new, regularity)) = self.newly_caught(run) {
            let text = format!(
                "{} at {}, caught at {}",
                new.exception,
                place(&new.thrown),
                place(&new.by)
            );
            let mut verdict = verdict(Effect::Exception, text);
            verdict.stack = vec![new.thrown.clone()];
            verdict.caught = Some(regularity);
            return Ok(verdict);
        }
        match &self.output {
            Some(wanted) if !wanted.same(&printed) => {
                Ok(verdict(Effect::OutputDiffers, difference(wanted, &printed)))
            }
            _ => Ok(verdict(Effect::Ok, String::new())),
        }
    }
}

/// A run that the agent ended.
fn stands(run: &RunResult) -> bool {
    let control = run
        .findings
        .summary
        .as_ref()
        .and_then(|s| s.control.as_ref());
    control.is_none_or(|control| control.outcome != RunEnd::Exit)
}

fn signature(uncaught: &Uncaught) -> (String, Option<Frame>) {
    let class = uncaught.class().to_owned();
    (class, uncaught.stack.first().cloned())
}

/// How often an exception is caught in reference runs, which force nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regularity {
    Never,
    Sometimes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub effect: Effect,
    pub detail: String,
    pub stack: Vec<Frame>,
    /// The program caught the exception; how often reference runs do.
    pub caught: Option<Regularity>,
    /// What speaks for a failure in how it ended and what it printed.
    pub signs: Vec<String>,
    /// They are not those of the reference runs.
    pub unusual: bool,
    /// There was an output to compare with.
    pub compared: bool,
}

impl Verdict {
    /// Whether two trials ended in the same way: the same kind of exception
    /// from the same place, whatever its message.
    pub fn same(&self, effect: Effect, detail: &str, stack: &[Frame]) -> bool {
        let class = |text: &str| text.split([':', ' ']).next().map(str::to_owned);
        self.effect == effect
            && (effect != Effect::Exception
                || class(&self.detail) == class(detail) && self.stack.first() == stack.first())
    }
}

/// `a.B.m(B.java:12)`
fn place(frame: &Frame) -> String {
    let file = frame.file.as_deref().unwrap_or("unknown source");
    let line = frame
        .line
        .map_or_else(String::new, |line| format!(":{line}"));
    format!("{}.{}({file}{line})", frame.class, frame.method)
}

pub(crate) fn who_waits(still: &StuckThreads) -> String {
    let threads = still.threads.iter().map(|waiting| {
        let mut text = format!("\"{}\" waits for {}", waiting.thread, waiting.waits_for);
        if let Some(holder) = &waiting.held_by {
            text += &format!(", held by \"{holder}\"");
        }
        text
    });
    threads.collect::<Vec<_>>().join("; ")
}

fn who_turns(still: &StuckThreads) -> String {
    let threads = still.threads.iter().map(|t| format!("\"{}\"", t.thread));
    threads.collect::<Vec<_>>().join(" and ")
}

/// The first line that differs, or else the exit code.
fn difference(wanted: &Printed, got: &Printed) -> String {
    if wanted.sha256 == got.sha256 {
        let code = |p: &Printed| match p.exit {
            Some(code) => code.to_string(),
            None => "none, but a signal".to_owned(),
        };
        return format!("exit code {}, not {}", code(got), code(wanted));
    }
    let lines = |p: &Printed| -> Vec<String> {
        let text = String::from_utf8_lossy(&p.beginning);
        text.lines().map(str::to_owned).collect()
    };
    let (wanted, got) = (lines(wanted), lines(got));
    let at = wanted.iter().zip(&got).position(|(a, b)| a != b);
    let at = at.unwrap_or(wanted.len().min(got.len()));
    match (wanted.get(at), got.get(at)) {
        (Some(wanted), Some(got)) => format!("it prints {got:?}, not {wanted:?}"),
        (Some(wanted), None) => format!("it does not print {wanted:?}"),
        (None, Some(got)) => format!("it also prints {got:?}"),
        (None, None) => "it prints something else".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::finding::ControlSummary;
    use findings::finding::{Findings, Summary};

    fn outcome(exit: i32, text: &str) -> Outcome {
        Outcome {
            exit: Some(exit),
            output_sha256: Some(text.to_owned()),
            stdout: text.as_bytes().to_vec(),
            ..Outcome::default()
        }
    }

    fn run(exit: i32, text: &str, ended: RunEnd) -> RunResult {
        let control = Some(ControlSummary {
            outcome: ended,
            ..ControlSummary::default()
        });
        RunResult {
            outcome: outcome(exit, text),
            findings: Findings {
                summary: Some(Summary {
                    control,
                    ..Summary::default()
                }),
                ..Findings::default()
            },
            started: true,
        }
    }

    fn uncaught(text: &str) -> Uncaught {
        Uncaught {
            thread: "t".into(),
            exception: text.into(),
            ..Uncaught::default()
        }
    }

    fn known(alone: &Outcome, runs: &[RunResult]) -> (Reference, String) {
        match Reference::choose(alone, runs) {
            Choice::Known(reference, text) => (reference, text),
            Choice::More => panic!("undecided"),
        }
    }

    fn effect(reference: &Reference, run: &RunResult) -> (Effect, String) {
        let verdict = reference.judge(run).unwrap();
        (verdict.effect, verdict.detail)
    }

    #[test]
    fn the_reference_is_the_program_alone_if_control_changes_nothing() {
        let usual = || run(0, "a\nb", RunEnd::Exit);
        let alone = outcome(0, "a\nb");
        assert!(matches!(
            Reference::choose(&alone, &[usual()]),
            Choice::More
        ));
        let (reference, text) = known(&alone, &[usual(), usual()]);
        assert!(text.contains("alone"), "{text}");
        assert_eq!(
            effect(&reference, &run(0, "a\nb", RunEnd::Exit)).0,
            Effect::Ok
        );
        let (kind, detail) = effect(&reference, &run(0, "a\nc", RunEnd::Exit));
        assert_eq!(kind, Effect::OutputDiffers);
        assert_eq!(detail, "it prints \"c\", not \"b\"");
        let (_, detail) = effect(&reference, &run(3, "a\nb", RunEnd::Exit));
        assert_eq!(detail, "exit code 3, not 0");
    }

    #[test]
    fn a_program_that_prints_the_time_is_compared_with_controlled_runs() {
        let alone = outcome(0, "12:31");
        let same = || run(0, "00:00", RunEnd::Exit);
        let two = [same(), same()];
        assert!(matches!(Reference::choose(&alone, &two), Choice::More));
        let (reference, _) = known(&alone, &[same(), same(), same()]);
        assert_eq!(effect(&reference, &same()).0, Effect::Ok);
        assert_eq!(
            effect(&reference, &run(0, "x", RunEnd::Exit)).0,
            Effect::OutputDiffers
        );
        let (reference, text) = known(&alone, &[same(), run(0, "x", RunEnd::Exit), same()]);
        assert_eq!(text, "");
        assert_eq!(effect(&reference, &run(0, "y", RunEnd::Exit)).0, Effect::Ok);
    }

    #[test]
    fn an_exception_that_always_comes_is_not_the_races() {
        let mut usual = run(1, "", RunEnd::Exit);
        usual.findings.uncaught = vec![uncaught("java.lang.Error: 17")];
        let alone = outcome(1, "");
        let twice = [usual.clone(), usual.clone()];
        assert!(matches!(Reference::choose(&alone, &twice), Choice::More));
        let sometimes = [usual.clone(), run(1, "", RunEnd::Exit)];
        let (reference, _) = known(&alone, &sometimes);
        assert_eq!(effect(&reference, &usual).0, Effect::Exception);
        let (reference, _) = known(&alone, &[usual.clone(), usual.clone(), usual]);
        let mut trial = run(1, "", RunEnd::Exit);
        trial.findings.uncaught = vec![uncaught("java.lang.Error: 18")];
        assert_eq!(effect(&reference, &trial).0, Effect::Ok);
        trial
            .findings
            .uncaught
            .push(uncaught("java.lang.NullPointerException"));
        let (kind, detail) = effect(&reference, &trial);
        assert_eq!(kind, Effect::Exception);
        assert_eq!(detail, "java.lang.NullPointerException in thread \"t\"");
    }

    fn catching(exceptions: &[&str]) -> RunResult {
        let mut run = run(0, "", RunEnd::Exit);
        let caught = exceptions.iter().map(|class| Caught {
            exception: (*class).into(),
            ..Caught::default()
        });
        run.findings.caught = caught.collect();
        run
    }

    #[test]
    fn an_exception_that_is_caught_is_an_outcome_unless_every_run_has_it() {
        let usual = [catching(&["A", "B"]), catching(&["A"])];
        let (reference, _) = known(&outcome(0, ""), &usual);
        let caught = |exceptions: &[&str]| {
            let verdict = reference.judge(&catching(exceptions)).unwrap();
            (verdict.effect, verdict.caught)
        };
        assert_eq!(caught(&["A"]), (Effect::Ok, None));
        let sometimes = (Effect::Exception, Some(Regularity::Sometimes));
        assert_eq!(caught(&["A", "B"]), sometimes);
        let never = (Effect::Exception, Some(Regularity::Never));
        assert_eq!(caught(&["C"]), never);
        // A handler that throws again catches nothing.
        let mut died = catching(&["C"]);
        died.findings.uncaught = vec![uncaught("C: x")];
        assert_eq!(reference.judge(&died).unwrap().caught, None);
    }

    #[test]
    fn either_side_may_be_the_one_that_fails() {
        let unusual = |usual: (i32, &str), trial: (i32, &str)| {
            let of = |(exit, text)| run(exit, text, RunEnd::Exit);
            let (reference, _) = known(&outcome(usual.0, usual.1), &[of(usual), of(usual)]);
            let verdict = reference.judge(&of(trial)).unwrap();
            (verdict.unusual, verdict.signs)
        };
        assert_eq!(unusual((0, "22"), (0, "17")), (false, vec![]));
        let (differs, signs) = unusual((0, "22"), (1, "Error: 17"));
        assert!(differs);
        let word = "the word \"error\" in what it prints";
        assert_eq!(signs, ["exit code 1", word]);
        assert_eq!(unusual((1, "ERROR"), (0, "22")), (true, vec![]));
        assert!(!unusual((0, "error rate 1"), (0, "error rate 2")).0);
        assert!(!unusual((0, "terrors"), (0, "errors")).0, "other words");
    }

    #[test]
    fn reference_runs_are_told_with_their_frequencies() {
        let usual = || run(0, "a", RunEnd::Exit);
        let mut died = run(1, "b", RunEnd::Exit);
        died.findings.uncaught = vec![uncaught("E: 1")];
        let alone = outcome(0, "a");
        let runs = [usual(), died, usual(), run(112, "", RunEnd::Deadlock)];
        let (reference, _) = known(&alone, &runs);
        let told = reference.told(&alone, &runs);
        let told: Vec<_> = told
            .iter()
            .map(|r| (r.runs, r.result, r.failure_signs.len()))
            .collect();
        let wanted = [
            (3, Effect::Ok, 0),
            (1, Effect::Exception, 1),
            (1, Effect::Deadlock, 0),
        ];
        assert_eq!(told, wanted);
    }

    #[test]
    fn a_program_that_does_not_end_alone_is_compared_with_controlled_runs() {
        let usual = || run(0, "a", RunEnd::Exit);
        let mut alone = outcome(0, "");
        alone.stopped = Some(Stopped::TimeLimit);
        let runs = || (0..MOST_RUNS).map(|_| usual()).collect::<Vec<_>>();
        let (reference, text) = known(&alone, &runs());
        assert!(text.ends_with("alone the program did not end"), "{text}");
        assert_eq!(effect(&reference, &usual()).0, Effect::Ok);
        let told = reference.told(&alone, &runs());
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].runs, MOST_RUNS as u64);
    }

    #[test]
    fn runs_that_say_nothing_are_not_judged() {
        let usual = || run(0, "", RunEnd::Exit);
        let (reference, _) = known(&outcome(0, ""), &[usual(), usual()]);
        for word in [RunEnd::Stuck, RunEnd::Limit, RunEnd::Unknown] {
            assert!(reference.judge(&run(0, "", word)).is_err(), "{word}");
        }
        let mut stopped = run(0, "", RunEnd::Exit);
        stopped.outcome.stopped = Some(Stopped::Stuck);
        assert!(reference.judge(&stopped).is_err());
        let still = run(112, "", RunEnd::Deadlock);
        assert_eq!(effect(&reference, &still).0, Effect::Deadlock);
    }
}
