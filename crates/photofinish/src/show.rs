//! Results on a terminal; and the `report` command, which shows a saved one.

use crate::args::{self, Color, Show};
use crate::exit::{self, Failure};
use crate::outputs::Outputs;
use anyhow::Context;
use driver::process::Output;
use engine::sources::SourceTree;
use engine::{Answer, Facts, exec, saved, suppress};
use findings::baseline::Baseline;
use findings::group::{self, Finding};
use findings::result::Report;
use findings::suppress::Suppressions;
use report::terminal::{self, Options};
use report::timeline::Timelines;
use std::ffi::OsString;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::Path;

/// `photofinish report FILE`.
pub fn command(args: &args::Report) -> Result<u8, Failure> {
    let known = suppressions(&args.show)?;
    if let Some(dir) = &args.live {
        let mut answer = exec::read_live(dir)?;
        known.apply(&mut answer.report);
        let outputs = Outputs::open(&args.show)?;
        let on_stdout = outputs.is_stdout();
        outputs.write_with(&answer.report, &Timelines::new())?;
        if !on_stdout {
            with_schedules(
                &answer.report,
                &args.show,
                &[],
                &Timelines::new(),
                std::io::stdout(),
            )?;
        }
        return Ok(exit::code(answer.verdict(args.show.fail_on.status())));
    }
    let mut report = saved::load(&args.file, args.result)?;
    let outputs = Outputs::open(&args.show)?;
    let kept = match saved::results(&args.file, &report) {
        Some(results) => outputs.kept(results, args.result),
        None => Timelines::new(),
    };
    known.apply(&mut report);
    let facts = Facts::from_saved(&report);
    let fail_on = args.show.fail_on.status();
    let mut verdict = engine::decide(Some(&report), fail_on, facts);
    if let Some(old) = &args.baseline {
        let (earlier, name) = saved::baseline(old, &args.file)?;
        let found = Baseline::compare(&report, &earlier, &name);
        let mut new = report.clone();
        let is_new = |finding: &Finding<'_>| found.new.contains(&finding.race.id);
        let new_findings = group::findings(&report.races).into_iter().filter(is_new);
        new.races = new_findings
            .flat_map(|finding| finding.all().cloned().collect::<Vec<_>>())
            .collect();
        new.deadlocks
            .retain(|d| !earlier.deadlocks.iter().any(|known| known.same(d)));
        new.failures
            .retain(|f| !earlier.failures.iter().any(|known| known.same(f)));
        verdict = engine::decide(Some(&new), fail_on, facts);
        report.baseline = Some(found);
    }
    let on_stdout = outputs.is_stdout();
    outputs.write_with(&report, &kept)?;
    if !on_stdout {
        let program: Vec<OsString> = report.program.args.iter().map(OsString::from).collect();
        with_schedules(&report, &args.show, &program, &kept, std::io::stdout())?;
    }
    Ok(exit::code(verdict))
}

/// What `--suppress` names; read before anything is run.
pub fn suppressions(show: &Show) -> Result<Suppressions, Failure> {
    match &show.suppress {
        Some(path) => Ok(suppress::load(path)?),
        None => Ok(Suppressions::default()),
    }
}

/// Where the answer goes that a command came to: to all files, and as text.
pub fn answer(
    answer: &Answer,
    show: &Show,
    outputs: Outputs,
    program: &[OsString],
    timelines: &Timelines,
) -> Result<u8, Failure> {
    outputs.write_with(&answer.report, timelines)?;
    with_schedules(&answer.report, show, program, timelines, std::io::stderr())?;
    Ok(exit::code(answer.verdict(show.fail_on.status())))
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

/// The report as text, unless the user wants silence; how races came about
/// that were made to happen; and violations of atomicity and properties.
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
    let violations = report::violations::text(report);
    let done = terminal::render(report, &sources, options, &mut out)
        .and_then(|()| out.write_all(violations.as_bytes()))
        .and_then(|()| out.flush());
    match done {
        // The reader has seen enough.
        Err(e) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other.context("cannot write the report")?),
    }
}
