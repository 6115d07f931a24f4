//! Checks that are put off cover what checks on the spot cover: no less, no more.
//!
//! Random methods with loops over arrays are compiled and rewritten twice: with all
//! checks on the spot, and as usual. Both run with a bridge that notes which elements
//! are checked between one synchronisation and the next. Where an element is written,
//! whether it is read too does not matter: the check of the write stands for both.

mod generate;
#[path = "../support/stub.rs"]
mod stub;

use std::path::Path;

use instrument::{Mode, Policy, Request, SiteKind, rewrite};
use stub::bridge_with;
use test_support::jdk::{Scratch, path, run_for_text as run};

const CLASSES: u64 = 25;
const METHODS: u64 = 400;

/// Notes the elements and fields checked; `span` counts synchronisations. The file `orders` has the
/// sites of fields that order: static volatile ones, and reads of final ones, which order
/// when an object's are first read; `fields` has those of all fields of objects.
const NOTES: &str = r#"
    static final java.util.HashSet<String> orders = new java.util.HashSet<>();
    static final java.util.HashMap<Integer, String> fields = new java.util.HashMap<>();
    static {
        try {
            for (String site : text("orders").split(" ")) orders.add(site);
            for (String line : text("fields").split("\n")) {
                String[] words = line.split(" ");
                fields.put(Integer.parseInt(words[0]), words[1]);
            }
        } catch (java.io.IOException e) {
            throw new AssertionError(e);
        }
    }

    static String text(String file) throws java.io.IOException {
        try (var in = ClassLoader.getSystemResourceAsStream(file)) {
            return new String(in.readAllBytes());
        }
    }

    public static final java.util.IdentityHashMap<Object, Object> unfrozen = new java.util.IdentityHashMap<>();

    static void field(Object o, int site, boolean write) {
        String field = fields.get(site);
        Integer name = names.get(o);
        if (field != null && name != null) seen.merge(span + " " + name + "." + field, write, Boolean::logicalOr);
        boolean known = o != null && unfrozen.containsKey(o);
        if (!orders.contains(Integer.toString(site)) || known) return;
        span++;
        unfrozen.put(o, o);
    }

    public static int span;
    public static int ranges;
    public static final java.util.TreeMap<String, Boolean> seen = new java.util.TreeMap<>();
    public static final java.util.IdentityHashMap<Object, Integer> names = new java.util.IdentityHashMap<>();

    static void note(Object array, int i, boolean write) {
        if (array == null || i < 0 || i >= java.lang.reflect.Array.getLength(array)) return;
        Integer name = names.get(array);
        if (name == null) return;
        seen.merge(span + " " + name + "[" + i + "]", write, Boolean::logicalOr);
    }

    static void range(Object array, int first, int last, int stride, long epoch, boolean write) {
        if (array == null) return;
        if (epoch != span) throw new AssertionError("a check in another epoch");
        if (first != last) ranges++;
        for (int i = first; i != last + stride; i += stride) note(array, i, write);
    }

    static int track(Object array, int i, Object kept, int first, int last, int stride, long epoch, boolean write) {
        if (array == kept && i == last + stride) return first;
        range(kept, first, last, stride, epoch, write);
        return i;
    }
"#;

fn body(probe: &instrument::Probe) -> &'static str {
    match probe.name {
        "epoch" => "return span;",
        "itself" | "calling" => "return a0;",
        "readElem" => "note(a0, a1, false);",
        "writeElem" => "note(a0, a1, true);",
        "trackRead" => "return track(a0, a1, a2, a3, a4, a5, a6, false);",
        "trackWrite" => "return track(a0, a1, a2, a3, a4, a5, a6, true);",
        "readRange" => "range(a0, a1, a2, a3, a4, false);",
        "writeRange" => "range(a0, a1, a2, a3, a4, true);",
        "readOnce" => "if (a0 != a2 || a1 != a3) note(a0, a1, false);",
        "writeOnce" => "if (a0 != a2 || a1 != a3) note(a0, a1, true);",
        "read" => "field(a0, a1, false);",
        "write" => "field(a0, a1, true);",
        "readFieldOnce" => "if (a0 != a1) field(a0, a2, false);",
        "writeFieldOnce" => "if (a0 != a1) field(a0, a2, true);",
        "readStatic" | "writeStatic" => "field(null, a0, false);",
        // These order, as calls of others do.
        "enter" | "exit" | "enterStatic" | "exitTop" => "span++;",
        "freeze" => "span++; names.put(a0, 100 + names.size());",
        _ => "",
    }
}

/// Rewrites the generated classes, and puts the others beside them.
fn rewritten(from: &Path, to: &Path, policy: &Policy) {
    std::fs::create_dir_all(to).unwrap();
    let (mut sites, mut orders, mut fields) = (1, Vec::new(), Vec::new());
    for entry in std::fs::read_dir(from).unwrap() {
        let file = entry.unwrap().path();
        let bytes = std::fs::read(&file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = match name.starts_with("Methods") {
            true => {
                let done = rewrite(&Request {
                    bytes: &bytes,
                    mode: Mode::FastTrack,
                    policy,
                    first_site: sites,
                    boot_or_platform: Some(false),
                    control: None,
                })
                .unwrap();
                assert!(done.skipped.is_empty(), "{:?}", done.skipped);
                for site in &done.sites {
                    let held = site.target.as_ref().is_some_and(|t| &*t.name == "held");
                    let plain = site.target.as_ref().filter(|_| is_field(site.kind));
                    fields.extend(plain.map(|field| format!("{sites} {}", field.name)));
                    if site.volatile == Some(true) || held && site.kind == SiteKind::FieldRead {
                        orders.push(sites.to_string());
                    }
                    sites += 1;
                }
                done.bytes.expect("probes")
            }
            false => bytes,
        };
        std::fs::write(to.join(name), bytes).unwrap();
    }
    std::fs::write(to.join("orders"), orders.join(" ")).unwrap();
    std::fs::write(to.join("fields"), fields.join("\n")).unwrap();
}

fn is_field(kind: SiteKind) -> bool {
    matches!(kind, SiteKind::FieldRead | SiteKind::FieldWrite)
}

#[test]
fn random_loops_are_checked_as_if_each_access_were() {
    let scratch = Scratch::new("deferred");
    let (classes, out) = (scratch.0.join("classes"), scratch.0.join("bridge"));
    bridge_with(&scratch.0, &out, NOTES, |probe, _| body(probe).to_owned());
    let mut files = Vec::new();
    for class in 0..CLASSES {
        let file = scratch.0.join(format!("Methods{class}.java"));
        std::fs::write(&file, generate::class(class, METHODS)).unwrap();
        files.push(file);
    }
    let driver = scratch.0.join("Driver.java");
    std::fs::write(&driver, generate::driver(CLASSES, METHODS)).unwrap();
    files.push(driver);
    let patch = format!("java.base={}", path(&out));
    let mut args = vec![
        "-g",
        "-Xlint:none",
        "--patch-module",
        &patch,
        "-d",
        path(&classes),
    ];
    args.extend(files.iter().map(|f| path(f)));
    run("javac", &args);

    let mut said = Vec::new();
    for (name, check_unshared) in [("all", true), ("usual", false)] {
        let policy = Policy {
            check_unshared,
            ..Policy::default()
        };
        let to = scratch.0.join(name);
        rewritten(&classes, &to, &policy);
        let args = [
            "-Xverify:all",
            "--patch-module",
            &patch,
            "-cp",
            path(&to),
            "Driver",
        ];
        said.push(run("java", &args));
    }
    let [all, usual] = &said[..] else {
        unreachable!("two runs")
    };
    let (mut all, mut usual) = (all.lines().rev(), usual.lines().rev());
    assert_eq!(all.next(), Some("0 ranges"));
    let ranges = usual.next().and_then(|l| l.split(' ').next()?.parse().ok());
    // Or else the test says nothing.
    assert!(ranges > Some(4_000u32), "{ranges:?} ranges");
    assert!(all.clone().count() as u64 == CLASSES * METHODS);
    for (expected, found) in all.zip(usual) {
        assert_eq!(expected, found);
    }
}
