//! The second exploration of `verify --memory weak`: what reads of older writes lead to.
//!
//! **What it explores.** The locations that race are known from the first exploration. Their reads become choices: each sees
//! one of the writes that crate `memory` lets it see, the newest first. An execution class is an order of the dependent steps
//! (as in the first exploration: a read and the writes of its location depend on each other) together with the
//! choice of each read. What a read may see follows from the steps before it in that order, so choices
//! are ways to make a step, as the thread that a notify wakes is, and crate `explore` makes each class once
//! (`explore/tests/weak.rs` compares with brute force over the axioms). A thread whose loop changes nothing does not
//! go round again before somebody writes what it read: if it read an older value, it may do so for ever,
//! and that is what is reported; that it sees the newer one is another class.
//!
//! **What it claims.** If it is complete: every execution of docs/memory.md's rule, up to the order of independent
//! steps; what that rule leaves out (reads that are late above all) is left out here. Writes with the value of the newest one are not told
//! apart from it. It is not complete if a location was written in a way that is not followed, or more often
//! than its values are kept. Races that appear only here become choices in a further round, as in every exploration.
//!
//! **What is redundant.** Two orders of a write and a read that sees neither more nor less by it are two classes. Counting them once
//! would need an order without the conflicts that the choice already covers (Abdulla et al., "Optimal Stateless Model Checking for
//! Reads-From Equivalence", 2018); here is the plain product.
//!
//! Nothing found here goes into the first verdict: without a race both are the same (17.4.5), and with one the races are
//! in it already.

use super::search::{self, Kept, Search, SearchConfig, weak};
use super::{Completeness, VerifyConfig};
use crate::confirm::verdict::who_waits;
use crate::error::Error;
use crate::executions::{key_of_failure, key_of_race, key_of_still};
use crate::launch::Launcher;
use crate::progress::Progress;
use crate::session::Session;
use explore::Config;
use findings::confirmed::StaleRead;
use findings::exploration::{WeakExploration, WeakFinding, WeakKind};
use findings::finding::{Findings, Frame, Race, StuckThreads, Uncaught};
use findings::result::Status;
use findings::suppress;
use std::collections::BTreeSet;

/// Findings that are told.
const MOST: usize = 100;

const NOT_BEGUN: &str =
    "older values were not tried: the first exploration did not come to its end";
const FIRST_LACKS: &str =
    "the first exploration is not complete, so that there may be races that it does not know of";

/// What a run shows, and the keys of what is new of it.
#[derive(Clone, Debug)]
pub struct News {
    pub number: u64,
    pub found: Findings,
    pub keys: Vec<String>,
}

/// What came of it; of each finding, how to make its execution again.
pub(super) struct Explored {
    pub told: WeakExploration,
    pub kept: Vec<Option<Kept>>,
    pub interrupted: bool,
}

/// Explores it, with what the first exploration knows.
pub(super) fn explore(
    launcher: &Launcher<'_>,
    config: &VerifyConfig,
    first_asked: &SearchConfig,
    first: &Search<'_>,
    progress: &dyn Progress,
) -> Result<Explored, Error> {
    let standing = first.standing();
    let points: Vec<_> = first.points().cloned().map(weak).collect();
    if standing.is_cut || points.is_empty() {
        return Ok(without(standing.is_cut, standing.is_complete()));
    }
    let asked = SearchConfig {
        points,
        config: Config {
            threshold: None,
            ..first_asked.config
        },
        samples: false,
        weak: Some(first.seen().clone()),
        ..first_asked.clone()
    };
    let session = Session::new(&config.launch);
    let mut watch = |search: &Search<'_>| {
        progress.explored(&search.standing().progress);
        Ok(())
    };
    let search = search::explore(launcher, session, &asked, None, &mut watch)?;
    let completeness = Completeness::from_standing(&search.standing());
    let mut not_complete = completeness.reasons;
    let complete = completeness.complete && standing.is_complete();
    if !standing.is_complete() {
        not_complete.push(FIRST_LACKS.to_owned());
    }
    let (findings, kept) = told(&search);
    Ok(Explored {
        told: WeakExploration {
            complete,
            executions: completeness.progress.executions,
            classes: completeness.classes,
            rounds: completeness.rounds.into(),
            max_depth: completeness.progress.max_depth as u64,
            estimate: completeness.progress.estimate.map(f64::round),
            not_complete,
            findings,
        },
        kept,
        interrupted: search.standing().interrupted,
    })
}

/// There was nothing to explore: no race, or the first exploration was cut short.
fn without(is_cut: bool, is_complete: bool) -> Explored {
    let reason = match (is_cut, is_complete) {
        (true, _) => Some(NOT_BEGUN),
        (false, false) => Some(FIRST_LACKS),
        (false, true) => None,
    };
    Explored {
        told: WeakExploration {
            complete: reason.is_none(),
            not_complete: reason.into_iter().map(str::to_owned).collect(),
            ..WeakExploration::default()
        },
        kept: Vec::new(),
        interrupted: false,
    }
}

/// What is new, each with the execution that shows it.
fn told(search: &Search<'_>) -> (Vec<WeakFinding>, Vec<Option<Kept>>) {
    let news = search.news().iter();
    let all = news.flat_map(|news| {
        let kept = search.kept().get(&news.number).cloned();
        of_run(news)
            .into_iter()
            .map(move |found| (found, kept.clone()))
    });
    let mut known = BTreeSet::new();
    // Threads that wait in the same way after different reads are one finding.
    let all = all.filter(|(found, _)| known.insert(found.detail.clone()));
    let named = (1..).zip(all.take(MOST)).map(|(number, (found, kept))| {
        let id = format!("W{number}");
        (WeakFinding { id, ..found }, kept)
    });
    named.unzip()
}

/// Of one execution.
fn of_run(news: &News) -> Vec<WeakFinding> {
    let found = &news.found;
    let memory: Vec<StaleRead> = found.stale.iter().map(StaleRead::from).collect();
    let is_new = |key: String| news.keys.contains(&key);
    let failures = found.uncaught.iter().filter(|f| is_new(key_of_failure(f)));
    let stills = found.deadlocks.iter().chain(&found.livelocks);
    let stills = stills.filter(|still| is_new(key_of_still(still)));
    let races = found.races.iter().filter(|race| is_new(key_of_race(race)));
    let all = failures
        .map(failure)
        .chain(stills.map(still))
        .chain(races.map(race));
    let told = all.map(|(kind, detail, stack)| WeakFinding {
        id: String::new(),
        kind,
        status: Status::Observed,
        detail,
        stack,
        memory: memory.clone(),
        replay: None,
    });
    told.collect()
}

type Shown = (WeakKind, String, Vec<Frame>);

fn failure(failure: &Uncaught) -> Shown {
    let detail = format!("{} ended thread \"{}\"", failure.exception, failure.thread);
    (WeakKind::Exception, detail, failure.stack.clone())
}

fn still(still: &StuckThreads) -> Shown {
    let stack = { still.threads.first() }.map_or_else(Vec::new, |t| t.stack.clone());
    (WeakKind::Stuck, who_waits(still), stack)
}

fn race(race: &Race) -> Shown {
    let [a, b] = &race.accesses;
    let detail = format!(
        "a race on {}: {} and {}",
        suppress::name(&race.location),
        a.frame.short(),
        b.frame.short()
    );
    let at = [a, b].map(|access| access.frame.clone());
    (WeakKind::Race, detail, at.into())
}
