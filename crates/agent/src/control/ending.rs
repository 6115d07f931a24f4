//! Runs that do not end by themselves: what is said of them, and their end. And
//! what else is said of a controlled run: races made to happen, exceptions that
//! nobody caught.

use super::{Control, Place};
use crate::jni::{Jni, Ref};
use crate::stacks::Frame;
use crate::{Agent, guard};
use protocol::RunEnd;
use protocol::control::{self, StuckThreads, Uncaught, Waiting};
use protocol::finding::{self, Access, AccessOp, Line};
use schedule::{Divergence, Hit, Kind, Ready, Status, Thread, Why};
use std::sync::atomic::Ordering;

/// Exit codes of the JVM; the driver goes by the summary.
const DEADLOCK: i32 = 112;
const LIVELOCK: i32 = 113;
pub(super) const STUCK: i32 = 114;
const LIMIT: i32 = 115;
const DIVERGED: i32 = 116;
const CUT: i32 = 117;

/// The exit code of a JVM whose run ended so; `failed`: its main thread by an exception.
pub(super) fn exit_code(end: RunEnd, failed: bool) -> i32 {
    match end {
        RunEnd::Deadlock => DEADLOCK,
        RunEnd::Livelock => LIVELOCK,
        RunEnd::Stuck => STUCK,
        RunEnd::Limit => LIMIT,
        RunEnd::Diverged => DIVERGED,
        RunEnd::Cut => CUT,
        _ => i32::from(failed),
    }
}

impl Control {
    pub(super) fn end_in_deadlock(&self, a: &Agent, jni: Jni, cycle: &[Thread]) {
        if !self.is_over.swap(true, Ordering::AcqRel) {
            if self.guided(|g| g.has_refuted_deadlock()) == Some(true) {
                return self.end_run(a, RunEnd::Cut);
            }
            let threads = self.blocked_threads(a, jni, cycle);
            a.findings.write(Line::Deadlock(StuckThreads {
                cycle: !cycle.is_empty(),
                threads,
            }));
            self.end_run(a, RunEnd::Deadlock);
        }
    }

    pub(super) fn end_in_livelock(&self, a: &Agent, jni: Jni) {
        if !self.is_over.swap(true, Ordering::AcqRel) {
            let threads = self.blocked_threads(a, jni, &[]);
            a.findings.write(Line::Livelock(StuckThreads {
                cycle: false,
                threads,
            }));
            self.end_run(a, RunEnd::Livelock);
        }
    }

    pub(super) fn end_at_limit(&self, a: &Agent) {
        if !self.is_over.swap(true, Ordering::AcqRel) {
            let why = format!("more than {} scheduling steps", self.settings.max_steps);
            let dump = String::new();
            a.findings.write(Line::Stuck { why, dump });
            self.end_run(a, RunEnd::Limit);
        }
    }

    pub(super) fn end_diverged(&self, a: &Agent) {
        if !self.is_over.swap(true, Ordering::AcqRel) {
            self.end_run(a, RunEnd::Diverged);
        }
    }

    /// Nothing has happened for too long. Without the JVM there is no dump.
    pub(super) fn end_stuck(&self, a: &Agent, jni: Option<Jni>, why: &str) {
        if !self.is_over.swap(true, Ordering::AcqRel) {
            let dump = jni.map(|jni| self.dump(a, jni)).unwrap_or_default();
            let why = why.to_owned();
            a.findings.write(Line::Stuck { why, dump });
            self.end_run(a, RunEnd::Stuck);
        }
    }

    /// Everything is written down; then the process ends at once, since its
    /// threads cannot.
    fn end_run(&self, a: &Agent, outcome: RunEnd) {
        // A thread that comes here never gets a turn again; another execution follows.
        if outcome != RunEnd::Stuck && self.end_execution(outcome) {
            return;
        }
        guard(|| a.finish_with(outcome));
        crate::natives::exit_now(exit_code(outcome, false));
    }

    /// All live threads, or those of a cycle: who waits for what, held by whom.
    fn blocked_threads(&self, a: &Agent, jni: Jni, only: &[Thread]) -> Vec<Waiting> {
        let statuses: Vec<(Thread, Status)> = {
            let state = self.lock();
            (0..state.world.threads() as Thread)
                .map(|t| (t, state.world.status(t)))
                .collect()
        };
        statuses
            .into_iter()
            .filter(|(t, status)| *status != Status::Ended && (only.is_empty() || only.contains(t)))
            .filter_map(|(t, status)| {
                let place = self.place(t)?;
                let (waits_for, held_by) = self.reason(a, jni, place, status);
                let held = a
                    .bridge
                    .get()
                    .map(|b| b.held_by(jni, place.object()))
                    .unwrap_or_default();
                // While it waits for a notify it does not hold that monitor.
                let given_up = match status {
                    Status::Ready(op) if op.kind == Kind::WaitEnd => a
                        .bridge
                        .get()
                        .map(|bridge| bridge.named(jni, op.obj as i32)),
                    Status::Blocked(b) if b.why == Why::Wait => a
                        .bridge
                        .get()
                        .map(|bridge| bridge.named(jni, b.obj as i32))
                        .filter(|name| !name.is_empty()),
                    _ => None,
                };
                let holds = held.lines().filter(|line| {
                    let of = given_up.as_deref().and_then(|name| line.strip_prefix(name));
                    !of.is_some_and(|rest| rest.starts_with(' ') || rest.is_empty())
                });
                Some(Waiting {
                    thread: place.name.clone(),
                    waits_for,
                    held_by,
                    holds: holds.map(str::to_owned).collect(),
                    stack: a.told(&self.stack_of(a, place)),
                })
            })
            .collect()
    }

    /// What a thread waits for, in words, and the name of the thread that holds it.
    fn reason(
        &self,
        a: &Agent,
        jni: Jni,
        place: &Place,
        status: Status,
    ) -> (String, Option<String>) {
        let bridge = a.bridge.get();
        let object = |number: u64| {
            bridge
                .map(|b| b.named(jni, number as i32))
                .unwrap_or_default()
        };
        let name = |t: Thread| self.place(t).map(|p| p.name.clone());
        match status {
            Status::Blocked(b) => match b.why {
                Why::Monitor => (
                    format!("the monitor of {}", object(b.obj)),
                    b.owner.and_then(name),
                ),
                Why::Wait => (self.awaited(a, jni, b.obj, object), None),
                Why::Sleep => ("the end of a sleep".into(), None),
                Why::Park => {
                    let (what, holder) = bridge
                        .map(|b| b.blocker(jni, place.object()))
                        .unwrap_or_default();
                    let what = if what.is_empty() {
                        "an unpark".into()
                    } else {
                        what
                    };
                    (what, holder.checked_sub(1).and_then(name))
                }
            },
            Status::Outside => ("something outside control".into(), None),
            Status::Ready(op) if self.settings.is_exploring() => {
                self.stands_before(a, jni, place, &op)
            }
            Status::Ready(op) => (format!("its turn ({:?})", op.kind), None),
            Status::Running | Status::Ended => (String::new(), None),
        }
    }

    /// What a thread in Object.wait waits for: to join is to wait for a thread.
    pub(super) fn awaited(
        &self,
        a: &Agent,
        jni: Jni,
        obj: u64,
        object: impl Fn(u64) -> String,
    ) -> String {
        let threads = self.lock().world.threads() as Thread;
        let joined = (0..threads).find_map(|t| {
            let ended = self.lock().world.status(t) == Status::Ended;
            let place = self.place(t).filter(|_| !ended)?;
            let number = a.bridge.get()?.number_of(jni, place.object(), false);
            (number as u64 == obj).then_some(place)
        });
        match joined {
            Some(place) => format!("the end of thread \"{}\"", place.name),
            None => format!("a notify of {}", object(obj)),
        }
    }

    pub(super) fn stack_of(&self, a: &Agent, place: &Place) -> std::sync::Arc<[Frame]> {
        a.stacks
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .of_thread(&a.jvmti, place.object())
    }

    /// A thread dump as text.
    fn dump(&self, a: &Agent, jni: Jni) -> String {
        let mut text = String::new();
        let threads = self.lock().world.threads() as Thread; // not in the loop's head: it would stay locked
        for t in 0..threads {
            let status = self.lock().world.status(t);
            let Some(place) = self.place(t).filter(|_| status != Status::Ended) else {
                continue;
            };
            let (waits_for, held_by) = self.reason(a, jni, place, status);
            text.push_str(&format!("\"{}\" waits for {waits_for}", place.name));
            if let Some(holder) = held_by {
                text.push_str(&format!(", held by \"{holder}\""));
            }
            text.push('\n');
            for f in self.stack_of(a, place).iter() {
                let at = match (&f.file, f.line) {
                    (Some(file), Some(line)) => format!("{file}:{line}"),
                    _ => "unknown source".into(),
                };
                text.push_str(&format!("    at {}.{} ({at})\n", f.class, f.method));
            }
        }
        text
    }

    /// A race stood ready. Called with the state locked.
    pub(super) fn report_hit(&self, a: &Agent, hit: &Hit) {
        let access = |r: &Ready| {
            let place = self.place(r.thread);
            let stack = place.map(|p| self.stack_of(a, p)).unwrap_or_default();
            let frame = a.frame_of(r.op.site, &stack);
            let thread = place.map(|p| finding::Thread {
                id: u64::from(r.thread),
                name: p.name.clone(),
                ..finding::Thread::default()
            });
            Access {
                op: AccessOp::new(r.op.kind == Kind::Write),
                thread: thread.unwrap_or_default(),
                frame: frame.map(|f| a.told_frame(&f)).unwrap_or_default(),
                stack: a.told(&stack),
                stack_exact: true,
                locks: None,
                holders: vec![],
            }
        };
        a.findings.write(Line::Hit(Box::new(control::Hit {
            step: hit.step,
            location: a.location_named_by([hit.first.op.site, hit.second.op.site]),
            first: access(&hit.first),
            second: access(&hit.second),
        })));
    }

    /// Nobody caught it.
    pub fn uncaught(&self, a: &Agent, jni: Jni, exception: Ref) {
        if let (Some(worker), Some(me)) = (&self.worker, Place::current()) {
            worker.has_died(me.thread);
        }
        let name = Place::current().map_or_else(
            || a.jvmti.thread(a.jvmti.current_thread(jni)).0,
            |p| p.name.clone(),
        );
        let (text, frames) = a
            .bridge
            .get()
            .map(|b| b.describe_exception(jni, exception))
            .unwrap_or_default();
        let handler = self.fields.get().and_then(|f| f.handler);
        let handled = match (handler, Place::current()) {
            (Some(field), Some(me)) => !jni.object_field(me.object(), field).is_null(),
            _ => false,
        };
        a.findings.write(Line::Uncaught(Uncaught {
            handled,
            thread: name,
            exception: text,
            stack: frames
                .lines()
                .map(|line| a.told_frame(&printed(line)))
                .collect(),
        }));
    }

    pub(super) fn describe(&self, a: &Agent, d: &Divergence) -> control::Divergence {
        let words = d.explain(|site| super::journal::describe(a, site));
        control::Divergence {
            step: d.step,
            expected: words.expected,
            got: words.got,
            why: words.why,
        }
    }
}

/// A frame as stack traces print it: `a.b.C.m(C.java:12)`, with or without `at `
/// before it.
fn printed(text: &str) -> Frame {
    let text = text.trim();
    let text = text.strip_prefix("at ").unwrap_or(text);
    let (member, place) = text.split_once('(').unwrap_or((text, ""));
    // A module may stand before the class: java.base/java.util.X.
    let member = member.rsplit_once('/').map_or(member, |(_, rest)| rest);
    let (class, method) = member.rsplit_once('.').unwrap_or(("", member));
    let place = place.trim_end_matches(')');
    let (file, line) = match place.rsplit_once(':') {
        Some((file, line)) => (file, line.parse().ok()),
        None => (place, None),
    };
    Frame {
        class: class.into(),
        method: method.trim().into(),
        desc: None,
        file: file.contains('.').then(|| file.into()),
        line,
        bci: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_as_stack_traces_print_them() {
        let frame = printed("\tat java.base/java.util.ArrayList$Itr.next(ArrayList.java:1013)");
        assert_eq!(&*frame.class, "java.util.ArrayList$Itr");
        assert_eq!((&*frame.method, frame.line), ("next", Some(1013)));
        let native = printed("java.lang.Object.wait(Native Method)");
        assert_eq!((native.file, native.line), (None, None));
        assert_eq!(&*printed("").class, "");
    }
}
