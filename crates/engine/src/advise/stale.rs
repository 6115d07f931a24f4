//! Repairs of stale values: what was two steps is one.
//!
//! | repair | for |
//! |---|---|
//! | another method of the object that looks and acts in one (`putIfAbsent`, `addAndGet`, `poll`) | calls of the JDK's collections and atomics |
//! | the method is synchronized | accesses under locks, volatile fields |
//! | one critical section over both, on the object's own lock | calls; if another method's write comes between, over that as well |
//!
//! # How each is tried
//! By the runs that make stale values happen (`predict::by_schedule`): without repairs, to learn what the
//! program does in serial orders; then with each repair. A repair removes the violation if in none of its runs the
//! value is stale, no order of what was recorded makes it so, no run stands still, and the program does only what
//! it did in serial orders. That rests on so many runs, which is said.

use super::AdviseConfig;
use crate::error::Error;
use crate::launch::Launcher;
use crate::offline::Names;
use crate::predict::by_schedule::{self, Deed, Done, Lines, Tries, each_run};
use crate::predict::stale::{self, Looked};
use crate::progress::Progress;
use crate::session::Session;
use ::predict::atomicity::Part;
use ::predict::atomicity::stale::{Flow, StaleUse};
use encoding::names::dotted;
use findings::advice::{Suggestion, Validated};
use findings::prediction::AtomicityViolation;
use findings::result::Report;
use findings::text::counted;
use instrument::repair::{Line, Repair};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::Instant;
use trace::Tables;
use trace::tables::Site;

/// Runs without repairs, at least; enough to know every stale value again, as a rule.
const LEARNT: u64 = 6;

/// Methods that fail, and those of the same parameters and result that do not.
const GENTLE: [(&str, &str); 5] = [
    ("remove", "poll"),
    ("removeFirst", "pollFirst"),
    ("removeLast", "pollLast"),
    ("element", "peek"),
    ("pop", "poll"),
];

/// A change of the program that may help.
struct Candidate {
    kind: &'static str,
    target: String,
    text: String,
    caution: Option<String>,
    /// Changes of bytecode, in the order in which to try them: a later one if one before is refused.
    ways: Vec<Vec<Repair>>,
    /// Not worth trying if one before did.
    last_resort: bool,
}

/// What came of the runs with a repair.
#[derive(Default)]
struct Tally {
    runs: u64,
    /// At least half of the runs that were asked for.
    is_enough: bool,
    still: bool,
    stood_still: bool,
    /// What the program did in no serial order.
    strange: Option<String>,
    refused: Option<String>,
}

/// Whether there is anything to advise on.
pub(super) fn has_any(report: &Report) -> bool {
    report.atomicity.iter().any(|v| v.stale.is_some())
}

/// Proposes and tries repairs for the stale values of a report.
pub(crate) fn advise(
    config: &AdviseConfig,
    deadline: Option<Instant>,
    launcher: &Launcher<'_>,
    progress: &dyn Progress,
    violations: &mut [AtomicityViolation],
    session: &mut Session,
) -> Result<Done, Error> {
    let wanted: BTreeSet<Lines> = { violations.iter() }
        .filter(|violation| violation.stale.is_some())
        .map(by_schedule::lines)
        .collect();
    let tries = Tries {
        runs: config.runs,
        input: config.input.clone(),
        control: config.control.clone(),
        deadline,
        ..Tries::default()
    };
    progress.step("runs without repairs, to know serial orders");
    let mut plans: BTreeMap<Lines, Vec<Candidate>> = BTreeMap::new();
    let mut serial: BTreeSet<Deed> = BTreeSet::new();
    let mut runs = 0;
    let mut done = each_run(&tries, launcher, &wanted, &[], &mut |made| {
        if let Some(looked) = &made.looked {
            runs += 1;
            for used in &looked.uses {
                let lines = lines_of(used, looked);
                if wanted.contains(&lines) {
                    let plan = plans.entry(lines).or_default();
                    for candidate in candidates(used, looked) {
                        if !plan.iter().any(|known| known.text == candidate.text) {
                            plan.push(candidate);
                        }
                    }
                }
            }
            if looked.is_serial() {
                serial.insert(made.deed.clone());
            }
        }
        session.add(made.run);
        match runs >= LEARNT && plans.len() == wanted.len() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    for violation in violations.iter_mut().filter(|v| v.stale.is_some()) {
        let lines = by_schedule::lines(violation);
        let mut advice: Vec<Suggestion> = Vec::new();
        for candidate in plans.remove(&lines).unwrap_or_default() {
            let removed = |s: &Suggestion| s.validated == Validated::RemovesViolation;
            if candidate.last_resort && advice.iter().any(removed) {
                continue;
            }
            progress.step(&candidate.text);
            let tally = try_out(&tries, launcher, &lines, &serial, &candidate, &mut done)?;
            advice.extend(tally.map(|mut tally| {
                tally.is_enough = tally.runs >= u64::from(tries.runs.div_ceil(2));
                suggestion(candidate, &tally, &violation.id, &serial)
            }));
        }
        advice.sort_by_key(|s| s.validated);
        violation.advice = Some(advice);
    }
    Ok(done)
}

/// Runs with the repair; none if it cannot be made.
fn try_out(
    tries: &Tries,
    launcher: &Launcher<'_>,
    lines: &Lines,
    serial: &BTreeSet<Deed>,
    candidate: &Candidate,
    done: &mut Done,
) -> Result<Option<Tally>, Error> {
    let wanted = BTreeSet::from([lines.clone()]);
    for way in &candidate.ways {
        let repairs: Vec<String> = way.iter().map(Repair::to_string).collect();
        let mut tally = Tally::default();
        let mut made_of: BTreeSet<String> = BTreeSet::new();
        let made = each_run(tries, launcher, &wanted, &repairs, &mut |made| {
            for tried in &made.run.findings.repairs {
                match &tried.why {
                    Some(why) => tally.refused = Some(why.clone()),
                    None => {
                        made_of.insert(tried.repair.clone());
                    }
                }
            }
            let found = &made.run.findings;
            tally.stood_still |= !found.deadlocks.is_empty() || !found.livelocks.is_empty();
            if let Some(looked) = &made.looked {
                tally.runs += 1;
                tally.still |= { looked.uses.iter() }.any(|used| lines_of(used, looked) == *lines);
                if !serial.is_empty() && !serial.contains(&made.deed) {
                    tally.strange.get_or_insert_with(|| made.told.clone());
                }
            }
            let over = tally.still || tally.stood_still || tally.refused.is_some();
            match over || tally.strange.is_some() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        done.interrupted |= made.interrupted;
        done.limited |= made.limited;
        // What was not made everywhere was not tried.
        let all_made = repairs.iter().all(|repair| made_of.contains(repair));
        if tally.refused.is_none() && all_made && tally.runs + u64::from(tally.stood_still) > 0 {
            return Ok(Some(tally));
        }
    }
    Ok(None)
}

fn suggestion(
    candidate: Candidate,
    tally: &Tally,
    id: &str,
    serial: &BTreeSet<Deed>,
) -> Suggestion {
    let runs = counted(tally.runs, "controlled run", "controlled runs");
    let (validated, checked) = match tally {
        Tally {
            stood_still: true, ..
        } => (Validated::Deadlocks, "a run with it stood still".to_owned()),
        Tally { still: true, .. } => (
            Validated::StillViolates,
            format!("the value was or can be stale in one of {runs}"),
        ),
        Tally {
            strange: Some(told),
            ..
        } => (
            Validated::StillViolates,
            format!("the program did what it does in no serial order: {told}"),
        ),
        Tally {
            is_enough: false, ..
        } => (
            Validated::NotTried,
            format!("only {runs} with it came to an end"),
        ),
        // Another call may be none that is looked at any more: then what the program does is all that speaks for it.
        _ if serial.is_empty() => (
            Validated::NotTried,
            format!("not stale in {runs}, but no serial order was seen to compare them with"),
        ),
        _ => (
            Validated::RemovesViolation,
            format!(
                "not stale in {runs}, nor in an order of what they recorded; \
                 the program did only what it does in serial orders"
            ),
        ),
    };
    Suggestion {
        kind: candidate.kind.to_owned(),
        target: candidate.target,
        text: candidate.text,
        removes: match validated {
            Validated::RemovesViolation => vec![id.to_owned()],
            _ => Vec::new(),
        },
        validated,
        checked,
        leaves: Vec::new(),
        caution: candidate.caution,
        paths: None,
        cost: None,
        diff: None,
    }
}

/// What a report has of a use.
fn lines_of(used: &StaleUse, looked: &Looked) -> Lines {
    let names = Names::new(&looked.tables);
    let of = |part: &Part| {
        let frame = names.frame(part.site);
        (frame.class, frame.method, frame.line)
    };
    [of(&used.read), of(&used.act)]
}

/// A statement of the program.
fn line(site: &Site) -> Option<Line> {
    let jdk = classfile::is_jdk_name(&site.class);
    Some(Line {
        class: site.class.to_string(),
        method: site.method.to_string(),
        desc: site.desc.to_string(),
        line: u16::try_from(site.line.filter(|_| !jdk)?).ok()?,
    })
}

/// Where a statement is, for people.
fn place(site: &Site) -> String {
    match (&site.file, site.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ => format!("{}.{}", dotted(&site.class), site.method),
    }
}

/// The method that a part of a use calls, if it is a call.
fn called<'t>(part: &Part, tables: &'t Tables) -> Option<(&'t Site, String, String)> {
    let site = tables.sites.get(&part.site)?;
    let target = { site.target.as_ref() }.filter(|_| retrace::is_imaginary(part.loc))?;
    let class = target.class.rsplit('/').next().unwrap_or(&target.class);
    Some((site, class.replace('$', "."), target.name.to_string()))
}

fn candidates(used: &StaleUse, looked: &Looked) -> Vec<Candidate> {
    let tables = &looked.tables;
    let [look, act, other] = [&used.read, &used.act, &used.other].map(|part| called(part, tables));
    let mut all = Vec::new();
    if let Some((site, class, name)) = &act {
        all.extend(in_one_step(used.flow, site, class, name));
    }
    let method = stale::unit_of(&looked.completed, used);
    let method = method.and_then(|m| tables.sites.get(&trace::SiteId(m)));
    if let Some(method) = method.filter(|_| look.is_none() || act.is_none()) {
        all.extend(synchronized(method));
    }
    if let (Some(look), Some(act)) = (&look, &act) {
        all.extend(one_section(look, act, other.as_ref()));
    }
    all
}

/// One method of the object instead of two.
fn in_one_step(flow: Flow, site: &Site, class: &str, name: &str) -> Option<Candidate> {
    let at = line(site)?;
    let candidate = |to: &str, text: String, repair: Repair| Candidate {
        kind: "atomic-call",
        target: format!("{class}.{to}"),
        text,
        caution: None,
        ways: vec![vec![repair]],
        last_resort: false,
    };
    if name == "set" && flow == Flow::Value {
        let text = format!(
            "call {class}.addAndGet at {} instead of get and set",
            place(site)
        );
        return Some(candidate("addAndGet", text, Repair::Sum { at }));
    }
    let to = match (name, flow) {
        ("put", Flow::Decision) if class != "Dictionary" => "putIfAbsent",
        _ => {
            let queue = ["Queue", "Deque", "LinkedList"]
                .iter()
                .any(|end| class.ends_with(end));
            let gentle = GENTLE.iter().find(|(from, _)| *from == name && queue)?;
            gentle.1
        }
    };
    let text = format!("call {class}.{to} at {} instead of {name}", place(site));
    let repair = Repair::Call {
        at,
        from: name.to_owned(),
        to: to.to_owned(),
    };
    let mut candidate = candidate(to, text, repair);
    candidate.caution = Some(match to {
        "putIfAbsent" => "only where a key that is there is meant to stay as it is".to_owned(),
        _ => format!("{to} answers null where {name} throws"),
    });
    Some(candidate)
}

/// The method that looks and acts.
fn synchronized(method: &Site) -> Option<Candidate> {
    let generated = method.method.starts_with('<') || method.method.starts_with("lambda$");
    if generated || classfile::is_jdk_name(&method.class) {
        return None;
    }
    let way = |on_class: bool| {
        vec![Repair::Synchronized {
            class: method.class.to_string(),
            method: method.method.to_string(),
            desc: method.desc.to_string(),
            on_class,
        }]
    };
    let target = format!("{}.{}", dotted(&method.class), method.method);
    Some(Candidate {
        kind: "synchronized",
        text: format!("make {target} synchronized"),
        target,
        caution: None,
        ways: vec![way(false), way(true)],
        last_resort: false,
    })
}

/// Look and act under the lock of the object.
fn one_section(
    look: &(&Site, String, String),
    act: &(&Site, String, String),
    other: Option<&(&Site, String, String)>,
) -> Vec<Candidate> {
    let same =
        |a: &Site, b: &Site| (&a.class, &a.method, &a.desc) == (&b.class, &b.method, &b.desc);
    let (site, class, call) = look;
    let Some(at) = line(site).filter(|_| same(site, act.0)) else {
        return Vec::new();
    };
    let hold = |at: Line, call: &str| Repair::Hold {
        at,
        call: call.to_owned(),
    };
    let span = match site.line == act.0.line {
        true => place(site),
        false => format!("{} and {}", place(site), place(act.0)),
    };
    let first = hold(at, call);
    let target = format!("{}.{}", dotted(&site.class), site.method);
    let caution = format!("it was tried with the lock held through all of {target}");
    let mut all = vec![Candidate {
        kind: "synchronized",
        target: target.clone(),
        text: format!("synchronized (the {class}) around {span}"),
        caution: Some(caution.clone()),
        ways: vec![vec![first.clone()]],
        last_resort: false,
    }];
    let elsewhere = other.filter(|(o, ..)| !same(o, site));
    if let Some((other, _, call)) = elsewhere
        && let Some(at) = line(other)
    {
        all.push(Candidate {
            kind: "synchronized",
            target,
            text: format!(
                "synchronized (the {class}) around {span}, and around {}",
                place(other)
            ),
            caution: Some(caution),
            ways: vec![vec![first, hold(at, call)]],
            last_resort: true,
        });
    }
    all
}
