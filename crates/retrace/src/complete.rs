//! From a recorded trace to a complete one, with what its events depend on.

use crate::body::Callee;
use crate::needs::{Needs, Out};
use crate::program::Program;
use crate::purity::Table;
use crate::replay::Replay;
use crate::stream::Stream;
use predict::deps::{Builder, Dep, Deps};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use trace::{Event, Op, Tables, ThreadId};

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
    let mut program = Program::new(tables, files, purity);
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
    let mut threads: FxHashMap<ThreadId, Lane> = FxHashMap::default();
    for (thread, stream) in order {
        let needs = Replay::new(&mut program, events, stream, &mut stats).run();
        threads.insert(thread, Lane::new(needs));
    }
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
    for lane in threads.values() {
        lane.tell(&mut builder);
    }
    Completed {
        events: done,
        deps: builder.build(),
        stats,
    }
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
        self.recorded = rest.iter().find_map(|out| out.event);
    }

    fn place_up_to(&mut self, number: u32, thread: ThreadId, done: &mut Vec<Event>) {
        while let Some(out) = self.needs.out.get(self.next) {
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

    fn list(&self, need: crate::needs::Need) -> impl Iterator<Item = Dep> + use<'_> {
        self.needs.entries(need).into_iter().map(|entry| {
            let at = (entry >> 1) as usize;
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
        for (place, out) in self.places.iter().zip(&self.needs.out) {
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
        for might in &self.needs.might {
            let after = self.places[might.after as usize];
            let classes = might.classes.iter().copied();
            builder.may_write(after, classes, self.list(might.unless));
        }
    }
}
