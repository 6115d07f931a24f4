//! Every class of six modules of the installed JDK, rewritten with everything
//! probed, links under full verification and still works.

#[path = "../support/mod.rs"]
mod support;

mod jar;
mod known;
mod points;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

use instrument::{Control, Mode, Policy, Request, Statement, rewrite};
use jar::Jar;
use support::{Scratch, path, run};

const MODULES: [&str; 6] = [
    "java.base",
    "jdk.compiler",
    "java.xml",
    "java.desktop",
    "java.net.http",
    "java.sql",
];

/// A class file of the JDK.
struct Entry {
    module: &'static str,
    /// Below the module.
    path: String,
    bytes: Vec<u8>,
}

/// The class files of the modules, read from the runtime image once.
fn jdk_classes() -> &'static [Entry] {
    static CLASSES: OnceLock<Vec<Entry>> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let scratch = Scratch::new("image");
        let image = test_support::jdk::home().join("lib/modules");
        let wanted = format!(
            "regex:/({})/.*\\.class",
            MODULES.join("|").replace('.', "\\.")
        );
        let args = ["extract", "--include", &wanted, "--dir", path(&scratch.0)];
        run("jimage", &[&args[..], &[path(&image)]].concat());
        let mut found = Vec::new();
        for module in MODULES {
            let root = scratch.0.join(module);
            collect(module, &root, &root, &mut found);
        }
        assert!(found.len() > 10_000, "only {} classes", found.len());
        found
    })
}

fn collect(module: &'static str, root: &Path, dir: &Path, found: &mut Vec<Entry>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let at = entry.unwrap().path();
        if at.is_dir() {
            collect(module, root, &at, found);
        } else if !at.ends_with("module-info.class") {
            found.push(Entry {
                module,
                path: path(at.strip_prefix(root).unwrap()).to_owned(),
                bytes: std::fs::read(&at).unwrap(),
            });
        }
    }
}

/// What a pass over the classes left in a directory.
struct Outcome {
    names: String,
    left: Vec<String>,
    missing: Vec<String>,
    sites: usize,
}

fn rewrite_all(to: &Path, mode: Mode, policy: &Policy, control: Option<&Control>) -> Outcome {
    let mut outcome = Outcome {
        names: String::new(),
        left: Vec::new(),
        missing: Vec::new(),
        sites: 0,
    };
    let mut jars = MODULES.map(|module| (module, Jar::default()));
    for entry in jdk_classes() {
        let result = rewrite(&Request {
            bytes: &entry.bytes,
            mode,
            policy,
            first_site: outcome.sites as u32,
            boot_or_platform: Some(true),
            control,
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
            let jar = jars.iter_mut().find(|(module, _)| *module == entry.module);
            jar.unwrap().1.add(&entry.path, bytes);
        }
        outcome.names.push_str(&result.name.replace('/', "."));
        outcome.names.push('\n');
    }
    for (module, jar) in jars {
        jar.write(&to.join(format!("{module}.jar")));
    }
    outcome
}

fn links(mode: Mode, trusted: &[&str], control: Option<&Control>, name: &str) {
    let scratch = Scratch::new(name);
    let patches = scratch.0.join("patches");
    let bridge = scratch.0.join("bridge");
    std::fs::create_dir_all(&patches).unwrap();
    let policy = Policy::new(&["**"], &[], trusted);
    let outcome = rewrite_all(&patches, mode, &policy, control);
    println!("{} sites, left alone:", outcome.sites);
    for line in &outcome.left {
        println!("  {line}");
    }
    println!("missing models: {:?}", outcome.missing);
    assert!(outcome.sites > 100_000, "only {} sites", outcome.sites);
    let is_code = |line: &&String| !line.contains("it is native");
    let left: Vec<_> = outcome.left.iter().filter(is_code).collect();
    assert!(left.len() < 5, "{left:?}");
    support::bridge(&scratch.0, &bridge, "", "");

    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/jdk/Probed.java");
    let (out, list) = (scratch.0.join("out"), scratch.0.join("names"));
    let again = scratch.0.join("again");
    std::fs::create_dir_all(&again).unwrap();
    std::fs::write(&list, &outcome.names).unwrap();
    run("javac", &["-d", path(&out), source]);
    let mut args: Vec<String> = MODULES
        .iter()
        .map(|m| {
            let jar = patches.join(format!("{m}.jar"));
            match m {
                &"java.base" => format!("--patch-module={m}={}:{}", path(&jar), path(&bridge)),
                _ => format!("--patch-module={m}={}", path(&jar)),
            }
        })
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
    // The JVM has nothing to say about methods it knows.
    assert!(!text.contains("IntrinsicCandidate"), "{text}");
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
    links(Mode::FastTrack, &[], None, "shadows");
}

#[test]
fn probed_with_identities_every_class_links() {
    links(Mode::Events, &[], None, "identities");
}

#[test]
fn followed_every_class_links() {
    links(Mode::Full, &[], None, "followed");
}

#[test]
fn trusted_every_class_links() {
    links(Mode::FastTrack, &["**"], None, "trusted");
}

/// Methods of every kind that say when a thread is in them.
const FRAMES: [&str; 4] = [
    "java/util/Vector#add#(Ljava/lang/Object;)Z",
    "java/util/Vector#<init>#(II)V",
    "java/util/HashMap#putVal#(ILjava/lang/Object;Ljava/lang/Object;ZZ)Ljava/lang/Object;",
    "java/util/Collections#sort#(Ljava/util/List;)V",
];

#[test]
fn controlled_with_shadows_every_class_links() {
    let files = ["ConcurrentHashMap", "HashMap", "Arrays", "Thread", "Attr"];
    let line = |file: &str, line| Statement::Line {
        file: format!("{file}.java"),
        line,
    };
    let targets = files.iter().flat_map(|f| (1..9000).map(|n| line(f, n)));
    let control = Control {
        targets: targets.collect(),
        frames: FRAMES.map(str::to_owned).into(),
        only_locks: false,
        explores: true,
    };
    links(Mode::FastTrack, &[], Some(&control), "controlled");
}

#[test]
fn controlled_without_detector_every_class_links() {
    links(Mode::Bare, &[], Some(&Control::default()), "bare");
}
