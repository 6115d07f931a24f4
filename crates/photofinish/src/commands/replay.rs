//! `replay`: whether it was the same run, and how the threads took turns.

use crate::args::Replay;
use crate::exit::{self, Failure};
use crate::outputs::Outputs;
use crate::say::{say, say_on};
use crate::show;
use anyhow::Context;
use driver::process::Output;
use engine::replay::{ReplayConfig, Replayed, Sameness, Source};
use engine::sources::SourceTree;
use findings::sources::Sources;
use findings::text::clean;
use report::timeline::{Timeline, Timelines};
use schedule::log::Log;
use schedule::table::{Row, Table};
use std::ffi::OsString;
use std::io::Write;

/// Longer runs of one thread are not shown step by step.
const FOLD: usize = 12;

pub fn command(args: &Replay) -> Result<u8, Failure> {
    if let Some(file) = &args.case {
        return super::export::case(args, file);
    }
    let outputs = Outputs::open(&args.show)?;
    let replayed = engine::replay::replay(&config(args))?;
    let timeline = (replayed.name.clone(), Timeline::of_log(&replayed.log));
    let timelines = Timelines::from([timeline]);
    let report = &replayed.answer.report;
    outputs.write_with(report, &timelines)?;
    if args.show.verbose && !args.show.quiet {
        interleaving(&replayed.log, args, &replayed.program)?;
    }
    let nothing = Timelines::new();
    let program = &replayed.program;
    show::with_schedules(report, &args.show, program, &nothing, std::io::stderr())?;
    if !args.show.quiet {
        for race in &replayed.races {
            say!("{}", clean(race));
        }
        say_on!("{}", sameness(&replayed));
        if let Some(origin) = &replayed.origin {
            let program = replayed.program.iter().map(|arg| arg.to_string_lossy());
            let program: Vec<_> = program.collect();
            say!(
                "  = of result {}, {} UTC: java {}",
                origin.number,
                clean(&origin.made),
                clean(&program.join(" "))
            );
        }
        for reason in &replayed.reasons {
            say!("  = {}", clean(reason));
        }
    }
    let fail_on = args.show.fail_on.status();
    Ok(exit::code(replayed.answer.verdict(fail_on)))
}

fn config(args: &Replay) -> ReplayConfig {
    let source = match &args.log {
        Some(log) => Source::Log(log.clone()),
        None => Source::Result {
            results: args.results.clone(),
            number: args.result,
            id: args.id.clone().unwrap_or_default(),
        },
    };
    ReplayConfig {
        debug: args.debug,
        watchdog: args.watchdog,
        // The program's output is passed on and digested.
        output: match show::program_output(&args.show) {
            Output::Inherit => Output::Digest,
            other => other,
        },
        launch: args.launch.config(),
        ..ReplayConfig::new(source)
    }
}

fn sameness(replayed: &Replayed) -> String {
    let name = clean(&replayed.name);
    match &replayed.sameness {
        Sameness::Same { steps, digest } => match &replayed.digest_then {
            Some(_) => format!("{name}: the same run again, {steps} steps, {digest}\n"),
            None => format!(
                "{name}: {steps} steps were followed, {digest}; the first run was cut short, \
                 so there is no digest to compare\n"
            ),
        },
        Sameness::Other { step, what } => {
            let at = match step {
                Some(step) => format!(" at step {step}"),
                None => String::new(),
            };
            format!("{name}: the run went another way{at}: {}\n", clean(what))
        }
    }
}

/// The run as a table, one column a thread, with source lines.
fn interleaving(log: &Log, args: &Replay, program: &[OsString]) -> Result<(), Failure> {
    let mut table = Table::new(log, FOLD);
    let sources = SourceTree::new(&args.show.sources, program);
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
