//! Probes of controlled runs: synchronized methods that lock by themselves do
//! what they did, and points stand where they should.

#[path = "../support/checks.rs"]
mod checks;
#[path = "../support/mod.rs"]
mod support;

mod targets;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use classfile::{ClassFile, Code, Editor, Snippet, acc};
use instrument::{Control, Mode, Policy, Request, Rewritten, Site, SiteKind, Statement, rewrite};
use support::{Scratch, path, run};

const DIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/control");
const FIRST: u32 = 40_000;

fn compile(scratch: &Scratch, source: &str, flags: &[&str]) -> BTreeMap<String, Vec<u8>> {
    let out = scratch.0.join("classes");
    let basic = ["-g", "-Xlint:none", "-d", path(&out)];
    run("javac", &[&basic[..], flags, &[source]].concat());
    let files = std::fs::read_dir(out).unwrap().map(|e| e.unwrap().path());
    files
        .map(|f| {
            let name = f.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(&f).unwrap())
        })
        .collect()
}

fn controlled(bytes: &[u8], mode: Mode, policy: &Policy, control: &Control) -> Rewritten {
    rewrite(&Request {
        bytes,
        mode,
        policy,
        first_site: FIRST,
        boot_or_platform: Some(false),
        control: Some(control),
    })
    .unwrap()
}

fn write(dir: &Path, name: &str, bytes: &[u8]) {
    std::fs::create_dir_all(dir).unwrap();
    std::fs::write(dir.join(format!("{name}.class")), bytes).unwrap();
}

/// Classes as they were and as rewritten, each in a directory.
fn rewrite_into(
    dir: &Path,
    classes: &BTreeMap<String, Vec<u8>>,
    mode: Mode,
    control: &Control,
) -> Vec<(String, String)> {
    let mut freed = Vec::new();
    for (name, bytes) in classes {
        let result = controlled(bytes, mode, &Policy::default(), control);
        assert!(result.skipped.is_empty(), "{:?}", result.skipped);
        freed.extend(result.unsynchronized);
        write(dir, name, result.bytes.as_ref().unwrap_or(bytes));
    }
    freed
}

/// `Locks` with two methods that assign null to `this`: class files may.
fn locks(scratch: &Scratch) -> BTreeMap<String, Vec<u8>> {
    let mut classes = compile(scratch, &format!("{DIR}/Locks.java"), &[]);
    let bytes = classes["Locks"].clone();
    let mut class = ClassFile::parse(&bytes).unwrap();
    for (name, desc) in [("nothing", "()V"), ("building", "(Z)Ljava/lang/Object;")] {
        let index = class.method_index(name, desc).unwrap();
        let code = Code::decode(&class, index).unwrap().unwrap();
        let forget = Snippet::new(&mut class.pool)
            .aconst_null()
            .astore(0)
            .finish()
            .unwrap();
        let mut editor = Editor::new(&code);
        editor.insert_at_entry(forget);
        editor.finish(&mut class).unwrap();
    }
    classes.insert("Locks".to_owned(), class.to_bytes());
    classes
}

/// A bridge whose probes need some stack, and throw when told to.
const ANGRY: &str = r#"
    public static volatile String angry;
    static int down(int n) { return n == 0 ? 0 : 1 + down(n - 1); }"#;
const ANGRY_BODY: &str = r#"
    if (angry != null && angry.equals(NAME)) throw new IllegalCallerException(NAME);
    down(20);"#;

struct Prepared {
    scratch: Scratch,
    before: PathBuf,
    after: PathBuf,
    bridge: String,
    freed: Vec<(String, String)>,
}

fn prepare(name: &str, mode: Mode, members: &str, body: &str) -> Prepared {
    let scratch = Scratch::new(name);
    let classes = locks(&scratch);
    let (before, after) = (scratch.0.join("before"), scratch.0.join("after"));
    for (name, bytes) in &classes {
        write(&before, name, bytes);
    }
    let freed = rewrite_into(&after, &classes, mode, &Control::default());
    let bridge = scratch.0.join("bridge");
    support::bridge(&scratch.0, &bridge, members, body);
    Prepared {
        bridge: format!("--patch-module=java.base={}", path(&bridge)),
        scratch,
        before,
        after,
        freed,
    }
}

#[test]
fn methods_that_lock_by_themselves_do_what_they_did() {
    for (name, mode) in [("bare", Mode::Bare), ("shadows", Mode::FastTrack)] {
        let p = prepare(name, mode, ANGRY, ANGRY_BODY);
        // Not too deep: every overflow unwinds frame by frame.
        let flags = ["-Xss512k", "-Xverify:all"];
        let before = run(
            "java",
            &[&flags[..], &["-cp", path(&p.before), "Locks"]].concat(),
        );
        let args = [&p.bridge, "-cp", path(&p.after), "Locks"];
        let after = run("java", &[&flags[..], &args].concat());
        assert_eq!(before, after);
        assert!(!after.contains("BEHIND"), "{after}");
        assert!(after.contains("another thread: 214"), "{after}");
        assert_eq!(p.freed.len(), 15, "{:?}", p.freed);
        assert!(p.freed.contains(&("ofClass".to_owned(), "(I)I".to_owned())));
        drop(p.scratch);
    }
}

/// A compiler that does not see that locks are balanced refuses the method.
#[test]
fn methods_that_lock_by_themselves_are_compiled() {
    let p = prepare("compiled", Mode::Bare, "", "");
    let both = [
        ["-XX:TieredStopAtLevel=1", "-XX:CICompilerCount=1"],
        ["-XX:-TieredCompilation", "-XX:CompileThreshold=500"],
    ];
    for compiler in both {
        let flags = ["-Xbatch", "-XX:+PrintCompilation", &p.bridge];
        let args = ["-cp", path(&p.after), "Locks", "3000"];
        let text = run("java", &[&flags[..], &compiler, &args].concat());
        let skipped: Vec<&str> = text
            .lines()
            .filter(|l| {
                l.contains("COMPILE SKIPPED")
                    || l.contains("Locks") && l.contains("made not compilable")
            })
            .collect();
        assert!(skipped.is_empty(), "{skipped:?}");
        for method in [
            "nothing",
            "one",
            "wide",
            "ofClass",
            "reassigned",
            "recursive",
            "nested",
            "building",
            "switching",
            "caught",
            "varied",
        ] {
            assert!(
                text.contains(&format!("Locks::{method} ")),
                "{method} not compiled by {compiler:?}:\n{text}"
            );
        }
    }
}

#[test]
fn only_the_flag_is_given_up_and_only_in_controlled_runs() {
    let scratch = Scratch::new("flags");
    let classes = compile(&scratch, &format!("{DIR}/Locks.java"), &[]);
    let flags = |bytes: &[u8]| -> Vec<u16> {
        let class = ClassFile::parse(bytes).unwrap();
        class.methods.iter().map(|m| m.access).collect()
    };
    let bytes = &classes["Locks"];
    let result = controlled(bytes, Mode::Bare, &Policy::default(), &Control::default());
    let after = flags(result.bytes.as_ref().unwrap());
    let without: Vec<u16> = flags(bytes)
        .iter()
        .map(|f| f & !acc::SYNCHRONIZED)
        .collect();
    assert_eq!(after, without);
    let left = rewrite(&Request {
        bytes,
        mode: Mode::FastTrack,
        policy: &Policy::default(),
        first_site: 0,
        boot_or_platform: None,
        control: None,
    });
    let left = left.unwrap();
    assert_eq!(flags(left.bytes.as_ref().unwrap()), flags(bytes));
    assert!(left.unsynchronized.is_empty());
}

/// Class files of Java 1.4 have no class constants and no frames.
#[test]
fn old_static_methods_keep_the_flag_and_are_named() {
    let scratch = Scratch::new("ancient");
    let text = "class Old {\n\
        int n;\n\
        synchronized int add(int k) { while (k-- > 0) n += k; return n; }\n\
        static synchronized void count() { System.out.println(1); }\n\
        public static void main(String[] args) { Old o = new Old(); count();\n\
          System.out.println(o.add(3)); System.out.println(Thread.holdsLock(o)); } }\n";
    let source = scratch.0.join("Old.java");
    std::fs::write(&source, text).unwrap();
    let mut bytes = compile(&scratch, path(&source), &["--release", "8"])["Old"].clone();
    bytes[7] = 48;
    let result = controlled(&bytes, Mode::Bare, &Policy::default(), &Control::default());
    let freed = [("add".to_owned(), "(I)I".to_owned())];
    assert_eq!(result.unsynchronized, freed);
    let named: Vec<&str> = result.skipped.iter().map(|s| s.method.as_str()).collect();
    assert_eq!(named, ["count()V"]);
    let after = scratch.0.join("after");
    write(&after, "Old", result.bytes.as_ref().unwrap());
    let class = ClassFile::parse(result.bytes.as_ref().unwrap()).unwrap();
    let index = class.method_index("count", "()V").unwrap();
    assert!(class.methods[index].is(acc::SYNCHRONIZED));
    let bridge = scratch.0.join("bridge");
    support::bridge(&scratch.0, &bridge, "", "");
    let patch = format!("--patch-module=java.base={}", path(&bridge));
    let args = [&patch, "-Xverify:all", "-cp", path(&after), "Old"];
    assert_eq!(run("java", &args), "1\n3\nfalse\n");
}

/// What the noting bridge does: the line of the caller, and the probe.
const NOTE: &str = r"
    notes.append(new Throwable().getStackTrace()[1].getLineNumber());
    notes.append(' ').append(SITE).append(' ').append(NAME).append('\n');";

const POINTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/control/Points.java");

/// What the comments of the source ask for: the probes of each line.
fn wanted(targets: bool) -> BTreeMap<u16, Vec<String>> {
    let source = std::fs::read_to_string(POINTS).unwrap();
    let mut wanted = BTreeMap::new();
    for (i, line) in source.lines().enumerate() {
        let Some(probes) = line.split("//~").nth(1) else {
            continue;
        };
        let probes = probes.split_whitespace();
        let probes: Vec<String> = probes
            .filter(|p| targets || !p.ends_with('?'))
            .map(|p| p.trim_end_matches('?').to_owned())
            .collect();
        if !probes.is_empty() {
            wanted.insert(i as u16 + 1, probes);
        }
    }
    wanted
}

/// The probes that ran, by line.
fn ran(
    scratch: &Scratch,
    classes: &BTreeMap<String, Vec<u8>>,
    control: &Control,
) -> BTreeMap<u16, Vec<String>> {
    let (after, bridge) = (scratch.0.join("after"), scratch.0.join("bridge"));
    let mut sites: Vec<Site> = Vec::new();
    for (name, bytes) in classes {
        let result = rewrite(&Request {
            bytes,
            mode: Mode::Bare,
            policy: &Policy::default(),
            first_site: FIRST + sites.len() as u32,
            boot_or_platform: Some(false),
            control: Some(control),
        })
        .unwrap();
        sites.extend(result.sites);
        write(&after, name, result.bytes.as_ref().unwrap_or(bytes));
    }
    support::bridge(&scratch.0, &bridge, checks::NOTES, NOTE);
    let notes = scratch.0.join("notes");
    let before = run("java", &["-cp", path(&scratch.0.join("classes")), "Points"]);
    let patch = format!("--patch-module=java.base={}", path(&bridge));
    let file = format!("-Dnotes={}", path(&notes));
    let args = [&patch, &file, "-Xverify:all", "-cp", path(&after), "Points"];
    assert_eq!(run("java", &args), before, "the program's output changed");
    let mut seen: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for note in std::fs::read_to_string(&notes).unwrap().lines() {
        let [line, site, probe] = note.splitn(3, ' ').collect::<Vec<_>>()[..] else {
            panic!("{note}");
        };
        // Told for those who read schedules; no thread stops there.
        if ["calling", "called", "thrown"].contains(&probe) {
            continue;
        }
        let line: u16 = line.parse().unwrap();
        if let Ok(site) = site.parse::<u32>() {
            let site = &sites[(site - FIRST) as usize];
            // One site for both ends of a method.
            let whole = matches!(site.kind, SiteKind::SyncMethod | SiteKind::Init);
            assert!(site.line == Some(line) || whole, "{note} {site:?}");
        }
        seen.entry(line).or_default().push(probe.to_owned());
    }
    seen
}

#[test]
fn points_run_where_the_comments_say_and_change_nothing() {
    let scratch = Scratch::new("points");
    let classes = compile(&scratch, POINTS, &[]);
    assert_eq!(ran(&scratch, &classes, &Control::default()), wanted(false));
}

#[test]
fn targets_by_line_are_every_plain_access_there() {
    let scratch = Scratch::new("lines");
    let classes = compile(&scratch, POINTS, &[]);
    let line = |line| Statement::Line {
        file: "Points.java".to_owned(),
        line,
    };
    let mut targets: Vec<Statement> = (1..500).map(line).collect();
    targets.push(Statement::Line {
        file: "Other.java".to_owned(),
        line: 1,
    });
    assert_eq!(
        ran(
            &scratch,
            &classes,
            &Control {
                targets,
                ..Control::default()
            }
        ),
        wanted(true)
    );
}
