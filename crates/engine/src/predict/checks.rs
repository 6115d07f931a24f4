//! Beyond races: units that something can come into (`--atomicity`), and
//! properties over named events (`--property`).

use super::look::Input;
use super::tell::steps;
use super::{PredictConfig, stale};
use crate::error::{Context, Error};
use crate::offline::{HeldLock, Names};
use ::predict::atomicity::{self, Part, Unit, What};
use ::predict::property::{self, Kind, Labelled, Limits, Named, Spec};
use ::predict::{ShouldStop, Told};
use encoding::names::{dotted, glob};
use findings::finding::{AccessOp, Frame, Location};
use findings::prediction::{
    AtomicityViolation, NamedEvent, Part as PartOf, Property, PropertyStatus, UnitAccess, Witness,
};
use findings::result::Status;
use std::path::Path;
use trace::{Event, Op};

/// What is asked for, read before anything is run.
pub struct Checks {
    atomicity: bool,
    stale: bool,
    units: Vec<String>,
    spec: Spec,
    cuts: u64,
}

impl Checks {
    pub fn new(config: &PredictConfig) -> Result<Checks, Error> {
        let spec = match &config.property {
            Some(path) => specification(path)?,
            None => Spec::default(),
        };
        Ok(Checks {
            atomicity: config.atomicity || !config.units.is_empty(),
            stale: config.atomicity || config.stale,
            units: config.units.clone(),
            spec,
            cuts: config.cuts,
        })
    }

    /// Whether there is anything to do.
    pub fn something(&self) -> bool {
        self.atomicity || self.stale || !self.spec.properties.is_empty()
    }
}

fn specification(path: &Path) -> Result<Spec, Error> {
    let text = crate::input::read_text(path).map_err(Error::from);
    text.and_then(|text| Spec::parse(&text).map_err(Error::from))
        .with_context(|| format!("cannot use {}", path.display()))
        .or_usage()
}

/// What came of it: for the report, and what to warn of.
#[derive(Default)]
pub struct Checked {
    pub atomicity: Vec<AtomicityViolation>,
    pub properties: Vec<Property>,
    pub warnings: Vec<String>,
    pub found: bool,
    /// Somebody said stop.
    pub cut_short: bool,
}

pub fn check(asked: &Checks, input: &Input, stop: &ShouldStop<'_>) -> Checked {
    let mut checked = Checked::default();
    if asked.something() && !input.ordered {
        let why = "atomicity and properties were not checked: they need the order of all accesses";
        checked.warnings.push(why.into());
        return checked;
    }
    let names = Names::new(&input.tables);
    if asked.atomicity {
        atomicity(asked, input, &names, &mut checked);
    }
    if asked.stale {
        stale::check(input, &mut checked, stop);
    }
    if !asked.spec.properties.is_empty() {
        properties(asked, input, &names, &mut checked);
    }
    checked
}

fn atomicity(asked: &Checks, input: &Input, names: &Names<'_>, checked: &mut Checked) {
    let mut units: Vec<Unit> = atomicity::blocks(&input.events);
    if !asked.units.is_empty() {
        let wanted = |method: u32| {
            let known = method_name(names, method);
            known.is_some_and(|(class, name)| {
                asked
                    .units
                    .iter()
                    .any(|unit| is_member(unit, &class, &name))
            })
        };
        let methods = atomicity::methods(&input.events, wanted);
        if methods.is_empty() {
            checked.warnings.push(format!(
                "no call of {} is in the trace; calls are recorded with `record --full`",
                asked.units.join(", ")
            ));
        }
        units.extend(methods);
    }
    let found = atomicity::check(&input.events, &input.deps, &units);
    if let Some(why) = &found.incomplete {
        checked
            .warnings
            .push(format!("atomicity violations may have been missed: {why}"));
    }
    checked.found |= !found.list.is_empty();
    for (n, violation) in (1..).zip(&found.list) {
        let unit = match violation.unit {
            What::Block(lock) => {
                let held = HeldLock {
                    lock: lock.0,
                    shared: false,
                };
                format!("critical section of {}", names.lock(&held))
            }
            What::Method(method) => match method_name(names, method) {
                Some((class, name)) => format!("{class}.{name}"),
                None => format!("method {method}"),
            },
        };
        let begin = names.frame(violation.begin);
        let pattern = violation.pattern.name();
        let last = violation.accesses.len() - 1;
        let mut accesses = Vec::new();
        for (n, part) in violation.accesses.iter().enumerate() {
            let of_unit = n == 0 || n == last;
            let frame = names.frame(part.site);
            let location = location(&names.location_of(part.loc, [part.site; 2]));
            accesses.push(access(names, part, of_unit, frame, location));
        }
        checked.atomicity.push(AtomicityViolation {
            id: format!("A{n}"),
            status: Status::Predicted,
            unit,
            at: at(&begin),
            pattern: pattern.to_owned(),
            accesses,
            stale: None,
            tried: None,
            replay: None,
            advice: None,
            witness: Some(witness(names, input, &violation.witness)),
        });
    }
}

fn witness(names: &Names<'_>, input: &Input, order: &[u32]) -> Witness {
    steps(names, &Told::of_order(&input.events, order, 1))
}

pub(super) fn access(
    names: &Names<'_>,
    part: &Part,
    of_unit: bool,
    frame: Frame,
    location: String,
) -> UnitAccess {
    UnitAccess {
        part: if of_unit { PartOf::Unit } else { PartOf::Other },
        op: if part.write {
            AccessOp::Write
        } else {
            AccessOp::Read
        },
        location,
        thread: names.thread(part.thread).name,
        class: frame.class,
        method: frame.method,
        file: frame.file,
        line: frame.line,
        call: None,
    }
}

pub(super) fn location(location: &Location) -> String {
    match location {
        Location::Field { class, field, .. } if class.is_empty() => field.clone(),
        Location::Field { class, field, .. } => format!("{class}.{field}"),
        Location::Array { array, index, .. } => match index {
            Some(index) => format!("{array}, element {index}"),
            None => array.clone(),
        },
    }
}

fn properties(asked: &Checks, input: &Input, names: &Names<'_>, checked: &mut Checked) {
    let labels = labels(&asked.spec.events, &input.events, names);
    let seen = labels.iter().fold(0, |all, l| all | l.names);
    for (n, event) in asked.spec.events.iter().enumerate() {
        if seen >> n & 1 == 0 {
            let full = match event.kind {
                Kind::Call | Kind::Return => "; calls are recorded with `record --full`",
                Kind::Read | Kind::Write => "",
            };
            checked
                .warnings
                .push(format!("no event {:?} is in the trace{full}", event.name));
        }
    }
    let limits = Limits {
        cuts: asked.cuts,
        ..Limits::default()
    };
    for property in &asked.spec.properties {
        let done = property::check(&input.events, &input.deps, &labels, property, limits);
        let (status, named, order) = match (&done.observed, &done.violation) {
            (Some(event), _) => {
                let named: Vec<Labelled> = labels
                    .iter()
                    .filter(|l| l.event <= *event && l.names & property.alphabet() != 0)
                    .copied()
                    .collect();
                (
                    PropertyStatus::Observed,
                    named,
                    (0..=*event).collect::<Vec<u32>>(),
                )
            }
            (None, Some(violation)) => (
                PropertyStatus::Predicted,
                violation.named.clone(),
                violation.order.clone(),
            ),
            (None, None) => (PropertyStatus::Holds, Vec::new(), Vec::new()),
        };
        let broken = status != PropertyStatus::Holds;
        checked.found |= broken;
        if let Some(why) = &done.incomplete {
            checked
                .warnings
                .push(format!("property {}: incomplete: {why}", property.name));
        }
        let path: Vec<NamedEvent> = named
            .iter()
            .map(|l| named_event(&asked.spec.events, input, names, l))
            .collect();
        checked.properties.push(Property {
            name: property.name.clone(),
            status,
            complete: done.incomplete.is_none(),
            cuts: done.cuts,
            path,
            witness: broken.then(|| witness(names, input, &order)),
        });
    }
}

fn named_event(events: &[Named], input: &Input, names: &Names<'_>, label: &Labelled) -> NamedEvent {
    let e = &input.events[label.event as usize];
    let called: Vec<&str> = events
        .iter()
        .enumerate()
        .filter(|(n, _)| label.names >> n & 1 == 1)
        .map(|(_, event)| event.name.as_str())
        .collect();
    let thread = names.thread(e.thread);
    NamedEvent {
        event: called.join(" "),
        thread: thread.name,
        thread_id: thread.id,
        at: at(&names.frame(e.site)),
    }
}

/// Which events have which names.
fn labels(events: &[Named], trace: &[Event], names: &Names<'_>) -> Vec<Labelled> {
    let mut known: std::collections::HashMap<(Kind, u32), u64> = Default::default();
    let mut of = |kind: Kind, number: u32| {
        *known.entry((kind, number)).or_insert_with(|| {
            let member = match kind {
                Kind::Call | Kind::Return => method_name(names, number),
                Kind::Read | Kind::Write => field_name(names, number),
            };
            let Some((class, name)) = member else {
                return 0;
            };
            let fits = |e: &Named| e.kind == kind && is_member(&e.target, &class, &name);
            let bits = events.iter().enumerate().filter(|(_, e)| fits(e));
            bits.fold(0, |all, (n, _)| all | 1 << n)
        })
    };
    let mut list = Vec::new();
    for (event, e) in (0u32..).zip(trace) {
        // Elements of arrays have no names; their slots are indices.
        let element = || {
            let site = names.tables.sites.get(&e.site);
            site.is_some_and(|site| site.kind.is_element())
        };
        let bits = match e.op {
            Op::MethodEnter(method) => of(Kind::Call, method),
            Op::MethodExit(method) => of(Kind::Return, method),
            Op::Read(loc) | Op::AtomicRead(loc, _) => of(Kind::Read, loc.slot),
            Op::Write(loc) | Op::AtomicWrite(loc, _) => of(Kind::Write, loc.slot),
            Op::AtomicUpdate(loc, _) => of(Kind::Read, loc.slot) | of(Kind::Write, loc.slot),
            _ => 0,
        };
        if bits != 0 && !element() {
            list.push(Labelled { event, names: bits });
        }
    }
    list
}

pub(super) fn method_name(names: &Names<'_>, method: u32) -> Option<(String, String)> {
    let method = names.tables.methods.get(&method)?;
    let class = names.tables.classes.get(&method.class)?;
    Some((dotted(&class.name), method.name.to_string()))
}

fn field_name(names: &Names<'_>, slot: u32) -> Option<(String, String)> {
    let field = names.tables.fields.get(&slot)?;
    Some((dotted(&field.class), field.name.to_string()))
}

/// Whether `Class.member`, with `*` for anything, means this one. The class
/// may be given without its package.
fn is_member(pattern: &str, class: &str, member: &str) -> bool {
    let (wanted, name) = pattern.rsplit_once('.').unwrap_or(("*", pattern));
    let simple = class.rsplit(['.', '$']).next().unwrap_or(class);
    let unpacked = class.rsplit('.').next().unwrap_or(class);
    let fits = |class: &str| glob(wanted, class);
    glob(name, member) && (fits(class) || fits(simple) || fits(unpacked))
}

pub(super) fn at(frame: &Frame) -> String {
    match (&frame.file, frame.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        _ if frame.class.is_empty() => frame.method.clone(),
        _ => format!("{}.{}", frame.class, frame.method),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_by_pattern() {
        for yes in [
            "com.shop.Bank.transfer",
            "Bank.transfer",
            "*.transfer",
            "Bank.*",
            "com.*.Bank.tr*r",
        ] {
            assert!(is_member(yes, "com.shop.Bank", "transfer"), "{yes}");
        }
        for no in [
            "Ban.transfer",
            "Bank.trans",
            "shop.Bank.transfer",
            "Bank.transferx",
        ] {
            assert!(!is_member(no, "com.shop.Bank", "transfer"), "{no}");
        }
        assert!(is_member(
            "Entry.setValue",
            "java.util.Map$Entry",
            "setValue"
        ));
        assert!(is_member(
            "Map$Entry.setValue",
            "java.util.Map$Entry",
            "setValue"
        ));
    }
}
