//! What the steps of a log are about, in the names of the program: `read Bank.total`, `lock this
//! Bank`. Objects are numbers in a log; a number is shown only where a name stands for several
//! objects, or where there is no name.

use crate::log::{Entry, Log};
use crate::op::{Kind, Op};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub struct Labels<'a> {
    pub(crate) log: &'a Log,
    /// Locks by the statements that first took them: statements that release have no name.
    locks: BTreeMap<u64, &'a str>,
    /// The objects that a name stands for.
    objects: BTreeMap<&'a str, BTreeSet<u64>>,
}

impl<'a> Labels<'a> {
    pub fn new(log: &'a Log) -> Labels<'a> {
        let mut labels = Labels {
            log,
            locks: BTreeMap::new(),
            objects: BTreeMap::new(),
        };
        let mut step = 0;
        for entry in &log.entries {
            match entry {
                Entry::Step { op, .. } => {
                    labels.count(Some(step), op);
                    step += 1;
                }
                Entry::Hit(hit) => {
                    labels.count(None, &hit.first.op);
                    labels.count(None, &hit.second.op);
                }
                Entry::Tick | Entry::Saw { .. } | Entry::Note(_) => {}
            }
        }
        labels
    }

    fn count(&mut self, step: Option<u64>, op: &Op) {
        let name = self.name(step, op).filter(|_| about_object(op));
        let Some(name) = name else {
            return;
        };
        self.objects.entry(name).or_default().insert(op.obj);
        if matches!(
            op.kind,
            Kind::Acquire | Kind::TryAcquire | Kind::AcquireShared
        ) {
            self.locks.entry(op.obj).or_insert(name);
        }
    }

    /// Inside the JDK that is the program's call, unless nobody knows it.
    fn name(&self, step: Option<u64>, op: &Op) -> Option<&'a str> {
        let call = step.and_then(|step| self.log.calls.get(&step));
        let sites = call.into_iter().chain([&op.site]);
        let mut names = sites.filter_map(|site| self.log.sites.get(site));
        let named = names.find(|site| !site.target.is_empty());
        let named = named.map(|site| site.target.as_str());
        named.or_else(|| self.locks.get(&op.obj).copied())
    }

    /// An operation. `step`: its number in the log, if it is a step.
    pub fn label(&self, step: Option<u64>, op: &Op) -> String {
        let name = self.name(step, op).unwrap_or_default();
        let text = what(op, name);
        match self.objects.get(name) {
            Some(objects) if objects.len() > 1 && about_object(op) => format!("{text} #{}", op.obj),
            _ => text,
        }
    }
}

/// Whether the object belongs to what is said. Threads that are started or joined are lanes and
/// columns already.
fn about_object(op: &Op) -> bool {
    let of_thread = matches!(
        op.kind,
        Kind::Start | Kind::Join | Kind::Interrupt | Kind::IsAlive | Kind::IsInterrupted
    );
    op.obj != 0 && !of_thread
}

/// What an operation does, in a word, and to what. `name` as [`crate::log::Site::target`] has it;
/// without one it is the object's number.
pub fn what(op: &Op, name: &str) -> String {
    let word = word(op.kind);
    if !about_object(op) {
        return word.to_owned();
    }
    match (name, op.kind.is_access()) {
        ("", true) => format!("{word} #{}.{}", op.obj, op.slot),
        ("", false) => format!("{word} #{}", op.obj),
        (name, _) if name.ends_with("()") => format!("{word} in {name}"),
        (name, true) => match name.strip_suffix("[]") {
            Some(array) => format!("{word} element {} of {array}", op.slot),
            None => format!("{word} {name}"),
        },
        (name, false) => format!("{word} {name}"),
    }
}

fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Begin => "begin",
        Kind::Acquire => "lock",
        Kind::TryAcquire => "try lock",
        Kind::Release => "unlock",
        Kind::AcquireShared => "lock shared",
        Kind::ReleaseShared => "unlock shared",
        Kind::Wait => "wait",
        Kind::Notify => "notify",
        Kind::NotifyAll => "notify all",
        Kind::Park => "park",
        Kind::Unpark => "unpark",
        Kind::Start => "start",
        Kind::Join => "join",
        Kind::Sleep => "sleep",
        Kind::Yield => "yield",
        Kind::Spin => "spin",
        Kind::Interrupt => "interrupt",
        Kind::AtomicRead => "volatile read",
        Kind::AtomicWrite => "volatile write",
        Kind::AtomicUpdate => "atomic update",
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::End => "end",
        Kind::WaitEnd => "wait ends",
        Kind::IsAlive => "is alive?",
        Kind::Interrupted | Kind::IsInterrupted => "interrupted?",
    }
}
