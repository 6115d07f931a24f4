//! `merge`: results of several runs, shards or machines made one
//! (`findings::parts` has the rules).
//!
//! A directory stands for its latest result and, if that is a shard, for the other shards of the
//! same work that it keeps; one that has no results of its own, for whatever it
//! has: files and directories of results, as a CI collects them. What was given twice counts
//! once. The merged result can be kept with the schedules of all that it is made of, under the
//! ids that findings have now.

use crate::config::ControlConfig;
use crate::controlled_run;
use crate::error::{Context, Error};
use crate::saved;
use crate::verdict::{Answer, Facts};
use driver::store::{self, Store, Writer};
use findings::confirmed::Replay;
use findings::parts;
use findings::result::Report;
use findings::suppress::Suppressions;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Directories inside directories that are looked into.
const DEEPEST: u32 = 4;

/// What `merge` is told.
#[derive(Clone, Debug, Default)]
pub struct MergeConfig {
    /// Files and directories of results.
    pub from: Vec<PathBuf>,
    /// The directory in which the merged result is kept, if it is.
    pub results: Option<PathBuf>,
    pub suppress: Suppressions,
}

/// A result that is put together with others.
struct Source {
    path: PathBuf,
    report: Report,
    /// The one that has its schedules.
    store: Option<Store>,
}

/// Puts results together, and keeps what comes of it.
pub fn merge(config: &MergeConfig) -> Result<Answer, Error> {
    let mut sources = Vec::new();
    for path in &config.from {
        collect(path, &mut sources)?;
    }
    let sources = once(sources);
    no_shard_twice(&sources)?;
    let mut writer = match &config.results {
        Some(dir) => Some(Writer::create(dir).or_usage()?),
        None => None,
    };
    let mut kept = Schedules::default();
    let mut marked = Vec::new();
    for source in &sources {
        marked.push(kept.mark(source));
    }
    let Some(mut report) = parts::merge(marked) else {
        return Err(Error::usage("there is nothing to merge"));
    };
    let programs = sources.iter().filter_map(|source| source.store.as_ref());
    let program = programs.map(Store::program).next().cloned();
    let program = program.unwrap_or_else(|| store::Program {
        args: report.program.args.clone(),
        ..store::Program::default()
    });
    kept.keep(&sources, &mut report, writer.as_mut());
    config.suppress.apply(&mut report);
    let facts = Facts::from_saved(&report);
    // What parts have left undone stays theirs: another merge may bring what is missing here.
    let own = Facts {
        limit_reached: report.limit_reached,
        ..facts
    };
    let answer = match writer {
        Some(writer) => controlled_run::finish(writer, &program, report, own),
        None => Answer { report, facts },
    };
    let tool_failed = answer.facts.tool_failed;
    Ok(Answer {
        facts: Facts {
            tool_failed,
            ..facts
        },
        ..answer
    })
}

/// Adds the results that are there.
fn collect(path: &Path, sources: &mut Vec<Source>) -> Result<(), Error> {
    if !path.is_dir() || crate::exec::is_directory_of_jvms(path) {
        let report = saved::load(path, None)?;
        sources.push(Source {
            path: path.to_owned(),
            report,
            store: None,
        });
        return Ok(());
    }
    let before = sources.len();
    look_into(path, DEEPEST, sources).or_usage()?;
    match sources.len() > before {
        true => Ok(()),
        false => Err(Error::usage(format!(
            "there are no results in {}: it has neither {} nor files written with --json",
            path.display(),
            store::FILE
        ))),
    }
}

fn look_into(dir: &Path, deeper: u32, sources: &mut Vec<Source>) -> Result<(), Error> {
    if dir.join(store::FILE).exists() {
        return take_results(dir, sources);
    }
    let read = || -> std::io::Result<Vec<PathBuf>> {
        let entries = std::fs::read_dir(dir)?;
        entries.map(|entry| Ok(entry?.path())).collect()
    };
    let mut all = read().with_context(|| format!("cannot read {}", dir.display()))?;
    all.sort();
    for path in all {
        if path.is_dir() && deeper > 0 {
            look_into(&path, deeper - 1, sources)?;
        } else if path.is_file() && path.extension().is_some_and(|ending| ending == "json") {
            let report = saved::load(&path, None)?;
            sources.push(Source {
                path,
                report,
                store: None,
            });
        }
    }
    Ok(())
}

/// The latest result of a directory, and the latest of each shard of the same work.
fn take_results(dir: &Path, sources: &mut Vec<Source>) -> Result<(), Error> {
    let store = Store::open(dir)?;
    let latest = store.report()?;
    let numbers: Vec<i64> = store
        .results()?
        .into_iter()
        .map(|kept| kept.number)
        .collect();
    let own = store.number();
    let mut known = parts_of(&latest);
    let is_shard = !known.is_empty() && latest.merged == 0;
    sources.push(Source {
        path: dir.to_owned(),
        report: latest,
        store: Some(store),
    });
    for number in numbers.into_iter().filter(|n| is_shard && *n != own) {
        let store = Store::open_result(dir, Some(number))?;
        let report = store.report()?;
        let mine = parts_of(&report);
        let same_work = |(work, of, _): &(String, u32, u32)| {
            known
                .iter()
                .any(|(theirs, many, _)| theirs == work && many == of)
        };
        if report.merged > 0
            || mine.is_empty()
            || !mine.iter().all(same_work)
            || !mine.is_disjoint(&known)
        {
            continue;
        }
        known.extend(mine);
        sources.push(Source {
            path: dir.to_owned(),
            report,
            store: Some(store),
        });
    }
    Ok(())
}

/// Of which work, of how many, which.
fn parts_of(report: &Report) -> BTreeSet<(String, u32, u32)> {
    let parts = report.shards.iter();
    parts
        .flat_map(|p| p.done.iter().map(|part| (p.work.clone(), p.of, *part)))
        .collect()
}

/// Without results that are there twice, as a file and in a directory.
fn once(all: Vec<Source>) -> Vec<Source> {
    let same = |a: &Source, b: &Source| {
        let (a, b) = (&a.report, &b.report);
        // Times to the last digit: no other run took as long.
        a.timing == b.timing && a.shards == b.shards && a.runs == b.runs && a.command == b.command
    };
    let mut list: Vec<Source> = Vec::new();
    for source in all {
        match list.iter_mut().find(|known| same(known, &source)) {
            // The directory has the schedules.
            Some(known) if known.store.is_none() => *known = source,
            Some(_) => {}
            None => list.push(source),
        }
    }
    list
}

fn no_shard_twice(sources: &[Source]) -> Result<(), Error> {
    let mut known: BTreeMap<(String, u32, u32), &Path> = BTreeMap::new();
    for source in sources {
        for part in parts_of(&source.report) {
            let shard = format!("{}/{}", part.2, part.1);
            if let Some(other) = known.insert(part, &source.path) {
                return Err(Error::usage(format!(
                    "shard {shard} is there twice, in {} and in {}: leave one of them out",
                    other.display(),
                    source.path.display()
                )));
            }
        }
    }
    Ok(())
}

/// Where the schedules of findings are, by marks that stand in the place of commands while
/// reports are merged: two machines may have given the same command to different findings.
#[derive(Default)]
struct Schedules {
    /// Mark to source, name there, and the command that the source had.
    marks: BTreeMap<String, (usize, String, String)>,
    sources: usize,
}

impl Schedules {
    fn mark(&mut self, source: &Source) -> Report {
        let number = self.sources;
        self.sources += 1;
        let mut report = source.report.clone();
        for (_, replay) in replays(&mut report) {
            let name = replay.name().to_owned();
            let mark = format!("photofinish replay {number} {name}");
            let old = std::mem::replace(&mut replay.command, mark.clone());
            self.marks.insert(mark, (number, name, old));
        }
        report
    }

    /// Copies the schedules that the merged report names, under the names that they have now, and
    /// turns marks into commands again.
    fn keep(&self, sources: &[Source], report: &mut Report, mut writer: Option<&mut Writer>) {
        let mut warnings = BTreeSet::new();
        let mut done: BTreeMap<String, String> = BTreeMap::new();
        let mut used: BTreeSet<String> = BTreeSet::new();
        for (id, replay) in replays(report) {
            if let Some(command) = done.get(&replay.command) {
                replay.command.clone_from(command);
                continue;
            }
            let mark = replay.command.clone();
            let Some((number, name, old)) = self.marks.get(&mark) else {
                continue;
            };
            let source = &sources[*number];
            replay.command = match (&source.store, writer.as_deref_mut()) {
                (Some(store), Some(writer)) => {
                    let end = name.split_once('.').map(|(_, end)| end);
                    let copied = copy(store, name, &unused(&id, end, &mut used), writer);
                    copied.unwrap_or_else(|why| {
                        warnings.insert(why);
                        old.clone()
                    })
                }
                // It stays where it is.
                (Some(store), None) => {
                    let config = ControlConfig {
                        results: source.path.clone(),
                        ..ControlConfig::default()
                    };
                    controlled_run::replay_command(&config, store.number(), name)
                }
                (None, _) => {
                    warnings.insert(format!(
                        "the schedules of {} are not here: its replay commands work where it was \
                         made; merge its directory of results instead",
                        source.path.display()
                    ));
                    old.clone()
                }
            };
            done.insert(mark, replay.command.clone());
        }
        report.warnings.extend(warnings);
    }
}

/// A name for a schedule: of two findings that are one now, both may have had `R1.exception`.
pub fn unused(id: &str, end: Option<&str>, used: &mut BTreeSet<String>) -> String {
    let name = |number: u64| match (end, number) {
        (None, 1) => id.to_owned(),
        (None, number) => format!("{id}.{number}"),
        (Some(end), 1) => format!("{id}.{end}"),
        (Some(end), number) => format!("{id}.{end}.{number}"),
    };
    let free = (1..).map(name).find(|name| !used.contains(name));
    let free = free.unwrap_or_default();
    used.insert(free.clone());
    free
}

fn replays(report: &mut Report) -> impl Iterator<Item = (String, &mut Replay)> {
    let all = report.replays_mut().into_iter();
    all.filter_map(|(id, replay)| Some((id, replay.as_mut()?)))
}

fn copy(store: &Store, name: &str, new: &str, writer: &mut Writer) -> Result<String, String> {
    let why = |error: store::StoreError| controlled_run::no_schedule(new, &error);
    let (mut schedule, log) = store.schedule(name).map_err(why)?;
    new.clone_into(&mut schedule.name);
    writer.add(schedule, &log).map_err(why)?;
    let config = ControlConfig {
        results: writer.dir().to_owned(),
        ..ControlConfig::default()
    };
    Ok(controlled_run::replay_command(
        &config,
        writer.number(),
        new,
    ))
}
