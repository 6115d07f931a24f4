//! Words on standard error, and answers on standard output. Where words cannot be written (a full
//! disk, a reader that has gone) there is nobody to tell: the work and its exit code do not depend
//! on it. An answer that cannot be written is a failure, unless its reader has seen enough.
//! Clippy refuses `println!` and its like in this crate: they panic.

use crate::exit::Failure;
use anyhow::Context;
use std::io::{ErrorKind, Write};

/// As `eprintln!`, which panics instead.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}

/// As `eprint!`.
macro_rules! say_on {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = write!(std::io::stderr(), $($text)*);
    }};
}

pub(crate) use {say, say_on};

/// Writes an answer to standard output.
pub fn answer(text: impl AsRef<[u8]>) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let done = out.write_all(text.as_ref()).and_then(|()| out.flush());
    match done {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other.context("cannot write to standard output")?),
    }
}
