//! What is written for other programs fits the schemas that they go by.

mod common;

use common::{Everything, full, hostile};
use findings::result::Report;
use report::terminal::NoSources;
use report::timeline::Timelines;
use report::{junit, perfetto, sarif};
use serde_json::Value;
use std::process::Command;

#[track_caller]
fn valid(schema: &str, instance: &Value) {
    let schema: Value = serde_json::from_str(schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator
        .iter_errors(instance)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn to_sarif(report: &Report, timelines: &Timelines) -> Value {
    let mut out = Vec::new();
    let context = sarif::Context {
        sources: &Everything,
        timelines,
        root: None,
    };
    sarif::write(report, context, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

const SARIF: &str = include_str!("schemas/sarif-2.1.0.json");

/// A report without anything in it.
fn empty() -> (Report, Timelines) {
    let text = r#"{"schema":1,"tool":"photofinish 0","command":"detect","program":{"args":[]}}"#;
    (
        Report::from_json(text.as_bytes()).unwrap(),
        Timelines::new(),
    )
}

#[test]
fn sarif_is_valid() {
    for (report, timelines) in [full(), hostile(), empty()] {
        valid(SARIF, &to_sarif(&report, &timelines));
    }
}

#[test]
fn sarif_says_what_the_report_says() {
    let (report, timelines) = full();
    let log = to_sarif(&report, &timelines);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let rules: Vec<&str> = results
        .iter()
        .map(|r| r["ruleId"].as_str().unwrap())
        .collect();
    let count = |rule: &str| rules.iter().filter(|r| **r == rule).count();
    assert_eq!(count("data-race"), report.races.len());
    assert_eq!(
        count("deadlock") + count("livelock"),
        report.deadlocks.len()
    );
    assert_eq!(count("uncaught-exception"), report.failures.len());
    // A property that holds is none.
    assert_eq!(
        (count("atomicity-violation"), count("property-violation")),
        (1, 1)
    );
    let race = &results[0];
    assert_eq!(
        race["partialFingerprints"]["photofinish/v1"],
        report.races[0].fingerprint
    );
    assert_eq!(race["level"], "error");
    let flows = race["codeFlows"][0]["threadFlows"].as_array().unwrap();
    assert_eq!(flows.len(), 2);
    let last = |flow: &Value| {
        flow["locations"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .clone()
    };
    for (flow, access) in flows.iter().zip(&report.races[0].accesses) {
        let region = &last(flow)["location"]["physicalLocation"]["region"];
        assert_eq!(region["startLine"].as_u64(), access.at.line.map(u64::from));
    }
    // Predicted is no error.
    let predicted = results
        .iter()
        .find(|r| r["properties"]["status"] == "predicted");
    assert_eq!(predicted.unwrap()["level"], "warning");
}

#[test]
fn junit_is_valid() {
    let dir = tempfile::tempdir().unwrap();
    let schemas = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schemas");
    let home = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty());
    let java = home.map(|home| std::path::Path::new(&home).join("bin/java"));
    let mut java = Command::new(java.unwrap_or("java".into()));
    java.arg(format!("{schemas}/Validate.java"));
    java.arg(format!("{schemas}/junit-10.xsd"));
    for (index, (report, _)) in [full(), hostile(), empty()].iter().enumerate() {
        let file = dir.path().join(format!("{index}.xml"));
        junit::write(report, std::fs::File::create(&file).unwrap()).unwrap();
        java.arg(file);
    }
    let done = java.output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
}

#[test]
fn junit_counts_what_failed() {
    let text = |report: &Report| {
        let mut out = Vec::new();
        junit::write(report, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let (mut report, _) = full();
    let xml = text(&report);
    let failed = report.races.len() + report.deadlocks.len() + report.failures.len() + 2;
    assert!(
        xml.contains(&format!("failures=\"{failed}\" errors=\"0\"")),
        "{xml}"
    );
    // A suspicion that came to nothing is skipped; nothing exercised is an error.
    report.races.truncate(2);
    report.races.remove(0);
    report.races[0].status = findings::result::Status::Potential;
    report.deadlocks.clear();
    report.failures.clear();
    report.atomicity.clear();
    report.properties.clear();
    report.coverage.threads = 1;
    report.coverage.classes_instrumented = 5;
    let xml = text(&report);
    assert!(
        xml.contains("tests=\"2\" failures=\"0\" errors=\"1\""),
        "{xml}"
    );
    assert!(xml.contains("skipped=\"1\""), "{xml}");
}

#[test]
fn the_schema_in_the_documentation_is_that_of_the_types() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/report.schema.json");
    let now = format!("{:#}\n", findings::schema::report());
    test_support::golden::compare(std::path::Path::new(file), &now);
}

#[test]
fn our_own_schema_fits_our_own_reports() {
    let schema = include_str!("../../../docs/report.schema.json");
    for text in [
        include_str!("golden/shop.json"),
        include_str!("golden/controlled.json"),
    ] {
        let mut report: Value = serde_json::from_str(text).unwrap();
        valid(schema, &report);
        // And is good for something.
        report["races"][0]["status"] = "certain".into();
        let schema: Value = serde_json::from_str(schema).unwrap();
        assert!(!jsonschema::is_valid(&schema, &report));
    }
    valid(schema, &serde_json::to_value(full().0).unwrap());
}

#[test]
fn what_we_write_is_typed() {
    let (report, _) = full();
    assert!(report.other.is_empty(), "{:?}", report.other);
    for race in &report.races {
        assert!(race.other.is_empty(), "{:?}", race.other);
    }
}

#[test]
fn what_is_claimed_comes_with_its_evidence() {
    let schema = include_str!("../../../docs/report.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let whole = serde_json::to_value(full().0).unwrap();
    for (status, evidence) in [("confirmed", "replay"), ("predicted", "witness")] {
        let races = whole["races"].as_array().unwrap();
        let at = races.iter().position(|r| r["status"] == status).unwrap();
        let mut without = whole.clone();
        let race = without["races"][at].as_object_mut().unwrap();
        race.remove(evidence).unwrap();
        // Trials that made it happen are evidence, too: a part of a campaign keeps no schedule.
        race.remove("trials");
        assert!(!jsonschema::is_valid(&schema, &without), "{status}");
        // Of a lesser claim nobody asks it.
        without["races"][at]["status"] = "potential".into();
        assert!(jsonschema::is_valid(&schema, &without), "{status}");
    }
    let mut empty = whole.clone();
    let races = empty["races"].as_array_mut().unwrap();
    let predicted = races.iter_mut().find(|r| r["status"] == "predicted");
    predicted.unwrap()["witness"] = Value::Null;
    assert!(!jsonschema::is_valid(&schema, &empty));
}

#[test]
fn perfetto_has_every_step_and_every_edge() {
    for (_, timelines) in [full(), hostile()] {
        let mut out = Vec::new();
        perfetto::write(&timelines, &mut out).unwrap();
        let trace: Value = serde_json::from_slice(&out).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let count = |phase: &str| events.iter().filter(|e| e["ph"] == phase).count();
        let rows = timelines.values().flat_map(|t| &t.rows);
        assert_eq!(count("X"), rows.filter(|r| r.lane.is_some()).count());
        let edges: usize = timelines.values().map(|t| t.edges.len()).sum();
        assert!(edges > 0);
        assert_eq!((count("s"), count("f")), (edges, edges));
        assert!(
            events
                .iter()
                .all(|e| e["pid"].is_u64() && e["tid"].is_u64())
        );
        let race = events.iter().find(|e| e["cat"] == "race").unwrap();
        assert!(race["name"].as_str().unwrap().starts_with("race: write"));
    }
    let mut out = Vec::new();
    perfetto::write(&Timelines::new(), &mut out).unwrap();
    assert!(serde_json::from_slice::<Value>(&out).is_ok());
}

#[test]
fn without_sources_places_are_below_their_package() {
    let (report, timelines) = full();
    let mut out = Vec::new();
    let context = sarif::Context {
        sources: &NoSources,
        timelines: &timelines,
        root: Some("/somewhere"),
    };
    sarif::write(&report, context, &mut out).unwrap();
    let log: Value = serde_json::from_slice(&out).unwrap();
    valid(SARIF, &log);
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "Figure1.java");
}
