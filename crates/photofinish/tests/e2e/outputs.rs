//! A result in all the forms it is written in, from a run and from what was
//! kept of it. What they look like inside is for the tests of `report`.

use serde_json::Value;
use std::path::Path;
use test_support::programs::{confirm, control_program, finish, photofinish};

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

    // The same from the directory, later; the terminal has the table.
    let mut tool = photofinish();
    tool.arg("report").arg(&results).args(options(&kept));
    let shown = finish(tool, "");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains(&format!("how they met in {id}.")), "{shown}");
    assert!(shown.contains("| thread1"), "{shown}");
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
