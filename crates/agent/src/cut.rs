//! Runs that are ended before the program ends them: when it prints a certain text, after
//! some time, or after some requests. That is an end in order: everything found is written, as
//! after `Runtime.halt(0)`.
//!
//! In a controlled run time is the program's own, virtual time, and a thread prints when it has
//! its turn: the same seed is cut at the same step.

use crate::Agent;
use crate::natives::exit_now;
use protocol::{Cut, RunEnd};
use std::sync::Mutex;
use std::time::Duration;

/// Bytes of a line that are looked at.
const MOST: usize = 64 << 10;

/// What standard output and standard error had on their last lines.
#[derive(Debug, Default)]
pub struct Lines {
    last: Mutex<[Vec<u8>; 2]>,
}

impl Lines {
    /// Takes in what is printed; whether a line contains the text, in which `*` stands for anything.
    pub fn print(&self, file: i32, bytes: &[u8], text: &str) -> bool {
        let mut last = self.last.lock().unwrap_or_else(|e| e.into_inner());
        let Some(line) = last.get_mut((file - 1) as usize) else {
            return false;
        };
        let mut found = false;
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = MOST.saturating_sub(line.len());
            line.extend(part.iter().take(room));
            found |= contains(&String::from_utf8_lossy(line), text);
            if part.ends_with(b"\n") {
                line.clear();
            }
        }
        found
    }
}

/// The parts between stars, one after the other: taking each where it first occurs leaves most
/// room for those after it.
fn contains(line: &str, text: &str) -> bool {
    let mut rest = line;
    text.split('*').all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

impl Agent {
    /// Ends the run.
    pub fn end_here(&self) -> ! {
        self.finish_with(RunEnd::Exit);
        exit_now(0)
    }

    /// The program has printed this, to standard output or standard error.
    pub fn has_printed(&self, file: i32, bytes: &[u8]) {
        let Cut { text, .. } = &self.options.cut;
        if let Some(text) = text
            && self.lines.print(file, bytes, text)
        {
            self.end_here();
        }
    }

    /// The program has written to a connection.
    pub fn has_written(&self, file: i32) {
        let answered = self.exchanges.written(file);
        let most = self.options.cut.requests;
        if answered.zip(most).is_some_and(|(n, most)| n >= most) {
            self.end_here();
        }
    }

    /// The run ends before the requests came for which it was to go on.
    pub fn warn_of_few_requests(&self) {
        let answered = self.exchanges.answered();
        let Some(most) = self.options.cut.requests.filter(|most| answered < *most) else {
            return;
        };
        self.findings.warn(format!(
            "the run was to end after {most} requests and ended after {answered}: those count that \
             the program reads and answers through the JDK's own sockets"
        ));
    }

    /// A free run is ended by the clock on the wall.
    pub fn cut_by_the_clock(&'static self) {
        let Some(millis) = self.options.cut.millis.filter(|_| self.control.is_none()) else {
            return;
        };
        let thread = std::thread::Builder::new().name("photofinish cut".into());
        let started = thread.spawn(move || {
            std::thread::sleep(Duration::from_millis(millis));
            self.end_here();
        });
        if let Err(e) = started {
            crate::complain!("cannot start a thread ({e}): the run is not cut");
        }
    }

    /// Whether a controlled run is over at this time, in nanoseconds since its start.
    pub fn is_cut_at(&self, nanos: u64) -> bool {
        let millis = self.options.cut.millis;
        millis.is_some_and(|millis| nanos / 1_000_000 >= millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_however_a_line_is_printed() {
        let lines = Lines::default();
        assert!(!lines.print(1, b"server rea", "ready for"));
        assert!(
            !lines.print(2, b"dy for requests\n", "ready for"),
            "another stream"
        );
        assert!(lines.print(1, b"dy for requests\nnext", "ready for"));
        assert!(!lines.print(1, b" line\n", "ready for"), "lines end");
        assert!(!lines.print(1, b"ready\nfor\n", "ready for"), "two lines");
        assert!(!lines.print(3, b"ready for", "ready for"), "a file");
    }

    #[test]
    fn a_star_stands_for_anything() {
        for (text, matches) in [
            ("Started*seconds", true),
            ("Started *.5 seconds", true),
            ("*Started*", true),
            ("seconds*Started", false),
            ("Started*Started", false),
            ("in 2.5 seconds", true),
        ] {
            assert_eq!(
                contains("[main] Started App in 2.5 seconds", text),
                matches,
                "{text}"
            );
        }
    }
}
