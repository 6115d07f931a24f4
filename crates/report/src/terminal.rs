//! The report for somebody at a terminal: each finding with both accesses, the
//! source line of each when the source is found, the threads and who started
//! them, locks held, where the object came from; then what was covered, and
//! what was not.

mod control;
mod interleaving;
mod known;
mod story;

use crate::snippet::{columns, span};
use crate::timeline::Timelines;
use findings::finding::{AccessOp, Frame, Location};
use findings::group::{Finding, is_foreign as is_jdk, is_lambda, own_call, own_statement};
use findings::result::{Access, Jvm, Race, Report, Run, RunEnd};
use findings::sampling::percent;
pub use findings::sources::{NoSources, Sources};
use findings::suppress::array_type;
use findings::text::{clean, clean_line, counted};
use std::io::{self, Write};

/// Frames shown below the access unless everything is asked for.
const SHORT_STACK: usize = 6;
/// Further races of a finding shown unless everything is asked for.
const SHORT_GROUP: usize = 5;
/// Locks named unless everything is asked for.
const MOST_LOCKS: usize = 4;
/// Skipped classes named unless everything is asked for.
const SHORT_LIST: usize = 5;

#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    pub color: bool,
    /// Whole stacks and every skipped class.
    pub verbose: bool,
    /// Schedules that were kept of races that were made to happen.
    pub timelines: Option<&'a Timelines>,
}

/// Writes the whole report.
pub fn render(
    report: &Report,
    sources: &dyn Sources,
    options: Options<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut page = Page {
        out,
        sources,
        options,
        // Of an exploration only the executions that showed something new are runs of the report.
        runs: match is_exploration(report) {
            true => 1,
            false => report.runs.len(),
        },
        jvms: report.runs.iter().map(|run| run.jvm.as_ref()).collect(),
    };
    for finding in findings::group::findings(&report.races) {
        page.finding(&finding)?;
    }
    for deadlock in &report.deadlocks {
        page.deadlock(deadlock)?;
    }
    for failure in &report.failures {
        page.failure(failure)?;
    }
    for found in report.weak_findings() {
        page.weak(found)?;
    }
    crate::advice::render(report, page.out)?;
    page.coverage(report)?;
    page.suppressed(report)?;
    page.baseline(report)?;
    page.verdict(report)?;
    let looked_at = [
        crate::exploration::verdict(report),
        crate::exploration::weak(report),
        crate::exploration::schedules(report),
    ];
    for text in looked_at.into_iter().flatten() {
        page.out.write_all(text.as_bytes())?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Style {
    Bold,
    Red,
    Blue,
    Yellow,
}

struct Page<'a> {
    out: &'a mut dyn Write,
    sources: &'a dyn Sources,
    options: Options<'a>,
    runs: usize,
    /// Of each run, if a command started it.
    jvms: Vec<Option<&'a Jvm>>,
}

impl Page<'_> {
    fn paint(&self, style: Style, text: &str) -> String {
        if !self.options.color {
            return text.to_owned();
        }
        let code = match style {
            Style::Bold => "1",
            Style::Red => "1;31",
            Style::Blue => "1;34",
            Style::Yellow => "1;33",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// The race that leads, with the others below it.
    fn finding(&mut self, finding: &Finding<'_>) -> io::Result<()> {
        self.head(finding.race, subject(finding), finding.is_inside())?;
        self.race(finding.race)?;
        if self.options.verbose {
            for race in &finding.members {
                self.head(race, format!("on {}", location(&race.location)), false)?;
                self.race(race)?;
            }
            return Ok(());
        }
        for race in finding.members.iter().take(SHORT_GROUP) {
            let [a, b] = race.accesses.each_ref().map(|access| {
                let at = place(own_statement(access));
                format!("{} in {at}", access.op.word())
            });
            let what = match finding.is_inside() {
                true => format!("{}, ", location(&race.location)),
                false => String::new(),
            };
            let facts = format!("{}{}", race.status.word(), self.trials(race));
            let id = clean(&race.id);
            writeln!(self.out, "  also {id}: {what}{a}, {b} ({facts})")?;
        }
        match finding.members.len() {
            0 => return Ok(()),
            all if all > SHORT_GROUP => {
                let more = counted((all - SHORT_GROUP) as u64, "pair", "pairs");
                writeln!(self.out, "  and {more} of accesses more (-v shows them)")?;
            }
            _ => {}
        }
        writeln!(self.out)
    }

    fn race(&mut self, race: &Race) -> io::Result<()> {
        for access in &race.accesses {
            self.access(access, &race.location)?;
        }
        if let Some(at) = &race.allocated {
            writeln!(self.out, "\n  the object was allocated in {}", place(at))?;
        }
        if let Location::Array {
            allocated: Some(at),
            ..
        } = &race.location
        {
            writeln!(self.out, "\n  the array was allocated in {}", place(at))?;
        }
        match race.story.is_empty() {
            true => self.interleaving(race)?,
            false => self.story(&race.story, race.replay.as_ref())?,
        }
        self.outcomes(race)?;
        writeln!(self.out)
    }

    /// `inside`: the accesses are to what the location holds, by calls of the program's.
    fn head(&mut self, race: &Race, what: String, inside: bool) -> io::Result<()> {
        let mut head = format!("{}: race {what}", clean(&race.id));
        if inside {
            let [a, b] = race.accesses.each_ref().map(own_statement);
            head += &format!(": {} and {}", place(a), place(b));
        }
        let mut facts = format!(
            "{} by {}",
            race.status.word(),
            clean(&race.found_by.join(", "))
        );
        if race.count > 1 {
            facts += &format!("; {} times", race.count);
        }
        if self.runs > 1 {
            let what = self.what_runs();
            facts += &format!("; in {} of {} {what}", race.runs, self.runs);
        }
        facts += &self.jvm(race.first_run);
        facts += &self.trials(race);
        writeln!(self.out, "{} ({facts})", self.paint(Style::Red, &head))
    }

    /// What a run of the report is.
    fn what_runs(&self) -> &'static str {
        match self.jvms.iter().any(Option::is_some) {
            true => "JVMs",
            false => "runs",
        }
    }

    /// The JVM that a finding was first seen in, if a command started several; a report of a
    /// single run leaves the number out.
    fn jvm(&self, first_run: u64) -> String {
        let at = first_run.max(1) as usize - 1;
        match self.jvms.get(at) {
            Some(Some(jvm)) => format!("; in {} (process {})", clean(jvm.name()), jvm.pid),
            _ => String::new(),
        }
    }

    fn access(&mut self, access: &Access, what: &Location) -> io::Result<()> {
        let op = match access.op {
            AccessOp::Read => "read",
            AccessOp::Write => "write",
        };
        let locks = match access.locks.as_deref() {
            None => String::new(),
            Some([]) => ", holding no lock".to_owned(),
            Some(locks) if locks.len() > MOST_LOCKS && !self.options.verbose => {
                let shown = locks.iter().take(MOST_LOCKS).map(|lock| lock_name(lock));
                let shown: Vec<String> = shown.collect();
                let more = locks.len() - MOST_LOCKS;
                format!(", holding {} and {more} more", shown.join(", "))
            }
            Some(locks) => {
                let shown: Vec<String> = locks.iter().map(|lock| lock_name(lock)).collect();
                format!(", holding {}", shown.join(", "))
            }
        };
        let head = format!("{op} by thread \"{}\"", clean(&access.thread));
        writeln!(self.out, "\n  {}{locks}", self.paint(Style::Bold, &head))?;

        // Inside the JDK the reader wants the line of their own that led there.
        let own = own_call(access);
        match own {
            Some(own) => {
                writeln!(self.out, "      in {}, called here:", place(&access.at))?;
                self.snippet(own, None)?;
            }
            None => self.snippet(&access.at, Some((what, access.op)))?,
        }
        self.stack(access, own)?;
        // Deep inside the JDK: who there made it says more than that it was started.
        let mut created = access.thread_created.iter();
        match access
            .thread_created
            .iter()
            .find(|f| !is_jdk(f))
            .or_else(|| created.find(|f| f.class != "java.lang.Thread"))
            .or(access.thread_created.first())
        {
            Some(at) => writeln!(self.out, "      = thread started in {}", place(at)),
            None => Ok(()),
        }
    }

    /// The line in its file, with the accessed member underlined.
    fn snippet(&mut self, at: &Frame, what: Option<(&Location, AccessOp)>) -> io::Result<()> {
        let found = match (&at.file, at.line) {
            (Some(file), Some(line)) => self
                .sources
                .line(&at.class, file, line)
                .map(|found| (line, found)),
            _ => None,
        };
        let arrow = self.paint(Style::Blue, "-->");
        let Some((line, (path, text))) = found else {
            return writeln!(self.out, "     {arrow} {}", place(at));
        };
        writeln!(
            self.out,
            "     {arrow} {}:{line} in {}",
            clean(&path),
            member(at)
        )?;
        let text = clean_line(&text);
        let whole = Location::Field {
            class: String::new(),
            field: String::new(),
            is_static: false,
            jdk: None,
        };
        let (what, op) = what.unwrap_or((&whole, AccessOp::Read));
        let (start, len) = span(&text, what, op);
        let bar = self.paint(Style::Blue, "|");
        let number = self.paint(Style::Blue, &format!("{line:>5}"));
        let (start, len) = columns(&text, (start, len));
        let caret = self.paint(Style::Red, &"^".repeat(len));
        writeln!(self.out, "      {bar}\n{number} {bar} {text}")?;
        if len > 0 {
            writeln!(self.out, "      {bar} {}{caret}", " ".repeat(start))?;
        }
        Ok(())
    }

    /// The callers, innermost first, runs of JDK frames folded into one line.
    fn stack(&mut self, access: &Access, shown: Option<&Frame>) -> io::Result<()> {
        let mut frames = callers(access).iter().peekable();
        if let (Some(shown), false) = (shown, self.options.verbose) {
            while frames
                .next()
                .is_some_and(|frame| !std::ptr::eq(frame, shown))
            {}
        }
        let mut written = 0;
        while let Some(frame) = frames.next() {
            if !self.options.verbose {
                if is_jdk(frame) {
                    let mut folded = u64::from(!is_lambda(frame));
                    while let Some(next) = frames.next_if(|f| is_jdk(f)) {
                        folded += u64::from(!is_lambda(next));
                    }
                    // At the bottom of a thread they say nothing at all.
                    if folded > 0 && frames.peek().is_some() {
                        let frames = counted(folded, "frame", "frames");
                        writeln!(self.out, "      = ... {frames} of the JDK")?;
                    }
                    continue;
                }
                if written == SHORT_STACK {
                    let more = frames.count() + 1;
                    writeln!(self.out, "      = ... {more} more (-v shows them)")?;
                    break;
                }
            }
            writeln!(self.out, "      = called from {}", place(frame))?;
            written += 1;
        }
        match (access.stack_exact, written) {
            (true, _) => Ok(()),
            (false, 0) if shown.is_none() && !is_jdk(&access.at) => Ok(()),
            (false, 0) if shown.is_none() => {
                writeln!(self.out, "      = (who called there was not kept)")
            }
            (false, _) => writeln!(self.out, "      = (further callers were not kept)"),
        }
    }

    fn coverage(&mut self, report: &Report) -> io::Result<()> {
        let skipped = &report.coverage.classes_skipped;
        let shown = if self.options.verbose {
            skipped.len()
        } else {
            SHORT_LIST
        };
        for skip in skipped.iter().take(shown) {
            let method = skip
                .method
                .as_ref()
                .map(|m| format!(".{m}"))
                .unwrap_or_default();
            let name = clean(&format!("{}{method}", skip.class));
            let label = self.paint(Style::Yellow, "not instrumented:");
            writeln!(self.out, "{label} {name}: {}", clean(&skip.why))?;
        }
        if skipped.len() > shown {
            let more = skipped.len() - shown;
            writeln!(self.out, "not instrumented: {more} more (-v names them)")?;
        }
        for model in &report.coverage.missing_models {
            let label = self.paint(Style::Yellow, "no model:");
            writeln!(
                self.out,
                "{label} {} orders threads in a way this tool does not know; \
                 races near it may be false",
                clean(model)
            )?;
        }
        for skipped in &report.coverage.jvms_skipped {
            let label = self.paint(Style::Yellow, "JVM left alone:");
            let name = clean(skipped.jvm.name());
            writeln!(self.out, "{label} {name}: {}", clean(&skipped.why))?;
        }
        self.sampling(report)?;
        self.hidden(report)?;
        self.reference(report)?;
        for text in &report.warnings {
            let label = self.paint(Style::Yellow, "warning:");
            writeln!(self.out, "{label} {}", clean(text))?;
        }
        self.dumps(report)?;
        Ok(())
    }

    /// What was watched within the budget.
    fn sampling(&mut self, report: &Report) -> io::Result<()> {
        let Some(sampling) = &report.coverage.sampling else {
            return Ok(());
        };
        let [classes, all_classes, statements, all_statements] = sampling.seen();
        let label = self.paint(Style::Bold, "watched:");
        let compared = sampling.compared_share.map_or(String::new(), |share| {
            format!(", {} more compared with these", percent(100.0 * share))
        });
        let cost = sampling.cost_percent.map_or(String::new(), |cost| {
            let budget = percent(sampling.budget_percent);
            format!("; cost {} of {budget}", percent(cost))
        });
        writeln!(
            self.out,
            "{label} {}{compared}, in {}{cost}; {statements} of {all_statements} statements in \
             {classes} of {all_classes} classes at least once",
            sampling.watched(),
            counted(sampling.periods, "period", "periods"),
        )
    }

    fn verdict(&mut self, report: &Report) -> io::Result<()> {
        let mut races = control::findings(report);
        if let Some(sampling) = report.coverage.sampling.as_ref()
            && !report.has_findings()
        {
            races += &format!(" in {}", sampling.watched());
        }
        let style = if report.has_findings() {
            Style::Red
        } else {
            Style::Bold
        };
        let trials: u64 = report
            .races
            .iter()
            .filter_map(|r| Some(r.trials?.run))
            .sum();
        let trials = match trials {
            0 => String::new(),
            n => format!(" and {}", counted(n, "trial", "trials")),
        };
        if report.runs.is_empty() {
            return writeln!(
                self.out,
                "{}: no run came to its end, {:.1} s",
                self.paint(style, &races),
                report.timing.total_s
            );
        }
        if report.is_running() {
            let running = report
                .runs
                .iter()
                .filter(|run| run.ended == RunEnd::Running);
            return writeln!(
                self.out,
                "{} so far; still running: {} of {}; nothing is final",
                self.paint(style, &races),
                running.count(),
                counted(report.runs.len() as u64, "run", "runs"),
            );
        }
        let c = &report.coverage;
        writeln!(
            self.out,
            "{} in {}{trials}: {}, {}{}, {:.1} s",
            self.paint(style, &races),
            match (&report.exploration, is_exploration(report)) {
                (Some(all), true) => counted(all.executions, "execution", "executions"),
                _ if report.program.exec => jvms(report),
                _ => runs(&report.runs),
            },
            counted(
                c.classes_instrumented,
                "class instrumented",
                "classes instrumented"
            ),
            counted(c.threads, "thread", "threads"),
            c.events
                .map(|events| format!(", {events} events"))
                .unwrap_or_default(),
            report.timing.total_s,
        )
    }
}

/// Whether the report is of an exploration alone.
fn is_exploration(report: &Report) -> bool {
    report.exploration.is_some() && report.command == "verify"
}

/// `2 JVMs (exit code 1 of the command)`.
fn jvms(report: &Report) -> String {
    let jvms = counted(report.runs.len() as u64, "JVM", "JVMs");
    match report.program.exit {
        Some(code) => format!("{jvms} (exit code {code} of the command)"),
        None => jvms,
    }
}

/// `1 run (exit code 0)`, `5 runs (exit codes 0, 1)`.
fn runs(runs: &[Run]) -> String {
    let mut ends: Vec<String> = Vec::new();
    for run in runs {
        let end = match (run.ended, run.exit, &run.signal) {
            (RunEnd::TimeLimit, ..) => "stopped at the time limit".to_owned(),
            (RunEnd::Offline, ..) => "from a trace".to_owned(),
            (RunEnd::Limit, ..) => "stopped at the limit of steps".to_owned(),
            (RunEnd::Cut, ..) => "cut off".to_owned(),
            (
                end @ (RunEnd::Interrupted | RunEnd::Deadlock | RunEnd::Livelock | RunEnd::Stuck),
                ..,
            ) => end.to_string(),
            (_, Some(code), _) => format!("exit code {code}"),
            (_, None, Some(signal)) => format!("killed by {}", clean(signal)),
            (other, None, None) => other.to_string(),
        };
        if !ends.contains(&end) {
            ends.push(end);
        }
    }
    format!(
        "{} ({})",
        counted(runs.len() as u64, "run", "runs"),
        ends.join(", ")
    )
}

/// The frames above the access itself.
fn callers(access: &Access) -> &[Frame] {
    match access.stack.split_first() {
        Some((first, rest))
            if first.class == access.at.class && first.method == access.at.method =>
        {
            rest
        }
        _ => &access.stack,
    }
}

/// `on A.f`; `inside A.f` for races inside the object that the field holds.
pub(crate) fn subject(finding: &Finding<'_>) -> String {
    let name = match finding.is_unnamed() {
        true => clean(&finding.owner),
        false => location(finding.location()),
    };
    format!("{} {name}", finding.preposition())
}

pub(crate) fn location(location: &Location) -> String {
    match location {
        Location::Field {
            class,
            field,
            is_static,
            ..
        } => {
            let prefix = if *is_static { "static " } else { "" };
            format!("{prefix}{}", qualified(class, field))
        }
        Location::Array {
            array, index, from, ..
        } => {
            let element = index.map(|i| format!(" element {i}")).unwrap_or_default();
            let from = from
                .as_ref()
                .map(|f| format!(" of {}", clean(&f.to_string())))
                .unwrap_or_default();
            format!("{}{element}{from}", clean(array_type(array)))
        }
    }
}

/// Locks of the JDK are known by an object inside them, which nobody else knows.
fn lock_name(lock: &str) -> String {
    clean(
        &lock
            .replace("$NonfairSync@", "@")
            .replace("$FairSync@", "@"),
    )
}

pub(crate) fn member(frame: &Frame) -> String {
    qualified(&frame.class, &frame.method)
}

/// `Class.member`; traces from other tools have no classes.
fn qualified(class: &str, member: &str) -> String {
    match class {
        "" => clean(member),
        class => clean(&format!("{class}.{member}")),
    }
}

/// `a.B.m (B.java:12)`.
pub(crate) fn place(frame: &Frame) -> String {
    let at = match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!(" ({file}:{line})"),
        (Some(file), None) => format!(" ({file})"),
        (None, _) => frame
            .bci
            .map(|bci| format!(" (bytecode {bci})"))
            .unwrap_or_default(),
    };
    format!("{}{}", member(frame), clean(&at))
}
