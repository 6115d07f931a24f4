//! What a run says, before it becomes a report: the lines of `findings.jsonl`
//! and the object of `summary.json`, both written by the agent into the run
//! directory. Detectors that work on a stored trace speak the same vocabulary,
//! so everything downstream has one input.
//!
//! Parsing is lenient where a killed program may have left half a line, and
//! nowhere silent: what could not be read comes back as a complaint.

use crate::control::{ControlSummary, Hit, Standstill, Uncaught};
use crate::result::Hidden;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// One place in the program, as stack traces name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Frame {
    /// Binary name with dots: `a.b.C$D`.
    pub class: String,
    #[serde(default)]
    pub method: String,
    /// The method's descriptor, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desc: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bci: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessOp {
    Read,
    Write,
}

/// The memory that two accesses race on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Location {
    Field {
        class: String,
        field: String,
        #[serde(default, rename = "static", skip_serializing_if = "is_false")]
        is_static: bool,
    },
    Array {
        /// The array's type as Java writes it: `int[]`.
        #[serde(deserialize_with = "null_is_default")]
        array: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<u32>,
        /// The field the array was read from, `Class.field`, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        allocated: Option<Frame>,
    },
}

impl Location {
    /// Whether it belongs to a class of the JDK.
    pub fn in_jdk(&self) -> bool {
        self.is_jdks().unwrap_or(false)
    }

    /// The same, if it is known whose it is. A local variable or a parameter is
    /// nobody's: anything may be handed to a method.
    fn is_jdks(&self) -> Option<bool> {
        match self {
            Location::Field { class, .. } => Some(in_jdk(class)),
            Location::Array {
                from, allocated, ..
            } => {
                let of_method =
                    |from: &&String| from.starts_with("local ") || from.starts_with("parameter ");
                let member = from.as_ref().filter(|from| !of_method(from));
                let class = member.or(allocated.as_ref().map(|at| &at.class));
                class.map(|class| in_jdk(class))
            }
        }
    }
}

/// Whether a class, by its binary name, comes with the JDK.
pub fn in_jdk(class: &str) -> bool {
    ["java.", "javax.", "jdk.", "sun.", "com.sun."]
        .iter()
        .any(|p| class.starts_with(p))
}

fn is_false(b: &bool) -> bool {
    !*b
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Thread {
    #[serde(default)]
    pub id: u64,
    #[serde(default)]
    pub name: String,
    /// The stack of the `start()` call; empty for `main` and where unknown.
    #[serde(default)]
    pub created: Vec<Frame>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Access {
    pub op: AccessOp,
    #[serde(default, deserialize_with = "null_is_default")]
    pub thread: Thread,
    #[serde(default, deserialize_with = "null_is_default")]
    pub frame: Frame,
    #[serde(default)]
    pub stack: Vec<Frame>,
    /// False when the stack was rebuilt later and may be off above the
    /// innermost frame.
    #[serde(default = "yes")]
    pub stack_exact: bool,
    /// Locks held; absent where nobody kept them, which is not the same as
    /// none.
    #[serde(default)]
    pub locks: Option<Vec<String>>,
}

fn yes() -> bool {
    true
}

/// What the agent could not find out is null; the race is still a race.
fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Race {
    pub detector: String,
    /// Numbers of the two statements within the run.
    #[serde(default)]
    pub sites: Option<[u64; 2]>,
    pub location: Location,
    /// In the order in which the run did them.
    pub accesses: [Access; 2],
    /// Where the object was allocated (for arrays see the location).
    #[serde(default)]
    pub allocated: Option<Frame>,
    #[serde(default = "once")]
    pub count: u64,
}

fn once() -> u64 {
    1
}

impl Race {
    /// See [`may_be_jdks`].
    pub fn may_be_jdks(&self) -> bool {
        let frames = self.accesses.iter();
        let frames = frames.flat_map(|a| a.stack.iter().chain([&a.frame]));
        may_be_jdks(&self.location, frames)
    }
}

/// Whether a race with these frames may be the JDK's own affair: no code of the
/// program is known to be part of it. The JDK uses its collections behind locks
/// that are not watched; recordings do not say who called there.
pub fn may_be_jdks<'f>(location: &Location, mut frames: impl Iterator<Item = &'f Frame>) -> bool {
    location.is_jdks().unwrap_or(true) && frames.all(|frame| in_jdk(&frame.class))
}

/// A repair of the program that was to be tried.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Tried {
    /// As the agent was told.
    pub repair: String,
    /// Why it was not made, if it was not.
    #[serde(default)]
    pub why: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Skipped {
    pub class: String,
    /// Absent when the whole class was left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    pub why: String,
}

/// A line of `findings.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Line {
    Race(Box<Race>),
    Skipped(Skipped),
    Warning {
        text: String,
    },
    /// The race of these two statements, in either order, has now been seen
    /// `count` times.
    Count {
        sites: [u64; 2],
        count: u64,
    },
    Hit(Box<Hit>),
    Deadlock(Standstill),
    Livelock(Standstill),
    Uncaught(Uncaught),
    /// The run did not get on inside the JVM or in native code.
    Stuck {
        why: String,
        #[serde(default)]
        dump: String,
    },
    Repair(Tried),
    /// Something that the run could not control.
    Uncontrolled {
        what: String,
    },
    /// Something that may order threads and is not looked at.
    Unwatched {
        what: String,
    },
}

/// `summary.json`: written when the JVM ends in an orderly way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Summary {
    #[serde(default)]
    pub classes_instrumented: u64,
    #[serde(default)]
    pub classes_seen: u64,
    /// Absent when they were not counted: FastTrack handles most of them in
    /// compiled code.
    #[serde(default)]
    pub events: Option<u64>,
    /// Threads of the program, without those of the JVM itself.
    #[serde(default)]
    pub threads: u64,
    #[serde(default)]
    pub sites: u64,
    #[serde(default)]
    pub races: u64,
    #[serde(default)]
    pub missing_models: Vec<String>,
    #[serde(default)]
    pub counts: Map<String, Value>,
    #[serde(default)]
    pub ended: String,
    /// Of a controlled run.
    #[serde(default)]
    pub control: Option<ControlSummary>,
    /// Of a run that looked for hidden races.
    #[serde(default)]
    pub hidden: Option<Hidden>,
}

/// Everything one run said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    pub races: Vec<Race>,
    pub skipped: Vec<Skipped>,
    pub warnings: Vec<String>,
    pub hits: Vec<Hit>,
    pub deadlocks: Vec<Standstill>,
    pub livelocks: Vec<Standstill>,
    pub uncaught: Vec<Uncaught>,
    /// Why the run was stuck, and a thread dump.
    pub stuck: Option<(String, String)>,
    pub repairs: Vec<Tried>,
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
                Ok(Line::Race(mut race)) => {
                    for access in &mut race.accesses {
                        // An agent that did not keep the stack did not keep the locks.
                        if access.stack.is_empty() && !access.stack_exact {
                            access.locks = None;
                        }
                    }
                    if let Some([a, b]) = race.sites {
                        by_sites.insert((a.min(b), a.max(b)), found.races.len());
                    }
                    found.races.push(*race);
                }
                Ok(Line::Skipped(skipped)) => found.skipped.push(skipped),
                Ok(Line::Warning { text }) => found.warnings.push(text),
                Ok(Line::Count {
                    sites: [a, b],
                    count,
                }) => {
                    let race = by_sites.get(&(a.min(b), a.max(b))).copied();
                    if let Some(known) = race.and_then(|race| found.races.get_mut(race)) {
                        known.count = known.count.max(count);
                    }
                }
                Ok(Line::Repair(tried)) => found.repairs.push(tried),
                Ok(Line::Hit(hit)) => found.hits.push(*hit),
                Ok(Line::Deadlock(still)) => found.deadlocks.push(still),
                Ok(Line::Livelock(still)) => found.livelocks.push(still),
                Ok(Line::Uncaught(uncaught)) if uncaught.handled => {}
                Ok(Line::Uncaught(uncaught)) => found.uncaught.push(uncaught),
                Ok(Line::Stuck { why, dump }) => found.stuck = Some((why, dump)),
                Ok(Line::Uncontrolled { what }) => {
                    found.warnings.push(format!("not under control: {what}"));
                }
                Ok(Line::Unwatched { what }) => found.unwatched.push(what),
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
            from: from.map(str::to_owned),
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
        assert!(!array(local, None).in_jdk());
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
            r#"{"kind":"deadlock","cycle":true,"threads":[{"thread":"a","waits_for":"a monitor","held_by":null,"since":["A.m(A.java:3)"],"holds":["B"]}]}"#,
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
        assert_eq!(found.warnings, ["not under control: SecureRandom"]);
    }

    #[test]
    fn an_array_is_not_taken_for_a_field() {
        let location: Location =
            serde_json::from_str(r#"{"array":"int[]","index":3,"from":"Foo.table"}"#).unwrap();
        assert!(matches!(location, Location::Array { index: Some(3), .. }));
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
