//! `advise`: what to change so that races go away (JRF-E), tried before it is
//! shown.
//!
//! ```text
//! trial         controlled runs of the program, with repairs or without
//! explored      all of its executions, if they are few
//! paths         recorded runs ─► what raced, what would have ordered it (crate advise)
//! stale         the same for values that are stale when they are used
//! stable_names  names that are the same in all runs
//! to_bytecode   a suggestion ─► changes of bytecode (instrument::repair)
//! verdict       what the runs with a repair say of it
//! diff          the same change of the sources, if it compiles
//! ```
//!
//! What it claims is in words beside each suggestion: a race that is gone is in
//! none of all executions, or was not seen in so many controlled runs of the kind
//! that showed it before.

mod diff;
mod explored;
mod java_source;
mod paths;
mod stable_names;
pub(crate) mod stale;
mod to_bytecode;
mod trial;
mod verdict;

use crate::config::{ControlConfig, LaunchConfig};
use crate::error::{Context, Error};
use crate::launch::Launcher;
use crate::predict::by_schedule::Done;
use crate::progress::Progress;
use crate::session::Session;
use crate::sources::SourceTree;
use crate::traces;
use crate::verdict::{Answer, Facts};
use ::advise::{Explanation, Kind, Race, Variable, Words};
use driver::options::{Mode, Statement};
use driver::store::Store;
use encoding::names::dotted;
use findings::advice::{Occurrence, Suggestion, Validated};
use findings::result::Report;
use paths::Paths;
use protocol::RunEnd;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;
use trial::{Key, Mixture, Place, Series, Tally};
use verdict::Judged;

/// What `advise` is told.
#[derive(Clone, Debug)]
pub struct AdviseConfig {
    /// Advise on the program of this report, with its statements as scheduling
    /// points. If there is none and no program either, the last result that was
    /// kept says what the program is.
    pub from: Option<Box<Report>>,
    /// Controlled runs to learn from, and with each repair.
    pub runs: u32,
    /// Try at most this many repairs, the best first.
    pub tries: usize,
    /// Explore the program with a repair, if it has at most this many executions;
    /// 0: only run it.
    pub max_executions: u64,
    /// Free runs that measure what a repair costs; 0 for none.
    pub cost_runs: u32,
    /// Runs side by side; if none, one a core.
    pub jobs: Option<u32>,
    /// The program's standard input; if none, it is empty.
    pub input: Option<PathBuf>,
    /// Where Java sources are, besides the usual places.
    pub sources: Vec<PathBuf>,
    /// What is not tried by then is proposed untried.
    pub deadline: Option<Instant>,
    pub control: ControlConfig,
    pub launch: LaunchConfig,
}

impl Default for AdviseConfig {
    fn default() -> AdviseConfig {
        AdviseConfig {
            from: None,
            runs: 12,
            tries: 16,
            max_executions: 300,
            cost_runs: 3,
            jobs: None,
            input: None,
            sources: Vec::new(),
            deadline: None,
            control: ControlConfig::default(),
            launch: LaunchConfig::default(),
        }
    }
}

/// What `advise` came to.
#[derive(Clone, Debug)]
pub struct Advised {
    pub answer: Answer,
    /// There was no time to try everything.
    pub out_of_time: bool,
    /// Somebody stopped it.
    pub interrupted: bool,
    /// What followed `java`.
    pub program: Vec<OsString>,
}

/// Explains races and proposes repairs, each tried before it is shown.
pub fn advise(config: &AdviseConfig, progress: &dyn Progress) -> Result<Advised, Error> {
    let mut config = config.clone();
    let directory = complete(&mut config)?;
    let mut launcher = Launcher::new(&config.launch)?;
    launcher.directory = directory;
    with(&config, &launcher, progress)
}

/// The same, with somebody's launcher and a configuration that is complete.
pub(crate) fn with(
    config: &AdviseConfig,
    launcher: &Launcher<'_>,
    progress: &dyn Progress,
) -> Result<Advised, Error> {
    let began = Instant::now();
    let saved = config.from.as_deref();
    let mut work = Work {
        mixture: Mixture {
            config,
            launcher,
            progress,
            targets: saved.into_iter().flat_map(lines).collect(),
        },
        paths: Paths::default(),
        before: Tally::default(),
        warnings: Vec::new(),
    };
    let mut session = Session::new(&config.launch);
    let half = work.mixture.targeted_from();
    // Of a result that has only stale values nothing else is looked at.
    let has_stale = saved.is_some_and(stale::has_any);
    let races = !has_stale || saved.is_some_and(|saved| !saved.races.is_empty());
    if races {
        work.gather(0..half, &mut session)?;
    }
    if races && !session.is_over() {
        let seen = work.before.seen.keys();
        let found: Vec<Statement> = seen.flat_map(|key| work.lines_of(key)).collect();
        work.mixture.targets.extend(found);
        work.gather(half..config.runs, &mut session)?;
    }
    let mut violations = saved.map_or_else(Vec::new, |saved| saved.atomicity.clone());
    let mut of_stale = Done::default();
    if has_stale && !session.is_over() {
        // Races need their part.
        let left = config.deadline.filter(|_| races).map(|at| {
            let now = Instant::now();
            now + at.saturating_duration_since(now) / 2
        });
        let until = left.or(config.deadline);
        let all = &mut violations;
        of_stale = stale::advise(config, until, launcher, progress, all, &mut session)?;
    }
    let over = session.is_over();
    let (mut report, facts) = session.finish("advise");
    report.atomicity = violations;
    let facts = Facts {
        limit_reached: facts.limit_reached || work.mixture.out_of_time() || of_stale.limited,
        ..facts
    };
    if let Some(saved) = saved {
        work.missed(saved);
    }
    let ids = ids(&report);
    let advice = work.paths.advisor.advice();
    let judged = match over {
        true => Judged::untried(&advice, verdict::STOPPED),
        false => verdict::judge(&work.mixture, &work.paths, &work.before, &advice)?,
    };
    let sources = SourceTree::new(&config.sources, &config.launch.program);
    let diffs = diff::Diffs::new(&sources, &config.launch, &work.paths.book);
    put(&mut report, &work.paths, &judged, &ids, |repair| {
        if work.mixture.has_to_stop() {
            return None;
        }
        diffs.unified(repair)
    });
    report.warnings.append(&mut work.warnings);
    report.timing.total_s = began.elapsed().as_secs_f64();
    Ok(Advised {
        answer: Answer::new(report, facts),
        out_of_time: work.mixture.out_of_time() || of_stale.limited,
        interrupted: work.mixture.is_interrupted(),
        program: config.launch.program.clone(),
    })
}

/// Says what the program is if only a saved result does: the one given, or the
/// last one kept. Where to run it, if not here.
fn complete(config: &mut AdviseConfig) -> Result<Option<PathBuf>, Error> {
    if let Some(report) = &config.from {
        if config.launch.program.is_empty() {
            config.launch.program = report.program.args.iter().map(OsString::from).collect();
        }
        return Ok(None);
    }
    if !config.launch.program.is_empty() || !config.control.results.exists() {
        return Ok(None);
    }
    let store = Store::open(&config.control.results).or_usage()?;
    let program = store.program();
    let launch = &mut config.launch;
    launch.program = program.args.iter().map(OsString::from).collect();
    launch.include.extend(program.include.iter().cloned());
    launch.exclude.extend(program.exclude.iter().cloned());
    launch.trusted.extend(program.trusted.iter().cloned());
    launch.untracked.extend(program.untracked.iter().cloned());
    launch.java.get_or_insert_with(|| program.java.clone());
    config.input = config.input.take().or_else(|| program.input.clone());
    config.from = Some(Box::new(store.report().or_usage()?));
    Ok(Some(program.directory.clone()))
}

/// Lines of the races of a report.
fn lines(report: &Report) -> Vec<Statement> {
    let accesses = report.races.iter().flat_map(|race| &race.accesses);
    let line = |at: &findings::finding::Frame| {
        Some(Statement::Line {
            file: at.file.clone()?,
            line: at.line?,
        })
    };
    accesses.filter_map(|access| line(&access.at)).collect()
}

/// Advises from traces alone, one after the other; nothing is tried.
pub fn from_traces(files: &[PathBuf]) -> Result<Answer, Error> {
    let mut paths = Paths::default();
    let mut merge = findings::merge::Merge::new();
    let mut program = findings::result::Program::default();
    let mut warnings = Vec::new();
    let (mut threads, mut is_whole) = (0, true);
    for file in files {
        let mut trace = traces::open(file)?;
        if program.args.is_empty() {
            let command = trace.header().command.iter();
            program.args = command.map(|part| part.to_string()).collect();
        }
        let shown = paths
            .add(&mut trace, false, &|| false)
            .with_context(|| format!("cannot read {}", file.display()))?;
        if shown.cut_short {
            warnings.push(too_long(&file.display().to_string()));
        }
        let mut found = shown.covered;
        is_whole &= found.warnings.is_empty();
        threads = threads.max(found.summary.as_ref().map_or(0, |s| s.threads));
        found.races = shown.races;
        let run = findings::result::Run {
            ended: RunEnd::Offline,
            ..Default::default()
        };
        merge.add(found, run);
    }
    let mut report = merge.finish(crate::tool(), "advise", program, 0.0);
    report.warnings.append(&mut warnings);
    let advice = paths.advisor.advice();
    let judged = Judged::untried(&advice, "the program was not there to try it on");
    let ids = ids(&report);
    put(&mut report, &paths, &judged, &ids, |_| None);
    let facts = Facts {
        not_exercised: is_whole && threads < 2,
        limit_reached: !is_whole,
        ..Facts::default()
    };
    Ok(Answer::new(report, facts))
}

fn too_long(what: &str) -> String {
    format!("{what} is too long to be looked at whole: advice rests on its first part")
}

struct Work<'a> {
    mixture: Mixture<'a>,
    paths: Paths,
    /// The runs without repairs.
    before: Tally,
    warnings: Vec<String>,
}

impl Work<'_> {
    /// Recorded runs to learn from.
    fn gather(
        &mut self,
        numbers: std::ops::Range<u32>,
        session: &mut Session,
    ) -> Result<(), Error> {
        self.mixture.progress.step(&format!(
            "runs {} to {}, to learn from",
            numbers.start + 1,
            numbers.end
        ));
        let (paths, before, warnings) = (&mut self.paths, &mut self.before, &mut self.warnings);
        let mixture = &self.mixture;
        let mut failed = None;
        let series = Series {
            mode: Mode::Record,
            numbers,
            repairs: &[],
        };
        mixture.run(series, |mut run, trace| {
            if let Some(file) = trace.filter(|_| run.started) {
                match paths.learn(&file, &|| mixture.has_to_stop()) {
                    Ok(shown) => {
                        run.findings.races = shown.races;
                        if shown.cut_short {
                            warnings.push(too_long("a run"));
                        }
                    }
                    Err(failure) => {
                        failed = Some(failure);
                        return ControlFlow::Break(());
                    }
                }
            }
            before.add(&run);
            session.add(run);
            match session.is_over() {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        self.warnings.dedup();
        failed.map_or(Ok(()), Err)
    }

    fn lines_of(&self, key: &Key) -> Vec<Statement> {
        let file = |place: &Place| {
            let outer = place.class.rsplit('.').next().unwrap_or(&place.class);
            let outer = outer.split('$').next().unwrap_or(outer);
            let known = self.paths.book.file_of(&place.class);
            known.unwrap_or_else(|| format!("{outer}.java"))
        };
        let line = |place: &Place| {
            Some(Statement::Line {
                file: file(place),
                line: place.line?,
            })
        };
        key.lines.iter().filter_map(line).collect()
    }

    /// Races of a saved result that did not show again.
    fn missed(&mut self, saved: &Report) {
        for race in &saved.races {
            if !self.before.seen.contains_key(&Key::of_result(race)) {
                self.warnings.push(format!(
                    "{} of the saved result was not seen again in {} runs: no advice on it",
                    race.id, self.before.runs
                ));
            }
        }
    }
}

/// The ids of the report's races.
fn ids(report: &Report) -> BTreeMap<Key, String> {
    let races = report.races.iter();
    races.map(|r| (Key::of_result(r), r.id.clone())).collect()
}

/// A race of the advice as the report knows it.
fn key_of(race: &Race, paths: &Paths) -> Key {
    let field = match race.variable {
        Variable::Field(_) => Some(Words::variable(&paths.book, race.variable)),
        Variable::Array(_) => None,
    };
    let place = |number: u32| match paths.book.statement(number) {
        Some(s) => Place {
            class: dotted(&s.class),
            method: s.method.clone(),
            line: Some(s.line),
        },
        None => Place {
            class: String::new(),
            method: format!("statement {number}"),
            line: None,
        },
    };
    Key::new(field, [place(race.sites.0), place(race.sites.1)])
}

/// All that is said of a race.
#[derive(Default)]
struct OfRace {
    suggestions: Vec<Suggestion>,
    occurrence: Option<Occurrence>,
}

/// Puts the advice into the report.
fn put(
    report: &mut Report,
    paths: &Paths,
    judged: &Judged,
    ids: &BTreeMap<Key, String>,
    diff: impl Fn(&::advise::Repair) -> Option<String>,
) {
    let mut of_races: BTreeMap<Key, OfRace> = BTreeMap::new();
    let mut diffs = BTreeMap::new();
    let ids_of = |keys: &BTreeSet<Key>| -> Vec<String> {
        let mut all: Vec<String> = keys.iter().filter_map(|k| ids.get(k).cloned()).collect();
        // R10 after R9.
        all.sort_by_key(|id| (id.len(), id.clone()));
        all
    };
    for of in &judged.advice.races {
        let key = key_of(&of.race, paths);
        let entry = of_races.entry(key.clone()).or_default();
        if let Some(told) = paths.told.get(&of.race)
            && entry.occurrence.is_none()
        {
            entry.occurrence = Some(occurrence(told, paths));
        }
        let makes_sense =
            |s: &&::advise::Suggestion| to_bytecode::makes_sense(&s.repair, &paths.book);
        for suggestion in of.suggestions.iter().filter(makes_sense) {
            let mut new = judged.suggestion(suggestion, of.seen, &key, paths, &ids_of);
            // What helps only on some paths has to have been tried.
            let guess = suggestion.helps < of.seen && new.validated == Validated::NotTried;
            if guess || entry.suggestions.iter().any(|s| s.text == new.text) {
                continue;
            }
            new.diff = diffs
                .entry(suggestion.repair)
                .or_insert_with(|| diff(&suggestion.repair))
                .clone();
            entry.suggestions.push(new);
        }
        // A volatile field by itself does not keep together what belongs together.
        let wants_lock = paths.book.wants_lock(of.race.variable).is_some();
        entry.suggestions.sort_by_key(|s| {
            let alone = [Kind::Volatile, Kind::AtomicClass].map(Kind::name);
            let splits = wants_lock && alone.contains(&s.kind.as_str());
            let heals = s.leaves.is_empty();
            (s.validated, !heals, splits, Reverse(s.removes.len()))
        });
    }
    for race in &mut report.races {
        if let Some(of) = of_races.get(&Key::of_result(race)) {
            race.advice = Some(of.suggestions.clone());
            race.occurrence = of.occurrence.clone().or(race.occurrence.take());
        }
    }
    report.repairs = judged.set(paths, &ids_of).or(report.repairs.take());
}

fn occurrence(told: &Explanation, paths: &Paths) -> Occurrence {
    let book = &paths.book;
    let at = |event: &trace::Event| Words::statement(book, event.site.0);
    let does = |event: &trace::Event| match event.op {
        trace::Op::Read(_) | trace::Op::AtomicRead(..) => "read",
        _ => "write",
    };
    let side = |event: &trace::Event| format!("{} at {}", does(event), at(event));
    let mut between: Vec<String> = told
        .between
        .iter()
        // What others do among themselves is of no interest here, nor what the JDK
        // or code of the compiler's does inside.
        .filter(|passing| {
            let sides = [told.source.thread, told.manifest.thread];
            let ours = |event: &trace::Event| {
                let statement = book.statement(event.site.0);
                statement.is_none_or(|s| s.has_line && !book.owners.is_jdk(&s.class))
            };
            let inside = !ours(&passing.release) && !ours(&passing.acquire);
            sides.contains(&passing.acquire.thread) && !inside
        })
        .map(|passing| {
            let through = passing.through.map(|sync| verdict::through(&sync, book));
            let through = through.map_or("the start of a thread".to_owned(), |t| t);
            let known = |event: &trace::Event| book.statement(event.site.0).is_some();
            match known(&passing.release) && known(&passing.acquire) {
                true => {
                    let (release, acquire) = (at(&passing.release), at(&passing.acquire));
                    format!("{through}, from {release} to {acquire}")
                }
                false => through,
            }
        })
        .collect();
    if told.left_out > 0 {
        between.push(format!("and {} more", told.left_out));
    }
    Occurrence {
        source: side(&told.source),
        manifest: side(&told.manifest),
        between,
    }
}
