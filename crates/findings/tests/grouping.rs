//! Which races are one finding, and what it is called.

use findings::finding::{AccessOp, ArraySource, Frame, Location};
use findings::group::{Finding, findings};
use findings::result::{Access, Race, Report, Status};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn frame(class: &str, method: &str, line: u32) -> Frame {
    Frame {
        class: class.into(),
        method: method.into(),
        file: Some("X.java".into()),
        line: Some(line),
        bci: Some(line),
        ..Frame::default()
    }
}

fn field(class: &str, name: &str) -> Location {
    Location::Field {
        class: class.into(),
        field: name.into(),
        is_static: false,
        jdk: None,
    }
}

fn access(at: Frame, stack: Vec<Frame>, holders: &[&str]) -> Access {
    Access {
        op: AccessOp::Write,
        thread: "t".into(),
        thread_id: 1,
        thread_created: vec![],
        at,
        locks: None,
        stack,
        stack_exact: true,
        holders: holders
            .iter()
            .map(|name| field("shop.Cache", name))
            .collect(),
    }
}

/// Inside a map, called in a line of the program if that is known.
fn inside(call: Option<u32>, holders: &[&str]) -> Access {
    let at = frame("java.util.HashMap", "putVal", 630);
    let mut stack = vec![at.clone(), frame("java.util.HashMap", "put", 612)];
    stack.extend(call.map(|line| frame("shop.Cache", "use", line)));
    access(at, stack, holders)
}

fn race(number: usize, location: Location, accesses: [Access; 2]) -> Race {
    let json = serde_json::json!({
        "id": format!("R{number}"), "fingerprint": "00", "location": location,
        "status": Status::Observed, "found_by": ["fasttrack"], "accesses": accesses,
    });
    serde_json::from_value(json).unwrap()
}

fn in_map(number: usize, name: &str, first: Access, second: Access) -> Race {
    race(number, field("java.util.HashMap", name), [first, second])
}

fn ids(finding: &Finding<'_>) -> BTreeSet<String> {
    finding.all().map(|race| race.id.clone()).collect()
}

/// Owners, with the ids of their races.
fn grouped(races: &[Race]) -> BTreeSet<(String, Vec<String>)> {
    let all = findings(races);
    let row = |f: &Finding<'_>| (f.owner.clone(), ids(f).into_iter().collect());
    all.iter().map(row).collect()
}

#[test]
fn the_field_that_both_calls_are_about_owns_the_race() {
    let races = [
        in_map(
            1,
            "size",
            inside(Some(3), &["map"]),
            inside(Some(4), &["map"]),
        ),
        in_map(2, "table", inside(Some(3), &["map"]), inside(None, &[])),
        // `other.addAll(map)` against `map.put(..)`.
        in_map(
            3,
            "size",
            inside(Some(9), &["other", "map"]),
            inside(Some(4), &["map"]),
        ),
        in_map(
            4,
            "size",
            inside(Some(3), &["names"]),
            inside(Some(4), &["names"]),
        ),
        // The field itself is another matter.
        race(
            5,
            field("shop.Cache", "map"),
            [
                access(frame("shop.Cache", "use", 1), vec![], &[]),
                access(frame("shop.Cache", "clear", 2), vec![], &[]),
            ],
        ),
    ];
    let all = findings(&races);
    let named: Vec<(String, BTreeSet<String>)> = all.iter().map(|f| (f.name(), ids(f))).collect();
    let set = |ids: &[&str]| {
        ids.iter()
            .map(|id| (*id).to_owned())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(
        named,
        [
            ("shop.Cache.map".to_owned(), set(&["R1", "R2", "R3"])),
            ("shop.Cache.names".to_owned(), set(&["R4"])),
            ("shop.Cache.map".to_owned(), set(&["R5"])),
        ]
    );
    assert_eq!(all[0].statements().map(|f| f.line), [Some(3), Some(4)]);
}

#[test]
fn calls_about_no_known_field_bring_races_together() {
    let locals = [
        in_map(1, "size", inside(Some(3), &[]), inside(Some(4), &[])),
        in_map(2, "size", inside(Some(4), &[]), inside(Some(5), &[])),
        in_map(3, "size", inside(Some(8), &[]), inside(Some(9), &[])),
    ];
    let all = findings(&locals);
    assert_eq!(all.len(), 2, "{:?}", grouped(&locals));
    assert_eq!(all[0].name(), "a java.util.HashMap in shop.Cache.use");
    // One of these calls meets one whose field is known: then it is about that.
    let mut races = locals.to_vec();
    races.push(in_map(
        4,
        "size",
        inside(Some(5), &[]),
        inside(Some(1), &["map"]),
    ));
    let owned = (
        "shop.Cache.map".to_owned(),
        ["R1", "R2", "R4"].map(str::to_owned).to_vec(),
    );
    assert!(grouped(&races).contains(&owned), "{:?}", grouped(&races));
    // Two such fields: it is not known which.
    races.push(in_map(
        5,
        "size",
        inside(Some(5), &[]),
        inside(Some(2), &["names"]),
    ));
    assert_eq!(findings(&races).len(), 4, "{:?}", grouped(&races));
}

#[test]
fn an_array_has_its_name_from_any_of_its_races() {
    let array = |from: Option<ArraySource>| Location::Array {
        array: "int[]".into(),
        index: Some(3),
        from,
        jdk: None,
        allocated: Some(frame("shop.Cache", "<init>", 2)),
    };
    let at = |line| access(frame("shop.Cache", "use", line), vec![], &[]);
    let named = Some(ArraySource::Field("shop.Cache.cells".into()));
    let races = [
        race(1, array(None), [at(1), at(2)]),
        race(
            2,
            array(Some(ArraySource::Local("a".into()))),
            [at(2), at(3)],
        ),
        race(3, array(named), [at(3), at(4)]),
    ];
    let all = findings(&races);
    assert_eq!(all.len(), 1, "{:?}", grouped(&races));
    assert_eq!(all[0].owner, "shop.Cache.cells");
}

#[test]
fn json_has_an_entry_for_each_finding_and_all_races_in_it() {
    let mut report = Report::new("photofinish t".into(), "detect", Default::default());
    report.races = vec![
        in_map(
            1,
            "size",
            inside(Some(3), &["map"]),
            inside(Some(4), &["map"]),
        ),
        in_map(
            2,
            "table",
            inside(Some(3), &["map"]),
            inside(Some(4), &["map"]),
        ),
        race(
            3,
            field("shop.Cache", "n"),
            [
                access(frame("shop.Cache", "use", 1), vec![], &[]),
                access(frame("shop.Cache", "use", 1), vec![], &[]),
            ],
        ),
    ];
    report.rank();
    let json = serde_json::to_value(&report).unwrap();
    let entries = json["races"].as_array().unwrap();
    assert_eq!(entries.len(), 2, "{json:#}");
    let map = entries.iter().find(|e| e["id"] == "R1").unwrap();
    assert_eq!(map["location"]["field"], "map");
    assert_eq!(map["group"]["owner"], "shop.Cache.map");
    assert_eq!(map["group"]["inside"]["field"], "size");
    assert_eq!(map["group"]["members"][0]["location"]["field"], "table");
    let plain = entries.iter().find(|e| e["id"] == "R3").unwrap();
    assert!(plain.get("group").is_none(), "a race alone is no group");
    let back = Report::from_json(json.to_string().as_bytes()).unwrap();
    assert_eq!(back, report);
}

/// Groups by joining whatever has something in common until nothing changes.
fn dumb(races: &[Race]) -> BTreeSet<Vec<String>> {
    let calls = |race: &Race| -> BTreeSet<u32> {
        let nameless = race.accesses.iter().filter(|a| a.holders.is_empty());
        nameless.filter_map(|a| a.stack.get(2)?.line).collect()
    };
    let owner = findings::group::holder;
    // Sets of races without an owner.
    let mut sets: Vec<Vec<&Race>> = { races.iter() }
        .filter(|race| owner(race).is_none())
        .map(|race| vec![race])
        .collect();
    let meets = |a: &[&Race], b: &[&Race]| {
        let alone = |race: &Race| calls(race).is_empty();
        a.iter().any(|x| {
            b.iter().any(|y| {
                !calls(x).is_disjoint(&calls(y)) || alone(x) && alone(y) && x.location == y.location
            })
        })
    };
    while let Some((i, j)) = (0..sets.len())
        .flat_map(|i| (i + 1..sets.len()).map(move |j| (i, j)))
        .find(|(i, j)| meets(&sets[*i], &sets[*j]))
    {
        let joined = sets.remove(j);
        sets[i].extend(joined);
    }
    let mut owned: Vec<(Location, Vec<&Race>)> = Vec::new();
    let mut add = |field: Location, race| match owned.iter_mut().find(|(f, _)| *f == field) {
        Some((_, list)) => list.push(race),
        None => owned.push((field, vec![race])),
    };
    for race in races {
        if let Some(field) = owner(race) {
            add(field, race);
        }
    }
    let mut rest = Vec::new();
    for set in sets {
        let of = |other: &&Race| owner(other).is_some() && meets(&set, &[*other]);
        let fields: Vec<Location> = races.iter().filter(of).filter_map(owner).collect();
        match fields.first() {
            Some(field) if fields.iter().all(|f| f == field) => {
                set.into_iter().for_each(|race| add(field.clone(), race));
            }
            _ => rest.push(set),
        }
    }
    let groups = owned.into_iter().map(|(_, list)| list).chain(rest);
    let ids = |list: Vec<&Race>| {
        let ids: BTreeSet<String> = list.iter().map(|race| race.id.clone()).collect();
        ids.into_iter().collect()
    };
    groups.map(ids).collect()
}

fn some_access() -> impl Strategy<Value = Access> {
    let holders = prop::sample::select(vec![
        &[][..],
        &[],
        &[],
        &["map"],
        &["names"],
        &["map", "names"],
    ]);
    (prop::option::weighted(0.9, 1..7u32), holders)
        .prop_map(|(call, holders)| inside(call, holders))
}

proptest! {
    #[test]
    fn grouping_is_as_by_joining_what_meets(
        pairs in prop::collection::vec((some_access(), some_access(), 0..2usize), 1..9),
        seed in any::<u64>(),
    ) {
        let names = ["size", "table"];
        let mut races: Vec<Race> = pairs
            .into_iter()
            .enumerate()
            .map(|(at, (a, b, name))| in_map(at, names[name], a, b))
            .collect();
        let groups: BTreeSet<Vec<String>> = grouped(&races).into_iter().map(|g| g.1).collect();
        prop_assert_eq!(&groups, &dumb(&races));
        // Their order decides nothing.
        let all = grouped(&races);
        let by = seed as usize % races.len();
        races.rotate_left(by);
        races.reverse();
        prop_assert_eq!(grouped(&races), all);
    }
}
