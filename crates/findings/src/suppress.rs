//! Races that somebody knows of and does not want to hear about, from a file:
//!
//! ```text
//! # pattern                                                    reason
//! race com.shop.Stats.*                                        because a lost count does no harm
//! race com.shop.Cache.map in *.get and com.shop.Cache.reload   because the reload is idempotent
//! fingerprint 3f1c0a                                           because it is ticket 4711
//! ```
//!
//! A race is meant if its location fits (`Class.field`; of an array its type, or
//! the field it was reached through; inside an object of the JDK also the field that holds
//! it) and, where they are given, the two methods, in either order: those of the accesses, or
//! those of the program that call into the JDK. `*` stands for anything. A fingerprint may be shortened to
//! six digits or more. A line without a reason is an error, and a line that
//! fits nothing is named in the report: it hides the next race of that name.

use crate::finding::{Frame, Location};
use crate::group;
use crate::result::{Access, Race, RaceSummary, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Shorter beginnings of fingerprints fit too much.
const SHORTEST: usize = 6;

/// A race that was taken out of the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Suppressed {
    #[serde(flatten)]
    pub race: RaceSummary,
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suppressions {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    line: usize,
    /// As it stands in the file.
    text: String,
    what: What,
    reason: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Fingerprint(String),
    Race {
        location: String,
        methods: Option<[String; 2]>,
    },
}

impl Suppressions {
    /// Reads the file; an error says in which line.
    pub fn parse(text: &str) -> Result<Suppressions, String> {
        let mut rules = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let rule = rule(number, line).map_err(|why| format!("line {number}: {why}"))?;
            rules.push(rule);
        }
        Ok(Suppressions { rules })
    }

    /// Whether the race is meant by some line.
    pub fn hides(&self, race: &Race) -> bool {
        self.rules.iter().any(|rule| rule.fits(race, None))
    }

    /// Takes the races that are meant out of the report, with a note of each finding, and
    /// names lines that fit none.
    pub fn apply(&self, report: &mut Report) {
        let mut used = vec![false; self.rules.len()];
        let mut hidden = Vec::new();
        let mut out = BTreeSet::new();
        for finding in group::findings(&report.races) {
            let mut noted = false;
            for race in finding.all() {
                let fits = |rule: &Rule| rule.fits(race, Some(&finding.owner));
                let fitting = self.rules.iter().zip(&mut used);
                let mut fitting = fitting.filter(|(rule, _)| fits(rule)).peekable();
                let Some((first, _)) = fitting.peek() else {
                    continue;
                };
                if !noted {
                    hidden.push(Suppressed {
                        race: RaceSummary::new(race, &finding),
                        reason: first.reason.clone(),
                    });
                    noted = true;
                }
                fitting.for_each(|(_, used)| *used = true);
                out.insert(race.id.clone());
            }
        }
        report.races.retain(|race| !out.contains(&race.id));
        report.suppressed.extend(hidden);
        for (rule, _) in self.rules.iter().zip(used).filter(|(_, used)| !used) {
            report.warnings.push(format!(
                "the suppression in line {} fits no race of this result: {}",
                rule.line, rule.text
            ));
        }
    }
}

fn rule(line: usize, text: &str) -> Result<Rule, String> {
    let (what, reason) = text
        .split_once(" because ")
        .ok_or("it gives no reason; write PATTERN because REASON")?;
    let words: Vec<&str> = what.split_whitespace().collect();
    let what = match words[..] {
        ["fingerprint", digits]
            if digits.len() >= SHORTEST && digits.bytes().all(|b| b.is_ascii_hexdigit()) =>
        {
            What::Fingerprint(digits.to_ascii_lowercase())
        }
        ["fingerprint", _] => {
            return Err(format!(
                "a fingerprint has {SHORTEST} hexadecimal digits or more"
            ));
        }
        ["race", location] => What::Race {
            location: location.to_owned(),
            methods: None,
        },
        ["race", location, "in", a, "and", b] => What::Race {
            location: location.to_owned(),
            methods: Some([a.to_owned(), b.to_owned()]),
        },
        _ => {
            return Err(
                "write `race LOCATION`, `race LOCATION in METHOD and METHOD` or \
                 `fingerprint DIGITS`, then `because` and a reason"
                    .to_owned(),
            );
        }
    };
    match reason.trim() {
        "" => Err("it gives no reason".to_owned()),
        reason => Ok(Rule {
            line,
            text: text.to_owned(),
            what,
            reason: reason.to_owned(),
        }),
    }
}

impl Rule {
    /// `owner`: of the finding that the race is a part of, if that is known.
    fn fits(&self, race: &Race, owner: Option<&str>) -> bool {
        match &self.what {
            What::Fingerprint(digits) => race.fingerprint.starts_with(digits),
            What::Race { location, methods } => {
                let place = match &race.location {
                    Location::Field { .. } => fits(location, &name(&race.location)),
                    Location::Array { array, from, .. } => {
                        let from = from.as_ref().map(ToString::to_string);
                        fits(location, array) || from.is_some_and(|from| fits(location, &from))
                    }
                };
                let holder = || Some(name(&group::holder(race)?));
                let owner = owner.map(str::to_owned).or_else(holder);
                let place = place || owner.is_some_and(|owner| fits(location, &owner));
                let both = |[a, b]: &[String; 2], at: fn(&Access) -> &Frame| {
                    let [x, y] = race.accesses.each_ref().map(|access| method(at(access)));
                    fits(a, &x) && fits(b, &y) || fits(a, &y) && fits(b, &x)
                };
                let either = |m| both(m, |access| &access.at) || both(m, group::own_statement);
                place && methods.as_ref().is_none_or(either)
            }
        }
    }
}

/// `Class.field`, or `int[]` with the field it was reached through.
pub fn name(location: &Location) -> String {
    match location {
        Location::Field { class, field, .. } => format!("{class}.{field}"),
        Location::Array {
            array,
            from: Some(from),
            ..
        } => format!("{} of {from}", array_type(array)),
        Location::Array { array, .. } => array_type(array).to_owned(),
    }
}

/// What to call an array of this type. Of an array that two threads met at, the
/// type may be unknown.
pub fn array_type(array: &str) -> &str {
    match array {
        "" => "an array",
        known => known,
    }
}

fn method(frame: &Frame) -> String {
    format!("{}.{}", frame.class, frame.method)
}

/// Whether a pattern with `*` fits the whole text. Greedy from the left, which
/// is enough: each part is looked for after the one before.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn report() -> Report {
        let race = |id: &str, location: &str, print: &str| {
            let access =
                |m: &str| format!(r#"{{"op":"write","thread":"t","class":"a.A","method":"{m}"}}"#);
            format!(
                r#"{{"id":"{id}","fingerprint":"{print}","location":{location},
                    "status":"observed","found_by":["h"],"accesses":[{},{}]}}"#,
                access("put"),
                access("get")
            )
        };
        let races = [
            race("R1", r#"{"class":"a.A","field":"x"}"#, "aabbccdd"),
            race("R2", r#"{"array":"int[]","from":"a.A.cells"}"#, "11223344"),
        ];
        let text = format!(
            r#"{{"schema":1,"tool":"t","command":"detect","program":{{"args":[]}},"races":[{}]}}"#,
            races.join(",")
        );
        Report::from_json(text.as_bytes()).unwrap()
    }

    fn left(rules: &str) -> (Vec<String>, Vec<String>) {
        let mut report = report();
        Suppressions::parse(rules).unwrap().apply(&mut report);
        let ids = report.races.into_iter().map(|race| race.id).collect();
        (ids, report.warnings)
    }

    #[test]
    fn what_is_meant_is_hidden_and_the_rest_is_not() {
        let cases = [
            ("race a.A.x because it is known", &["R2"][..]),
            ("race a.* because it is known", &[]),
            ("race int[] because it is known", &["R1"]),
            ("race a.A.cells because it is known", &["R1"]),
            ("race * in *.get and a.A.put because it is known", &[]),
            ("fingerprint AABBCC because it is known", &["R2"]),
            ("# race * because\n\n", &["R1", "R2"]),
        ];
        for (rules, expected) in cases {
            let (ids, warnings) = left(rules);
            assert_eq!(ids, expected, "{rules}");
            assert!(warnings.is_empty(), "{warnings:?}");
        }
    }

    #[test]
    fn what_hides_nothing_is_named() {
        let (ids, warnings) = left("\nrace * in *.get and *.get because of old times");
        assert_eq!(ids.len(), 2);
        assert_eq!(warnings.len(), 1);
        assert!(
            warnings[0].contains("line 2") && warnings[0].contains("old times"),
            "{warnings:?}"
        );
    }

    #[test]
    fn what_was_hidden_is_told_with_its_reason() {
        let mut report = report();
        let rules = Suppressions::parse("race a.A.x because it is only a counter").unwrap();
        assert!(rules.hides(&report.races[0]) && !rules.hides(&report.races[1]));
        rules.apply(&mut report);
        let [told] = &report.suppressed[..] else {
            panic!("{:?}", report.suppressed)
        };
        assert_eq!(told.reason, "it is only a counter");
        assert_eq!(told.race.location, "a.A.x");
    }

    #[test]
    fn lines_that_say_too_little_are_errors() {
        for bad in [
            "race a.A.x",
            "race a.A.x because ",
            "a.A.x because I say so",
            "race a b because x",
            "fingerprint aa because short",
            "fingerprint nothex because x",
            "race x in a because y",
        ] {
            let error = Suppressions::parse(&format!("\n{bad}")).unwrap_err();
            assert!(error.starts_with("line 2: "), "{bad}: {error}");
        }
    }

    /// Tries every split.
    fn dumb(pattern: &[u8], text: &[u8]) -> bool {
        match pattern {
            [] => text.is_empty(),
            [b'*', rest @ ..] => (0..=text.len()).any(|at| dumb(rest, &text[at..])),
            [c, rest @ ..] => text.first() == Some(c) && dumb(rest, &text[1..]),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn patterns_fit_as_by_trying_everything(pattern in "[ab*]{0,7}", text in "[ab]{0,8}") {
            prop_assert_eq!(fits(&pattern, &text), dumb(pattern.as_bytes(), text.as_bytes()));
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = Suppressions::parse(&text);
        }
    }
}
