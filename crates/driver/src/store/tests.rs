use super::*;
use findings::result::Report;
use rusqlite::Connection;
use std::path::Path;

fn report(command: &str) -> Report {
    let access = r#"{"op":"write","thread":"main","class":"A","method":"m"}"#;
    let text = format!(
        r#"{{"schema":1,"tool":"t","command":"{command}","program":{{"args":["Main"]}},
           "runs":[{{"exit":0,"ended":"exit","races":1,"seconds":0.5}}],
           "races":[{{"id":"R1","fingerprint":"f1","location":{{"class":"A","field":"x"}},
             "status":"predicted","found_by":["osr"],"accesses":[{access},{access}],
             "witness":[{{"thread":"main","thread_id":1,"events":3,"last":"write",
               "at":"A.java:1"}}],"future":7}}],
           "exploration":{{"complete":true,"executions":2}},"warnings":["w"]}}"#
    );
    Report::from_json(text.as_bytes()).unwrap()
}

fn schedule(name: &str) -> Schedule {
    Schedule {
        name: name.into(),
        ended: "ok".into(),
        ..Schedule::default()
    }
}

fn program(name: &str) -> Program {
    Program {
        args: vec![name.to_owned()],
        ..Program::default()
    }
}

#[test]
fn what_was_kept_is_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("results");
    for content in ["first", "second"] {
        let mut writer = Writer::create(&dir).unwrap();
        writer
            .add(schedule("R1.exception"), content.as_bytes())
            .unwrap();
        writer.add(schedule("R1.ok"), b"ok").unwrap();
        writer.add(schedule("R10.ok"), b"ten").unwrap();
        writer.finish(program(content), &report(content)).unwrap();
    }
    let store = Store::open(&dir).unwrap();
    assert_eq!(store.report().unwrap(), report("second"));
    assert_eq!(*store.program(), program("second"));
    let log = |name: &str| store.schedule(name).unwrap().1;
    assert_eq!(log("R1"), b"second");
    assert_eq!(log("R1.ok"), b"ok");
    assert_eq!(log("R10"), b"ten");
    let error = store.schedule("R2").unwrap_err().to_string();
    assert!(
        error.contains("there are: R1.exception, R1.ok, R10.ok"),
        "{error}"
    );
    let [latest, earlier] = &store.results().unwrap()[..] else {
        panic!()
    };
    assert_eq!((latest.number, latest.races), (store.number(), 1));
    let first = Store::open_result(&dir, Some(earlier.number)).unwrap();
    assert_eq!(first.report().unwrap(), report("first"));
    assert_eq!(first.schedule("R1").unwrap().1, b"first");
    let error = Store::open_result(&dir, Some(77)).unwrap_err().to_string();
    assert!(error.contains("no result 77"), "{error}");
}

#[test]
fn a_result_can_be_saved_again_and_is_unseen_before() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::create(dir.path()).unwrap();
    writer.add(schedule("R1"), b"old").unwrap();
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Nothing { .. }), "{error}");
    for command in ["early", "late"] {
        writer.add(schedule("R1"), command.as_bytes()).unwrap();
        writer.save(&program("p"), &report(command)).unwrap();
        let store = Store::open(dir.path()).unwrap();
        assert_eq!(store.report().unwrap(), report(command));
        assert_eq!(store.schedule("R1").unwrap().1, command.as_bytes());
        assert_eq!(store.results().unwrap().len(), 1);
    }
    assert!(!dir.path().join(".gitignore").exists(), "it was not ours");
}

#[test]
fn only_so_many_results_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..KEPT + 5 {
        let writer = Writer::create(dir.path()).unwrap();
        writer
            .finish(program(&n.to_string()), &report("x"))
            .unwrap();
    }
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.results().unwrap().len(), KEPT as usize);
    assert_eq!(*store.program(), program(&(KEPT + 4).to_string()));
    // Nothing of the others is left behind.
    let db = Connection::open(dir.path().join(FILE)).unwrap();
    let races: u32 = db
        .query_row("SELECT count(*) FROM race", [], |row| row.get(0))
        .unwrap();
    assert_eq!(races, KEPT);
}

#[test]
fn several_write_at_once() {
    let dir = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for n in 0..4 {
            let dir = dir.path();
            scope.spawn(move || {
                for _ in 0..4 {
                    let mut writer = Writer::create(dir).unwrap();
                    writer.add(schedule("R1"), &[n]).unwrap();
                    writer
                        .finish(program(&n.to_string()), &report("x"))
                        .unwrap();
                }
            });
        }
    });
    let store = Store::open(dir.path()).unwrap();
    let results = store.results().unwrap();
    assert_eq!(results.len(), 16);
    for kept in results {
        let store = Store::open_result(dir.path(), Some(kept.number)).unwrap();
        let log = store.schedule("R1").unwrap().1;
        assert_eq!(*store.program(), program(&log[0].to_string()));
    }
}

#[test]
fn what_cannot_be_used_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let error = Store::open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("no results in"), "{error}");
    let file = dir.path().join(FILE);
    std::fs::write(&file, "thesis".repeat(1000)).unwrap();
    for error in [
        Store::open(dir.path()).unwrap_err(),
        Writer::create(dir.path()).unwrap_err(),
    ] {
        assert!(error.to_string().contains("damaged"), "{error}");
    }
    assert_eq!(
        std::fs::read(&file).unwrap(),
        "thesis".repeat(1000).as_bytes()
    );
    std::fs::remove_file(&file).unwrap();
    let other = Connection::open(&file).unwrap();
    other.execute_batch("CREATE TABLE t (a)").unwrap();
    let error = Writer::create(dir.path()).unwrap_err().to_string();
    assert!(error.contains("another program"), "{error}");
    let error = Writer::create(Path::new("/proc/nowhere"))
        .unwrap_err()
        .to_string();
    assert!(error.contains("--results"), "{error}");
}

#[test]
fn a_version_to_come_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::create(dir.path()).unwrap();
    writer.finish(program("p"), &report("x")).unwrap();
    let db = Connection::open(dir.path().join(FILE)).unwrap();
    db.pragma_update(None, "user_version", 9).unwrap();
    let error = Store::open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("format 9"), "{error}");
}

#[test]
fn how_far_an_exploration_is_stays_with_its_result() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("results");
    let error = explorations(&dir).unwrap_err();
    assert!(matches!(error, StoreError::Nothing { .. }), "{error}");
    let far = |of: &str, state: &str| Exploration {
        of: of.into(),
        state: state.into(),
    };
    let mut numbers = Vec::new();
    for (of, state) in [("a", "1"), ("b", "1")] {
        let mut writer = Writer::create(&dir).unwrap();
        numbers.push(writer.number());
        writer
            .save_exploration(&program("p"), &report("verify"), &far(of, state))
            .unwrap();
    }
    let mut writer = Writer::reopen(&dir, numbers[0]).unwrap();
    writer
        .save_exploration(&program("p"), &report("again"), &far("a", "2"))
        .unwrap();
    let all = explorations(&dir).unwrap();
    let expected = [(numbers[1], far("b", "1")), (numbers[0], far("a", "2"))];
    assert_eq!(all, expected);
    let first = Store::open_result(&dir, Some(numbers[0])).unwrap();
    assert_eq!(first.report().unwrap(), report("again"));
    assert!(Writer::reopen(&dir, 77).is_err());
    // They go with it.
    for _ in 0..KEPT {
        Writer::create(&dir)
            .unwrap()
            .finish(program("p"), &report("later"))
            .unwrap();
    }
    assert_eq!(explorations(&dir).unwrap(), []);
}

#[test]
fn a_file_from_before_there_were_explorations() {
    let dir = tempfile::tempdir().unwrap();
    let writer = Writer::create(dir.path()).unwrap();
    writer.finish(program("p"), &report("old")).unwrap();
    let db = Connection::open(dir.path().join(FILE)).unwrap();
    db.execute_batch("DROP TABLE exploration").unwrap();
    assert_eq!(explorations(dir.path()).unwrap(), []);
    Writer::create(dir.path()).unwrap();
    assert_eq!(explorations(dir.path()).unwrap(), []);
    assert_eq!(
        Store::open(dir.path()).unwrap().report().unwrap(),
        report("old")
    );
}
