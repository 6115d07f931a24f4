//! The commands: from arguments to a call of the engine, and from its answer to
//! files, text and an exit code.

mod campaign;
mod compare;
mod explain;
mod export;
mod generated;
mod hunt;
mod hunt_summary;
mod predict;
mod replay;
mod trace;

use crate::args::{Advise, AgentPath, Command, Confirm, Detect, Merge, Record, Show, Verify};
use crate::exit::{self, Failure};
use crate::outputs::Outputs;
use crate::progress::Terminal;
use crate::say::{self, say};
use crate::show;
use engine::confirm::{ConfirmConfig, Pairs};
use engine::merge::{self, MergeConfig};
use engine::{advise, confirm, detect, exec, launch, offline, record, saved, verify};
use report::timeline::Timelines;
use std::ffi::OsString;

/// Does what was asked for; the exit code.
pub fn run(command: Command) -> Result<u8, Failure> {
    match command {
        Command::Hunt(args) => hunt::command(&args),
        Command::Detect(args) => detect(&args),
        Command::Compare(args) => compare::command(&args),
        Command::Advise(args) => advise(&args),
        Command::Confirm(args) => confirm(&args),
        Command::Replay(args) => replay::command(&args),
        Command::Record(args) => record(&args),
        Command::Predict(args) => predict::command(&args),
        Command::Verify(args) => verify(&args),
        Command::Campaign(command) => campaign::command(&command),
        Command::Trace(command) => trace::command(&command),
        Command::Report(args) => show::command(&args),
        Command::Merge(args) => merge(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Export(args) => export::command(&args),
        Command::Doctor(args) => explain::doctor(&args),
        Command::AgentPath(args) => agent_path(&args),
        Command::Completions(args) => generated::completions(&args),
        Command::Man(args) => generated::man(&args),
    }
}

fn detect(args: &Detect) -> Result<u8, Failure> {
    let known = show::suppressions(&args.show)?;
    let program = &args.launch.program;
    if let Some(trace) = &args.trace {
        if !args.sharding.shard.is_whole() {
            return Err(Failure::usage(
                "a trace is looked at in one go: leave out --shard",
            ));
        }
        let outputs = Outputs::open(&args.show)?;
        let detector = args.detector.0.ok_or_else(|| {
            Failure::usage("a trace is there to be looked at: choose a --detector")
        })?;
        let answer = offline::detect(trace, detector, &known)?;
        return show::answer(&answer, &args.show, outputs, program, &Timelines::new());
    }
    let output = show::program_output(&args.show);
    let progress = Terminal::new(args.show.quiet, args.show.verbose).steps_if(args.runs > 1);
    if args.exec {
        let config = args.exec_config(output, known)?;
        let outputs = Outputs::open(&args.show)?;
        let answer = exec::detect(&config, &progress)?;
        progress.clear();
        return show::answer(&answer, &args.show, outputs, &[], &Timelines::new());
    }
    let config = args.config(output, known);
    launch::check(&config.launch)?;
    let outputs = Outputs::open(&args.show)?;
    let found = detect::detect(&config, &progress)?;
    progress.clear();
    let kept = found
        .results
        .map_or_else(Timelines::new, |dir| outputs.kept(&dir, None));
    show::answer(&found.answer, &args.show, outputs, program, &kept)
}

fn agent_path(args: &AgentPath) -> Result<u8, Failure> {
    let text = match &args.options {
        Some(dir) => exec::options(dir)?,
        None => launch::agent_library()?.into_os_string(),
    };
    // As bytes: scripts give it to a JVM.
    say::answer([text.as_encoded_bytes(), b"\n"].concat())?;
    Ok(exit::NOTHING_FOUND)
}

fn record(args: &Record) -> Result<u8, Failure> {
    let config = args.config(show::program_output(&args.show));
    launch::check(&config.launch)?;
    let outputs = Outputs::open(&args.show)?;
    let recorded = record::record(&config)?;
    let report = &recorded.answer.report;
    outputs.write_with(report, &Timelines::new())?;
    if !args.show.quiet {
        for text in &report.warnings {
            say!("warning: {}", findings::text::clean(text));
        }
        if let Some(trace) = &recorded.trace {
            say!("{}", trace::summary(trace, &args.output));
        }
    }
    Ok(exit::code(
        recorded.answer.verdict(args.show.fail_on.status()),
    ))
}

fn confirm(args: &Confirm) -> Result<u8, Failure> {
    let pairs = match (&args.from, &args.pair[..]) {
        (Some(file), _) => Pairs::Report(Box::new(saved::load(file, None)?)),
        (None, []) => Pairs::Looked,
        (None, pairs) => Pairs::Named(pairs.to_vec()),
    };
    let config = args.config(pairs, show::suppressions(&args.show)?);
    confirm_with(&config, &args.show)
}

/// Also for what `predict` has found.
fn confirm_with(config: &ConfirmConfig, show: &Show) -> Result<u8, Failure> {
    let launch = config.launch();
    launch::check(&launch)?;
    let outputs = Outputs::open(show)?;
    let progress = Terminal::new(show.quiet, show.verbose);
    let answer = confirm::confirm(config, &progress)?;
    progress.clear();
    let kept = outputs.kept(&config.control.results, None);
    show::answer(&answer, show, outputs, &launch.program, &kept)
}

fn verify(args: &Verify) -> Result<u8, Failure> {
    let points = match &args.points {
        Some(file) => saved::points(file)?,
        None => Vec::new(),
    };
    let config = args.config(points, show::suppressions(&args.show)?);
    launch::check(&config.launch)?;
    let outputs = Outputs::open(&args.show)?;
    let progress = Terminal::new(args.show.quiet, args.show.verbose);
    let answer = verify::verify(&config, &progress)?;
    progress.clear();
    let kept = outputs.kept(&config.control.results, None);
    show::answer(&answer, &args.show, outputs, &args.launch.program, &kept)
}

fn merge(args: &Merge) -> Result<u8, Failure> {
    let config = MergeConfig {
        from: args.from.clone(),
        results: args.output.clone(),
        suppress: show::suppressions(&args.show)?,
    };
    let outputs = Outputs::open(&args.show)?;
    let answer = merge::merge(&config)?;
    let kept = { args.output.as_ref() }.map_or_else(Timelines::new, |dir| outputs.kept(dir, None));
    let on_stdout = outputs.is_stdout();
    outputs.write_with(&answer.report, &kept)?;
    if !on_stdout {
        let program: Vec<OsString> = answer
            .report
            .program
            .args
            .iter()
            .map(OsString::from)
            .collect();
        show::with_schedules(
            &answer.report,
            &args.show,
            &program,
            &kept,
            std::io::stdout(),
        )?;
    }
    Ok(exit::code(answer.verdict(args.show.fail_on.status())))
}

fn advise(args: &Advise) -> Result<u8, Failure> {
    if !args.trace.is_empty() {
        let outputs = Outputs::open(&args.show)?;
        let answer = advise::from_traces(&args.trace)?;
        let program = &args.launch.program;
        return show::answer(&answer, &args.show, outputs, program, &Timelines::new());
    }
    let from = args.from.as_ref().map(|file| saved::load(file, None));
    let config = args.config(from.transpose()?);
    let outputs = Outputs::open(&args.show)?;
    let progress = Terminal::new(args.show.quiet, args.show.verbose);
    let advised = advise::advise(&config, &progress)?;
    progress.clear();
    let (answer, program) = (&advised.answer, &advised.program);
    show::answer(answer, &args.show, outputs, program, &Timelines::new())
}
