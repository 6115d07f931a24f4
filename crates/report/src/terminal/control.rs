//! The part of the page that comes from controlled runs: what became of races
//! that were made to happen, deadlocks, uncaught exceptions.

use super::{Page, SHORT_STACK, Style, is_jdk, place};
use findings::confirmed::{
    Deadlock, Delay, Effect, Failure, Harm, Outcome, ReferenceRuns, Replay, StaleRead,
};
use findings::exploration::WeakFinding;
use findings::finding::{AccessOp, Frame};
use findings::group;
use findings::result::{Access, Hidden, Race, Report, Status};
use findings::text::{clean, clean_line, counted};
use std::collections::BTreeSet;
use std::io;

/// Lines of a thread dump shown unless everything is asked for.
const SHORT_DUMP: usize = 40;

/// Reads of older values shown of one outcome.
const STALE_READS: usize = 3;

impl Page<'_> {
    /// What was done to show hidden races, and what was not looked at.
    pub(super) fn hidden(&mut self, report: &Report) -> io::Result<()> {
        let runs: Vec<&Hidden> = report
            .runs
            .iter()
            .filter_map(|r| r.hidden.as_ref())
            .collect();
        if runs.is_empty() {
            return Ok(());
        }
        let sum = |of: fn(&Hidden) -> u64| runs.iter().map(|h| of(h)).sum::<u64>();
        let suspended = sum(|h| h.suspended);
        if suspended > 0 {
            let rate = 100.0 * sum(|h| h.thrashed) as f64 / suspended as f64;
            writeln!(
                self.out,
                "threads were held back before locks {}; the locks then changed their order {}, it was given up after a while {} (thrashing rate {rate:.1} %)",
                counted(suspended, "time", "times"),
                counted(sum(|h| h.reversed), "time", "times"),
                counted(sum(|h| h.expired), "time", "times"),
            )?;
        }
        let left_out: BTreeSet<&str> = runs
            .iter()
            .flat_map(|h| h.left_out.iter().map(String::as_str))
            .collect();
        if !left_out.is_empty() {
            let names: Vec<String> = left_out.into_iter().map(clean).collect();
            writeln!(
                self.out,
                "locks of these classes were left out (--include takes them in): {}",
                names.join(", ")
            )?;
        }
        Ok(())
    }

    /// `; made to happen in 87 of 87 trials, harmful`.
    pub(super) fn trials(&self, race: &Race) -> String {
        let Some(trials) = race.trials else {
            return String::new();
        };
        let met = match trials.met {
            Some(met) => format!(" (its statements met in {met})"),
            None => String::new(),
        };
        if trials.hit == 0 {
            let run = counted(trials.run, "trial", "trials");
            let first = race.outcomes.first();
            let older = first.is_some_and(|outcome| !outcome.memory.is_empty());
            let harm = match race.harm.filter(|_| older) {
                Some(Harm::Harmful) => "; harmful where a read sees an older value",
                Some(Harm::ChangesOutput) => "; an older value changes the output",
                _ => "",
            };
            return format!("; not made to happen in {run}{met}{harm}");
        }
        let harm = match race.harm {
            Some(Harm::Harmful) => ", harmful",
            Some(Harm::ChangesOutput) => ", changes the output",
            Some(Harm::Harmless) => ", harmless as far as seen",
            Some(Harm::Unknown) | None => "",
        };
        let run = counted(trials.run, "trial", "trials");
        format!("; made to happen in {} of {run}{met}{harm}", trials.hit)
    }

    pub(super) fn outcomes(&mut self, race: &Race) -> io::Result<()> {
        if !race.outcomes.is_empty() {
            writeln!(self.out)?;
        }
        for outcome in &race.outcomes {
            let first = usize::from(outcome.first);
            let first = race.accesses.get(first).unwrap_or(&race.accesses[0]);
            let [a, b] = &race.accesses;
            let who = if (&a.at, a.op) == (&b.at, b.op) {
                "in either order".to_owned()
            } else {
                format!("{} first", self::access(first, a.op != b.op))
            };
            let who = match outcome.memory.is_empty() {
                true => who,
                false => "a read sees an older value".to_owned(),
            };
            let who = self.paint(Style::Bold, &who);
            let trials = counted(outcome.trials, "trial", "trials") + &self.met(outcome);
            let text = effect(outcome);
            let text = match outcome.result {
                Effect::Ok => text,
                _ => self.paint(Style::Red, &text),
            };
            let signs = match outcome.failure_signs.as_slice() {
                [] => String::new(),
                signs => format!(" ({})", clean(&signs.join(", "))),
            };
            writeln!(self.out, "  {who} ({trials}): {text}{signs}")?;
            self.frames(&outcome.stack)?;
            self.stale_reads(&outcome.memory)?;
            if outcome.result != Effect::Ok || self.options.verbose {
                self.replay(outcome.replay.as_ref(), "      ")?;
            }
        }
        let shown = |replay: &Replay| {
            let shown = |o: &Outcome| o.result != Effect::Ok || self.options.verbose;
            let mut outcomes = race.outcomes.iter().filter(|o| shown(o));
            outcomes.any(|o| o.replay.as_ref() == Some(replay))
        };
        match race.replay.as_ref().filter(|replay| !shown(replay)) {
            Some(replay) => {
                writeln!(self.out)?;
                self.replay(Some(replay), "  ")
            }
            None => Ok(()),
        }
    }

    /// What the program did where no order was forced, unless that was always the same and fine.
    pub(super) fn reference(&mut self, report: &Report) -> io::Result<()> {
        let ways = &report.reference_runs;
        let fine = |way: &ReferenceRuns| way.result == Effect::Ok && way.failure_signs.is_empty();
        if ways.iter().all(fine) {
            return Ok(());
        }
        let total: u64 = ways.iter().map(|way| way.runs).sum();
        let ways = ways.iter().map(|way| {
            let signs = match way.failure_signs.as_slice() {
                [] => String::new(),
                signs => format!(" ({})", clean(&signs.join(", "))),
            };
            let text = match (way.result, way.detail.as_str()) {
                (Effect::Ok, _) => "as compared with".to_owned(),
                (result, "") => result.name().to_owned(),
                (result, detail) => format!("{}: {}", result.name(), clean(detail)),
            };
            format!("{} of {total} {text}{signs}", way.runs)
        });
        let ways = ways.collect::<Vec<_>>().join("; ");
        writeln!(self.out, "runs without a forced order: {ways}")
    }

    /// Which accesses met, where a line has several.
    fn met(&self, outcome: &Outcome) -> String {
        let orders = outcome.orders.iter();
        let orders = orders.map(|[a, b]| format!("{} then {}", a.word(), b.word()));
        match outcome.orders.len() > 1 && self.options.verbose {
            true => format!("; {}", orders.collect::<Vec<_>>().join(", ")),
            false => String::new(),
        }
    }

    /// Which write a read saw, and why it may.
    fn stale_reads(&mut self, all: &[StaleRead]) -> io::Result<()> {
        for stale in all.iter().take(STALE_READS) {
            let saw = match &stale.saw {
                Some(saw) => format!(", written at {}", saw.at.short()),
                None => ", the value before any write".to_owned(),
            };
            let text = format!(
                "\"{}\" reads {} at {}{saw}; not {}, which \"{}\" wrote before at {}",
                stale.thread,
                stale.value,
                stale.at.short(),
                stale.newest,
                stale.missed.thread,
                stale.missed.at.short(),
            );
            writeln!(self.out, "      {}", clean(&text))?;
        }
        match all.first() {
            Some(stale) => writeln!(self.out, "      = why: {}", clean(&stale.why)),
            None => Ok(()),
        }
    }

    fn replay(&mut self, replay: Option<&Replay>, indent: &str) -> io::Result<()> {
        match replay {
            Some(replay) => {
                writeln!(
                    self.out,
                    "{indent}= to see it again: {}",
                    clean(&replay.command)
                )?;
                self.delay(replay.delays.first(), indent)
            }
            None => Ok(()),
        }
    }

    /// The longest delay that a schedule needs.
    fn delay(&mut self, delay: Option<&Delay>, indent: &str) -> io::Result<()> {
        let Some(delay) = delay else {
            return Ok(());
        };
        let late = delay.delayed.iter().map(|t| format!("\"{}\"", clean(t)));
        writeln!(
            self.out,
            "{indent}= this schedule delays {} by more than the {} ms that \"{}\" sleeps or waits",
            late.collect::<Vec<_>>().join(", "),
            delay.millis,
            clean(&delay.sleeper)
        )
    }

    /// A stack below the line that it belongs to.
    fn frames(&mut self, stack: &[Frame]) -> io::Result<()> {
        let most = if self.options.verbose {
            stack.len()
        } else {
            SHORT_STACK
        };
        // What the JDK calls at the bottom of a thread says nothing.
        let own = stack.iter().rposition(|f| !is_jdk(f));
        let end = match own {
            Some(last) if !self.options.verbose => last + 1,
            _ => stack.len(),
        };
        for frame in stack.iter().take(end.min(most)) {
            writeln!(self.out, "      = at {}", place(frame))?;
        }
        if end > most {
            writeln!(self.out, "      = ... {} more (-v shows them)", end - most)?;
        }
        Ok(())
    }

    fn seen(&self, runs: u64) -> String {
        if self.runs > 1 {
            format!(" (in {runs} of {} runs)", self.runs)
        } else {
            String::new()
        }
    }

    pub(super) fn deadlock(&mut self, deadlock: &Deadlock) -> io::Result<()> {
        let what = match (deadlock.kind.as_str(), deadlock.cycle) {
            ("livelock", _) => "livelock: threads go on without progress",
            (_, true) => "deadlock: threads wait for each other",
            (_, false) => "deadlock: no thread is left that could wake these",
        };
        let head = format!("{}: {what}", clean(&deadlock.id));
        let head = self.paint(Style::Red, &head);
        writeln!(self.out, "{head}{}", self.seen(deadlock.runs))?;
        for waiting in &deadlock.threads {
            let thread = format!("thread \"{}\"", clean(&waiting.thread));
            let thread = self.paint(Style::Bold, &thread);
            let mut text = String::new();
            if !waiting.waits_for.is_empty() {
                text += &format!(" waits for {}", clean(&waiting.waits_for));
            }
            if let Some(holder) = &waiting.held_by {
                text += &format!(", held by thread \"{}\"", clean(holder));
            }
            writeln!(self.out, "\n  {thread}{text}")?;
            if !waiting.holds.is_empty() {
                let holds: Vec<String> = waiting.holds.iter().map(|lock| clean(lock)).collect();
                writeln!(self.out, "      holding {}", holds.join(", "))?;
            }
            self.frames(&waiting.stack)?;
        }
        self.story(&deadlock.story, deadlock.replay.as_ref())?;
        if deadlock.replay.is_some() {
            writeln!(self.out)?;
        }
        self.replay(deadlock.replay.as_ref(), "  ")?;
        writeln!(self.out)
    }

    /// What an exploration shows where reads see older writes.
    pub(super) fn weak(&mut self, found: &WeakFinding) -> io::Result<()> {
        let head = format!("{}: {}", clean(&found.id), clean(&found.detail));
        let head = self.paint(Style::Red, &head);
        let how = match found.memory.is_empty() {
            true => "in an execution that the first exploration did not make",
            false => "where a read sees an older value",
        };
        writeln!(self.out, "{head}, {how}")?;
        self.frames(&found.stack)?;
        self.stale_reads(&found.memory)?;
        self.replay(found.replay.as_ref(), "      ")?;
        writeln!(self.out)
    }

    pub(super) fn failure(&mut self, failure: &Failure) -> io::Result<()> {
        let head = format!(
            "{}: {} ended thread \"{}\"",
            clean(&failure.id),
            clean(&failure.exception),
            clean(&failure.thread)
        );
        let head = self.paint(Style::Red, &head);
        writeln!(self.out, "{head}{}", self.seen(failure.runs))?;
        self.frames(&failure.stack)?;
        match failure.story.is_empty() {
            true => self.before_failure(failure)?,
            false => {
                self.story(&failure.story, failure.replay.as_ref())?;
                writeln!(self.out)?;
            }
        }
        self.replay(failure.replay.as_ref(), "      ")?;
        writeln!(self.out)
    }
}

impl Page<'_> {
    /// Thread dumps of runs that were stuck.
    pub(super) fn dumps(&mut self, report: &Report) -> io::Result<()> {
        for (index, run) in report.runs.iter().enumerate() {
            let Some(dump) = &run.dump else { continue };
            let head = format!("thread dump of run {}:", index + 1);
            writeln!(self.out, "{}", self.paint(Style::Yellow, &head))?;
            let most = if self.options.verbose {
                usize::MAX
            } else {
                SHORT_DUMP
            };
            let mut lines = dump.lines();
            for line in lines.by_ref().take(most) {
                writeln!(self.out, "  | {}", clean_line(line))?;
            }
            match lines.count() {
                0 => {}
                more => writeln!(self.out, "  | ... {more} more lines (-v shows them)")?,
            }
        }
        Ok(())
    }
}

fn access(access: &Access, op_is_enough: bool) -> String {
    let op = match access.op {
        AccessOp::Read => "read",
        AccessOp::Write => "write",
    };
    match (&access.at.file, access.at.line) {
        (Some(file), Some(line)) if !op_is_enough => clean(&format!("the {op} at {file}:{line}")),
        _ => format!("the {op}"),
    }
}

fn effect(outcome: &Outcome) -> String {
    let detail = clean(&outcome.detail);
    match outcome.result {
        Effect::Ok if outcome.failure_signs.is_empty() => "nothing out of the ordinary".to_owned(),
        Effect::Ok => "as in the reference run".to_owned(),
        Effect::Exception => detail,
        Effect::Deadlock | Effect::Livelock if detail.is_empty() => {
            outcome.result.name().to_owned()
        }
        Effect::Deadlock | Effect::Livelock => format!("{}: {detail}", outcome.result.name()),
        Effect::OutputDiffers => detail,
    }
}

/// `3 races` or, after trials, `2 confirmed races (1 harmful) and 1 potential`;
/// then the rest.
pub(super) fn findings(report: &Report) -> String {
    let found = group::findings(&report.races);
    let races: Vec<&Race> = found.iter().map(|finding| finding.race).collect();
    let tried = report.races.iter().any(|race| race.trials.is_some());
    let mut parts = Vec::new();
    if tried {
        let with = |status: Status| races.iter().filter(move |r| r.status == status);
        let real = with(Status::Confirmed).count() as u64;
        let harmful = |status: Status| {
            let harmful = with(status).filter(|race| race.harm == Some(Harm::Harmful));
            match harmful.count() {
                0 => String::new(),
                n => format!(" ({n} harmful)"),
            }
        };
        if real > 0 {
            let races = counted(real, "confirmed race", "confirmed races");
            parts.push(races + &harmful(Status::Confirmed));
        }
        for status in [Status::Observed, Status::Predicted, Status::Potential] {
            match with(status).count() {
                0 => {}
                others => parts.push(format!("{others} {}{}", status.word(), harmful(status))),
            }
        }
    } else if !races.is_empty() {
        parts.push(counted(races.len() as u64, "race", "races"));
    }
    if races.len() < report.races.len() {
        let last = parts.pop().unwrap_or_default();
        parts.push(format!("{last} ({} pairs of accesses)", report.races.len()));
    }
    let count = |kind: &str| {
        let of = |d: &&Deadlock| (d.kind == "livelock") == (kind == "livelock");
        report.deadlocks.iter().filter(of).count() as u64
    };
    for kind in ["deadlock", "livelock"] {
        match count(kind) {
            0 => {}
            n => parts.push(counted(n, kind, &format!("{kind}s"))),
        }
    }
    match report.failures.len() as u64 {
        0 => {}
        n => parts.push(counted(n, "uncaught exception", "uncaught exceptions")),
    }
    match parts.len() {
        0 => "no race found".to_owned(),
        _ => parts.join(", "),
    }
}
