//! A result held against an earlier one, by fingerprints: which races are new,
//! which were there before, and which were not found this time. The last is
//! not called repaired: the run may just not have come there.

use crate::result::{Race, Report};
use crate::suppress::name;
use serde_json::{Value, json};

/// Ids of this result's races, and those of the earlier one that it lacks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    pub new: Vec<String>,
    pub known: Vec<String>,
    pub gone: Vec<Race>,
}

impl Comparison {
    pub fn of(report: &Report, earlier: &Report) -> Comparison {
        let had = |race: &&Race| has(earlier, &race.fingerprint);
        let ids = |races: Vec<&Race>| races.iter().map(|race| race.id.clone()).collect();
        let (known, new): (Vec<&Race>, Vec<&Race>) = report.races.iter().partition(had);
        let mut gone: Vec<Race> = Vec::new();
        for race in &earlier.races {
            let listed = gone.iter().any(|g| g.fingerprint == race.fingerprint);
            if !has(report, &race.fingerprint) && !listed {
                gone.push(race.clone());
            }
        }
        Comparison {
            new: ids(new),
            known: ids(known),
            gone,
        }
    }

    /// As the report has it.
    pub fn json(&self, with: &str) -> Value {
        let gone = self.gone.iter().map(|race| {
            json!({
                "id": race.id,
                "fingerprint": race.fingerprint,
                "location": name(&race.location),
                "status": race.status.word(),
            })
        });
        json!({
            "with": with,
            "new": self.new,
            "known": self.known,
            "gone": gone.collect::<Vec<_>>(),
        })
    }
}

fn has(report: &Report, fingerprint: &str) -> bool {
    let mut races = report.races.iter();
    // What is suppressed now is no news, and not gone.
    let hidden = report.other.get("suppressed").and_then(Value::as_array);
    let mut hidden = hidden.into_iter().flatten();
    races.any(|race| race.fingerprint == fingerprint)
        || hidden.any(|race| race["fingerprint"] == fingerprint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(prints: &[&str]) -> Report {
        let access = r#"{"op":"write","thread":"t","class":"A","method":"m"}"#;
        let races: Vec<String> = (1..)
            .zip(prints)
            .map(|(n, print)| {
                format!(
                    r#"{{"id":"R{n}","fingerprint":"{print}","location":{{"class":"A","field":"x"}},
                    "status":"observed","found_by":["h"],"accesses":[{access},{access}]}}"#
                )
            })
            .collect();
        let text = format!(
            r#"{{"schema":1,"tool":"t","command":"detect","program":{{"args":[]}},"races":[{}]}}"#,
            races.join(",")
        );
        Report::from_json(text.as_bytes()).unwrap()
    }

    #[test]
    fn races_are_known_by_their_fingerprints() {
        let now = report(&["b", "c", "c"]);
        let found = Comparison::of(&now, &report(&["a", "b", "a"]));
        assert_eq!((found.new.len(), found.known.len()), (2, 1));
        assert_eq!(found.known, ["R1"]);
        assert_eq!(found.gone.len(), 1, "two pairs of one fingerprint");
        let json = found.json("old.json");
        assert_eq!(json["gone"][0]["location"], "A.x");
        assert_eq!(
            Comparison::of(&now, &now).known,
            ["R1", "R2", "R3"],
            "nothing is new against itself"
        );
    }
}
