//! Reads specifications: line by line, no more than one thing a line.
//!
//! ```text
//! # a comment
//! event auth   = call Resource.authenticate
//! event access = call Resource.access
//! property authenticated: always access -> once auth
//! property order: never [^auth]* access
//! ```

use super::monitor::fits;
use super::{Kind, MOST_EVENTS, Named, Property, Rule, Spec};
use std::fmt;

/// Regular expressions over named events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Regex {
    Empty,
    /// An event with one of these names.
    One(u64),
    /// An event of the property with none of these names.
    Not(u64),
    Seq(Vec<Regex>),
    Or(Vec<Regex>),
    Star(Box<Regex>),
}

/// Past-time temporal formulas over named events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Formula {
    True,
    Event(u32),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    /// At the named event before this one.
    Prev(Box<Formula>),
    /// The first since the second.
    Since(Box<Formula>, Box<Formula>),
    Once(Box<Formula>),
    Historically(Box<Formula>),
}

impl Regex {
    pub fn alphabet(&self) -> u64 {
        match self {
            Regex::Empty => 0,
            Regex::One(names) | Regex::Not(names) => *names,
            Regex::Seq(list) | Regex::Or(list) => list.iter().fold(0, |a, r| a | r.alphabet()),
            Regex::Star(inner) => inner.alphabet(),
        }
    }
}

impl Formula {
    pub fn alphabet(&self) -> u64 {
        match self {
            Formula::True => 0,
            Formula::Event(n) => 1 << n,
            Formula::Not(a) | Formula::Prev(a) | Formula::Once(a) | Formula::Historically(a) => {
                a.alphabet()
            }
            Formula::And(a, b) | Formula::Or(a, b) | Formula::Since(a, b) => {
                a.alphabet() | b.alphabet()
            }
        }
    }
}

/// What is wrong with a specification, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// From 1.
    pub line: usize,
    pub what: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for ParseError {}

/// Nested deeper, nobody reads it either.
const DEEPEST: usize = 64;
/// Words of one property.
const LONGEST: usize = 500;

pub(super) fn spec(text: &str) -> Result<Spec, ParseError> {
    let mut spec = Spec::default();
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split('#').next().unwrap_or("").trim();
        if text.is_empty() {
            continue;
        }
        declaration(text, &mut spec).map_err(|what| ParseError { line, what })?;
    }
    if spec.properties.is_empty() {
        let line = text.lines().count().max(1);
        let what = "there is no property; write `property NAME: always ...`".to_owned();
        return Err(ParseError { line, what });
    }
    Ok(spec)
}

fn declaration(text: &str, spec: &mut Spec) -> Result<(), String> {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    match word {
        "event" => event(rest, spec),
        "property" => property(rest, spec),
        _ => Err(format!("{word:?} is neither `event` nor `property`")),
    }
}

fn event(text: &str, spec: &mut Spec) -> Result<(), String> {
    let (name, rest) = text
        .split_once('=')
        .ok_or("write `event NAME = call Class.method`")?;
    let name = name.trim();
    if !is_name(name) {
        return Err(format!("{name:?} is no name: letters, digits and _"));
    }
    if KEYWORDS.contains(&name) || spec.events.iter().any(|e| e.name == name) {
        return Err(format!("{name:?} means something already"));
    }
    if spec.events.len() == MOST_EVENTS {
        return Err(format!("more than {MOST_EVENTS} events"));
    }
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [kind, target] = words.as_slice() else {
        return Err("write `call`, `return`, `read` or `write`, and then Class.member".into());
    };
    let kind = match *kind {
        "call" => Kind::Call,
        "return" => Kind::Return,
        "read" => Kind::Read,
        "write" => Kind::Write,
        other => return Err(format!("{other:?} is not call, return, read or write")),
    };
    if !target.contains('.') {
        return Err(format!("{target:?} is not of the form Class.member"));
    }
    spec.events.push(Named {
        name: name.to_owned(),
        kind,
        target: (*target).to_owned(),
    });
    Ok(())
}

const KEYWORDS: [&str; 8] = [
    "true",
    "false",
    "prev",
    "once",
    "historically",
    "since",
    "always",
    "never",
];

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || c == '_')
}

fn property(text: &str, spec: &mut Spec) -> Result<(), String> {
    let (name, rest) = text
        .split_once(':')
        .ok_or("write `property NAME: always ...` or `property NAME: never ...`")?;
    let name = name.trim();
    if name.is_empty() || spec.properties.iter().any(|p| p.name == name) {
        return Err(format!("{name:?} is no name for a new property"));
    }
    let rest = rest.trim();
    let (word, body) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let mut parser = Parser {
        words: words(body)?,
        at: 0,
        depth: 0,
        spec,
    };
    let rule = match word {
        "always" => Rule::Always(parser.implies()?),
        "never" => Rule::Never(parser.alternatives()?),
        other => return Err(format!("{other:?} is neither `always` nor `never`")),
    };
    if let Some(word) = parser.peek() {
        return Err(format!("{word:?} is too much"));
    }
    let property = Property {
        name: name.to_owned(),
        rule,
    };
    if property.alphabet() == 0 {
        return Err("it speaks of no event".into());
    }
    if !fits(&property.rule) {
        return Err("it is too long".into());
    }
    spec.properties.push(property);
    Ok(())
}

/// Names, and signs of one or two characters.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words: Vec<String> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            continue;
        }
        let mut word = String::from(c);
        if c.is_alphanumeric() || c == '_' {
            while let Some(c) = chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
                word.push(c);
            }
        } else {
            let double = match c {
                '-' => Some('>'),
                '&' => Some('&'),
                '|' => Some('|'),
                _ => None,
            };
            if let Some(c) = double.and_then(|d| chars.next_if_eq(&d)) {
                word.push(c);
            }
        }
        words.push(word);
        if words.len() > LONGEST {
            return Err(format!("more than {LONGEST} words"));
        }
    }
    Ok(words)
}

struct Parser<'s> {
    words: Vec<String>,
    at: usize,
    depth: usize,
    spec: &'s Spec,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&str> {
        self.words.get(self.at).map(String::as_str)
    }

    fn take(&mut self, word: &str) -> bool {
        let there = self.peek() == Some(word);
        self.at += usize::from(there);
        there
    }

    fn expect(&mut self, word: &str) -> Result<(), String> {
        if self.take(word) {
            return Ok(());
        }
        let instead = self.peek().unwrap_or("the end");
        Err(format!("{word:?} expected, not {instead:?}"))
    }

    fn deeper<T>(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Result<T, String> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err("nested too deeply".into());
        }
        let inner = inner(self);
        self.depth -= 1;
        inner
    }

    fn event(&mut self) -> Result<u32, String> {
        let Some(word) = self.peek() else {
            return Err("something is missing at the end".into());
        };
        let known = self.spec.events.iter().position(|e| e.name == word);
        let known = known.ok_or_else(|| format!("{word:?} is no event"))?;
        self.at += 1;
        Ok(known as u32)
    }

    // Formulas, weakest binding first.

    fn implies(&mut self) -> Result<Formula, String> {
        let left = self.or()?;
        if !self.take("->") {
            return Ok(left);
        }
        let right = self.deeper(Self::implies)?;
        Ok(Formula::Or(
            Box::new(Formula::Not(Box::new(left))),
            Box::new(right),
        ))
    }

    fn or(&mut self) -> Result<Formula, String> {
        let mut left = self.and()?;
        while self.take("||") {
            left = Formula::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Result<Formula, String> {
        let mut left = self.since()?;
        while self.take("&&") {
            left = Formula::And(Box::new(left), Box::new(self.since()?));
        }
        Ok(left)
    }

    fn since(&mut self) -> Result<Formula, String> {
        let mut left = self.unary()?;
        while self.take("since") {
            left = Formula::Since(Box::new(left), Box::new(self.unary()?));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Formula, String> {
        self.deeper(|p| {
            let wrap: fn(Box<Formula>) -> Formula = match p.peek() {
                Some("!") => Formula::Not,
                Some("prev") => Formula::Prev,
                Some("once") => Formula::Once,
                Some("historically") => Formula::Historically,
                _ => return p.atom(),
            };
            p.at += 1;
            Ok(wrap(Box::new(p.unary()?)))
        })
    }

    fn atom(&mut self) -> Result<Formula, String> {
        if self.take("(") {
            let inner = self.deeper(Self::implies)?;
            self.expect(")")?;
            return Ok(inner);
        }
        match self.peek() {
            Some("true") => {
                self.at += 1;
                Ok(Formula::True)
            }
            Some("false") => {
                self.at += 1;
                Ok(Formula::Not(Box::new(Formula::True)))
            }
            _ => Ok(Formula::Event(self.event()?)),
        }
    }

    // Regular expressions.

    fn alternatives(&mut self) -> Result<Regex, String> {
        let mut all = vec![self.sequence()?];
        while self.take("|") {
            all.push(self.sequence()?);
        }
        Ok(if all.len() == 1 {
            all.remove(0)
        } else {
            Regex::Or(all)
        })
    }

    fn sequence(&mut self) -> Result<Regex, String> {
        let mut all = Vec::new();
        while let Some(word) = self.peek()
            && word != ")"
            && word != "|"
        {
            all.push(self.repeated()?);
        }
        Ok(match all.len() {
            0 => Regex::Empty,
            1 => all.remove(0),
            _ => Regex::Seq(all),
        })
    }

    fn repeated(&mut self) -> Result<Regex, String> {
        let mut inner = self.symbol()?;
        loop {
            inner = match self.peek() {
                Some("*") => Regex::Star(Box::new(inner)),
                Some("+") => Regex::Seq(vec![inner.clone(), Regex::Star(Box::new(inner))]),
                Some("?") => Regex::Or(vec![Regex::Empty, inner]),
                _ => return Ok(inner),
            };
            self.at += 1;
            if size(&inner) > LONGEST {
                return Err("it becomes too long".into());
            }
        }
    }

    fn symbol(&mut self) -> Result<Regex, String> {
        if self.take("(") {
            let inner = self.deeper(Self::alternatives)?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.take(".") {
            return Ok(Regex::Not(0));
        }
        if self.take("[") {
            let not = self.take("^");
            let mut names = 0;
            while !self.take("]") {
                names |= 1 << self.event()?;
            }
            return Ok(if not {
                Regex::Not(names)
            } else {
                Regex::One(names)
            });
        }
        Ok(Regex::One(1 << self.event()?))
    }
}

fn size(regex: &Regex) -> usize {
    match regex {
        Regex::Empty | Regex::One(_) | Regex::Not(_) => 1,
        Regex::Seq(list) | Regex::Or(list) => list.iter().map(size).sum(),
        Regex::Star(inner) => size(inner),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVENTS: &str = "event a = call A.a\nevent b = write B.b # why\n";

    fn parsed(property: &str) -> Result<Rule, ParseError> {
        let spec = spec(&format!("{EVENTS}property p: {property}"))?;
        Ok(spec.properties[0].rule.clone())
    }

    fn event(n: u32) -> Box<Formula> {
        Box::new(Formula::Event(n))
    }

    #[test]
    fn formulas() {
        use Formula::*;
        let not = |f| Box::new(Not(f));
        assert_eq!(
            parsed("always b -> once a"),
            Ok(Rule::Always(Or(not(event(1)), Box::new(Once(event(0))))))
        );
        assert_eq!(
            parsed("always ! a && prev b since a || true"),
            Ok(Rule::Always(Or(
                Box::new(And(
                    not(event(0)),
                    Box::new(Since(Box::new(Prev(event(1))), event(0)))
                )),
                Box::new(True)
            )))
        );
    }

    #[test]
    fn expressions() {
        use Regex::*;
        assert_eq!(
            parsed("never [^a]* b (a | b)?"),
            Ok(Rule::Never(Seq(vec![
                Star(Box::new(Not(1))),
                One(2),
                Or(vec![Empty, Or(vec![One(1), One(2)])])
            ])))
        );
        assert_eq!(
            parsed("never .* [a b]+"),
            Ok(Rule::Never(Seq(vec![
                Star(Box::new(Not(0))),
                Seq(vec![One(3), Star(Box::new(One(3)))])
            ])))
        );
    }

    #[test]
    fn mistakes_have_a_line() {
        let error = |text: &str| spec(text).unwrap_err().to_string();
        assert_eq!(
            error("event x call A.b"),
            "line 1: write `event NAME = call Class.method`"
        );
        assert_eq!(
            error("\nhm"),
            "line 2: \"hm\" is neither `event` nor `property`"
        );
        assert_eq!(
            error("event once = call A.b"),
            "line 1: \"once\" means something already"
        );
        assert!(error("event a = call b").contains("Class.member"));
        assert!(error("event a = call B.b").contains("no property"));
        for bad in [
            "always",
            "always c",
            "always a b",
            "always (a",
            "never (a",
            "never [a",
            "never a )",
            "always true",
            "sometimes a",
        ] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
        assert!(parsed(&format!("always {}a", "!".repeat(100))).is_err());
        assert!(parsed(&format!("never a{}", "+".repeat(100))).is_err());
    }
}
