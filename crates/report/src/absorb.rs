//! One report out of two about the same program: what a later command found is
//! added to what is known.
//!
//! Races are the same by the rule of [`crate::merge`]. Ids of the earlier
//! report stay as they are, because schedules are kept under them; what is new
//! is numbered on. Of trials the later ones count: whoever tried again knew
//! what was there.

use crate::finding::Frame;
use crate::merge::{Key, statement};
use crate::result::{Race, Report};

impl Report {
    /// Adds a report; its runs come after those that are known.
    pub fn absorb(&mut self, later: Report) {
        let before = self.runs.len() as u64;
        // A report of a single run leaves the number out.
        let run = |first: u64| first.max(1) + before;
        for mut race in later.races {
            let key = Key::of(&race.location, lines(&race));
            let known = { self.races.iter_mut() }
                .find(|known| Key::of(&known.location, lines(known)) == key);
            match known {
                Some(known) => {
                    race.first_run = run(race.first_run);
                    add(known, race);
                }
                None => {
                    race.first_run = run(race.first_run);
                    race.id = next_id(self.races.iter().map(|race| race.id.as_str()), 'R');
                    self.races.push(race);
                }
            }
        }
        for mut new in later.deadlocks {
            match self.deadlocks.iter_mut().find(|known| known.same(&new)) {
                Some(known) => known.runs += new.runs,
                None => {
                    new.first_run = run(new.first_run);
                    new.id = next_id(self.deadlocks.iter().map(|d| d.id.as_str()), 'D');
                    self.deadlocks.push(new);
                }
            }
        }
        for mut new in later.failures {
            match self.failures.iter_mut().find(|known| known.same(&new)) {
                Some(known) => known.runs += new.runs,
                None => {
                    new.first_run = run(new.first_run);
                    new.id = next_id(self.failures.iter().map(|f| f.id.as_str()), 'F');
                    self.failures.push(new);
                }
            }
        }
        self.runs.extend(later.runs);
        let (known, new) = (&mut self.coverage, later.coverage);
        known.classes_instrumented = known.classes_instrumented.max(new.classes_instrumented);
        known.threads = known.threads.max(new.threads);
        if let Some(events) = new.events {
            known.events = Some(known.events.unwrap_or(0).saturating_add(events));
        }
        add_new(&mut known.classes_skipped, new.classes_skipped);
        add_new(&mut known.missing_models, new.missing_models);
        add_new(&mut self.warnings, later.warnings);
        self.timing.native_s = self.timing.native_s.or(later.timing.native_s);
        self.timing.total_s += later.timing.total_s;
        for (name, value) in later.other {
            self.other.entry(name).or_insert(value);
        }
        self.rank();
    }

    /// Strongest first, and of equals the first found.
    pub fn rank(&mut self) {
        let number = |race: &Race| race.id.get(1..).and_then(|n| n.parse::<u64>().ok());
        self.races.sort_by_key(|race| {
            let inside = race.location.in_jdk();
            (std::cmp::Reverse(race.status), inside, number(race))
        });
    }
}

fn lines(race: &Race) -> [&Frame; 2] {
    race.accesses.each_ref().map(|access| &access.at)
}

/// The id after those in use.
fn next_id<'a>(ids: impl Iterator<Item = &'a str>, letter: char) -> String {
    let numbers = ids.filter_map(|id| id.strip_prefix(letter)?.parse::<u64>().ok());
    format!("{letter}{}", numbers.max().unwrap_or(0) + 1)
}

fn add_new<T: PartialEq>(known: &mut Vec<T>, new: Vec<T>) {
    for item in new {
        if !known.contains(&item) {
            known.push(item);
        }
    }
}

fn add(known: &mut Race, new: Race) {
    let mut statements = std::mem::take(&mut known.statements);
    let shown = lines(known).into_iter().chain(lines(&new));
    for frame in shown.chain(&new.statements) {
        let seen = |k: &Frame| statement(k) == statement(frame);
        if frame.bci.is_some() && !statements.iter().any(seen) {
            statements.push(frame.clone());
        }
    }
    known.first_run = known.first_run.max(1);
    if new.status > known.status {
        // The run that shows what is claimed.
        (known.status, known.first_run) = (new.status, new.first_run);
    }
    known.count = known.count.saturating_add(new.count);
    known.runs += new.runs;
    // What came of trials says which of the two accesses went first.
    let bare = |race: &Race| race.accesses.iter().filter(|a| a.stack.is_empty()).count();
    let longer = known.trials.is_none() && bare(known) > bare(&new);
    if longer || new.trials.is_some() {
        known.accesses = new.accesses;
        known.location = new.location;
        known.allocated = new.allocated;
    }
    if new.trials.is_some() {
        known.trials = new.trials;
        known.outcomes = new.outcomes;
        known.harm = new.harm;
    }
    add_new(&mut known.found_by, new.found_by);
    known.found_by.sort();
    if new.replay.is_some() {
        known.replay = new.replay;
    }
    for (name, value) in new.other {
        known.other.entry(name).or_insert(value);
    }
    statements.sort_by_key(statement);
    let shown = lines(known).map(Frame::clone);
    if !statements.iter().all(|frame| shown.contains(frame)) {
        known.statements = statements;
    }
}
