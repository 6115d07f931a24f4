//! What the tool costs, in one run and as ratios to running without it:
//! time and memory of `detect` and `record` over the kernels in
//! `programs/bench`, start-up, bytes an access, and the speed of detectors over
//! a trace. `docs/benchmarks.md` says how to run it and how to read it.
//!
//! Nothing here fails because of a time. It fails when a kernel does not do
//! under the tool what it does alone: then its figures mean nothing.
//!
//! ```text
//! kernels  what to run, made from programs/bench/expected.toml
//! measure  one process: output, exit code, time, processor time, peak memory
//! compare  native, detect and record in turn; medians, and are they the same?
//! control  runs with one thread at a time: points, switches, runs a second
//! hidden   looking for hidden races: Phase I and Phase II
//! explore  executions of verify: in JVMs that are used again, and in their own
//! budget   a server under load, with budgets and without
//! bugs     how soon faults that are no races are found, by each command
//! unshared what leaving out accesses that cannot race saves
//! offline  detectors over a generated binary trace
//! campaign what the coordinator of a campaign can carry
//! predict  prediction from a trace that is larger than its memory
//! papers   the tables of the four papers, with our figures beside theirs
//! figures  medians, means, ratios
//! table    all of it as text
//! ```

mod budget;
mod bugs;
mod campaign;
mod compare;
mod control;
mod explore;
mod figures;
mod hidden;
mod kernels;
mod measure;
mod offline;
mod papers;
mod predict;
mod table;
mod unshared;

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use compare::{Row, Tool};
use driver::java::Java;
use kernels::Kernel;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Names for `--only` besides those of the kernels.
const STARTUP: &str = "startup";
const OFFLINE: &str = "offline";
const CONTROL: &str = "control";
const HIDDEN: &str = "hidden";
const UNSHARED: &str = "unshared";
const EXPLORE: &str = "explore";
const BUGS: &str = "bugs";
const PREDICT: &str = "predict";
const CAMPAIGN: &str = "campaign";
const BUDGET: &str = "budget";

/// How long a fault is looked for, with `--quick` and without.
const QUICK_HUNT: Duration = Duration::from_secs(10);
const HUNT: Duration = Duration::from_secs(60);

/// Measures what Photofinish costs, as ratios to running without it
#[derive(Debug, Parser)]
#[command(name = "bench", max_term_width = 100)]
struct Args {
    /// Only these: kernels by name, `startup`, `control`, `hidden`,
    /// `explore`, `unshared`, `offline`; only if named, because they take long: `bugs`, `predict`,
    /// `campaign`, `budget`, and `papers` or one of `racefuzzer`, `jpredictor`, `jrf`, `drfinder`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Run everything this many times and take medians [default: 3, with --quick 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// Small inputs, to see that everything works: start-up drowns the rest
    #[arg(long)]
    quick: bool,
    /// Heap of every JVM, with and without the tool
    #[arg(long, value_name = "SIZE", default_value = "2g")]
    heap: String,
    /// Stop a run after this many seconds; its ratio then is a lower bound
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// The java launcher or JDK directory [default: JAVA_HOME, then PATH]
    #[arg(long, value_name = "PATH")]
    java: Option<PathBuf>,
    /// The tool [default: the photofinish beside this program]
    #[arg(long, value_name = "PATH")]
    tool: Option<PathBuf>,
    /// Where the jars are that programs/libraries/fetch.sh gets: those libraries are
    /// then measured with the programs of `hidden` and `papers`
    #[arg(long, value_name = "DIR")]
    jars: Option<PathBuf>,
    /// Where the tables of `papers` are written, unless with --quick
    #[arg(long, value_name = "DIR", default_value = "docs")]
    docs: PathBuf,
    /// Count what is in a trace and do nothing else (see `compare`)
    #[arg(long, value_name = "FILE", hide = true)]
    count: Option<PathBuf>,
    /// Units of `campaign` [default: 1000000, with --quick 2000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    units: Option<u64>,
    /// Where the programs are
    #[arg(long, value_name = "DIR", default_value = "programs")]
    programs: PathBuf,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether everything did what it should.
fn run(args: &Args) -> Result<bool> {
    if let Some(trace) = &args.count {
        println!("{}", compare::count(trace)?);
        return Ok(true);
    }
    let runs = args.runs.unwrap_or(if args.quick { 1 } else { 3 });
    let java = Java::find(args.java.as_deref())?;
    let work = tempfile::Builder::new()
        .prefix("photofinish-bench-")
        .tempdir()
        .context("cannot make a directory for classes and traces; is TMPDIR writable?")?;
    let tool = Tool {
        photofinish: photofinish(args)?,
        java: java.path.clone(),
        heap: format!("-Xmx{}", args.heap),
        limit: Duration::from_secs(args.limit),
        trace: work.path().join("trace.pft"),
        interrupted: interrupts()?,
    };
    let kernels = kernels::prepare(&args.programs, &java, work.path(), args.quick)?;
    check_names(&args.only, &kernels)?;
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|n| n == name);

    print!("{}", table::heading(&java, &tool, runs, args.quick));
    let mut rows: Vec<Row> = Vec::new();
    for kernel in kernels.iter().filter(|k| wanted(&k.name)) {
        if rows.is_empty() {
            print!("{}", table::columns());
        }
        let row = compare::row(kernel, &tool, runs)?;
        print!("{}", table::line(&row));
        rows.push(row);
    }
    if rows.len() > 1 {
        print!("{}", table::means(&rows));
    }
    let mut problems: Vec<String> = rows.iter().flat_map(|row| row.problems.clone()).collect();
    if wanted(STARTUP) {
        // It is short, so it can be repeated more often, and needs to be.
        let row = compare::row(&kernels::empty(work.path()), &tool, 3 * runs)?;
        print!("{}", table::startup(&row));
        problems.extend(row.problems);
    }
    if wanted(CONTROL) {
        let programs = kernels::control(&args.programs, &java, work.path())?;
        let result = control::measure(&tool, &programs, &kernels, runs, args.quick)?;
        print!("{}", table::control(&result));
        problems.extend(result.problems);
    }
    if wanted(HIDDEN) {
        let (programs, jars) = (&args.programs, args.jars.as_deref());
        let costs = hidden::measure(programs, &java, work.path(), jars, &tool, runs)?;
        print!("{}", table::hidden(&costs));
        problems.extend(costs.problems);
    }
    if wanted(EXPLORE) {
        let costs = explore::measure(&java, work.path(), &tool, runs, args.quick)?;
        print!("{}", table::explore(&costs));
        problems.extend(costs.problems);
    }
    // It is no cost, and takes long.
    if args.only.iter().any(|name| name == BUGS) {
        let limit = if args.quick { QUICK_HUNT } else { HUNT };
        print!("{}", table::bugs_heading(limit));
        let tell = |row: &bugs::Row| print!("{}", table::bugs_line(row));
        let hunted = bugs::measure(&args.programs, &java, work.path(), &tool, limit, tell)?;
        print!("{}", table::bugs_found(&hunted));
        problems.extend(hunted.problems);
    }
    for paper in papers::NAMES {
        if args
            .only
            .iter()
            .any(|name| name == paper || name == papers::ALL)
        {
            measure_paper(paper, args, &java, work.path(), &tool)?;
        }
    }
    if wanted(UNSHARED) {
        print!(
            "{}",
            table::unshared(&unshared::measure(&kernels, &tool, runs)?)
        );
    }
    if args.only.iter().any(|name| name == PREDICT) {
        let result = predict::measure(&tool, args.quick)?;
        print!("{}", table::predict(&result));
        problems.extend(result.problems);
    }
    if args.only.iter().any(|name| name == BUDGET) {
        let costs = budget::measure(&java, work.path(), &tool, runs, args.quick)?;
        print!("{}", table::budget(&costs));
        problems.extend(costs.problems);
    }
    if args.only.iter().any(|name| name == CAMPAIGN) {
        let carried = campaign::measure(&tool, work.path(), args.units, args.quick)?;
        print!("{}", table::campaign(&carried));
    }
    // The last, because it needs memory, see `measure`.
    let mut offline = None;
    if wanted(OFFLINE) {
        let events = if args.quick { 1_000_000 } else { 10_000_000 };
        let result = offline::measure(&tool, events, runs)?;
        print!("{}", table::offline(&result));
        problems.extend(result.problems.iter().cloned());
        offline = Some(result);
    }
    if !args.quick && (offline.is_some() || !rows.is_empty()) {
        print!("{}", table::targets(&rows, offline.as_ref()));
    }
    for problem in &problems {
        eprintln!("bench: {problem}");
    }
    Ok(problems.is_empty())
}

/// Prints the tables of a paper, a row as soon as it is measured, and writes them into the page.
fn measure_paper(paper: &str, args: &Args, java: &Java, work: &Path, tool: &Tool) -> Result<()> {
    let docs = args.docs.canonicalize().ok().filter(|_| !args.quick);
    let shop = papers::workshop::Workshop {
        programs: &args.programs,
        java,
        tool,
        work,
        jars: args.jars.as_deref(),
        quick: args.quick,
        docs: docs.as_deref(),
        ready: Default::default(),
    };
    println!("\n{paper}:");
    let tell = |text: &str| match text.ends_with('\n') {
        true => print!("{text}"),
        false => compare::progress(&format!("{paper}, {text}")),
    };
    let made = papers::page::made(&table::machine(java), args.quick);
    let tables = papers::measure(paper, &shop, &tell)?;
    if let Some(docs) = &docs {
        papers::page::write(docs, paper, &made, &tables)?;
    }
    Ok(())
}

fn check_names(only: &[String], kernels: &[Kernel]) -> Result<()> {
    let known: Vec<&str> = kernels
        .iter()
        .map(|k| k.name.as_str())
        .chain([STARTUP, CONTROL, HIDDEN, EXPLORE, BUGS, UNSHARED])
        .chain([OFFLINE, PREDICT, CAMPAIGN, BUDGET])
        .chain(papers::NAMES)
        .chain([papers::ALL])
        .collect();
    for name in only {
        ensure!(
            known.contains(&name.as_str()),
            "there is no benchmark {name}; there are {}",
            known.join(", ")
        );
    }
    Ok(())
}

fn photofinish(args: &Args) -> Result<PathBuf> {
    let path = match &args.tool {
        Some(path) => path.clone(),
        None => std::env::current_exe()
            .context("who am I?")?
            .parent()
            .unwrap_or(Path::new("."))
            .join("photofinish"),
    };
    if !path.is_file() {
        bail!(
            "{} is not there: build it with `cargo build --release`, or name it with --tool",
            path.display()
        );
    }
    Ok(path.canonicalize()?)
}

/// Set by Ctrl-C, which the program being measured gets as well: once that has
/// ended, so do we, and take the temporary files with us.
fn interrupts() -> Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, flag.clone()).context("cannot listen for signals")?;
    }
    Ok(flag)
}

/// Ends the program if somebody asked for it.
fn check_interrupt(flag: &AtomicBool) -> Result<()> {
    ensure!(!flag.load(Ordering::Relaxed), "interrupted");
    Ok(())
}
