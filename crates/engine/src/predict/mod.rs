//! `predict`: races that another schedule of one run would show. Several
//! engines look at the same trace; what each found is merged into one report
//! and compared in a table.

pub mod by_schedule;
mod checks;
mod directed;
mod full;
mod look;
mod shard;
pub(crate) mod stale;
mod tell;

use crate::config::LaunchConfig;
use crate::error::{Context, Error};
use crate::launch::Launcher;
use crate::session::Session;
use crate::source::Source;
use crate::verdict::{Answer, Facts};
use ::predict::{Method, ShouldStop};
use checks::{Checked, Checks};
use driver::interrupt::StopRequest;
use driver::options::Mode;
use driver::process::Output;
use driver::scratch::Scratch;
use findings::merge::Merge;
use findings::result::{Report, Run};
use findings::shard::Shard;
use findings::suppress::Suppressions;
use look::{Look, look};
use protocol::RunEnd;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

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
    /// Look for values that are stale when they are used; [`PredictConfig::atomicity`] does, too.
    pub stale: bool,
    /// Also check the properties in this file on every order that the run allows.
    pub property: Option<PathBuf>,
    /// Give up on a property after so many cuts.
    pub cuts: u64,
    /// What methods do that are not instrumented, besides what is known of the JDK.
    pub purity: Option<PathBuf>,
    /// Methods that are atomic by themselves, besides the JDK's.
    pub operations: Option<PathBuf>,
    /// Engines that are not done by then, or when Ctrl-C comes, give what they have found up
    /// to then, and the report says so; so does the search for stale values. Reading the trace and the other
    /// checks beyond races are linear or have bounds of their own, and go on.
    pub deadline: Option<Instant>,
    /// Which of the engines; the checks beyond races come after them.
    pub shard: Shard,
    /// Bytes that the analysis may take; three quarters of what is free, if nobody says. What needs more
    /// looks at the run in windows, or at its beginning, and the report says so.
    pub memory_limit: Option<u64>,
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
            stale: false,
            property: None,
            cuts: 1_000_000,
            purity: None,
            operations: None,
            deadline: None,
            shard: Shard::WHOLE,
            memory_limit: None,
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
    /// If stale values are asked for.
    operations: Option<retrace::Operations>,
}

impl Asked {
    fn new(config: &PredictConfig) -> Result<Asked, Error> {
        let operations = full::operations(config.operations.as_deref())?;
        Ok(Asked {
            checks: match config.checks() {
                true => Checks::new(config)?,
                false => Checks::new(&PredictConfig {
                    atomicity: false,
                    stale: false,
                    units: Vec::new(),
                    property: None,
                    ..config.clone()
                })?,
            },
            purity: full::purity(config.purity.as_deref())?,
            operations: (config.checks() && (config.atomicity || config.stale))
                .then_some(operations),
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
    let mut source = Source::open(path)?;
    let look = look(config, &asked, &mut source, stop)?;
    let mut merge = Merge::new();
    merge.add(
        look.covered.clone(),
        Run {
            exit: look.program.exit,
            ended: RunEnd::Offline,
            seconds: start.elapsed().as_secs_f64(),
            ..Run::default()
        },
    );
    look.merge(&mut merge);
    let checked = checks::check(&asked.checks, &look.input, stop);
    for text in look.warnings().chain(checked.warnings.clone()) {
        merge.warn(text);
    }
    let seconds = start.elapsed().as_secs_f64();
    let report = merge.finish(crate::tool(), "predict", look.program.clone(), seconds);
    let nothing = report.races.is_empty() && !checked.found;
    let is_whole = look.covered.warnings.is_empty();
    let facts = Facts {
        not_exercised: is_whole && nothing && report.coverage.threads < 2,
        limit_reached: !is_whole || look.is_cut_short(stop) || checked.cut_short,
        ..Facts::default()
    };
    Ok(finish(config, report, Some(&look), checked, facts))
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
    let sliced = config.engines(true).contains(&Method::Sliced) || asked.checks.something();
    let mode = match sliced {
        true => Mode::Full,
        false => Mode::Record,
    };
    let result = launcher.run(1, mode, Some(path.clone()), config.output)?;
    let started = result.started;
    session.add(result);
    let (mut report, mut facts) = session.finish("predict");
    let mut looked = None;
    let mut checked = Checked::default();
    if started {
        let start = Instant::now();
        let mut source = Source::open(&path)?;
        let stop = || config.is_late() || launcher.interrupts.is_requested();
        let look = look(config, &asked, &mut source, &stop)?;
        let mut merge = Merge::new();
        merge.add(
            look.covered.clone(),
            report.runs.last().cloned().unwrap_or_default(),
        );
        look.merge(&mut merge);
        facts.limit_reached |= look.is_cut_short(&stop);
        checked = checks::check(&asked.checks, &look.input, &stop);
        facts.limit_reached |= checked.cut_short;
        let texts = look.warnings().chain(checked.warnings.clone());
        for text in report.warnings.drain(..).chain(texts) {
            merge.warn(text);
        }
        let seconds = report.timing.total_s + start.elapsed().as_secs_f64();
        report = merge.finish(crate::tool(), "predict", report.program, seconds);
        looked = Some(look);
    }
    Ok(finish(config, report, looked.as_ref(), checked, facts))
}

fn finish(
    config: &PredictConfig,
    mut report: Report,
    look: Option<&Look>,
    checked: Checked,
    facts: Facts,
) -> Predicted {
    let rows = look.iter().flat_map(|look| &look.rows);
    report.engines = rows.map(|row| row.told(config.shard)).collect();
    report.atomicity = checked.atomicity;
    report.properties = checked.properties;
    shard::tell(config, &mut report);
    config.suppress.apply(&mut report);
    Predicted {
        answer: Answer::new(report, facts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::predict::STRETCHES;
    use findings::prediction::Stretch;
    use findings::result::{Program, Status};

    fn looked(text: &str) -> Result<Look, Error> {
        looked_within(text, None)
    }

    fn looked_within(text: &str, memory_limit: Option<u64>) -> Result<Look, Error> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("some.std");
        std::fs::write(&path, text)?;
        let config = PredictConfig {
            methods: Method::ALL.into_iter().collect(),
            memory_limit,
            ..PredictConfig::default()
        };
        let asked = Asked::new(&config)?;
        look(&config, &asked, &mut Source::open(&path)?, &|| false)
    }

    fn analysed(text: &str) -> (Vec<look::Row>, Report) {
        let look = looked(text).unwrap();
        let mut merge = Merge::new();
        merge.add(look.covered.clone(), Run::default());
        look.merge(&mut merge);
        let report = merge.finish(crate::tool(), "predict", Program::default(), 0.0);
        (look.rows, report)
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

    /// With room for some thousand events, and for no table at all.
    #[test]
    fn what_does_not_fit_into_memory_is_done_in_parts_and_said() {
        let mut text = String::new();
        for round in 0..4000 {
            text += &format!("T1|acq(L)|1\nT1|w(A{round})|2\nT1|rel(L)|3\n");
        }
        // Only reordering the critical sections brings the writes together.
        text += "T1|acq(L)|11\nT1|w(X)|12\nT1|rel(L)|13\nT2|acq(L)|14\nT2|rel(L)|15\nT2|w(X)|16\n";
        let look = looked_within(&text, Some(1 << 20)).unwrap();
        assert!(look.limited);
        let warnings: Vec<String> = look.warnings().collect();
        let said = |what: &str| warnings.iter().any(|w| w.contains(what));
        assert!(
            said("12006 events do not fit into memory at once"),
            "{warnings:?}"
        );
        assert!(
            said("hb may have missed races: there was no more memory after"),
            "{warnings:?}"
        );
        let found = |method| look.rows.iter().find(|row| row.method == method).unwrap();
        let osr = found(Method::Osr).found.iter().next().unwrap();
        assert_eq!((osr.first_event, osr.second_event), (Some(12_001), 12_005));
        let told = osr.told.as_ref().unwrap();
        assert!(told.omitted > 6000, "{told:?}");
        let all: u64 = told.stretches.iter().map(|(events, _)| events).sum();
        assert_eq!(told.omitted + all, 12_005);
        let whole = looked(&text).unwrap();
        assert!(!whole.limited);
        assert_eq!(
            whole.rows.iter().map(|row| row.found.len()).sum::<usize>(),
            2
        );
    }

    #[test]
    fn what_is_neither_trace_nor_text_is_the_users_error() {
        let failure = looked("no trace at all\n").err().unwrap();
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
