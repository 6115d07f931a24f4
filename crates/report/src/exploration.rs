//! The `exploration` member of a report of `verify`, in words: whether it is
//! complete, and if not, why.

use findings::exploration::{Exploration, Samples};
use findings::result::Report;
use findings::text::{clean_line, counted};

/// What `verify` says of itself, alone or in a campaign; an exploration may also be a part of something
/// else, which has its own word.
fn of_verify(report: &Report) -> Option<&Exploration> {
    let explored = report.exploration.as_ref();
    explored.filter(|_| matches!(report.command.as_str(), "verify" | "campaign"))
}

/// The verdict; none of a report that is not of an exploration.
pub fn verdict(report: &Report) -> Option<String> {
    let explored = of_verify(report)?;
    let classes = explored.classes;
    let executions = counted(explored.executions, "execution", "executions");
    let isolated = explored.isolated.as_ref().map_or(String::new(), |why| {
        let why = clean_line(why);
        format!("  = every execution had a JVM of its own: {why}\n")
    });
    if explored.complete {
        let scope = match explored.preemptions {
            Some(k) => format!("schedule with at most {k} preemptions"),
            None => "schedule".to_owned(),
        };
        let what = match (report.has_findings(), report.races.is_empty()) {
            (false, _) => format!("no data race, deadlock or uncaught exception in any {scope}"),
            (true, true) => format!("no data race in any {scope}"),
            (true, false) => format!("these are all that were found in every {scope}"),
        };
        return Some(format!(
            "complete: {what} of this program on this input ({executions}, {classes} in the last round)\n{isolated}"
        ));
    }
    let share = match explored.estimate {
        Some(all) if all >= 1.0 && explored.resumable => {
            let share = (classes as f64 / all * 100.0).min(99.0);
            format!(", about {share:.0}% of the estimated space")
        }
        _ => String::new(),
    };
    let mut text = format!("not complete: stopped after {executions}{share}\n");
    for reason in &explored.not_complete {
        text += &format!("  = {}\n", clean_line(reason));
    }
    text += &isolated;
    text += &sampled(&explored.samples);
    if explored.resumable {
        let changed = explored.resume_with.as_deref().unwrap_or_default();
        let option = ["--resume", changed].join(" ");
        let option = option.trim_end();
        text += &format!("  = the same command with {option} goes on from here\n");
    }
    Some(text)
}

/// The verdict on the second exploration, in which racy reads may see older writes; it says nothing of the first.
pub fn weak(report: &Report) -> Option<String> {
    let weak = of_verify(report)?.weak.as_ref()?;
    let executions = counted(weak.executions, "execution", "executions");
    let found = match weak.findings.len() as u64 {
        0 => "nothing is found that sequentially consistent executions do not show".to_owned(),
        n => format!(
            "{} that no sequentially consistent execution shows",
            counted(n, "finding", "findings")
        ),
    };
    let said = match (weak.complete, weak.executions) {
        (true, 0) => "complete: no location races, so reads see the newest write".to_owned(),
        (true, _) => format!(
            "complete: {found}, whichever writes racing reads see by the rule of docs/memory.md \
             ({executions}, {} in the last round)",
            weak.classes
        ),
        (false, _) => format!("not complete: stopped after {executions}; {found}"),
    };
    let mut text = format!("with older values (--memory weak): {said}\n");
    for reason in &weak.not_complete {
        text += &format!("  = {}\n", clean_line(reason));
    }
    Some(text)
}

/// Schedules in which nothing is new, from which on that is said, if they are half of all.
const MANY: u64 = 8;

/// How many schedules `detect` or `confirm` has tried, where there were several. Those of
/// `hunt` are a part of its own account.
pub fn schedules(report: &Report) -> Option<String> {
    let schedules = report.schedules.as_ref();
    let schedules = schedules.filter(|s| s.tried > 1 && report.command != "hunt")?;
    let mut text = format!(
        "{} tried, {} different\n",
        counted(schedules.tried, "schedule", "schedules"),
        schedules.different
    );
    if schedules.saturated {
        text += "  = nothing new came for long, so no more were tried\n";
    } else if schedules.since_new >= MANY && 2 * schedules.since_new >= schedules.tried {
        text += &format!(
            "  = the last {} showed nothing new: more of this scheduler will hardly show more; \
             another --scheduler may, and `verify` explores every schedule\n",
            schedules.since_new
        );
    }
    if let Some(why) = &schedules.isolated {
        let why = clean_line(why);
        text += &format!("  = every run had a JVM of its own: {why}\n");
    }
    Some(text)
}

/// What was looked at besides, where not all could be.
fn sampled(samples: &Samples) -> String {
    let mut text = match samples.preemptions {
        Some(bound) => format!(
            "  = all schedules with at most {} were explored\n",
            counted(bound.into(), "preemption", "preemptions")
        ),
        None => String::new(),
    };
    if samples.made == 0 {
        return text;
    }
    let promises: Vec<String> = (1..)
        .zip(&samples.pct_probability)
        .map(|(depth, p)| format!("{:.0}% at depth {depth}", p * 100.0))
        .collect();
    let classes = match (samples.classes, samples.classes_error) {
        (Some(all), Some(error)) => format!(" (of about {all:.0} \u{b1} {error:.0}, or more)"),
        _ => String::new(),
    };
    text += &format!(
        "  = besides, {} schedules were sampled, {} of them different{classes}; PCT would have met a bug \
         with probability of at least {}\n",
        samples.made,
        samples.different,
        promises.join(", ")
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(exploration: &str, more: &str) -> Option<String> {
        let text = format!(
            r#"{{"schema":1,"tool":"t","command":"verify","program":{{"args":[]}}{exploration}{more}}}"#
        );
        verdict(&Report::from_json(text.as_bytes()).unwrap())
    }

    #[test]
    fn the_two_verdicts_stand_side_by_side() {
        let both = |weak: &str| {
            let text = format!(
                r#"{{"schema":1,"tool":"t","command":"verify","program":{{"args":[]}},
                "exploration":{{"complete":true,"executions":2,"classes":2,"weak":{weak}}}}}"#
            );
            let report = Report::from_json(text.as_bytes()).unwrap();
            assert!(
                verdict(&report)
                    .unwrap()
                    .starts_with("complete: no data race")
            );
            super::weak(&report).unwrap()
        };
        let text = both(r#"{"complete":true,"executions":9,"classes":8}"#);
        assert!(
            text.contains("complete: nothing is found") && text.contains("(9 executions, 8 in")
        );
        assert!(both(r#"{"complete":true}"#).contains("no location races"));
        let finding = r#"{"id":"W1","kind":"stuck","status":"observed","detail":"it waits"}"#;
        let text = both(&format!(
            r#"{{"executions":3,"not_complete":["time is over"],"findings":[{finding}]}}"#
        ));
        assert_eq!(
            text,
            "with older values (--memory weak): not complete: stopped after 3 executions; 1 finding that no \
             sequentially consistent execution shows\n  = time is over\n"
        );
    }

    #[test]
    fn why_there_was_a_jvm_an_execution() {
        let text = said(r#","exploration":{"complete":true,"isolated":"so"}"#, "").unwrap();
        assert!(text.ends_with("  = every execution had a JVM of its own: so\n"));
    }

    #[test]
    fn schedules_that_do_not_differ_are_named() {
        let said = |tried: u64, since_new: u64| {
            let text = format!(
                r#"{{"schema":1,"tool":"t","command":"detect","program":{{"args":[]}},
                "schedules":{{"tried":{tried},"different":1,"since_new":{since_new}}}}}"#
            );
            schedules(&Report::from_json(text.as_bytes()).unwrap()).unwrap()
        };
        let text = said(20, 19);
        assert!(text.contains("= the last 19 showed nothing new"), "{text}");
        for (tried, since_new) in [(20, 9), (8, 7)] {
            assert_eq!(said(tried, since_new).lines().count(), 1);
        }
    }

    #[test]
    fn complete_or_not_and_why() {
        assert_eq!(said("", ""), None);
        let all =
            r#","exploration":{"complete":true,"executions":7,"classes":4,"preemptions":null}"#;
        let text = said(all, "").unwrap();
        assert!(
            text.starts_with("complete: no data race, deadlock"),
            "{text}"
        );
        assert!(
            text.contains("(7 executions, 4 in the last round)"),
            "{text}"
        );
        let deadlock = r#","deadlocks":[{"id":"D1","kind":"deadlock","cycle":true,"threads":[]}]"#;
        let text = said(all, deadlock).unwrap();
        assert!(text.starts_with("complete: no data race in any"), "{text}");
        let bounded =
            r#","exploration":{"complete":true,"executions":1,"classes":1,"preemptions":2}"#;
        let text = said(bounded, "").unwrap();
        assert!(text.contains("at most 2 preemptions"), "{text}");
        let part = r#","exploration":{"complete":false,"executions":1,"classes":1,"estimate":4,
            "resumable":true,"not_complete":["because"]}"#;
        assert_eq!(
            said(part, "").unwrap(),
            "not complete: stopped after 1 execution, about 25% of the estimated space\n  \
             = because\n  = the same command with --resume goes on from here\n"
        );
        let limit = r#","exploration":{"executions":1,"resumable":true,"resume_with":"and more"}"#;
        let text = said(limit, "").unwrap();
        assert!(text.contains("with --resume and more goes on"), "{text}");
        let text = said(r#","exploration":{}"#, "").unwrap();
        assert_eq!(text, "not complete: stopped after 0 executions\n");
    }
}
