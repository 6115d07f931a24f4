//! Trace files: opening them, and taking the beginning of one.

use crate::error::{Context, Error};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use trace::{Cut, Trace};

pub type TraceFile = Trace<File>;

/// Opens a trace; one that is none is the user's error.
pub fn open(path: &Path) -> Result<TraceFile, Error> {
    let file = File::open(path).map_err(Error::from);
    file.and_then(|file| Ok(Trace::open(file)?))
        .with_context(|| format!("cannot read {}", path.display()))
        .or_usage()
}

/// The beginning of a trace as a file of its own, if it has more events than
/// this; how many it has.
pub fn shorten(path: &Path, to: &Path, most: u64) -> Result<Option<u64>, Error> {
    let mut whole = open(path)?;
    let events = whole.event_count();
    if events <= most {
        return Ok(None);
    }
    let what = Cut {
        events: 0..most,
        seqs: 0..u64::MAX,
        threads: None,
        across_gaps: false,
    };
    let out = File::create(to).with_context(|| format!("cannot write {}", to.display()))?;
    let (out, _) = trace::cut(&mut whole, &what, BufWriter::new(out)).context("cannot cut")?;
    out.into_inner()
        .map_err(|e| e.into_error())
        .context("cannot write the new trace")?;
    Ok(Some(events))
}
