//! A class is the program's when one of the program's loaders defines it, whatever
//! its package is called.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use test_support::programs::{Detected, Program, confirm, jdk, location, offline, root, scratch};

const PACKAGES: [&str; 5] = ["shop", "javax.shop", "com.sun.shop", "jdk.shop", "sun.shop"];

/// `Till` in each of the packages.
fn classes() -> &'static Path {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let dir = scratch("owners-classes");
        let text = root().join("crates/photofinish/tests/java/src/shop/Till.java");
        let text = std::fs::read_to_string(text).unwrap();
        let mut javac = jdk::tool("javac");
        javac.args(["-g", "-nowarn", "-d"]).arg(&dir);
        for package in PACKAGES {
            let source = scratch(&format!("owners-{package}")).join("Till.java");
            let text = text.replace("package shop;", &format!("package {package};"));
            std::fs::write(&source, text).unwrap();
            javac.arg(source);
        }
        assert!(javac.status().unwrap().success());
        dir
    })
}

fn till(package: &str) -> Program {
    let main = format!("{package}.Till");
    Program::new(&["-cp", classes().to_str().unwrap(), &main])
}

/// What a report calls each race.
fn statuses(found: &Detected) -> BTreeMap<String, String> {
    let races = found.races().iter();
    races
        .map(|race| (location(race), race["status"].as_str().unwrap().to_owned()))
        .collect()
}

fn both(package: &str, status: &str) -> BTreeMap<String, String> {
    ["count", "total"]
        .map(|field| (format!("{package}.Till.{field}"), status.to_owned()))
        .into()
}

#[test]
fn races_are_observed_in_any_package() {
    for package in PACKAGES {
        let found = till(package).detect(&[]);
        assert_eq!(statuses(&found), both(package, "observed"), "{package}");
        assert_eq!(found.code, Some(66), "{package}: {}", found.warnings());
    }
}

/// The boot loader defines them, and they are not the JDK's all the same.
#[test]
fn classes_appended_to_the_boot_class_path_are_the_programs() {
    let appended = format!("-Xbootclasspath/a:{}", classes().display());
    let found = Program::new(&[&appended, "shop.Till"]).detect(&[]);
    assert_eq!(statuses(&found), both("shop", "observed"));
}

#[test]
fn recordings_know_whose_classes_are() {
    for package in PACKAGES {
        let trace = scratch(&format!("owners-trace-{package}")).join("t.pft");
        let command = ["record", "-o", trace.to_str().unwrap()];
        let done = till(package).reported(&command);
        assert_eq!(done.code, Some(0), "{package}: {}", done.stderr);
        let found = offline(&trace, "fasttrack");
        assert_eq!(statuses(&found), both(package, "observed"), "{package}");
    }
}

#[test]
fn controlled_runs_stop_in_any_package() {
    for package in ["javax.shop", "sun.shop"] {
        let results = scratch(&format!("owners-confirm-{package}")).join("results");
        let found = confirm(&till(package), &results, &["--trials", "5"]);
        assert_eq!(statuses(&found), both(package, "confirmed"), "{package}");
    }
}
