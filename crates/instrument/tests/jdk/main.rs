//! Every class of six modules of the installed JDK, rewritten with everything
//! probed, links under full verification and still works.

#[path = "../../../classfile/tests/jdk/support.rs"]
mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use instrument::{Mode, PROBES, Policy, Request, rewrite};
use support::{Scratch, jdk_classes, path, run};

const MODULES: [&str; 6] = [
    "java.base",
    "jdk.compiler",
    "java.xml",
    "java.desktop",
    "java.net.http",
    "java.sql",
];

/// What a pass over the classes left in a directory.
struct Outcome {
    names: String,
    left: Vec<String>,
    missing: Vec<String>,
    sites: usize,
}

fn rewrite_all(to: &Path, mode: Mode, policy: &Policy) -> Outcome {
    let mut outcome = Outcome {
        names: String::new(),
        left: Vec::new(),
        missing: Vec::new(),
        sites: 0,
    };
    for entry in jdk_classes() {
        let wanted = MODULES.contains(&entry.module.as_str());
        if !wanted || entry.path == "module-info.class" {
            continue;
        }
        let result = rewrite(&Request {
            bytes: &entry.bytes,
            mode,
            policy,
            first_site: outcome.sites as u32,
            boot_or_platform: Some(true),
        })
        .unwrap_or_else(|e| panic!("{}: {e}", entry.path));
        outcome.sites += result.sites.len();
        outcome.missing.extend(result.missing_models);
        for s in &result.skipped {
            let what = if s.data_only { "data" } else { "all" };
            let line = format!("{}.{} ({what}): {}", result.name, s.method, s.why);
            outcome.left.push(line);
        }
        if let Some(bytes) = &result.bytes {
            let to = to.join(&entry.module).join(&entry.path);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::write(&to, bytes).unwrap();
        }
        outcome.names.push_str(&result.name.replace('/', "."));
        outcome.names.push('\n');
    }
    outcome
}

/// A bridge whose probes do nothing, in place of the real one.
fn stub_bridge(scratch: &Path, patches: &Path) {
    let mut source = String::from("package java.lang;\npublic final class Photofinish {\n");
    for probe in PROBES {
        let params = classfile::method(probe.desc).unwrap();
        let params: Vec<String> = params
            .params()
            .enumerate()
            .map(|(i, p)| format!("{} a{i}", java_type(p)))
            .collect();
        let _ = writeln!(
            source,
            "  public static void {}({}) {{}}",
            probe.name,
            params.join(", ")
        );
    }
    source.push_str("}\nfinal class PhotofinishThread {}\n");
    let file = scratch.join("Photofinish.java");
    std::fs::write(&file, source).unwrap();
    let here = format!("java.base={}", path(scratch));
    let out = patches.join("java.base");
    run(
        "javac",
        &["--patch-module", &here, "-d", path(&out), path(&file)],
    );
}

fn java_type(desc: &str) -> String {
    match desc {
        "I" => "int".into(),
        "J" => "long".into(),
        "Z" => "boolean".into(),
        object => object[1..object.len() - 1].replace('/', "."),
    }
}

fn links(mode: Mode, trusted: &[&str], name: &str) {
    let scratch = Scratch::new(name);
    let patches = scratch.0.join("patches");
    let policy = Policy::new(&["**"], &[], trusted);
    let outcome = rewrite_all(&patches, mode, &policy);
    println!("{} sites, left alone:", outcome.sites);
    for line in &outcome.left {
        println!("  {line}");
    }
    println!("missing models: {:?}", outcome.missing);
    assert!(outcome.sites > 100_000, "only {} sites", outcome.sites);
    assert!(outcome.left.len() < 5, "{:?}", outcome.left);
    stub_bridge(&scratch.0, &patches);

    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/jdk/Probed.java");
    let (out, list) = (scratch.0.join("out"), scratch.0.join("names"));
    let again = scratch.0.join("again");
    std::fs::create_dir_all(&again).unwrap();
    std::fs::write(&list, &outcome.names).unwrap();
    run("javac", &["-d", path(&out), source]);
    let mut args: Vec<String> = MODULES
        .iter()
        .map(|m| format!("--patch-module={m}={}", path(&patches.join(m))))
        .collect();
    for arg in [
        "-Xverify:all",
        "-Djava.awt.headless=true",
        "-cp",
        path(&out),
        "Probed",
    ] {
        args.push(arg.to_owned());
    }
    args.extend([&list, Path::new(source), &again].map(|p| path(p).to_owned()));
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let text = run("java", &args);
    assert!(!text.contains("FAILED"), "{text}");
    assert!(text.contains("compiler exit 0"), "{text}");
    // The probed compiler does what the original did.
    let compiled = |dir: &Path| -> BTreeMap<String, Vec<u8>> {
        let files = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
        files
            .map(|f| {
                (
                    path(&f)[path(dir).len()..].to_owned(),
                    std::fs::read(&f).unwrap(),
                )
            })
            .collect()
    };
    assert_eq!(compiled(&out), compiled(&again));
}

#[test]
fn probed_with_shadows_every_class_links() {
    links(Mode::FastTrack, &[], "shadows");
}

#[test]
fn probed_with_identities_every_class_links() {
    links(Mode::Events, &[], "identities");
}

#[test]
fn trusted_every_class_links() {
    links(Mode::FastTrack, &["**"], "trusted");
}
