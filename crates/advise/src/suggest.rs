//! Suggestions from one path: sections 3.1.1 to 3.1.6 of JRF-E.
//!
//! The *source* is the access of a race that came first, the *manifest* the one
//! that came second and was not ordered after it. Each suggestion would have
//! ordered them on this path. Departures from the paper:
//!
//! - Orders are asked of clocks, so they may go through several threads; the
//!   paper looks for a single pair of release and acquire.
//! - Moving is suggested for whichever of the two is a write, to before any
//!   release of its thread that the other access comes after; the paper asks in
//!   addition that the write came first, and that the release was acquired only
//!   after it. So moving holds on more paths.
//! - It is suggested with both conditions of Lemma 4 (for all earlier accesses,
//!   not only the last), and not across accesses of the same variable by its own
//!   thread, which the lemma forgets.
//! - For the acquiring history the path tells everything whose acquisition would
//!   have helped; what others acquired is known only when all paths were seen.

use crate::path::{Path, access};
use crate::repair::{Kind, Name, Names, Repair, Sync, Variable, site};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use trace::{Loc, Op, ThreadId};

/// What one occurrence of a race on one path has to say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Suggestions {
    /// Moves and other variables.
    pub repairs: BTreeSet<(Kind, Repair)>,
    /// Locks that the source's thread gave up, and the manifest's took, in
    /// between: which to try on the other side.
    pub source_gave: BTreeSet<Name>,
    pub manifest_took: BTreeSet<Name>,
    /// Locks held at either.
    pub source_holds: BTreeSet<Name>,
    pub manifest_holds: BTreeSet<Name>,
    /// What would have ordered them if acquired before the manifest.
    pub carriers: BTreeSet<Sync>,
}

/// Everything to be said of the two events.
pub(crate) fn suggest(
    path: &Path<'_>,
    names: &dyn Names,
    source: usize,
    manifest: usize,
) -> Suggestions {
    let locks = |n: usize| path.locks(n).iter().map(|l| names.lock(*l)).collect();
    let mut all = Suggestions {
        source_holds: locks(source),
        manifest_holds: locks(manifest),
        carriers: path.carriers(source, manifest, names).into_iter().collect(),
        ..Suggestions::default()
    };
    move_write(path, source, manifest, &mut all);
    move_write(path, manifest, source, &mut all);
    synchronized(path, names, source, manifest, &mut all);
    other_volatile(path, names, source, manifest, &mut all);
    all
}

/// How many releases back a statement may be moved.
const FARTHEST: usize = 8;

/// 3.1.3: the one access, a write, before a release of its thread that the
/// other access comes after.
fn move_write(path: &Path<'_>, write: usize, other: usize, all: &mut Suggestions) {
    let e = &path.events[write];
    let Op::Write(loc) = e.op else {
        return;
    };
    for release in path.releases_before(write).take(FARTHEST) {
        if path.ordered(release, other) && lemma_4(path, loc, release, write) {
            let repair = Repair::Move {
                statement: site(e.site),
                before: site(path.events[release].site),
            };
            all.repairs.insert((Kind::MoveSource, repair));
        }
    }
}

/// Whether the write, moved to before the release `to` of its thread, races with
/// nobody on this path.
fn lemma_4(path: &Path<'_>, loc: Loc, to: usize, write: usize) -> bool {
    let me = path.events[write].thread;
    let touches = |n: usize| access(path.events[n].op).is_some_and(|(at, ..)| at == loc);
    // What comes between must be somebody else's, who saw the release.
    let between = (to..write)
        .filter(|n| touches(*n))
        .all(|n| path.events[n].thread != me && path.ordered(to, n));
    // What came before must have been seen by then.
    between && (0..to).filter(|n| touches(*n)).all(|n| path.ordered(n, to))
}

/// 3.1.4: locks that would have ordered the two if the other side had them.
fn synchronized(
    path: &Path<'_>,
    names: &dyn Names,
    source: usize,
    manifest: usize,
    all: &mut Suggestions,
) {
    let (first, second) = (path.events[source].thread, path.events[manifest].thread);
    for e in &path.events[source + 1..manifest] {
        match e.op {
            Op::Release(lock) | Op::WaitBegin(lock) if e.thread == first => {
                all.source_gave.insert(names.lock(lock));
            }
            Op::Acquire(lock) | Op::WaitEnd { lock, .. } if e.thread == second => {
                all.manifest_took.insert(names.lock(lock));
            }
            _ => {}
        }
    }
}

/// What is known of a plain variable between source and manifest.
#[derive(Default)]
struct Talk {
    /// It was written by a thread that knew of the source.
    carries: bool,
    /// Who read it since, and the first event at which.
    read: FxHashMap<ThreadId, usize>,
}

/// 3.1.5: plain variables that were written after the source and read before
/// the manifest.
fn other_volatile(
    path: &Path<'_>,
    names: &dyn Names,
    source: usize,
    manifest: usize,
    all: &mut Suggestions,
) {
    let racing = access(path.events[source].op).map(|(loc, ..)| names.variable(loc));
    let mut talks: FxHashMap<Loc, Talk> = FxHashMap::default();
    for n in source + 1..manifest {
        match path.events[n].op {
            Op::Write(loc) if path.ordered(source, n) => {
                talks.entry(loc).or_default().carries = true;
            }
            Op::Read(loc) => {
                if let Some(talk) = talks.get_mut(&loc)
                    && talk.carries
                {
                    talk.read.entry(path.events[n].thread).or_insert(n);
                }
            }
            _ => {}
        }
    }
    let arrives = |talk: &Talk| talk.read.values().any(|n| path.ordered(*n, manifest));
    let through = talks.iter().filter(|(_, talk)| arrives(talk));
    let variables: FxHashSet<Variable> = through.map(|(loc, _)| names.variable(*loc)).collect();
    for variable in variables {
        if Some(variable) != racing {
            let repair = Repair::of_variable(variable);
            all.repairs.insert((Kind::OtherVolatile, repair));
        }
    }
}
