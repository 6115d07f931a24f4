//! Results on a terminal; and the `report` command, which shows a saved one.

use crate::args::{self, Color, Show};
use crate::exit::{self, Failure};
use crate::outputs::Outputs;
use crate::saved;
use crate::sources::SourceTree;
use crate::suppress;
use anyhow::Context;
use driver::process::Output;
use findings::baseline::Comparison;
use findings::result::Report;
use report::terminal::{self, Options};
use report::timeline::Timelines;
use std::ffi::OsString;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;

/// `photofinish 0.1.0`.
pub fn tool() -> String {
    format!("photofinish {}", env!("CARGO_PKG_VERSION"))
}

/// `photofinish report FILE`.
pub fn command(args: &args::Report) -> Result<u8, Failure> {
    let known = suppress::load(&args.show)?;
    let mut report = saved::load(&args.file, args.result)?;
    let outputs = Outputs::open(&args.show)?;
    let kept = match saved::results(&args.file, &report) {
        Some(results) => outputs.kept(results, args.result),
        None => Timelines::new(),
    };
    let mut code = match report.has_findings() {
        true => exit::FOUND,
        false => exit::NOTHING_FOUND,
    };
    code = suppress::apply(&known, &mut report, code);
    if code == exit::NOTHING_FOUND && report::exploration::is_incomplete(&report) {
        code = exit::LIMIT;
    }
    if let Some(old) = &args.baseline {
        let (earlier, name) = saved::baseline(old, &args.file)?;
        let found = Comparison::of(&report, &earlier);
        let stood = { report.deadlocks.iter() }
            .all(|d| earlier.deadlocks.iter().any(|known| known.same(d)));
        let failed =
            { report.failures.iter() }.all(|f| earlier.failures.iter().any(|known| known.same(f)));
        if found.new.is_empty() && stood && failed {
            code = exit::NOTHING_FOUND;
        }
        report
            .other
            .insert("baseline".to_owned(), found.json(&name));
    }
    let on_stdout = outputs.is_stdout();
    outputs.write_with(&report, &kept)?;
    if !on_stdout {
        let program: Vec<OsString> = report.program.args.iter().map(OsString::from).collect();
        with_schedules(&report, &args.show, &program, &kept, std::io::stdout())?;
    }
    Ok(code)
}

/// What to do with the program's standard output.
pub fn program_output(show: &Show) -> Output {
    match &show.json {
        Some(path) if path == Path::new("-") => Output::ToStderr,
        // A program may look whether it writes to a terminal: leave it there.
        Some(_) if !std::io::stdout().is_terminal() => Output::Digest,
        _ => Output::Inherit,
    }
}

/// The report as text, unless the user wants silence.
pub fn to_terminal(
    report: &Report,
    show: &Show,
    program: &[OsString],
    out: impl Write + IsTerminal,
) -> Result<(), Failure> {
    with_schedules(report, show, program, &Timelines::new(), out)
}

/// The same, and how races came about that were made to happen.
pub fn with_schedules(
    report: &Report,
    show: &Show,
    program: &[OsString],
    timelines: &Timelines,
    out: impl Write + IsTerminal,
) -> Result<(), Failure> {
    if show.quiet {
        return Ok(());
    }
    let color = match show.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let unwanted = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
            out.is_terminal() && !unwanted
        }
    };
    let sources = SourceTree::new(&show.sources, program);
    let mut out = BufWriter::new(out);
    let options = Options {
        color,
        verbose: show.verbose,
        timelines: Some(timelines),
    };
    let done = terminal::render(report, &sources, options, &mut out).and_then(|()| out.flush());
    match done {
        // The reader has seen enough.
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other.context("cannot write the report")?),
    }
}
