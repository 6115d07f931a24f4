//! A rewritten program does what it did, and its probes run where they should.
//!
//! `Sample.java` is compiled, rewritten, and run twice: as it was, and with a
//! bridge that notes every probe. Comments in the source say what is expected.

#[path = "../support/checks.rs"]
mod checks;
mod dropped;
mod repair;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::path::Path;

use classfile::{ClassFile, acc};
use instrument::{Level, Mode, Policy, Request, Rewritten, Site, SiteKind, rewrite};
use support::{Scratch, path, run};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/behaviour/Sample.java");

fn rewrite_with(bytes: &[u8], policy: &Policy, first_site: u32) -> Rewritten {
    rewrite_in(Mode::FastTrack, bytes, policy, first_site)
}

fn rewrite_in(mode: Mode, bytes: &[u8], policy: &Policy, first_site: u32) -> Rewritten {
    rewrite(&Request {
        bytes,
        mode,
        policy,
        first_site,
        boot_or_platform: Some(false),
        control: None,
    })
    .unwrap()
}

/// The class files of a directory, by name.
fn classes(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    files
        .map(|f| {
            let name = f.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(&f).unwrap())
        })
        .collect()
}

fn compile(scratch: &Scratch, source: &str) -> BTreeMap<String, Vec<u8>> {
    let out = scratch.0.join("classes");
    run("javac", &["-g", "-Xlint:none", "-d", path(&out), source]);
    classes(&out)
}

fn compile_text(scratch: &Scratch, name: &str, text: &str) -> BTreeMap<String, Vec<u8>> {
    let source = scratch.0.join(format!("{name}.java"));
    std::fs::write(&source, text).unwrap();
    compile(scratch, path(&source))
}

/// What the comments of the source ask for: the probes of each line.
fn wanted() -> BTreeMap<u16, Vec<String>> {
    let source = std::fs::read_to_string(SAMPLE).unwrap();
    let lines = source.lines().enumerate();
    lines
        .filter_map(|(i, line)| {
            let probes = line.split("//~").nth(1)?.split_whitespace();
            Some((i as u16 + 1, probes.map(str::to_owned).collect()))
        })
        .collect()
}

#[test]
fn probes_run_where_the_comments_say_and_change_nothing() {
    let scratch = Scratch::new("behaviour");
    let original = compile(&scratch, SAMPLE);
    let policy = Policy::default();
    let rewritten = scratch.0.join("rewritten");
    std::fs::create_dir_all(&rewritten).unwrap();
    let mut sites: Vec<Site> = Vec::new();
    // Beyond what `sipush` can push, so that the constants are exercised.
    let first = 40_000;
    for (name, bytes) in &original {
        let mut class = ClassFile::parse(bytes).unwrap();
        if name == "Sample$Inner" {
            // As other compilers leave it: written before super(..), not final.
            for field in &mut class.fields {
                field.access &= !acc::FINAL;
            }
        }
        let bytes = class.to_bytes();
        let result = rewrite_with(&bytes, &policy, first + sites.len() as u32);
        assert_eq!(result.level, Level::Full);
        assert!(result.skipped.is_empty(), "{:?}", result.skipped);
        sites.extend(result.sites);
        let out = result.bytes.unwrap_or(bytes);
        std::fs::write(rewritten.join(format!("{name}.class")), out).unwrap();
    }
    let bridge = scratch.0.join("bridge");
    let note = r"notes.append(NAME).append(' ').append(SITE).append('\n');";
    support::bridge(&scratch.0, &bridge, checks::NOTES, note);
    let notes = scratch.0.join("notes");

    let before = run("java", &["-cp", path(&scratch.0.join("classes")), "Sample"]);
    let after = run(
        "java",
        &[
            &format!("--patch-module=java.base={}", path(&bridge)),
            &format!("-Dnotes={}", path(&notes)),
            "-Xverify:all",
            "-cp",
            path(&rewritten),
            "Sample",
        ],
    );
    assert_eq!(before, after, "the program's output changed");

    let (mut cloned, mut exchanged) = (0, 0);
    let mut seen: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for note in std::fs::read_to_string(&notes).unwrap().lines() {
        let (probe, id) = note.split_once(' ').unwrap();
        if probe == "exchangedInt" {
            exchanged += 1; // its last number is no site
            continue;
        }
        let Ok(id) = id.parse::<u32>() else {
            assert!(["cloned", "thrown"].contains(&probe), "{probe} has a site");
            cloned += u32::from(probe == "cloned");
            continue;
        };
        let site = &sites[(id - first) as usize];
        seen.entry(site.line.unwrap())
            .or_default()
            .push(probe.to_owned());
    }
    assert_eq!(seen, wanted());
    assert_eq!((cloned, exchanged), (1, 1));
}

/// The sites of one method: kind, line, and target or array.
fn sites_of(result: &Rewritten, method: &str) -> Vec<(SiteKind, u16, String)> {
    let sites = result.sites.iter().filter(|s| &*s.method == method);
    sites
        .map(|s| {
            let target = s.target.as_ref().map(|t| format!("{}.{}", t.class, t.name));
            let what = target.or_else(|| s.array_from.clone()).unwrap_or_default();
            (s.kind, s.line.unwrap(), what)
        })
        .collect()
}

/// Fields that the receiver and the arguments of calls into the JDK come from.
#[test]
fn calls_into_the_jdk_know_what_they_are_about() {
    let scratch = Scratch::new("calls");
    let text = "import java.util.*;\n\
      class A {\n\
        static Map<String, String> all; List<String> own; List<String>[] many;\n\
        List<String> own() { return own; }\n\
        void use(List<String> given, Object[] made) {\n\
          all.put(null, null);\n\
          for (String s : all.values()) { }\n\
          own().add(null);\n\
          many[1].addAll(own);\n\
          given.add(null);\n\
          new ArrayList<>(own);\n\
          Arrays.asList(made).isEmpty();\n\
          Optional.empty().isPresent(); } }\n";
    let classes = compile_text(&scratch, "A", text);
    let result = rewrite_with(&classes["A"], &Policy::default(), 0);
    let calls = { result.sites.iter() }.filter(|s| s.kind == SiteKind::Call);
    let found: Vec<(u16, String, String)> = calls
        .map(|s| {
            let names = s.holders.iter().map(|h| {
                let kind = if h.is_static { "static " } else { "" };
                format!("{kind}{}", h.field.name)
            });
            let called = s.target.as_ref().unwrap().name.clone();
            (s.line.unwrap(), called, names.collect::<Vec<_>>().join(" "))
        })
        .collect();
    let found: Vec<_> = found.iter().map(|(l, c, h)| (*l, &**c, &**h)).collect();
    assert_eq!(
        found,
        [
            (6, "put", "static all"),
            (7, "values", "static all"),
            (7, "iterator", "static all"),
            (7, "hasNext", "static all"),
            (7, "next", "static all"),
            (8, "add", "own"),
            (9, "addAll", "many own"),
            (10, "add", ""),
            (11, "<init>", "own"),
            (12, "asList", ""),
            (12, "isEmpty", ""),
            (13, "empty", ""),
            (13, "isPresent", ""),
        ]
    );
}

#[test]
fn sites_name_fields_and_where_arrays_come_from() {
    let scratch = Scratch::new("sites");
    let text = "class A {\n\
        int[][] table; static long[] all;\n\
        int pick(int[] given, boolean b) {\n\
          int[] made = new int[2];\n\
          int[] own = table[1];\n\
          int n = given[0] + made[1]\n\
            + own[0]\n\
            + (int) all[0] + B.make()[0]\n\
            + (b ? given : made)[0];\n\
          return n + new B().value; } }\n\
      class B { final int value = make()[1]; static int[] make() { return null; } }\n";
    let classes = compile_text(&scratch, "A", text);
    let result = rewrite_with(&classes["A"], &Policy::default(), 0);
    use SiteKind::*;
    let found = sites_of(&result, "pick");
    let found: Vec<_> = found.iter().map(|(k, l, w)| (*k, *l, w.as_str())).collect();
    assert_eq!(
        found,
        [
            (FieldRead, 5, "A.table"),
            (ElemRead, 5, "A.table"),
            (ElemRead, 6, "parameter given"),
            (ElemRead, 6, "A.table[]"),
            (StaticRead, 6, "A.all"),
            (ElemRead, 6, "A.all"),
            (ElemRead, 8, "B.make()"),
            (ElemRead, 9, ""),
            (NewObject, 10, ""),
            // Final, but of another class: unknown here.
            (FieldRead, 10, "B.value"),
        ]
    );
    let own = result.sites.iter().find(|s| s.kind == FieldRead).unwrap();
    assert_eq!((own.volatile, own.checked), (Some(false), true));
    assert_eq!(result.sites.last().unwrap().volatile, None);
    let bcis: Vec<u16> = result.sites.iter().map(|s| s.bci).collect();
    assert!(bcis.is_sorted(), "{bcis:?}");
}

#[test]
fn trusted_code_is_watched_for_what_orders_threads() {
    let scratch = Scratch::new("trusted");
    let text = "class T {\n\
        int plain; volatile int flag; static volatile int shared; int[] data = {1};\n\
        synchronized int run(T t) { plain = flag; shared = 2;\n\
          synchronized (t) { return data[0] + plain; } } }\n";
    let classes = compile_text(&scratch, "T", text);
    let result = rewrite_with(&classes["T"], &Policy::new(&[], &[], &["T"]), 0);
    assert_eq!(result.level, Level::Sync);
    use SiteKind::*;
    let kinds: Vec<_> = result.sites.iter().map(|s| s.kind).collect();
    // The two last are the normal and the exceptional end of the block.
    assert_eq!(
        kinds,
        [SyncMethod, Exit, FieldRead, StaticWrite, Enter, Exit, Exit]
    );
    assert!(result.sites.iter().all(|s| !s.checked));
    let left = rewrite_with(&classes["T"], &Policy::new(&[], &["T"], &[]), 0);
    assert!(left.bytes.is_none() && left.sites.is_empty());
}

#[test]
fn fields_are_added_by_mode_and_level() {
    let scratch = Scratch::new("fields");
    let text = "class F { int a; volatile long b; final int c = 1; static int d; }\n\
        class G extends F { int a; }\n\
        interface H { int X = F.d; }\n";
    let classes = compile_text(&scratch, "F", text);
    let added = |class: &str, mode: Mode, trusted: &[&str]| -> Vec<String> {
        let result = rewrite(&Request {
            bytes: &classes[class],
            mode,
            policy: &Policy::new(&[], &[], trusted),
            first_site: 0,
            boot_or_platform: None,
            control: None,
        })
        .unwrap();
        let bytes = result.bytes.expect("something was added");
        let after = ClassFile::parse(&bytes).unwrap();
        let fields = after
            .fields
            .iter()
            .map(|f| after.member_name(f).into_owned());
        fields
            .filter(|n| n.starts_with(instrument::PREFIX))
            .collect()
    };
    let fast = ["$pf$w$a$I", "$pf$r$a$I", "$pf$v$b$J", "$pf$a"];
    assert_eq!(added("F", Mode::FastTrack, &[]), fast);
    assert_eq!(added("F", Mode::FastTrack, &["F"]), ["$pf$v$b$J"]);
    assert_eq!(added("F", Mode::Events, &[]), ["$pf$a", "$pf$id"]);
    assert_eq!(added("F", Mode::Events, &["F"]), ["$pf$id"]);
    assert_eq!(added("G", Mode::FastTrack, &[]), fast[..2]);
    assert_eq!(added("H", Mode::FastTrack, &[]), [""; 0]);
}

/// Its fields must lie where those of `AccessibleObject` do.
#[test]
fn a_mirror_of_accessible_objects_gets_no_fields() {
    let scratch = Scratch::new("mirror");
    let text = "class Mirror { static int n; boolean override; volatile Object accessCheckCache; }\n\
        class Other { boolean override; volatile Object cache; }\n\
        class More { boolean override; volatile Object accessCheckCache; int n; }\n";
    let classes = compile_text(&scratch, "Mirror", text);
    let is_changed = |class: &str| {
        rewrite_with(&classes[class], &Policy::default(), 0)
            .bytes
            .is_some()
    };
    let changed = ["Mirror", "Other", "More"].map(is_changed);
    assert_eq!(changed, [false, true, true]);
}

/// Class files from before stack maps go through the old verifier, which infers
/// types, and know no class constants.
#[test]
fn class_files_of_java_1_4_run() {
    let scratch = Scratch::new("old");
    let text = "class Old {\n\
        static int made; int n; long wide; int[] data = new int[2];\n\
        synchronized int add(int k) { data[1] += k; n += data[1]; wide = n;\n\
          if (n > 5) throw new IllegalStateException(Long.toString(wide)); return n; }\n\
        static synchronized void count() { made++; }\n\
        public static void main(String[] args) {\n\
          Old old = new Old(); count();\n\
          synchronized (old) { System.out.println(old.add(3)); }\n\
          try { old.add(3); } catch (IllegalStateException e) { System.out.println(e.getMessage()); }\n\
          System.arraycopy(old.data, 0, old.data, 1, 1);\n\
          System.out.println(old.data[1] + made); } }\n";
    let source = scratch.0.join("Old.java");
    std::fs::write(&source, text).unwrap();
    let plain = scratch.0.join("plain");
    let flags = ["--release", "8", "-Xlint:none", "-d", path(&plain)];
    run("javac", &[&flags[..], &[path(&source)]].concat());
    let file = plain.join("Old.class");
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[7] = 48;
    std::fs::write(&file, &bytes).unwrap();
    let result = rewrite_with(&bytes, &Policy::default(), 100_000);
    assert!(result.skipped.is_empty(), "{:?}", result.skipped);
    let probed = scratch.0.join("probed");
    std::fs::create_dir_all(&probed).unwrap();
    std::fs::write(probed.join("Old.class"), result.bytes.unwrap()).unwrap();
    let bridge = scratch.0.join("bridge");
    support::bridge(&scratch.0, &bridge, "", "");

    let before = run("java", &["-Xverify:all", "-cp", path(&plain), "Old"]);
    let patch = format!("--patch-module=java.base={}", path(&bridge));
    let after = run(
        "java",
        &[&patch, "-Xverify:all", "-cp", path(&probed), "Old"],
    );
    assert_eq!(before, "3\n9\n1\n");
    assert_eq!(after, before);
}

#[test]
fn its_own_output_is_left_alone() {
    let scratch = Scratch::new("twice");
    let policy = Policy::default();
    for bytes in compile(&scratch, SAMPLE).values() {
        let once = rewrite_with(bytes, &policy, 0);
        let twice = rewrite_with(&once.bytes.unwrap(), &policy, 0);
        assert!(twice.bytes.is_none(), "{}", twice.name);
    }
}

#[test]
fn broken_classes_never_panic() {
    let scratch = Scratch::new("broken");
    let classes: Vec<Vec<u8>> = compile(&scratch, SAMPLE).into_values().collect();
    let policy = Policy::default();
    checks::with_broken(&classes, |bytes| {
        let _ = rewrite(&Request {
            bytes,
            mode: Mode::FastTrack,
            policy: &policy,
            first_site: u32::MAX - 3,
            boot_or_platform: None,
            control: None,
        });
    });
}
