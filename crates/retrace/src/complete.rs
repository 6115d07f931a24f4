//! From a recorded trace to a complete one, with what its events depend on.

use crate::callee::Callee;
use crate::needs::{Might, Needs, Out};
use crate::operations::{Kind, Operations};
use crate::pairs;
use crate::program::Program;
use crate::purity::Table;
use crate::replay::Replay;
use crate::stream::Stream;
use predict::atomicity::stale::Stale;
use predict::deps::{Builder, Dep, Deps};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use trace::tables::Site;
use trace::{Event, ObjId, Op, SiteId, Tables, ThreadId};

/// What [`complete`] makes.
#[derive(Debug)]
pub struct Completed {
    /// The events of the program, with the beginnings and ends of methods and
    /// decisions that gather what later events need. `MethodEnter` and
    /// `MethodExit` have the number of the method in the trace's table.
    pub events: Vec<Event>,
    /// By place in `events`.
    pub deps: Deps,
    pub stats: Stats,
    /// Values that flow from a look into an act; of [`complete_operations`] only.
    pub pairs: Vec<Stale>,
    /// What calls that are told as one step do, by place of their accesses.
    pub kinds: FxHashMap<u32, Kind>,
    /// By place: between which numbers of the recording it was made.
    pub spans: Vec<(u32, u32)>,
    /// Statements that were added: calls that are told as one step.
    pub sites: Vec<(SiteId, Site)>,
}

/// How well the threads could be followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Events of the program, without those that were added.
    pub events: u64,
    /// Events that depend on all before them, since their thread was lost.
    pub lost_events: u64,
    pub lost_threads: u64,
    /// Methods without probes that nothing is known of, with how often they
    /// were called: what comes after depends on all before.
    pub impure: BTreeMap<String, u64>,
}

impl Stats {
    pub(crate) fn impure(&mut self, callee: &Callee) {
        let name = format!("{}.{}", encoding::names::dotted(&callee.class), callee.name);
        *self.impure.entry(name).or_default() += 1;
    }
}

/// Whether a trace has what it takes: the way of its threads through the code.
pub fn is_full(tables: &Tables) -> bool {
    !tables.methods.is_empty()
}

/// Completes a trace: `events` in their order, `files` the class files by the
/// number of their class.
pub fn complete(
    events: &[Event],
    tables: &Tables,
    files: &BTreeMap<u32, Vec<u8>>,
    purity: &Table,
) -> Completed {
    let program = Program::new(tables, files, purity);
    follow(events, program, &|| false).0
}

/// The same for the search for stale values: calls of methods in the table are told as
/// one step each (`operate`). None if somebody said stop before it was done.
pub fn complete_operations(
    events: &[Event],
    tables: &Tables,
    files: &BTreeMap<u32, Vec<u8>>,
    purity: &Table,
    operations: &Operations,
    stop: &dyn Fn() -> bool,
) -> Option<Completed> {
    let mut waited = FxHashSet::default();
    // Objects that somebody waits for are known in the end.
    loop {
        let mut program = Program::new(tables, files, purity);
        program.operations = Some(operations);
        program.waited = waited.clone();
        let (done, more) = follow(events, program, stop);
        if stop() {
            return None;
        }
        let known = waited.len();
        waited.extend(more);
        if waited.len() == known {
            return Some(done);
        }
    }
}

/// What is not followed when somebody says stop is unknown.
fn follow(
    events: &[Event],
    mut program: Program<'_>,
    stop: &dyn Fn() -> bool,
) -> (Completed, Vec<ObjId>) {
    let mut streams: FxHashMap<ThreadId, Stream> = FxHashMap::default();
    // Numbers of events are doubled in places.
    let events = &events[..events.len().min(1 << 29)];
    for (number, event) in (0u32..).zip(events) {
        let stream = streams.entry(event.thread).or_default();
        stream.push(number, event, &program);
    }
    let mut order: Vec<(ThreadId, Stream)> = streams.into_iter().collect();
    order.sort_by_key(|(thread, _)| *thread);
    let mut stats = Stats::default();
    let mut followed: Vec<(ThreadId, Needs)> = Vec::new();
    for (thread, stream) in order {
        let needs = Replay::new(&mut program, events, stream, &mut stats).run(stop);
        followed.push((thread, needs));
    }
    let mut lists: Vec<&mut Needs> = followed.iter_mut().map(|(_, needs)| needs).collect();
    let sites = pairs::name(&mut lists, &program);
    let waited = lists
        .iter()
        .flat_map(|needs| needs.waited.clone())
        .collect();
    let mut threads: FxHashMap<ThreadId, Lane> = { followed.into_iter() }
        .map(|(thread, needs)| (thread, Lane::new(needs)))
        .collect();
    let mut done = merge(events, &mut threads);
    let is_event = |e: &&Event| {
        !matches!(
            e.op,
            Op::MethodEnter(_) | Op::MethodExit(_) | Op::Branch(_) | Op::Unsure(_)
        )
    };
    stats.events = done.iter().filter(is_event).count() as u64;
    done.shrink_to_fit();
    let mut builder = Builder::new(done.len());
    let mut spans = Vec::new();
    if program.operations.is_some() {
        spans = vec![(0, u32::MAX); done.len()];
        threads.values().for_each(|lane| lane.spans(&mut spans));
    }
    let mut found = Vec::new();
    for lane in threads.values() {
        lane.tell(&mut builder);
        if program.operations.is_some() {
            pairs::find(&lane.needs, &lane.places, &mut found);
        }
    }
    found.sort_unstable();
    found.dedup();
    let kinds = threads.values().flat_map(Lane::kinds).collect();
    let completed = Completed {
        events: done,
        deps: builder.build(),
        stats,
        pairs: found,
        kinds,
        spans,
        sites,
    };
    (completed, waited)
}

/// A thread's part of the completed trace.
#[derive(Debug)]
struct Lane {
    needs: Needs,
    /// By event of the thread: its place in the completed trace.
    places: Vec<u32>,
    next: usize,
    /// The next one that was recorded: its number in the recorded trace.
    recorded: Option<u32>,
}

/// Puts the threads' events in the order of the trace; those that were added
/// stand before the next recorded one of their thread.
fn merge(events: &[Event], threads: &mut FxHashMap<ThreadId, Lane>) -> Vec<Event> {
    let mut done = Vec::with_capacity(events.len());
    for (number, event) in (0u32..).zip(events) {
        let Some(lane) = threads.get_mut(&event.thread) else {
            continue;
        };
        if matches!(event.op, Op::Unsure(_)) {
            done.push(*event);
        }
        // Records that are no events have none in the lane.
        if lane.recorded == Some(number) {
            lane.place_up_to(number, event.thread, &mut done);
        }
    }
    let mut left: Vec<_> = threads.iter_mut().collect();
    left.sort_by_key(|(thread, _)| **thread);
    for (thread, lane) in left {
        lane.place_up_to(u32::MAX, *thread, &mut done);
    }
    done
}

impl Lane {
    fn new(needs: Needs) -> Lane {
        let mut lane = Lane {
            places: vec![0; needs.out.len()],
            needs,
            next: 0,
            recorded: None,
        };
        lane.look_ahead();
        lane
    }

    fn look_ahead(&mut self) {
        let rest = self.needs.out.get(self.next..).unwrap_or_default();
        let kept = (self.next as u32..).zip(rest);
        let mut kept = kept.filter(|(at, _)| self.needs.instead(*at).is_none());
        self.recorded = kept.find_map(|(_, out)| out.event);
    }

    fn place_up_to(&mut self, number: u32, thread: ThreadId, done: &mut Vec<Event>) {
        while let Some(out) = self.needs.out.get(self.next) {
            if self.needs.instead(self.next as u32).is_some() {
                self.next += 1;
                continue;
            }
            self.places[self.next] = done.len() as u32;
            done.push(Event {
                thread,
                site: out.site,
                op: out.op,
            });
            self.next += 1;
            if out.event == Some(number) {
                break;
            }
        }
        self.look_ahead();
    }

    /// By place: what the writes of calls do.
    fn kinds(&self) -> impl Iterator<Item = (u32, Kind)> + use<'_> {
        self.needs.operations.iter().flat_map(|operated| {
            let events = operated.read..operated.release;
            events.map(|event| (self.places[event as usize], operated.kind))
        })
    }

    /// By place: between which numbers it was made.
    fn spans(&self, spans: &mut [(u32, u32)]) {
        for (at, (place, out)) in (0u32..).zip(self.places.iter().zip(&self.needs.out)) {
            if let (Some(number), None) = (out.event, self.needs.instead(at)) {
                spans[*place as usize] = (number, number);
            }
        }
        for operated in &self.needs.operations {
            for event in operated.events.0..=operated.events.1 {
                spans[self.places[event as usize] as usize] = operated.span;
            }
        }
    }

    fn list(&self, need: crate::needs::Need) -> impl Iterator<Item = Dep> + use<'_> {
        self.needs.entries(need).into_iter().map(|entry| {
            let at = entry >> 1;
            if let Some(read) = self.needs.instead(at) {
                return Dep::Value(self.places[read as usize]);
            }
            let at = at as usize;
            let place = self.places[at];
            // A damaged recording may have something else where the code reads.
            let reads = matches!(
                self.needs.out[at].op,
                Op::Read(_) | Op::AtomicRead(..) | Op::AtomicUpdate(..)
            );
            match entry & 1 {
                0 if reads => Dep::Value(place),
                _ => Dep::Happens(place),
            }
        })
    }

    fn tell(&self, builder: &mut Builder) {
        for (at, (place, out)) in (0u32..).zip(self.places.iter().zip(&self.needs.out)) {
            if self.needs.instead(at).is_some() {
                continue;
            }
            let Out {
                happens: Some(happens),
                value,
                class,
                load,
                ..
            } = *out
            else {
                continue;
            };
            builder.event(*place, self.list(happens), self.list(value));
            builder.class(*place, class);
            if load {
                builder.load(*place);
            }
        }
        let kept = |might: &&Might| self.needs.instead(might.after).is_none();
        for might in self.needs.might.iter().filter(kept) {
            let after = self.places[might.after as usize];
            let classes = might.classes.iter().copied();
            builder.may_write(after, classes, self.list(might.unless));
        }
    }
}
