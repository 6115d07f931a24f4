//! The may-trigger relation: mt(method, lock class) says that a lock of that
//! class was acquired in the method or in something it called, at most `depth`
//! frames further in (Algorithm 1 of the paper).
//!
//! # As a file
//! Text, a line a row, so that people can read it and version control can keep
//! it. Words are separated by single spaces; `%`, spaces and control characters
//! in names are percent-encoded.
//!
//! ```text
//! photofinish relation 1
//! depth 12
//! method com/shop/Queue#take#()V java.lang.Object com.shop.Queue
//! left-out org.apache.log4j.Category 1205
//! ```
//!
//! A reader takes any bytes: what is not a relation of this version is refused
//! with the number of the line, never guessed at.

use encoding::percent;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const HEADER: &str = "photofinish relation ";
const VERSION: u32 = 1;

/// A method as relations name it; class by its internal name.
pub fn method_key(class: &str, method: &str, desc: &str) -> String {
    format!("{class}#{method}#{desc}")
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relation {
    /// Frames looked at when it was collected.
    pub depth: u32,
    methods: BTreeMap<String, BTreeSet<String>>,
    left_out: BTreeMap<String, u64>,
}

impl Default for Relation {
    fn default() -> Relation {
        Relation::new(super::DEPTH)
    }
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RelationError {
    #[error("it does not begin with \"photofinish relation\"")]
    NotOne,
    #[error("it is of version {0}; this photofinish reads version {VERSION}")]
    Version(String),
    #[error("line {line}: {why}")]
    Line { line: usize, why: &'static str },
}

impl Relation {
    pub fn new(depth: u32) -> Relation {
        Relation {
            depth,
            methods: BTreeMap::new(),
            left_out: BTreeMap::new(),
        }
    }

    /// A lock of `class` was acquired; `stack` has the methods, innermost first.
    pub fn acquired<'a>(&mut self, class: &str, stack: impl IntoIterator<Item = &'a str>) {
        for method in stack.into_iter().take(self.depth as usize) {
            match self.methods.get_mut(method) {
                Some(classes) if classes.contains(class) => {}
                Some(classes) => {
                    classes.insert(class.to_owned());
                }
                None => {
                    let classes = BTreeSet::from([class.to_owned()]);
                    self.methods.insert(method.to_owned(), classes);
                }
            }
        }
    }

    /// Locks of `class` were met and not looked at.
    pub fn leave_out(&mut self, class: &str, times: u64) {
        let so_far = self.left_out.entry(class.to_owned()).or_default();
        *so_far = so_far.saturating_add(times);
    }

    /// Classes of locks that were left out, and how often they were met.
    pub fn left_out(&self) -> impl Iterator<Item = (&str, u64)> {
        self.left_out.iter().map(|(class, n)| (class.as_str(), *n))
    }

    /// mt(method, class).
    pub fn may_trigger(&self, method: &str, class: &str) -> bool {
        self.methods.get(method).is_some_and(|c| c.contains(class))
    }

    pub fn methods(&self) -> impl Iterator<Item = &str> {
        self.methods.keys().map(String::as_str)
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.methods.values().map(BTreeSet::len).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.methods.is_empty()
    }

    pub fn to_text(&self) -> String {
        let mut text = format!("{HEADER}{VERSION}\ndepth {}\n", self.depth);
        for (method, classes) in &self.methods {
            text.push_str("method ");
            encode(&mut text, method);
            for class in classes {
                text.push(' ');
                encode(&mut text, class);
            }
            text.push('\n');
        }
        for (class, times) in &self.left_out {
            text.push_str("left-out ");
            encode(&mut text, class);
            let _ = writeln!(text, " {times}");
        }
        text
    }

    pub fn parse(bytes: &[u8]) -> Result<Relation, RelationError> {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines();
        let version = lines.next().and_then(|line| line.strip_prefix(HEADER));
        match version.map(str::trim) {
            None => return Err(RelationError::NotOne),
            Some(version) if version.parse() == Ok(VERSION) => {}
            Some(other) => {
                return Err(RelationError::Version(other.chars().take(20).collect()));
            }
        }
        let mut relation = Relation::default();
        for (n, row) in lines.enumerate() {
            relation
                .read_line(row)
                .map_err(|why| RelationError::Line { line: n + 2, why })?;
        }
        Ok(relation)
    }

    fn read_line(&mut self, row: &str) -> Result<(), &'static str> {
        let mut words = row.split(' ').filter(|word| !word.is_empty());
        let Some(kind) = words.next() else {
            return Ok(());
        };
        let first = words
            .next()
            .ok_or("there is nothing behind its first word")?;
        match kind {
            "depth" => {
                let depth = first.parse().map_err(|_| "its depth is no number")?;
                self.depth = depth;
            }
            "method" => {
                let method = decode(first).ok_or("a name is not encoded as it should be")?;
                let classes: Option<BTreeSet<String>> = words.map(decode).collect();
                let classes = classes.ok_or("a name is not encoded as it should be")?;
                if classes.is_empty() {
                    return Err("a method without a class of locks");
                }
                self.methods.entry(method).or_default().extend(classes);
            }
            "left-out" => {
                let class = decode(first).ok_or("a name is not encoded as it should be")?;
                let times = words.next().and_then(|n| n.parse().ok());
                self.leave_out(&class, times.ok_or("how often is no number")?);
            }
            _ => return Err("its first word means nothing here"),
        }
        Ok(())
    }

    /// The relation with numbers for names.
    pub fn plan(&self) -> Plan {
        let mut plan = Plan::default();
        for (method, classes) in &self.methods {
            let number = plan.rows.len() as u32 + 1;
            plan.methods.insert(method.clone(), number);
            let row = classes
                .iter()
                .map(|class| plan_class(&mut plan.classes, class));
            let mut row: Vec<u32> = row.collect();
            row.sort_unstable();
            plan.rows.push(row);
        }
        plan
    }
}

fn plan_class(classes: &mut FxHashMap<String, u32>, class: &str) -> u32 {
    let next = classes.len() as u32 + 1;
    *classes.entry(class.to_owned()).or_insert(next)
}

/// A relation for a run: methods and classes by number, from 1 on. 0 stands for
/// those that the relation does not have.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Plan {
    methods: FxHashMap<String, u32>,
    classes: FxHashMap<String, u32>,
    /// By method less one: classes, sorted.
    rows: Vec<Vec<u32>>,
}

impl Plan {
    pub fn method(&self, name: &str) -> u32 {
        self.methods.get(name).copied().unwrap_or(0)
    }

    pub fn class(&self, name: &str) -> u32 {
        self.classes.get(name).copied().unwrap_or(0)
    }

    #[inline]
    pub fn may_trigger(&self, method: u32, class: u32) -> bool {
        let row = (method as usize).checked_sub(1);
        let row = row.and_then(|at| self.rows.get(at));
        class != 0 && row.is_some_and(|classes| classes.binary_search(&class).is_ok())
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

fn encode(text: &mut String, name: &str) {
    *text += &percent::encode_but(name.as_bytes(), |byte| byte.is_ascii_graphic());
}

fn decode(word: &str) -> Option<String> {
    String::from_utf8(percent::decode(word)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_of_a_file_do_not_overflow() {
        let line = format!("left-out a {}\n", u64::MAX);
        let text = format!("{HEADER}{VERSION}\n{line}{line}");
        let relation = Relation::parse(text.as_bytes()).unwrap();
        assert_eq!(relation.left_out().collect::<Vec<_>>(), [("a", u64::MAX)]);
    }

    #[test]
    fn the_relation_of_table_1() {
        // Figure 2 of the paper: t1 is in f2 called by f1, and so on.
        let mut relation = Relation::new(12);
        for (class, stack) in [
            ("k", ["f1", ""]),
            ("o1", ["f2", "f1"]),
            ("n", ["f2", "f1"]),
            ("o2", ["f4", "f3"]),
        ] {
            relation.acquired(class, stack.into_iter().filter(|f| !f.is_empty()));
        }
        assert!(relation.may_trigger("f1", "k") && relation.may_trigger("f1", "n"));
        assert!(!relation.may_trigger("f2", "k") && relation.may_trigger("f3", "o2"));
        assert_eq!(relation.len(), 7);
    }

    #[test]
    fn only_the_top_frames_count() {
        let mut relation = Relation::new(2);
        relation.acquired("c", ["in", "mid", "out"]);
        assert!(relation.may_trigger("mid", "c") && !relation.may_trigger("out", "c"));
    }

    #[test]
    fn what_is_not_a_relation_is_refused() {
        let error = |text: &str| Relation::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error("").contains("begin"));
        assert!(error("photofinish relation 2\n").contains("version 2"));
        assert!(error("photofinish relation 1\nmethod\n").contains("line 2"));
        assert!(error("photofinish relation 1\n\nmethod a\n").contains("line 3"));
        assert!(error("photofinish relation 1\ndepth x\n").contains("number"));
        assert!(error("photofinish relation 1\nmethod a%2 b\n").contains("encoded"));
        assert!(error("photofinish relation 1\nwhat ever\n").contains("nothing"));
    }

    #[test]
    fn a_plan_says_the_same() {
        let mut relation = Relation::new(12);
        relation.acquired("c", ["m", "n"]);
        relation.acquired("d", ["n"]);
        let plan = relation.plan();
        for method in ["m", "n", "other"] {
            for class in ["c", "d", "other"] {
                assert_eq!(
                    plan.may_trigger(plan.method(method), plan.class(class)),
                    relation.may_trigger(method, class)
                );
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            depth in 1u32..40,
            rows in prop::collection::vec((".{0,8}[a-z]", prop::collection::vec(".{0,4}[a-z]", 1..5)), 0..8),
            left in prop::collection::vec((".{0,4}[a-z]", 1u64..9), 0..3),
        ) {
            let mut relation = Relation::new(depth);
            for (class, stack) in &rows {
                relation.acquired(class, stack.iter().map(String::as_str));
            }
            for (class, n) in &left {
                relation.leave_out(class, *n);
            }
            prop_assert_eq!(Relation::parse(relation.to_text().as_bytes()), Ok(relation));
        }

        #[test]
        fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..200), headed in any::<bool>()) {
            if headed {
                bytes.splice(0..0, *b"photofinish relation 1\n");
            }
            let _ = Relation::parse(&bytes);
        }

        #[test]
        fn near_misses_are_read_or_refused(text in "(method|depth|left-out)?( [a%2F#0-9]{0,4}){0,3}\n?") {
            let _ = Relation::parse(format!("photofinish relation 1\n{text}").as_bytes());
        }
    }
}
