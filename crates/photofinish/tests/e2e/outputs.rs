//! A result in all the forms it is written in, from a run and from what was
//! kept of it. What they look like inside is for the tests of `report`.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use test_support::programs::{Program, confirm, control_program, finish, photofinish, scratch};

const FORMS: [&str; 4] = ["html", "sarif", "junit", "perfetto"];

/// Options that write every form into the directory.
fn options(dir: &Path) -> Vec<String> {
    let option = |form: &&str| format!("--{form}={}", dir.join(form).display());
    FORMS.iter().map(option).collect()
}

fn text(dir: &Path, form: &str) -> String {
    std::fs::read_to_string(dir.join(form)).unwrap()
}

fn json(dir: &Path, form: &str) -> Value {
    serde_json::from_str(&text(dir, form)).unwrap()
}

/// The data of the page.
fn page(dir: &Path) -> Value {
    let page = text(dir, "html");
    let (_, rest) = page.split_once("id=\"data\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

#[test]
fn every_form_of_a_result_and_of_what_was_kept_of_it() {
    let dir = tempfile::tempdir().unwrap();
    let [fresh, kept, again] = ["fresh", "kept", "again"].map(|name| dir.path().join(name));
    for dir in [&fresh, &kept, &again] {
        std::fs::create_dir(dir).unwrap();
    }
    let results = dir.path().join("results");
    let asked = options(&fresh);
    let mut asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    asked.extend(["--trials", "30"]);
    let found = confirm(&control_program(&["Figure1"]), &results, &asked);
    assert_eq!(found.code, Some(66), "{}", found.stderr);
    let confirmed = found
        .races()
        .iter()
        .find(|race| race["status"] == "confirmed");
    let race = confirmed.expect("that race is made to happen every time");
    let id = race["id"].as_str().unwrap();

    // A schedule for each outcome, in which the two stand side by side.
    let data = page(&fresh);
    assert_eq!(data["report"]["races"], found.report["races"]);
    let schedules = data["schedules"].as_object().unwrap();
    for outcome in race["outcomes"].as_array().unwrap() {
        let name = format!("{id}.{}", outcome["result"].as_str().unwrap());
        let rows = schedules[&name]["rows"].as_array().unwrap();
        let met = rows.iter().find(|row| row.get("beside").is_some()).unwrap();
        let first = &race["accesses"][outcome["first"].as_u64().unwrap() as usize];
        let what = met["what"].as_str().unwrap();
        assert!(
            what.starts_with(first["op"].as_str().unwrap()),
            "{what} {outcome}"
        );
    }
    // Sources are found above the classes in the repository or not at all; the
    // places are there in any case.
    let sarif = json(&fresh, "sarif");
    let all = sarif["runs"][0]["results"].as_array().unwrap();
    let of_race = all
        .iter()
        .find(|result| result["properties"]["id"] == *id)
        .unwrap();
    assert_eq!(
        of_race["partialFingerprints"]["photofinish/v1"],
        race["fingerprint"]
    );
    assert_eq!(
        of_race["codeFlows"][0]["threadFlows"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert!(text(&fresh, "junit").contains("<failure type=\"confirmed-race\""));
    let trace = json(&fresh, "perfetto");
    let events = trace["traceEvents"].as_array().unwrap();
    assert!(events.iter().any(|event| event["cat"] == "race"));

    // The same from the directory, later; the terminal has the story.
    let mut tool = photofinish();
    tool.arg("report").arg(&results).args(options(&kept));
    let shown = finish(tool, "");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("what happens ("), "{shown}");
    assert!(shown.contains("    1. thread"), "{shown}");
    for form in ["html", "junit", "perfetto"] {
        assert_eq!(text(&kept, form), text(&fresh, form), "{form}");
    }
    assert_eq!(json(&kept, "sarif"), sarif);

    // And a replay has its own schedule.
    let mut tool = photofinish();
    tool.arg("replay").arg("--results").arg(&results);
    tool.args(options(&again)).arg(id);
    let replayed = finish(tool, "");
    assert_eq!(replayed.status.code(), Some(66));
    let schedules = page(&again)["schedules"].clone();
    assert_eq!(schedules.as_object().unwrap().len(), 1);
    assert!(text(&again, "perfetto").contains("race: "));
}

#[test]
fn a_form_that_cannot_be_written_is_said_before_the_program_runs() {
    for form in FORMS {
        let option = format!("--{form}");
        let said = control_program(&["Figure1"]).under(&["detect", &option, "/nowhere/file"]);
        assert_eq!(said.status.code(), Some(64));
        let text = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(text.contains("cannot write /nowhere/file"), "{text}");
        assert!(said.stdout.is_empty(), "it ran");
    }
}

/// A device that takes nothing, as a full disk.
fn full() -> Stdio {
    let file = std::fs::File::options().write(true).open("/dev/full");
    file.expect("/dev/full is there on Linux").into()
}

/// Nothing panics where nothing can be written, and what can be written is.
#[test]
fn output_that_cannot_be_written() {
    let dir = scratch("full-outputs");
    let json = dir.join("r.json");
    let program = Program::own(&["TwoRaces"]);
    let detect = |options: &[&str]| {
        let mut tool = photofinish();
        tool.arg("detect")
            .args(options)
            .arg("--")
            .args(&program.args);
        tool
    };
    let json_option = ["--json", json.to_str().unwrap()];
    let code = |mut tool: Command| tool.status().unwrap().code();

    let mut tool = detect(&json_option);
    tool.stdout(full()).stderr(full());
    assert_eq!(code(tool), Some(70), "the report cannot be shown");
    let kept = std::fs::read(&json).unwrap();
    assert!(findings_are_there(&kept), "but is kept");

    let quiet = detect(&["-q", json_option[0], json_option[1]]);
    let wanted = code(quiet);
    let mut tool = detect(&["-q", json_option[0], json_option[1]]);
    tool.stderr(full());
    assert_eq!(code(tool), wanted, "nobody asked for words");

    // One output that cannot be written does not keep the others from it.
    std::fs::remove_file(&json).unwrap();
    let mut tool = detect(&["-q", "--html", "/dev/full", json_option[0], json_option[1]]);
    tool.stderr(Stdio::null());
    assert_eq!(code(tool), Some(70));
    assert!(findings_are_there(&std::fs::read(&json).unwrap()));

    for args in [
        &["report", "nothing.json"][..],
        &["verify"],
        &["--no-such-option"],
    ] {
        let mut tool = photofinish();
        tool.args(args).stdout(full()).stderr(full());
        assert_eq!(code(tool), Some(64), "{args:?}");
    }
    // What is only printed is lost: that is a failure, unless its reader has seen enough.
    let std_text = dir.join("a.std");
    std::fs::write(&std_text, "T1|w(x)|1\n").unwrap();
    let pft = dir.join("a.pft");
    let [std_text, pft] = [&std_text, &pft].map(|path| path.to_str().unwrap());
    let converted = photofinish()
        .args(["trace", "convert", std_text, "-o", pft])
        .status();
    assert_eq!(converted.unwrap().code(), Some(0));
    let empty = dir.join("empty");
    let id = first_id(&json);
    for args in [
        &["report", json_option[1]][..],
        &["explain", &id, "--from", json_option[1]],
        &["trace", "info", pft],
        &["trace", "convert", pft, "-o", "-"],
        &[
            "campaign",
            "status",
            "--json",
            "--results",
            empty.to_str().unwrap(),
        ],
        &["agent-path"],
        &["doctor", "--java", "/nowhere"],
        &["completions", "bash"],
        &["man"],
    ] {
        let tool = |stdout: Stdio| {
            let mut tool = photofinish();
            tool.args(args).stdout(stdout).stderr(full());
            tool.status().unwrap().code()
        };
        assert_eq!(tool(full()), Some(70), "{args:?}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let wanted = tool(Stdio::null());
        assert_ne!(wanted, Some(70), "{args:?}");
        assert_eq!(tool(writer.into()), wanted, "{args:?}");
    }
}

fn first_id(json: &Path) -> String {
    let report: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    report["races"][0]["id"].as_str().unwrap().to_owned()
}

fn findings_are_there(json: &[u8]) -> bool {
    serde_json::from_slice::<Value>(json).is_ok_and(|report| report["races"].is_array())
}

/// Names in messages cannot trick a terminal, and a device is no file of words.
#[test]
fn errors_name_what_they_were_given_harmlessly() {
    let dir = scratch("hostile-names");
    let config = dir.join("photofinish.toml");
    std::fs::write(&config, "\"a\\u001b[2Jb\" = 1\n").unwrap();
    let config = config.to_str().unwrap();
    for args in [
        &["report", "no\u{1b}[31mfile.json"][..],
        &["detect", "--no\u{1b}[31msuch"],
        &["detect", "--detector", "fast\u{202e}track"],
        &["detect", "--config", config, "--", "Main"],
        &["detect", "--suppress", "no\u{1b}]0;file", "--", "Main"],
        &["report", "/dev/zero"],
        &["detect", "--suppress", "/dev/zero", "--", "Main"],
        &["detect", "--config", "/dev/zero", "--", "Main"],
    ] {
        let done = photofinish().args(args).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(64), "{args:?}: {said}");
        let trick = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
        assert!(!said.contains(trick), "{args:?}: {said:?}");
    }
}
