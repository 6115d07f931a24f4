//! The merger: one fold, of runs into a report and of a report into a report.
//!
//! A race of the report is a location and an unordered pair of source lines:
//! `total++` in two threads is one race, though a detector sees read-write and
//! write-write pairs. Runs and detectors that found the same race add up; the
//! strongest status wins, and `first_run` is the first run that showed it with
//! that status. A race inside the JDK is also known by the program's two calls that led
//! there; where one of them is unknown it may be any. The accesses shown are those of the first finding, except that
//! a finding with a known stack on either side replaces one that has none. Of
//! trials the later ones count: a later attempt knew what was there.
//!
//! [`Merge::finish`] ranks races: what did harm first, then what changed the output, then
//! the program's own before the JDK's, then by status, location and statements, so equal findings give
//! equal reports whatever order the threads happened to run in. Races that lead a finding
//! ([`crate::group`]) are numbered before all others. A report that
//! is added to ([`Report::absorb`]) keeps its ids, because schedules are kept
//! under them; what is new is numbered on.

use crate::confirmed::{Deadlock, Failure, Harm, Replay};
use crate::finding::{self, Findings, Frame, Location, Skipped, is_jdks, race_may_be_jdks};
use crate::fingerprint::fingerprint;
use crate::group::{self, own_call};
use crate::prediction::Witness;
use crate::result::{Access, Coverage, Program, Race, Report, Run, SCHEMA, Status, Timing};
use crate::sampling::Sampling;
use crate::suppress::name;
use indexmap::IndexSet;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// What identifies a race while merging. For arrays the element's index is
/// left out: a race on `table[3]` and one on `table[4]` at the same statements
/// are one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Key {
    pair: Pair,
    context: Context,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Pair {
    location: (String, String),
    lines: [Line; 2],
}

/// How the program comes to the two, if they are inside the JDK: by which calls, and which field
/// holds what these are about. What is not known may be anything.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct Context {
    calls: [Option<Line>; 2],
    holder: Option<String>,
}

/// Class, method and line.
pub(crate) type Line = (String, String, Option<u32>);

impl Key {
    pub(crate) fn new(race: &Race) -> Key {
        let location = match &race.location {
            Location::Field { class, field, .. } => (class.clone(), field.clone()),
            Location::Array {
                array,
                from,
                allocated,
                ..
            } => {
                let origin = match (from, allocated) {
                    (Some(from), _) => from.to_string(),
                    (None, Some(at)) => format!("{}.{}", at.class, at.method),
                    (None, None) => String::new(),
                };
                (array.clone(), origin)
            }
        };
        let side = |access: &Access| (line(&access.at), own_call(access).map(line));
        let [a, b] = &race.accesses;
        let mut sides = [side(a), side(b)];
        sides.sort();
        let [(first, first_call), (second, second_call)] = sides;
        Key {
            pair: Pair {
                location,
                lines: [first, second],
            },
            context: Context {
                calls: [first_call, second_call],
                holder: group::holder(race).map(|field| name(&field)),
            },
        }
    }

    fn fits(&self, other: &Key) -> bool {
        self.pair == other.pair && self.context.joined(&other.context, &self.pair).is_some()
    }
}

impl Context {
    /// What is known of a race of which this and the other are known; None if they are two.
    fn joined(&self, other: &Context, pair: &Pair) -> Option<Context> {
        fn both<T: Clone + PartialEq>(a: &Option<T>, b: &Option<T>) -> Option<Option<T>> {
            match (a, b) {
                (Some(a), Some(b)) if a != b => None,
                _ => Some(a.clone().or(b.clone())),
            }
        }
        let holder = both(&self.holder, &other.holder)?;
        let ([a, b], [x, y]) = (&self.calls, &other.calls);
        let straight = || Some([both(a, x)?, both(b, y)?]);
        let [first, second] = &pair.lines;
        let crossed = || Some([both(a, y)?, both(b, x)?]).filter(|_| first == second);
        let calls = straight().or_else(crossed)?;
        Some(Context { calls, holder })
    }
}

/// The line of a statement, or its place in the bytecode.
pub(crate) fn line(f: &Frame) -> Line {
    (f.class.clone(), f.method.clone(), f.line.or(f.bci))
}

/// A race that is known.
#[derive(Clone, Debug)]
struct Known {
    context: Context,
    /// Where in the list of races.
    at: usize,
    /// In which run it was counted last.
    counted: Option<usize>,
}

const JDKS: &str = "races inside the JDK are called potential where it is not known who called \
                    there: the JDK has locks of its own that are not watched";

/// Collects runs and reports; [`Merge::finish`] makes the report.
#[derive(Clone, Debug, Default)]
pub struct Merge {
    races: Vec<Race>,
    places: HashMap<Pair, Vec<Known>>,
    /// The highest number of an id in use.
    last_id: u64,
    runs: Vec<Run>,
    skipped: IndexSet<Skipped>,
    warnings: IndexSet<String>,
    missing_models: IndexSet<String>,
    coverage: Coverage,
    deadlocks: Vec<Deadlock>,
    failures: Vec<Failure>,
}

impl Merge {
    pub fn new() -> Merge {
        Merge::default()
    }

    /// What was put together elsewhere, to be ranked and numbered.
    pub(crate) fn of(
        races: Vec<Race>,
        runs: Vec<Run>,
        mut coverage: Coverage,
        deadlocks: Vec<Deadlock>,
        failures: Vec<Failure>,
    ) -> Merge {
        Merge {
            races,
            runs,
            skipped: coverage.classes_skipped.drain(..).collect(),
            missing_models: coverage.missing_models.drain(..).collect(),
            coverage,
            deadlocks,
            failures,
            ..Merge::default()
        }
    }

    /// Adds what one run said. `run.races` is filled in here.
    pub fn add(&mut self, findings: Findings, mut run: Run) {
        let index = self.runs.len();
        self.warnings.extend(findings.all_warnings());
        let watched = findings.unwatched.is_empty();
        let mut shown = BTreeSet::new();
        for found in findings.races {
            let status = match watched {
                true => self.standing(&found, Status::of_detector(&found.detector)),
                false => Status::Potential,
            };
            let mut race = race(found, status);
            if run.hidden.is_some() {
                add_new(&mut race.found_by, ["drfinder".to_owned()]);
            }
            shown.insert(self.fold_race(race, index, true));
        }
        run.races = shown.len() as u64;
        self.runs.push(run);
        for what in findings.unwatched {
            self.warn(format!(
                "the program uses {what}, which are not watched: what they do is not checked, and \
                 since they may have ordered others unseen, races are called potential"
            ));
        }
        self.skipped.extend(findings.skipped);
        let number = index as u64 + 1;
        let deadlocks = findings.deadlocks.into_iter();
        let deadlocks = deadlocks.map(|still| Deadlock::new("deadlock", still, number));
        let livelocks = findings.livelocks.into_iter();
        let livelocks = livelocks.map(|still| Deadlock::new("livelock", still, number));
        let failures = findings.uncaught.into_iter();
        let failures = failures.map(|uncaught| Failure::new(uncaught, number));
        // Two threads of one run may die of the same.
        for deadlock in once(deadlocks.chain(livelocks), Deadlock::same) {
            self.fold_deadlock(deadlock);
        }
        for failure in once(failures, Failure::same) {
            self.fold_failure(failure);
        }
        if let Some((why, _)) = findings.stuck {
            self.warn(format!("run {number} was stuck and had to be ended: {why}"));
        }
        if let Some(summary) = findings.summary {
            self.fold_coverage(Coverage {
                classes_instrumented: summary.classes_instrumented,
                events: summary.events,
                threads: summary.threads,
                missing_models: summary.missing_models,
                sampling: summary.sampling.map(Sampling::new),
                ..Coverage::default()
            });
        }
    }

    /// Adds a race that somebody worked out from the last run added, with what
    /// it is worth and the evidence for it. The first evidence is kept.
    pub fn add_worked_out(
        &mut self,
        found: finding::Race,
        status: Status,
        witness: Option<Witness>,
    ) {
        let index = self.runs.len().saturating_sub(1);
        let status = self.standing(&found, status);
        let mut race = race(found, status);
        race.witness = witness;
        let counted = self.known(&Key::new(&race)).and_then(|known| known.counted);
        self.fold_race(race, index, true);
        if counted != Some(index)
            && let Some(run) = self.runs.last_mut()
        {
            run.races += 1;
        }
    }

    /// Adds a report; its runs come after those that are known.
    fn add_report(&mut self, later: Report) {
        let before = self.runs.len();
        for race in later.races {
            // A report of a single run leaves the number out.
            let index = before + race.first_run.max(1) as usize - 1;
            self.fold_race(race, index, false);
        }
        for mut deadlock in later.deadlocks {
            deadlock.first_run = deadlock.first_run.max(1) + before as u64;
            self.fold_deadlock(deadlock);
        }
        for mut failure in later.failures {
            failure.first_run = failure.first_run.max(1) + before as u64;
            self.fold_failure(failure);
        }
        self.runs.extend(later.runs);
        self.fold_coverage(later.coverage);
        self.warnings.extend(later.warnings);
    }

    pub fn warn(&mut self, text: String) {
        self.warnings.insert(text);
    }

    /// What a finding is worth, knowing who called.
    fn standing(&mut self, race: &finding::Race, status: Status) -> Status {
        if status == Status::Potential || !race_may_be_jdks(race) {
            return status;
        }
        self.warn(JDKS.to_owned());
        Status::Potential
    }

    /// Adds a race that was first seen in the run of this index, and answers its place. `single`: it
    /// is a finding of that run, in which the race may have been counted already.
    fn fold_race(&mut self, mut race: Race, run: usize, single: bool) -> usize {
        let key = Key::new(&race);
        race.first_run = run as u64 + 1;
        let counted = single.then_some(run);
        match self.known(&key) {
            Some(known) => {
                if counted.is_some() && known.counted == counted {
                    race.runs = 0;
                }
                known.counted = counted;
                let at = known.at;
                join(&mut self.races[at], race);
                at
            }
            None => {
                let at = self.races.len();
                self.last_id += 1;
                race.id = format!("R{}", self.last_id);
                race.found_by.sort();
                self.races.push(race);
                self.know(key, at, counted);
                at
            }
        }
    }

    /// The race of this key, if it is known; of what it says, too, from now on. The very same
    /// context comes before one that merely does not contradict.
    fn known(&mut self, key: &Key) -> Option<&mut Known> {
        let all = self.places.get_mut(&key.pair)?;
        let same = all.iter().position(|known| known.context == key.context);
        let fits = |known: &Known| known.context.joined(&key.context, &key.pair);
        let (at, context) = match same {
            Some(at) => (at, key.context.clone()),
            None => { all.iter().enumerate() }.find_map(|(at, known)| Some((at, fits(known)?)))?,
        };
        let known = all.get_mut(at)?;
        known.context = context;
        Some(known)
    }

    fn know(&mut self, key: Key, at: usize, counted: Option<usize>) {
        let known = Known {
            context: key.context,
            at,
            counted,
        };
        self.places.entry(key.pair).or_default().push(known);
    }

    fn fold_deadlock(&mut self, mut new: Deadlock) {
        match self.deadlocks.iter_mut().find(|known| known.same(&new)) {
            Some(known) => known.runs += new.runs,
            None => {
                let last = last_id(self.deadlocks.iter().map(|d| d.id.as_str()), 'D');
                new.id = format!("D{}", last + 1);
                self.deadlocks.push(new);
            }
        }
    }

    fn fold_failure(&mut self, mut new: Failure) {
        match self.failures.iter_mut().find(|known| known.same(&new)) {
            Some(known) => known.runs += new.runs,
            None => {
                let last = last_id(self.failures.iter().map(|f| f.id.as_str()), 'F');
                new.id = format!("F{}", last + 1);
                self.failures.push(new);
            }
        }
    }

    fn fold_coverage(&mut self, new: Coverage) {
        let known = &mut self.coverage;
        known.classes_instrumented = known.classes_instrumented.max(new.classes_instrumented);
        known.threads = known.threads.max(new.threads);
        if let Some(events) = new.events {
            known.events = Some(known.events.unwrap_or(0).saturating_add(events));
        }
        Sampling::join_some(&mut known.sampling, new.sampling);
        self.skipped.extend(new.classes_skipped);
        self.missing_models.extend(new.missing_models);
    }

    /// Numbers the races and closes the account.
    pub fn finish(mut self, tool: String, command: &str, program: Program, total_s: f64) -> Report {
        self.races
            .sort_by_cached_key(|race| (rank(race), Key::new(race)));
        let several = self.runs.len() > 1;
        for (race, number) in self.races.iter_mut().zip(0..) {
            race.id = format!("R{number}");
            if !several {
                race.first_run = 0;
            }
        }
        // First those that lead a finding.
        let findings = group::findings(&self.races);
        let leaders = findings.iter().map(|finding| finding.race);
        let members = findings.iter().flat_map(|finding| &finding.members);
        let order: HashMap<String, u64> = leaders
            .chain(members.copied())
            .map(|race| race.id.clone())
            .zip(1..)
            .collect();
        for race in &mut self.races {
            if let Some(number) = order.get(&race.id) {
                race.id = format!("R{number}");
            }
        }
        rank_all(&mut self.races);
        self.skipped.sort();
        self.warnings.sort();
        self.missing_models.sort();
        let mut report = Report::new(tool, command, program);
        report.timing.total_s = total_s;
        self.fill(&mut report);
        report
    }

    /// Puts what was collected into a report.
    fn fill(self, report: &mut Report) {
        report.runs = self.runs;
        report.races = self.races;
        report.deadlocks = self.deadlocks;
        report.failures = self.failures;
        report.coverage = Coverage {
            classes_skipped: self.skipped.into_iter().collect(),
            missing_models: self.missing_models.into_iter().collect(),
            ..self.coverage
        };
        report.warnings = self.warnings.into_iter().collect();
    }
}

impl Report {
    /// A report in which nothing was found yet.
    pub fn new(tool: String, command: &str, program: Program) -> Report {
        Report {
            schema: SCHEMA,
            tool,
            command: command.to_owned(),
            program,
            runs: Vec::new(),
            races: Vec::new(),
            deadlocks: Vec::new(),
            failures: Vec::new(),
            coverage: Coverage::default(),
            engines: Vec::new(),
            atomicity: Vec::new(),
            properties: Vec::new(),
            exploration: None,
            schedules: None,
            repairs: None,
            reference: None,
            reference_runs: Vec::new(),
            replayed: None,
            hunt: None,
            suppressed: Vec::new(),
            baseline: None,
            limit_reached: false,
            not_exercised: false,
            shards: Vec::new(),
            merged: 0,
            warnings: Vec::new(),
            timing: Timing::default(),
            other: Default::default(),
        }
    }

    /// Adds what a later command found about the same program; its runs come
    /// after those that are known.
    pub fn absorb(&mut self, mut later: Report) {
        self.timing.native_s = self.timing.native_s.or(later.timing.native_s);
        self.timing.total_s += later.timing.total_s;
        keep(&mut self.engines, std::mem::take(&mut later.engines));
        keep(&mut self.atomicity, std::mem::take(&mut later.atomicity));
        keep(&mut self.properties, std::mem::take(&mut later.properties));
        keep(&mut self.suppressed, std::mem::take(&mut later.suppressed));
        self.exploration = self.exploration.take().or(later.exploration.take());
        self.repairs = self.repairs.take().or(later.repairs.take());
        self.reference = self.reference.take().or(later.reference.take());
        self.replayed = self.replayed.take().or(later.replayed.take());
        self.hunt = self.hunt.take().or(later.hunt.take());
        self.limit_reached |= later.limit_reached;
        self.baseline = self.baseline.take().or(later.baseline.take());
        for (name, value) in std::mem::take(&mut later.other) {
            self.other.entry(name).or_insert(value);
        }
        let mut merge = Merge {
            races: std::mem::take(&mut self.races),
            runs: std::mem::take(&mut self.runs),
            skipped: std::mem::take(&mut self.coverage.classes_skipped)
                .into_iter()
                .collect(),
            missing_models: std::mem::take(&mut self.coverage.missing_models)
                .into_iter()
                .collect(),
            warnings: std::mem::take(&mut self.warnings).into_iter().collect(),
            coverage: std::mem::take(&mut self.coverage),
            deadlocks: std::mem::take(&mut self.deadlocks),
            failures: std::mem::take(&mut self.failures),
            places: HashMap::new(),
            last_id: 0,
        };
        merge.last_id = last_id(merge.races.iter().map(|race| race.id.as_str()), 'R');
        for at in 0..merge.races.len() {
            merge.know(Key::new(&merge.races[at]), at, None);
        }
        merge.add_report(later);
        merge.fill(self);
        self.rank();
    }

    /// The same race in this report, whatever its id.
    pub fn find(&self, race: &Race) -> Option<&Race> {
        let key = Key::new(race);
        let same = self.races.iter().find(|known| Key::new(known) == key);
        same.or_else(|| self.races.iter().find(|known| Key::new(known).fits(&key)))
    }

    /// Every way to see something again, with the id of what it shows.
    pub fn replays_mut(&mut self) -> Vec<(String, &mut Option<Replay>)> {
        let mut all = Vec::new();
        for race in &mut self.races {
            // Those of outcomes first: that of the race is one of them.
            let outcomes = race.outcomes.iter_mut().map(|outcome| &mut outcome.replay);
            let own = outcomes.chain([&mut race.replay]);
            all.extend(own.map(|replay| (race.id.clone(), replay)));
        }
        let deadlocks = self.deadlocks.iter_mut();
        all.extend(deadlocks.map(|it| (it.id.clone(), &mut it.replay)));
        let failures = self.failures.iter_mut();
        all.extend(failures.map(|it| (it.id.clone(), &mut it.replay)));
        all
    }

    /// What did harm first; of equals the first found.
    pub fn rank(&mut self) {
        rank_all(&mut self.races);
    }
}

/// The order of reports.
pub(crate) fn rank_all(races: &mut [Race]) {
    let number = |race: &Race| race.id.get(1..).and_then(|n| n.parse::<u64>().ok());
    races.sort_by_key(|race| (rank(race), number(race)));
}

/// What is more important is less: findings before suspicions; harmful before changed before
/// the rest; the program's own before the JDK's; the stronger claim; and of
/// those inside the JDK such of which both calls are known.
fn rank(race: &Race) -> (bool, u8, bool, Reverse<Status>, usize) {
    let harm = match race.harm {
        Some(Harm::Harmful) => 0,
        Some(Harm::ChangesOutput) => 1,
        // What was made to happen leads what was not, harmless or not.
        Some(Harm::Unknown | Harm::Harmless) | None => 2,
    };
    let own = |access: &&Access| group::is_foreign(group::own_statement(access));
    let unknown = race.accesses.iter().filter(own).count();
    let foreign = is_jdks(&race.location) && group::holder(race).is_none();
    (
        !race.is_finding(),
        harm,
        foreign,
        Reverse(race.status),
        unknown,
    )
}

/// Adds to a race what is said of the same race elsewhere.
fn join(known: &mut Race, new: Race) {
    let statements = statements(known, &new);
    if new.status > known.status {
        // The run that shows what is claimed.
        (known.status, known.first_run) = (new.status, new.first_run);
    }
    // A report of a single run leaves the number out.
    known.first_run = known.first_run.max(1);
    known.count = known.count.saturating_add(new.count);
    known.runs += new.runs;
    // What came of trials says which of the two accesses went first.
    let unknown = |access: &&Access| access.stack.is_empty() || !access.stack_exact;
    let bare = |race: &Race| race.accesses.iter().filter(unknown).count();
    let longer = known.trials.is_none() && bare(known) > bare(&new);
    if longer || new.trials.is_some() {
        known.accesses = new.accesses;
        known.location = new.location;
        known.allocated = new.allocated;
        // The program's calls may be known only now.
        known.fingerprint = fingerprint(known);
    }
    if new.trials.is_some() {
        known.trials = new.trials;
        known.outcomes = new.outcomes;
        known.harm = new.harm;
    }
    add_new(&mut known.found_by, new.found_by);
    known.found_by.sort();
    known.replay = new.replay.or(known.replay.take());
    known.witness = known.witness.take().or(new.witness);
    known.advice = known.advice.take().or(new.advice);
    known.occurrence = known.occurrence.take().or(new.occurrence);
    if known.story.is_empty() {
        known.story = new.story;
    }
    for (name, value) in new.other {
        known.other.entry(name).or_insert(value);
    }
    let shown = |frame: &Frame| ends(known).contains(&frame);
    let all_shown = statements.iter().all(shown);
    known.statements = if all_shown { Vec::new() } else { statements };
}

/// All instructions that take part in either.
fn statements(known: &Race, new: &Race) -> Vec<Frame> {
    let statement = |f: &Frame| (f.class.clone(), f.method.clone(), f.desc.clone(), f.bci);
    let all = { known.statements.iter() }
        .chain(ends(known))
        .chain(ends(new))
        .chain(&new.statements);
    let mut list: Vec<Frame> = all.filter(|frame| frame.bci.is_some()).cloned().collect();
    list.sort_by_cached_key(statement);
    list.dedup_by_key(|frame| statement(frame));
    list
}

/// A race as it is when it is first found, still without an id.
pub fn race(mut found: finding::Race, status: Status) -> Race {
    if let Location::Array { allocated, .. } = &mut found.location {
        *allocated = allocated.take().or(found.allocated.take());
    }
    let mut race = Race {
        id: String::new(),
        fingerprint: String::new(),
        status,
        found_by: vec![found.detector],
        location: found.location,
        accesses: found.accesses.map(access),
        allocated: found.allocated,
        count: found.count,
        runs: 1,
        first_run: 0,
        statements: Vec::new(),
        outcomes: Vec::new(),
        trials: None,
        harm: None,
        replay: None,
        witness: None,
        advice: None,
        story: Vec::new(),
        occurrence: None,
        other: Default::default(),
    };
    race.fingerprint = fingerprint(&race);
    race
}

fn access(found: finding::Access) -> Access {
    Access {
        op: found.op,
        thread: found.thread.name,
        thread_id: found.thread.id,
        thread_created: found.thread.created,
        at: found.frame,
        locks: found.locks,
        stack: found.stack,
        stack_exact: found.stack_exact,
        holders: found.holders,
    }
}

pub(crate) fn ends(race: &Race) -> [&Frame; 2] {
    race.accesses.each_ref().map(|access| &access.at)
}

/// The highest number of the ids.
fn last_id<'a>(ids: impl Iterator<Item = &'a str>, letter: char) -> u64 {
    let numbers = ids.filter_map(|id| id.strip_prefix(letter)?.parse::<u64>().ok());
    numbers.max().unwrap_or(0)
}

fn add_new<T: PartialEq>(known: &mut Vec<T>, new: impl IntoIterator<Item = T>) {
    for item in new {
        if !known.contains(&item) {
            known.push(item);
        }
    }
}

/// The first list, unless it is empty.
fn keep<T>(known: &mut Vec<T>, new: Vec<T>) {
    if known.is_empty() {
        *known = new;
    }
}

/// Without those that are the same as one before.
fn once<T>(all: impl Iterator<Item = T>, same: fn(&T, &T) -> bool) -> Vec<T> {
    let mut list: Vec<T> = Vec::new();
    for one in all {
        if !list.iter().any(|known| same(known, &one)) {
            list.push(one);
        }
    }
    list
}
