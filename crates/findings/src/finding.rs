//! What a run said, before it becomes a report: the lines of `findings.jsonl` and
//! the object of `summary.json` ([`protocol`] has their types), put together.
//!
//! Parsing is lenient where a killed program may have left half a line, and
//! nowhere silent: what could not be read comes back as a complaint.

pub use protocol::control::{
    Caught, ControlSummary, Divergence, Hit, StaleRead, StuckThreads, Uncaught, Uncontrolled,
    Waiting,
};
pub use protocol::finding::{
    Access, AccessOp, ArraySource, Frame, Line, Location, Race, Skipped, Thread, Tried,
};
pub use protocol::summary::Summary;
use std::collections::HashMap;

/// Whether a location belongs to a class of the JDK.
pub fn is_jdks(location: &Location) -> bool {
    location.is_jdk().unwrap_or(false)
}

/// Whether the race may be the JDK's own affair, see [`may_be_jdks`].
pub fn race_may_be_jdks(race: &Race) -> bool {
    let frames = race.accesses.iter();
    let frames = frames.flat_map(|a| a.stack.iter().chain([&a.frame]));
    may_be_jdks(&race.location, frames)
}

/// Whether a race with these frames may be the JDK's own affair: no code of the
/// program is known to be part of it. The JDK uses its collections behind locks
/// that are not watched; recordings do not say who called there.
pub fn may_be_jdks<'f>(location: &Location, mut frames: impl Iterator<Item = &'f Frame>) -> bool {
    location.is_jdk().unwrap_or(true) && frames.all(Frame::is_jdk)
}

/// Where a thread is, for telling places apart: its last frame, and the last that is the
/// program's. Many wait in `Object.wait` or `Thread.join`, called from different lines.
pub fn place(stack: &[Frame]) -> [Option<&Frame>; 2] {
    [stack.first(), stack.iter().find(|frame| !frame.is_jdk())]
}

/// Everything one run said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    pub races: Vec<Race>,
    pub skipped: Vec<Skipped>,
    pub warnings: Vec<String>,
    pub hits: Vec<Hit>,
    /// Reads that saw older writes.
    pub stale: Vec<StaleRead>,
    pub deadlocks: Vec<StuckThreads>,
    pub livelocks: Vec<StuckThreads>,
    pub uncaught: Vec<Uncaught>,
    pub caught: Vec<Caught>,
    /// Why the run was stuck, and a thread dump.
    pub stuck: Option<(String, String)>,
    pub repairs: Vec<Tried>,
    /// What decided about the run and was not under control.
    pub uncontrolled: Vec<Uncontrolled>,
    /// What may have ordered threads unseen.
    pub unwatched: Vec<String>,
    /// None: the program was killed or halted before the agent could write it.
    pub summary: Option<Summary>,
}

impl Findings {
    /// Neither a finding nor a summary.
    pub fn says_nothing(&self) -> bool {
        *self == Findings::default()
    }

    /// Its warnings, and what was not under control, in words.
    pub fn all_warnings(&self) -> impl Iterator<Item = String> {
        let uncontrolled = self.uncontrolled.iter().map(ToString::to_string);
        self.warnings.iter().cloned().chain(uncontrolled)
    }

    /// Reads the text of `findings.jsonl`. A last line without its newline was
    /// being written when the program died and is left out if it is no whole
    /// object; any other unreadable line becomes a warning.
    pub fn parse(bytes: &[u8]) -> Findings {
        let mut found = Findings::default();
        let mut by_sites = HashMap::new();
        let mut unreadable = 0u64;
        let mut first_error = String::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (line, torn) = match rest.iter().position(|&b| b == b'\n') {
                Some(end) => {
                    let (line, tail) = rest.split_at(end);
                    rest = tail.get(1..).unwrap_or_default();
                    (line, false)
                }
                None => (std::mem::take(&mut rest), true),
            };
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            match serde_json::from_slice::<Line>(line) {
                Ok(line) => found.add(line, &mut by_sites),
                Err(_) if torn => {}
                Err(error) => {
                    unreadable += 1;
                    if first_error.is_empty() {
                        first_error = error.to_string();
                    }
                }
            }
        }
        if unreadable > 0 {
            found.warnings.push(format!(
                "{unreadable} line(s) of findings.jsonl could not be read (the first: {first_error}); \
                 findings may be missing"
            ));
        }
        found
    }

    /// What a worker's answer holds.
    pub fn from_lines(lines: Vec<Line>) -> Findings {
        let mut found = Findings::default();
        let mut by_sites = HashMap::new();
        for line in lines {
            found.add(line, &mut by_sites);
        }
        found
    }

    /// `by_sites` finds races by their statements, for counts that come later.
    fn add(&mut self, line: Line, by_sites: &mut HashMap<(u64, u64), usize>) {
        match line {
            Line::Race(mut race) => {
                for access in &mut race.accesses {
                    // An agent that did not keep the stack did not keep the locks.
                    if access.stack.is_empty() && !access.stack_exact {
                        access.locks = None;
                    }
                }
                if let Some([a, b]) = race.sites {
                    by_sites.insert((a.min(b), a.max(b)), self.races.len());
                }
                self.races.push(*race);
            }
            Line::Skipped(skipped) => self.skipped.push(skipped),
            Line::Warning { text } => self.warnings.push(text),
            Line::Count {
                sites: [a, b],
                count,
            } => {
                let race = by_sites.get(&(a.min(b), a.max(b))).copied();
                if let Some(known) = race.and_then(|race| self.races.get_mut(race)) {
                    known.count = known.count.max(count);
                }
            }
            Line::Repair(tried) => self.repairs.push(tried),
            Line::Hit(hit) => self.hits.push(*hit),
            Line::Stale(stale) => self.stale.push(*stale),
            Line::Deadlock(still) => self.deadlocks.push(still),
            Line::Livelock(still) => self.livelocks.push(still),
            Line::Uncaught(uncaught) if uncaught.handled => {}
            Line::Uncaught(uncaught) => self.uncaught.push(uncaught),
            Line::Caught(caught) => self.caught.push(*caught),
            Line::Stuck { why, dump } => self.stuck = Some((why, dump)),
            Line::Uncontrolled(what) => self.uncontrolled.push(what),
            Line::Unwatched { what } => self.unwatched.push(what),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RACE: &str = r#"{"kind":"race","detector":"fasttrack","sites":[7,3],"location":{"class":"Bank","field":"total","static":true},"accesses":[{"op":"write","thread":{"id":1,"name":"a","created":[]},"frame":{"class":"Bank","method":"put","file":"Bank.java","line":4,"bci":7},"stack":[],"stack_exact":true,"locks":[]},{"op":"read","thread":{"id":0,"name":"main"},"frame":{"class":"Bank","method":"get"}}],"allocated":null,"count":1}"#;

    #[test]
    fn an_array_in_a_local_of_the_jdk_is_not_the_programs() {
        let frame = |class: &str| Frame {
            class: class.to_owned(),
            ..Frame::default()
        };
        let array = |from: Option<&str>, allocated: Option<&str>| Location::Array {
            array: "java.lang.Object[]".to_owned(),
            index: None,
            from: from.map(ArraySource::from),
            jdk: None,
            allocated: allocated.map(frame),
        };
        let inside = [frame("java.util.HashMap")];
        let called = [frame("java.util.Arrays"), frame("com.shop.Bank")];
        let local = Some("local newTab");
        let map = Some("java.util.HashMap");
        assert!(may_be_jdks(&array(local, map), inside.iter()));
        assert!(may_be_jdks(&array(local, None), inside.iter()));
        assert!(may_be_jdks(&array(None, None), inside.iter()));
        // The program made it, holds it, or is known to have called.
        let bank = Some("com.shop.Bank");
        assert!(!may_be_jdks(
            &array(Some("parameter a"), bank),
            inside.iter()
        ));
        let field = Some("com.shop.Bank.all");
        assert!(!may_be_jdks(&array(field, map), inside.iter()));
        assert!(!may_be_jdks(&array(local, map), called.iter()));
        assert!(!is_jdks(&array(local, None)));
    }

    #[test]
    fn reads_every_kind_of_line() {
        let text = format!(
            "{RACE}\n{}\n{}\n{}\n",
            r#"{"kind":"skipped","class":"Huge","method":"m","why":"would pass 64 KiB"}"#,
            r#"{"kind":"warning","text":"w"}"#,
            r#"{"kind":"count","sites":[3,7],"count":9}"#,
        );
        let found = Findings::parse(text.as_bytes());
        assert_eq!(found.races.len(), 1);
        assert_eq!(found.races[0].count, 9);
        assert_eq!(found.skipped.len(), 1);
        assert_eq!(found.warnings, ["w"]);
    }

    #[test]
    fn reads_what_controlled_runs_say() {
        let text = concat!(
            r#"{"kind":"hit","step":3,"first":{"op":"read","frame":{"class":"A"}},"second":{"op":"write","frame":{"class":"B"}}}"#,
            "\n",
            r#"{"kind":"deadlock","cycle":true,"threads":[{"thread":"a","waits_for":"a monitor","held_by":null,"stack":[{"class":"A","line":3}],"holds":["B"]}]}"#,
            "\n",
            r#"{"kind":"livelock","threads":[]}"#,
            "\n",
            r#"{"kind":"uncaught","thread":"main","exception":"java.lang.Error: x","stack":[{"class":"A","method":"m"}]}"#,
            "\n",
            r#"{"kind":"uncaught","handled":true,"thread":"t","exception":"java.lang.Error"}"#,
            "\n",
            r#"{"kind":"stuck","why":"native code","dump":"..."}"#,
            "\n",
            r#"{"kind":"uncontrolled","what":"SecureRandom"}"#,
            "\n",
        );
        let found = Findings::parse(text.as_bytes());
        assert_eq!(found.hits.len(), 1);
        assert_eq!(found.deadlocks[0].threads[0].stack[0].line, Some(3));
        assert_eq!(found.livelocks.len(), 1);
        assert_eq!(found.uncaught.len(), 1, "a handled one is none");
        assert_eq!(found.uncaught[0].class(), "java.lang.Error");
        assert_eq!(found.stuck, Some(("native code".into(), "...".into())));
        let words = found.uncontrolled[0].to_string();
        assert_eq!(words, "not under control: SecureRandom");
    }

    #[test]
    fn a_count_for_a_race_that_is_not_there_is_harmless() {
        let found = Findings::parse(b"{\"kind\":\"count\",\"sites\":[1,2],\"count\":2}\n");
        assert_eq!(found, Findings::default());
    }

    #[test]
    fn what_the_agent_does_not_know_does_not_lose_the_race() {
        let text = r#"{"kind":"race","detector":"h","location":{"array":null},"accesses":[{"op":"read","thread":null,"frame":null,"stack":[],"stack_exact":false,"locks":[]},{"op":"write","thread":null,"frame":null}]}"#;
        let found = Findings::parse(text.as_bytes());
        assert_eq!(found.races.len(), 1);
        assert_eq!(found.races[0].accesses[0].locks, None);
    }

    #[test]
    fn a_bad_line_in_the_middle_is_reported_and_the_rest_read() {
        let found = Findings::parse(format!("{{\"kind\":\n{RACE}\n").as_bytes());
        assert_eq!(found.races.len(), 1);
        assert_eq!(found.warnings.len(), 1);
    }

    #[test]
    fn any_truncation_yields_the_whole_lines_and_no_complaint() {
        let text = format!("{RACE}\n{RACE}\n");
        for end in 0..=text.len() {
            let found = Findings::parse(&text.as_bytes()[..end]);
            // A line is whole once its closing brace is there.
            let whole = usize::from(end >= RACE.len()) + usize::from(end > 2 * RACE.len());
            assert_eq!(found.races.len(), whole, "cut at {end}");
            assert!(found.warnings.is_empty(), "cut at {end}");
        }
    }
}
