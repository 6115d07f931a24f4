//! Results and schedules for the tests of what is written from them.
#![allow(dead_code, reason = "each test file uses its share")]

use findings::result::Report;
use report::terminal::Sources;
use report::timeline::{Timeline, Timelines};
use schedule::log::{Entry, Log, Site, ThreadRow};
use schedule::{Hit, Kind, Op, Ready, Thread};
use serde_json::{Value, json};

/// What is in a name that wants to do harm.
pub const HOSTILE: &str =
    "</script><img src=x onerror=\"alert(1)\"><!--'&amp;]]>\u{202e}\u{2028}\u{1b}[2J${alert(2)}";

pub fn op(kind: Kind, site: u32, obj: u64) -> Op {
    Op {
        kind,
        site,
        obj,
        slot: 0,
    }
}

pub fn step(thread: Thread, kind: Kind, site: u32, obj: u64) -> Entry {
    Entry::Step {
        thread,
        op: op(kind, site, obj),
    }
}

/// Threads `main`, `thread1`, `thread2`, the latter two started by the first.
pub fn log(entries: Vec<Entry>) -> Log {
    let mut log = Log {
        entries,
        ..Log::default()
    };
    log.header.strategy = "racefuzzer".into();
    log.header.seed = 7;
    for (number, name) in ["main", "thread1", "thread2"].into_iter().enumerate() {
        let row = ThreadRow {
            name: name.into(),
            parent: (number > 0).then_some(0),
        };
        log.threads.insert(number as Thread, row);
    }
    for (site, line, target) in [(1, 18, "Figure1.z"), (2, 23, "Figure1.z"), (3, 12, "")] {
        let site_row = Site {
            class: "Figure1".into(),
            method: format!("thread{site}"),
            file: Some("Figure1.java".into()),
            line: Some(line),
            target: target.into(),
            ..Site::default()
        };
        log.sites.insert(site, site_row);
    }
    log
}

/// Two threads that take a lock one after the other, then race.
pub fn racing() -> Log {
    let ready = |thread, kind, site| Ready {
        thread,
        op: op(kind, site, 5),
    };
    let mut entries = vec![
        step(1, Kind::Begin, 0, 0),
        step(1, Kind::Acquire, 3, 9),
        step(0, Kind::Start, 0, 0),
        step(1, Kind::AtomicWrite, 3, 8),
        step(2, Kind::Begin, 0, 0),
        step(2, Kind::Acquire, 3, 9),
        step(2, Kind::AtomicRead, 3, 8),
        Entry::Tick,
        Entry::Hit(Hit {
            step: 7,
            first: ready(2, Kind::Write, 2),
            second: ready(1, Kind::Read, 1),
        }),
        step(2, Kind::Write, 2, 5),
        step(1, Kind::Read, 1, 5),
    ];
    entries.extend((0..20).map(|_| step(0, Kind::Yield, 3, 0)));
    log(entries)
}

/// The golden report of controlled runs, with all that others may add to it.
pub fn full() -> (Report, Timelines) {
    let mut value: Value =
        serde_json::from_slice(include_bytes!("../golden/controlled.json")).unwrap();
    value["races"][0]["advice"] = json!([{
        "kind": "volatile", "target": "Figure1.z", "text": "make Figure1.z volatile",
        "removes": ["R1"], "validated": "removes-race", "checked": "in 40 runs",
        "paths": { "helps": 3, "seen": 3 }, "cost": 1.0,
        "diff": "--- a/Figure1.java\n+++ b/Figure1.java\n@@ -3 +3 @@\n-    static int z;\n+    static volatile int z;\n",
    }]);
    value["races"][0]["story"] = json!({ "source": "write", "manifest": "read", "between": ["x"] });
    value["repairs"] = json!({
        "repairs": ["make Figure1.z volatile"], "removes": ["R1"], "validated": "removes-race",
        "checked": "in 40 runs", "smallest": true,
    });
    value["races"][1]["status"] = "predicted".into();
    value["races"][1]["witness"] = json!([
        { "omitted": 40 },
        { "thread": "a", "thread_id": 1, "events": 3, "last": "release @7", "at": "Figure1.java:12" },
        { "thread": "a", "thread_id": 1, "events": 1, "last": "write", "at": "Figure1.java:18" },
        { "thread": "b", "thread_id": 2, "events": 1, "last": "read", "at": "Figure1.java:23" },
    ]);
    value["atomicity"] = json!([{
        "id": "A1", "status": "predicted", "unit": "Bank.move", "at": "Bank.java:3", "pattern": "R W' W",
        "accesses": [
            { "part": "unit", "op": "read", "location": "Bank.cents", "thread": "a", "class": "Bank", "method": "move", "file": "Bank.java", "line": 4 },
            { "part": "other", "op": "write", "location": "Bank.cents", "thread": "b", "class": "Bank", "method": "put", "file": null, "line": null },
            { "part": "unit", "op": "write", "location": "Bank.cents", "thread": "a", "class": "Bank", "method": "move", "file": "Bank.java", "line": 5 },
        ],
        "witness": [{ "thread": "a", "thread_id": 1, "events": 2, "last": "read", "at": "Bank.java:4" }],
    }]);
    value["properties"] = json!([
        { "name": "p", "status": "holds", "complete": true, "cuts": 9, "path": [], "witness": null },
        { "name": "q", "status": "predicted", "complete": false, "cuts": 9, "witness": null,
          "path": [{ "event": "open", "thread": "a", "thread_id": 1, "at": "Bank.java:3" }] },
    ]);
    let report = Report::from_json(&serde_json::to_vec(&value).unwrap()).unwrap();
    let timelines = [("R1.exception", racing()), ("R1.ok", log(vec![]))];
    let timelines = timelines.map(|(name, log)| (name.to_owned(), Timeline::of_log(&log)));
    (report, timelines.into())
}

/// The same with every name, message and path hostile.
pub fn hostile() -> (Report, Timelines) {
    let (report, mut timelines) = full();
    let mut value = serde_json::to_value(&report).unwrap();
    poison(&mut value, "");
    for timeline in timelines.values_mut() {
        timeline
            .lanes
            .iter_mut()
            .for_each(|lane| lane.name += HOSTILE);
        timeline.rows.iter_mut().for_each(|row| row.what += HOSTILE);
        for place in &mut timeline.places {
            place.class += HOSTILE;
            place.method += HOSTILE;
        }
    }
    let report = Report::from_json(&serde_json::to_vec(&value).unwrap()).unwrap();
    (report, timelines)
}

/// Words that mean something to readers stay as they are.
const WORDS: [&str; 14] = [
    "orders",
    "validated",
    "part",
    "id",
    "status",
    "op",
    "result",
    "harm",
    "kind",
    "ended",
    "fingerprint",
    "tool",
    "command",
    "digest",
];

fn poison(value: &mut Value, key: &str) {
    match value {
        Value::String(text) if !WORDS.contains(&key) => *text += HOSTILE,
        Value::Array(list) => list.iter_mut().for_each(|one| poison(one, key)),
        Value::Object(members) => members.iter_mut().for_each(|(key, one)| poison(one, key)),
        _ => {}
    }
}

/// Every file is there, and long.
#[derive(Debug)]
pub struct Everything;

impl Sources for Everything {
    fn line(&self, _: &str, file: &str, line: u32) -> Option<(String, String)> {
        let text = format!("    z = line{line}; // {HOSTILE}");
        (line < 90).then(|| (format!("src/{file}"), text))
    }
}
