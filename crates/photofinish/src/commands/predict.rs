//! `predict`: the report, violations beyond races, and a table of the engines.

use super::confirm_with;
use crate::args::Predict;
use crate::exit::{self, Failure};
use crate::outputs::Outputs;
use crate::show;
use engine::confirm::{ConfirmConfig, Pairs};
use engine::{ControlConfig, launch, predict};
use findings::prediction::Engine;
use report::timeline::Timelines;
use std::fmt::Write as _;
use std::io::Write as _;

pub fn command(args: &Predict) -> Result<u8, Failure> {
    let known = show::suppressions(&args.show)?;
    let config = args.config(show::program_output(&args.show), known.clone());
    if args.trace.is_none() {
        launch::check(&config.launch)?;
    }
    let outputs = Outputs::open(&args.show)?;
    let predicted = match &args.trace {
        Some(path) => predict::from_trace(&config, path)?,
        None => predict::from_program(&config)?,
    };
    let answer = predicted.answer;
    let is_stale = { answer.report.atomicity.iter() }.any(|violation| violation.stale.is_some());
    let confirms = args.confirm && (is_stale || !answer.report.races.is_empty());
    if !confirms {
        let program = &args.launch.program;
        show::answer(&answer, &args.show, outputs, program, &Timelines::new())?;
    }
    if !args.show.quiet && answer.report.engines.len() > 1 {
        let text = table(&answer.report.engines);
        // A user who closed standard error does not want this either.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
    if !confirms {
        return Ok(exit::code(answer.verdict(args.show.fail_on.status())));
    }
    let config = ConfirmConfig {
        pairs: Pairs::Report(Box::new(answer.report)),
        operations: args.operations.clone(),
        suppress: known,
        control: ControlConfig {
            results: args.results.clone(),
            ..ControlConfig::default()
        },
        launch: args.launch.config(),
        ..ConfirmConfig::default()
    };
    confirm_with(&config, &args.show)
}

/// What each engine found, in pairs of statements.
fn table(rows: &[Engine]) -> String {
    let mut text = format!(
        "\n{:<8}{:>7}{:>10}{:>11}{:>11}{:>7}{:>9}\n",
        "engine", "pairs", "observed", "predicted", "potential", "alone", "seconds"
    );
    for row in rows {
        let _ = writeln!(
            text,
            "{:<8}{:>7}{:>10}{:>11}{:>11}{:>7}{:>9.2}",
            row.engine,
            row.pairs,
            row.observed,
            row.predicted,
            row.potential,
            row.alone,
            row.seconds
        );
    }
    text
}
