//! What the script of the page is given: the report as it is, the schedules
//! short enough to draw, and the source lines around every place that either
//! speaks of.

use crate::snippet::span;
use crate::terminal::Sources;
use crate::timeline::{Timelines, of_witness};
use findings::finding::Frame;
use findings::result::{Race, Report};
use findings::text::clean_line;
use serde::Serialize;
use std::collections::BTreeMap;

/// Rows of a timeline.
const MOST_ROWS: usize = 3000;

/// Source lines shown before and after one.
const AROUND: u32 = 6;

/// Frames of a stack whose source goes with it.
const DEEP: usize = 6;

#[derive(Debug, Serialize)]
pub(super) struct Data<'a> {
    report: &'a Report,
    schedules: Timelines,
    /// By package and file: `shop/Bank.java`.
    sources: BTreeMap<String, Source>,
    /// What to underline in the lines of a race's accesses, by its id: where it
    /// begins, and how many characters.
    carets: BTreeMap<&'a str, Vec<Option<(usize, usize)>>>,
}

#[derive(Debug, Default, Serialize)]
struct Source {
    path: String,
    lines: BTreeMap<u32, String>,
}

impl<'a> Data<'a> {
    pub(super) fn new(
        report: &'a Report,
        sources: &dyn Sources,
        timelines: &Timelines,
    ) -> Data<'a> {
        let mut schedules = Timelines::new();
        for (name, timeline) in timelines {
            schedules.insert(name.clone(), timeline.shortened(MOST_ROWS));
        }
        let races = { report.races.iter() }.map(|race| (&race.id, &race.witness, true));
        let atomicity = { report.atomicity.iter() }.map(|unit| (&unit.id, &unit.witness, false));
        let properties = { report.properties.iter() }.map(|p| (&p.name, &p.witness, false));
        for (id, witness, pair) in races.chain(atomicity).chain(properties) {
            let witness = witness.as_deref().unwrap_or_default();
            if let Some(timeline) = of_witness(witness, pair) {
                schedules.insert(format!("{id}.witness"), timeline);
            }
        }
        let mut found = Found {
            sources,
            files: BTreeMap::new(),
        };
        let mut carets = BTreeMap::new();
        for race in &report.races {
            carets.insert(race.id.as_str(), found.race(race));
        }
        for deadlock in &report.deadlocks {
            let stacks = deadlock.threads.iter().map(|thread| &thread.stack);
            stacks.for_each(|stack| found.stack(stack));
        }
        report.failures.iter().for_each(|f| found.stack(&f.stack));
        for access in { report.atomicity.iter() }.flat_map(|unit| &unit.accesses) {
            found.frame(&access.frame());
        }
        for timeline in schedules.values() {
            timeline.places.iter().for_each(|place| found.frame(place));
        }
        Data {
            report,
            schedules,
            sources: found.files,
            carets,
        }
    }
}

struct Found<'a> {
    sources: &'a dyn Sources,
    files: BTreeMap<String, Source>,
}

impl Found<'_> {
    fn race(&mut self, race: &Race) -> Vec<Option<(usize, usize)>> {
        let carets = race.accesses.iter().map(|access| {
            self.frame(&access.at);
            self.stack(&access.stack);
            self.stack(&access.thread_created);
            let (file, line) = (access.at.file.as_ref()?, access.at.line?);
            let (_, text) = self.sources.line(&access.at.class, file, line)?;
            Some(span(&clean_line(&text), &race.location, access.op))
        });
        let carets = carets.collect();
        race.outcomes.iter().for_each(|o| self.stack(&o.stack));
        race.allocated.iter().for_each(|at| self.frame(at));
        carets
    }

    fn stack(&mut self, frames: &[Frame]) {
        frames.iter().take(DEEP).for_each(|frame| self.frame(frame));
    }

    fn frame(&mut self, at: &Frame) {
        let (Some(file), Some(line)) = (&at.file, at.line) else {
            return;
        };
        // Most classes have no source here: one look tells.
        let Some((path, _)) = self.sources.line(&at.class, file, line) else {
            return;
        };
        let key = match at.class.rsplit_once('.') {
            Some((package, _)) => format!("{}/{file}", package.replace('.', "/")),
            None => file.clone(),
        };
        let source = self.files.entry(key).or_default();
        source.path = path;
        let around = line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND);
        for line in around {
            if let Some((_, text)) = self.sources.line(&at.class, file, line) {
                source.lines.insert(line, clean_line(&text));
            }
        }
    }
}
