//! What a run says while it runs: the lines of `findings.jsonl`. Detectors that
//! work on a stored trace speak the same vocabulary, so everything downstream has
//! one input.

use crate::control::{Caught, Hit, StaleRead, StuckThreads, Uncaught, Uncontrolled};
use crate::is_false;
use classfile::is_jdk_name;
use serde::{Deserialize, Deserializer, Serialize};

/// One place in the program, as stack traces name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Whether the class is the JDK's, where its package says otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jdk: Option<bool>,
}

impl Frame {
    /// Whether the class is the JDK's.
    pub fn is_jdk(&self) -> bool {
        is_jdk(&self.class, self.jdk)
    }

    /// `Bank.java:12`, or class and method where the line is not known.
    pub fn short(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ => format!("{}.{}", self.class, self.method),
        }
    }
}

/// Whose a class is, as it stands in findings and reports: said only where its
/// package says otherwise. So what older versions wrote, who went by packages
/// alone, means the same.
pub fn told_owner(class: &str, is_jdk: bool) -> Option<bool> {
    (is_jdk_name(class) != is_jdk).then_some(is_jdk)
}

/// The way back.
pub fn is_jdk(class: &str, told: Option<bool>) -> bool {
    told.unwrap_or_else(|| is_jdk_name(class))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AccessOp {
    Read,
    Write,
}

impl AccessOp {
    pub fn new(is_write: bool) -> AccessOp {
        match is_write {
            true => AccessOp::Write,
            false => AccessOp::Read,
        }
    }

    /// As the JSON has it.
    pub fn word(self) -> &'static str {
        match self {
            AccessOp::Read => "read",
            AccessOp::Write => "write",
        }
    }
}

/// The memory that two accesses race on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Location {
    Field {
        class: String,
        field: String,
        #[serde(default, rename = "static", skip_serializing_if = "is_false")]
        is_static: bool,
        /// Whether the class is the JDK's, where its package says otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        jdk: Option<bool>,
    },
    Array {
        /// The array's type as Java writes it: `int[]`.
        #[serde(deserialize_with = "null_is_default")]
        array: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        index: Option<u32>,
        /// What the array was read from, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
        from: Option<ArraySource>,
        /// Whether the class of that field is the JDK's, where its package says
        /// otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        jdk: Option<bool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        allocated: Option<Frame>,
    },
}

impl Location {
    /// Whether the JDK has it, if it is known whose it is. A local variable or a
    /// parameter is nobody's: anything may be handed to a method.
    pub fn is_jdk(&self) -> Option<bool> {
        match self {
            Location::Field { class, jdk, .. } => Some(is_jdk(class, *jdk)),
            Location::Array {
                from: Some(ArraySource::Field(name)),
                jdk,
                ..
            } => Some(is_jdk(name, *jdk)),
            Location::Array { allocated, .. } => allocated.as_ref().map(Frame::is_jdk),
        }
    }
}

/// What an array was read from. In JSON: `Class.field`, `local name`, `parameter
/// name`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ArraySource {
    /// `Class.field`, the class with dots.
    Field(String),
    Local(String),
    Parameter(String),
}

impl ArraySource {
    /// The class whose field it is.
    pub fn class(&self) -> Option<&str> {
        match self {
            ArraySource::Field(name) => name.rsplit_once('.').map(|(class, _)| class),
            ArraySource::Local(_) | ArraySource::Parameter(_) => None,
        }
    }

    /// The name of the field or variable itself.
    pub fn simple_name(&self) -> &str {
        match self {
            ArraySource::Field(name) => name.rsplit('.').next().unwrap_or(name),
            ArraySource::Local(name) | ArraySource::Parameter(name) => name,
        }
    }
}

impl From<String> for ArraySource {
    fn from(text: String) -> ArraySource {
        // No class and no field has a space in its name.
        match text.split_once(' ') {
            Some(("local", name)) => ArraySource::Local(name.to_owned()),
            Some(("parameter", name)) => ArraySource::Parameter(name.to_owned()),
            _ => ArraySource::Field(text),
        }
    }
}

impl From<&str> for ArraySource {
    fn from(text: &str) -> ArraySource {
        text.to_owned().into()
    }
}

impl From<ArraySource> for String {
    fn from(source: ArraySource) -> String {
        source.to_string()
    }
}

impl std::fmt::Display for ArraySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ArraySource::Field(name) => f.write_str(name),
            ArraySource::Local(name) => write!(f, "local {name}"),
            ArraySource::Parameter(name) => write!(f, "parameter {name}"),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thread {
    #[serde(default)]
    pub id: u64,
    #[serde(default)]
    pub name: String,
    /// The stack of the `start()` call; empty for `main` and where unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<Frame>,
    /// The test that it worked for, as a test framework numbered it; 0: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub test: u32,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    pub op: AccessOp,
    #[serde(default, deserialize_with = "null_is_default")]
    pub thread: Thread,
    #[serde(default, deserialize_with = "null_is_default")]
    pub frame: Frame,
    #[serde(default)]
    pub stack: Vec<Frame>,
    /// False when only the frames are given that every execution of the statement
    /// has: nobody kept who called there.
    #[serde(default = "yes")]
    pub stack_exact: bool,
    /// Locks held; absent where nobody kept them, which is not the same as
    /// none.
    #[serde(default)]
    pub locks: Option<Vec<String>>,
    /// Of an access inside the JDK: fields of the program's that the object may have been
    /// read from which the program's call is about; the likeliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<Location>,
}

fn yes() -> bool {
    true
}

/// What could not be found out is null; the race is still a race.
fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// A repair of the program that was to be tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tried {
    /// As the agent was told.
    pub repair: String,
    /// Why it was not made, if it was not.
    #[serde(default)]
    pub why: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Skipped {
    pub class: String,
    /// Absent when the whole class was left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    pub why: String,
}

/// A line of `findings.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The first of its statements.
    Stale(Box<StaleRead>),
    Deadlock(StuckThreads),
    Livelock(StuckThreads),
    Uncaught(Uncaught),
    /// The first of its class, thrown and caught there.
    Caught(Box<Caught>),
    /// The run did not get on inside the JVM or in native code.
    Stuck {
        why: String,
        #[serde(default)]
        dump: String,
    },
    Repair(Tried),
    /// Something that the run could not control.
    Uncontrolled(Uncontrolled),
    /// Something that may order threads and is not looked at.
    Unwatched {
        what: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_not_taken_for_a_field() {
        let location: Location =
            serde_json::from_str(r#"{"array":"int[]","index":3,"from":"Foo.table"}"#).unwrap();
        assert!(matches!(location, Location::Array { index: Some(3), .. }));
    }

    #[test]
    fn sources_of_arrays_are_texts_in_json() {
        let source = |text: &str| ArraySource::from(text.to_owned());
        assert_eq!(source("local a"), ArraySource::Local("a".into()));
        assert_eq!(source("parameter a"), ArraySource::Parameter("a".into()));
        assert_eq!(source("p.Q.a"), ArraySource::Field("p.Q.a".into()));
        for text in ["local a", "parameter b", "p.Q.c", "local"] {
            assert_eq!(source(text).to_string(), text);
        }
    }
}
