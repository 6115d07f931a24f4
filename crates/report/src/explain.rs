//! One finding at length, for somebody who meets it for the first time: what happens, why that
//! is a race by the Java memory model, what can go wrong, and how to repair it. It says nothing that
//! the report does not know: what was not tried is not called an outcome.

use crate::terminal::{location, place};
use findings::confirmed::{Deadlock, Failure};
use findings::finding::AccessOp;
use findings::group::{Finding, findings, own_statement};
use findings::result::{Access, Race, Report, Status};
use findings::text::{clean, counted};
use std::io::{self, Write};

/// Writes what there is to say about the finding of this id; false if the report has none.
pub fn explain(report: &Report, id: &str, out: &mut dyn Write) -> io::Result<bool> {
    let same = |other: &str| other.eq_ignore_ascii_case(id);
    for finding in findings(&report.races) {
        if let Some(race) = finding.all().find(|race| same(&race.id)) {
            explain_race(&finding, race, out)?;
            return Ok(true);
        }
    }
    if let Some(deadlock) = report.deadlocks.iter().find(|d| same(&d.id)) {
        explain_deadlock(deadlock, out)?;
        return Ok(true);
    }
    if let Some(failure) = report.failures.iter().find(|f| same(&f.id)) {
        explain_failure(failure, out)?;
        return Ok(true);
    }
    Ok(false)
}

fn head(out: &mut dyn Write, title: &str) -> io::Result<()> {
    writeln!(out, "\n{title}\n{}\n", "-".repeat(title.chars().count()))
}

fn explain_race(finding: &Finding<'_>, race: &Race, out: &mut dyn Write) -> io::Result<()> {
    let what = location(&race.location);
    writeln!(
        out,
        "{}: race on {what} ({})",
        clean(&race.id),
        race.status.word()
    )?;
    head(out, "What happens")?;
    for (access, number) in race.accesses.iter().zip(["One thread", "Another"]) {
        writeln!(
            out,
            "{number}, \"{}\", {} {what}",
            clean(&access.thread),
            does(access.op)
        )?;
        writeln!(
            out,
            "    in {}{}",
            place(own_statement(access)),
            locks(access)
        )?;
    }
    writeln!(out, "\n{}", met(race))?;
    let others = finding.all().count() - 1;
    if others > 0 {
        let pairs = counted(others as u64, "other pair", "other pairs");
        writeln!(
            out,
            "It is one of a group: {pairs} of accesses race for the same reason."
        )?;
    }
    head(out, "Why this is a race")?;
    writeln!(out, "{}", why(race))?;
    head(out, "What can go wrong")?;
    for line in wrong(race, finding.is_inside()) {
        writeln!(out, "* {line}")?;
    }
    head(out, "How to repair it")?;
    repair(race, out)
}

fn does(op: AccessOp) -> &'static str {
    match op {
        AccessOp::Read => "reads",
        AccessOp::Write => "writes",
    }
}

fn locks(access: &Access) -> String {
    match access.locks.as_deref() {
        None => String::new(),
        Some([]) => ", holding no lock".to_owned(),
        Some(locks) => {
            let names: Vec<String> = locks.iter().map(|lock| clean(lock)).collect();
            format!(", holding {}", names.join(", "))
        }
    }
}

/// How well it is known.
fn met(race: &Race) -> String {
    let seen = counted(race.count.max(1), "time", "times");
    match race.status {
        Status::Confirmed => {
            "It was made to happen: both threads stood before these statements at \
                              the same time, and a schedule that repeats it was kept."
                .to_owned()
        }
        Status::Observed => {
            format!("It was seen {seen} in a run: nothing ordered the two accesses.")
        }
        Status::Predicted => {
            "It did not happen in the run that was recorded. Another order of the \
                              same run has it, and a separate check accepted that order."
                .to_owned()
        }
        Status::Potential => {
            "It is a suspicion: the two have no lock in common, or it is not known \
                              who called. They may be ordered by something else."
                .to_owned()
        }
    }
}

fn why(race: &Race) -> String {
    let [a, b] = race.accesses.each_ref();
    let held = |access: &Access| access.locks.as_ref().is_some_and(|locks| !locks.is_empty());
    let mut text = "Two accesses to the same variable conflict if at least one of them writes it. If neither \
                    happens-before the other, they are a data race (Java Language Specification, 17.4.5). \
                    Only these order threads: a monitor that is released and then acquired, a volatile or \
                    atomic write and a read that sees it, start and join of a thread, what java.util.concurrent \
                    documents, and chains of them."
        .to_owned();
    if held(a) && held(b) {
        text +=
            " Both threads hold locks here, but not the same one: different locks order nothing.";
    } else if held(a) || held(b) {
        text += " One of the threads holds a lock here and the other does not: a lock orders only those \
                  who take it.";
    }
    if race.status < Status::Observed {
        text += " Whether the accesses are really unordered in some run, see above.";
    }
    text
}

fn wrong(race: &Race, inside: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for outcome in &race.outcomes {
        let detail = match outcome.detail.is_empty() {
            true => String::new(),
            false => format!(": {}", clean(&outcome.detail)),
        };
        let trials = counted(outcome.trials, "trial", "trials");
        lines.push(format!(
            "Seen in {trials}: {}{detail}",
            outcome.result.name()
        ));
        for stale in outcome.memory.iter().take(1) {
            lines.push(format!(
                "In {} a read saw {} and not {}: {}",
                if outcome.trials == 1 { "it" } else { "them" },
                clean(&stale.value),
                clean(&stale.newest),
                clean(&stale.why)
            ));
        }
    }
    let [a, b] = race.accesses.each_ref();
    if inside {
        lines.push(
            "The object is of the JDK and not made for several threads: entries may be lost or come \
             twice, its tables may be damaged for good, and a loop over it may throw or never end."
                .to_owned(),
        );
        return lines;
    }
    if (a.op, b.op) == (AccessOp::Write, AccessOp::Write) {
        lines.push("Both write: one of the values is lost, and which one is chance.".to_owned());
    } else {
        lines.push(
            "The reader may see the old value, for as long as it likes: a loop that waits for the new one \
             may never end, since the compiler may read the variable once."
                .to_owned(),
        );
        lines.push(
            "If the value is a reference, the reader may see the object before its constructor's writes: \
             null and zero in fields that are never null or zero."
                .to_owned(),
        );
    }
    let same = |x: &Access, y: &Access| (&x.at.class, x.at.line) == (&y.at.class, y.at.line);
    if same(a, b) {
        lines.push(
            "Both threads run the same line. If it reads the variable and writes it back (such as x++), an \
             update is lost."
                .to_owned(),
        );
    }
    lines.push(
        "A long or double that is not volatile may be seen with half of each value (17.7)."
            .to_owned(),
    );
    lines
}

fn repair(race: &Race, out: &mut dyn Write) -> io::Result<()> {
    for suggestion in race.suggestions() {
        let checked = match suggestion.checked.is_empty() {
            true => String::new(),
            false => format!(" ({})", clean(&suggestion.checked)),
        };
        writeln!(out, "* {}{checked}", clean(&suggestion.text))?;
        if let Some(caution) = &suggestion.caution {
            writeln!(out, "  {}", clean(caution))?;
        }
    }
    if race.suggestions().is_empty() {
        writeln!(
            out,
            "Nothing was tried yet: `photofinish advise` proposes repairs and tries each. In general:\n\
             * one lock for all accesses to it, reads too;\n\
             * volatile, if every write is independent of the value before (a flag, a reference that is \
             published);\n\
             * an atomic class or a concurrent collection, if a value is computed from the one before;\n\
             * not sharing it: a copy for each thread, or an immutable object."
        )?;
    }
    if let Some(replay) = &race.replay {
        writeln!(out, "\nTo see it happen again: {}", clean(&replay.command))?;
    }
    Ok(())
}

fn explain_deadlock(deadlock: &Deadlock, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {}", clean(&deadlock.id), clean(&deadlock.kind))?;
    head(out, "What happens")?;
    for waiting in &deadlock.threads {
        let holder = match &waiting.held_by {
            Some(holder) => format!(", held by \"{}\"", clean(holder)),
            None => String::new(),
        };
        let waits = clean(&waiting.waits_for);
        writeln!(
            out,
            "Thread \"{}\" waits for {waits}{holder}",
            clean(&waiting.thread)
        )?;
        if let Some(at) = waiting
            .stack
            .iter()
            .find(|f| !f.is_jdk())
            .or(waiting.stack.first())
        {
            writeln!(out, "    in {}", place(at))?;
        }
    }
    head(out, "How to repair it")?;
    writeln!(
        out,
        "{}",
        match deadlock.cycle {
            true =>
                "The threads take the same locks in different orders. Take them in one order everywhere, take \
                 one lock instead of two, or do not call foreign code while holding one.",
            false =>
                "Nobody is left that could wake these threads. Look for a notify, release or put that an \
                 exception or an early return skips, or that comes before the other thread waits.",
        }
    )
}

fn explain_failure(failure: &Failure, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: uncaught exception", clean(&failure.id))?;
    head(out, "What happens")?;
    let thread = clean(&failure.thread);
    writeln!(
        out,
        "Thread \"{thread}\" dies of {}",
        clean(&failure.exception)
    )?;
    for frame in &failure.stack {
        writeln!(out, "    at {}", place(frame))?;
    }
    head(out, "How to repair it")?;
    writeln!(
        out,
        "If it comes in some schedules only, look at the races of the same report first: they are the usual cause."
    )
}
