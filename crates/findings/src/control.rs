//! What a controlled run says besides races: lines of `findings.jsonl` about
//! pairs that stood side by side, deadlocks, exceptions that nobody caught, and
//! the `control` member of `summary.json`.

use crate::finding::{Access, Frame, Location};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Two statements of the pair that was asked for, about to be executed by two
/// threads on the same location: a race, made to happen.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Hit {
    /// The step of the schedule.
    #[serde(default)]
    pub step: u64,
    #[serde(default)]
    pub location: Option<Location>,
    /// Executed first.
    #[serde(deserialize_with = "access")]
    pub first: Access,
    #[serde(deserialize_with = "access")]
    pub second: Access,
}

/// An access as in races, or with its members side by side and the thread by
/// its name only.
fn access<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Access, D::Error> {
    let mut value = Value::deserialize(deserializer)?;
    if value.get("frame").is_none() {
        let frame = value.clone();
        if let Some(members) = value.as_object_mut() {
            members.insert("frame".to_owned(), frame);
        }
    }
    if let Some(name) = value.get("thread").and_then(Value::as_str) {
        let thread = serde_json::json!({ "name": name });
        if let Some(members) = value.as_object_mut() {
            members.insert("thread".to_owned(), thread);
        }
    }
    serde_json::from_value(value).map_err(serde::de::Error::custom)
}

/// A thread that cannot go on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    pub thread: String,
    /// In words: `to enter the monitor of a Fork`.
    #[serde(default)]
    pub waits_for: String,
    /// The thread that would have to let go.
    #[serde(default)]
    pub held_by: Option<String>,
    /// Where it stands.
    #[serde(
        default,
        rename = "stack",
        alias = "since",
        deserialize_with = "frames"
    )]
    pub stack: Vec<Frame>,
    /// What it holds meanwhile.
    #[serde(default)]
    pub holds: Vec<String>,
}

/// Threads that cannot go on, or do so without progress.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Standstill {
    /// They wait for each other in a ring. Otherwise nobody is left who could
    /// wake them.
    #[serde(default)]
    pub cycle: bool,
    #[serde(default)]
    pub threads: Vec<Waiting>,
}

/// An exception that ended a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Uncaught {
    #[serde(default)]
    pub thread: String,
    /// As `toString` has it: class and message.
    #[serde(default)]
    pub exception: String,
    #[serde(default, deserialize_with = "frames")]
    pub stack: Vec<Frame>,
    /// The program has a handler for exceptions of this thread: its own affair.
    #[serde(default)]
    pub handled: bool,
}

impl Uncaught {
    /// The class of the exception.
    pub fn class(&self) -> &str {
        let class = self.exception.split(':').next();
        class.unwrap_or_default().trim()
    }
}

/// Frames as objects, or as stack traces print them.
fn frames<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Frame>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Frame(Frame),
        Text(String),
    }
    let list: Option<Vec<Either>> = Option::deserialize(deserializer)?;
    let frames = list.unwrap_or_default().into_iter().map(|one| match one {
        Either::Frame(frame) => frame,
        Either::Text(text) => printed(&text),
    });
    Ok(frames.collect())
}

/// `a.b.C.m(C.java:12)`, with or without `at ` before it.
fn printed(text: &str) -> Frame {
    let text = text.trim();
    let text = text.strip_prefix("at ").unwrap_or(text);
    let (member, place) = text.split_once('(').unwrap_or((text, ""));
    // A module may stand before the class: java.base/java.util.X.
    let member = member.rsplit_once('/').map_or(member, |(_, rest)| rest);
    let (class, method) = member.rsplit_once('.').unwrap_or(("", member));
    let place = place.trim_end_matches(')');
    let (file, line) = match place.rsplit_once(':') {
        Some((file, line)) => (file, line.parse().ok()),
        None => (place, None),
    };
    let known = file.contains('.');
    Frame {
        class: class.to_owned(),
        method: method.trim().to_owned(),
        file: known.then(|| file.to_owned()),
        line,
        ..Frame::default()
    }
}

/// How a replayed run left its schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Divergence {
    #[serde(default)]
    pub step: u64,
    #[serde(default)]
    pub expected: String,
    #[serde(default)]
    pub got: String,
    #[serde(default)]
    pub why: String,
}

/// The `control` member of `summary.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ControlSummary {
    #[serde(default)]
    pub strategy: String,
    #[serde(default)]
    pub seed: u64,
    #[serde(default)]
    pub steps: u64,
    #[serde(default)]
    pub switches: u64,
    #[serde(default)]
    pub forced_spins: u64,
    #[serde(default)]
    pub ticks: u64,
    #[serde(default)]
    pub digest: Option<String>,
    #[serde(default)]
    pub threads: u64,
    #[serde(default)]
    pub hits: u64,
    /// Which sides of the pair some thread came to.
    #[serde(default)]
    pub reached: [bool; 2],
    #[serde(default)]
    pub divergence: Option<Divergence>,
    /// `exit`, `deadlock`, `livelock`, `stuck` or `limit`.
    #[serde(default)]
    pub outcome: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_of_either_shape() {
        let flat = r#"{"step":4,"first":{"op":"read","thread":"a","class":"C","method":"m","file":"C.java","line":3,"bci":1,"stack":[],"locks":[]},
            "second":{"op":"write","thread":{"id":2,"name":"b"},"frame":{"class":"C","method":"n","line":9}},
            "location":{"class":"C","field":"x"}}"#;
        let hit: Hit = serde_json::from_str(flat).unwrap();
        assert_eq!(
            (hit.first.thread.name.as_str(), hit.first.frame.line),
            ("a", Some(3))
        );
        assert_eq!((hit.second.thread.id, hit.second.frame.line), (2, Some(9)));
        assert!(hit.location.is_some());
        assert!(serde_json::from_str::<Hit>(r#"{"first":3,"second":{}}"#).is_err());
    }

    #[test]
    fn frames_as_stack_traces_print_them() {
        let frame = printed("\tat java.base/java.util.ArrayList$Itr.next(ArrayList.java:1013)");
        assert_eq!(frame.class, "java.util.ArrayList$Itr");
        assert_eq!((frame.method.as_str(), frame.line), ("next", Some(1013)));
        let native = printed("java.lang.Object.wait(Native Method)");
        assert_eq!((native.file, native.line), (None, None));
        assert_eq!(printed("").class, "");
    }

    #[test]
    fn the_class_of_an_exception() {
        let of = |text: &str| {
            let uncaught = Uncaught {
                exception: text.into(),
                ..Uncaught::default()
            };
            uncaught.class().to_owned()
        };
        assert_eq!(of("java.lang.Error: a: b"), "java.lang.Error");
        assert_eq!(of("java.lang.Error"), "java.lang.Error");
    }
}
