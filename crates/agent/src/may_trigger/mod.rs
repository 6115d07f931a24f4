//! Runs that look for hidden races (`schedule::may_trigger` has the thinking).
//!
//! | module | holds |
//! |---|---|
//! | `collect` | Phase I: which methods led to which locks |
//! | `hold` | Phase II in a program that runs freely: who is held back, for how long |
//! | `watch` | deadlocks of such a run: what is said, and the end |
//!
//! Under control the strategy decides; then only the relation is collected here,
//! and numbers are given to methods and classes of locks.

mod collect;
mod hold;
mod watch;

use crate::Agent;
use crate::jni::{Global, Jni, Ref};
use crate::memory::RawClock;
use crate::options::Options;
use collect::Collector;
use contract::may_trigger as bits;
use hold::Holder;
use instrument::{Site, SiteKind};
use protocol::{Mode, files, summary};
use schedule::may_trigger::{Counts, Plan, Relation, method_key};
use std::path::Path;
use std::sync::{Arc, Mutex, RwLock};

#[derive(Debug)]
pub struct Hidden {
    pub plan: Arc<Plan>,
    collector: Mutex<Collector>,
    locks: Mutex<LockClasses>,
    /// Only in a run that is free.
    pub holder: Option<Holder>,
    live: RwLock<Vec<Live>>,
    /// For the bridge: 1 the relation is collected, 2 threads run freely, 4 a
    /// strategy decides.
    pub how: i64,
    scheduler: String,
    seed: u64,
}

/// Packages of the JDK whose locks a relation does not have: if nothing else is
/// watched, they need no probes.
const NOT_ASKED: [&str; 8] = [
    "java.beans",
    "java.io",
    "java.math",
    "java.net",
    "java.nio",
    "java.text",
    "java.time",
    "javax",
];

/// A thread of the program that has not ended.
#[derive(Clone, Debug)]
pub struct Live {
    pub id: u32,
    pub clock: RawClock,
    /// Shared with the thread that looks for deadlocks just now.
    pub object: Arc<Global>,
}

/// Classes of locks that were met, by number.
#[derive(Debug, Default)]
struct LockClasses {
    names: Vec<String>,
    /// Their numbers in the relation that was given.
    planned: Vec<u32>,
}

impl Hidden {
    /// None: the run does not look for hidden races. Adds to the options what is
    /// wanted of classes.
    pub fn new(options: &mut Options) -> Result<Option<Hidden>, String> {
        let settings = &mut options.control;
        let (free, serial) = (settings.is_hidden_free(), settings.is_hidden_serial());
        if !settings.collects() && !free && !serial {
            return Ok(None);
        }
        let relation = match &settings.relation {
            Some(path) => read(path)?,
            None => Relation::new(settings.frames),
        };
        let plan = Arc::new(relation.plan());
        settings.targets.only_locks = free;
        settings.targets.frames = relation.methods().map(str::to_owned).collect();
        if !free && !serial && options.mode == Mode::None {
            options.exclude_of_jdk.extend(NOT_ASKED.map(str::to_owned));
        }
        let settings = &options.control;
        Ok(Some(Hidden {
            holder: free.then(|| Holder::new(plan.as_ref().clone(), settings.seed)),
            plan,
            collector: Mutex::new(Collector::new(settings.frames)),
            locks: Mutex::default(),
            live: RwLock::default(),
            scheduler: settings.name().to_owned(),
            seed: settings.seed,
            how: bits::ON
                | if free { bits::FREE } else { 0 }
                | if serial { bits::SERIAL } else { 0 },
        }))
    }

    /// Methods of a class that say when a thread is in them get their numbers.
    pub fn number_frames(&self, a: &Agent, class: &str, first: u32, sites: &[Site]) {
        for (site, number) in sites.iter().zip(first..) {
            if site.kind == SiteKind::Frame {
                let key = method_key(class, &site.method, &site.desc);
                let method = i64::from(self.plan.method(&key));
                a.sites.table.set(number, [method, 0, 0]);
            }
        }
    }

    /// A thread of the program is about to begin.
    pub fn started(&self, jni: Jni, clock: RawClock, thread: Ref) {
        clock.clear_frames();
        let Some(object) = jni.global(thread).map(Arc::new) else {
            return;
        };
        let mut live = self.live.write().unwrap_or_else(|e| e.into_inner());
        live.push(Live {
            id: clock.id(),
            clock,
            object,
        });
    }

    pub fn ended(&self, a: &Agent, jni: Jni, clock: RawClock) {
        let gone = {
            let mut live = self.live.write().unwrap_or_else(|e| e.into_inner());
            let at = live
                .iter()
                .position(|l| l.clock.address() == clock.address());
            at.map(|at| live.swap_remove(at))
        };
        if let Some(gone) = gone {
            if let Some(holder) = &self.holder {
                holder.ended(a, self, gone.id);
            }
            // If somebody looks at it just now, it stays.
            if let Some(object) = Arc::into_inner(gone.object) {
                jni.delete_global(object);
            }
        }
    }

    fn live(&self) -> Vec<Live> {
        let live = self.live.read().unwrap_or_else(|e| e.into_inner());
        live.clone()
    }

    /// The number of a class of locks as the bridge wants it: twice, plus one if
    /// the given relation has it; -1 if it is left out.
    pub fn lock_class(&self, a: &Agent, name: &str, is_class: bool, is_loader: bool) -> i32 {
        let is_jdk = a.owners.is_jdk(name);
        let name = match is_class {
            true => format!("{name}.class"),
            false => name.to_owned(),
        };
        // A user who wants a class checked wants its locks, too.
        let wanted =
            |text: &String| instrument::Pattern::new(text).matches(&name.replace('.', "/"));
        let left_out = is_loader || schedule::may_trigger::is_left_out(&name, is_jdk);
        if left_out && !a.options.include.iter().any(wanted) {
            // What the JDK has for itself needs no mention.
            if is_loader || !is_jdk || name.starts_with("java.") {
                let mut collector = self.collector.lock().unwrap_or_else(|e| e.into_inner());
                collector.leave_out(&name);
            }
            return -1;
        }
        let mut locks = self.locks.lock().unwrap_or_else(|e| e.into_inner());
        let at = locks.names.iter().position(|known| *known == name);
        let at = at.unwrap_or_else(|| {
            let planned = self.plan.class(&name);
            locks.names.push(name);
            locks.planned.push(planned);
            locks.names.len() - 1
        });
        let number = at as i32 + 1;
        number << 1 | i32::from(locks.planned[at] != 0)
    }

    /// The class in the given relation; 0 if it has none.
    pub fn planned(&self, lock_class: i32) -> u32 {
        let locks = self.locks.lock().unwrap_or_else(|e| e.into_inner());
        let at = (lock_class as usize).wrapping_sub(1);
        locks.planned.get(at).copied().unwrap_or(0)
    }

    fn lock_name(&self, lock_class: i32) -> Option<String> {
        let locks = self.locks.lock().unwrap_or_else(|e| e.into_inner());
        locks
            .names
            .get((lock_class as usize).wrapping_sub(1))
            .cloned()
    }

    /// Writes the relation down; what the summary says of all this.
    pub fn finish(&self, out: &Path, serial: Option<Counts>) -> summary::Hidden {
        let collector = self.collector.lock().unwrap_or_else(|e| e.into_inner());
        let relation = collector.relation();
        if let Err(e) = std::fs::write(out.join(files::RELATION), relation.to_text()) {
            crate::complain!("cannot write the relation: {e}");
        }
        let counts = self.holder.as_ref().map(Holder::counts).or(serial);
        let counts = counts.unwrap_or_default();
        let left_out = relation.left_out().map(|(class, _)| class.to_owned());
        summary::Hidden {
            scheduler: self.scheduler.clone(),
            seed: self.seed,
            relation: relation.len() as u64,
            requests: counts.requests,
            suspended: counts.suspended,
            reversed: counts.reversed,
            thrashed: counts.thrashed,
            expired: counts.expired,
            left_out: left_out.collect(),
        }
    }
}

fn read(path: &Path) -> Result<Relation, String> {
    let bytes = std::fs::read(path)
        .map_err(|e| format!("cannot read the relation {}: {e}", path.display()))?;
    Relation::parse(&bytes).map_err(|e| format!("{} is no relation: {e}", path.display()))
}
