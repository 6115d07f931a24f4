//! Values that are stale when they are used: a thread looks at a location in one critical section
//! (or atomic step), and acts on what it saw in a later one, on the same location. Another
//! thread's write can come between. Nobody has to say what is meant to be atomic: that the value
//! flows, or decides, from the look to the act says it.
//!
//! Which pairs those are is told by who knows the program ([`Stale`]). Here each gets a write of another thread
//! and an order in which it comes between, in three strengths:
//!
//! | standing | means |
//! |---|---|
//! | happened | the write came between in this very run |
//! | predicted | it comes between in an order that the [checker](crate::check) accepted |
//! | potential | no such write is in the run, or it depends on what its own thread saw of the act; but another thread takes the same look, at the same statement, that was not over when the act began, and an accepted order has it before the act: then both threads see the same, and do the same with it, unless the run shows that the other one does not act on that |
//!
//! # What it claims
//! Of a `predicted` use: the program, in this order, comes to the act, having seen what it saw at the look,
//! though the location was written since. In no order of the two stretches one after the other does the
//! act follow the write while the look does not. That the outcome differs is not claimed: the values
//! are not known. Not complete: of each pair of statements a few are tried.
//!
//! # What is left out
//! Looks and acts without a lock that are plain accesses: they race, and are reported as that. Looks in a
//! critical section that writes the location itself: they are updates. Acts that look again, and depend on that: in an order where somebody
//! wrote in between they see it, so the checker refuses the order.

use super::search::{Attempt, Search};
use super::{Part, Unit};
use crate::deps::Deps;
use crate::index::{Index, NONE};
use crate::verify::Verifier;
use crate::{STOPPED, ShouldStop};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use trace::{Event, Loc, Op, SiteId};

/// How a value gets from the look to the act.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Flow {
    /// It is in what is written.
    Value,
    /// It was asked whether to act.
    Decision,
}

/// Which writes of others make the value stale.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Others {
    Any,
    /// Those that take something away.
    Removals,
    /// Those that take something away, or add.
    Structural,
}

/// A look and an act of one thread, by their places in the trace.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Stale {
    pub read: u32,
    pub act: u32,
    pub flow: Flow,
    pub others: Others,
}

/// How sure it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Standing {
    Potential,
    Predicted,
    Happened,
}

/// A stale value that is used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StaleUse {
    pub standing: Standing,
    pub flow: Flow,
    pub read: Part,
    /// The write between; of a potential one, the other thread's look.
    pub other: Part,
    pub act: Part,
    /// The order, by places in the trace; the act ends it.
    pub witness: Vec<u32>,
}

/// What was found, and why there may be more.
#[derive(Debug, Default)]
pub struct StaleUses {
    /// Each pair of statements once, the strongest of it.
    pub list: Vec<StaleUse>,
    pub incomplete: Option<String>,
}

/// What is known of a recording besides its events, as [`check`] asks it.
pub struct Recorded<'r> {
    /// By place: between which numbers of the recording the event was made; empty if each at once.
    pub spans: &'r [(u32, u32)],
    /// Whether another thread's write counts.
    pub fits: &'r dyn Fn(Others, u32) -> bool,
}

impl std::fmt::Debug for Recorded<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recorded")
            .field("spans", &self.spans.len())
            .finish_non_exhaustive()
    }
}

impl Recorded<'_> {
    fn span(&self, event: u32) -> (u32, u32) {
        let known = self.spans.get(event as usize).copied();
        known.unwrap_or((event, event))
    }

    /// Whether an event was over when the other began.
    fn before(&self, first: u32, second: u32) -> bool {
        self.span(first).1 < self.span(second).0
    }
}

/// Attempts for a pair of statements.
const TRIES: u32 = 12;

/// Stale uses among the pairs; those that it has come to when somebody says stop.
pub fn check(
    trace: &[Event],
    deps: &Deps,
    pairs: &[Stale],
    recorded: &Recorded<'_>,
    stop: &ShouldStop<'_>,
) -> StaleUses {
    let verifier = Verifier::for_sequences(trace, deps);
    let index = if deps.is_unknown() {
        Index::new(verifier.trace())
    } else {
        Index::sliced(verifier.trace(), deps)
    };
    let units: [Unit; 0] = [];
    let search = Search::new(&index, deps, &units, verifier);
    let mut stale = Looking {
        search,
        recorded,
        found: BTreeMap::new(),
        tried: FxHashMap::default(),
        blurred: blurred(&index, recorded),
        again: FxHashSet::default(),
        acting: FxHashSet::default(),
        seen: FxHashMap::default(),
    };
    let inside = |pair: &&Stale| (pair.act as usize) < index.events.len();
    for pair in pairs.iter().filter(inside) {
        stale.acting.insert(pair.read);
        if shares_section(&index, pair.read, pair.act) {
            stale.again.insert(pair.act);
        }
    }
    let mut cut_short = None;
    for pair in pairs.iter().filter(inside) {
        if stop() {
            cut_short = Some(STOPPED.to_owned());
            break;
        }
        stale.pair(&index, *pair);
    }
    StaleUses {
        list: stale.found.into_values().collect(),
        incomplete: stale.search.finish().incomplete.or(cut_short),
    }
}

/// Whether look and act came one right after the other in all pairs of the run: no write of another thread that counts
/// was made between the beginning of the look and the end of the act, not even in part.
pub fn is_serial(trace: &[Event], pairs: &[Stale], recorded: &Recorded<'_>) -> bool {
    let mut writes: FxHashMap<Loc, Vec<u32>> = FxHashMap::default();
    for (at, e) in (0u32..).zip(trace) {
        if let Some(access) = detect::AnyAccess::from_op(e.op).filter(|access| access.write) {
            writes.entry(access.loc).or_default().push(at);
        }
    }
    pairs.iter().all(|pair| {
        let [Some(look), Some(act)] = [pair.read, pair.act].map(|e| trace.get(e as usize)) else {
            return true;
        };
        let loc = detect::AnyAccess::from_op(act.op).map(|access| access.loc);
        let others = loc
            .and_then(|loc| writes.get(&loc))
            .map_or(&[][..], Vec::as_slice);
        !others.iter().any(|other| {
            trace[*other as usize].thread != look.thread
                && (recorded.fits)(pair.others, *other)
                && !recorded.before(*other, pair.read)
                && !recorded.before(pair.act, *other)
        })
    })
}

/// Variables with a write of which nobody knows whether it came before another access.
fn blurred(index: &Index<'_>, recorded: &Recorded<'_>) -> FxHashSet<u32> {
    let mut blurred = FxHashSet::default();
    // By variable: the latest end of a write, and of an access, each with its thread.
    let mut ends: FxHashMap<u32, [(u32, u32); 2]> = FxHashMap::default();
    for (at, e) in (0u32..).zip(index.events) {
        let var = index.var[at as usize];
        if var == NONE || recorded.spans.is_empty() {
            continue;
        }
        let (first, last) = recorded.span(at);
        let me = index.thread(at);
        let writes = !matches!(e.op, Op::Read(_) | Op::AtomicRead(..));
        let known = ends.entry(var).or_insert([(0, me); 2]);
        let overlaps = |(end, thread): (u32, u32)| thread != me && first < end;
        if overlaps(known[0]) || writes && overlaps(known[1]) {
            blurred.insert(var);
        }
        if writes && known[0].0 <= last {
            known[0] = (last, me);
        }
        if known[1].0 <= last {
            known[1] = (last, me);
        }
    }
    blurred
}

struct Looking<'i, 'a, 'r> {
    search: Search<'i, 'a>,
    recorded: &'r Recorded<'r>,
    found: BTreeMap<(SiteId, SiteId), StaleUse>,
    tried: FxHashMap<(SiteId, SiteId, bool), u32>,
    blurred: FxHashSet<u32>,
    /// Acts that look once more in their own step.
    again: FxHashSet<u32>,
    /// Looks that something was done upon.
    acting: FxHashSet<u32>,
    /// By variable: what its accesses saw.
    seen: FxHashMap<u32, FxHashMap<u32, u32>>,
}

/// Whether a thread does not leave a critical section between two of its events.
fn shares_section(index: &Index<'_>, a: u32, z: u32) -> bool {
    let open = |e: u32| index.open_at(index.thread(e), index.place[e as usize]);
    let act = open(z);
    index.thread(a) == index.thread(z) && open(a).iter().any(|s| act.contains(s))
}

impl Looking<'_, '_, '_> {
    fn pair(&mut self, index: &Index<'_>, pair: Stale) {
        let [a, z] = [pair.read, pair.act];
        let site = |e: u32| index.events[e as usize].site;
        let key = (site(a), site(z));
        let known = self.found.get(&key).map(|found| found.standing);
        // The look may have been at more than what is acted on.
        let var = index.var[z as usize];
        if known == Some(Standing::Happened) || var == NONE || !index.contended[var as usize] {
            return;
        }
        let me = index.thread(a);
        if index.thread(z) != me || a >= z || self.one_step(index, a, z) {
            return;
        }
        let between = self.search.others(a, z, me);
        let (writes, looks): (Vec<_>, Vec<_>) =
            { between.into_iter() }.partition(|(e, _)| self.search.writes(*e));
        let fits = |e: u32| (self.recorded.fits)(pair.others, e);
        let writes: Vec<(u32, u32)> = writes.into_iter().filter(|(e, _)| fits(*e)).collect();
        for (b, _) in &writes {
            if self.recorded.before(a, *b) && self.recorded.before(*b, z) {
                let witness = (0..=z).collect();
                self.tell(index, pair, *b, Standing::Happened, witness);
                return;
            }
        }
        let blurred = self.blurred.contains(&var);
        if known >= Some(Standing::Predicted) || blurred && known.is_some() {
            return;
        }
        let standing = if blurred {
            Standing::Potential
        } else {
            Standing::Predicted
        };
        for (b, thread) in writes {
            if let Some(witness) = self.attempt([a, z], b, [me, thread], key, true) {
                self.tell(index, pair, b, standing, witness);
                return;
            }
        }
        // The same look by another thread, which saw something else in the run: it was not over when the act began. One
        // that looks again may see that, and not act.
        if known.is_some() || self.again.contains(&z) {
            return;
        }
        let same = |e: u32| !self.recorded.before(e, z) && site(e) == key.0;
        for (b, thread) in looks.into_iter().filter(|(e, _)| same(*e)) {
            if self.waits_for_other(index, a, b) {
                continue;
            }
            if let Some(witness) = self.attempt([a, z], b, [me, thread], key, false) {
                self.tell(index, pair, b, Standing::Potential, witness);
                return;
            }
        }
    }

    /// Whether the run itself shows that the thread of `b`, at the statement of both looks, does not act on what
    /// `a` saw: it saw the same since it last acted, and did not; or nobody else wrote that, and at its own values it
    /// looked without ever acting on one. Threads that take turns wait for different values at the same statement.
    fn waits_for_other(&mut self, index: &Index<'_>, a: u32, b: u32) -> bool {
        let var = index.var[b as usize];
        if index.var[a as usize] != var || self.blurred.contains(&var) {
            return false;
        }
        let seen = { self.seen.entry(var) }.or_insert_with(|| self.search.writes_before(var));
        let site = index.events[b as usize].site;
        let list = self.search.accesses_of(var, index.thread(b));
        let looks = || {
            let here = |(e, write): &&(u32, bool)| !write && index.events[*e as usize].site == site;
            list.iter().filter(here).map(|(look, _)| *look)
        };
        let saw = |look: u32| seen.get(&look).copied();
        let acted = |look: u32| self.acting.contains(&look);
        let what = saw(a);
        let since = { looks().rev() }
            .skip_while(|look| *look > b)
            .take_while(|look| *look == b || !acted(*look));
        if { since }.any(|look| !acted(look) && saw(look) == what) {
            return true;
        }
        let own = |write: u32| index.thread(write) == index.thread(b);
        let nobodys = |look: &u32| saw(*look).is_none_or(own);
        what.is_none_or(own)
            && looks().any(|look| saw(look).is_some_and(own))
            && !looks().filter(nobodys).any(acted)
    }

    fn attempt(
        &mut self,
        unit: [u32; 2],
        other: u32,
        threads: [u32; 2],
        key: (SiteId, SiteId),
        write: bool,
    ) -> Option<Vec<u32>> {
        let tries = self.tried.entry((key.0, key.1, write)).or_default();
        *tries += 1;
        if *tries > TRIES && !tries.is_power_of_two() {
            self.search.skip();
            return None;
        }
        let attempt = Attempt {
            unit,
            other: [other; 2],
            threads,
        };
        self.search.witness(attempt, *tries)
    }

    /// Whether look and act are one step, or the look is part of an update, or one of them is
    /// neither atomic nor in a critical section.
    fn one_step(&self, index: &Index<'_>, a: u32, z: u32) -> bool {
        let me = index.thread(a);
        let open = |e: u32| index.open_at(me, index.place[e as usize]);
        let atomic = |e: u32| {
            let op = index.events[e as usize].op;
            matches!(op, Op::AtomicRead(..) | Op::AtomicWrite(..))
        };
        let (around, act) = (open(a), open(z));
        if shares_section(index, a, z) {
            return true;
        }
        if around.is_empty() && !atomic(a) || act.is_empty() && !atomic(z) {
            return true;
        }
        // A write of the variable in the critical section of the look.
        let var = index.var[a as usize];
        let events = &index.by_thread[me as usize];
        around.iter().any(|section| {
            let section = &index.sections[*section as usize];
            let from = index.place[section.event as usize] as usize;
            let to = (section.released as usize).min(events.len());
            let inside = events.get(from..to).unwrap_or_default();
            inside
                .iter()
                .any(|e| index.var[*e as usize] == var && self.search.writes(*e))
        })
    }

    fn tell(
        &mut self,
        index: &Index<'_>,
        pair: Stale,
        other: u32,
        standing: Standing,
        witness: Vec<u32>,
    ) {
        let part = |event: u32| {
            let e = &index.events[event as usize];
            let access = detect::AnyAccess::from_op(e.op)?;
            Some(Part {
                thread: e.thread,
                site: e.site,
                loc: access.loc,
                write: access.write,
                event,
            })
        };
        let (Some(read), Some(other), Some(act)) = (part(pair.read), part(other), part(pair.act))
        else {
            return;
        };
        let found = StaleUse {
            standing,
            flow: pair.flow,
            read,
            other,
            act,
            witness,
        };
        self.found.insert((found.read.site, found.act.site), found);
    }
}
