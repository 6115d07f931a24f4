//! Advice on races: what to change, what of it was tried, and what came of it.

use findings::result::{Race, Report};
use findings::text::{clean, clean_line};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// The member of a race, and of the report for the set of repairs.
const RACE_MEMBER: &str = "advice";
const SET_MEMBER: &str = "repairs";

/// What came of trying a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Validated {
    RemovesRace,
    StillRaces,
    Deadlocks,
    NotTried,
}

/// A suggestion for one race.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Suggestion {
    pub kind: String,
    /// A variable, or a statement.
    pub target: String,
    pub text: String,
    /// Races that it removed when it was tried; that it should remove, if not.
    pub removes: Vec<String>,
    pub validated: Validated,
    /// How that was found out, or why not; in words.
    pub checked: String,
    /// Uncaught exceptions, with the repair as without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<String>,
    /// What it does not do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caution: Option<String>,
    /// On how many of the occurrences of the race it would have helped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Paths>,
    /// Time with the repair by time without; 1 if no difference was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Of the sources, unified; it compiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paths {
    pub helps: u64,
    pub seen: u64,
}

/// How a race came about once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Story {
    /// The access that came first, and the one that was not ordered after it.
    pub source: String,
    pub manifest: String,
    /// How the threads synchronised in between, which did not order them.
    #[serde(default)]
    pub between: Vec<String>,
}

/// Repairs that together remove all races, as far as is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Set {
    pub repairs: Vec<String>,
    pub removes: Vec<String>,
    pub validated: Validated,
    pub checked: String,
    /// Uncaught exceptions, with the repairs as without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<String>,
    /// No smaller set of the suggestions would do on the runs that were seen.
    pub smallest: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// All that is said of a race.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct OfRace {
    pub suggestions: Vec<Suggestion>,
    pub story: Option<Story>,
}

impl OfRace {
    pub fn put(&self, race: &mut Race) -> serde_json::Result<()> {
        let suggestions = serde_json::to_value(&self.suggestions)?;
        race.other.insert(RACE_MEMBER.to_owned(), suggestions);
        if let Some(story) = &self.story {
            let story = serde_json::to_value(story)?;
            race.other.insert("story".to_owned(), story);
        }
        Ok(())
    }

    /// What a report has; nothing if it is not of this form.
    pub fn get(race: &Race) -> OfRace {
        let read = |member: &str| race.other.get(member).cloned();
        OfRace {
            suggestions: read(RACE_MEMBER)
                .and_then(|v| serde_json::from_value(v).ok())
                .unwrap_or_default(),
            story: read("story").and_then(|v| serde_json::from_value(v).ok()),
        }
    }
}

impl Set {
    pub fn put(&self, report: &mut Report) -> serde_json::Result<()> {
        let set = serde_json::to_value(self)?;
        report.other.insert(SET_MEMBER.to_owned(), set);
        Ok(())
    }

    pub fn get(report: &Report) -> Option<Set> {
        let value = report.other.get(SET_MEMBER)?.clone();
        serde_json::from_value(value).ok()
    }
}

impl Validated {
    pub fn word(self) -> &'static str {
        match self {
            Validated::RemovesRace => "removes it",
            Validated::StillRaces => "STILL RACES",
            Validated::Deadlocks => "DEADLOCKS",
            Validated::NotTried => "not tried",
        }
    }
}

/// The advice of a report as text; nothing if it has none.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let races: Vec<(&Race, OfRace)> = report
        .races
        .iter()
        .map(|race| (race, OfRace::get(race)))
        .filter(|(_, of)| !of.suggestions.is_empty())
        .collect();
    if races.is_empty() {
        return Ok(());
    }
    writeln!(out, "advice")?;
    if let Some(set) = Set::get(report) {
        writeln!(out, "  to remove {}:", set.removes.join(", "))?;
        for repair in &set.repairs {
            writeln!(out, "    {}", clean(repair))?;
        }
        writeln!(out, "    {}", clean(&set.checked))?;
        if !set.leaves.is_empty() {
            let leaves = clean(&set.leaves.join(", "));
            writeln!(out, "    leaves uncaught {leaves}")?;
        }
        if let Some(cost) = set.cost {
            writeln!(out, "    {}", cost_words(cost))?;
        }
    }
    let mut shown = BTreeSet::new();
    for (race, of) in &races {
        writeln!(out, "\n  {}", race.id)?;
        if let Some(story) = &of.story {
            writeln!(out, "    first   {}", clean(&story.source))?;
            for passing in &story.between {
                writeln!(out, "            {}", clean(passing))?;
            }
            writeln!(out, "    second  {}", clean(&story.manifest))?;
        }
        for suggestion in &of.suggestions {
            // What is said of the volatile field holds for it, too.
            if suggestion.kind == "atomic-class" {
                continue;
            }
            let Suggestion {
                text,
                validated,
                checked,
                ..
            } = suggestion;
            let word = validated.word();
            writeln!(out, "    - {}: {word}; {}", clean(text), clean(checked))?;
            if suggestion.removes.len() > 1 {
                writeln!(out, "      removes {}", suggestion.removes.join(", "))?;
            }
            if !suggestion.leaves.is_empty() {
                let leaves = clean(&suggestion.leaves.join(", "));
                writeln!(out, "      leaves uncaught {leaves}")?;
            }
            if let Some(caution) = &suggestion.caution {
                writeln!(out, "      but {}", clean(caution))?;
            }
            if let Some(cost) = suggestion.cost {
                writeln!(out, "      {}", cost_words(cost))?;
            }
            if let Some(diff) = suggestion
                .diff
                .as_deref()
                .filter(|diff| shown.insert(*diff))
            {
                for line in diff.lines() {
                    writeln!(out, "      {}", clean_line(line))?;
                }
            }
        }
    }
    Ok(())
}

fn cost_words(cost: f64) -> String {
    if cost <= 1.0 {
        "it costs nothing that could be measured".to_owned()
    } else {
        format!("the program then takes {cost:.2} times as long")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggestion(text: &str, kind: &str) -> Suggestion {
        Suggestion {
            caution: None,
            kind: kind.into(),
            target: "Bank.total".into(),
            text: text.into(),
            removes: vec!["R1".into(), "R2".into()],
            validated: Validated::RemovesRace,
            checked: "not seen in 12 controlled runs with it".into(),
            leaves: Vec::new(),
            paths: Some(Paths { helps: 2, seen: 3 }),
            cost: Some(1.25),
            diff: Some("--- a\n+++ b\n".into()),
        }
    }

    fn report() -> Report {
        let text = r#"{"schema":1,"tool":"t","command":"advise","program":{"args":[]},"races":[
            {"id":"R1","fingerprint":"0","location":{"class":"Bank","field":"total"},
             "status":"observed","found_by":["fasttrack"],"accesses":[
               {"op":"read","thread":"a","class":"Bank"},{"op":"write","thread":"b","class":"Bank"}]}]}"#;
        Report::from_json(text.as_bytes()).unwrap()
    }

    #[test]
    fn what_is_put_into_a_report_is_read_again() {
        let mut report = report();
        assert_eq!(OfRace::get(&report.races[0]), OfRace::default());
        assert_eq!(Set::get(&report), None);
        let of = OfRace {
            suggestions: vec![suggestion("make Bank.total volatile", "volatile")],
            story: Some(Story {
                source: "write at Bank.java:3".into(),
                manifest: "read at Bank.java:9".into(),
                between: vec!["Bank.lock".into()],
            }),
        };
        of.put(&mut report.races[0]).unwrap();
        let set = Set {
            repairs: vec!["make Bank.total volatile".into()],
            removes: vec!["R1".into()],
            validated: Validated::NotTried,
            checked: "not tried".into(),
            leaves: Vec::new(),
            smallest: true,
            cost: None,
        };
        set.put(&mut report).unwrap();
        let mut json = Vec::new();
        report.write_json(&mut json).unwrap();
        let again = Report::from_json(&json).unwrap();
        assert_eq!(OfRace::get(&again.races[0]), of);
        assert_eq!(Set::get(&again), Some(set));
    }

    #[test]
    fn text_says_what_was_found_out() {
        let mut report = report();
        let mut out = Vec::new();
        render(&report, &mut out).unwrap();
        assert!(out.is_empty());
        let of = OfRace {
            suggestions: vec![
                suggestion("make Bank.total volatile", "volatile"),
                suggestion("make Bank.total an atomic variable", "atomic-class"),
            ],
            story: None,
        };
        of.put(&mut report.races[0]).unwrap();
        render(&report, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for part in [
            "volatile: removes it; not seen",
            "R1, R2",
            "1.25 times",
            "--- a",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert!(!text.contains("atomic variable"));
    }
}
