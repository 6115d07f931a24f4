//! `export`: a finding that goes on living outside of Photofinish: as a JUnit test that fails while the bug is
//! there, or as a program of its own for a bug report.
//!
//! ```text
//! case    what must not happen again, and how that is checked
//! junit   the test, its schedule and its case
//! plain   a program that forces the order through the Java debugger interface
//! stale   cases of stale values
//! ```

mod case;
mod junit;
mod plain;
mod stale;

pub use case::{Case, Checked, check};

use crate::error::Error;
use crate::saved;
use crate::story::{Goal, most_telling};
use case::{Thrown, method};
use driver::store::{Program, Schedule, Store};
use findings::confirmed::Effect;
use findings::finding::{Location, is_jdks, place};
use findings::group::own_statement;
use findings::prediction::AtomicityViolation;
use findings::result::Report;
use findings::story::StoryLine;
use std::path::PathBuf;

/// What becomes of the finding.
#[derive(Clone, Debug)]
pub enum Form {
    /// A test below this directory of sources, with files below the directory of resources.
    Junit {
        sources: PathBuf,
        resources: Option<PathBuf>,
    },
    /// A program in this directory.
    Plain { directory: PathBuf },
}

/// What `export` is told.
#[derive(Clone, Debug)]
pub struct ExportConfig {
    /// The directory of results.
    pub results: PathBuf,
    /// An earlier result than the latest, by its number.
    pub number: Option<i64>,
    /// As the report calls it: `R1`, `D1`, `F1`.
    pub id: String,
    pub form: Form,
}

/// What was written.
#[derive(Clone, Debug)]
pub struct Exported {
    pub files: Vec<PathBuf>,
    /// What to do with it, or what it showed; a line each.
    pub notes: Vec<String>,
}

/// What its schedule shows.
enum Shows {
    Goal(Goal),
    Stale(Box<AtomicityViolation>),
}

/// A finding with all that is known of it.
struct Finding {
    id: String,
    shows: Shows,
    /// In a line.
    what: String,
    story: Vec<StoryLine>,
    schedule: Schedule,
    log: Vec<u8>,
    program: Program,
}

/// Writes a finding down.
pub fn export(config: &ExportConfig) -> Result<Exported, Error> {
    let store = Store::open_result(&config.results, config.number).map_err(usage)?;
    let report = store.report().map_err(usage)?;
    let finding = find(&store, &report, &config.id)?;
    let mut exported = match &config.form {
        Form::Junit { sources, resources } => {
            junit::write(&finding, sources, resources.as_deref())?
        }
        Form::Plain { directory } => plain::write(&finding, directory)?,
    };
    let (id, program) = (&finding.id, finding.program.args.join(" "));
    let origin = format!("{id} is of {}: java {program}", saved::told(&store));
    exported.notes.insert(0, origin);
    Ok(exported)
}

fn usage(error: impl std::fmt::Display) -> Error {
    Error::usage(error.to_string())
}

fn find(store: &Store, report: &Report, id: &str) -> Result<Finding, Error> {
    let wanted = id.split('.').next().unwrap_or(id);
    let (shows, what, story) = known(report, wanted).ok_or_else(|| unknown(report, wanted))?;
    let name = match &shows {
        Shows::Goal(Goal::Race { race, .. }) => most_telling(race).0,
        _ => wanted.to_owned(),
    };
    let (schedule, log) = store.schedule(&name).map_err(|_| {
        let maker = match shows {
            Shows::Stale(_) => "predict --atomicity --confirm",
            Shows::Goal(_) => "confirm",
        };
        Error::usage(format!(
            "no run of {wanted} is kept that could be repeated: `photofinish {maker}` makes one"
        ))
    })?;
    Ok(Finding {
        id: wanted.to_owned(),
        shows,
        what,
        story,
        schedule,
        log,
        program: store.program().clone(),
    })
}

/// What the finding shows, in a line and in a story.
fn known(report: &Report, wanted: &str) -> Option<(Shows, String, Vec<StoryLine>)> {
    if let Some(race) = report.races.iter().find(|race| race.id == wanted) {
        let group = findings::group::findings(&report.races);
        let own = group.iter().find(|f| f.race.id == race.id);
        let name = own.map_or_else(|| location(&race.location), |f| f.name());
        let (_, outcome) = most_telling(race);
        let mut what = format!("race on {name}");
        if let Some(outcome) = outcome.filter(|o| !matches!(o.result, Effect::Ok)) {
            what += &format!(": {}", outcome.detail);
        }
        let goal = Goal::Race {
            race: Box::new(race.clone()),
            outcome: outcome.cloned().map(Box::new),
            printed: None,
        };
        return Some((Shows::Goal(goal), what, race.story.clone()));
    }
    if let Some(deadlock) = report.deadlocks.iter().find(|d| d.id == wanted) {
        let names: Vec<&str> = deadlock.threads.iter().map(|w| &*w.thread).collect();
        let what = format!("{} of {}", deadlock.kind, names.join(", "));
        let goal = Goal::Deadlock(Box::new(deadlock.clone()));
        return Some((Shows::Goal(goal), what, deadlock.story.clone()));
    }
    if let Some(failure) = report.failures.iter().find(|f| f.id == wanted) {
        let goal = Goal::Failure(Box::new(failure.clone()));
        let what = failure.exception.clone();
        return Some((Shows::Goal(goal), what, failure.story.clone()));
    }
    let stale = report
        .atomicity
        .iter()
        .find(|a| can_be_exported(a, wanted))?;
    let what = stale::in_a_line(stale);
    Some((
        Shows::Stale(Box::new(stale.clone())),
        what,
        stale::story(stale),
    ))
}

fn can_be_exported(violation: &AtomicityViolation, wanted: &str) -> bool {
    violation.id == wanted && violation.stale.is_some()
}

fn unknown(report: &Report, wanted: &str) -> Error {
    let weak = report.exploration.as_ref().and_then(|e| e.weak.as_ref());
    let is_weak = weak.is_some_and(|weak| weak.findings.iter().any(|w| w.id == wanted));
    if is_weak || report.atomicity.iter().any(|a| a.id == wanted) {
        return Error::usage(format!(
            "{wanted} cannot be exported: races, deadlocks, uncaught exceptions and stale values can, those of `verify \
             --memory weak` as `confirm --memory weak` finds them"
        ));
    }
    let races = report.races.iter().map(|r| &r.id);
    let deadlocks = report.deadlocks.iter().map(|d| &d.id);
    let failures = report.failures.iter().map(|f| &f.id);
    let stale = report.atomicity.iter().filter(|a| a.stale.is_some());
    let all: Vec<&str> = races
        .chain(deadlocks)
        .chain(failures)
        .chain(stale.map(|a| &a.id))
        .map(|s| &**s)
        .collect();
    let known = match all.is_empty() {
        true => "there are none".to_owned(),
        false => format!("there are: {}", all.join(", ")),
    };
    Error::usage(format!("there is no finding {wanted}; {known}"))
}

fn location(location: &Location) -> String {
    match location {
        Location::Field { class, field, .. } => format!("{class}.{field}"),
        Location::Array { array, .. } => format!("an element of a {array}"),
    }
}

impl Finding {
    /// What must not happen again.
    fn case(&self, schedule: String) -> Case {
        let mut case = Case::new(&self.id, self.what.clone(), schedule);
        case.story.clone_from(&self.story);
        let pair = &self.schedule.pair;
        for (side, texts) in case.points.iter_mut().zip(pair) {
            side.clone_from(texts);
        }
        let goal = match &self.shows {
            Shows::Goal(goal) => goal,
            Shows::Stale(violation) => {
                return match stale::steps(violation) {
                    Some(steps) => case.of_stale(steps),
                    None => case,
                };
            }
        };
        match goal {
            Goal::Race { race, outcome, .. } => {
                let older = outcome.as_ref().is_some_and(|o| !o.memory.is_empty());
                if older {
                    case = case.with_older_values();
                } else {
                    case.location = Some(race.location.clone());
                    case.methods = race.accesses.iter().map(|a| method(&a.at)).collect();
                }
                let thrown = outcome.as_ref().filter(|o| o.result == Effect::Exception);
                case.exception = thrown.map(|o| Thrown {
                    class: o
                        .detail
                        .split([':', ' '])
                        .next()
                        .unwrap_or_default()
                        .to_owned(),
                    method: place(&o.stack)[1].map(method).unwrap_or_default(),
                });
                if is_jdks(&race.location) {
                    // Which call of the program leads there is not said by the location.
                    let own = race.accesses.iter().map(|a| method(own_statement(a)));
                    case.what += &format!(" ({})", own.collect::<Vec<_>>().join(", "));
                }
                let stuck = |o: &findings::confirmed::Outcome| {
                    matches!(o.result, Effect::Deadlock | Effect::Livelock)
                };
                if outcome.as_ref().is_some_and(|o| stuck(o)) {
                    let frame = outcome
                        .as_ref()
                        .and_then(|o| place(&o.stack)[1].map(method));
                    // Of a loop that never ends there is no stack, but the read that it goes round for.
                    let read = || Some(method(&outcome.as_ref()?.memory.first()?.at));
                    case.stuck_in.extend(frame.or_else(read));
                }
            }
            Goal::Failure(failure) => {
                let class = failure.exception.split(':').next().unwrap_or_default();
                case.exception = Some(Thrown {
                    class: class.trim().to_owned(),
                    method: place(&failure.stack)[1].map(method).unwrap_or_default(),
                });
            }
            Goal::Deadlock(deadlock) => {
                let frames = deadlock.threads.iter().filter_map(|w| place(&w.stack)[1]);
                case.stuck_in = frames.map(method).collect();
                case.stuck_in.sort();
                case.stuck_in.dedup();
            }
        }
        case
    }
}

/// How the program is started: options of the JVM besides the class path, the class path, the main class
/// and its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Start {
    options: Vec<String>,
    class_path: String,
    main: String,
    arguments: Vec<String>,
}

/// Options whose value is the next word.
const WITH_VALUE: [&str; 6] = [
    "--add-modules",
    "--add-opens",
    "--add-exports",
    "--add-reads",
    "--limit-modules",
    "--upgrade-module-path",
];

impl Start {
    fn of(args: &[String]) -> Result<Start, String> {
        let mut start = Start {
            class_path: ".".to_owned(),
            ..Start::default()
        };
        let mut words = args.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-cp" | "-classpath" | "--class-path" => {
                    start.class_path = words.next().cloned().unwrap_or_default();
                }
                "-jar" => return Err("the program is started with -jar".to_owned()),
                "-m" | "--module" | "-p" | "--module-path" => {
                    return Err("the program is a module".to_owned());
                }
                option if WITH_VALUE.contains(&option) => {
                    start.options.push(word.clone());
                    start.options.extend(words.next().cloned());
                }
                option if option.starts_with('-') || option.starts_with('@') => {
                    start.options.push(word.clone());
                }
                main => {
                    start.main = main.replace('/', ".");
                    start.arguments = words.cloned().collect();
                    return Ok(start);
                }
            }
        }
        Err("no main class is named".to_owned())
    }
}

/// A text as a literal of Java.
fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            c if c.is_control() => out += &format!("\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out + "\""
}

/// What stands in a comment of Java must not end it.
fn comment(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    clean.replace("*/", "* /").replace("\\u", "\\ u")
}

/// The story, for a comment.
fn told(story: &[StoryLine]) -> Vec<String> {
    let place = |line: &StoryLine| match (&line.file, line.line) {
        (Some(file), Some(line)) => format!("  ({file}:{line})"),
        _ => String::new(),
    };
    let lines = (1..).zip(story);
    lines
        .map(|(n, line)| {
            comment(&format!(
                "{n}. {} {}{}",
                line.thread,
                line.text,
                place(line)
            ))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(text: &str) -> Result<Start, String> {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        Start::of(&words)
    }

    #[test]
    fn how_a_program_is_started() {
        let found = start("-ea -cp a:b --add-modules x.y -Dk=v com.shop.Main -cp 3").unwrap();
        assert_eq!(found.options, ["-ea", "--add-modules", "x.y", "-Dk=v"]);
        assert_eq!(found.class_path, "a:b");
        assert_eq!(found.main, "com.shop.Main");
        assert_eq!(found.arguments, ["-cp", "3"]);
        for other in ["-jar app.jar", "-m a/b", "-cp x"] {
            assert!(start(other).is_err(), "{other}");
        }
    }

    #[test]
    fn texts_stay_texts() {
        assert_eq!(literal("a\"b\\\n\u{1}"), r#""a\"b\\\n\u0001""#);
        assert_eq!(comment("a */ \\u002a/\nb"), "a * / \\ u002a/ b");
    }
}
