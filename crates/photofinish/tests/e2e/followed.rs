//! `record --full`, and what comes of following the threads: what events of
//! small methods depend on, exactly; nobody gets lost in programs that do all
//! that the language has.

use predict::deps::{Dep, Deps, Needs};
use retrace::{Completed, Table, complete};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;
use test_support::programs::{Program, compile, photofinish, root, scratch};
use trace::{Event, Op, Tables, Trace};

struct Followed {
    tables: Tables,
    done: Completed,
}

fn record(classes: &str, args: &[&str], name: &str) -> std::path::PathBuf {
    let classes = compile(classes, &[]);
    let file = scratch(name).join("trace.pft");
    let program = Program::new(&[&["-cp", classes.to_str().unwrap()], args].concat());
    let done = program.under(&["record", "--full", "-o", file.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&done.stderr);
    assert!(matches!(done.status.code(), Some(0 | 4)), "{text}");
    file
}

fn follow(file: &Path) -> Followed {
    let mut trace = Trace::open(BufReader::new(File::open(file).unwrap())).unwrap();
    follow_part(&mut trace, |_, _| true)
}

/// Follows those of its events that are wanted.
fn follow_part<R: Read + Seek>(
    trace: &mut Trace<R>,
    mut wanted: impl FnMut(usize, &Event) -> bool,
) -> Followed {
    let mut events = Vec::new();
    let mut at = 0;
    let read = trace.events().for_each_event(|e| {
        at += 1;
        if wanted(at, e) {
            events.push(*e);
        }
    });
    read.unwrap();
    let numbers: Vec<u32> = trace.recorded_classes().collect();
    let mut files = BTreeMap::new();
    for n in numbers {
        files.insert(n, trace.class_bytes(n).unwrap().unwrap());
    }
    Followed {
        done: complete(&events, trace.tables(), &files, &Table::default()),
        tables: trace.tables().clone(),
    }
}

impl Followed {
    /// The part of the trace that is one activation of a method of this name.
    fn activation(&self, class: &str, name: &str) -> std::ops::Range<usize> {
        let of = |e: &Event, number: u32| {
            let row = &self.tables.methods[&number];
            row.name.as_ref() == name && self.tables.sites[&e.site].class.as_ref() == class
        };
        let events = &self.done.events;
        let enters = |e: &Event| matches!(e.op, Op::MethodEnter(n) if of(e, n));
        let leaves = |e: &Event| matches!(e.op, Op::MethodExit(n) if of(e, n));
        let from = events
            .iter()
            .position(enters)
            .unwrap_or_else(|| panic!("no {name}"));
        let len = events[from..].iter().position(leaves).unwrap();
        from..from + len
    }

    fn field(&self, e: &Event) -> Option<(&str, bool)> {
        let (loc, write) = match e.op {
            Op::Read(loc) | Op::AtomicRead(loc, _) => (loc, false),
            Op::Write(loc) | Op::AtomicWrite(loc, _) => (loc, true),
            _ => return None,
        };
        match self.tables.fields.get(&loc.slot) {
            Some(field) => Some((&field.name, write)),
            None => Some(("[]", write)),
        }
    }

    /// Names of the reads of the activation whose values a list comes to.
    fn reads(&self, within: &std::ops::Range<usize>, first: Needs<'_>) -> String {
        let deps: &Deps = &self.done.deps;
        let mut names = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut work = Vec::new();
        let mut add = |needs: Needs<'_>, work: &mut Vec<Dep>| match needs {
            Needs::All => names.insert("everything".to_owned()),
            Needs::These(list) => {
                work.extend(list.iter().map(|e| e.get()));
                true
            }
        };
        add(first, &mut work);
        let mut values = BTreeSet::new();
        while let Some(dep) = work.pop() {
            let (Dep::Value(event) | Dep::Happens(event)) = dep;
            if let Dep::Value(event) = dep {
                values.insert(event);
            }
            if within.contains(&(event as usize)) && seen.insert(event) {
                add(deps.happens(event), &mut work);
            }
        }
        let inside = values.iter().filter(|v| within.contains(&(**v as usize)));
        names.extend(inside.filter_map(|v| {
            let (name, _) = self.field(&self.done.events[*v as usize])?;
            Some(name.to_owned())
        }));
        names.into_iter().collect::<Vec<_>>().join(" ")
    }

    /// What the only write of `field` in a method needs to happen, and its
    /// value besides.
    fn needs(&self, class: &str, method: &str, field: &str) -> (String, String) {
        let within = self.activation(class, method);
        let written = |at: &usize| {
            self.field(&self.done.events[*at])
                .is_some_and(|(name, write)| write && name == field)
        };
        let at = within.clone().find(written).unwrap() as u32;
        let deps = &self.done.deps;
        (
            self.reads(&within, deps.happens(at)),
            self.reads(&within, deps.value(at)),
        )
    }
}

/// Method, what the write of `out` needs to happen, what its value needs.
const FLOWS: [(&str, &str, &str); 27] = [
    ("copy", "", "a"),
    ("arithmetic", "", "a b"),
    ("independent", "", "b"),
    ("taken", "a", "a b"),
    ("notTaken", "", "a"),
    ("both", "", "a b"),
    ("after", "", ""),
    ("loop", "b", "a b"),
    ("afterLoop", "b", ""),
    ("stack", "", "a"),
    ("parameter", "", "a"),
    ("returned", "", "c"),
    ("chosen", "", "a"),
    ("element", "a list", "[] a list"),
    ("through", "", "b"),
    ("mayThrow", "next", ""),
    ("caught", "a", ""),
    ("local", "", "[]"),
    ("builder", "a", "a"),
    ("holder", "", "a"),
    ("lambda", "", "a b"),
    ("switched", "", "a b"),
    ("virtual", "one", "one"),
    ("divided", "b", ""),
    ("nested", "", "a b"),
    ("constructed", "", "right"),
    ("copied", "list", "[] list"),
];

#[test]
fn what_a_write_depends_on() {
    let file = record("programs/predict/src", &["predict.Flows"], "flows");
    let followed = follow(&file);
    assert_eq!(followed.done.stats.lost_events, 0);
    for (method, happens, value) in FLOWS {
        let (got_happens, got_value) = followed.needs("predict/Flows", method, "out");
        assert_eq!(
            (got_happens.as_str(), got_value.as_str()),
            (happens, value),
            "{method}"
        );
    }
}

#[test]
fn a_program_that_uses_everything_is_followed() {
    let file = record("programs/racy/src", &["racy.Main"], "followed-racy");
    let stats = follow(&file).done.stats;
    // Only threads that still ran when the program ended: the last word of a
    // daemon is not written down.
    let share = stats.lost_events as f64 / stats.events as f64;
    assert!(share < 0.01, "{stats:?}");
}

/// The first figure of the paper: from a run in which all went well.
#[test]
fn an_if_is_predicted_to_fail_where_a_while_does_not() {
    let spec = root().join("programs/predict/authentication.spec");
    for (way, broken) in [("if", true), ("while", false)] {
        let args = ["predict.Authentication", way];
        // On a busy machine a run may go wrong by itself: then there is nothing
        // to predict, and another one is made.
        let mut report = serde_json::Value::Null;
        for _ in 0..5 {
            let file = record("programs/predict/src", &args, &format!("figure1-{way}"));
            let done = photofinish()
                .args(["predict", "--engine", "sliced", "--json", "-", "--trace"])
                .arg(&file)
                .arg("--property")
                .arg(&spec)
                .output()
                .unwrap();
            report = serde_json::from_slice(&done.stdout).unwrap();
            if report["properties"][0]["status"] != "observed" {
                break;
            }
        }
        let status = &report["properties"][0]["status"];
        assert_eq!(status == "predicted", broken, "{way}: {report}");
    }
}

#[test]
fn damaged_recordings_are_followed_as_far_as_they_go() {
    let file = record("programs/predict/src", &["predict.Flows"], "damaged");
    let whole = std::fs::read(&file).unwrap();
    let all = follow(&file).done.events.len();
    // Cut off: a prefix, or a clear error.
    for part in 1..40 {
        let cut = &whole[..whole.len() * part / 40];
        if let Ok(mut trace) = Trace::from_slice(cut) {
            let followed = follow_part(&mut trace, |_, _| true);
            assert!(followed.done.events.len() <= all + all / 4);
        }
    }
    // Records that are missing here and there: threads are lost, events are not.
    for every in [2usize, 3, 7, 31, 211] {
        let mut trace = Trace::from_slice(&whole).unwrap();
        let mut kept = 0;
        let followed = follow_part(&mut trace, |at, e| {
            let keep = at % every != 0;
            let control = matches!(
                e.op,
                Op::MethodEnter(_) | Op::MethodExit(_) | Op::Branch(_) | Op::Unsure(_)
            );
            kept += u64::from(keep && !control);
            keep
        });
        assert_eq!(followed.done.stats.events, kept, "every {every}");
    }
}
