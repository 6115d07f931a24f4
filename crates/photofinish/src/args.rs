//! The command line, defined once: parsing, help and completions come from
//! here. Commands have the options of [`Launch`] and [`Show`] first, so that the groups of their
//! help come in the same order.

mod advise;
pub mod campaign;
mod compare;
mod configs;
mod explain;
mod export;
mod groups;
mod hunt;
mod memory;
mod merge;
mod registry;
mod values;
mod verify;

pub use advise::Advise;
pub use compare::Compare;
pub use explain::{Doctor, Explain};
pub use export::Export;
pub use groups::command;
pub use hunt::{Completions, Hunt, Man};
pub use memory::Memory;
pub use merge::{Merge, Sharding};
pub use registry::Detector;
pub use verify::{StopAt, Verify};

use clap::{Args, Parser, Subcommand, ValueEnum};
use driver::options::{Budget, Statement};
use findings::result::Status;
use schedule::Scheduler;
use std::ffi::OsString;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

/// Finds data races in Java programs on a stock JVM.
///
/// Exit codes: 0 nothing found, 66 races found, 4 nothing was exercised,
/// 64 bad usage, 69 no usable Java, 70 the tool failed, 75 a limit was reached.
#[derive(Debug, Parser)]
#[command(
    name = "photofinish",
    version,
    max_term_width = 100,
    propagate_version = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Options of the project [default: photofinish.toml, if there is one]
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Ignore photofinish.toml
    #[arg(long, global = true, conflicts_with = "config")]
    pub no_config: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find races with all other commands, in order: start here
    ///
    /// Runs the program freely and records it, predicts races of other
    /// schedules, makes suspected races happen, looks for hidden races, explores
    /// small programs and tries repairs, all within `--time-limit` (5 minutes). Ctrl-C ends it with what was
    /// found so far. The program gets no input unless `--input` gives it some,
    /// and what it prints is not shown; `-v` shows it for the first run.
    Hunt(Box<Hunt>),
    /// Run a program and report its data races
    ///
    /// Give after `--` what you would write after `java`:
    /// `photofinish detect -- -cp target/classes com.shop.Main --port 0`.
    /// With --exec give any command: `photofinish detect --exec -- mvn test`.
    /// The report goes to standard error; the program's output is its own.
    Detect(Detect),
    /// Run a program once and keep a trace of what it did
    ///
    /// The trace is written as the program runs: if it is killed, everything
    /// up to the last flush is there.
    Record(Record),
    /// Make suspected races happen, and show the outcome
    ///
    /// Takes pairs of statements from a run of its own with the hybrid
    /// detector, from a saved report, or from the command line; then runs the
    /// program again and again with one thread at a time, and delays threads
    /// at either statement until another thread is at the other one, on the
    /// same location. A race that was made to happen is confirmed, with the
    /// outcome of either order and a command that replays each.
    Confirm(Box<Confirm>),
    /// Run a program under several schedulers, and compare what they find and cost
    ///
    /// Prints, for each scheduler, how many races it found, which of them no
    /// other did, how many it missed, its time and how often it thrashed. The
    /// program gets no input, and what it prints is not shown. After an
    /// interruption the same command continues where it stopped: runs are kept in --results.
    Compare(Box<Compare>),
    /// Explain races and propose repairs, each tried before it is shown
    ///
    /// Runs the program under control a number of times, with all accesses
    /// recorded, and learns from these runs what would have ordered the accesses
    /// that raced. Each repair that can be made in bytecode is then applied when the
    /// class is loaded, and the program runs again. From traces alone
    /// (--trace) repairs are proposed but not tried.
    Advise(Box<Advise>),
    /// Repeat a run of `confirm` or of `detect --scheduler` exactly
    ///
    /// Exit codes: 66 the same run again, with something found in it, 0 the same
    /// run again, with nothing found, 70 the run diverged.
    Replay(Replay),
    /// Explore every schedule of a program, and say whether that is complete
    ///
    /// The program is executed again and again, with one thread at a time,
    /// until every order of the operations by which its threads interact was
    /// seen once. Statements that race become scheduling points, too. When it is
    /// complete, no schedule of this program on this input has a race, deadlock
    /// or uncaught exception other than those reported.
    Verify(Box<Verify>),
    /// Predict races that another schedule of one run would show
    ///
    /// From a recorded trace (or RAPID's STD text), or from one recorded run
    /// of the program given after `--`. A race is predicted only with a
    /// reordering of the run that a separate checker accepted; it is observed
    /// if happens-before leaves it unordered in the run itself.
    Predict(Predict),
    /// Spread the work over machines, or over the cores of this one, for hours
    #[command(subcommand)]
    Campaign(campaign::CampaignCommand),
    /// Inspect and convert recorded traces
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Render a saved result for the terminal
    Report(Report),
    /// Put results of shards, runs or machines together
    ///
    /// Takes files written with --json and directories of results. Findings that several have are
    /// one; counts and trials add up, the strongest status wins. An exploration is complete only if
    /// all its shards are there and each is. The exit code is that of the whole: 75 where a shard
    /// is missing and nothing was found.
    Merge(Merge),
    /// Tell one finding at length: what happens, why it is a race, how to repair it
    Explain(Explain),
    /// Write a finding as a JUnit test, or as a program of its own
    ///
    /// The test fails while the bug is there. The program (--plain) forces the order of the two accesses of a
    /// race and needs nothing but a JDK; it is run once before it is handed over. What cannot be forced so is
    /// refused with the reason (exit code 64).
    Export(Export),
    /// Say what works on this machine, and what to do about the rest
    ///
    /// Exit codes: 0 programs can be run, 69 no usable Java, or the agent does not start in it.
    Doctor(Doctor),
    /// The path of the agent, for JVMs that you start yourself
    ///
    /// `java -agentpath:$(photofinish agent-path)=out=DIR -cp classes Main` writes what it
    /// finds into DIR; `photofinish report DIR` shows it. Where several JVMs get the same
    /// option, write jvms=DIR: each makes a directory of its own there. `--options DIR`
    /// prints that with the other options that JVMs need.
    AgentPath(AgentPath),
    /// Completions for a shell, on standard output
    Completions(Completions),
    /// The manual page, on standard output: `photofinish man | man -l -`
    Man(Man),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Engine {
    /// Happens-before: what was unordered in this run; observed, not predicted
    Hb,
    /// Schedulable happens-before: no synchronisation reordered
    Shb,
    /// Weak causal precedence: more races, only the first guaranteed; potential
    Wcp,
    /// Sync-preserving: critical sections keep their order
    Syncp,
    /// Optimistic sync-reversal: critical sections are reordered where needed
    Osr,
    /// Sliced causality: reads that nothing depends on may see another value
    Sliced,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    Always,
    Never,
}

/// The statuses of races, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// A mere suspicion
    Potential,
    /// A checked reordering of a run
    Predicted,
    /// Seen in a run
    Observed,
    /// Made to happen
    Confirmed,
}

impl FailOn {
    pub fn status(self) -> Status {
        match self {
            FailOn::Potential => Status::Potential,
            FailOn::Predicted => Status::Predicted,
            FailOn::Observed => Status::Observed,
            FailOn::Confirmed => Status::Confirmed,
        }
    }
}

#[derive(Debug, Args)]
pub struct Detect {
    #[command(flatten)]
    pub launch: Launch,
    #[command(flatten)]
    pub show: Show,
    /// What counts as a race
    #[arg(long, value_name = "DETECTOR", value_parser = registry::detector(), default_value = "fasttrack")]
    pub detector: Detector,
    /// How to decide which thread runs
    #[arg(long, value_name = "SCHEDULER", value_parser = registry::scheduler(), default_value = "native")]
    pub scheduler: Scheduler,
    /// Run the program this many times and merge what is found [default: 1; with --until
    /// saturated: 100000]
    #[arg(long, value_name = "N", hide_default_value = true, default_value = "1", default_value_if("until", clap::builder::ArgPredicate::IsPresent, "100000"), value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Stop before that when the last third of the runs, and at least 50, showed nothing
    /// new: no new order of dependent operations, and no new finding
    #[arg(long, value_enum, value_name = "WHEN")]
    pub until: Option<Until>,
    /// Stop when controlled runs show a race, a deadlock or an uncaught exception
    #[arg(long, value_enum, value_name = "first")]
    pub stop_at: Option<StopAt>,
    /// Controlled runs side by side
    #[arg(short, long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: u32,
    /// Make every run in a JVM of its own
    #[arg(long)]
    pub isolate: bool,
    /// Watch only as much as costs so much processor time, in percent of what the program takes
    /// without: `10%`. What was not watched is not in the report, which says how much that is
    #[arg(long, value_name = "P%", conflicts_with = "trace")]
    pub budget: Option<Budget>,
    /// Turn from period to period whatever it costs, each after at most so many microseconds: to test that
    /// nothing false is found
    #[arg(long, value_name = "MICROSECONDS", requires = "budget", hide = true)]
    pub budget_turns: Option<u32>,
    /// Analyse a recorded trace, or STD text, instead of running a program
    #[arg(long, value_name = "FILE", conflicts_with_all = ["program", "runs"])]
    pub trace: Option<PathBuf>,
    /// What follows `--` is any command, such as `mvn test`: look at the JVMs that it starts
    #[arg(long, conflicts_with_all = ["trace", "until", "isolate", "depth", "relation"])]
    pub exec: bool,
    /// With --exec: only the JVMs with these main classes or jars [default: all but build
    /// tools and compilers]
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', requires = "exec", value_parser = values::name)]
    pub jvms: Vec<String>,
    /// With pct: how many orderings a bug may need [default: 3]; with drfinder:
    /// how many frames lead to a lock [default: 12]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub depth: Option<u32>,
    /// With drfinder: begin with the relation that an earlier result has kept
    /// (relation.txt), instead of a run that collects one
    #[arg(long, value_name = "FILE")]
    pub relation: Option<PathBuf>,
    #[command(flatten)]
    pub sharding: Sharding,
    #[command(flatten)]
    pub control: Control,
}

/// When runs have shown what there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Until {
    Saturated,
}

#[derive(Debug, Args)]
pub struct Confirm {
    #[command(flatten)]
    pub launch: Launch,
    #[command(flatten)]
    pub show: Show,
    /// Take the pairs from this result (JSON, or a directory of results) instead
    /// of a run with hybrid
    #[arg(long, value_name = "FILE", conflicts_with = "pair")]
    pub from: Option<PathBuf>,
    /// Two statements to bring together: `Bank.java:12,Audit.java:40`
    #[arg(long, value_name = "PLACE,PLACE", value_parser = values::pair)]
    pub pair: Vec<[Statement; 2]>,
    /// Only these races of the report, by their ids
    #[arg(
        long,
        value_name = "ID",
        value_delimiter = ',',
        conflicts_with = "pair"
    )]
    pub race: Vec<String>,
    /// Runs for each pair
    #[arg(long, value_name = "N", default_value = "100", value_parser = clap::value_parser!(u32).range(1..))]
    pub trials: u32,
    /// Do not stop when a race has been confirmed in both orders
    #[arg(long)]
    pub all_trials: bool,
    /// What racy reads may see: the newest write, or also older ones that Java allows
    #[arg(long, value_enum, value_name = "MODEL", default_value = "sc")]
    pub memory: Memory,
    /// Runs side by side [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Make every run in a JVM of its own
    #[arg(long)]
    pub isolate: bool,
    /// The program's standard input [default: none]
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    #[command(flatten)]
    pub sharding: Sharding,
    #[command(flatten)]
    pub control: Control,
}

#[derive(Debug, Args)]
pub struct Replay {
    /// What to replay, by its name in the report: `R1`, `R1.exception`, `D1`
    #[arg(value_name = "ID", required_unless_present_any = ["log", "case"])]
    pub id: Option<String>,
    #[command(flatten)]
    pub launch: Launch,
    #[command(flatten)]
    pub show: Show,
    /// Where the results were kept
    #[arg(long, value_name = "DIR", default_value = driver::store::DEFAULT)]
    pub results: PathBuf,
    /// An earlier result than the latest, by its number
    #[arg(long, value_name = "N")]
    pub result: Option<i64>,
    /// A schedule from a file, for the program given after `--`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["id", "results", "result"])]
    pub log: Option<PathBuf>,
    /// A case that `export --junit` wrote: 66 if it happens again, 0 if not. If the schedule cannot be followed, others
    /// near it are tried
    #[arg(long, value_name = "FILE", conflicts_with_all = ["id", "results", "result", "log", "debug"])]
    pub case: Option<PathBuf>,
    /// Let a debugger attach to this port before the program begins
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub debug: Option<u16>,
    /// Seconds without progress after which the run is ended
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = clap::value_parser!(u64).range(1..))]
    pub watchdog: u64,
}

/// Runs with one thread at a time.
#[derive(Clone, Debug, Args)]
pub struct Control {
    /// Seed of all random choices; run or trial N uses this plus N - 1
    #[arg(long, value_name = "S", default_value = "1")]
    pub seed: u64,
    /// Where results and the schedules to replay are kept
    #[arg(long, value_name = "DIR", default_value = driver::store::DEFAULT)]
    pub results: PathBuf,
    /// End a controlled run after this many scheduling steps
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: Option<u64>,
    /// Seconds without progress after which a controlled run is ended
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = clap::value_parser!(u64).range(1..))]
    pub watchdog: u64,
    /// What the program's clock says at the start of a controlled run, in
    /// milliseconds since 1970 [default: the beginning of 2026]
    #[arg(long, value_name = "MILLIS", value_parser = clap::value_parser!(i64).range(0..))]
    pub clock: Option<i64>,
}

#[derive(Debug, Args)]
pub struct Predict {
    #[command(flatten)]
    pub launch: Launch,
    #[command(flatten)]
    pub show: Show,
    /// Prediction engines; several give a table that compares them
    #[arg(
        long,
        value_enum,
        value_name = "ENGINE",
        value_delimiter = ',',
        default_value = "hb,shb,syncp,osr,sliced"
    )]
    pub engine: Vec<Engine>,
    /// Analyse a recorded trace, or STD text, instead of running a program
    #[arg(long, value_name = "FILE", conflicts_with = "program")]
    pub trace: Option<PathBuf>,
    /// Also predict violations of atomicity: values that are stale when they are used
    /// (check-then-act, lost updates), and accesses that interleave with a critical
    /// section, or with a unit named with --units, in a way that no serial order explains
    #[arg(long)]
    pub atomicity: bool,
    /// Methods that are meant to be atomic: `com.shop.Bank.transfer`, `Bank.*`
    #[arg(long, value_name = "METHOD", value_delimiter = ',', value_parser = values::pattern)]
    pub units: Vec<String>,
    /// Also check the properties in this file on every order that the run
    /// allows; docs/properties.md is the manual
    #[arg(long, value_name = "FILE")]
    pub property: Option<PathBuf>,
    /// Try to make each race happen, as `confirm` does with its own pairs
    #[arg(long)]
    pub confirm: bool,
    /// Where --confirm keeps results and the schedules to replay
    #[arg(long, value_name = "DIR", default_value = driver::store::DEFAULT)]
    pub results: PathBuf,
    /// Stop checking a property after this many states, and say so
    #[arg(long, value_name = "N", default_value = "1000000")]
    pub cuts: u64,
    /// Effects of methods without probes, in addition to the table of the JDK:
    /// lines such as `pure com.shop.Money.*`
    #[arg(long, value_name = "FILE")]
    pub purity: Option<PathBuf>,
    /// Methods that are atomic by themselves, for --atomicity, in addition to the JDK's
    /// collections and atomics: lines such as `check key com.shop.Cache has`
    #[arg(long, value_name = "FILE")]
    pub operations: Option<PathBuf>,
    #[command(flatten)]
    pub sharding: Sharding,
    /// Memory that the analysis may take: `4G`, `500M`; what needs more is done in parts, and
    /// the report says so [default: three quarters of what is free]
    #[arg(long, value_name = "SIZE", value_parser = values::size)]
    pub memory_limit: Option<u64>,
}

#[derive(Debug, Args)]
pub struct Record {
    #[command(flatten)]
    pub launch: Launch,
    #[command(flatten)]
    pub show: Show,
    /// Where the trace goes
    #[arg(short, long, value_name = "FILE", default_value = "trace.pft")]
    pub output: PathBuf,
    /// Also record the control flow of each thread, for `predict`
    #[arg(long)]
    pub full: bool,
}

#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Show what program a trace is of, and its size
    Info { file: PathBuf },
    /// Count events by kind, thread and statement
    Stats { file: PathBuf },
    /// Turn a trace into RAPID's STD text, or STD text into a trace
    ///
    /// Events that STD cannot express are left out or approximated, and counted.
    Convert(ConvertArgs),
    /// Cut a part out of a trace
    Cut(CutArgs),
    /// Merge several traces into one: parts of one run, or several runs
    ///
    /// Parts, made with `cut`, are put together again in the order of the run.
    /// Runs of one program follow one another: an analysis of the whole gives the
    /// same results as analyses of each run.
    Merge(MergeArgs),
}

#[derive(Debug, Args)]
pub struct ConvertArgs {
    /// A trace or STD text; its content tells which
    pub file: PathBuf,
    /// The output file; STD text also to `-`, standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Leave out malformed lines of STD text, and count them
    #[arg(long)]
    pub lenient: bool,
}

#[derive(Debug, Args)]
pub struct CutArgs {
    pub file: PathBuf,
    /// Where the part goes
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Events by their place in the trace, from 0: `1000..2000`, `..500`, `100..`
    #[arg(long, value_name = "RANGE", value_parser = values::range)]
    pub events: Option<Range<u64>>,
    /// Events by synchronisation number
    #[arg(long, value_name = "RANGE", value_parser = values::range)]
    pub seqs: Option<Range<u64>>,
    /// Only these threads, by number
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub threads: Vec<u32>,
    /// Also events after a gap
    #[arg(long)]
    pub across_gaps: bool,
}

#[derive(Debug, Args)]
pub struct MergeArgs {
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Where the whole goes
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
}

/// How to start the program, and what to look at.
#[derive(Clone, Debug, Args)]
pub struct Launch {
    /// What you would write after `java`
    #[arg(last = true, value_name = "JAVA ARGUMENTS")]
    pub program: Vec<OsString>,
    /// The java launcher or JDK directory [default: JAVA_HOME, then PATH]
    #[arg(long, value_name = "PATH")]
    pub java: Option<PathBuf>,
    /// Classes to instrument besides the default, as patterns: `com.shop.**`
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', value_parser = values::pattern)]
    pub include: Vec<String>,
    /// Classes to leave alone
    #[arg(long, value_name = "PATTERN", value_delimiter = ',', value_parser = values::pattern)]
    pub exclude: Vec<String>,
    /// Packages whose own accesses are not checked
    #[arg(long, value_name = "PACKAGE", value_delimiter = ',', value_parser = values::pattern)]
    pub trusted: Vec<String>,
    /// Fields whose plain accesses are not checked: `com.shop.Bank.total`, `Cache.*`
    #[arg(long, value_name = "FIELD", value_delimiter = ',', value_parser = values::field)]
    pub untracked: Vec<String>,
    /// Also check accesses that cannot race because no other thread can reach the
    /// object, and check loops access by access: to measure what that saves
    #[arg(long, hide = true)]
    pub check_unshared: bool,
    /// Stop each run (advise, confirm and hunt: all of them) after this long: `90`,
    /// `90s`, `2m`, `1h`
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub time_limit: Option<Duration>,
    /// End each run after `10m`, after `1000-requests`, or when a line that the program prints
    /// contains a text (`*`: anything): for programs that run for long, or for ever
    #[arg(long, value_name = "TIME|N-requests|TEXT", value_parser = values::stop_after)]
    pub stop_after: Option<values::StopAfter>,
    /// End each run when the program has run for this long, by its own clock
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub cut_after: Option<Duration>,
    /// Keep the raw findings of each run in a directory below this one
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}

/// Where the result goes, and how.
#[derive(Clone, Debug, Args)]
pub struct Show {
    /// Write the result as JSON to this file; with `-` to standard output, the
    /// program's own then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write the result as a page for a browser, with timelines to step through
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the result as SARIF 2.1.0, for code scanning
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Write the result as JUnit XML, for build servers
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write the schedules that were kept as a trace for ui.perfetto.dev
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// File of known races to hide, with a reason for each: lines such as
    /// `race com.shop.Stats.* because a lost count does no harm`
    #[arg(long, value_name = "FILE")]
    pub suppress: Option<PathBuf>,
    /// From which status on a race makes the exit code 66
    #[arg(long, value_enum, value_name = "STATUS", default_value = "predicted")]
    pub fail_on: FailOn,
    /// Where Java sources are, besides the usual places
    #[arg(long, value_name = "DIR", value_delimiter = ',', value_parser = values::directory)]
    pub sources: Vec<PathBuf>,
    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Whole stacks, every class left alone, progress
    #[arg(short, long)]
    pub verbose: bool,
    /// Colours in what is printed
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

#[derive(Debug, Args)]
pub struct Report {
    /// A file written with --json, or a directory of results; `-` reads
    /// standard input
    #[arg(value_name = "FILE", default_value = driver::store::DEFAULT)]
    pub file: PathBuf,
    /// What runs have found so far that still go on: of `detect --keep DIR`, or of JVMs
    /// that have the agent with `jvms=DIR`
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "result", "baseline"])]
    pub live: Option<PathBuf>,
    /// Of a directory: an earlier result than the latest, by its number
    #[arg(long, value_name = "N")]
    pub result: Option<i64>,
    /// Compare with an earlier result: a file, a directory of results, or the
    /// number of a result in the same directory. Only new races count as found
    #[arg(long, value_name = "OLD")]
    pub baseline: Option<String>,
    #[command(flatten)]
    pub show: Show,
}

#[derive(Debug, Args)]
pub struct AgentPath {
    /// Print all options for JVMs that leave what they find in this directory
    #[arg(long, value_name = "DIR")]
    pub options: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn everything_after_the_dashes_is_the_programs() {
        let cli = Cli::try_parse_from([
            "photofinish",
            "detect",
            "--",
            "-cp",
            "x",
            "Main",
            "--json",
            "a",
        ]);
        let Command::Detect(detect) = cli.unwrap().command else {
            panic!()
        };
        assert_eq!(detect.launch.program, ["-cp", "x", "Main", "--json", "a"]);
        assert_eq!(detect.show.json, None);
    }
}
