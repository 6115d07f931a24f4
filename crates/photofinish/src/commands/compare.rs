//! `compare`: tables on standard output, a picture and JSON in files.

use crate::args::Compare;
use crate::exit::{self, Failure};
use crate::progress::Terminal;
use crate::say;
use anyhow::Context;
use findings::compare::{Comparison, Subject};
use report::compare::{by_depth, by_scheduler, svg};
use schedule::Scheduler;

/// Depths are of these; the others are beside them.
fn goes_by_relation(subject: &Subject) -> bool {
    Scheduler::named(&subject.scheduler).is_some_and(Scheduler::goes_by_relation)
}

pub fn command(args: &Compare) -> Result<u8, Failure> {
    let progress = Terminal::new(args.quiet, false);
    let compared = engine::compare::compare(&args.config(), &progress)?;
    progress.clear();
    let (all, schedulers) = (&compared.all, &compared.schedulers);
    let mut text = by_scheduler(all, schedulers);
    if !compared.depths.is_empty() {
        let others: Vec<Subject> = schedulers
            .iter()
            .filter(|s| !goes_by_relation(s))
            .cloned()
            .collect();
        text += &format!("\n{}", by_depth(all, &compared.depths, &others));
    }
    if !compared.whole {
        text += "not all runs were made; the same command goes on from here\n";
    }
    if let Some(path) = &args.svg {
        let picture = svg(all, schedulers).unwrap_or_default();
        std::fs::write(path, picture)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(path) = &args.json {
        let text = json(args, all)?;
        std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    say::answer(text)?;
    let verdict = engine::decide(None, engine::FAIL_ON, compared.facts);
    Ok(exit::code(verdict))
}

fn json(args: &Compare, all: &Comparison) -> Result<String, Failure> {
    let program: Vec<String> = args
        .launch
        .program
        .iter()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect();
    let value = serde_json::json!({
        "schema": findings::result::SCHEMA,
        "tool": engine::tool(),
        "command": "compare",
        "program": { "args": program },
        "runs": all.rows,
    });
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}
