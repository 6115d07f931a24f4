//! Several traces as one.
//!
//! **Parts of one run**, cut from its trace: put together again in the order of
//! the run. Every event between the first and the last must be in exactly one of
//! them, otherwise orderings would be lost or doubled.
//!
//! **Several runs** of a program: one after the other, with nothing in common but
//! statements, fields, classes and methods (see [`crate::renumber`]). Detectors and
//! predictors say of the whole what they say of the runs one by one: threads of
//! different runs share no object. Of a run that was killed only what comes before
//! its first gap is taken, since readers of the whole would stop there.
//!
//! Which of the two it is, the run headers tell. What belongs together in neither
//! way is refused: parts of different runs, a trace together with a part of
//! itself, runs under different JDKs or of different builds of a class.

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::io::{self, Read, Seek, Write};
use std::ops::Range;

use crate::error::Error;
use crate::linear::LinearWriter;
use crate::reader::Trace;
use crate::renumber::{Numbers, Renumber};
use crate::tables::{Footer, Part, RunHeader, Str, Tables};

/// A trace, and what to call it when something is wrong with it.
#[derive(Debug)]
pub struct Input<R> {
    pub name: String,
    pub trace: Trace<R>,
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Joined {
    pub events: u64,
    /// 1 if the traces were parts of one run.
    pub runs: usize,
    /// Runs that go on behind a gap, where their events were left out.
    pub cut_short: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    #[error("{name}: {source}")]
    Read { name: String, source: Error },

    #[error("writing the trace failed: {0}")]
    Write(#[from] io::Error),

    #[error(
        "{first} and {second} are of one run, {other} is of another; \
         merge the parts of each run first, then the runs"
    )]
    Mixed {
        first: String,
        second: String,
        other: String,
    },

    #[error(
        "{first} and {second} are of one run, but {unplaced} does not say which part it is: \
         it is whole, or has some threads only; parts are made with `trace cut --events`"
    )]
    Unplaced {
        first: String,
        second: String,
        unplaced: String,
    },

    #[error("{first} and {second} both have events {} to {}", places.start, places.end - 1)]
    Overlap {
        first: String,
        second: String,
        places: Range<u64>,
    },

    #[error(
        "events {} to {} of the run, between {first} and {second}, are in none of the traces",
        places.start, places.end - 1
    )]
    Missing {
        first: String,
        second: String,
        places: Range<u64>,
    },

    #[error(
        "{first} and {second} claim to be of one run, but mean different {what} by number {number}"
    )]
    Contradiction {
        first: String,
        second: String,
        what: &'static str,
        number: u64,
    },

    #[error("{first} ran on JDK {jdks_0}, {second} on {jdks_1}", jdks_0 = jdks[0], jdks_1 = jdks[1])]
    OtherJdk {
        first: String,
        second: String,
        jdks: [Str; 2],
    },

    #[error("{first} and {second} ran different class files of {class}")]
    OtherClass {
        first: String,
        second: String,
        class: String,
    },

    #[error("{name} has numbers so large that no room is left for it beside the others")]
    NoRoom { name: String },
}

/// Writes all of `inputs` to `out` as one trace.
pub fn join<R: Read + Seek, W: Write>(
    inputs: &mut [Input<R>],
    out: W,
) -> Result<(W, Joined), JoinError> {
    let same = |a: usize, b: usize| inputs[a].trace.header() == inputs[b].trace.header();
    let pairs = || (0..inputs.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    match pairs().find(|&(a, b)| same(a, b)) {
        None => runs(inputs, out),
        Some((first, second)) => {
            let name = |i: usize| inputs[i].name.clone();
            if let Some(other) = (0..inputs.len()).find(|&i| !same(first, i)) {
                return Err(JoinError::Mixed {
                    first: name(first),
                    second: name(second),
                    other: name(other),
                });
            }
            parts(inputs, out)
        }
    }
}

/// Parts of one run, in whatever order.
fn parts<R: Read + Seek, W: Write>(
    inputs: &mut [Input<R>],
    out: W,
) -> Result<(W, Joined), JoinError> {
    let order = places(inputs)?;
    let tables = one_meaning(inputs)?;
    let footer = footer_of(inputs);
    let (Some((start, _)), Some((end, _))) = (
        order.first().map(|(p, i)| (p.start, i)),
        order.last().map(|(p, i)| (p.end, i)),
    ) else {
        return Ok((out, Joined::default())); // nothing to join
    };
    let mut to = LinearWriter::new(out, inputs[0].trace.header())?;
    to.writer().tables(&tables)?;
    let mut have = FxHashSet::default();
    let mut joined = Joined {
        runs: 1,
        ..Joined::default()
    };
    for (_, i) in order {
        let Input { name, trace } = &mut inputs[i];
        let read = |source| read(name, source);
        for class in trace.recorded_classes().collect::<Vec<_>>() {
            if have.insert(class)
                && let Some(bytes) = trace.class_bytes(class).map_err(read)?
            {
                to.writer().class_bytes(class, &bytes)?;
            }
        }
        let mut events = trace.all_events();
        let mut missing = 0;
        while let Some(item) = events.next_item().map_err(read)? {
            if events.missing() != missing {
                missing = events.missing();
                to.gap();
            }
            to.push(&item.event)?;
            joined.events += 1;
        }
    }
    to.writer().part(&Part::Places(start..end))?;
    Ok((end_with(to, footer)?, joined))
}

/// The parts in the order of the run, each with its place in it.
fn places<R>(inputs: &[Input<R>]) -> Result<Vec<(Range<u64>, usize)>, JoinError> {
    let mut order = Vec::new();
    for (i, input) in inputs.iter().enumerate() {
        match input.trace.part() {
            Some(Part::Places(places)) => order.push((places.clone(), i)),
            _ => {
                let name = |i: usize| inputs.get(i).map(|i| i.name.clone()).unwrap_or_default();
                return Err(JoinError::Unplaced {
                    first: name(0),
                    second: name(1),
                    unplaced: input.name.clone(),
                });
            }
        }
    }
    order.sort_by_key(|(places, _)| (places.start, places.end));
    for pair in order.windows(2) {
        let [(before, a), (after, b)] = pair else {
            continue;
        };
        let (first, second) = (inputs[*a].name.clone(), inputs[*b].name.clone());
        if after.start < before.end && !after.is_empty() {
            return Err(JoinError::Overlap {
                first,
                second,
                places: after.start..before.end.min(after.end),
            });
        }
        if after.start > before.end {
            return Err(JoinError::Missing {
                first,
                second,
                places: before.end..after.start,
            });
        }
    }
    Ok(order)
}

/// All rows; the same number must mean the same in all parts.
fn one_meaning<R>(inputs: &[Input<R>]) -> Result<Tables, JoinError> {
    let mut all = Tables::default();
    for input in inputs {
        let t = input.trace.tables();
        let clash = add(&mut all.sites, &t.sites, |id| ("statements", id.0.into()))
            .or_else(|| add(&mut all.fields, &t.fields, |&id| ("fields", id.into())))
            .or_else(|| add(&mut all.threads, &t.threads, |id| ("threads", id.0.into())))
            .or_else(|| add(&mut all.objects, &t.objects, |id| ("objects", id.0)))
            .or_else(|| add(&mut all.classes, &t.classes, |&id| ("classes", id.into())))
            .or_else(|| add(&mut all.methods, &t.methods, |&id| ("methods", id.into())));
        if let Some((what, number)) = clash {
            return Err(JoinError::Contradiction {
                first: inputs[0].name.clone(),
                second: input.name.clone(),
                what,
                number,
            });
        }
    }
    Ok(all)
}

/// Adds rows; the first that is there already and different.
fn add<K: Ord + Clone, T: PartialEq + Clone, N>(
    all: &mut BTreeMap<K, T>,
    rows: &BTreeMap<K, T>,
    name: impl Fn(&K) -> N,
) -> Option<N> {
    for (id, row) in rows {
        let known = all.entry(id.clone()).or_insert_with(|| row.clone());
        if known != row {
            return Some(name(id));
        }
    }
    None
}

/// Runs, one after the other.
fn runs<R: Read + Seek, W: Write>(
    inputs: &mut [Input<R>],
    out: W,
) -> Result<(W, Joined), JoinError> {
    one_program(inputs)?;
    let footer = footer_of(inputs);
    let Some(first) = inputs.first() else {
        return Ok((out, Joined::default()));
    };
    let header = RunHeader {
        ordered: inputs.iter().all(|input| input.trace.header().ordered),
        ..first.trace.header().clone()
    };
    let mut to = LinearWriter::new(out, &header)?;
    let mut numbers = Numbers::default();
    let mut have = FxHashSet::default();
    let mut joined = Joined::default();
    for Input { name, trace } in inputs {
        let no_room = || JoinError::NoRoom { name: name.clone() };
        let read = |source| read(name, source);
        let (mut new, rows) = Renumber::new(&mut numbers, trace.tables()).ok_or_else(no_room)?;
        to.writer().tables(&rows)?;
        for class in trace.recorded_classes().collect::<Vec<_>>() {
            let number = new.class(class).ok_or_else(no_room)?;
            if have.insert(number)
                && let Some(bytes) = trace.class_bytes(class).map_err(read)?
            {
                to.writer().class_bytes(number, &bytes)?;
            }
        }
        let mut events = trace.events();
        while let Some(item) = events.next_item().map_err(read)? {
            to.push(&new.event(&item.event).ok_or_else(no_room)?)?;
            joined.events += 1;
        }
        if events.gap().is_some() {
            joined.cut_short.push(name.clone());
        }
        new.done();
        joined.runs += 1;
    }
    Ok((end_with(to, footer)?, joined))
}

/// Whether what ran was the same in all of them.
fn one_program<R>(inputs: &[Input<R>]) -> Result<(), JoinError> {
    // By class name: who had it first, and what it was there.
    let mut seen: FxHashMap<Str, (usize, FxHashSet<&[u8]>)> = FxHashMap::default();
    for (i, input) in inputs.iter().enumerate() {
        let names = |first: usize| (inputs[first].name.clone(), input.name.clone());
        let jdks = [inputs[0].trace.header(), input.trace.header()].map(|h| h.jdk.clone());
        if jdks[0] != jdks[1] {
            let (first, second) = names(0);
            return Err(JoinError::OtherJdk {
                first,
                second,
                jdks,
            });
        }
        // Classes made at run time have no source file, and differ from run to run.
        let tables = input.trace.tables();
        let written: FxHashSet<&Str> = tables
            .sites
            .values()
            .filter(|s| s.file.is_some())
            .map(|s| &s.class)
            .collect();
        // A name may mean several classes, of several loaders.
        let mut here: FxHashMap<Str, FxHashSet<&[u8]>> = FxHashMap::default();
        for class in tables.classes.values() {
            if !class.hash.is_empty() && written.contains(&class.name) {
                here.entry(class.name.clone())
                    .or_default()
                    .insert(&class.hash);
            }
        }
        for (class, hashes) in here {
            let (first, known) = seen.entry(class.clone()).or_insert((i, hashes.clone()));
            if known.is_disjoint(&hashes) {
                let (first, second) = names(*first);
                return Err(JoinError::OtherClass {
                    first,
                    second,
                    class: encoding::names::dotted(&class),
                });
            }
        }
    }
    Ok(())
}

/// One footer for all; `None` if one of them has none.
fn footer_of<R>(inputs: &[Input<R>]) -> Option<Footer> {
    let mut all: Option<Footer> = None;
    for input in inputs {
        let footer = input.trace.footer()?;
        match &mut all {
            None => all = Some(footer.clone()),
            Some(all) => {
                if all.exit_code != footer.exit_code {
                    all.exit_code = None;
                }
                all.classes_instrumented =
                    all.classes_instrumented.max(footer.classes_instrumented);
                for skipped in &footer.skipped {
                    if !all.skipped.contains(skipped) {
                        all.skipped.push(skipped.clone());
                    }
                }
            }
        }
    }
    all
}

fn end_with<W: Write>(to: LinearWriter<W>, footer: Option<Footer>) -> io::Result<W> {
    match footer {
        Some(footer) => to.finish(footer),
        None => to.abandon(),
    }
}

fn read(name: &str, source: Error) -> JoinError {
    JoinError::Read {
        name: name.to_owned(),
        source,
    }
}
