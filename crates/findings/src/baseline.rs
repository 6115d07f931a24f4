//! A result held against an earlier one, by fingerprints: which findings are new or have
//! a race that is, which were there before, and which were not found this time. The last is
//! not called repaired: the run may just not have come there.

use crate::group::{self, Finding};
use crate::result::{Race, RaceSummary, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ids of this result's findings, and those of the earlier one that it lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Baseline {
    /// The earlier result.
    pub with: String,
    pub new: Vec<String>,
    pub known: Vec<String>,
    /// Not found this time.
    pub gone: Vec<RaceSummary>,
}

impl Baseline {
    /// Holds a report against an earlier one, which is called `with`.
    pub fn compare(report: &Report, earlier: &Report, with: &str) -> Baseline {
        let known = |race: &Race| has(earlier, &race.fingerprint);
        let findings = group::findings(&report.races);
        let (old, new): (Vec<_>, Vec<_>) =
            { findings.iter() }.partition(|finding| finding.all().all(known));
        let ids = |findings: Vec<&Finding<'_>>| {
            let ids = findings.iter().map(|finding| finding.race.id.clone());
            ids.collect::<Vec<String>>()
        };
        let mut gone: Vec<RaceSummary> = Vec::new();
        for finding in group::findings(&earlier.races) {
            if !finding.all().any(|race| has(report, &race.fingerprint)) {
                gone.push(RaceSummary::new(finding.race, &finding));
            }
        }
        Baseline {
            with: with.to_owned(),
            new: ids(new),
            known: ids(old),
            gone,
        }
    }
}

fn has(report: &Report, fingerprint: &str) -> bool {
    let mut races = report.races.iter();
    // What is suppressed now is no news, and not gone.
    let mut hidden = report.suppressed.iter();
    races.any(|race| race.fingerprint == fingerprint)
        || hidden.any(|hidden| hidden.race.fingerprint == fingerprint)
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
                    r#"{{"id":"R{n}","fingerprint":"{print}","location":{{"class":"A","field":"{print}"}},
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
        let found = Baseline::compare(&now, &report(&["a", "b", "a"]), "old.json");
        assert_eq!(
            (&found.new[..], &found.known[..]),
            (&["R2".to_owned()][..], &["R1".to_owned()][..])
        );
        assert_eq!(found.gone.len(), 1, "two pairs of one fingerprint");
        assert_eq!(found.gone[0].location, "A.a");
        assert_eq!(
            Baseline::compare(&now, &now, "").known,
            ["R1", "R2"],
            "nothing is new against itself"
        );
    }
}
