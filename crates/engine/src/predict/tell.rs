//! Witnesses in words.

use crate::offline::{HeldLock, Names};
use ::predict::Told;
use findings::prediction::{Stretch, Witness};
use trace::{Event, LockId, Op};

/// A witness for people and scripts: who does how many events, one stretch
/// after the other, and what the last of each is.
pub fn steps(names: &Names<'_>, told: &Told) -> Witness {
    let mut list = Vec::new();
    if told.omitted > 0 {
        list.push(Stretch::LeftOut {
            omitted: told.omitted,
        });
    }
    for (events, last) in &told.stretches {
        let frame = names.frame(last.site);
        let at = match (&frame.file, frame.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ if frame.class.is_empty() => frame.method.clone(),
            _ => format!("{}.{}", frame.class, frame.method),
        };
        let thread = names.thread(last.thread);
        // Traces of other tools have no classes.
        let has_class = !frame.class.is_empty();
        list.push(Stretch::Events {
            thread: thread.name,
            thread_id: thread.id,
            events: *events,
            last: verb(names, last),
            at,
            class: has_class.then_some(frame.class),
            method: has_class.then_some(frame.method),
        });
    }
    list
}

/// What an event does, in a word or two, in the program's names where the recording has them.
fn verb(names: &Names<'_>, event: &Event) -> String {
    let access = |what: &str| match names.accessed(event.site) {
        Some(field) => format!("{what} {field}"),
        None => what.to_owned(),
    };
    let lock = |what: &str, LockId(lock): LockId| {
        let shared = false;
        format!("{what} {}", names.lock(&HeldLock { lock, shared }))
    };
    let with = |what: &str, thread| format!("{what} \"{}\"", names.thread(thread).name);
    match event.op {
        Op::Read(_) | Op::AtomicRead(..) => access("read"),
        Op::Write(_) | Op::AtomicWrite(..) => access("write"),
        Op::AtomicUpdate(..) => access("update"),
        Op::Acquire(l) | Op::AcquireShared(l) => lock("acquire", l),
        Op::Release(l) | Op::ReleaseShared(l) => lock("release", l),
        Op::WaitBegin(l) => lock("wait", l),
        Op::WaitEnd { lock: l, .. } => lock("wake", l),
        Op::Notify(l) | Op::NotifyAll(l) => lock("notify", l),
        Op::Fork(thread) => with("start", thread),
        Op::Join(thread) => with("join", thread),
        Op::Begin => "begin".into(),
        Op::End => "end".into(),
        Op::Interrupt(thread) => with("interrupt", thread),
        Op::Interrupted => "interrupted".into(),
        Op::Park => "park".into(),
        Op::Unpark(thread) => with("unpark", thread),
        Op::SyncRelease(_) => "hand over".into(),
        Op::SyncAcquire(_) => "take over".into(),
        Op::InitBegin(_) => "begin of static initialiser".into(),
        Op::InitEnd(_) => "end of static initialiser".into(),
        Op::MethodEnter(_) => "method entry".into(),
        Op::MethodExit(_) => "method exit".into(),
        Op::Branch(_) => "branch".into(),
        Op::Unsure(_) => "unsure".into(),
    }
}
