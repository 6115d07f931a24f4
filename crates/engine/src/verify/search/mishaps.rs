//! Executions that came to nothing through no doing of theirs: JVMs that were killed, that were
//! told to end, that ended without a word, and threads that seemed to wait outside because the machine
//! is busy.
//!
//! Each is made again, a bounded number of times. One that never comes to its end is set aside: it
//! stays open, the verdict names it, and `--resume` makes it. No such run is part of the exploration.

use super::{Gap, Search};
use crate::error::Error;
use driver::run::RunResult;
use explore::{Label, Task};
use findings::finding::Findings;
use protocol::RunEnd;
use protocol::control::{Cause, Uncontrolled};
use std::hash::{DefaultHasher, Hash, Hasher};

/// How often an execution is made whose JVM ends before it can say what it did: by itself, and
/// by a signal, which says nothing about the execution.
const TRIES: u32 = 3;
const KILLED_TRIES: u32 = 20;
/// Exit codes of a JVM that gets SIGHUP, SIGINT or SIGTERM.
const TOLD_TO_END: [i32; 3] = [129, 130, 143];
/// How often an execution is made again because a thread seemed to wait outside.
const MISHAPS: u32 = 10;

impl Search<'_> {
    /// On a machine that is very busy a thread may seem to wait for something that
    /// only waits for a processor. So such an execution is made again, a few times. One in which a
    /// thread waits every time shows that the program does so, and no other is made again.
    pub(super) fn is_mishap(&mut self, task: &Task, found: &Findings) -> bool {
        let waited = |u: &Uncontrolled| u.cause == Cause::WaitedOutside;
        if self.waits_outside || !found.uncontrolled.iter().any(waited) {
            return false;
        }
        let times = self.mishaps.entry(same(task)).or_default();
        *times += 1;
        self.waits_outside = *times > MISHAPS;
        !self.waits_outside
    }

    /// The JVM ended before it could say what it had done, or would not start. The execution is
    /// made again a few times, then set aside: it stays open, and whoever resumes makes it.
    pub(super) fn lost(&mut self, task: &Task, mut run: RunResult) -> Result<(), Error> {
        let killed = is_killed(&run);
        let refused = !run.started && !killed && self.campaign.progress().executions == 0;
        let tries = self.tries.entry(same(task)).or_default();
        *tries += 1;
        let most = if killed { KILLED_TRIES } else { TRIES };
        if !refused && *tries < most {
            return Ok(self.campaign.give_back(task)?);
        }
        self.added += 1;
        run.findings.uncontrolled.retain(|u| !is_signal(u));
        self.session.add(run);
        if refused {
            // Another one will not start either.
            let what = "the JVM ended before it could say what it had done";
            self.missing.insert(Gap::Other(what.to_owned()));
            self.campaign.diverged(task, [])?;
            self.asked_enough();
        } else if self.asked.portion.is_some() {
            // Given back, it would be lent again and again.
            let what = super::super::set_aside(&[words(task)]);
            self.missing.extend(what.map(Gap::Other));
            self.campaign.diverged(task, [])?;
        } else {
            self.set_aside.push(words(task));
        }
        Ok(())
    }

    fn asked_enough(&mut self) {
        while let Some(task) = self.campaign.next() {
            if self.campaign.diverged(&task, []).is_err() {
                return;
            }
        }
    }
}

/// The JVM runs the handler of a signal that tells it to end.
pub(super) fn is_signal(uncontrolled: &Uncontrolled) -> bool {
    uncontrolled.cause == Cause::OurSignal
}

/// An execution in a few words.
fn words(task: &Task) -> String {
    match &task.job.beginning[..] {
        [] => "the first".to_owned(),
        steps @ [.., last] => format!("of {} steps, the last {}", steps.len(), step(last)),
    }
}

/// A step in a few words. Names of objects say nothing to anybody.
pub(super) fn step(label: &Label) -> String {
    let op = format!("{:?}", label.op);
    let op = op.split([' ', '(']).next().unwrap_or_default();
    format!("{op} of thread {}", label.thread)
}

/// Whether somebody ended the JVM. One that is told to end before the agent can take notice ends
/// in order, without a step, by an exit code that says so.
pub(super) fn is_killed(run: &RunResult) -> bool {
    let summary = run.findings.summary.as_ref();
    let control = summary.and_then(|s| s.control.as_ref());
    let told_to_end = run
        .outcome
        .exit
        .is_some_and(|code| TOLD_TO_END.contains(&code));
    run.outcome.signal.is_some()
        || run.findings.uncontrolled.iter().any(is_signal)
        || control.is_some_and(|c| c.outcome == RunEnd::Interrupted || told_to_end && c.steps == 0)
}

/// A number that an execution has however often it is handed out.
pub(super) fn same(task: &Task) -> u64 {
    let mut hasher = DefaultHasher::new();
    (task.round, format!("{:?}", task.job.beginning)).hash(&mut hasher);
    hasher.finish()
}
