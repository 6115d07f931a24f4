//! `verify`: as many executions as there are classes, what they show, and an
//! honest word about whether that was all.

use serde_json::Value;
use std::collections::BTreeSet;
use test_support::programs::{
    Expected, Program, compile, finish, photofinish, verify, verify_undisturbed,
};

/// With names that ran out, threads were mistaken for each other: who joined one that
/// had not ended came back at once, for ever.
#[test]
fn seventy_children_of_one_thread_are_told_apart() {
    let classes = compile("programs/verify/src", &[]);
    let program = Program::new(&["-cp", classes.to_str().unwrap(), "ManyThreads", "70"]);
    let results = tempfile::tempdir().unwrap();
    let found = verify(&program, results.path(), &["--max-executions", "20"]);
    let exploration = &found.report["exploration"];
    assert_eq!(exploration["executions"], 20, "{exploration}");
    assert_eq!(exploration["limited"], true, "{exploration}");
    assert_eq!(found.report.get("warnings"), None, "{}", found.stderr);
}

/// A write that is no step does not wake a thread that waits in a loop: it looked like a deadlock
/// that is certain.
#[test]
fn threads_that_wait_for_writes_that_are_no_steps_are_not_deadlocked() {
    let classes = compile("programs/verify/src", &[]);
    let classes = classes.to_str().unwrap();
    for (name, options) in [
        ("spineither", &["--untracked", "BookLoops.go"][..]),
        ("spinreflect", &[]),
    ] {
        let program = Program::new(&["-cp", classes, "BookLoops", name]);
        let results = tempfile::tempdir().unwrap();
        let found = verify(&program, results.path(), options);
        assert_eq!(found.report.get("deadlocks"), None, "{}", found.stderr);
        let exploration = &found.report["exploration"];
        assert_eq!(exploration["complete"], false, "{exploration}");
        let reasons = exploration["not_complete"].to_string();
        assert!(reasons.contains("a thread waits in a loop"), "{reasons}");
    }
}

/// The iteration that went on behind the second jump was forgotten: the loop ran up to the limit of
/// steps, and no exploration was complete.
#[test]
fn a_loop_with_two_jumps_back_is_one_in_which_a_thread_waits() {
    for (writes, races, deadlocks) in [("flag", 0, 0), ("plain", 1, 0), ("nothing", 0, 1)] {
        let found = verify_undisturbed(&Program::own(&["SpinBranch", writes]));
        let exploration = &found.report["exploration"];
        assert_eq!(exploration["complete"], true, "{writes}: {exploration}");
        assert_eq!(found.races().len(), races, "{writes}: {}", found.stderr);
        let stuck = found.report["deadlocks"].as_array().map_or(0, Vec::len);
        assert_eq!(stuck, deadlocks, "{writes}: {}", found.stderr);
    }
}

/// Its iterations are steps where others act in between, and other orders of the same steps had
/// none there: "did not do the same again".
#[test]
fn a_thread_that_spins_for_ever_does_the_same_in_every_order() {
    let found = verify_undisturbed(&Program::own(&["SpinsForEver"]));
    let exploration = &found.report["exploration"];
    assert_eq!(exploration["complete"], true, "{exploration}");
    let stuck = found.report["deadlocks"].as_array().map_or(0, Vec::len);
    assert_eq!(stuck, 1, "{}", found.stderr);
    let racy: BTreeSet<&str> = { found.races().iter() }
        .map(|race| race["location"]["field"].as_str().unwrap())
        .collect();
    assert_eq!(racy, BTreeSet::from(["sum"]), "{}", found.stderr);
}

/// An exception prints its stack under the lock of the stream. Nobody knew that, and a thread that
/// printed meanwhile blocked.
#[test]
fn threads_that_print_stacks_wait_for_each_other_under_control() {
    // The default handler prints twice: the thread's name, and the stack.
    for (how, executions, uncaught) in [("caught", 2, 0), ("uncaught", 6, 1)] {
        let found = verify_undisturbed(&Program::own(&["PrintsStacks", how]));
        let exploration = &found.report["exploration"];
        assert_eq!(exploration["complete"], true, "{how}: {exploration}");
        assert_eq!(exploration["executions"], executions, "{how}");
        let failed = found.report["failures"].as_array().map_or(0, Vec::len);
        assert_eq!(failed, uncaught, "{how}: {}", found.stderr);
    }
}

/// The monitors of java.io are the program's, also below the JDK's encoders.
#[test]
fn orders_of_printing_into_one_buffer_are_explored() {
    let found = verify_undisturbed(&Program::own(&["SharedBytes"]));
    let exploration = &found.report["exploration"];
    assert_eq!(exploration["complete"], true, "{exploration}");
    let failed = found.report["failures"].as_array().map_or(0, Vec::len);
    assert_eq!(failed, 1, "{}", found.stderr);
}

/// Locks of java.util.concurrent were called "an object that is gone".
#[test]
fn a_deadlock_of_locks_names_them() {
    let classes = compile("programs/verify/src", &[]);
    let program = Program::new(&["-cp", classes.to_str().unwrap(), "LockOrder"]);
    let results = tempfile::tempdir().unwrap();
    let found = verify(&program, results.path(), &[]);
    let threads = &found.report["deadlocks"][0]["threads"];
    let waits_for = |n: usize| threads[n]["waits_for"].as_str().unwrap_or_default();
    for n in 0..2 {
        assert!(waits_for(n).contains("ReentrantLock"), "{threads}");
    }
    assert_ne!(waits_for(0), waits_for(1), "{threads}");
}

/// Plain writes are no steps before they are known to race.
#[test]
fn limits_leave_no_deadlock_that_a_later_round_would_refute() {
    let verify_expected = Expected::load("verify");
    let either = verify_expected.program("verify", verify_expected.section("spineither"));
    let book = Expected::load("book");
    let filter = book.program("book", book.section("Filter"));
    for (program, options) in [
        (&either, ["--max-executions", "1"]),
        (&either, ["--stop-at", "first"]),
        (&filter, ["--max-executions", "8"]),
    ] {
        let results = tempfile::tempdir().unwrap();
        let found = verify(program, results.path(), &options);
        assert_eq!(found.report.get("deadlocks"), None, "{}", found.stderr);
        assert_eq!(found.code, Some(66), "{}", found.stderr);
        assert_eq!(found.report["exploration"]["complete"], false);
    }
}

#[test]
fn the_first_finding_is_enough_if_so_asked() {
    let expected = Expected::load("verify");
    for (section, list) in [("deadlock", "deadlocks"), ("assertion", "failures")] {
        let program = expected.program("verify", expected.section(section));
        let results = tempfile::tempdir().unwrap();
        let found = verify(&program, results.path(), &["--stop-at", "first"]);
        let many = found.report[list].as_array().map_or(0, Vec::len);
        assert_eq!(many, 1, "{}", found.stderr);
        let reasons = found.report["exploration"]["not_complete"].to_string();
        assert!(reasons.contains("first finding"), "{section}: {reasons}");
    }
}

/// What the JVM does to link it is not part of it: it was once taken for one that
/// failed, and who waited for it for stuck.
#[test]
fn the_first_compare_and_set_succeeds() {
    let found = verify_undisturbed(&Program::own(&["FirstCas"]));
    let exploration = &found.report["exploration"];
    assert_eq!(exploration["complete"], true, "{exploration}");
    assert_eq!(found.code, Some(0), "{}", found.stderr);
}

/// The thread of the JDK that sees to the end of processes makes no steps. That it
/// wakes somebody is honoured, and said: the exploration is not complete.
#[test]
fn a_thread_that_waits_for_a_process_is_not_deadlocked() {
    let results = tempfile::tempdir().unwrap();
    let found = verify(&Program::own(&["Forker"]), results.path(), &[]);
    let report = &found.report;
    assert_eq!(report.get("deadlocks"), None, "{report}");
    assert_eq!(report["exploration"]["complete"], false, "{report}");
    assert_eq!(
        found.locations(),
        BTreeSet::from(["Forker.shared".to_owned()])
    );
}

/// `Courier` looks at a field twice in a row. That the second look races does
/// not follow from executions in which both come before or after the write; what
/// lies between the two is found only if every access to what races is a point.
#[test]
fn a_second_look_at_what_races_is_a_point_too() {
    let expected = Expected::load("examples");
    let results = tempfile::tempdir().unwrap();
    let program = expected.program("examples", expected.section("Courier"));
    let found = verify(&program, results.path(), &[]);
    let exploration = &found.report["exploration"];
    assert_eq!(exploration["complete"], true, "{exploration}");
    let lines = |race: &Value| -> BTreeSet<u64> {
        let accesses = race["accesses"].as_array().unwrap();
        accesses.iter().filter_map(|a| a["line"].as_u64()).collect()
    };
    let pairs: BTreeSet<_> = found.races().iter().map(lines).collect();
    assert_eq!(pairs.len(), 2, "{pairs:?}");
    let failure = &found.report["failures"][0]["exception"];
    let failure = failure.as_str().unwrap_or_default();
    assert!(failure.contains("NullPointerException"), "{failure}");
}

#[test]
fn what_an_execution_showed_can_be_seen_again() {
    let expected = Expected::load("verify");
    for (name, id) in [("race", "R1"), ("deadlock", "D1"), ("assertion", "F1")] {
        let results = tempfile::tempdir().unwrap();
        let program = expected.program("verify", expected.section(name));
        let found = verify(&program, results.path(), &[]);
        assert_eq!(found.code, Some(66), "{}", found.stderr);
        let mut tool = photofinish();
        tool.args(["replay", "--results"])
            .arg(results.path())
            .arg(id);
        let done = finish(tool, "");
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(66), "{name}: {said}");
        assert!(
            said.contains(&format!("{id}: the same run again")),
            "{said}"
        );
    }
}

#[test]
fn what_was_stopped_is_not_complete() {
    let expected = Expected::load("verify");
    let results = tempfile::tempdir().unwrap();
    let program = expected.program("verify", expected.section("twice"));
    let found = verify(&program, results.path(), &["--max-executions", "2"]);
    assert_eq!(found.code, Some(75), "{}", found.stderr);
    let exploration = &found.report["exploration"];
    assert_eq!(exploration["complete"], false);
    assert_eq!(exploration["executions"], 2);
    let reasons = exploration["not_complete"].as_array().unwrap();
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    // With no preemption at all there are two orders, whatever else.
    let found = verify(&program, results.path(), &["--bound", "preemptions=0"]);
    assert_eq!(found.code, Some(0), "{}", found.stderr);
    assert_eq!(found.report["exploration"]["complete"], true);
    assert_eq!(found.report["exploration"]["preemptions"], 0);
}

#[test]
fn what_is_not_to_be_checked_is_not_and_still_orders() {
    let expected = Expected::load("verify");
    let race = expected.program("verify", expected.section("race"));
    let message = expected.program("verify", expected.section("message"));
    for (program, options, classes) in [
        (&race, ["--untracked", "Litmus.plain"], 1),
        (&race, ["--untracked", "Other.*,Lit*.pl*"], 1),
        (&race, ["--trusted", "Litmus"], 1),
        // A volatile field goes on to order what it ordered.
        (&message, ["--untracked", "Litmus.flag"], 2),
    ] {
        let results = tempfile::tempdir().unwrap();
        let found = verify(program, results.path(), &options);
        assert_eq!(found.code, Some(0), "{options:?}: {}", found.stderr);
        let exploration = &found.report["exploration"];
        assert_eq!(exploration["complete"], true, "{options:?}");
        assert_eq!(exploration["classes"], classes, "{options:?}");
    }
    let untracked = ["--detector", "hybrid", "--untracked", "Litmus.plain"];
    assert_eq!(race.detect(&untracked).code, Some(0));
    let suspected = [&untracked[..2], &["--fail-on", "potential"]].concat();
    assert_eq!(race.detect(&suspected).code, Some(66));
}

/// Not by those of the lock's own class.
#[test]
fn steps_inside_locks_are_told_by_the_lines_of_the_program() {
    let results = tempfile::tempdir().unwrap();
    let results = results.path().to_str().unwrap();
    let done = Program::own(&["Cashier"]).under(&["verify", "--results", results]);
    let told = String::from_utf8_lossy(&done.stderr);
    assert!(told.contains("| Cashier.java:21"), "{told}");
    assert!(!told.contains("ReentrantLock.java"), "{told}");
}
