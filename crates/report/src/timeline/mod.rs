//! A run as a picture: one lane a thread, one row a step, from the schedule
//! that was kept of a controlled run or from the witness of a prediction.
//!
//! A schedule has the decisions of a run, not all that its threads did: where
//! only one thread could go on there was nothing to decide. So of
//! happens-before only those edges are drawn that the decisions prove
//! (`edges`); there may be more. A row of a witness stands for several events
//! of one thread, the last of which is named.

mod edges;
mod fold;
mod witness;

pub use edges::{Edge, Order};
pub use witness::of_witness;

use findings::finding::Frame;
use schedule::labels::Labels;
use schedule::log::{Entry, Log, Site};
use schedule::{Hit, Op, Ready, Thread};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Timeline {
    /// Who decided, and from which seed; empty if nobody did.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub strategy: String,
    pub seed: u64,
    /// How the run ended; absent if it was cut short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    pub lanes: Vec<Lane>,
    pub places: Vec<Frame>,
    pub rows: Vec<Row>,
    pub edges: Vec<Edge>,
}

/// Schedules by the names under which they are replayed: `R1.exception`.
pub type Timelines = BTreeMap<String, Timeline>;

/// Those of one finding.
pub fn timelines_of_finding<'a>(
    timelines: &'a Timelines,
    id: &'a str,
) -> impl Iterator<Item = (&'a str, &'a Timeline)> {
    let belongs = move |name: &str| {
        let rest = name.strip_prefix(id);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let all = timelines.iter().map(|(name, t)| (name.as_str(), t));
    all.filter(move |(name, _)| belongs(name))
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lane {
    pub thread: u64,
    pub name: String,
    /// Who started it, by number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The number of the step, or of the first of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// Absent if no thread did it: time passed, something was left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane: Option<usize>,
    pub what: String,
    /// An index of `places`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
    /// How many steps or events it stands for, if not one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub many: Option<u64>,
    /// What stood ready beside it: the two race, and this went first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beside: Option<Beside>,
}

/// The other side of a race, about to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Beside {
    pub lane: usize,
    pub what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
}

impl Timeline {
    /// All of a schedule.
    pub fn of_log(log: &Log) -> Timeline {
        let mut making = Making::new(log);
        let mut met = None;
        for entry in &log.entries {
            match entry {
                Entry::Step { thread, op } => {
                    let ready = Ready {
                        thread: *thread,
                        op: *op,
                    };
                    let beside = met.take_if(|hit: &mut Hit| hit.first == ready);
                    making.meeting(met.take());
                    making.step(ready, beside);
                }
                Entry::Tick => making.note("time passes"),
                Entry::Hit(hit) => making.meeting(met.replace(*hit)),
                Entry::Saw { .. } => {
                    if let Some(text) = entry.stale() {
                        making.note(&text);
                    }
                }
                Entry::Note(text) => making.note(text),
            }
        }
        making.meeting(met);
        let mut timeline = making.timeline;
        timeline.edges = edges::all_edges(log, &making.placed);
        timeline
    }

    /// The rows in which two accesses stand side by side.
    pub fn meetings(&self) -> impl Iterator<Item = usize> {
        let rows = self.rows.iter().enumerate();
        rows.filter_map(|(at, row)| row.beside.as_ref().map(|_| at))
    }

    /// At most about `most` rows: long stretches of one thread are folded, then
    /// what is far from the last meeting is left out, and said to be.
    pub fn shortened(&self, most: usize) -> Timeline {
        fold::cut(fold::fold(self), most)
    }
}

struct Making<'a> {
    log: &'a Log,
    labels: Labels<'a>,
    timeline: Timeline,
    lanes: BTreeMap<Thread, usize>,
    places: BTreeMap<u32, usize>,
    /// Steps with the rows they came to.
    placed: Vec<Placed>,
}

/// The row of a step, who made it and what it was.
type Placed = (usize, Thread, Op);

impl<'a> Making<'a> {
    fn new(log: &'a Log) -> Making<'a> {
        let mut lanes: BTreeMap<Thread, usize> = BTreeMap::new();
        for entry in &log.entries {
            match entry {
                Entry::Step { thread, .. } => _ = lanes.insert(*thread, 0),
                Entry::Hit(hit) => {
                    lanes.insert(hit.first.thread, 0);
                    lanes.insert(hit.second.thread, 0);
                }
                Entry::Tick | Entry::Saw { .. } | Entry::Note(_) => {}
            }
        }
        for (index, (_, lane)) in lanes.iter_mut().enumerate() {
            *lane = index;
        }
        let lane = |thread: &Thread| {
            let row = log.threads.get(thread);
            Lane {
                thread: u64::from(*thread),
                name: row.map(|row| row.name.clone()).unwrap_or_default(),
                parent: row.and_then(|row| row.parent).map(u64::from),
            }
        };
        let timeline = Timeline {
            strategy: log.header.strategy.clone(),
            seed: log.header.seed,
            outcome: log.end.as_ref().map(|end| end.outcome.clone()),
            lanes: lanes.keys().map(lane).collect(),
            ..Timeline::default()
        };
        Making {
            log,
            labels: Labels::new(log),
            timeline,
            lanes,
            places: BTreeMap::new(),
            placed: Vec::new(),
        }
    }

    fn step(&mut self, ready: Ready, met: Option<Hit>) {
        let number = self.placed.len() as u64;
        let row = self.timeline.rows.len();
        self.placed.push((row, ready.thread, ready.op));
        let call = self.log.calls.get(&number).copied();
        let site = call.filter(|call| self.log.sites.contains_key(call));
        let site = site.unwrap_or(ready.op.site);
        self.row(Some(number), ready, site, met.map(|hit| hit.second));
    }

    /// Two accesses that stood side by side, where the first is no step: nobody
    /// else may have been ready.
    fn meeting(&mut self, met: Option<Hit>) {
        if let Some(hit) = met {
            self.row(None, hit.first, hit.first.op.site, Some(hit.second));
        }
    }

    /// `site`: where it is shown.
    fn row(&mut self, step: Option<u64>, ready: Ready, site: u32, beside: Option<Ready>) {
        let beside = beside.map(|other| Beside {
            lane: self.lane(&other),
            what: self.labels.label(None, &other.op),
            place: self.place(other.op.site),
        });
        let row = Row {
            step,
            lane: Some(self.lane(&ready)),
            what: self.labels.label(step, &ready.op),
            place: self.place(site),
            many: None,
            beside,
        };
        self.timeline.rows.push(row);
    }

    fn note(&mut self, text: &str) {
        self.timeline.rows.push(Row {
            what: text.to_owned(),
            ..Row::default()
        });
    }

    fn lane(&self, ready: &Ready) -> usize {
        self.lanes.get(&ready.thread).copied().unwrap_or_default()
    }

    fn place(&mut self, site: u32) -> Option<usize> {
        let described = self.log.sites.get(&site)?;
        let places = &mut self.timeline.places;
        let index = self.places.entry(site).or_insert_with(|| {
            places.push(frame(described));
            places.len() - 1
        });
        Some(*index)
    }
}

fn frame(site: &Site) -> Frame {
    Frame {
        class: encoding::names::dotted(&site.class),
        method: site.method.clone(),
        desc: None,
        file: site.file.clone(),
        line: site.line,
        bci: Some(site.bci),
        jdk: None,
    }
}
