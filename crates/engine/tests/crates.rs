//! The crates depend on each other in one direction only, as ARCHITECTURE.md
//! draws it.

use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Every crate, from the bottom to the top, with the crates that it may use. An
/// edge that is not here points back, or makes a part know more than it should.
const MAY_USE: &[(&str, &[&str])] = &[
    // Bytes and events, and numbers that Java shares.
    ("encoding", &[]),
    ("classfile", &[]),
    ("trace", &["encoding"]),
    ("order", &[]),
    ("memory", &["order"]),
    ("litmus", &["trace"]),
    ("contract", &["trace"]),
    // Algorithms.
    ("instrument", &["classfile", "encoding"]),
    ("detect", &["order", "trace"]),
    ("predict", &["detect", "order", "trace"]),
    ("retrace", &["classfile", "encoding", "predict", "trace"]),
    ("explore", &[]),
    ("schedule", &["encoding", "explore"]),
    ("advise", &["trace"]),
    // What crosses a process boundary, and what was found.
    ("protocol", &["classfile", "detect", "encoding", "explore"]),
    ("findings", &["detect", "protocol"]),
    // The two sides of a run.
    (
        "agent",
        &[
            "classfile",
            "encoding",
            "instrument",
            "trace",
            "memory",
            "order",
            "detect",
            "schedule",
            "explore",
            "protocol",
            "contract",
        ],
    ),
    ("driver", &["encoding", "findings", "protocol", "schedule"]),
    // Configurations in, findings out.
    (
        "engine",
        &[
            "advise",
            "classfile",
            "detect",
            "driver",
            "encoding",
            "explore",
            "findings",
            "instrument",
            "predict",
            "protocol",
            "retrace",
            "schedule",
            "trace",
        ],
    ),
    // Renderers.
    ("report", &["encoding", "findings", "schedule"]),
    // The same work on several machines.
    (
        "campaign",
        &[
            "classfile",
            "detect",
            "driver",
            "engine",
            "findings",
            "report",
            "schedule",
        ],
    ),
    // Arguments, progress, output, exit codes.
    (
        "photofinish",
        &[
            "campaign", "detect", "driver", "encoding", "engine", "explore", "findings", "predict",
            "report", "schedule", "trace",
        ],
    ),
    ("bench", &["detect", "driver", "trace"]),
    // What tests share.
    (
        "test-support",
        &[
            "classfile",
            "detect",
            "explore",
            "findings",
            "litmus",
            "predict",
            "report",
            "retrace",
            "schedule",
            "trace",
        ],
    ),
    ("oracle", &["litmus", "test-support", "trace"]),
];

#[test]
fn no_edge_points_back() {
    let graph = graph();
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    for (at, (name, may)) in MAY_USE.iter().enumerate() {
        let below: Vec<&str> = MAY_USE[..at].iter().map(|(name, _)| *name).collect();
        let up = may.iter().find(|other| !below.contains(other));
        assert_eq!(up, None, "the row of {name} points up");
    }
    for (name, used) in &graph {
        let may = allowed.get(name.as_str());
        let may = may.unwrap_or_else(|| panic!("crate {name} has no row in MAY_USE"));
        for other in used {
            assert!(
                may.contains(&other.as_str()),
                "{name} must not depend on {other}: see ARCHITECTURE.md"
            );
        }
    }
}

/// The crates of the workspace by their short names, and which of them each uses
/// when it is built; tests may use more.
fn graph() -> BTreeMap<String, Vec<String>> {
    let told = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(told.status.success());
    let told: Value = serde_json::from_slice(&told.stdout).expect("cargo writes JSON");
    let packages = told["packages"].as_array().expect("there are packages");
    let short = |package: &Value| {
        let name = package["name"].as_str().unwrap_or_default();
        name.strip_prefix("photofinish-").unwrap_or(name).to_owned()
    };
    let names: Vec<String> = packages.iter().map(short).collect();
    let used = |package: &Value| {
        let all = package["dependencies"].as_array().into_iter().flatten();
        let built = all.filter(|dependency| dependency["kind"].is_null());
        let mut used: Vec<String> = built.map(short).collect();
        used.retain(|name| names.contains(name));
        used
    };
    packages.iter().map(|p| (short(p), used(p))).collect()
}
