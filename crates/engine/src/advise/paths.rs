//! Recorded runs as paths: what raced in each, and what each has to say on it.
//!
//! Whether two accesses race is FastTrack's answer, with all its rules (class
//! initialisation, final fields); the path only tells which events they were.
//! FastTrack names one of the accesses that a thread makes in a row; here all are
//! named, since a repair has to cover them all.
//!
//! A trace is read, told and forgotten, so that memory does not grow with their
//! number.

use super::stable_names::{OfTrace, StableNames};
use crate::error::{Context, Error};
use crate::offline::{self, Names};
use crate::traces;
use advise::{Advisor, Explanation, Path, Race, explain, in_a_row};
use detect::{Detector, FastTrack, Late};
use findings::finding;
use rustc_hash::{FxHashMap, FxHashSet};
use std::io::{self, Seek};
use std::ops::ControlFlow;
use trace::{Event, Op, Trace};

/// Longer runs are looked at up to here, which is said.
const MOST_EVENTS: usize = 4_000_000;

/// Events that are looked at before somebody is asked whether to stop.
const MOUTHFUL: usize = 1 << 16;

/// Whether there is no time to go on.
pub type Stop<'a> = &'a dyn Fn() -> bool;

/// Everything learnt so far.
#[derive(Default)]
pub struct Paths {
    pub book: StableNames,
    pub advisor: Advisor,
    /// One way in which each race came about.
    pub told: FxHashMap<Race, Explanation>,
    pub paths: u64,
}

impl Paths {
    /// A recorded run under control; nothing is learnt from it if it has to stop meanwhile.
    pub fn learn(&mut self, file: &std::path::Path, stop: Stop<'_>) -> Result<Shown, Error> {
        let mut trace = traces::open(file)?;
        self.add(&mut trace, true, stop)
            .with_context(|| cannot_read(file))
    }
}

/// What one run showed.
#[derive(Debug, Default)]
pub struct Shown {
    pub races: Vec<finding::Race>,
    /// Its findings without the races.
    pub covered: finding::Findings,
    pub cut_short: bool,
}

impl Paths {
    /// `exact`: one thread ran at a time, so events stand in the order in which
    /// they happened, accesses included. Otherwise accesses are where they may
    /// have been at the latest, and some repairs are not seen to help.
    pub fn add<R: io::Read + Seek>(
        &mut self,
        trace: &mut Trace<R>,
        exact: bool,
        stop: Stop<'_>,
    ) -> Result<Shown, trace::Error> {
        let Read {
            mut events,
            covered,
            cut_short,
        } = match read(trace, exact, stop)? {
            Some(read) => read,
            None => return Ok(Shown::default()),
        };
        let Some((pairs, races)) = races(&events, trace, stop) else {
            return Ok(Shown::default());
        };
        let sites = &trace.tables().sites;
        let codes: Vec<Option<u32>> = events
            .iter()
            .map(|event| sites.get(&event.site).map(|site| site.bci))
            .collect();
        let names = OfTrace::read(&mut self.book, trace.tables(), &mut events);
        let path = Path::new(&events);
        self.advisor.add(&path, &pairs, &names);
        for at in pairs.iter().flat_map(|(a, b)| [*a, *b]) {
            if let Some(loc) = location(&events[at]) {
                let variable = advise::Names::variable(&names, loc);
                let bare = codes[at].filter(|_| path.locks(at).is_empty());
                self.book.races(variable, events[at].site.0, bare);
            }
        }
        for (source, manifest) in &pairs {
            let (a, b) = (events[*source].site.0, events[*manifest].site.0);
            let Some(loc) = location(&events[*source]) else {
                continue;
            };
            let race = Race {
                variable: advise::Names::variable(&names, loc),
                sites: (a.min(b), a.max(b)),
            };
            self.told
                .entry(race)
                .or_insert_with(|| explain(&path, &names, *source, *manifest));
        }
        self.paths += 1;
        Ok(Shown {
            races,
            covered,
            cut_short,
        })
    }
}

/// The races of a recorded run under control, and whether only its beginning was
/// looked at. None if it had to stop.
pub fn races_in(
    file: &std::path::Path,
    stop: Stop<'_>,
) -> Result<Option<(Vec<finding::Race>, bool)>, Error> {
    let mut trace = traces::open(file)?;
    let read = read(&mut trace, true, stop).with_context(|| cannot_read(file))?;
    let Some(read) = read else {
        return Ok(None);
    };
    let races = races(&read.events, &trace, stop);
    Ok(races.map(|(_, races)| (races, read.cut_short)))
}

fn cannot_read(file: &std::path::Path) -> String {
    format!("cannot read {}", file.display())
}

/// A run's events, as far as they are of use here.
struct Read {
    events: Vec<Event>,
    covered: finding::Findings,
    cut_short: bool,
}

/// None if it had to stop.
fn read<R: io::Read + Seek>(
    trace: &mut Trace<R>,
    exact: bool,
    stop: Stop<'_>,
) -> Result<Option<Read>, trace::Error> {
    let mut events: Vec<Event> = Vec::new();
    let mut cut_short = false;
    let mut count = 0;
    let mut late = Late::default();
    let mut keep = |event: &Event| {
        count += 1;
        // What only prediction needs.
        let flow = matches!(
            event.op,
            Op::MethodEnter(_) | Op::MethodExit(_) | Op::Branch(_) | Op::Unsure(_)
        );
        if events.len() < MOST_EVENTS && !flow {
            events.push(*event);
        }
        cut_short |= events.len() >= MOST_EVENTS;
    };
    let mut all = trace.events();
    let mut taken = 0;
    let mut stopped = false;
    all.events_until(|event| {
        match exact {
            true => keep(event),
            false => late.take(event, &mut keep),
        }
        taken += 1;
        stopped = taken % MOUTHFUL == 0 && stop();
        match stopped {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    let gap = all.gap();
    if stopped {
        return Ok(None);
    }
    late.rest(&mut keep);
    Ok(Some(Read {
        covered: offline::covered(trace, gap, count),
        events,
        cut_short,
    }))
}

/// What races, as events and as it is reported; none if it had to stop.
#[expect(clippy::type_complexity, reason = "two lists")]
fn races<R>(
    events: &[Event],
    trace: &Trace<R>,
    stop: Stop<'_>,
) -> Option<(Vec<(usize, usize)>, Vec<finding::Race>)> {
    let mut detector = FastTrack::default();
    for some in events.chunks(MOUTHFUL) {
        if stop() {
            return None;
        }
        detector.events(some);
    }
    let names = Names::new(trace.tables());
    let mut known = FxHashSet::default();
    let mut pairs = Vec::new();
    let mut reported = Vec::new();
    for f in detector.findings().iter() {
        let race = names.race(f, "fasttrack", &[]);
        // Here nobody knows whether the JDK called there for itself, behind
        // locks that are not watched.
        if finding::race_may_be_jdks(&race) {
            continue;
        }
        if stop() {
            return None;
        }
        let second = usize::try_from(f.event).unwrap_or(usize::MAX);
        let before = events.get(..second).unwrap_or_default();
        let is = |e: &Event| {
            (e.thread, e.site) == (f.first.thread, f.first.site) && location(e) == Some(f.loc)
        };
        if known.insert(f.key()) {
            reported.push(race);
        }
        let Some(first) = before.iter().rposition(is) else {
            continue;
        };
        pairs.push((first, second));
        for at in in_a_row(events, first, second) {
            let mut other = *f;
            other.first.site = events[at].site;
            other.first.write = is_write(&events[at]);
            let race = names.race(&other, "fasttrack", &[]);
            if finding::race_may_be_jdks(&race) {
                continue;
            }
            pairs.push((at, second));
            if known.insert(other.key()) {
                reported.push(race);
            }
        }
    }
    Some((pairs, reported))
}

/// A plain or an atomic one.
fn is_write(event: &Event) -> bool {
    matches!(
        event.op,
        Op::Write(_) | Op::AtomicWrite(..) | Op::AtomicUpdate(..)
    )
}

fn location(event: &Event) -> Option<trace::Loc> {
    match event.op {
        Op::Read(loc) | Op::Write(loc) => Some(loc),
        Op::AtomicRead(loc, _) | Op::AtomicWrite(loc, _) | Op::AtomicUpdate(loc, _) => Some(loc),
        _ => None,
    }
}
