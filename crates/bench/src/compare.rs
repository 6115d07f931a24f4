//! A kernel alone, under `detect` and under `record`, in turn, so that whatever
//! else the machine does meets all three; and whether it did the same each
//! time.

use crate::check_interrupt;
use crate::figures::{Ratio, median, spread};
use crate::kernels::Kernel;
use crate::measure::{self, Measured};
use anyhow::{Context, Result, bail, ensure};
use std::fs::File;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use trace::{Ending, Trace};

/// The tool's exit code when the program had a single thread.
const NOT_EXERCISED: i32 = 4;

/// What does not change from kernel to kernel.
#[derive(Debug)]
pub struct Tool {
    pub photofinish: PathBuf,
    pub java: PathBuf,
    /// The JVM option, the same with and without the tool.
    pub heap: String,
    pub limit: Duration,
    /// Where `record` writes.
    pub trace: PathBuf,
    pub interrupted: Arc<AtomicBool>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Native,
    Detect,
    Record,
}

/// Medians of one kernel in one mode: seconds and bytes.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub wall: f64,
    pub cpu: f64,
    pub peak: f64,
    /// Of the wall time, see [`spread`]; of one run there is none.
    pub spread: Option<f64>,
    /// It was stopped, so all are lower bounds.
    pub stopped: bool,
}

/// What `record` left.
#[derive(Clone, Copy, Debug)]
pub struct TraceSize {
    /// Plain reads and writes.
    pub accesses: u64,
    /// Of the event chunks, without the tables.
    pub event_bytes: u64,
    pub bytes: u64,
}

#[derive(Debug)]
pub struct Row {
    pub name: String,
    pub kind: String,
    /// Absent if it failed.
    pub native: Option<Cost>,
    pub detect: Option<Cost>,
    pub record: Option<Cost>,
    pub trace: Option<TraceSize>,
    /// Where the kernel did not do what it should, in words.
    pub problems: Vec<String>,
}

impl Row {
    /// How many times the native cost.
    pub fn ratio(&self, cost: Option<Cost>, of: impl Fn(&Cost) -> f64) -> Option<Ratio> {
        let (native, cost) = (self.native?, cost?);
        let value = of(&cost) / of(&native);
        (value.is_finite() && value > 0.0).then_some(Ratio {
            value,
            at_least: cost.stopped,
        })
    }
}

/// The runs of one kernel in one mode.
#[derive(Debug, Default)]
struct Series {
    runs: Vec<Measured>,
    /// Not worth another try: it was wrong, or took too long.
    over: bool,
}

impl Series {
    fn cost(&self) -> Option<Cost> {
        let walls: Vec<f64> = self.runs.iter().map(|m| m.wall.as_secs_f64()).collect();
        Some(Cost {
            wall: median(walls.iter().copied())?,
            cpu: median(self.runs.iter().map(|m| m.cpu.as_secs_f64()))?,
            peak: median(self.runs.iter().map(|m| m.peak as f64))?,
            spread: spread(&walls),
            stopped: self.runs.iter().any(|m| m.stopped),
        })
    }
}

/// Runs the kernel `runs` times in each mode.
pub fn row(kernel: &Kernel, tool: &Tool, runs: u32) -> Result<Row> {
    const MODES: [Mode; 3] = [Mode::Native, Mode::Detect, Mode::Record];
    let mut series: [Series; 3] = Default::default();
    let mut problems = Vec::new();
    let mut size = None;
    // What the first native run printed.
    let mut expected: Option<Vec<u8>> = None;
    for number in 1..=runs {
        for (mode, series) in MODES.into_iter().zip(&mut series) {
            if series.over {
                continue;
            }
            let what = format!("{}, {}", kernel.name, mode.name());
            progress(&format!("{what}, run {number} of {runs}"));
            let done = measure::run(command(kernel, tool, mode), tool.limit)?;
            check_interrupt(&tool.interrupted)?;
            if let Some(problem) = wrong(&done, mode, kernel.single, expected.as_deref()) {
                problems.push(format!("{what}: {problem}"));
                series.over = true;
                continue;
            }
            if done.stopped {
                series.over = true;
            } else if mode == Mode::Native {
                expected.get_or_insert_with(|| done.stdout.clone());
            } else if mode == Mode::Record && size.is_none() {
                match trace_size(&tool.trace) {
                    Ok(found) => size = Some(found),
                    Err(error) => problems.push(format!("{what}: {error:#}")),
                }
            }
            series.runs.push(done);
            // Traces are large.
            let _ = std::fs::remove_file(&tool.trace);
        }
        if expected.is_none() {
            // Nothing to compare with: too slow for the limit, or broken.
            if problems.is_empty() {
                problems.push(format!("{}: takes too long by itself", kernel.name));
            }
            break;
        }
    }
    progress("");
    let [native, detect, record] = &series;
    Ok(Row {
        name: kernel.name.clone(),
        kind: kernel.kind.clone(),
        native: native.cost(),
        detect: detect.cost(),
        record: record.cost(),
        trace: size,
        problems,
    })
}

impl Mode {
    fn name(self) -> &'static str {
        match self {
            Mode::Native => "native",
            Mode::Detect => "detect",
            Mode::Record => "record",
        }
    }
}

/// What a user would type.
fn command(kernel: &Kernel, tool: &Tool, mode: Mode) -> Command {
    let mut command = match mode {
        Mode::Native => Command::new(&tool.java),
        Mode::Detect | Mode::Record => {
            let mut command = Command::new(&tool.photofinish);
            command.args([mode.name(), "--quiet", "--java"]);
            command.arg(&tool.java).args(&kernel.options);
            if mode == Mode::Record {
                command.arg("--output").arg(&tool.trace);
            }
            command.arg("--");
            command
        }
    };
    command.arg(&tool.heap).args(&kernel.args);
    // These would add to one side or to both, unseen.
    command
        .env_remove("JAVA_TOOL_OPTIONS")
        .env_remove("JDK_JAVA_OPTIONS");
    command
}

/// A kernel under `detect`.
pub fn detect(kernel: &Kernel, tool: &Tool) -> Command {
    command(kernel, tool, Mode::Detect)
}

/// Why the figures of this run mean nothing, if so.
fn wrong(done: &Measured, mode: Mode, single: bool, expected: Option<&[u8]>) -> Option<String> {
    if done.stopped {
        return None;
    }
    let fine = match done.status.code() {
        Some(0) => true,
        Some(NOT_EXERCISED) => mode != Mode::Native && single,
        _ => false,
    };
    if !fine {
        let said = String::from_utf8_lossy(&done.stderr);
        let last = said.lines().rev().find(|line| !line.trim().is_empty());
        return Some(format!("{}; {}", done.status, last.unwrap_or("no message")));
    }
    let expected = expected.unwrap_or(&done.stdout);
    (done.stdout != expected).then(|| {
        format!(
            "prints {:?} and not {:?}",
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(expected)
        )
    })
}

/// Has a process of its own read the trace: its tables can be large, and this
/// one must stay small.
fn trace_size(path: &Path) -> Result<TraceSize> {
    let mut count = Command::new(std::env::current_exe()?);
    count.arg("--count").arg(path);
    let done = count.output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "{}", said.trim());
    let answer = String::from_utf8(done.stdout)?;
    let numbers: Result<Vec<u64>, _> = answer.split_whitespace().map(str::parse).collect();
    match numbers?[..] {
        [accesses, event_bytes, bytes] => Ok(TraceSize {
            accesses,
            event_bytes,
            bytes,
        }),
        _ => bail!("no sizes in {answer:?}"),
    }
}

/// What that process does: reads through the whole trace, and answers with
/// the numbers of a [`TraceSize`].
pub fn count(path: &Path) -> Result<String> {
    let file = File::open(path).context("there is no trace")?;
    let mut trace = Trace::open(file).context("the trace does not open")?;
    ensure!(
        *trace.ending() == Ending::Finished,
        "the trace is not whole: {:?}",
        trace.ending()
    );
    let mut accesses = 0u64;
    let mut all = trace.all_events();
    all.for_each_event(|e| accesses += u64::from(e.op.access().is_some()))
        .context("the trace cannot be read")?;
    let missing = all.missing();
    ensure!(missing == 0, "{missing} events are missing in the trace");
    let (event_bytes, bytes) = trace.sizes();
    Ok(format!("{accesses} {event_bytes} {bytes}"))
}

/// One line that is overwritten, on a terminal only.
pub fn progress(text: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K{text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    fn measured(code: i32, stdout: &str, seconds: u64) -> Measured {
        Measured {
            status: ExitStatus::from_raw(code << 8),
            stdout: stdout.into(),
            stderr: b"first\nlast\n\n".to_vec(),
            wall: Duration::from_secs(seconds),
            cpu: Duration::from_secs(2 * seconds),
            peak: 1 << 20,
            stopped: false,
        }
    }

    #[test]
    fn exit_codes_and_output_must_be_those_of_the_native_run() {
        let check = |code, out: &str, mode, single| {
            wrong(&measured(code, out, 1), mode, single, Some(b"42\n"))
        };
        assert_eq!(check(0, "42\n", Mode::Detect, false), None);
        assert_eq!(check(4, "42\n", Mode::Record, true), None);
        assert!(check(4, "42\n", Mode::Record, false).is_some());
        assert!(check(4, "42\n", Mode::Native, true).is_some());
        let races = check(66, "42\n", Mode::Detect, false).unwrap();
        assert!(races.contains("66") && races.ends_with("last"), "{races}");
        assert!(
            check(0, "43\n", Mode::Detect, false)
                .unwrap()
                .contains("43")
        );
    }

    #[test]
    fn ratios_of_medians() {
        let series = |seconds: &[u64]| Series {
            runs: seconds.iter().map(|&s| measured(0, "", s)).collect(),
            over: false,
        };
        let row = Row {
            name: String::new(),
            kind: String::new(),
            native: series(&[2, 1, 3]).cost(),
            detect: series(&[5, 90, 6]).cost(),
            record: series(&[]).cost(),
            trace: None,
            problems: vec![],
        };
        let ratio = row.ratio(row.detect, |c| c.wall).unwrap();
        assert_eq!((ratio.value, ratio.at_least), (3.0, false));
        assert!(row.ratio(row.record, |c| c.wall).is_none());
    }
}
