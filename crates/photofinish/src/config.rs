//! `photofinish.toml`: options that a project always wants.
//!
//! Every option of the command line can stand there under its long name, at
//! the top for all commands that have it, or in a table for one command; and
//! `program`, what would follow `--`. docs/configuration.md is the manual. The
//! file is turned into arguments that are put before the user's own, and what
//! the user says replaces what the file says: there is one parser for both, and
//! one set of rules.

use crate::args;
use crate::exit::Failure;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use toml::de::DeTable;
use toml::{Table, Value};

/// The file in the current directory.
const FILE: &str = "photofinish.toml";

/// Options that name a file or directory to write.
const WRITTEN: [&str; 12] = [
    "json",
    "html",
    "sarif",
    "junit",
    "perfetto",
    "results",
    "output",
    "keep",
    "svg",
    "plain",
    "resources",
    "options",
];

/// Options that say what to look at instead of a program.
const INSTEAD: [&str; 4] = ["trace", "from", "log", "case"];

/// Commands that know their program from elsewhere.
const WITHOUT_PROGRAM: [&str; 5] = ["replay", "report", "merge", "explain", "doctor"];

/// The arguments with those of the file, if there is one.
pub fn extend(args: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let command = args::command();
    let Ok(matches) = command.clone().try_get_matches_from(&args) else {
        // What is wrong with them is said elsewhere.
        return Ok(args);
    };
    let Some((name, given)) = matches.subcommand() else {
        return Ok(args);
    };
    let Some((path, is_named)) = file(given) else {
        return Ok(args);
    };
    let text = engine::input::read_text(&path)
        .map_err(|error| Failure::usage(format!("cannot use {}: {error:#}", path.display())))?;
    let settings = read(&text, &command, name, given, !is_named).and_then(|settings| {
        settings.check(&args, &command, name)?;
        Ok(settings)
    });
    match settings {
        Ok(settings) => Ok(settings.insert(args, name)),
        Err(Refused { line, why }) => {
            let path = path.display();
            let line = line.map_or(String::new(), |line| format!(":{line}"));
            Err(Failure::usage(format!("{path}{line}: {why}")))
        }
    }
}

/// What the file cannot be used for, and the line that says it, from 1.
#[derive(Debug)]
struct Refused {
    line: Option<usize>,
    why: String,
}

/// The line of each key: at the top, and in the table of a command.
#[derive(Debug, Default)]
struct Lines(HashMap<(Option<String>, String), usize>);

impl Lines {
    fn new(text: &str) -> Result<Lines, Refused> {
        let line = |at: usize| {
            text.as_bytes()[..at]
                .iter()
                .filter(|&&b| b == b'\n')
                .count()
                + 1
        };
        let whole = DeTable::parse(text).map_err(|error| Refused {
            line: error.span().map(|span| line(span.start.min(text.len()))),
            why: error.message().to_owned(),
        })?;
        let mut lines = HashMap::new();
        for (key, value) in whole.get_ref() {
            let name = key.get_ref().to_string();
            let own = value.get_ref().as_table();
            for (inner, _) in own.into_iter().flatten() {
                let place = (Some(name.clone()), inner.get_ref().to_string());
                lines.insert(place, line(inner.span().start));
            }
            lines.insert((None, name), line(key.span().start));
        }
        Ok(Lines(lines))
    }

    /// In the table of this command, or else at the top.
    fn refused(&self, table: &str, key: &str, why: String) -> Refused {
        let own = self.0.get(&(Some(table.to_owned()), key.to_owned()));
        let line = own.or_else(|| self.0.get(&(None, key.to_owned())));
        Refused {
            line: line.copied(),
            why,
        }
    }
}

/// What the file says for this command.
fn read(
    text: &str,
    cli: &Command,
    name: &str,
    given: &ArgMatches,
    must_be_harmless: bool,
) -> Result<Settings, Refused> {
    let lines = Lines::new(text)?;
    let table = text.parse::<Table>().map_err(|error| Refused {
        line: None,
        why: error.message().to_owned(),
    })?;
    if must_be_harmless {
        harmless(&table, name).map_err(|(key, why)| lines.refused(name, &key, why))?;
    }
    arguments(cli, &table, name, given, &lines)
}

/// The file, and whether the user named it.
fn file(given: &ArgMatches) -> Option<(PathBuf, bool)> {
    if given.get_flag("no_config") {
        return None;
    }
    let named = given.get_one::<PathBuf>("config");
    let usual = || Some((PathBuf::from(FILE), false)).filter(|(path, _)| path.exists());
    named.map(|path| (path.clone(), true)).or_else(usual)
}

/// A file that merely lies in the current directory, perhaps of somebody else's checkout, may
/// not choose what is run as Java, nor files to write outside of that directory: the key that
/// does, and why not.
fn harmless(table: &Table, name: &str) -> Result<(), (String, String)> {
    let own = table.get(name).and_then(Value::as_table);
    for (key, value) in table.iter().chain(own.into_iter().flatten()) {
        let leaves = |text: &String| {
            let path = Path::new(text);
            let up = path.components().any(|part| part == Component::ParentDir);
            path.is_absolute() || up || has_link(path)
        };
        let why = match key.as_str() {
            "java" => "which is run as it is",
            "exec" => "so that its program is any command",
            key if WRITTEN.contains(&key) && texts(value).iter().flatten().any(leaves) => {
                "outside of this directory"
            }
            _ => continue,
        };
        let why = format!(
            "it sets {key}, {why}: name the file with --config {FILE} if you trust it, or ignore \
             it with --no-config"
        );
        return Err((key.clone(), why));
    }
    Ok(())
}

/// Whether a part of the path is a symbolic link, which a checkout may bring along.
fn has_link(path: &Path) -> bool {
    { path.ancestors() }.any(|part| part.is_symlink())
}

/// What the file adds.
#[derive(Debug, Default)]
struct Settings {
    options: Vec<Setting>,
    program: Vec<OsString>,
}

/// One key of the file, as the command line has it.
#[derive(Debug)]
struct Setting {
    key: String,
    /// What kind of value the file has, in TOML's words.
    kind: &'static str,
    line: Option<usize>,
    args: Vec<OsString>,
}

impl Settings {
    /// Parses each option alone beside the user's arguments, which are known to be valid: one that
    /// is refused then is the file's mistake, and the message is to name its line.
    fn check(&self, args: &[OsString], cli: &Command, command: &str) -> Result<(), Refused> {
        for setting in &self.options {
            let with = insert(args.to_vec(), command, setting.args.clone());
            let error = match cli.clone().try_get_matches_from(with) {
                // Other keys of the file may have what it needs.
                Err(error) if error.kind() != ErrorKind::MissingRequiredArgument => error,
                _ => continue,
            };
            let text = error.render().to_string();
            let (said, _) = text.split_once("\n\n").unwrap_or((&text, ""));
            let said = said.trim_start_matches("error: ");
            let said: Vec<&str> = said.lines().map(str::trim).collect();
            let (key, kind) = (&setting.key, setting.kind);
            return Err(Refused {
                line: setting.line,
                why: format!("{key} is {kind} that cannot be used: {}", said.join(" ")),
            });
        }
        Ok(())
    }

    fn insert(self, args: Vec<OsString>, command: &str) -> Vec<OsString> {
        let options = self.options.into_iter().flat_map(|setting| setting.args);
        let mut args = insert(args, command, options);
        if !self.program.is_empty() {
            args.push("--".into());
            args.extend(self.program);
        }
        args
    }
}

/// Options come directly after the command.
fn insert(
    mut args: Vec<OsString>,
    command: &str,
    options: impl IntoIterator<Item = OsString>,
) -> Vec<OsString> {
    let named = |at: &usize| args[*at] == command && args[*at - 1] != "--config";
    let at = (1..args.len()).find(named).map_or(args.len(), |at| at + 1);
    args.splice(at..at, options);
    args
}

/// With its article.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a string",
        Value::Integer(_) => "an integer",
        Value::Float(_) => "a float",
        Value::Boolean(_) => "a boolean",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "an array",
        Value::Table(_) => "a table",
    }
}

fn arguments(
    cli: &Command,
    table: &Table,
    name: &str,
    given: &ArgMatches,
    lines: &Lines,
) -> Result<Settings, Refused> {
    let mut settings = Settings::default();
    let mut wanted = Table::new();
    for (key, value) in table {
        match value {
            Value::Table(own) => {
                let Some(command) = cli.find_subcommand(key) else {
                    return Err(lines.refused("", key, format!("there is no command {key}")));
                };
                for inner in own.keys() {
                    if inner != "program" && option(command, inner).is_none() {
                        let why = format!("{key} has no option {inner}");
                        return Err(lines.refused(key, inner, why));
                    }
                }
            }
            _ if key == "program" || cli.get_subcommands().any(|c| option(c, key).is_some()) => {
                wanted.insert(key.clone(), value.clone());
            }
            _ => return Err(lines.refused("", key, format!("no command has an option {key}"))),
        }
    }
    if let Some(Value::Table(own)) = table.get(name) {
        wanted.extend(own.clone());
    }
    let Some(command) = cli.find_subcommand(name) else {
        return Ok(settings);
    };
    let said = |id: &str| given.value_source(id) == Some(ValueSource::CommandLine);
    for (key, value) in &wanted {
        let refused = |why: String| lines.refused(name, key, why);
        let kind = kind(value);
        let texts = texts(value).ok_or_else(|| {
            refused(format!(
                "{key} is {kind}; write a string, a number, true or false, or a list of them"
            ))
        })?;
        if key == "program" {
            let has = command.get_arguments().any(|arg| arg.get_id() == "program");
            let has = has && !WITHOUT_PROGRAM.contains(&name);
            let known = { command.get_arguments() }
                .any(|arg| INSTEAD.contains(&arg.get_id().as_str()) && said(arg.get_id().as_str()));
            if has && !known && !said("program") {
                settings.program = texts.into_iter().map(OsString::from).collect();
            }
            continue;
        }
        let Some(arg) = option(command, key).filter(|arg| !said(arg.get_id().as_str())) else {
            continue;
        };
        let args = match value {
            Value::Boolean(true) if !arg.get_action().takes_values() => {
                vec![format!("--{key}").into()]
            }
            Value::Boolean(false) if !arg.get_action().takes_values() => continue,
            _ if !arg.get_action().takes_values() => {
                return Err(refused(format!("{key} is {kind}; write true or false")));
            }
            _ => { texts.iter() }
                .map(|text| format!("--{key}={text}").into())
                .collect(),
        };
        settings.options.push(Setting {
            key: key.clone(),
            kind,
            line: refused(String::new()).line,
            args,
        });
    }
    Ok(settings)
}

fn option<'a>(command: &'a Command, key: &str) -> Option<&'a clap::Arg> {
    let mut all = command.get_arguments();
    all.find(|arg| arg.get_long() == Some(key) && !arg.is_global_set())
}

/// A value as the command line has it; one text for each of a list.
fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        Value::Integer(number) => Some(vec![number.to_string()]),
        Value::Float(number) => Some(vec![number.to_string()]),
        Value::Boolean(flag) => Some(vec![flag.to_string()]),
        Value::Array(list) => {
            let each = list.iter().map(|value| match value {
                Value::Array(_) => None,
                value => texts(value),
            });
            Some(each.collect::<Option<Vec<_>>>()?.concat())
        }
        Value::Datetime(_) | Value::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Map, Value as JsonValue, json};
    use std::any::TypeId;
    use std::collections::BTreeSet;

    fn with(file: &str, args: &[&str]) -> Result<Vec<String>, String> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        let command = args::command();
        let matches = command.clone().try_get_matches_from(&args).unwrap();
        let (name, given) = matches.subcommand().unwrap();
        let said = |refused: Refused| match refused.line {
            Some(line) => format!("{line}: {}", refused.why),
            None => refused.why,
        };
        let settings = read(file, &command, name, given, false).map_err(said)?;
        settings.check(&args, &command, name).map_err(said)?;
        let all = settings.insert(args, name);
        Ok(all.into_iter().map(|a| a.into_string().unwrap()).collect())
    }

    #[test]
    fn a_file_that_nobody_named_runs_and_overwrites_nothing() {
        let may = |file: &str| harmless(&file.parse().unwrap(), "detect").is_ok();
        assert!(may("json = 'out/r.json'\nruns = 3\nprogram = ['Main']"));
        assert!(may("[verify]\njava = './java'"), "of another command");
        assert!(!may("java = './java'"));
        assert!(!may("[detect]\njava = 'java'"));
        assert!(!may("json = '/etc/passwd'"));
        assert!(!may("results = 'a/../../b'"));
    }

    /// A new option that takes a path is to be put into one of the two lists.
    #[test]
    fn every_option_that_writes_is_known() {
        const READ: [&str; 14] = [
            "trace",
            "relation",
            "from",
            "input",
            "log",
            "case",
            "property",
            "purity",
            "operations",
            "suppress",
            "sources",
            "points",
            "live",
            "java",
        ];
        let command = args::command();
        let mut seen = BTreeSet::new();
        for command in command.get_subcommands() {
            for arg in command.get_arguments() {
                let takes_path = arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
                seen.extend(arg.get_long().filter(|_| takes_path));
            }
        }
        let known: BTreeSet<&str> = WRITTEN.iter().chain(&READ).copied().collect();
        assert_eq!(seen, known);
        for key in WRITTEN {
            let file = format!("{key} = '../x'").parse().unwrap();
            assert!(harmless(&file, "export").is_err(), "{key}");
        }
    }

    #[test]
    fn a_link_is_a_way_out_of_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("/etc", path.join("link")).unwrap();
        assert!(has_link(&path.join("link")));
        assert!(has_link(&path.join("link/passwd")));
        assert!(!has_link(&path.join("out/r.json")));
    }

    /// Bytes of a file with everything in it are changed at random: nothing panics, and what is
    /// still TOML is refused with a reason or taken.
    #[test]
    fn any_text_is_refused_or_taken() {
        let whole = "exclude = ['a.**', 'b.**']\nprogram = ['-cp', 'x', 'Main']\ntime-limit = '9m'\n\
                     [detect]\nruns = 7\njson = 'r.json'\nquiet = true\n[hunt]\ntrials = 3\n";
        let mut random = fastrand::Rng::with_seed(15);
        let args: Vec<OsString> = ["photofinish", "detect"].map(OsString::from).into();
        let command = args::command();
        let matches = command.clone().try_get_matches_from(&args).unwrap();
        let (name, given) = matches.subcommand().unwrap();
        let mut tables = 0;
        for _ in 0..4_000 {
            let mut bytes = whole.as_bytes().to_vec();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(..bytes.len());
                match random.u8(..3) {
                    0 => bytes[at] = random.u8(32..127),
                    1 => _ = bytes.remove(at),
                    _ => bytes.insert(at, *random.choice(b"'\"[]{}.,=-#\n9").unwrap()),
                }
            }
            let text = String::from_utf8(bytes).unwrap();
            tables += usize::from(text.parse::<Table>().is_ok());
            if let Err(refused) = read(&text, &command, name, given, true) {
                assert!(!refused.why.is_empty());
                assert!(refused.line.is_some(), "{text}: {}", refused.why);
            }
        }
        assert!(tables > 500, "{tables}");
    }

    #[test]
    fn options_of_the_file_come_before_those_of_the_user() {
        let file = r#"
            exclude = ["a.**", "b.**"]
            program = ["-cp", "x", "Main"]
            time-limit = "9m"
            [hunt]
            time-limit = 60
            verbose = true
            [confirm]
            trials = 7
        "#;
        let all = with(file, &["photofinish", "hunt"]).unwrap();
        assert_eq!(
            all,
            [
                "photofinish",
                "hunt",
                "--exclude=a.**",
                "--exclude=b.**",
                "--time-limit=60",
                "--verbose",
                "--",
                "-cp",
                "x",
                "Main"
            ]
        );
        let all = with(
            file,
            &["photofinish", "confirm", "--exclude", "c", "--", "M"],
        );
        assert_eq!(
            all.unwrap(),
            [
                "photofinish",
                "confirm",
                "--time-limit=9m",
                "--trials=7",
                "--exclude",
                "c",
                "--",
                "M"
            ]
        );
    }

    #[test]
    fn what_the_program_is_need_not_be_said_to_those_who_know() {
        let file = r#"program = ["Main"]"#;
        for args in [
            &["photofinish", "replay", "R1"][..],
            &["photofinish", "report"],
            &["photofinish", "predict", "--trace", "t"],
            &["photofinish", "confirm", "--from", "r.json"],
            &["photofinish", "completions", "bash"],
        ] {
            assert_eq!(with(file, args).unwrap(), args);
        }
    }

    #[test]
    fn what_means_nothing_is_an_error_with_its_line_and_kind() {
        for (file, about) in [
            ("trails = 3", "1: no command has an option trails"),
            ("[hunt]\ntrails = 3", "2: hunt has no option trails"),
            ("runs = 3\n\n[fish]\nx = 1", "3: there is no command fish"),
            (
                "# quiet\nquiet = 3",
                "2: quiet is an integer; write true or false",
            ),
            ("seed = 2026-01-01", "1: seed is a date"),
            ("exclude = [[\"a\"]]", "1: exclude is an array"),
            ("runs = 1\nrunz", "2: "),
            (
                "\n[hunt]\nruns = 'many'",
                "3: runs is a string that cannot be used: invalid value 'many'",
            ),
            ("runs = [1, 2]", "1: runs is an array that cannot be used"),
            (
                "runs = true\n[detect]\nruns = 3",
                "1: runs is a boolean that cannot be used",
            ),
            (
                "exec = true\njvms = 'x'\nruns = 0",
                "3: runs is an integer that cannot be used",
            ),
            (
                "color = 'pink'",
                "1: color is a string that cannot be used: invalid value 'pink'",
            ),
        ] {
            let command = if file.contains("exec") {
                "detect"
            } else {
                "hunt"
            };
            let error = with(file, &["photofinish", command, "--", "Main"]).unwrap_err();
            assert!(error.starts_with(about), "{file}: {error}");
        }
    }

    /// The schema as these definitions have it.
    fn schema() -> JsonValue {
        let cli = args::command();
        let mut all = Map::new();
        let program = json!({
            "type": "array", "items": { "type": "string" },
            "description": "What would follow `--`, for commands that run a program",
        });
        for command in cli.get_subcommands() {
            let mut own = Map::new();
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                if let Some(long) = arg.get_long().filter(|_| !arg.is_global_set()) {
                    own.insert(long.to_owned(), value(arg));
                    all.entry(long).or_insert_with(|| value(arg));
                } else if arg.get_id() == "program" {
                    own.insert("program".to_owned(), program.clone());
                }
            }
            let about = command.get_about().map(ToString::to_string);
            let table = json!({
                "type": "object", "description": about, "additionalProperties": false,
                "properties": own,
            });
            all.insert(command.get_name().to_owned(), table);
        }
        all.insert("program".to_owned(), program);
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "photofinish.toml",
            "type": "object",
            "additionalProperties": false,
            "properties": all,
        })
    }

    fn value(arg: &clap::Arg) -> JsonValue {
        let about = arg.get_help().map(ToString::to_string);
        let values = arg.get_possible_values();
        let choices: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
        let one = match choices.is_empty() {
            true => json!({ "type": ["string", "number"] }),
            false => json!({ "enum": choices }),
        };
        let several = matches!(arg.get_action(), clap::ArgAction::Append);
        let mut value = match arg.get_action().takes_values() {
            false => json!({ "type": "boolean" }),
            true if several => json!({ "anyOf": [one, { "type": "array", "items": one }] }),
            true => one,
        };
        value["description"] = about.into();
        value
    }

    /// `PHOTOFINISH_GOLDEN=1` writes it anew.
    #[test]
    fn the_schema_names_options_that_there_are() {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/photofinish.schema.json"
        );
        let now = schema();
        if std::env::var_os("PHOTOFINISH_GOLDEN").is_some() {
            std::fs::write(file, format!("{now:#}\n")).unwrap();
        }
        let kept: JsonValue = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        for (key, about) in kept["properties"].as_object().unwrap() {
            let known = &now["properties"][key];
            assert!(known.is_object(), "{key}");
            let own = about["properties"].as_object();
            for key in own.into_iter().flatten().map(|(key, _)| key) {
                assert!(known["properties"][key].is_object(), "{key}");
            }
        }
    }
}
