//! SARIF 2.1.0, for code scanning: one result a finding.
//!
//! Each race has both accesses as locations, a code flow with one thread flow a
//! thread (from the schedule, if there is one), both stacks, and a partial
//! fingerprint that survives moved lines. How sure it is decides the level:
//! observed and confirmed races are errors, predicted ones and those that did no
//! harm either way are warnings, suspicions are notes.

use crate::terminal::{Sources, member, place, subject};
use crate::timeline::{Timeline, Timelines, timelines_of_finding};
use encoding::percent;
use findings::confirmed::{Deadlock, Failure, Harm};
use findings::finding::Frame;
use findings::fingerprint::digest;
use findings::group::{self, Finding, own_statement};
use findings::prediction::{AtomicityViolation, Property, PropertyStatus};
use findings::result::{Access, Race, Report, Status};
use findings::text::{clean, counted};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Steps of a schedule that are listed, those nearest to the race.
const MOST_STEPS: usize = 60;

/// What may be found, in the order of `ruleIndex`: id, name, in a sentence.
const RULES: [(&str, &str, &str); 6] = [
    (
        "data-race",
        "DataRace",
        "Two threads access the same memory, at least one writes, and nothing orders them.",
    ),
    (
        "deadlock",
        "Deadlock",
        "Threads wait for each other, or for a notification that no thread can send.",
    ),
    ("livelock", "Livelock", "Threads go on without progress."),
    (
        "uncaught-exception",
        "UncaughtException",
        "Under some schedule an exception ends a thread.",
    ),
    (
        "atomicity-violation",
        "AtomicityViolation",
        "Another thread comes into a unit, and no serial order explains the outcome.",
    ),
    (
        "property-violation",
        "PropertyViolation",
        "Under some schedule a property that was asked for does not hold.",
    ),
];

/// Where things are found.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub sources: &'a dyn Sources,
    pub timelines: &'a Timelines,
    /// Paths below it are given relative to it: code scanning wants them so.
    pub root: Option<&'a str>,
}

/// Writes the file.
pub fn write(report: &Report, context: Context<'_>, mut out: impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, &context.log(report))?;
    out.write_all(b"\n")?;
    out.flush()
}

impl Context<'_> {
    fn log(&self, report: &Report) -> Value {
        let findings = group::findings(&report.races);
        let races = findings.iter().map(|finding| {
            let mut result = self.finding(finding);
            if let Some(state) = baseline_state(report, &finding.race.id) {
                result["baselineState"] = state.into();
            }
            result
        });
        let mut results: Vec<Value> = races.collect();
        results.extend(report.deadlocks.iter().map(|d| self.deadlock(d)));
        results.extend(report.failures.iter().map(|f| self.failure(f)));
        results.extend(report.atomicity.iter().map(|unit| self.atomicity(unit)));
        let broken = report.properties.iter();
        let broken = broken.filter(|property| property.status != PropertyStatus::Holds);
        results.extend(broken.map(|property| self.property(property)));
        let rules = RULES.map(|(id, name, text)| {
            json!({
                "id": id, "name": name,
                "shortDescription": { "text": text },
                "defaultConfiguration": { "level": "error" },
            })
        });
        let notes = report
            .warnings
            .iter()
            .map(|text| json!({ "level": "warning", "message": { "text": clean(text) } }));
        let (name, version) = report.tool.split_once(' ').unwrap_or((&report.tool, ""));
        json!({
            "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
            "version": "2.1.0",
            "runs": [{
                "tool": { "driver": { "name": name, "version": version, "rules": rules } },
                "automationDetails": { "id": format!("{name}/{}", report.command) },
                "invocations": [{
                    "executionSuccessful": true,
                    "toolExecutionNotifications": notes.collect::<Vec<_>>(),
                }],
                "columnKind": "unicodeCodePoints",
                "results": results,
            }],
        })
    }

    fn finding(&self, finding: &Finding<'_>) -> Value {
        let race = finding.race;
        let level = match (race.status, race.harm) {
            (Status::Potential, _) => "note",
            (Status::Predicted, _) | (_, Some(Harm::Harmless)) => "warning",
            (Status::Observed | Status::Confirmed, _) => "error",
        };
        let [a, b] = &race.accesses;
        let mut text = format!(
            "Race {} ({}): {} and {}.",
            subject(finding),
            race.status.word(),
            sentence(a),
            sentence(b)
        );
        if !finding.members.is_empty() {
            let more = counted(finding.members.len() as u64, "pair", "pairs");
            text += &format!(" And {more} of accesses more.");
        }
        let mut result = self.result(0, level, text, &race.fingerprint, &race.id);
        let locations = race
            .accesses
            .iter()
            .map(|access| self.location(own_statement(access), Some(&sentence(access))));
        let locations: Vec<Value> = locations.collect();
        result["locations"] = json!([locations[0]]);
        result["relatedLocations"] = json!([with_id(&locations[1], 1)]);
        result["codeFlows"] = json!([{ "threadFlows": self.flows(race) }]);
        let stacks = race
            .accesses
            .iter()
            .filter(|access| !access.stack.is_empty());
        let stacks: Vec<Value> = stacks
            .map(|access| self.stack(&sentence(access), &access.stack))
            .collect();
        if !stacks.is_empty() {
            result["stacks"] = stacks.into();
        }
        let properties = &mut result["properties"];
        properties["status"] = race.status.word().into();
        properties["foundBy"] = json!(race.found_by);
        if !finding.members.is_empty() {
            let ids = finding.members.iter().map(|race| clean(&race.id));
            properties["members"] = ids.collect();
        }
        if let Some(harm) = race.harm {
            properties["harm"] = json!(harm);
        }
        if let Some(replay) = &race.replay {
            properties["replay"] = clean(&replay.command).into();
        }
        result
    }

    /// One flow a thread: where it was started, its steps if they were kept,
    /// the access.
    fn flows(&self, race: &Race) -> Vec<Value> {
        let timeline = timelines_of_finding(self.timelines, &race.id)
            .next()
            .map(|(_, t)| t);
        let steps = timeline.map(|t| (t, t.meetings().last().unwrap_or(t.rows.len())));
        let end = steps.map_or(0, |(_, end)| end);
        let mut flows: Vec<Value> = Vec::new();
        for (index, access) in race.accesses.iter().enumerate() {
            let mut locations = Vec::new();
            if let Some(start) = access.thread_created.first() {
                locations.push(self.step(start, "the thread is started", 0, "important"));
            }
            if let Some((timeline, end)) = steps {
                locations.extend(self.steps(timeline, end, access));
            }
            let order = end + 1 + index;
            locations.push(self.step(&access.at, &sentence(access), order, "essential"));
            let id = format!("{index}: {}", clean(&access.thread));
            flows.push(json!({ "id": id, "locations": locations }));
        }
        flows
    }

    fn steps(&self, timeline: &Timeline, end: usize, access: &Access) -> Vec<Value> {
        let from = end.saturating_sub(MOST_STEPS);
        let rows = timeline.rows.iter().enumerate().take(end).skip(from);
        let mine = |lane: Option<usize>| {
            let lane = lane.and_then(|lane| timeline.lanes.get(lane));
            lane.is_some_and(|lane| lane.name == access.thread)
        };
        let steps = rows
            .filter(|(_, row)| mine(row.lane))
            .filter_map(|(at, row)| {
                let place = timeline.places.get(row.place?)?;
                Some(self.step(place, &row.what, at + 1, "unimportant"))
            });
        steps.collect()
    }

    fn step(&self, at: &Frame, text: &str, order: usize, importance: &str) -> Value {
        json!({
            "location": self.location(at, Some(text)),
            "executionOrder": order,
            "importance": importance,
        })
    }

    fn deadlock(&self, deadlock: &Deadlock) -> Value {
        let rule = if deadlock.kind == "livelock" { 2 } else { 1 };
        let names: Vec<String> = deadlock.threads.iter().map(|t| clean(&t.thread)).collect();
        let text = format!("A {} of {}.", clean(&deadlock.kind), names.join(", "));
        let places = deadlock.threads.iter().filter_map(|t| t.stack.first());
        let mut parts = vec![deadlock.kind.as_str()];
        for place in places.clone() {
            parts.extend([place.class.as_str(), place.method.as_str()]);
        }
        let mut result = self.result(rule, "error", text, &digest(&parts), &deadlock.id);
        put_locations(&mut result, places.map(|at| self.location(at, None)));
        let stacks = deadlock.threads.iter().filter(|t| !t.stack.is_empty());
        let stacks = stacks.map(|t| {
            let text = format!("{} waits for {}", t.thread, t.waits_for);
            self.stack(&clean(&text), &t.stack)
        });
        result["stacks"] = stacks.collect();
        result
    }

    fn failure(&self, failure: &Failure) -> Value {
        let text = format!(
            "{} ended thread \"{}\".",
            clean(&failure.exception),
            clean(&failure.thread)
        );
        let class = failure.exception.split(':').next().unwrap_or_default();
        let top = failure.stack.first();
        let (at, method) = top.map_or(("", ""), |f| (f.class.as_str(), f.method.as_str()));
        let mut result = self.result(3, "error", text, &digest(&[class, at, method]), &failure.id);
        let locations = top.map(|at| self.location(at, None));
        result["locations"] = locations.into_iter().collect();
        if !failure.stack.is_empty() {
            let stack = self.stack(&clean(&failure.exception), &failure.stack);
            result["stacks"] = json!([stack]);
        }
        result
    }

    fn atomicity(&self, found: &AtomicityViolation) -> Value {
        let AtomicityViolation { unit, pattern, .. } = found;
        let text = format!("{unit} is not atomic ({pattern}, {})", found.status.word());
        let mark = digest(&["atomicity", unit, pattern, ""]);
        let level = match found.status {
            Status::Observed => "error",
            _ => "warning",
        };
        let mut result = self.result(4, level, clean(&text), &mark, &found.id);
        let places = { found.accesses.iter() }
            .map(|access| self.location(&access.frame(), Some(access.op.word())));
        put_locations(&mut result, places);
        result
    }

    fn property(&self, found: &Property) -> Value {
        let (name, status) = (&found.name, found.status);
        let text = format!("The property {name} is broken ({})", status.word());
        let mark = digest(&["properties", "", "", name]);
        let level = match status {
            PropertyStatus::Observed => "error",
            _ => "warning",
        };
        let mut result = self.result(5, level, clean(&text), &mark, name);
        put_locations(&mut result, std::iter::empty());
        result
    }

    fn result(&self, rule: usize, level: &str, text: String, mark: &str, id: &str) -> Value {
        let name = RULES.get(rule).map_or("", |(id, ..)| id);
        json!({
            "ruleId": name,
            "ruleIndex": rule,
            "level": level,
            "message": { "text": text },
            "partialFingerprints": { "photofinish/v1": mark },
            "properties": { "id": clean(id) },
        })
    }

    fn stack(&self, text: &str, frames: &[Frame]) -> Value {
        let frames = frames
            .iter()
            .map(|frame| json!({ "location": self.location(frame, None) }));
        json!({ "message": { "text": text }, "frames": frames.collect::<Vec<_>>() })
    }

    fn location(&self, at: &Frame, text: Option<&str>) -> Value {
        let mut found = Map::new();
        if let Some(physical) = self.physical(at) {
            found.insert("physicalLocation".into(), physical);
        }
        if !at.class.is_empty() || !at.method.is_empty() {
            let logical = json!([{ "fullyQualifiedName": member(at), "kind": "function" }]);
            found.insert("logicalLocations".into(), logical);
        }
        let text = text.map_or_else(|| place(at), clean);
        found.insert("message".into(), json!({ "text": text }));
        found.into()
    }

    fn physical(&self, at: &Frame) -> Option<Value> {
        let file = at.file.as_ref()?;
        let found = at
            .line
            .and_then(|line| self.sources.line(&at.class, file, line));
        let path = match found {
            Some((path, _)) => path,
            // As it would be below the root of its sources.
            None => match at.class.rsplit_once('.') {
                Some((package, _)) => format!("{}/{file}", package.replace('.', "/")),
                None => file.clone(),
            },
        };
        let mut physical = json!({ "artifactLocation": { "uri": self.uri(&path) } });
        if let Some(line) = at.line.filter(|line| *line > 0) {
            physical["region"] = json!({ "startLine": line });
        }
        Some(physical)
    }

    fn uri(&self, path: &str) -> String {
        let below = self.root.and_then(|root| {
            let root = root.trim_end_matches('/');
            path.strip_prefix(root)?.strip_prefix('/')
        });
        let path = below.unwrap_or(path);
        let path = path.trim_start_matches("./");
        let encoded = percent::encode(path.as_bytes());
        if path.starts_with('/') {
            format!("file://{encoded}")
        } else {
            encoded
        }
    }
}

/// What a comparison with an earlier result says of a race.
fn baseline_state(report: &Report, id: &str) -> Option<&'static str> {
    let baseline = report.baseline.as_ref()?;
    let listed = |list: &[String]| list.iter().any(|one| one == id);
    match () {
        () if listed(&baseline.new) => Some("new"),
        () if listed(&baseline.known) => Some("unchanged"),
        () => None,
    }
}

/// The first of the places is where it is, the others belong to it.
fn put_locations(result: &mut Value, mut places: impl Iterator<Item = Value>) {
    result["locations"] = places.next().into_iter().collect();
    let rest = places.zip(1..).map(|(at, id)| with_id(&at, id));
    result["relatedLocations"] = rest.collect();
}

/// A related location has a number.
fn with_id(location: &Value, id: usize) -> Value {
    let mut location = location.clone();
    location["id"] = id.into();
    location
}

/// `write by thread "main"`.
fn sentence(access: &Access) -> String {
    let op = access.op.word();
    format!("{op} by thread \"{}\"", clean(&access.thread))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::NoSources;

    #[test]
    fn paths_as_code_scanning_wants_them() {
        let timelines = Timelines::new();
        let context = Context {
            sources: &NoSources,
            timelines: &timelines,
            root: Some("/home/me/shop"),
        };
        assert_eq!(context.uri("/home/me/shop/src/A.java"), "src/A.java");
        assert_eq!(
            context.uri("/home/me/shopping/A.java"),
            "file:///home/me/shopping/A.java"
        );
        assert_eq!(context.uri("./src/Ä b.java"), "src/%C3%84%20b.java");
        assert_eq!(context.uri("a:b%.java"), "a%3Ab%25.java");
    }
}
