//! A part of a trace as a trace of its own: some events, all tables.
//!
//! The part is well-formed as a file, says which part it is (so that
//! [`crate::join`] can put parts together again), and its events keep their order.
//! Synchronisation is numbered anew. A part that begins in the middle of a run
//! may release locks that it never saw acquired and continue threads that it
//! never saw begin; detectors must and do bear that. Leaving threads out
//! leaves out the orderings that went through them.

use std::collections::BTreeSet;
use std::io::{Read, Seek, Write};
use std::ops::Range;

use crate::error::Error;
use crate::event::ThreadId;
use crate::linear::LinearWriter;
use crate::merge::Gap;
use crate::reader::Trace;
use crate::tables::Part;

/// Which events to keep: those that meet all conditions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Places in the merged order, from 0.
    pub events: Range<u64>,
    /// Sequence numbers (accesses: of the synchronisation before them).
    pub seqs: Range<u64>,
    /// `None`: all threads.
    pub threads: Option<BTreeSet<ThreadId>>,
    /// Also what lies behind gaps; gaps between kept events remain visible.
    pub across_gaps: bool,
}

impl Default for Cut {
    /// Everything up to the first gap.
    fn default() -> Self {
        Cut {
            events: 0..u64::MAX,
            seqs: 0..u64::MAX,
            threads: None,
            across_gaps: false,
        }
    }
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    pub events: u64,
    /// The first place at which synchronisation is missing in what was read.
    pub gap: Option<Gap>,
}

/// Writes the chosen part to `out`; returns `out` and what was kept.
///
/// The footer is kept, with new counts; a trace without one stays without. If
/// reading fails at a chunk that makes no sense, what came before it has been
/// written to `out` when the error is returned.
pub fn cut<R: Read + Seek, W: Write>(
    trace: &mut Trace<R>,
    what: &Cut,
    out: W,
) -> Result<(W, Kept), Error> {
    let mut to = LinearWriter::new(out, trace.header())?;
    to.writer().tables(trace.tables())?;
    for class in trace.recorded_classes().collect::<Vec<_>>() {
        if let Some(bytes) = trace.class_bytes(class)? {
            to.writer().class_bytes(class, &bytes)?;
        }
    }
    let footer = trace.footer().cloned();
    let of = trace.part().cloned();
    let copied = copy_events(trace, what, &mut to);
    if let Ok(places) = &copied {
        to.writer().part(&part(of, what, places))?;
    }
    let out = match footer {
        Some(footer) if copied.is_ok() => to.finish(footer)?,
        _ => to.abandon()?,
    };
    let places = copied?;
    let kept = Kept {
        events: places.kept,
        gap: places.gap,
    };
    Ok((out, kept))
}

/// The places of the events kept.
struct Places {
    first: u64,
    end: u64,
    kept: u64,
    gap: Option<Gap>,
}

/// Which part of the run this is, given which part it was cut from.
fn part(of: Option<Part>, what: &Cut, places: &Places) -> Part {
    let base = match of {
        None => 0,
        Some(Part::Places(places)) => places.start,
        Some(Part::SomeThreads) => return Part::SomeThreads,
    };
    // The order is that of the numbers, so these conditions keep a stretch of it.
    match what.threads {
        None => Part::Places(base.saturating_add(places.first)..base.saturating_add(places.end)),
        Some(_) => Part::SomeThreads,
    }
}

fn copy_events<R: Read + Seek, W: Write>(
    trace: &mut Trace<R>,
    what: &Cut,
    to: &mut LinearWriter<W>,
) -> Result<Places, Error> {
    let mut events = if what.across_gaps {
        trace.all_events()
    } else {
        trace.events()
    };
    let mut place = 0;
    let (mut kept, mut first) = (0, 0);
    let mut missing = 0;
    while let Some(item) = events.next_item()? {
        if place >= what.events.end {
            break;
        }
        let here = place;
        place += 1;
        let thread = item.event.thread;
        let wanted = what.events.contains(&here)
            && what.seqs.contains(&item.seq)
            && what.threads.as_ref().is_none_or(|t| t.contains(&thread));
        if !wanted {
            continue;
        }
        if events.missing() != missing {
            missing = events.missing();
            // Nothing is missing before the first event kept.
            if kept > 0 {
                to.gap();
            }
        }
        to.push(&item.event)?;
        if kept == 0 {
            first = here;
        }
        kept += 1;
    }
    Ok(Places {
        first,
        end: first + kept,
        kept,
        gap: events.gap(),
    })
}
