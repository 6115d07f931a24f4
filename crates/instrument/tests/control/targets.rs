//! Targets named one by one, in classes of every level; and what else depends
//! on mode and level.

use std::collections::BTreeMap;

use instrument::{Control, Level, Mode, Policy, Request, Rewritten, SiteKind, Statement, rewrite};

use super::checks;
use super::support::{self, Scratch, path, run};
use super::{FIRST, compile, controlled, write};

fn compile_text(scratch: &Scratch, name: &str, text: &str) -> BTreeMap<String, Vec<u8>> {
    let source = scratch.0.join(format!("{name}.java"));
    std::fs::write(&source, text).unwrap();
    compile(scratch, path(&source), &[])
}

/// The probes that a class file calls, in the order of its code.
fn calls(bytes: &[u8], method: &str) -> Vec<String> {
    let class = classfile::ClassFile::parse(bytes).unwrap();
    let found = class
        .methods
        .iter()
        .position(|m| class.member_name(m) == method);
    let code = classfile::Code::decode(&class, found.unwrap()).unwrap();
    let insns = code.unwrap().insns;
    let targets = insns.iter().filter_map(|i| class.pool.member_ref(i.cp()?));
    targets
        .filter(|m| m.class.starts_with(instrument::BRIDGE))
        .map(|m| m.name.into_owned())
        .collect()
}

fn exact(class: &str, method: &str, desc: &str, bci: u16) -> Statement {
    Statement::Exact {
        class: class.to_owned(),
        method: method.to_owned(),
        desc: desc.to_owned(),
        bci,
    }
}

const TEXT: &str = "class E {\n\
    int n; volatile int v; static int s; int[] a = new int[3];\n\
    synchronized void run(int[] b) { n = v; s = n; a[1] = b[2]; System.arraycopy(a, 0, b, 1, 2);\n\
      synchronized (b) { n++; } for (int i = 0; i < 3; i++) b[i]++; } }\n";

fn with_level(bytes: &[u8], level: Level, mode: Mode, targets: &[Statement]) -> Rewritten {
    let policy = match level {
        Level::None => Policy::new(&[], &["E"], &[]),
        Level::Sync => Policy::new(&[], &[], &["E"]),
        Level::Full => Policy::default(),
    };
    let targets = targets.to_vec();
    let result = controlled(
        bytes,
        mode,
        &policy,
        &Control {
            targets,
            ..Control::default()
        },
    );
    assert_eq!(result.level, level);
    result
}

#[test]
fn one_statement_is_a_target_in_classes_of_every_level() {
    let scratch = Scratch::new("exact");
    let classes = compile_text(&scratch, "E", TEXT);
    let bytes = &classes["E"];
    // Every access is found by naming its site, one at a time.
    let all = with_level(bytes, Level::Full, Mode::FastTrack, &[]);
    use SiteKind::*;
    let mut kinds = Vec::new();
    for site in all.sites.iter().filter(|s| &*s.method == "run") {
        if !matches!(
            site.kind,
            FieldRead | FieldWrite | StaticWrite | ElemRead | ElemWrite | ArrayCopy
        ) {
            continue;
        }
        let target = [exact("E", &site.method, &site.desc, site.bci)];
        let left = with_level(bytes, Level::None, Mode::FastTrack, &target);
        if site.volatile == Some(true) {
            assert!(left.sites.is_empty(), "{site:?}: it is a point of its own");
            continue;
        }
        let probe: &[&str] = match site.kind {
            FieldRead | FieldWrite => &["targetField"],
            StaticWrite => &["targetStatic"],
            ElemRead | ElemWrite => &["targetElem"],
            _ => &["targetRange", "targetRange", "targetRanges"],
        };
        kinds.push(site.kind);
        assert_eq!(
            calls(left.bytes.as_ref().unwrap(), "run"),
            probe,
            "{site:?}"
        );
        let found: Vec<_> = left.sites.iter().map(|s| (s.kind, s.bci)).collect();
        let wanted = match site.kind {
            ArrayCopy => vec![(ElemRead, site.bci), (ElemWrite, site.bci)],
            kind => vec![(kind, site.bci)],
        };
        assert_eq!(found, wanted);
        assert_eq!(left.sites[0].line, site.line);
        assert!(left.unsynchronized.is_empty());
        let member = left.sites[0].target.clone();
        assert!(member == site.target || site.kind == ArrayCopy);

        // The same statement in the class at its other levels: one more site.
        for (level, mode) in [(Level::Sync, Mode::Bare), (Level::Full, Mode::Bare)] {
            let with = with_level(bytes, level, mode, &target);
            let without = with_level(bytes, level, mode, &[]);
            let count = |r: &Rewritten| calls(r.bytes.as_ref().unwrap(), "run").len();
            assert_eq!(count(&with), count(&without) + probe.len(), "{site:?}");
        }
    }
    assert_eq!(kinds.len(), 10, "{kinds:?}");
    for other in [
        exact("E", "run", "([I)V", 1),
        exact("E", "run", "([J)V", 6),
        exact("F", "run", "([I)V", 6),
        Statement::Line {
            file: "E.java".to_owned(),
            line: 99,
        },
        Statement::Line {
            file: "F.java".to_owned(),
            line: 3,
        },
    ] {
        let left = with_level(bytes, Level::None, Mode::FastTrack, &[other]);
        assert!(left.bytes.is_none_or(|b| calls(&b, "run").is_empty()));
    }
}

#[test]
fn what_a_class_gets_without_a_detector() {
    let scratch = Scratch::new("levels");
    let classes = compile_text(&scratch, "E", TEXT);
    let bytes = &classes["E"];
    let run = |level| {
        let result = with_level(bytes, level, Mode::Bare, &[]);
        let class = result.bytes.as_ref().unwrap_or(bytes);
        let fields = classfile::ClassFile::parse(class).unwrap().fields.len();
        assert_eq!(fields, 4, "no shadows");
        calls(class, "run").join(" ")
    };
    assert_eq!(run(Level::None), "");
    // The block's two ends, the method's return and its handler.
    assert_eq!(
        run(Level::Sync),
        "itself enteringQuietly enter enteringQuietly enter exit exit exit exit"
    );
    assert_eq!(
        run(Level::Full),
        "itself entering enter beforeRead entering enter exit exit loop exit exit"
    );
}

/// Points do not depend on whether there is a detector.
#[test]
fn points_come_before_what_the_detector_is_told() {
    let scratch = Scratch::new("both");
    let classes = compile_text(&scratch, "E", TEXT);
    let bytes = &classes["E"];
    let line = Statement::Line {
        file: "E.java".to_owned(),
        line: 3,
    };
    let calls_in = |mode| {
        let result = with_level(bytes, Level::Full, mode, std::slice::from_ref(&line));
        calls(result.bytes.as_ref().unwrap(), "run")
    };
    let told = calls_in(Mode::FastTrack);
    let detects = [
        "read",
        "write",
        "writeStatic",
        "readElem",
        "writeElem",
        "arraycopy",
        "thrown",
    ];
    let points: Vec<_> = told
        .iter()
        .filter(|c| !detects.contains(&c.as_str()))
        .cloned()
        .collect();
    assert_eq!(points, calls_in(Mode::Bare));
    let text = told.join(" ");
    assert!(
        text.starts_with("itself entering enter beforeRead read targetField write"),
        "{text}"
    );
    assert!(
        text.contains("targetRange targetRange targetRanges arraycopy"),
        "{text}"
    );
    assert!(
        text.contains("targetElem readElem targetElem writeElem"),
        "{text}"
    );
}

/// A hidden class is known under one constant only.
#[test]
fn hidden_classes_lock_themselves() {
    let scratch = Scratch::new("hidden");
    let text = "import java.lang.invoke.MethodHandles;\n\
        class Main { public static void main(String[] args) throws Throwable {\n\
          byte[] bytes = Main.class.getResourceAsStream(\"H.class\").readAllBytes();\n\
          Class<?> h = MethodHandles.lookup().defineHiddenClass(bytes, true).lookupClass();\n\
          ((Runnable) h.getDeclaredConstructor().newInstance()).run();\n\
          System.out.println(Thread.holdsLock(h)); } }\n\
        class H implements Runnable {\n\
          H() {}\n\
          static synchronized boolean held() { return Thread.holdsLock(new H().getClass()); }\n\
          public synchronized void run() { System.out.println(held()); } }\n";
    let classes = compile_text(&scratch, "Main", text);
    let after = scratch.0.join("after");
    for (name, bytes) in &classes {
        let result = controlled(bytes, Mode::Bare, &Policy::default(), &Control::default());
        write(&after, name, result.bytes.as_ref().unwrap_or(bytes));
    }
    let bridge = scratch.0.join("bridge");
    support::bridge(&scratch.0, &bridge, "", "");
    let patch = format!("--patch-module=java.base={}", path(&bridge));
    let text = run(
        "java",
        &[&patch, "-Xverify:all", "-cp", path(&after), "Main"],
    );
    assert_eq!(text, "true\nfalse\n");
}

#[test]
fn broken_classes_never_panic() {
    let scratch = Scratch::new("broken-control");
    let mut classes: Vec<Vec<u8>> = Vec::new();
    for source in ["Locks", "Points"] {
        let source = format!("{}/{source}.java", super::DIR);
        classes.extend(compile(&scratch, &source, &[]).into_values());
    }
    let line = |file: &str, line| Statement::Line {
        file: format!("{file}.java"),
        line,
    };
    let targets = (1..300).flat_map(|n| [line("Locks", n), line("Points", n)]);
    let control = Control {
        targets: targets.collect(),
        explores: true,
        ..Control::default()
    };
    let policy = Policy::default();
    checks::with_broken(&classes, |bytes| {
        let _ = rewrite(&Request {
            bytes,
            mode: Mode::FastTrack,
            policy: &policy,
            first_site: FIRST,
            boot_or_platform: None,
            control: Some(&control),
        });
    });
}
