//! `replay`: a run again, exactly, from the schedule that was kept of it.
//!
//! The run is the same if the agent followed the schedule to its end and the
//! digest of all events is the same. If not, the command says at which event it
//! went another way and what has changed since that could be why.

use crate::args::{Launch, Replay};
use crate::controlled_run;
use crate::exit::{self, Failure};
use crate::launch::{Launcher, Plan};
use crate::outputs::Outputs;
use crate::session::Session;
use crate::show;
use crate::sources::SourceTree;
use anyhow::Context;
use driver::options::{Control, Mode};
use driver::process::{Input, Output};
use driver::run::RunResult;
use driver::store::{Program, Schedule, Store};
use findings::control::ControlSummary;
use findings::text::clean;
use report::terminal::Sources;
use report::timeline::{Timeline, Timelines};
use schedule::log::{Entry, Log};
use schedule::table::{self, Row, Table};
use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use tempfile::TempDir;

/// With a debugger attached nobody can say what is stuck.
const PATIENCE_OF_DEBUGGERS: u64 = 24 * 60 * 60;

/// What is replayed.
struct Kept {
    program: Option<Program>,
    schedule: Schedule,
    log: PathBuf,
    /// Where the log is while the agent reads it, if it was kept in results.
    _unpacked: Option<TempDir>,
}

pub fn command(args: &Replay) -> Result<u8, Failure> {
    let kept = find(args)?;
    let launch = launch(args, &kept);
    let mut launcher = Launcher::new(&launch)?;
    launcher.directory = kept.program.as_ref().map(|p| p.directory.clone());
    let outputs = Outputs::open(&args.show)?;
    let mode = Mode::named(&kept.schedule.mode).unwrap_or(Mode::None);
    let plan = Plan {
        control: Some(control(args, &kept)?),
        input: match kept.program.as_ref().map(|program| &program.input) {
            Some(Some(file)) => Input::File(file.clone()),
            // A program that was given none must not wait for ours.
            Some(None) if matches!(&*kept.schedule.strategy, "racefuzzer" | EXPLORE) => {
                Input::Empty
            }
            _ => Input::Inherit,
        },
        time_limit: args.launch.time_limit,
        ..Plan::new(mode, output(args))
    };
    let mut session = Session::new(&launch);
    let dir = launcher.directory("replay")?;
    let run = launcher.run_in(&dir, plan)?;

    let verdict = compare(&kept, &run);
    let uncontrolled = run.findings.warnings.clone();
    session.add(run);
    let (mut report, code) = session.finish("replay");
    report.other.insert("replayed".into(), verdict.json(&kept));
    // Of equal runs the first one's schedule also has the races.
    let same = matches!(verdict, Verdict::Same { .. });
    let path = if same { kept.log.clone() } else { dir.log() };
    let log = std::fs::read(&path)
        .ok()
        .and_then(|bytes| schedule::log::read(&bytes).ok())
        .unwrap_or_default();
    let timeline = (kept.schedule.name.clone(), Timeline::of_log(&log));
    let timelines = Timelines::from([timeline]);
    outputs.write_with(&report, &timelines)?;
    if args.show.verbose && !args.show.quiet {
        interleaving(&log, args, &launch)?;
    }
    show::to_terminal(&report, &args.show, &launch.program, std::io::stderr())?;
    let races = races(&log);
    if !args.show.quiet {
        races.iter().for_each(|race| eprintln!("{}", clean(race)));
        eprint!("{}", verdict.text(&kept));
    }
    if !same {
        if !args.show.quiet {
            for reason in reasons(&kept, &launcher, &uncontrolled) {
                eprintln!("  = {}", clean(&reason));
            }
        }
        return Ok(exit::TOOL_FAILED);
    }
    Ok(match code {
        exit::NOTHING_FOUND if !races.is_empty() => exit::FOUND,
        code => code,
    })
}

fn find(args: &Replay) -> Result<Kept, Failure> {
    if let Some(log) = &args.log {
        let bytes = std::fs::read(log)
            .with_context(|| format!("cannot read {}", log.display()))
            .map_err(usage)?;
        let read = schedule::log::read(&bytes)
            .map_err(|e| Failure::usage(format!("{}: {e}", log.display())))?;
        let digest = read.end.as_ref().map(|end| format!("{:016x}", end.digest));
        let parameter = |name: &str| {
            let mut all = read.header.parameters.iter();
            all.find(|(key, _)| key == name).map(|(_, v)| v.clone())
        };
        return Ok(Kept {
            program: None,
            schedule: Schedule {
                name: log.display().to_string(),
                mode: parameter("mode").unwrap_or_else(|| Mode::None.name().to_owned()),
                strategy: read.header.strategy.clone(),
                seed: read.header.seed,
                digest,
                pair: parameter("pair")
                    .and_then(|text| driver::options::read_pair(&text))
                    .iter()
                    .flatten()
                    .map(|side| side.iter().map(ToString::to_string).collect())
                    .collect(),
                ..Schedule::default()
            },
            log: log.canonicalize()?,
            _unpacked: None,
        });
    }
    let store = Store::open_result(&args.results, args.result).map_err(|e| usage(e.into()))?;
    let id = args.id.as_deref().unwrap_or_default();
    let (schedule, bytes) = store.schedule(id).map_err(|e| usage(e.into()))?;
    let directory = tempfile::Builder::new()
        .prefix("photofinish-")
        .tempdir()
        .context("cannot make a directory for the schedule; is TMPDIR writable?")?;
    let log = directory.path().join("kept.pfs");
    std::fs::write(&log, bytes).context("cannot unpack the schedule")?;
    Ok(Kept {
        schedule,
        log: log.canonicalize()?,
        program: Some(store.program().clone()),
        _unpacked: Some(directory),
    })
}

fn usage(error: anyhow::Error) -> Failure {
    Failure {
        code: exit::USAGE,
        error,
    }
}

/// How the program was started, with what the user wants to be different.
fn launch(args: &Replay, kept: &Kept) -> Launch {
    let asked = &args.launch;
    let mut launch = match &kept.program {
        None => Launch {
            include: asked.include.clone(),
            exclude: asked.exclude.clone(),
            trusted: asked.trusted.clone(),
            untracked: asked.untracked.clone(),
            check_unshared: asked.check_unshared,
            time_limit: asked.time_limit,
            java: asked.java.clone(),
            keep: asked.keep.clone(),
            program: asked.program.clone(),
        },
        Some(program) => Launch {
            include: program.include.clone(),
            exclude: program.exclude.clone(),
            trusted: program.trusted.clone(),
            untracked: program.untracked.clone(),
            check_unshared: asked.check_unshared,
            time_limit: asked.time_limit,
            java: asked.java.clone().or(Some(program.java.clone())),
            keep: asked.keep.clone(),
            program: if asked.program.is_empty() {
                program.args.iter().map(OsString::from).collect()
            } else {
                asked.program.clone()
            },
        },
    };
    if let Some(port) = args.debug.filter(|_| !launch.program.is_empty()) {
        let jdwp = format!("-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address={port}");
        launch.program.insert(0, jdwp.into());
    }
    launch
}

/// The strategy of executions that are part of an exploration.
const EXPLORE: &str = "explore";

fn control(args: &Replay, kept: &Kept) -> Result<Control, Failure> {
    let mut control = Control::new("replay", kept.schedule.seed);
    if kept.schedule.strategy == EXPLORE {
        let job = kept.schedule.job.as_ref().ok_or_else(|| {
            Failure::usage("an execution of `verify` is replayed by its id, not from its log alone")
        })?;
        let path = kept.log.with_extension("job.json");
        std::fs::write(&path, job).context("cannot unpack the schedule")?;
        control.strategy = EXPLORE.to_owned();
        control.explore = Some(path);
    } else {
        control.replay = Some(kept.log.clone());
    }
    control.debugger = args.debug.is_some();
    control.watchdog = Some(match args.debug {
        Some(_) => PATIENCE_OF_DEBUGGERS,
        None => args.watchdog,
    });
    if let [a, b] = &kept.schedule.pair[..] {
        let side = |texts: &[String]| {
            let parsed: Result<Vec<_>, String> = texts.iter().map(|t| t.parse()).collect();
            parsed.map_err(|why| usage(anyhow::Error::msg(why)))
        };
        control.pair = Some([side(a)?, side(b)?]);
    }
    Ok(control)
}

/// The program's output is passed on and digested.
fn output(args: &Replay) -> Output {
    match show::program_output(&args.show) {
        Output::Inherit => Output::Digest,
        other => other,
    }
}

/// Whether it was the same run.
enum Verdict {
    Same {
        steps: u64,
        digest: String,
    },
    /// It went another way, or there is no saying.
    Other {
        step: Option<u64>,
        what: String,
    },
}

fn compare(kept: &Kept, run: &RunResult) -> Verdict {
    let summary = run.findings.summary.as_ref();
    let control: Option<&ControlSummary> = summary.and_then(|s| s.control.as_ref());
    let other = |step, what: String| Verdict::Other { step, what };
    let Some(control) = control else {
        return other(
            None,
            "it ended before the agent could say how it went".into(),
        );
    };
    if let Some(left) = &control.divergence {
        let mut what = format!("expected was {}; instead came {}", left.expected, left.got);
        if !left.why.is_empty() {
            what += &format!(" ({})", left.why);
        }
        return other(Some(left.step), what);
    }
    match (&kept.schedule.digest, &control.digest) {
        (Some(before), Some(now)) if before == now => Verdict::Same {
            steps: control.steps,
            digest: now.clone(),
        },
        (Some(before), Some(now)) => other(
            None,
            format!("all steps could be followed, but the events differ: {now}, not {before}"),
        ),
        (None, Some(now)) => Verdict::Same {
            steps: control.steps,
            digest: now.clone(),
        },
        (_, None) => other(None, "the agent did not say which events it saw".into()),
    }
}

impl Verdict {
    fn text(&self, kept: &Kept) -> String {
        let name = clean(&kept.schedule.name);
        match self {
            Verdict::Same { steps, digest } => match &kept.schedule.digest {
                Some(_) => format!("{name}: the same run again, {steps} steps, {digest}\n"),
                None => format!(
                    "{name}: {steps} steps were followed, {digest}; the first run was cut short, \
                     so there is no digest to compare\n"
                ),
            },
            Verdict::Other { step, what } => {
                let at = match step {
                    Some(step) => format!(" at step {step}"),
                    None => String::new(),
                };
                format!("{name}: the run went another way{at}: {}\n", clean(what))
            }
        }
    }

    fn json(&self, kept: &Kept) -> serde_json::Value {
        let (same, step, what) = match self {
            Verdict::Same { .. } => (true, None, None),
            Verdict::Other { step, what } => (false, *step, Some(what)),
        };
        serde_json::json!({
            "name": kept.schedule.name,
            "seed": kept.schedule.seed,
            "same": same,
            "diverged_at": step,
            "what": what,
        })
    }
}

/// What has changed since the first run, as far as we can tell.
fn reasons(kept: &Kept, launcher: &Launcher<'_>, uncontrolled: &[String]) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(program) = &kept.program {
        if launcher.java.version != program.java_version {
            reasons.push(format!(
                "another Java: {}, then {}",
                launcher.java.version, program.java_version
            ));
        }
        let args: Vec<OsString> = program.args.iter().map(OsString::from).collect();
        let now = controlled_run::digests(&program.directory, &args, program.input.as_deref());
        let changes = driver::classes::changes(&program.classes, &now);
        reasons.extend(
            changes
                .into_iter()
                .map(|change| format!("the program: {change}")),
        );
        let given: Vec<String> = launcher
            .program()
            .iter()
            .map(|arg| arg.to_string_lossy().into_owned())
            .filter(|arg| !arg.starts_with("-agentlib:jdwp="))
            .collect();
        if given != program.args {
            reasons.push("other arguments than then".to_owned());
        }
    }
    let named = uncontrolled
        .iter()
        .filter(|w| w.starts_with("not under control"));
    reasons.extend(named.cloned());
    if reasons.is_empty() {
        reasons.push(
            "Java, classes and arguments are the same: the program depends on something that is \
             not under control (files, the network, native code)"
                .to_owned(),
        );
    }
    reasons
}

/// The run as a table, one column a thread, with source lines.
fn interleaving(log: &Log, args: &Replay, launch: &Launch) -> Result<(), Failure> {
    let mut table = Table::new(log, FOLD);
    let sources = SourceTree::new(&args.show.sources, &launch.program);
    for row in &mut table.rows {
        if let Row::Step { place, .. } = row
            && let Some(text) = source_line(place, &sources)
        {
            *place = format!("{place}  {}", clean(text.trim()));
        }
    }
    let done = write!(std::io::stderr().lock(), "{table}");
    match done {
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other.context("cannot write the table")?),
    }
}

/// The races that were made to happen, in words.
fn races(log: &Log) -> Vec<String> {
    let mut steps = 0;
    let mut found = Vec::new();
    for entry in &log.entries {
        match entry {
            Entry::Step { .. } => steps += 1,
            Entry::Hit(hit) => {
                let [first, second] = [&hit.first, &hit.second].map(|r| table::sentence(log, r));
                found.push(format!(
                    "at step {steps}, side by side: {first}; then {second}"
                ));
            }
            Entry::Tick | Entry::Note(_) => {}
        }
    }
    let many = found.len();
    if many > SHOWN_RACES {
        found.truncate(SHOWN_RACES);
        found.push(format!("and {} more times", many - SHOWN_RACES));
    }
    found
}

const SHOWN_RACES: usize = 5;

/// Longer runs of one thread are not shown step by step.
const FOLD: usize = 12;

/// The text of the line that `pack.Class.method File.java:12` names.
fn source_line(place: &str, sources: &SourceTree) -> Option<String> {
    let (member, at) = place.rsplit_once(' ')?;
    let (file, line) = at.rsplit_once(':')?;
    let (class, _) = member.rsplit_once('.')?;
    let (_, text) = sources.line(class, file, line.parse().ok()?)?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::control::Divergence;
    use findings::finding::{Findings, Summary};

    fn kept(digest: Option<&str>) -> Kept {
        Kept {
            program: None,
            schedule: Schedule {
                name: "R1.ok".into(),
                digest: digest.map(str::to_owned),
                ..Schedule::default()
            },
            log: PathBuf::new(),
            _unpacked: None,
        }
    }

    fn run(control: Option<ControlSummary>) -> RunResult {
        RunResult {
            outcome: Default::default(),
            findings: Findings {
                summary: control.map(|control| Summary {
                    control: Some(control),
                    ..Summary::default()
                }),
                ..Findings::default()
            },
            started: true,
        }
    }

    fn with_digest(digest: &str) -> ControlSummary {
        ControlSummary {
            digest: Some(digest.into()),
            steps: 5,
            ..ControlSummary::default()
        }
    }

    #[test]
    fn only_an_equal_digest_is_the_same_run() {
        let same =
            |kept: &Kept, run: &RunResult| matches!(compare(kept, run), Verdict::Same { .. });
        assert!(same(&kept(Some("ab")), &run(Some(with_digest("ab")))));
        assert!(!same(&kept(Some("ab")), &run(Some(with_digest("cd")))));
        assert!(same(&kept(None), &run(Some(with_digest("cd")))));
        assert!(!same(
            &kept(Some("ab")),
            &run(Some(ControlSummary::default()))
        ));
        assert!(!same(&kept(Some("ab")), &run(None)));
        let left = ControlSummary {
            divergence: Some(Divergence {
                step: 3,
                expected: "x".into(),
                got: "y".into(),
                why: String::new(),
            }),
            ..with_digest("ab")
        };
        let verdict = compare(&kept(Some("ab")), &run(Some(left)));
        let text = verdict.text(&kept(None));
        assert!(
            text.contains("at step 3: expected was x; instead came y"),
            "{text}"
        );
    }

    #[test]
    fn places_lead_to_source_lines() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("a")).unwrap();
        std::fs::write(dir.path().join("a/B.java"), "one\n  two();\n").unwrap();
        let sources = SourceTree::new(&[dir.path().to_owned()], &[]);
        let line = |place: &str| source_line(place, &sources);
        assert_eq!(line("a.B.run B.java:2").as_deref(), Some("  two();"));
        assert_eq!(line("a.B.<init> B.java:9"), None);
        assert_eq!(line("a.B.run @3"), None);
        assert_eq!(line(""), None);
    }
}
