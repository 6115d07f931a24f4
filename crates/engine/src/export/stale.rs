//! A case of a stale value: what another thread did between a look and an act. Whether it does so again is known of a run
//! that is recorded, as `predict --atomicity --confirm` makes them: first by the schedule that was kept, then, where the
//! program was changed so that it cannot be followed, by runs that are likely to show it.

use super::case::{Case, Checked, LONGEST, method};
use crate::error::Error;
use crate::launch::{Launcher, Plan};
use crate::predict::by_schedule::{Lines, Tries, each_run};
use crate::predict::stale::look_for;
use driver::options::{Control, Mode, Scheduler};
use driver::process::{Input, Output};
use findings::finding::AccessOp;
use findings::prediction::{AtomicityViolation, Part, SerialVerdict, UnitAccess};
use findings::result::Status;
use findings::story::StoryLine;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

/// Recorded runs, if the schedule cannot be followed.
pub(super) const BUDGET: u32 = 20;

/// A look or an act: a statement of the program and what it is to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub class: String,
    pub method: String,
    /// Where it was then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The field, or the method of the JDK that is called.
    pub what: String,
}

impl Step {
    fn of(access: &UnitAccess) -> Step {
        Step {
            class: access.class.clone(),
            method: access.method.clone(),
            line: access.line,
            what: what(access).to_owned(),
        }
    }

    /// Lines may have moved.
    fn is(&self, access: &UnitAccess) -> bool {
        (&*self.class, &*self.method, &*self.what)
            == (&*access.class, &*access.method, what(access))
    }
}

fn what(access: &UnitAccess) -> &str {
    access.call.as_deref().unwrap_or(&access.location)
}

fn does(access: &UnitAccess) -> String {
    let what = what(access);
    let verb = match access.op {
        _ if access.call.is_some() => return format!("calls {what}"),
        AccessOp::Read => "reads",
        AccessOp::Write => "writes",
    };
    let name = match what.rsplit_once('.') {
        Some((class, field)) => {
            let simple = class.rsplit('.').next().unwrap_or(class);
            format!("{}.{field}", simple.replace('$', "."))
        }
        None => what.to_owned(),
    };
    format!("{verb} {name}")
}

/// The look and the act.
pub(super) fn steps(violation: &AtomicityViolation) -> Option<[Step; 2]> {
    let (first, last) = (violation.accesses.first()?, violation.accesses.last()?);
    Some([first, last].map(Step::of))
}

/// In a line.
pub(super) fn in_a_line(violation: &AtomicityViolation) -> String {
    let steps: Vec<String> = { violation.accesses.iter() }
        .map(|access| format!("{} {}", access.thread, does(access)))
        .collect();
    format!("{} is not atomic: {}", violation.unit, steps.join(", "))
}

/// What happened, in lines.
pub(super) fn story(violation: &AtomicityViolation) -> Vec<StoryLine> {
    let last = violation.accesses.len().saturating_sub(1);
    let told = { violation.accesses.iter().enumerate() }.map(|(at, access)| StoryLine {
        thread: access.thread.clone(),
        text: match at == last && access.part == Part::Unit {
            true => format!("{}, by what it saw in 1", does(access)),
            false => does(access),
        },
        file: access.file.clone(),
        line: access.line,
    });
    let mut told: Vec<StoryLine> = told.collect();
    let tried = violation.tried.as_ref();
    let deed = tried.and_then(|tried| Some((tried.verdict, tried.interleaved.first()?)));
    if let Some((verdict, deed)) = deed {
        let end = match verdict {
            SerialVerdict::NoSerialOrder => ", which no serial order gives",
            _ => "",
        };
        told.push(StoryLine {
            thread: "the program".to_owned(),
            text: format!("{deed}{end}"),
            ..StoryLine::default()
        });
    }
    told
}

/// How it happened, among what a run shows.
fn found(steps: &[Step; 2], all: &[AtomicityViolation]) -> Option<String> {
    let [look, act] = steps;
    let same = |violation: &&AtomicityViolation| {
        let ends = (violation.accesses.first(), violation.accesses.last());
        let is_it = matches!(ends, (Some(first), Some(last)) if look.is(first) && act.is(last));
        is_it && violation.status >= Status::Observed
    };
    let violation = all.iter().find(same)?;
    let between = violation.accesses.iter().find(|a| a.part == Part::Other)?;
    let unit = violation.accesses.first()?;
    Some(format!(
        "\"{}\" {} in {} after \"{}\" had looked and before it acted",
        between.thread,
        does(between),
        method(&between.frame()),
        unit.thread,
    ))
}

/// Checks it: by the schedule `log`, then by other runs.
pub(super) fn check(
    case: Case,
    steps: &[Step; 2],
    launcher: &Launcher<'_>,
    control: &Control,
    deadline: Option<Instant>,
    log: &Path,
) -> Result<Checked, Error> {
    let mut checked = Checked::new(case);
    let left = |at: Instant| at.saturating_duration_since(Instant::now());
    let dir = launcher.directory("case")?;
    let plan = Plan {
        control: Some(Control {
            scheduler: Scheduler::Replay(log.to_owned()),
            ..control.clone()
        }),
        trace: Some(dir.trace()),
        input: Input::Empty,
        time_limit: Some(deadline.map_or(LONGEST, left)),
        ..Plan::new(Mode::Full, Output::Capture)
    };
    let run = launcher.run_in(&dir, plan)?;
    let summary = run.findings.summary.as_ref();
    let summary = summary.and_then(|s| s.control.as_ref());
    if summary.is_none() || !run.started {
        checked.why_not = Some("the program did not start under control".to_owned());
        return Ok(checked);
    }
    checked.followed = summary.is_some_and(|c| c.divergence.is_none());
    if run.outcome.stopped.is_none()
        && let Some(looked) = look_for(&dir.trace(), u64::MAX, &|| false)?
    {
        checked.found = found(steps, &looked.violations());
        if checked.found.is_some() {
            return Ok(checked);
        }
    }
    let tries = Tries {
        runs: checked.case.budget,
        deadline,
        ..Tries::default()
    };
    let wanted = BTreeSet::from([wanted(steps)]);
    let mut how = None;
    let done = each_run(&tries, launcher, &wanted, &[], &mut |made| {
        let looked = made.looked.as_ref();
        how = looked.and_then(|looked| found(steps, &looked.violations()));
        match how.is_some() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    checked.tried = done.runs as u32;
    checked.found = how;
    if checked.found.is_none() && (done.limited || done.interrupted || done.runs == 0) {
        checked.why_not = Some("not all runs could be made and looked at".to_owned());
    }
    Ok(checked)
}

fn wanted(steps: &[Step; 2]) -> Lines {
    let of = |step: &Step| (step.class.clone(), step.method.clone(), step.line);
    [of(&steps[0]), of(&steps[1])]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn violation(status: &str) -> AtomicityViolation {
        let access = |part: &str, op: &str, thread: &str, line: u32| -> Value {
            json!({ "part": part, "op": op, "location": "shop.Till$Account.balance", "thread": thread,
                    "class": "shop.Till", "method": "deposit", "file": "Till.java", "line": line })
        };
        serde_json::from_value(json!({
            "id": "A1", "status": status, "unit": "shop.Till.deposit", "at": "Till.java:3", "pattern": "R W' W",
            "stale": "value",
            "accesses": [access("unit", "read", "ann", 3), access("other", "write", "bob", 4),
                         access("unit", "write", "ann", 4)],
            "tried": { "run": 3, "hit": 1, "interleaved": ["prints \"130\""], "serial": ["prints \"160\""],
                       "serial_orders": 2, "verdict": "no-serial-order" },
        }))
        .unwrap()
    }

    #[test]
    fn it_is_told_in_the_programs_names() {
        let told = story(&violation("confirmed"));
        let lines: Vec<String> = { told.iter() }
            .map(|line| format!("{} {}", line.thread, line.text))
            .collect();
        assert_eq!(
            lines,
            [
                "ann reads Till.Account.balance",
                "bob writes Till.Account.balance",
                "ann writes Till.Account.balance, by what it saw in 1",
                "the program prints \"130\", which no serial order gives",
            ]
        );
        assert_eq!(told[1].line, Some(4));
    }

    #[test]
    fn lines_may_move_and_the_steps_are_known_again_but_must_have_happened() {
        let known = violation("observed");
        let mut steps = steps(&known).unwrap();
        steps[0].line = Some(77);
        assert!(
            found(&steps, &[known])
                .unwrap()
                .starts_with("\"bob\" writes")
        );
        assert_eq!(found(&steps, &[violation("predicted")]), None);
        steps[1].method = "withdraw".to_owned();
        assert_eq!(found(&steps, &[violation("observed")]), None);
    }
}
