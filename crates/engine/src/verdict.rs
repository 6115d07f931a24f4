//! What a result comes to, in a word that a script can act on. One function
//! decides for all commands ([`decide`]); a command only says what it knows
//! besides its report ([`Facts`]).
//!
//! Findings decide first: whoever found a race has an answer, whatever happened
//! afterwards. A suspicion below the asked level is no finding; where there was
//! no time to try it, there is no answer.

use findings::prediction::PropertyStatus;
use findings::result::{Report, Status};

/// What a result comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The program was exercised and nothing was found.
    NothingFound,
    /// Races or other violations were found.
    Found,
    /// Nothing was exercised: the program ran single-threaded, or nothing could
    /// be instrumented. "No race found" would say more than is known.
    NotExercised,
    /// A limit was reached, or somebody stopped it, before an answer.
    Limit,
    /// Something is there to be looked at, but the tool failed in a part of it.
    ToolFailed,
}

/// From which status on a race counts as found, unless somebody says otherwise.
pub const FAIL_ON: Status = Status::Predicted;

/// What a verdict rests on besides the report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The tool failed in a part of the work.
    pub tool_failed: bool,
    /// The runs exercised nothing that could race.
    pub not_exercised: bool,
    /// Something that was asked for was not done: time or another limit ended
    /// it, or somebody stopped it.
    pub limit_reached: bool,
    /// The run that was to be repeated was another one: nothing in it counts.
    pub diverged: bool,
    /// The strongest race that the report does not list: that of a replayed
    /// schedule, or of schedulers that were compared.
    pub unlisted: Option<Status>,
}

impl Facts {
    /// Writes into the report what a reader of the saved one needs to come to
    /// the same verdict.
    pub(crate) fn tell(self, report: &mut Report) {
        report.limit_reached = self.limit_reached;
        report.not_exercised = self.not_exercised;
    }

    /// What a saved report says.
    pub fn from_saved(report: &Report) -> Facts {
        // An exploration may also be a part of a hunt, which has its own word.
        let has_word = report.command == "verify" || report.command == findings::parts::COMMAND;
        let explored = report.exploration.as_ref().filter(|_| has_word);
        // A shard answers for its part; who puts shards together, for all of them.
        let is_merged = report.merged > 0;
        let incomplete = explored.is_some_and(|explored| match explored.part_complete {
            Some(complete) if !is_merged => !complete,
            _ => !explored.complete,
        });
        let lacks = is_merged && findings::shard::missing(&report.shards).is_some();
        Facts {
            limit_reached: incomplete || lacks || report.limit_reached,
            not_exercised: report.not_exercised,
            ..Facts::default()
        }
    }
}

/// The result of a command that runs or looks at a program.
#[derive(Clone, Debug)]
pub struct Answer {
    pub report: Report,
    pub facts: Facts,
}

impl Answer {
    /// The report as it is saved: it says what the verdict needs.
    pub(crate) fn new(mut report: Report, facts: Facts) -> Answer {
        facts.tell(&mut report);
        Answer { report, facts }
    }

    /// What it comes to; `fail_on`: from which status on a race counts.
    pub fn verdict(&self, fail_on: Status) -> Verdict {
        decide(Some(&self.report), fail_on, self.facts)
    }
}

/// What a result comes to.
pub fn decide(report: Option<&Report>, fail_on: Status, facts: Facts) -> Verdict {
    let unlisted = facts.unlisted.is_some_and(|status| status >= fail_on);
    match () {
        () if facts.diverged => Verdict::ToolFailed,
        () if unlisted || report.is_some_and(|report| is_found(report, fail_on)) => Verdict::Found,
        () if facts.tool_failed => Verdict::ToolFailed,
        () if facts.not_exercised => Verdict::NotExercised,
        () if facts.limit_reached => Verdict::Limit,
        () => Verdict::NothingFound,
    }
}

/// Whether there is something at or above the asked level. Deadlocks, uncaught
/// exceptions and broken properties have no levels.
fn is_found(report: &Report, fail_on: Status) -> bool {
    report.races.iter().any(|race| race.status >= fail_on)
        || !report.deadlocks.is_empty()
        || !report.failures.is_empty()
        || { report.properties.iter() }.any(|p| p.status != PropertyStatus::Holds)
        || { report.atomicity.iter() }.any(|violation| violation.status >= fail_on)
        || { report.weak_findings().iter() }.any(|found| found.status >= fail_on)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Found, Limit, NotExercised, NothingFound, ToolFailed};
    use findings::finding::Location;
    use serde_json::json;

    fn report(command: &str) -> Report {
        let text =
            json!({ "schema": 1, "tool": "t", "command": command, "program": { "args": [] } });
        Report::from_json(text.to_string().as_bytes()).unwrap()
    }

    fn with_race(command: &str, status: Status) -> Report {
        let access = |op| finding_access(op);
        let found = findings::finding::Race {
            detector: String::new(),
            sites: None,
            location: Location::Field {
                class: "A".into(),
                field: "f".into(),
                is_static: false,
                jdk: None,
            },
            accesses: [access("read"), access("write")],
            allocated: None,
            count: 1,
        };
        let mut report = report(command);
        report.races = vec![findings::merge::race(found, status)];
        report
    }

    fn finding_access(op: &str) -> findings::finding::Access {
        let text = json!({ "op": op, "thread": { "name": "t" }, "frame": { "class": "A" } });
        serde_json::from_value(text).unwrap()
    }

    const LIMITED: Facts = Facts {
        tool_failed: false,
        not_exercised: false,
        limit_reached: true,
        diverged: false,
        unlisted: None,
    };

    const COMMANDS: [&str; 8] = [
        "detect", "record", "predict", "confirm", "verify", "advise", "hunt", "report",
    ];

    #[test]
    fn a_suspicion_is_no_finding_of_any_command() {
        let done = Facts::default();
        for command in COMMANDS {
            let suspected = with_race(command, Status::Potential);
            let decide = |fail_on, facts| decide(Some(&suspected), fail_on, facts);
            assert_eq!(decide(FAIL_ON, done), NothingFound, "{command}");
            assert_eq!(decide(FAIL_ON, LIMITED), Limit, "{command}");
            assert_eq!(decide(Status::Potential, LIMITED), Found, "{command}");
        }
    }

    #[test]
    fn findings_count_from_the_asked_level_on_for_every_command() {
        use Status::{Confirmed, Observed, Potential, Predicted};
        let levels = [Potential, Predicted, Observed, Confirmed];
        for command in COMMANDS {
            for status in levels {
                let found = with_race(command, status);
                for fail_on in levels {
                    let wanted = if status >= fail_on { Found } else { Limit };
                    let got = decide(Some(&found), fail_on, LIMITED);
                    assert_eq!(got, wanted, "{command}: {status:?} {fail_on:?}");
                }
            }
        }
    }

    #[test]
    fn without_findings_the_facts_decide() {
        let nothing = report("detect");
        let decide = |facts| decide(Some(&nothing), FAIL_ON, facts);
        assert_eq!(decide(Facts::default()), NothingFound);
        assert_eq!(decide(LIMITED), Limit);
        let idle = Facts {
            not_exercised: true,
            ..LIMITED
        };
        assert_eq!(decide(idle), NotExercised);
        let failed = Facts {
            tool_failed: true,
            ..idle
        };
        assert_eq!(decide(failed), ToolFailed);
    }

    #[test]
    fn deadlocks_failures_and_broken_properties_have_no_level() {
        let found = |report: &Report| decide(Some(report), Status::Confirmed, LIMITED) == Found;
        let property = |status: &str| {
            let one = json!({ "name": "p", "status": status, "complete": true, "cuts": 1 });
            let mut report = report("predict");
            report.properties = vec![serde_json::from_value(one).unwrap()];
            report
        };
        assert!(found(&property("predicted")));
        assert!(!found(&property("holds")));
        let violation = json!({ "id": "A1", "status": "predicted", "unit": "u", "at": "A.java:1",
            "pattern": "R W' R", "accesses": [] });
        let mut atomicity = report("predict");
        atomicity.atomicity = vec![serde_json::from_value(violation).unwrap()];
        assert!(!found(&atomicity), "it has levels");
        assert_eq!(decide(Some(&atomicity), FAIL_ON, LIMITED), Found);
        let deadlock = json!({ "id": "D1", "kind": "deadlock", "cycle": true, "threads": [] });
        let mut stands = report("detect");
        stands.deadlocks = vec![serde_json::from_value(deadlock).unwrap()];
        assert!(found(&stands));
        let failure = json!({ "id": "F1", "thread": "t", "exception": "E" });
        let mut died = report("verify");
        died.failures = vec![serde_json::from_value(failure).unwrap()];
        assert!(found(&died));
    }

    #[test]
    fn replayed_and_compared_races_are_in_no_report() {
        let seen = |status, diverged| {
            let facts = Facts {
                unlisted: Some(status),
                diverged,
                ..LIMITED
            };
            decide(None, FAIL_ON, facts)
        };
        assert_eq!(seen(Status::Confirmed, false), Found);
        assert_eq!(seen(Status::Observed, false), Found);
        assert_eq!(seen(Status::Confirmed, true), ToolFailed);
    }

    #[test]
    fn a_saved_report_comes_to_the_same() {
        let mut suspected = with_race("hunt", Status::Potential);
        assert_eq!(Facts::from_saved(&suspected), Facts::default());
        LIMITED.tell(&mut suspected);
        assert_eq!(Facts::from_saved(&suspected), LIMITED);
        let idle = Facts {
            not_exercised: true,
            ..Facts::default()
        };
        let answer = Answer::new(report("detect"), idle);
        assert_eq!(Facts::from_saved(&answer.report), idle);
        let mut explored = report("verify");
        let incomplete = json!({ "complete": false, "executions": 3, "classes": 2, "rounds": 1,
            "pruned": 0, "max_depth": 4 });
        explored.exploration = Some(serde_json::from_value(incomplete).unwrap());
        assert_eq!(Facts::from_saved(&explored), LIMITED);
    }
}
