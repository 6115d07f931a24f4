//! Stale values, for the report: what a thread saw in one step and acts on in a later one.

use super::checks::{self, Checked};
use super::look::Input;
use super::tell::steps;
use super::{Asked, PredictConfig, full};
use crate::error::{Context, Error};
use crate::offline::Names;
use crate::traces;
use ::predict::atomicity::Part;
use ::predict::atomicity::stale::{self, Flow, Others, Recorded, StaleUse, Standing};
use ::predict::{ShouldStop, Told};
use findings::prediction::{AtomicityViolation, StaleFlow};
use findings::result::Status;
use retrace::Completed;
use std::path::Path;
use trace::{Event, Op, Tables};

/// Looks for them, if the recording has what that takes.
pub fn check(input: &Input, checked: &mut Checked, stop: &ShouldStop<'_>) {
    let Some(completed) = &input.stale else {
        return;
    };
    let mut tables = input.tables.clone();
    tables.sites.extend(completed.sites.iter().cloned());
    let (found, incomplete) = find(completed, &tables, stop);
    if let Some(why) = incomplete {
        checked.cut_short |= stop();
        let text = format!("stale values may have been missed: {why}");
        checked.warnings.push(text);
    }
    let names = Names::new(&tables);
    let mut number = checked.atomicity.len();
    for used in found {
        number += 1;
        checked.found = true;
        checked
            .atomicity
            .push(told(number, &used, completed, &names));
    }
}

/// Whether another thread's write makes a value stale.
fn fits(completed: &Completed, others: Others, event: u32) -> bool {
    match (others, completed.kinds.get(&event)) {
        (Others::Any, _) => true,
        (Others::Removals, Some(kind)) => kind.removes(),
        (Others::Structural, Some(kind)) => kind.removes() || kind.adds(),
        (_, None) => false,
    }
}

/// Whether no value can have been stale in the run.
fn is_serial(completed: &Completed) -> bool {
    let recorded = Recorded {
        spans: &completed.spans,
        fits: &|others, event| fits(completed, others, event),
    };
    stale::is_serial(&completed.events, &completed.pairs, &recorded)
}

/// What a recorded run shows.
pub(crate) struct Looked {
    pub completed: Completed,
    pub tables: Tables,
    pub uses: Vec<StaleUse>,
    /// Why there may be more.
    pub incomplete: Option<String>,
}

/// Looks at a recording with the table of methods that everybody has ([`Looked::at`]).
pub(crate) fn look_for(
    path: &Path,
    most_events: u64,
    stop: &ShouldStop<'_>,
) -> Result<Option<Looked>, Error> {
    let asked = Asked::new(&PredictConfig {
        stale: true,
        ..PredictConfig::default()
    })?;
    Looked::at(path, &asked, most_events, stop)
}

impl Looked {
    /// Looks at a recording; none if it has more than so many events, or somebody says stop before its threads
    /// were followed.
    pub(super) fn at(
        path: &Path,
        asked: &Asked,
        most_events: u64,
        stop: &ShouldStop<'_>,
    ) -> Result<Option<Looked>, Error> {
        let mut trace = traces::open(path)?;
        if trace.event_count() > most_events {
            return Ok(None);
        }
        let mut events = Vec::new();
        let read = trace.events().for_each_event(|event| events.push(*event));
        read.with_context(|| format!("cannot read {}", path.display()))?;
        let operations = full::operations(None)?;
        let operations = asked.operations.as_ref().unwrap_or(&operations);
        let completed = full::complete_operations(&mut trace, &events, asked, operations, stop)?;
        let Some(completed) = completed else {
            return Ok(None);
        };
        let mut tables = trace.tables().clone();
        tables.sites.extend(completed.sites.iter().cloned());
        let (uses, incomplete) = find(&completed, &tables, stop);
        Ok(Some(Looked {
            completed,
            tables,
            uses,
            incomplete,
        }))
    }

    /// Whether no value can have been stale; then it is a serial order.
    pub fn is_serial(&self) -> bool {
        is_serial(&self.completed)
    }

    /// What it shows, for a report.
    pub fn violations(&self) -> Vec<AtomicityViolation> {
        let names = Names::new(&self.tables);
        let numbered = (1..).zip(&self.uses);
        numbered
            .map(|(number, used)| told(number, used, &self.completed, &names))
            .collect()
    }
}

/// The stale uses of a completed trace, of the program's own statements.
fn find(
    completed: &Completed,
    tables: &Tables,
    stop: &ShouldStop<'_>,
) -> (Vec<StaleUse>, Option<String>) {
    let fits = |others, event| fits(completed, others, event);
    let recorded = Recorded {
        spans: &completed.spans,
        fits: &fits,
    };
    let found = stale::check(
        &completed.events,
        &completed.deps,
        &completed.pairs,
        &recorded,
        stop,
    );
    let own = |part: &Part| {
        let site = tables.sites.get(&part.site);
        site.is_some_and(|site| !classfile::is_jdk_name(&site.class))
    };
    let list = { found.list.into_iter() }
        .filter(|used| own(&used.read) && own(&used.act))
        .collect();
    (list, found.incomplete)
}

pub(crate) fn told(
    number: usize,
    used: &StaleUse,
    completed: &Completed,
    names: &Names<'_>,
) -> AtomicityViolation {
    let unit = unit_of(completed, used)
        .and_then(|method| checks::method_name(names, method))
        .map(|(class, name)| format!("{class}.{name}"));
    let read = names.frame(used.read.site);
    let pattern = match (used.standing, used.other.write, used.act.write) {
        (_, false, _) => "R R' W",
        (_, true, true) => "R W' W",
        (_, true, false) => "R W' R",
    };
    let parts = [(&used.read, true), (&used.other, false), (&used.act, true)];
    let accesses = parts.map(|(part, of_unit)| {
        let frame = names.frame(part.site);
        let site = names.tables.sites.get(&part.site);
        let target = site.and_then(|site| site.target.as_ref());
        let call = target
            .filter(|_| retrace::is_imaginary(part.loc))
            .map(|target| {
                let class = target.class.rsplit('/').next().unwrap_or(&target.class);
                format!("{}.{}", class.replace('$', "."), target.name)
            });
        let location = match &target {
            Some(target) if call.is_some() => encoding::names::dotted(&target.class),
            _ => checks::location(&names.location_of(part.loc, [part.site; 2])),
        };
        let access = checks::access(names, part, of_unit, frame, location);
        findings::prediction::UnitAccess { call, ..access }
    });
    AtomicityViolation {
        id: format!("A{number}"),
        status: match used.standing {
            Standing::Potential => Status::Potential,
            Standing::Predicted => Status::Predicted,
            Standing::Happened => Status::Observed,
        },
        unit: unit.unwrap_or_else(|| format!("{}.{}", read.class, read.method)),
        at: checks::at(&read),
        pattern: pattern.to_owned(),
        accesses: accesses.into(),
        stale: Some(match used.flow {
            Flow::Value => StaleFlow::Value,
            Flow::Decision => StaleFlow::Decision,
        }),
        tried: None,
        replay: None,
        advice: None,
        witness: Some(steps(
            names,
            &Told::of_order(&completed.events, &used.witness, 1),
        )),
    }
}

/// The method in which a value is looked at and acted on, by its number.
pub(crate) fn unit_of(completed: &Completed, used: &StaleUse) -> Option<u32> {
    innermost(&completed.events, used.read.event, used.act.event)
}

/// The innermost method that has both events.
fn innermost(events: &[Event], first: u32, second: u32) -> Option<u32> {
    let thread = events.get(first as usize)?.thread;
    let mut open: Vec<u32> = Vec::new();
    let mut common = None;
    let until = events.get(..=second as usize)?;
    for (at, e) in (0u32..).zip(until).filter(|(_, e)| e.thread == thread) {
        match e.op {
            Op::MethodEnter(method) => open.push(method),
            Op::MethodExit(method) => {
                if let Some(mine) = open.iter().rposition(|m| *m == method) {
                    open.truncate(mine);
                }
            }
            _ => {}
        }
        if at == first {
            common = Some(open.len());
        } else if let Some(depth) = &mut common {
            *depth = open.len().min(*depth);
        }
    }
    open.get(common?.checked_sub(1)?).copied()
}
