//! `predict`: races that another schedule of one run would show. Several
//! engines look at the same trace; what each found is merged into one report
//! and compared in a table.

mod checks;
mod full;

use crate::config::LaunchConfig;
use crate::error::{Context, Error};
use crate::launch::Launcher;
use crate::offline::{self, HeldLock, Names};
use crate::session::Session;
use crate::verdict::{Answer, Facts};
use ::predict::deps::Deps;
use ::predict::{Method, Prediction, Predictions, ShouldStop, Standing};
use checks::{Checked, Checks};
use detect::held::HeldLocks;
use driver::interrupt::StopRequest;
use driver::options::Mode;
use driver::process::Output;
use driver::scratch::Scratch;
use findings::finding::Findings;
use findings::merge::Merge;
use findings::prediction::{Engine, Stretch, Witness};
use findings::result::{Program, Report, Run, Status};
use findings::suppress::Suppressions;
use protocol::RunEnd;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;
use trace::std_text::{self, Strictness};
use trace::{Event, LockId, ObjId, Op, Tables, ThreadId, Trace};

/// Stretches of a witness that are written out; of a longer one, the last.
const STRETCHES: usize = 200;

/// What `predict` is told.
#[derive(Clone, Debug)]
pub struct PredictConfig {
    /// How to predict.
    pub methods: BTreeSet<Method>,
    /// Also predict where something comes into a critical section, or into a
    /// unit, that no serial order explains.
    pub atomicity: bool,
    /// Methods that are meant to be atomic: `com.shop.Bank.transfer`, `Bank.*`.
    pub units: Vec<String>,
    /// Also check the properties in this file on every order that the run allows.
    pub property: Option<PathBuf>,
    /// Give up on a property after so many cuts.
    pub cuts: u64,
    /// What methods do that are not instrumented, besides what is known of the JDK.
    pub purity: Option<PathBuf>,
    /// Engines that are not done by then, or when Ctrl-C comes, give what they have found up
    /// to then, and the report says so. Reading the trace and the checks beyond races are linear
    /// or have bounds of their own, and go on.
    pub deadline: Option<Instant>,
    /// Where the output of a program that is run goes.
    pub output: Output,
    pub suppress: Suppressions,
    pub launch: LaunchConfig,
}

impl Default for PredictConfig {
    fn default() -> PredictConfig {
        PredictConfig {
            methods: Method::ALL
                .into_iter()
                .filter(|m| *m != Method::Wcp)
                .collect(),
            atomicity: false,
            units: Vec::new(),
            property: None,
            cuts: 1_000_000,
            purity: None,
            deadline: None,
            output: Output::Capture,
            suppress: Suppressions::default(),
            launch: LaunchConfig::default(),
        }
    }
}

impl PredictConfig {
    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|at| at <= Instant::now())
    }
}

/// What was predicted.
#[derive(Clone, Debug)]
pub struct Predicted {
    pub answer: Answer,
}

/// What is read before anything is run.
struct Asked {
    checks: Checks,
    purity: retrace::Table,
}

impl Asked {
    fn new(config: &PredictConfig) -> Result<Asked, Error> {
        Ok(Asked {
            checks: Checks::new(config)?,
            purity: full::purity(config.purity.as_deref())?,
        })
    }
}

/// Predicts from a trace, or from RAPID's STD text.
pub fn from_trace(config: &PredictConfig, path: &Path) -> Result<Predicted, Error> {
    let asked = StopRequest::catch().context("cannot listen for signals")?;
    let stop = || config.is_late() || asked.is_requested();
    let mut predicted = from_trace_until(config, path, &stop)?;
    if predicted.answer.facts.not_exercised {
        let warnings = &mut predicted.answer.report.warnings;
        warnings.push("only one thread did anything: nothing was exercised".to_owned());
    }
    Ok(predicted)
}

/// The same, until somebody says stop. That nothing was exercised is in the facts
/// alone.
pub(crate) fn from_trace_until(
    config: &PredictConfig,
    path: &Path,
    stop: &ShouldStop<'_>,
) -> Result<Predicted, Error> {
    let start = Instant::now();
    let asked = Asked::new(config)?;
    let input = read(path, &asked.purity)?;
    let (rows, mut merge) = analyse(&config.methods, &input, stop, |merge, found| {
        merge.add(
            found,
            Run {
                exit: input.program.exit,
                ended: RunEnd::Offline,
                seconds: start.elapsed().as_secs_f64(),
                ..Run::default()
            },
        );
    });
    let checked = checks::check(&asked.checks, &input);
    let texts = input.complaints.iter().cloned().chain(complaints(&rows));
    for text in texts.chain(checked.warnings.clone()) {
        merge.warn(text);
    }
    let seconds = start.elapsed().as_secs_f64();
    let report = merge.finish(crate::tool(), "predict", input.program.clone(), seconds);
    let nothing = report.races.is_empty() && !checked.found;
    let is_whole = input.covered.warnings.is_empty();
    let facts = Facts {
        not_exercised: is_whole && nothing && report.coverage.threads < 2,
        limit_reached: !is_whole || is_cut_short(&rows, stop),
        ..Facts::default()
    };
    Ok(finish(config, report, &rows, checked, facts))
}

/// Predicts from one recorded run of the program.
pub fn from_program(config: &PredictConfig) -> Result<Predicted, Error> {
    let launcher = Launcher::new(&config.launch)?;
    let asked = Asked::new(config)?;
    let directory =
        Scratch::create().context("cannot make a directory for the trace; is TMPDIR writable?")?;
    let path = directory.path().join("trace.pft");

    let mut session = Session::new(&config.launch);
    // The others need no more than the events.
    let sliced = config.methods.contains(&Method::Sliced) || asked.checks.something();
    let mode = match sliced {
        true => Mode::Full,
        false => Mode::Record,
    };
    let result = launcher.run(1, mode, Some(path.clone()), config.output)?;
    let started = result.started;
    session.add(result);
    let (mut report, mut facts) = session.finish("predict");
    let mut rows = Vec::new();
    let mut checked = Checked::default();
    if started {
        let start = Instant::now();
        let input = read(&path, &asked.purity)?;
        let run = report.runs.last().cloned().unwrap_or_default();
        let stop = || config.is_late() || launcher.interrupts.is_requested();
        let (done, mut merge) = analyse(&config.methods, &input, &stop, |merge, found| {
            merge.add(found, run);
        });
        rows = done;
        facts.limit_reached |= is_cut_short(&rows, &stop);
        checked = checks::check(&asked.checks, &input);
        let texts = input.complaints.iter().cloned().chain(complaints(&rows));
        let texts = texts.chain(checked.warnings.clone());
        for text in report.warnings.drain(..).chain(texts) {
            merge.warn(text);
        }
        let seconds = report.timing.total_s + start.elapsed().as_secs_f64();
        report = merge.finish(crate::tool(), "predict", report.program, seconds);
    }
    Ok(finish(config, report, &rows, checked, facts))
}

/// A trace in memory.
struct Input {
    events: Vec<Event>,
    /// What the events depend on, if the trace says.
    deps: Deps,
    /// The order of accesses that race is the one of the run.
    ordered: bool,
    tables: Tables,
    covered: Findings,
    program: Program,
    /// What could not be followed.
    complaints: Vec<String>,
}

/// Reads a trace, or STD text: the content tells which.
fn read(path: &Path, purity: &retrace::Table) -> Result<Input, Error> {
    content(path, purity)
        .with_context(|| format!("cannot read {}", path.display()))
        .or_usage()
}

fn content(path: &Path, purity: &retrace::Table) -> Result<Input, Error> {
    let file = File::open(path)?;
    let mut events = Vec::new();
    match Trace::open(file) {
        Ok(mut trace) => {
            let mut all = trace.events();
            all.for_each_event(|event| events.push(*event))?;
            let gap = all.gap();
            let program = Program {
                args: trace
                    .header()
                    .command
                    .iter()
                    .map(|p| p.to_string())
                    .collect(),
                exit: trace.footer().and_then(|footer| footer.exit_code),
                ..Program::default()
            };
            let covered = offline::covered(&trace, gap, events.len() as u64);
            let mut deps = Deps::unknown();
            let mut complaints = Vec::new();
            let ordered = trace.header().ordered;
            if !ordered {
                complaints.push(
                    "the trace does not say in which order accesses came that race, so nothing \
                     is proven by it: record the program again with this version"
                        .to_owned(),
                );
            }
            if retrace::is_full(trace.tables()) {
                let done = full::complete(&mut trace, &events, purity)?;
                complaints.extend(full::complaints(&done.stats));
                (events, deps) = (done.events, done.deps);
            }
            Ok(Input {
                covered,
                tables: trace.tables().clone(),
                deps,
                ordered,
                events,
                program,
                complaints,
            })
        }
        Err(trace::Error::NotATrace) => {
            let file = File::open(path)?;
            let sink = |event: &Event| {
                events.push(*event);
                Ok(())
            };
            let done = std_text::import(file, Strictness::Strict, sink)
                .context("it is no trace, and as STD text")?;
            let threads: BTreeSet<ThreadId> = events.iter().map(|e| e.thread).collect();
            let summary = findings::finding::Summary {
                events: Some(events.len() as u64),
                threads: threads.len() as u64,
                ended: RunEnd::Exit,
                ..Default::default()
            };
            Ok(Input {
                events,
                deps: Deps::unknown(),
                ordered: true,
                tables: done.tables,
                covered: Findings {
                    summary: Some(summary),
                    ..Findings::default()
                },
                program: Program::default(),
                complaints: Vec::new(),
            })
        }
        Err(error) => Err(error.into()),
    }
}

/// One engine's row of the table.
struct Row {
    method: Method,
    found: Predictions,
    seconds: f64,
    /// Pairs that no other engine found.
    alone: usize,
}

impl Row {
    fn count(&self, standing: Standing) -> usize {
        self.found.iter().filter(|p| p.standing == standing).count()
    }

    fn told(&self) -> Engine {
        Engine {
            engine: self.method.name().to_owned(),
            pairs: self.found.len() as u64,
            observed: self.count(Standing::Observed) as u64,
            predicted: self.count(Standing::Predicted) as u64,
            potential: self.count(Standing::Potential) as u64,
            alone: self.alone as u64,
            complete: self.found.incomplete.is_none(),
            seconds: self.seconds,
        }
    }
}

/// Runs the engines and merges what they find; `begin` adds the run to the
/// merge, with what the trace covers.
fn analyse(
    methods: &BTreeSet<Method>,
    input: &Input,
    stop: &ShouldStop<'_>,
    begin: impl FnOnce(&mut Merge, Findings),
) -> (Vec<Row>, Merge) {
    let mut merge = Merge::new();
    begin(&mut merge, input.covered.clone());
    let run = |method: &Method| {
        let start = Instant::now();
        let mut found = method.run_until(&input.events, &input.deps, stop);
        if !input.ordered {
            found.doubt();
        }
        Row {
            method: *method,
            found,
            seconds: start.elapsed().as_secs_f64(),
            alone: 0,
        }
    };
    // Without dependences it is OSR once more.
    let again = input.deps.is_unknown() && methods.contains(&Method::Osr);
    let mut rows: Vec<Row> = { methods.iter() }
        .filter(|m| **m != Method::Sliced || !again)
        .map(run)
        .collect();
    compare(&mut rows);

    let names = Names::new(&input.tables);
    let locks = locks(&rows, &input.events);
    for row in &rows {
        for p in &row.found {
            let finding = detect::Finding {
                loc: p.loc,
                first: p.first,
                second: p.second,
                event: p.second_event,
                count: p.count,
            };
            let mut race = names.race(&finding, row.method.name(), &[]);
            for (access, event) in race
                .accesses
                .iter_mut()
                .zip([p.first_event, Some(p.second_event)])
            {
                let held = event.and_then(|event| locks.get(&event));
                access.locks = held.map(|held| held.iter().map(|h| names.lock(h)).collect());
            }
            let witness = p.witness.as_ref().map(|w| w.order(&input.events));
            let witness = witness.map(|order| steps(&names, &input.events, &order, 2));
            merge.add_worked_out(race, status(p.standing), witness);
        }
    }
    (rows, merge)
}

fn status(standing: Standing) -> Status {
    match standing {
        Standing::Potential => Status::Potential,
        Standing::Predicted => Status::Predicted,
        Standing::Observed => Status::Observed,
    }
}

/// Counts what each engine alone found, by statements and location.
fn compare(rows: &mut [Row]) {
    let key = |p: &Prediction| {
        let (a, b) = (p.first.site, p.second.site);
        (a.min(b), a.max(b), p.loc.slot)
    };
    let mut finders: FxHashMap<_, usize> = FxHashMap::default();
    for row in rows.iter() {
        for pair in row.found.iter().map(key).collect::<BTreeSet<_>>() {
            *finders.entry(pair).or_default() += 1;
        }
    }
    for row in rows {
        let pairs: BTreeSet<_> = row.found.iter().map(key).collect();
        row.alone = pairs.iter().filter(|pair| finders[*pair] == 1).count();
    }
}

/// The locks held at every access that is part of a race.
fn locks(rows: &[Row], events: &[Event]) -> FxHashMap<u64, Vec<HeldLock>> {
    let of = |p: &Prediction| p.first_event.into_iter().chain([p.second_event]);
    let wanted: BTreeSet<u64> = rows
        .iter()
        .flat_map(|r| r.found.iter())
        .flat_map(of)
        .collect();
    let mut locks = FxHashMap::default();
    let mut held = HeldLocks::default();
    let mut wanted = wanted.into_iter().peekable();
    for (at, e) in (0u64..).zip(events) {
        held.event(e);
        if wanted.next_if_eq(&at).is_some() {
            let now = held.sets.get(held.locks_of(e.thread)).iter();
            let now = now.map(|h| HeldLock {
                lock: ObjId(h.lock),
                shared: h.shared,
            });
            locks.insert(at, now.collect());
        }
        if wanted.peek().is_none() {
            break;
        }
    }
    locks
}

/// A witness for people and scripts: who does how many events, one stretch
/// after the other, and what the last of each is.
/// `alone` events at the end stand for themselves.
fn steps(names: &Names<'_>, events: &[Event], order: &[u32], alone: usize) -> Witness {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for at in 0..order.len() {
        let thread = |at: usize| events.get(order[at] as usize).map(|e| e.thread);
        match stretches.last_mut() {
            Some((_, end)) if at + alone < order.len() && thread(*end) == thread(at) => *end = at,
            _ => stretches.push((at, at)),
        }
    }
    let skip = stretches.len().saturating_sub(STRETCHES);
    let mut list = Vec::new();
    if let Some((start, _)) = stretches.get(skip).filter(|_| skip > 0) {
        list.push(Stretch::LeftOut {
            omitted: *start as u64,
        });
    }
    for (start, end) in &stretches[skip..] {
        let Some(last) = order.get(*end).and_then(|e| events.get(*e as usize)) else {
            continue;
        };
        let frame = names.frame(last.site);
        let at = match (&frame.file, frame.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            _ if frame.class.is_empty() => frame.method.clone(),
            _ => format!("{}.{}", frame.class, frame.method),
        };
        let thread = names.thread(last.thread);
        // Traces of other tools have no classes.
        let has_class = !frame.class.is_empty();
        list.push(Stretch::Events {
            thread: thread.name,
            thread_id: thread.id,
            events: (end - start + 1) as u64,
            last: verb(names, last),
            at,
            class: has_class.then_some(frame.class),
            method: has_class.then_some(frame.method),
        });
    }
    list
}

/// What an event does, in a word or two, in the program's names where the recording has them.
fn verb(names: &Names<'_>, event: &Event) -> String {
    let access = |what: &str| match names.accessed(event.site) {
        Some(field) => format!("{what} {field}"),
        None => what.to_owned(),
    };
    let lock = |what: &str, LockId(lock): LockId| {
        let shared = false;
        format!("{what} {}", names.lock(&HeldLock { lock, shared }))
    };
    let with = |what: &str, thread| format!("{what} \"{}\"", names.thread(thread).name);
    match event.op {
        Op::Read(_) | Op::AtomicRead(..) => access("read"),
        Op::Write(_) | Op::AtomicWrite(..) => access("write"),
        Op::AtomicUpdate(..) => access("update"),
        Op::Acquire(l) | Op::AcquireShared(l) => lock("acquire", l),
        Op::Release(l) | Op::ReleaseShared(l) => lock("release", l),
        Op::WaitBegin(l) => lock("wait", l),
        Op::WaitEnd { lock: l, .. } => lock("wake", l),
        Op::Notify(l) | Op::NotifyAll(l) => lock("notify", l),
        Op::Fork(thread) => with("start", thread),
        Op::Join(thread) => with("join", thread),
        Op::Begin => "begin".into(),
        Op::End => "end".into(),
        Op::Interrupt(thread) => with("interrupt", thread),
        Op::Interrupted => "interrupted".into(),
        Op::Park => "park".into(),
        Op::Unpark(thread) => with("unpark", thread),
        Op::SyncRelease(_) => "hand over".into(),
        Op::SyncAcquire(_) => "take over".into(),
        Op::InitBegin(_) => "begin of static initialiser".into(),
        Op::InitEnd(_) => "end of static initialiser".into(),
        Op::MethodEnter(_) => "method entry".into(),
        Op::MethodExit(_) => "method exit".into(),
        Op::Branch(_) => "branch".into(),
        Op::Unsure(_) => "unsure".into(),
    }
}

/// Where an engine did not do all it says.
fn complaints(rows: &[Row]) -> Vec<String> {
    let mut texts = Vec::new();
    for row in rows {
        let name = row.method.name();
        if let Some(why) = &row.found.incomplete {
            texts.push(format!("{name} may have missed races: {why}"));
        }
        if row.found.refuted > 0 {
            texts.push(format!(
                "{} predictions of {name} are left out: the checker did not accept their witnesses",
                row.found.refuted
            ));
        }
        if row.found.beyond() > 0 {
            texts.push(format!(
                "{name} saw {} further races that are not listed",
                row.found.beyond()
            ));
        }
    }
    texts
}

/// Whether engines were told to stop before they were done.
fn is_cut_short(rows: &[Row], stop: &ShouldStop<'_>) -> bool {
    stop() && rows.iter().any(|row| row.found.incomplete.is_some())
}

fn finish(
    config: &PredictConfig,
    mut report: Report,
    rows: &[Row],
    checked: Checked,
    facts: Facts,
) -> Predicted {
    report.engines = rows.iter().map(Row::told).collect();
    report.atomicity = checked.atomicity;
    report.properties = checked.properties;
    config.suppress.apply(&mut report);
    Predicted {
        answer: Answer::new(report, facts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(text: &str) -> Result<Input, Error> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("some.std");
        std::fs::write(&path, text)?;
        read(&path, &retrace::Table::default())
    }

    fn analysed(text: &str) -> (Vec<Row>, Report) {
        let input = input(text).unwrap();
        let methods = Method::ALL.into_iter().collect();
        let (rows, merge) = analyse(&methods, &input, &|| false, |merge, found| {
            merge.add(found, Run::default());
        });
        (
            rows,
            merge.finish(crate::tool(), "predict", Program::default(), 0.0),
        )
    }

    #[test]
    fn what_is_predicted_has_a_witness_and_what_is_not_is_called_otherwise() {
        // Only reordering the critical sections brings the writes together.
        let reversed = "T1|acq(L)|1\nT1|w(X)|2\nT1|rel(L)|3\nT2|acq(L)|4\nT2|rel(L)|5\nT2|w(X)|6\n";
        let (rows, report) = analysed(reversed);
        let [race] = report.races.as_slice() else {
            panic!("{:?}", report.races)
        };
        assert_eq!(race.status, Status::Predicted);
        assert_eq!(race.found_by, ["osr", "wcp"]);
        assert_eq!(race.accesses[0].locks.as_ref().map(Vec::len), Some(1));
        let who: Vec<_> = { race.witness.as_ref().unwrap().iter() }
            .map(|stretch| match stretch {
                Stretch::Events { thread, events, .. } => (thread.as_str(), *events),
                Stretch::LeftOut { .. } => panic!("{stretch:?}"),
            })
            .collect();
        assert_eq!(who, [("T2", 2), ("T1", 1), ("T1", 1), ("T2", 1)]);
        assert_eq!((report.runs[0].races, rows[4].alone), (1, 0));

        let (_, report) = analysed("T1|w(X)|1\nT2|w(X)|2\n");
        assert_eq!(report.races[0].status, Status::Observed);
        assert_eq!(report.races[0].found_by.len(), Method::ALL.len() - 1);
        assert!(report.races[0].witness.is_some());

        let (rows, report) = analysed("T1|w(X)|1\nT1|w(Y)|2\n");
        assert!(report.races.is_empty());
        // Without dependences, sliced is OSR once more.
        assert_eq!(rows.len(), Method::ALL.len() - 1);
    }

    #[test]
    fn what_is_neither_trace_nor_text_is_the_users_error() {
        let failure = input("no trace at all\n").err().unwrap();
        assert!(matches!(failure, Error::Usage(_)));
    }

    #[test]
    fn long_witnesses_are_shortened_from_the_front() {
        let mut text = String::new();
        for n in 0..400 {
            text += &format!("T{}|r(A{n})|1\n", n % 2);
        }
        text += "T0|w(X)|2\nT1|w(X)|3\n";
        let (_, report) = analysed(&text);
        let steps = report.races[0].witness.as_ref().unwrap();
        assert_eq!(steps.len(), STRETCHES + 1);
        let omitted = 400 + 2 - STRETCHES as u64;
        assert_eq!(steps[0], Stretch::LeftOut { omitted });
        let last = &steps[STRETCHES];
        assert!(matches!(last, Stretch::Events { last, .. } if last == "write"));
    }
}
