//! Everything as text. Ratios are of medians; a ratio with `>` is a lower
//! bound, because the run was stopped.

use crate::budget;
use crate::bugs::{self, Hunted};
use crate::campaign::Carried;
use crate::compare::{Cost, Row, Tool};
use crate::control::Controlled;
use crate::explore;
use crate::figures::{Ratio, geometric_mean};
use crate::hidden::Costs;
use crate::offline::{self, Offline};
use crate::predict::Predict;
use crate::unshared::Saved;
use driver::java::Java;
use std::fmt::Write as _;
use std::time::Duration;

/// A load average from here on makes the figures doubtful.
const BUSY: f64 = 0.5;

pub fn heading(java: &Java, tool: &Tool, runs: u32, quick: bool) -> String {
    let mut text = format!(
        "{}; {} for every JVM; medians of {runs} {}\n",
        machine(java),
        tool.heap,
        if runs == 1 { "run" } else { "runs" },
    );
    if quick {
        text += "--quick: inputs so small that start-up is most of it; ratios mean little\n";
    }
    if let Some(load) = load().filter(|&load| load >= BUSY) {
        let _ = writeln!(
            text,
            "the machine is busy (load {load:.1}): figures are not to be relied on"
        );
    }
    text
}

/// The JVM and the processor.
pub fn machine(java: &Java) -> String {
    let cores = std::thread::available_parallelism().map_or(0, |n| n.get());
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("unknown processor", |(_, model)| model);
    format!("Java {}; {cores} cores, {model}", java.version)
}

/// Runnable processes over the last minute.
fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next()?.parse().ok()
}

/// The six ratios of a row: of `detect`, then of `record`.
const COLUMNS: [(Choose, Figure); 6] = [
    (|row| row.detect, |c| c.wall),
    (|row| row.detect, |c| c.cpu),
    (|row| row.detect, |c| c.peak),
    (|row| row.record, |c| c.wall),
    (|row| row.record, |c| c.cpu),
    (|row| row.record, |c| c.peak),
];

type Choose = fn(&Row) -> Option<Cost>;
type Figure = fn(&Cost) -> f64;

fn ratios(rows: &[Row], (choose, figure): (Choose, Figure)) -> Vec<(Ratio, &Row)> {
    let ratio = |row| Some((Row::ratio(row, choose(row), figure)?, row));
    rows.iter().filter_map(ratio).collect()
}

/// What stands above the lines of the kernels.
pub fn columns() -> String {
    let mut text = format!(
        "\n{:<27}{:>23}  {:>26}  {:>26}  {:>28}\n",
        "", "native", "detect / native", "record / native", "trace"
    );
    let _ = writeln!(
        text,
        "{:<14} {:<12}{:>7}{:>7}{:>9}  {:>9}{:>9}{:>8}  {:>9}{:>9}{:>8}  {:>9}{:>10}{:>9}",
        "kernel",
        "kind",
        "wall s",
        "+-",
        "peak MB",
        "wall",
        "cpu",
        "memory",
        "wall",
        "cpu",
        "memory",
        "accesses",
        "B/access",
        "file MB"
    );
    text
}

/// What stands below them.
pub fn means(rows: &[Row]) -> String {
    let mut text = summary(
        "geometric mean",
        |column| {
            let all: Vec<Ratio> = column.iter().map(|(ratio, _)| *ratio).collect();
            geometric_mean(&all)
        },
        rows,
    );
    text += &summary(
        "worst",
        |column| worst(column).map(|(ratio, _)| ratio),
        rows,
    );
    text
}

pub fn line(row: &Row) -> String {
    let mut text = format!("{:<14} {:<12}", row.name, row.kind);
    match row.native {
        Some(native) => {
            let spread = native
                .spread
                .map_or("-".to_owned(), |spread| format!("{:.0}%", spread * 100.0));
            let _ = write!(
                text,
                "{:>7.2}{spread:>7}{:>9.0}",
                native.wall,
                native.peak / 1e6
            );
        }
        None => text += &format!("{:>23}", "failed"),
    }
    text += &cells(|i| {
        let (choose, figure) = COLUMNS[i];
        row.ratio(choose(row), figure)
    });
    if let Some(size) = row.trace {
        let _ = write!(
            text,
            "  {:>9}{:>10}{:>9.1}",
            short(size.accesses as f64),
            match size.accesses {
                0 => "-".to_owned(),
                n => format!("{:.2}", size.event_bytes as f64 / n as f64),
            },
            size.bytes as f64 / 1e6
        );
    }
    text + "\n"
}

/// A line of one figure for each column.
fn summary(title: &str, of: impl Fn(&[(Ratio, &Row)]) -> Option<Ratio>, rows: &[Row]) -> String {
    format!("{title:<50}{}\n", cells(|i| of(&ratios(rows, COLUMNS[i]))))
}

fn cells(of: impl Fn(usize) -> Option<Ratio>) -> String {
    let mut text = String::new();
    for i in 0..COLUMNS.len() {
        if i % 3 == 0 {
            text += "  ";
        }
        let width = if i % 3 == 2 { 8 } else { 9 };
        match of(i) {
            Some(ratio) => text += &format!("{ratio:>width$}"),
            None => text += &format!("{:>width$}", "-"),
        }
    }
    text
}

fn worst<'a>(column: &[(Ratio, &'a Row)]) -> Option<(Ratio, &'a Row)> {
    let by_value = |a: &&(Ratio, &Row), b: &&(Ratio, &Row)| a.0.value.total_cmp(&b.0.value);
    column.iter().max_by(by_value).copied()
}

pub fn startup(row: &Row) -> String {
    let milliseconds = |cost: Option<Cost>| match cost {
        Some(cost) => format!("{:.0} ms, {:.0} MB", cost.wall * 1e3, cost.peak / 1e6),
        None => "failed".into(),
    };
    format!(
        "\nan empty program: {} native; {} under detect; {} under record\n",
        milliseconds(row.native),
        milliseconds(row.detect),
        milliseconds(row.record)
    )
}

pub fn control(result: &Controlled) -> String {
    let mut text = "\nunder control, one thread at a time:\n".to_owned();
    let figures = [
        ("a scheduling point without a switch", result.point_ns, "ns"),
        ("a scheduling point with one", result.switch_ns, "ns"),
        (
            "runs of two threads with 40 points, a JVM each",
            result.fresh,
            "a second",
        ),
        (
            "the same, as many JVMs at once as cores",
            result.side_by_side,
            "a second",
        ),
        (
            "the same inside one JVM, with fresh threads",
            result.inside,
            "a second",
        ),
    ];
    for (name, value, unit) in figures {
        let value = value.map_or("-".to_owned(), |value| match value {
            small if small < 100.0 => format!("{small:.1}"),
            large => format!("{large:.0}"),
        });
        let _ = writeln!(text, "  {name:<50}{value:>9} {unit}");
    }
    for (name, ratio) in &result.ratios {
        let name = format!("time of {name}, controlled / native");
        let ratio = ratio.map_or("-".to_owned(), |ratio| ratio.to_string());
        let _ = writeln!(text, "  {name:<50}{ratio:>9}");
    }
    text
}

pub fn hidden(costs: &Costs) -> String {
    let mut text = format!(
        "\nlooking for hidden races:\n  {:<24}{:>9}{:>17}{:>14}{:>22}\n",
        "program", "alone s", "Phase I / alone", "FastTrack s", "Phase II / FastTrack"
    );
    for row in &costs.rows {
        let _ = writeln!(
            text,
            "  {:<24}{:>9.2}{:>16.2}x{:>14.2}{:>21.2}x",
            row.name,
            row.alone,
            row.collecting / row.alone,
            row.fasttrack,
            row.turning / row.fasttrack
        );
    }
    if let Some((collecting, turning)) = costs.means() {
        let _ = writeln!(text, "  {:<33}{collecting:>16.2}x{turning:>35.2}x", "mean");
        for (what, value, limit) in [("Phase I", collecting, 1.4), ("Phase II", turning, 2.0)] {
            let verdict = if value <= limit { "met" } else { "missed" };
            let _ = writeln!(text, "  {what}, at most {limit:.1}x: {verdict}");
        }
    }
    text
}

pub fn explore(costs: &explore::Costs) -> String {
    let figure = |value: Option<f64>, unit: &str| {
        value.map_or("-".to_owned(), |value| format!("{value:.2} {unit}"))
    };
    let ratio = costs.alone.zip(costs.reused);
    let ratio = ratio.map_or("-".to_owned(), |(alone, reused)| {
        format!("{:.0} times", alone / reused)
    });
    format!(
        "\nan execution of verify, two threads and a lock, one at a time:\n  \
         in a JVM of its own    {}\n  in a JVM used again    {}\n  ratio                  {ratio}\n  \
         until a first race     {}\n  detect --scheduler pos {}\n",
        figure(costs.alone, "ms"),
        figure(costs.reused, "ms"),
        figure(costs.first_race, "s"),
        figure(costs.sampled, "ms"),
    )
}

/// A table of Markdown: a server with budgets and without, as shares of the native figures.
pub fn budget(costs: &budget::Costs) -> String {
    let mut text = "\na server under load:\n\n| budget | requests/s | of native | 99th percentile | of native | cpu a request \
                    | of native | accesses watched | cost by its own measure | race found |\n\
                    |---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    let native = costs.rows.first().map_or([f64::NAN; 4], |row| row.figures);
    for row in &costs.rows {
        let [rate, _, late, cpu] = row.figures;
        let percent = |value: Option<f64>| value.map_or("-".to_owned(), |v| format!("{v:.2} %"));
        let _ = writeln!(
            text,
            "| {} | {rate:.0} | {:.0} % | {:.1} ms | {:.1}x | {cpu:.0} us | {:.2}x | {} | {} | {} of {} |",
            row.name,
            100.0 * rate / native[0],
            late / 1e3,
            late / native[2],
            cpu / native[3],
            percent(row.watched.map(|share| 100.0 * share)),
            percent(row.cost),
            row.found,
            costs.runs,
        );
    }
    text
}

/// A table of Markdown: for each way found or not, executions, seconds of wall-clock time and
/// of processor time.
pub fn bugs_heading(limit: Duration) -> String {
    let mut text = format!(
        "\nfaults found within {} s:\n\n| program |",
        limit.as_secs()
    );
    for (name, _) in bugs::WAYS {
        let _ = write!(text, " {name} |");
    }
    text += "\n|---|";
    text += &"---|".repeat(bugs::WAYS.len());
    text.push('\n');
    text
}

pub fn bugs_line(row: &bugs::Row) -> String {
    let mut text = format!("| {} |", row.name);
    for look in &row.looks {
        let (wall, cpu) = (look.wall.as_secs_f64(), look.cpu.as_secs_f64());
        let found = if look.found { "" } else { "not found, " };
        let executions = look.executions;
        let _ = write!(text, " {found}{executions} in {wall:.1} s ({cpu:.1} s) |");
    }
    text.push('\n');
    text
}

pub fn bugs_found(hunted: &Hunted) -> String {
    let mut text = "| found |".to_owned();
    for at in 0..bugs::WAYS.len() {
        let found = hunted.rows.iter().filter(|row| row.looks[at].found).count();
        let _ = write!(text, " {found} of {} |", hunted.rows.len());
    }
    text.push('\n');
    text
}

pub fn unshared(rows: &[Saved]) -> String {
    let mut text = format!(
        "\naccesses that cannot race, processor time of detect:\n  {:<14}{:>12}{:>24}\n",
        "kernel", "left out, s", "checked / left out"
    );
    for row in rows {
        let usual = row.usual.map_or("-".to_owned(), |s| format!("{s:.2}"));
        let all = row.all.map_or("-".to_owned(), |ratio| ratio.to_string());
        let _ = writeln!(text, "  {:<14}{usual:>12}{all:>24}", row.name);
    }
    let all: Vec<Ratio> = rows.iter().filter_map(|row| row.all).collect();
    if let Some(mean) = geometric_mean(&all).filter(|_| all.len() > 1) {
        let _ = writeln!(text, "  {:<26}{:>24}", "geometric mean", mean.to_string());
    }
    text
}

pub fn predict(result: &Predict) -> String {
    format!(
        "\npredict --memory-limit {}, over a trace of {} events: {:.1} s of processor time \
         ({:.1} s in all), {:.2} million events a second, peak {} MB\n",
        result.memory_limit,
        result.events,
        result.seconds,
        result.wall,
        result.events as f64 / result.seconds / 1e6,
        result.peak >> 20
    )
}

pub fn campaign(result: &Carried) -> String {
    let (units, workers) = (result.units, result.workers);
    let wall = result.wall.as_secs_f64();
    format!(
        "\ncampaign over a NATS server, {workers} workers, {units} units that compute nothing: {wall:.1} s, \
         {:.0} results a second;\n  coordinator: {:.0} µs of processor time a result, peak {} MB; \
         server: peak {} MB\n  a unit of a second: {:.1} ms more with the queue, {:.2} %\n",
        units as f64 / wall,
        result.cpu.as_secs_f64() * 1e6 / units as f64,
        result.peak >> 20,
        result.server_peak >> 20,
        result.added.as_secs_f64() * 1e3,
        result.added.as_secs_f64() * 1e2,
    )
}

pub fn offline(result: &Offline) -> String {
    let mut text = format!(
        "\noffline, over a trace of {} events in {} bytes, in million events a second of \
         processor time:\n",
        short(result.events as f64),
        short(result.bytes as f64)
    );
    for (name, speed) in &result.speeds {
        let _ = writeln!(text, "  {name:<20}{:>7.1}", speed / 1e6);
    }
    if let Some(ratio) = faster(result) {
        let _ = writeln!(text, "  FastTrack is {ratio:.1} times as fast as its twin");
    }
    text
}

fn faster(result: &Offline) -> Option<f64> {
    Some(result.speed(offline::FASTTRACK)? / result.speed(offline::VECTORS)?)
}

/// The figures that were set as goals, beside the goals. Whatever was not
/// measured is left out.
pub fn targets(rows: &[Row], offline: Option<&Offline>) -> String {
    let mut text = String::new();
    let mut goal = |what: &str, value: Option<String>, met: bool, target: &str| {
        if let Some(value) = value {
            let verdict = if met { "met" } else { "missed" };
            let _ = writeln!(text, "  {what:<40}{value:<28}{target:<18}{verdict}");
        }
    };
    let limits = [
        ("detect, processor time", 1, 3.0, 6.0),
        ("record, processor time", 4, 4.0, 10.0),
        ("detect, memory", 2, 2.5, 4.0),
        ("record, memory", 5, 4.0, 4.0),
    ];
    for (what, column, mean_limit, worst_limit) in limits {
        let column = ratios(rows, COLUMNS[column]);
        let all: Vec<Ratio> = column.iter().map(|(ratio, _)| *ratio).collect();
        let mean = geometric_mean(&all);
        goal(
            &format!("{what}, geometric mean"),
            mean.map(|mean| mean.to_string()),
            mean.is_some_and(|mean| mean.value < mean_limit && !mean.at_least),
            &format!("under {mean_limit}x"),
        );
        let worst = worst(&column);
        goal(
            &format!("{what}, worst"),
            worst.map(|(ratio, row)| format!("{ratio} ({})", row.name)),
            worst.is_some_and(|(worst, _)| worst.value < worst_limit && !worst.at_least),
            &format!("under {worst_limit}x"),
        );
    }
    let sizes = rows.iter().filter_map(|row| row.trace);
    let (bytes, accesses) = sizes.fold((0, 0), |sum, size| {
        (sum.0 + size.event_bytes, sum.1 + size.accesses)
    });
    let each = (accesses > 0).then(|| bytes as f64 / accesses as f64);
    goal(
        "bytes an access, all traces",
        each.map(|each| format!("{each:.2}")),
        each.is_some_and(|each| each <= 8.0),
        "8 at most",
    );
    let speed = offline.and_then(|o| o.speed(offline::FASTTRACK));
    goal(
        "FastTrack offline, events/s",
        speed.map(|speed| format!("{:.1} million", speed / 1e6)),
        speed.is_some_and(|speed| speed >= 25e6),
        "25 million",
    );
    if text.is_empty() {
        text
    } else {
        format!("\nagainst the targets:\n{text}")
    }
}

/// A count in few characters: `12.3M`.
fn short(n: f64) -> String {
    let units = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    match units.into_iter().find(|(size, _)| n >= *size) {
        Some((size, unit)) => format!("{:.1}{unit}", n / size),
        None => format!("{n:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::TraceSize;

    fn cost(wall: f64, stopped: bool) -> Option<Cost> {
        Some(Cost {
            wall,
            cpu: wall,
            peak: wall * 1e6,
            spread: Some(0.1),
            stopped,
        })
    }

    fn row(name: &str, detect: Option<Cost>) -> Row {
        Row {
            name: name.into(),
            kind: "array".into(),
            native: cost(1.0, false),
            detect,
            record: cost(2.0, false),
            trace: Some(TraceSize {
                accesses: 10,
                event_bytes: 40,
                bytes: 100,
            }),
            problems: vec![],
        }
    }

    fn verdict<'a>(text: &'a str, what: &str) -> &'a str {
        let line = text.lines().find(|line| line.trim().starts_with(what));
        line.unwrap().split_whitespace().last().unwrap()
    }

    #[test]
    fn means_and_worst_cases_are_held_against_the_targets() {
        let rows = [row("a", cost(2.0, false)), row("b", cost(5.0, false))];
        let text = targets(&rows, None);
        assert!(text.contains("5.00x (b)"), "{text}");
        assert_eq!(
            verdict(&text, "detect, processor time, geometric mean"),
            "missed"
        );
        assert_eq!(verdict(&text, "detect, processor time, worst"), "met");
        assert_eq!(
            verdict(&text, "record, processor time, geometric mean"),
            "met"
        );
        assert_eq!(verdict(&text, "bytes an access"), "met");
        assert!(!text.contains("offline"));
    }

    #[test]
    fn figures_of_controlled_runs_stand_in_a_column() {
        let result = Controlled {
            point_ns: Some(93.4),
            switch_ns: Some(1234.0),
            ratios: vec![("files", None)],
            ..Controlled::default()
        };
        let text = control(&result);
        assert!(
            text.contains("93.4 ns") && text.contains("1234 ns"),
            "{text}"
        );
        assert!(text.ends_with("-\n"), "{text}");
    }

    #[test]
    fn a_run_that_was_stopped_meets_no_target() {
        let text = targets(&[row("a", cost(2.0, true))], None);
        assert!(text.contains(">2.00x (a)"), "{text}");
        assert_eq!(verdict(&text, "detect, processor time, worst"), "missed");
    }

    #[test]
    fn what_failed_leaves_a_gap_and_the_columns_in_line() {
        let rows = [row("a", cost(2.0, false)), row("b", None)];
        let heads = columns();
        let (a, b) = (line(&rows[0]), line(&rows[1]));
        assert_eq!(a.len(), b.len(), "{a}{b}");
        assert!(heads.ends_with("file MB\n") && heads.lines().last().unwrap().len() + 1 == a.len());
        let means = means(&rows);
        assert!(means.lines().all(|l| l.ends_with("2.00x")), "{means}");
    }
}
