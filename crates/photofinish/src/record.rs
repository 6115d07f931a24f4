//! `record`: run the program once and keep its trace.

use crate::args::Record;
use crate::exit::{self, Failure};
use crate::launch::Launcher;
use crate::outputs::Outputs;
use crate::session::Session;
use crate::show;
use crate::trace_command;
use anyhow::Context;
use driver::options::Mode;
use std::fs::File;
use trace::Ending;

pub fn command(args: &Record) -> Result<u8, Failure> {
    let launcher = Launcher::new(&args.launch)?;
    let outputs = Outputs::open(&args.show)?;
    let output = show::program_output(&args.show);
    // An old trace must not pass for the new one if the JVM does not start.
    File::create(&args.output)
        .with_context(|| format!("cannot write the trace {}", args.output.display()))
        .map_err(|error| Failure {
            code: exit::USAGE,
            error,
        })?;
    let path = args
        .output
        .canonicalize()
        .context("the trace was there a moment ago")?;

    let mut session = Session::new(&args.launch);
    let mode = if args.full { Mode::Full } else { Mode::Record };
    let result = launcher.run(1, mode, Some(path), output)?;
    let started = result.started;
    session.add(result);
    let (report, mut code) = session.finish("record");
    outputs.write(&report)?;
    if !args.show.quiet {
        for text in &report.warnings {
            eprintln!("warning: {}", findings::text::clean(text));
        }
    }
    if started {
        let trace = trace_command::open(&args.output)?;
        // The disk was full, or a limit was reached: not what was asked for.
        if *trace.ending() != Ending::Finished && code != exit::TOOL_FAILED {
            code = exit::LIMIT;
        }
        if !args.show.quiet {
            eprintln!("{}", trace_command::summary(&trace, &args.output));
        }
    }
    Ok(code)
}
