//! What can go wrong with a trace, and what to do about it.

use std::io;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("reading or writing the trace failed: {0}")]
    Io(#[from] io::Error),

    #[error(
        "this is not a Photofinish trace: it does not begin with the signature of one; \
         record it with `photofinish record`, or import RAPID's STD text with `trace convert`"
    )]
    NotATrace,

    #[error(
        "the trace has format version {found}, this build reads version {supported}; \
         use the release of photofinish that recorded it, or a newer one"
    )]
    Version { found: u16, supported: u16 },

    #[error(
        "the trace holds no run header: the recording stopped before it began, \
         or its first bytes were damaged; record again"
    )]
    NoHeader,

    #[error(
        "the chunk at byte {offset} is damaged ({what}); \
         `trace cut` can keep the events before it"
    )]
    Damaged { offset: u64, what: &'static str },

    #[error(
        "sequence number {seq} stands twice in the trace, so the order of events is unknown; \
         this is a defect of the recorder, please report it"
    )]
    DuplicateSeq { seq: u64 },
}
