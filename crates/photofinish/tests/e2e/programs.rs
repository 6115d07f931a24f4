//! The programs in `programs/`, run under the tool: exactly the races that
//! their `expected.toml` names are reported, at the lines that are marked, and
//! the program behaves as it does alone.

use crate::support::{Detected, Program, compile, in_parallel, jdk, root, scratch};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

/// An `expected.toml`; `programs/README.md` explains it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    #[serde(default = "src")]
    source: String,
    #[serde(default)]
    javac: Vec<String>,
    main: Option<String>,
    #[serde(rename = "section")]
    sections: Vec<Section>,
}

fn src() -> String {
    "src".to_owned()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    name: String,
    main: Option<String>,
    races: Vec<Location>,
    #[serde(default)]
    may: Vec<Location>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    jvm: Vec<String>,
    #[serde(default)]
    input: String,
    #[serde(default)]
    exit: i32,
    threads: Option<u64>,
    source: Option<String>,
    module: Option<String>,
    manifest: Option<String>,
    resources: Option<String>,
    output: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Location {
    Field { field: String },
    Array { array: String },
}

impl Location {
    fn name(&self) -> &str {
        match self {
            Location::Field { field } => field,
            Location::Array { array } => array,
        }
    }
}

fn names(locations: &[Location]) -> BTreeSet<&str> {
    locations.iter().map(Location::name).collect()
}

impl Expected {
    fn load(dir: &str) -> Expected {
        let path = root().join("programs").join(dir).join("expected.toml");
        let text = std::fs::read_to_string(&path).unwrap();
        toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// Compiles what the section needs and says how to run it.
    fn program(&self, dir: &str, section: &Section) -> Program {
        let source = section.source.as_ref().unwrap_or(&self.source);
        let classes = compile(&format!("programs/{dir}/{source}"), &self.javac);
        let classes = classes.to_str().unwrap().to_owned();
        let mut args = section.jvm.clone();
        if let Some(module) = &section.module {
            args.extend(["-p".to_owned(), classes, "-m".to_owned(), module.clone()]);
        } else if let Some(manifest) = &section.manifest {
            let jar = scratch(&format!("jar-{}", section.name)).join("app.jar");
            let below = |path: &String| root().join("programs").join(dir).join(path);
            let mut command = jdk("jar");
            command
                .arg("cfm")
                .arg(&jar)
                .arg(below(manifest))
                .args(["-C", &classes, "."]);
            if let Some(resources) = &section.resources {
                command.arg("-C").arg(below(resources)).arg(".");
            }
            assert!(command.status().unwrap().success());
            args.extend(["-jar".to_owned(), jar.to_str().unwrap().to_owned()]);
        } else {
            let main = section
                .main
                .as_ref()
                .or(self.main.as_ref())
                .expect("a main class");
            args.extend(["-cp".to_owned(), classes, main.clone()]);
        }
        if self.main.is_some() {
            args.push(section.name.clone());
        }
        args.extend(section.args.iter().cloned());
        Program {
            args,
            input: section.input.clone(),
        }
    }
}

/// `Class.field` or the array's type, as expectations write it.
fn reported(race: &Value) -> String {
    let location = &race["location"];
    let text = |key: &str| location[key].as_str().unwrap_or("?").to_owned();
    match location["array"].as_str() {
        Some(array) => array.to_owned(),
        None => format!("{}.{}", text("class"), text("field")),
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
    let (must, may) = (names(&section.races), names(&section.may));
    let all: Vec<String> = races.iter().map(reported).collect();
    let all: BTreeSet<&str> = all.iter().map(String::as_str).collect();
    for missing in must.difference(&all) {
        wrong.push(format!("not reported: {missing}"));
    }
    for extra in all
        .iter()
        .filter(|l| !must.contains(*l) && !may.contains(*l))
    {
        wrong.push(format!("reported, but not a race: {extra}"));
    }
    let code = match (all.is_empty(), section.threads) {
        (false, _) => 66,
        (true, Some(1)) => 4,
        (true, _) => 0,
    };
    if found.code != Some(code) {
        wrong.push(format!(
            "exit code {:?}, not {code}: {}",
            found.code, found.report["warnings"]
        ));
    }
    if found.report["program"]["exit"] != section.exit {
        let exit = &found.report["program"]["exit"];
        wrong.push(format!(
            "the program's exit code is {exit}: {}",
            found.stderr
        ));
    }
    if let Some(output) = &section.output
        && *output != found.stdout
    {
        wrong.push(format!("printed {:?}, not {output:?}", found.stdout));
    }
    // Where lines are marked, every expected race has both ends on one of them
    // or in the JDK.
    for race in races.iter().filter(|r| must.contains(reported(r).as_str())) {
        for access in race["accesses"].as_array().unwrap() {
            let at = format!(
                "{}:{}",
                access["file"].as_str().unwrap_or("?"),
                access["line"]
            );
            let own = !access["class"].as_str().unwrap().starts_with("java.");
            if own && marks.is_some_and(|marks| !marks.contains(&at)) {
                wrong.push(format!("{} at {at}, which is not marked", reported(race)));
            }
        }
    }
    wrong
}

/// Runs every section by itself and collects what is wrong. With `exactly`,
/// everything the program prints is compared with a run without the tool.
fn check(dir: &str, exactly: bool) {
    let expected = Expected::load(dir);
    let marks = marked_lines(&root().join("programs").join(dir).join(&expected.source));
    let wrong = Mutex::new(Vec::new());
    in_parallel(&expected.sections, |section| {
        let program = expected.program(dir, section);
        let found = program.detect(&[]);
        let mut texts = complaints(section, &found, marks.get(&section.name));
        if exactly {
            let native = program.native();
            for (what, alone, with) in [
                ("standard output", &native.stdout, &found.stdout),
                ("standard error", &native.stderr, &found.stderr),
            ] {
                let alone = String::from_utf8_lossy(alone);
                if alone != *with {
                    texts.push(format!("{what}: alone\n{alone}\nand with the tool\n{with}"));
                }
            }
        }
        wrong
            .lock()
            .unwrap()
            .extend(texts.into_iter().map(|t| format!("{}: {t}", section.name)));
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{dir}: {} complaints\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn examples() {
    check("examples", false);
}

#[test]
fn racy_sections_are_all_reported_and_nothing_else() {
    check("racy", false);
}

#[test]
fn races_through_unsafe() {
    check("unsafe", false);
}

#[test]
fn programs_that_are_hard_to_watch_are_not_disturbed() {
    check("edge", true);
}

#[test]
fn ordered_sections_are_all_silent() {
    let classes = compile("programs/ordered/src", &[]);
    let program = Program::new(&["-cp", classes.to_str().unwrap(), "ordered.Main"]);
    let found = program.detect(&[]);
    let races = found.report["races"].as_array().unwrap();
    let lines = races.iter().map(|race| {
        let at = |i: usize| {
            format!(
                "{}:{}",
                race["accesses"][i]["file"], race["accesses"][i]["line"]
            )
        };
        format!("{} at {} and {}", reported(race), at(0), at(1))
    });
    let lines: Vec<String> = lines.collect();
    assert!(
        lines.is_empty(),
        "{} races reported:\n{}",
        lines.len(),
        lines.join("\n")
    );
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    assert_eq!(found.stdout.as_bytes(), program.native().stdout);
}
