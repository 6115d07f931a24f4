//! Advice on races: what to change, what of it was tried, and what came of it.

use findings::advice::{Suggestion, Validated};
use findings::result::{Race, Report};
use findings::text::{clean, clean_line};
use std::collections::BTreeSet;
use std::io::{self, Write};

/// The verdict in words.
pub(crate) fn word(validated: Validated) -> &'static str {
    match validated {
        Validated::RemovesRace | Validated::RemovesViolation => "removes it",
        Validated::StillViolates => "STILL NOT ATOMIC",
        Validated::StillRaces => "STILL RACES",
        Validated::Deadlocks => "DEADLOCKS",
        Validated::NotTried => "not tried",
    }
}

/// The advice of a report as text; nothing if it has none.
pub fn render(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let races: Vec<&Race> = { report.races.iter() }
        .filter(|race| !race.suggestions().is_empty())
        .collect();
    if races.is_empty() {
        return Ok(());
    }
    writeln!(out, "advice")?;
    if let Some(set) = &report.repairs {
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
    for race in races {
        writeln!(out, "\n  {}", race.id)?;
        if let Some(story) = &race.occurrence {
            writeln!(out, "    first   {}", clean(&story.source))?;
            for passing in &story.between {
                writeln!(out, "            {}", clean(passing))?;
            }
            writeln!(out, "    second  {}", clean(&story.manifest))?;
        }
        for suggestion in race.suggestions() {
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
            let word = word(*validated);
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
    use findings::advice::Paths;

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
    fn text_says_what_was_found_out() {
        let mut report = report();
        let mut out = Vec::new();
        render(&report, &mut out).unwrap();
        assert!(out.is_empty());
        report.races[0].advice = Some(vec![
            suggestion("make Bank.total volatile", "volatile"),
            suggestion("make Bank.total an atomic variable", "atomic-class"),
        ]);
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
