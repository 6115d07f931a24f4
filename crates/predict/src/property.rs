//! Properties over named events, checked on every order of them that the run
//! allows: past-time temporal formulas and regular expressions, compiled to
//! monitors that run along the lattice of consistent cuts.
//!
//! `parse` reads a specification (docs/properties.md is its manual), `monitor`
//! compiles it, `slice` picks what matters for a property and orders it,
//! `lattice` walks over the cuts.
//!
//! # What it claims
//! Sound: every violation comes with an order of events that the
//! [checker](crate::check) accepted and along which the monitor says no. Within
//! the bound on cuts, and but for what the slice orders more than it must, all
//! violations of the recorded events are found; [`Outcome::incomplete`] says
//! when the bound bit.

mod lattice;
mod monitor;
mod parse;
mod slice;

pub use monitor::{Monitor, Verdict};
pub use parse::{Formula, ParseError, Regex};

use crate::deps::Deps;
use crate::index::Index;
use crate::verify::{Checked, Verifier};
use trace::Event;

/// A specification: what events are called, and what must hold of them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spec {
    pub events: Vec<Named>,
    pub properties: Vec<Property>,
}

/// A name for events of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    pub name: String,
    pub kind: Kind,
    /// `Class.member`; `*` stands for anything.
    pub target: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    Call,
    Return,
    Read,
    Write,
}

/// A name, and what must hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Property {
    pub name: String,
    pub rule: Rule,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rule {
    /// The named events since the beginning never spell a word of it.
    Never(Regex),
    /// Holds at every named event.
    Always(Formula),
}

/// Named events by number, as bits: at most this many.
pub const MOST_EVENTS: usize = 64;

impl Spec {
    pub fn parse(text: &str) -> Result<Spec, ParseError> {
        parse::spec(text)
    }
}

impl Property {
    /// The named events it speaks of, as bits.
    pub fn alphabet(&self) -> u64 {
        match &self.rule {
            Rule::Never(regex) => regex.alphabet(),
            Rule::Always(formula) => formula.alphabet(),
        }
    }
}

/// An event of the trace that has names, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Labelled {
    pub event: u32,
    pub names: u64,
}

/// What came of checking a property.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The run itself breaks it, at this event, and the order of the named events
    /// up to it is known.
    pub observed: Option<u32>,
    /// An order of the run's events that breaks it, at its last event. By
    /// places in the trace.
    pub violation: Option<Violation>,
    pub cuts: u64,
    /// Violations whose order the checker did not accept.
    pub refuted: u64,
    pub incomplete: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Violation {
    /// All events of it.
    pub order: Vec<u32>,
    /// The named ones.
    pub named: Vec<Labelled>,
}

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub cuts: u64,
    /// Whether uncertain writes, and writes that no needed value saw, are kept
    /// out of the way. Only tests of what happens otherwise say no.
    pub relevance: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            cuts: 1_000_000,
            relevance: true,
        }
    }
}

/// Checks one property; `labels` by event, ascending.
pub fn check(
    trace: &[Event],
    deps: &Deps,
    labels: &[Labelled],
    property: &Property,
    limits: Limits,
) -> Outcome {
    let mut verifier = Verifier::for_sequences(trace, deps);
    let trace = verifier.trace();
    let alphabet = property.alphabet();
    let labels: Vec<Labelled> = labels
        .iter()
        .filter(|l| l.names & alphabet != 0 && (l.event as usize) < trace.len())
        .map(|l| Labelled {
            names: l.names & alphabet,
            ..*l
        })
        .collect();
    let monitor = Monitor::new(&property.rule, labels.iter().map(|l| l.names));
    let mut outcome = Outcome {
        observed: observed(&monitor, &labels)
            .filter(|broken| certain(trace, labels.iter().filter(|l| l.event <= *broken))),
        ..Outcome::default()
    };
    let slice = slice::Slice::new(trace, deps, &labels, limits.relevance);
    let accept = |order: &[u32], named: &[Labelled]| {
        let marked: Vec<u32> = named.iter().map(|l| l.event).collect();
        !limits.relevance || verifier.check_sequence(order, &marked) == Checked::Accepted
    };
    lattice::walk(&slice, &monitor, limits.cuts, accept, &mut outcome);
    let mut account = crate::found::Predictions::default();
    verifier.account(&mut account);
    outcome.refuted = account.refuted;
    outcome.incomplete = account.incomplete.or(outcome.incomplete);
    outcome
}

/// Whether the named events came in the order in which the trace has them. A trace
/// has an order of all events, but knows it for accesses that conflict and for
/// synchronisation only. So of two neighbours the later one saw something that came
/// of the earlier one, or there is synchronisation behind the earlier one that came
/// before some that precedes the later one.
fn certain<'l>(trace: &[Event], named: impl Iterator<Item = &'l Labelled>) -> bool {
    let index = Index::new(trace);
    let sync = |event: &u32| trace[*event as usize].op.is_sync();
    let named: Vec<u32> = named.map(|l| l.event).collect();
    named.windows(2).all(|pair| {
        let [a, b] = [pair[0], pair[1]];
        let [s, t] = [a, b].map(|event| index.thread(event));
        let [at, to] = [a, b].map(|event| index.place[event as usize]);
        if s == t {
            return true;
        }
        let mut cut = vec![0; index.stride()];
        index.require(&mut cut, t, to);
        let saw = cut[s as usize] >= at && !index.beyond(&cut);
        let after = index.by_thread[s as usize][at as usize - 1..]
            .iter()
            .find(|e| sync(e));
        let before = index.by_thread[t as usize][..to as usize]
            .iter()
            .rfind(|e| sync(e));
        saw || after
            .zip(before)
            .is_some_and(|(after, before)| after < before)
    })
}

/// The event at which the run itself breaks the property.
fn observed(monitor: &Monitor, labels: &[Labelled]) -> Option<u32> {
    let mut state = monitor.start();
    for label in labels {
        match monitor.step(state, label.names) {
            Verdict::Go(next) => state = next,
            Verdict::Broken => return Some(label.event),
        }
    }
    None
}
