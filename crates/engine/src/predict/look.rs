//! One look at a run: the engines, each over as much of it as memory allows.
//!
//! Most engines take the run as it is read (`predict::Windows`). Sliced causality, atomicity and
//! properties have all of it in memory, or as much of its beginning as there is room for: the
//! beginning of a run is a run.

use super::shard::{digest, pair};
use super::{Asked, PredictConfig, full, tell};
use crate::error::Error;
use crate::memory::Memory;
use crate::offline::{HeldLock, LocksAt, Names};
use crate::source::{Known, Source};
use ::predict::deps::Deps;
use ::predict::{
    Bounds, Control, Method, Outcome, Prediction, Predictions, ShouldStop, Standing, Windows,
};
use findings::finding::Findings;
use findings::merge::Merge;
use findings::prediction::Engine;
use findings::result::{Program, Status};
use findings::shard::Shard;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::time::Instant;
use trace::{Event, Op, Tables};

/// Bytes that an event of a window takes while the window is looked at, its clocks aside.
const EVENT: usize = 140;
/// Bytes that an event takes where all is in memory, with what it depends on.
const WHOLE_EVENT: usize = 512;

/// The beginning of a run in memory, all of it as a rule.
pub struct Input {
    pub events: Vec<Event>,
    /// What the events depend on, if the trace says.
    pub deps: Deps,
    /// The same events with calls of atomic methods as one step each, if stale values are asked for.
    pub stale: Option<retrace::Completed>,
    /// The order of accesses that race is the one of the run.
    pub ordered: bool,
    pub tables: Tables,
}

/// What came of it.
pub struct Look {
    pub rows: Vec<Row>,
    pub input: Input,
    pub covered: Findings,
    pub program: Program,
    /// What could not be followed, or was not looked at.
    pub complaints: Vec<String>,
    /// Memory ended something.
    pub limited: bool,
    /// Locks held at accesses of races, by row and event.
    locks: FxHashMap<(bool, u64), Vec<HeldLock>>,
}

/// One engine's row of the table.
pub struct Row {
    pub method: Method,
    pub found: Predictions,
    pub seconds: f64,
    /// Pairs that no other engine found.
    pub alone: usize,
    /// Its events are those of [`Input`].
    whole: bool,
}

impl Row {
    fn count(&self, standing: Standing) -> usize {
        self.found.iter().filter(|p| p.standing == standing).count()
    }

    pub fn told(&self, shard: Shard) -> Engine {
        let pairs = || self.found.iter().map(|p| digest(pair(p))).collect();
        Engine {
            engine: self.method.name().to_owned(),
            pairs: self.found.len() as u64,
            observed: self.count(Standing::Observed) as u64,
            predicted: self.count(Standing::Predicted) as u64,
            potential: self.count(Standing::Potential) as u64,
            alone: self.alone as u64,
            complete: self.found.incomplete.is_none(),
            seconds: self.seconds,
            pair_digests: (!shard.is_whole()).then(pairs),
        }
    }
}

/// Reads the run and lets the engines look at it.
pub fn look(
    config: &PredictConfig,
    asked: &Asked,
    source: &mut Source,
    stop: &ShouldStop<'_>,
) -> Result<Look, Error> {
    let memory = Memory::new(config.memory_limit);
    let ordered = source.is_ordered();
    let full = source.is_full();
    let engines = config.engines(full);
    let sliced = full && engines.contains(&Method::Sliced);
    let whole = sliced || asked.checks.something() || asked.operations.is_some();
    // Half for tables that grow with locations, half for events.
    let room = (memory.limit() / if whole { 4 } else { 2 }) as usize;
    let bounds = Bounds {
        events: (room * 3 / 4 / EVENT).clamp(1 << 10, u32::MAX as usize / 4),
        clocks: room / 4,
    };
    let most = (room / WHOLE_EVENT).max(1 << 10);
    let start = Instant::now();
    let seconds = || start.elapsed().as_secs_f64();
    let more = |bytes: usize| memory.has_room(bytes as u64, room as u64);
    let control = Control {
        stop,
        room: &more,
        seconds: &seconds,
    };
    let methods = { engines.into_iter() }.filter(|m| *m != Method::Sliced || !full);
    let mut windows = Windows::new(methods, bounds, control);
    let mut events = Vec::new();
    let mut read = 0u64;
    let known = source.each(|e| {
        if whole && events.len() < most {
            events.push(*e);
        }
        read += 1;
        // The way through the code is no matter of theirs.
        if !matches!(e.op, Op::MethodEnter(_) | Op::MethodExit(_) | Op::Branch(_)) {
            windows.push(e);
        }
    })?;
    let outcome = windows.finish();
    let mut look = Look::new(known, ordered, &memory, &outcome);
    if whole && (events.len() as u64) < read {
        look.limited = true;
        look.complaints.push(format!(
            "sliced causality, atomicity and properties need all events in memory: the first {} of \
             {read} were looked at (--memory-limit {})",
            events.len(),
            memory.told()
        ));
    }
    look.rows = { outcome.looked.into_iter() }
        .map(|looked| Row {
            method: looked.method,
            found: looked.found,
            seconds: looked.seconds,
            alone: 0,
            whole: false,
        })
        .collect();
    look.input.events = events;
    if whole
        && full
        && let Some(trace) = source.trace()
    {
        if let Some(operations) = &asked.operations {
            let events = &look.input.events;
            look.input.stale = full::complete_operations(trace, events, asked, operations, stop)?;
            if look.input.stale.is_none() {
                look.limited = true;
                let text = "stale values were not looked for: there was no more time";
                look.complaints.push(text.to_owned());
            }
        }
        let done = full::complete(trace, &look.input.events, &asked.purity)?;
        look.complaints.extend(full::complaints(&done.stats));
        (look.input.events, look.input.deps) = (done.events, done.deps);
    }
    if sliced {
        let start = Instant::now();
        let Input { events, deps, .. } = &look.input;
        let mut found = Method::Sliced.run_until(events, deps, stop);
        found.tell(events);
        look.rows.push(Row {
            method: Method::Sliced,
            found,
            seconds: start.elapsed().as_secs_f64(),
            alone: 0,
            whole: true,
        });
    }
    if !ordered {
        look.rows.iter_mut().for_each(|row| row.found.doubt());
    }
    compare(&mut look.rows);
    look.find_locks(source)?;
    Ok(look)
}

impl Look {
    fn new(known: Known, ordered: bool, memory: &Memory, outcome: &Outcome) -> Look {
        let mut complaints = Vec::new();
        if !ordered {
            complaints.push(
                "the trace does not say in which order accesses came that race, so nothing \
                 is proven by it: record the program again with this version"
                    .to_owned(),
            );
        }
        let searched = { outcome.looked.iter() }
            .filter(|l| l.method.needs_trace())
            .map(|l| l.method.name());
        let searched: Vec<&str> = searched.collect();
        let windows = outcome.windows > 1 && !searched.is_empty();
        if windows {
            complaints.push(format!(
                "the {} events do not fit into memory at once (--memory-limit {}): {} looked at {} \
                 windows of them; pairs more than {} events apart were not all compared",
                outcome.events,
                memory.told(),
                searched.join(" and "),
                outcome.windows,
                outcome.reach
            ));
        }
        Look {
            rows: Vec::new(),
            input: Input {
                events: Vec::new(),
                deps: Deps::unknown(),
                stale: None,
                ordered,
                tables: known.tables,
            },
            covered: known.covered,
            program: known.program,
            complaints,
            limited: windows || outcome.looked.iter().any(|l| l.ended.is_some()),
            locks: FxHashMap::default(),
        }
    }

    /// Adds what was found to a report.
    pub fn merge(&self, merge: &mut Merge) {
        let names = Names::new(&self.input.tables);
        for row in &self.rows {
            for p in &row.found {
                let finding = detect::Finding {
                    loc: p.loc,
                    first: p.first,
                    second: p.second,
                    event: p.second_event,
                    count: p.count,
                };
                let mut race = names.race(&finding, row.method.name(), &[]);
                for (access, event) in race
                    .accesses
                    .iter_mut()
                    .zip([p.first_event, Some(p.second_event)])
                {
                    let held = event.and_then(|event| self.locks.get(&(row.whole, event)));
                    access.locks = held.map(|held| held.iter().map(|h| names.lock(h)).collect());
                }
                let witness = p.told.as_ref().map(|told| tell::steps(&names, told));
                merge.add_worked_out(race, status(p.standing), witness);
            }
        }
    }

    /// Where an engine did not do all it says.
    pub fn warnings(&self) -> impl Iterator<Item = String> {
        self.complaints
            .iter()
            .cloned()
            .chain(complaints(&self.rows))
    }

    /// Whether engines were told to stop before they were done.
    pub fn is_cut_short(&self, stop: &ShouldStop<'_>) -> bool {
        self.limited || stop() && self.rows.iter().any(|row| row.found.incomplete.is_some())
    }

    /// The locks held at every access that is part of a race.
    fn find_locks(&mut self, source: &mut Source) -> Result<(), Error> {
        let wanted = |whole: bool| {
            let rows = self.rows.iter().filter(move |row| row.whole == whole);
            let of = |p: &Prediction| p.first_event.into_iter().chain([p.second_event]);
            rows.flat_map(|r| r.found.iter()).flat_map(of).collect()
        };
        let mut seen = LocksAt::new(wanted(true));
        for e in &self.input.events {
            seen.event(e);
        }
        let of_whole = seen.found;
        let mut seen = LocksAt::new(wanted(false));
        if seen.is_wanted() {
            source.each(|e| {
                if !matches!(e.op, Op::MethodEnter(_) | Op::MethodExit(_) | Op::Branch(_)) {
                    seen.event(e);
                }
            })?;
        }
        let key = |whole| move |(event, locks)| ((whole, event), locks);
        self.locks = { of_whole.into_iter().map(key(true)) }
            .chain(seen.found.into_iter().map(key(false)))
            .collect();
        Ok(())
    }
}

fn status(standing: Standing) -> Status {
    match standing {
        Standing::Potential => Status::Potential,
        Standing::Predicted => Status::Predicted,
        Standing::Observed => Status::Observed,
    }
}

/// Counts what each engine alone found, by statements and location.
fn compare(rows: &mut [Row]) {
    let mut finders: FxHashMap<_, usize> = FxHashMap::default();
    for row in rows.iter() {
        for pair in row.found.iter().map(pair).collect::<BTreeSet<_>>() {
            *finders.entry(pair).or_default() += 1;
        }
    }
    for row in rows {
        let pairs: BTreeSet<_> = row.found.iter().map(pair).collect();
        row.alone = pairs.iter().filter(|pair| finders[*pair] == 1).count();
    }
}

/// Where an engine did not do all it says.
fn complaints(rows: &[Row]) -> Vec<String> {
    let mut texts = Vec::new();
    for row in rows {
        let name = row.method.name();
        if let Some(why) = &row.found.incomplete {
            texts.push(format!("{name} may have missed races: {why}"));
        }
        if row.found.refuted > 0 {
            texts.push(format!(
                "{} predictions of {name} are left out: the checker did not accept their witnesses",
                row.found.refuted
            ));
        }
        if row.found.beyond() > 0 {
            texts.push(format!(
                "{name} saw {} further races that are not listed",
                row.found.beyond()
            ));
        }
    }
    texts
}
