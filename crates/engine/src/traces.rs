//! Trace files: opening them, saying what they lack, and taking the beginning of one.

use crate::error::{Context, Error};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use trace::{Cut, Ending, Gap, Trace};

pub type TraceFile = Trace<File>;

/// Opens a trace; one that is none is the user's error.
pub fn open(path: &Path) -> Result<TraceFile, Error> {
    let file = File::open(path).map_err(Error::from);
    file.and_then(|file| Ok(Trace::open(file)?))
        .with_context(|| format!("cannot read {}", path.display()))
        .or_usage()
}

/// What a trace lacks of its run, in sentences; none if it is whole. Whoever looks at a trace
/// looks at what is there, says these, and does not call it clean.
pub fn missing<R>(trace: &Trace<R>, gap: Option<Gap>) -> Vec<String> {
    let (_, bytes) = trace.sizes();
    let percent = |offset: u64| 100.0 * (bytes - offset) as f64 / bytes.max(1) as f64;
    let (end, is_damaged) = match *trace.ending() {
        Ending::Finished => (None, false),
        Ending::Unfinished => (
            Some(
                match trace.part() {
                    None => "the trace ends before the program did: races after that are not in it",
                    Some(_) => {
                        "the trace is a part of one that has no end, because it was cut off or damaged, \
                         or because the program was killed: races after that are not in it"
                    }
                }
                .to_owned(),
            ),
            false,
        ),
        Ending::Truncated { offset } => (
            Some(format!(
                "the trace is cut off at byte {bytes}, within the chunk at byte {offset}: that chunk \
                 ({:.1} % of the file) and whatever followed are lost; what came before was looked at",
                percent(offset)
            )),
            true,
        ),
        Ending::Damaged { offset, what } => (
            Some(format!(
                "the trace is damaged at byte {offset} of {bytes} ({what}): {:.1} % of the file, from \
                 there to its end, is lost; what came before was looked at",
                percent(offset)
            )),
            true,
        ),
    };
    let gap = gap.map(|gap| {
        let with = if is_damaged {
            "that part"
        } else {
            "the program"
        };
        format!(
            "synchronisation events from number {} on were lost with {with}: \
             what came after them was not looked at",
            gap.first
        )
    });
    end.into_iter().chain(gap).collect()
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
