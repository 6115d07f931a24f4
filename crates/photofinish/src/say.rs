//! Words on standard error. Where they cannot be written (a full disk, a reader that has gone)
//! there is nobody to tell: the work and its exit code do not depend on it.

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
