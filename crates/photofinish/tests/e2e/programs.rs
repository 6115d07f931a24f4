//! The programs in `programs/`, run under the tool: exactly the races that
//! their `expected.toml` names are reported, at the lines that are marked, and
//! the program behaves as it does alone.

use crate::support::{Detected, compile, detect, in_parallel, native, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A section of an `expected.toml`; see `programs/README.md`.
#[derive(Debug)]
struct Section {
    name: String,
    main: String,
    /// Whether `main` takes the section's name.
    selects: bool,
    races: BTreeSet<String>,
    may: BTreeSet<String>,
    output: Option<String>,
}

#[derive(Debug)]
struct Expected {
    classes: PathBuf,
    sources: PathBuf,
    sections: Vec<Section>,
}

fn load(program: &str) -> Expected {
    let dir = root().join("programs").join(program);
    let text = std::fs::read_to_string(dir.join("expected.toml")).unwrap();
    let file: toml::Table = text.parse().unwrap();
    let string = |table: &toml::Table, key: &str| {
        table.get(key).map(|v| {
            v.as_str()
                .unwrap_or_else(|| panic!("{key}: a string"))
                .to_owned()
        })
    };
    let source = string(&file, "source").unwrap_or_else(|| "src".into());
    let javac: Vec<String> = file
        .get("javac")
        .map(|v| v.clone().try_into().unwrap())
        .unwrap_or_default();
    let main = string(&file, "main");
    let sections = file["section"].as_array().unwrap().iter().map(|section| {
        let section = section.as_table().unwrap();
        let locations = |key: &str| {
            let list = section.get(key).and_then(toml::Value::as_array);
            list.into_iter().flatten().map(expected_location).collect()
        };
        Section {
            name: string(section, "name").unwrap(),
            selects: main.is_some(),
            main: string(section, "main").or(main.clone()).unwrap(),
            races: locations("races"),
            may: locations("may"),
            output: string(section, "output"),
        }
    });
    Expected {
        sections: sections.collect(),
        classes: compile(program, &source, &javac),
        sources: dir.join(source),
    }
}

fn expected_location(value: &toml::Value) -> String {
    let get = |key| value.get(key).and_then(toml::Value::as_str);
    get("field")
        .or(get("array"))
        .unwrap_or_else(|| panic!("no location: {value}"))
        .to_owned()
}

/// `Class.field` or the array's type, as expectations write it.
fn reported_location(race: &Value) -> String {
    let location = &race["location"];
    match location["array"].as_str() {
        Some(array) => array.to_owned(),
        None => format!(
            "{}.{}",
            location["class"].as_str().unwrap(),
            location["field"].as_str().unwrap()
        ),
    }
}

/// The lines marked `// race: SECTION`, as `File.java:12`.
fn marked_lines(dir: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut marks: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut left = vec![dir.to_path_buf()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(std::fs::read_dir(&path).unwrap().map(|e| e.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        for (index, line) in text.lines().enumerate() {
            if let Some((_, sections)) = line.split_once("// race: ") {
                for section in sections.split([',', ' ']).filter(|s| !s.is_empty()) {
                    let at = format!("{name}:{}", index + 1);
                    marks.entry(section.to_owned()).or_default().insert(at);
                }
            }
        }
    }
    marks
}

/// What is wrong with this result, in words; nothing if all is well.
fn complaints(
    section: &Section,
    found: &Detected,
    marks: Option<&BTreeSet<String>>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    let races = found.report["races"].as_array().unwrap();
    let reported: BTreeSet<String> = races.iter().map(reported_location).collect();
    for missing in section.races.difference(&reported) {
        wrong.push(format!("not reported: {missing}"));
    }
    for extra in reported
        .iter()
        .filter(|l| !section.races.contains(*l) && !section.may.contains(*l))
    {
        wrong.push(format!("reported, but not a race: {extra}"));
    }
    let code = if section.races.is_empty() && reported.is_empty() {
        0
    } else {
        66
    };
    if found.code != Some(code) {
        wrong.push(format!(
            "exit code {:?}, not {code}: {}",
            found.code, found.stderr
        ));
    }
    if let Some(output) = &section.output
        && *output != found.stdout
    {
        wrong.push(format!("printed {:?}, not {output:?}", found.stdout));
    }
    // Where lines are marked, every expected race has both ends on one of them
    // or in the JDK.
    for race in races
        .iter()
        .filter(|r| section.races.contains(&reported_location(r)))
    {
        for access in race["accesses"].as_array().unwrap() {
            let at = format!(
                "{}:{}",
                access["file"].as_str().unwrap_or("?"),
                access["line"]
            );
            let own = !access["class"].as_str().unwrap().starts_with("java.");
            if own && marks.is_some_and(|marks| !marks.contains(&at)) {
                wrong.push(format!(
                    "{} at {at}, which is not marked",
                    reported_location(race)
                ));
            }
        }
    }
    wrong
}

/// Runs every section by itself and collects what is wrong.
fn check(program: &str, options: &[&str]) {
    let expected = load(program);
    let marks = marked_lines(&expected.sources);
    let classes = expected.classes.to_str().unwrap();
    let wrong = Mutex::new(Vec::new());
    in_parallel(&expected.sections, |section| {
        let mut args = vec!["-cp", classes, section.main.as_str()];
        if section.selects {
            args.push(&section.name);
        }
        let found = detect(options, &args);
        let texts = complaints(section, &found, marks.get(&section.name));
        wrong
            .lock()
            .unwrap()
            .extend(texts.into_iter().map(|t| format!("{}: {t}", section.name)));
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{program}:\n{}", wrong.join("\n"));
}

#[test]
fn examples() {
    check("examples", &[]);
}

#[test]
fn racy_sections_are_all_reported_and_nothing_else() {
    check("racy", &[]);
}

#[test]
fn races_through_unsafe() {
    check("unsafe", &[]);
}

#[test]
fn ordered_sections_are_all_silent() {
    let classes = compile("ordered", "src", &[]);
    let program = ["-cp", classes.to_str().unwrap(), "ordered.Main"];
    let found = detect(&[], &program);
    let races = found.report["races"].as_array().unwrap();
    let reported: Vec<String> = races.iter().map(reported_location).collect();
    assert!(reported.is_empty(), "{reported:?}\n{}", found.stderr);
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    assert_eq!(found.stdout.as_bytes(), native(&program).stdout);
}
