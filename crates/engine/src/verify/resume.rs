//! Going on with an exploration that was interrupted.
//!
//! Every second or so what was explored is saved with the result: the state of
//! the search, the report so far, and the schedules that replay what it says, in
//! one transaction. What was explored after that, if the process is killed, is
//! explored again. Only the same exploration can be gone on with: the same
//! program, input and JVM, and options that change neither what an execution does
//! nor which are made. Limits may be others.

use super::search::{Kept, Search, State};
use super::{Completeness, VerifyConfig, weak};
use crate::controlled_run::{self, SavePace};
use crate::error::{Context, Error};
use crate::shards;
use crate::verdict::Facts;
use driver::store::{self, Exploration, Program, StoreError, Writer};
use findings::exploration::WeakExploration;
use findings::result::Report;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::Instant;

const GOING_ON: &str = "it was still going on when this was saved";

/// An exploration that can be gone on with.
#[derive(Debug, Serialize, Deserialize)]
pub struct Saved {
    pub state: State,
    /// All that was found, reported or not.
    pub report: Report,
    /// What it took so far.
    pub seconds: f64,
}

/// Keeps an exploration on disk.
pub struct Keeper<'a> {
    config: &'a VerifyConfig,
    store: Writer,
    program: Program,
    of: String,
    began: Instant,
    /// Of those who explored before.
    seconds: f64,
    pace: SavePace,
}

impl<'a> Keeper<'a> {
    /// For an exploration that begins, or goes on if that is asked for.
    pub fn new(
        config: &'a VerifyConfig,
        program: Program,
    ) -> Result<(Keeper<'a>, Option<Saved>), Error> {
        let of = serde_json::to_string(&same(config, &program)?)?;
        let (store, saved) = match config.resume {
            true => {
                let (store, saved) = find(config, &of)?;
                (store, Some(saved))
            }
            false => (controlled_run::store(&config.control)?, None),
        };
        let keeper = Keeper {
            config,
            store,
            program,
            of,
            began: Instant::now(),
            seconds: saved.as_ref().map_or(0.0, |saved| saved.seconds),
            pace: SavePace::new(),
        };
        Ok((keeper, saved))
    }

    /// How long it took, with those before.
    fn seconds(&self) -> f64 {
        self.seconds + self.began.elapsed().as_secs_f64()
    }

    /// Something was explored: saves it if it is time for that.
    pub fn moment(&mut self, search: &Search<'_>) -> Result<(), Error> {
        if !self.pace.is_due() {
            return Ok(());
        }
        let began = Instant::now();
        self.save(search)?;
        self.pace.saved(began);
        Ok(())
    }

    /// Saves it, with a report that says that it is not complete.
    pub fn save(&mut self, search: &Search<'_>) -> Result<(), Error> {
        let (report, facts) = search.session().clone().finish("verify");
        let mut completeness = Completeness::from_standing(&search.standing());
        if !completeness.complete {
            completeness.reasons.push(GOING_ON.to_owned());
        }
        self.finish(search, report, facts, &completeness)
            .map(|_| ())
    }

    /// Keeps the schedules of what the second exploration found, and says how to replay them.
    pub fn keep_weak(&mut self, explored: weak::Explored) -> WeakExploration {
        let weak::Explored { mut told, kept, .. } = explored;
        for (found, kept) in told.findings.iter_mut().zip(kept) {
            let Some(Kept { mut schedule, log }) = kept else {
                continue;
            };
            schedule.name.clone_from(&found.id);
            let number = self.store.number();
            let replay = controlled_run::replay(&self.config.control, number, &schedule);
            match self.store.add(schedule, &log) {
                Ok(()) => found.replay = Some(replay),
                Err(error) => {
                    (told.not_complete).push(controlled_run::no_schedule(&found.id, &error))
                }
            }
        }
        told
    }

    /// Saves what it came to: the report as it is shown, with what is needed to come to the same verdict.
    pub fn finish(
        &mut self,
        search: &Search<'_>,
        mut report: Report,
        facts: Facts,
        completeness: &Completeness,
    ) -> Result<Report, Error> {
        controlled_run::keep(&self.config.control, &mut self.store, &mut report, |run| {
            let kept = search.kept().get(&run)?;
            Some((kept.schedule.clone(), kept.log.clone()))
        });
        completeness.tell(&mut report);
        let config = self.config;
        let options = (
            (config.order, config.preemptions, &config.points),
            (
                config.control.seed,
                config.control.clock,
                super::control(config).max_steps,
            ),
        );
        shards::tell(&mut report, config.shard, &config.launch, &options, true);
        report.timing.total_s = self.seconds();
        let saved = Saved {
            state: search.state(),
            report: report.clone(),
            seconds: report.timing.total_s,
        };
        let exploration = Exploration {
            of: self.of.clone(),
            state: serde_json::to_string(&saved)?,
        };
        // Whether it came to its end says the exploration.
        report.not_exercised = facts.not_exercised;
        self.config.suppress.apply(&mut report);
        self.store
            .save_exploration(&self.program, &report, &exploration)
            .map_err(|error| hint(error.into()))?;
        Ok(report)
    }
}

/// What was saved before is still there.
fn hint(error: Error) -> Error {
    error.context(
        "the exploration stopped because it could not be saved; what was saved before is \
         kept, and --resume goes on from there",
    )
}

/// What must be the same to go on.
fn same(config: &VerifyConfig, program: &Program) -> Result<Map<String, Value>, Error> {
    let mut all = Map::new();
    let mut add = |name: &str, value: Value| {
        all.insert(name.to_owned(), value);
    };
    add("tool", crate::tool().into());
    add("program", serde_json::to_value(program)?);
    let control = super::control(config);
    add("order", serde_json::to_value(config.order)?);
    add("bound", config.preemptions.into());
    add("max-steps", control.max_steps.into());
    add("clock", control.clock.into());
    add("seed", control.seed.into());
    add("shard", config.shard.to_string().into());
    add("points", config.points.clone().into());
    Ok(all)
}

/// The latest exploration of the same.
fn find(config: &VerifyConfig, of: &str) -> Result<(Writer, Saved), Error> {
    let dir = &config.control.results;
    let nothing = || {
        Error::usage(format!(
            "there is no exploration to go on with in {}",
            dir.display()
        ))
    };
    let all = match store::explorations(dir) {
        Err(StoreError::Nothing { .. }) => return Err(nothing()),
        all => all?,
    };
    let Some((_, latest)) = all.first() else {
        return Err(nothing());
    };
    let Some((number, found)) = all.iter().find(|(_, e)| e.of == of) else {
        let what = differences(&latest.of, of).join(", ");
        return Err(Error::usage(format!(
            "the exploration in {} is of something else, and cannot be gone on with: {what}",
            dir.display()
        )));
    };
    let saved = serde_json::from_str(&found.state)
        .with_context(|| format!("the exploration in {} is damaged", dir.display()))?;
    let store = Writer::reopen(dir, *number).or_usage()?;
    Ok((store, saved))
}

/// What is not the same, in words.
fn differences(before: &str, now: &str) -> Vec<String> {
    let parse = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap_or_default();
    let (before, now) = (parse(before), parse(now));
    let mut words = Vec::new();
    compare(&before, &now, &mut words);
    words
}

fn compare(before: &Map<String, Value>, now: &Map<String, Value>, words: &mut Vec<String>) {
    let names = before
        .keys()
        .chain(now.keys().filter(|k| !before.contains_key(*k)));
    for name in names {
        let (was, is) = (before.get(name), now.get(name));
        match (name.as_str(), was, is) {
            _ if was == is => {}
            ("program", Some(Value::Object(was)), Some(Value::Object(is))) => {
                compare(was, is, words);
            }
            ("classes", Some(Value::Object(was)), Some(Value::Object(is))) => {
                let names = was
                    .keys()
                    .chain(is.keys().filter(|k| !was.contains_key(*k)));
                let changed: Vec<_> = names.filter(|k| was.get(*k) != is.get(*k)).collect();
                let first = changed.first().map_or("", |name| name.as_str());
                words.push(format!("{} files changed ({first})", changed.len()));
            }
            (_, was, is) => {
                let text = |v: Option<&Value>| v.map_or("nothing".to_owned(), Value::to_string);
                words.push(format!("{name} was {}, is {}", text(was), text(is)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let of = |order: &str, digest: &str, args: &str| {
            format!(
                r#"{{"order":"{order}","program":{{"args":["{args}"],"classes":{{"A.class":"{digest}"}}}}}}"#
            )
        };
        let before = of("Plain", "1", "Main");
        assert!(differences(&before, &before).is_empty());
        assert_eq!(
            differences(&before, &of("WritesFirst", "1", "Main")),
            [r#"order was "Plain", is "WritesFirst""#]
        );
        assert_eq!(
            differences(&before, &of("Plain", "2", "Other")),
            [
                r#"args was ["Main"], is ["Other"]"#,
                "1 files changed (A.class)"
            ]
        );
    }
}
