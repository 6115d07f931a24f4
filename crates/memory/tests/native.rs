//! The shapes of the table on the JVM as it is, many times: HotSpot must not show what the table forbids. Where it shows an outcome that
//! the model leaves out, that is printed.
//!
//! Threads run through arrays of states side by side, as jcstress does it. Shapes with final fields and starts of threads are
//! left out: they need objects and threads of their own.

use litmus::weak::{self, Access, Act, Operand, Row};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// States of a shape in one round, and rounds.
const STATES: u32 = 2_000;
const ROUNDS: u32 = 40;

fn jdk(tool: &str) -> PathBuf {
    match std::env::var_os("JAVA_HOME") {
        Some(home) => Path::new(&home).join("bin").join(tool),
        None => tool.into(),
    }
}

fn can_run(row: &Row) -> bool {
    let acts = row.program().threads.into_iter().flatten();
    let mut acts = acts.filter(|act| matches!(act, Act::Fork(_) | Act::Freeze(_)));
    acts.next().is_none()
}

fn name(of: u16) -> char {
    char::from(of as u8)
}

fn register(of: u8) -> char {
    char::from(b'a' + of)
}

/// An act as Java; `s` is the state.
fn java(act: Act) -> String {
    let handle = |loc: u16| format!("State.{}", name(loc).to_ascii_uppercase());
    match act {
        Act::Read(r, loc, access) => {
            let from = match access {
                Access::Opaque => format!("(int) {}.getOpaque(s)", handle(loc)),
                Access::Ordered => format!("(int) {}.getAcquire(s)", handle(loc)),
                Access::Volatile => format!("(int) {}.getVolatile(s)", handle(loc)),
                Access::Plain | Access::Final => format!("s.{}", name(loc)),
            };
            format!("s.{} = {from};", register(r))
        }
        Act::Write(loc, operand, access) => {
            let value = match operand {
                Operand::Value(value) => value.to_string(),
                Operand::Register(r, by) => format!("s.{} + {by}", register(r)),
            };
            match access {
                Access::Opaque => format!("{}.setOpaque(s, {value});", handle(loc)),
                Access::Ordered => format!("{}.setRelease(s, {value});", handle(loc)),
                Access::Volatile => format!("{}.setVolatile(s, {value});", handle(loc)),
                Access::Plain | Access::Final => format!("s.{} = {value};", name(loc)),
            }
        }
        Act::Add(r, loc, by) => {
            format!(
                "s.{} = (int) {}.getAndAdd(s, {by});",
                register(r),
                handle(loc)
            )
        }
        Act::Lock(_) => "synchronized (s) {".to_owned(),
        Act::Unlock(_) => "}".to_owned(),
        Act::Unless(r, value, _) => format!("if (s.{} != {value}) return;", register(r)),
        Act::Fork(_) | Act::Join(_) | Act::Freeze(_) => String::new(),
    }
}

/// A class for each shape, and a main that runs them all and prints `shape outcome`.
fn program(rows: &[Row]) -> String {
    let mut text =
        "import java.lang.invoke.*;\nimport java.util.*;\nimport java.util.concurrent.*;\n\n"
            .to_owned();
    text += "class State {\n    int p, s, t, w, x, y, z;\n    int a, b, c, d;\n    static VarHandle P, S, T, W, X, Y, Z;\n    static {\n        try {\n            MethodHandles.Lookup l = MethodHandles.lookup();\n";
    for field in ["p", "s", "t", "w", "x", "y", "z"] {
        let upper = field.to_uppercase();
        let _ = writeln!(
            text,
            "            {upper} = l.findVarHandle(State.class, \"{field}\", int.class);"
        );
    }
    text += "        } catch (ReflectiveOperationException e) {\n            throw new Error(e);\n        }\n    }\n}\n\n";
    text += "interface Actor { void act(State s); }\n\n";
    for (number, row) in rows.iter().enumerate() {
        let _ = writeln!(text, "class Shape{number} {{");
        for (thread, acts) in row.program().threads.iter().enumerate() {
            let body: String = acts.iter().map(|act| java(*act) + " ").collect();
            let _ = writeln!(text, "    static void t{thread}(State s) {{ {body}}}");
        }
        text += "}\n\n";
    }
    text += "public class Stress {\n";
    let _ = writeln!(
        text,
        "    static final int STATES = {STATES}, ROUNDS = {ROUNDS};"
    );
    text += r#"
    static void run(int shape, Actor[] actors, Actor[] last, ExecutorService pool) throws Exception {
        Set<String> seen = new TreeSet<>();
        for (int round = 0; round < ROUNDS; round++) {
            State[] states = new State[STATES];
            for (int i = 0; i < STATES; i++) states[i] = new State();
            CyclicBarrier begin = new CyclicBarrier(actors.length);
            List<Future<?>> all = new ArrayList<>();
            for (Actor actor : actors) {
                all.add(pool.submit(() -> {
                    begin.await();
                    for (State s : states) actor.act(s);
                    return null;
                }));
            }
            for (Future<?> one : all) one.get();
            for (State s : states) {
                for (Actor actor : last) actor.act(s);
                seen.add("" + s.a + s.b + s.c + s.d);
            }
        }
        for (String outcome : seen) System.out.println(shape + " " + outcome);
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newCachedThreadPool();
"#;
    for (number, row) in rows.iter().enumerate() {
        let threads = row.program().threads;
        let joins = |acts: &Vec<Act>| acts.iter().any(|act| matches!(act, Act::Join(_)));
        let listed = |last: bool| {
            let of = threads
                .iter()
                .enumerate()
                .filter(|(_, acts)| joins(acts) == last);
            let names: Vec<String> = of.map(|(t, _)| format!("Shape{number}::t{t}")).collect();
            names.join(", ")
        };
        let _ = writeln!(
            text,
            "        run({number}, new Actor[] {{{}}}, new Actor[] {{{}}}, pool);",
            listed(false),
            listed(true)
        );
    }
    text + "        pool.shutdown();\n    }\n}\n"
}

#[test]
fn hotspot_shows_nothing_that_is_forbidden() {
    let rows: Vec<Row> = weak::table().into_iter().filter(can_run).collect();
    assert!(rows.len() >= 40, "{}", rows.len());
    let dir = std::env::temp_dir().join(format!("photofinish-stress-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let source = dir.join("Stress.java");
    std::fs::write(&source, program(&rows)).unwrap();
    let compiled = Command::new(jdk("javac"))
        .arg("-d")
        .arg(&dir)
        .arg(&source)
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&compiled.stderr).into_owned();
    assert!(compiled.status.success(), "{complaint}");
    let ran = Command::new(jdk("java"))
        .arg("-cp")
        .arg(&dir)
        .arg("Stress")
        .output()
        .unwrap();
    let _ = std::fs::remove_dir_all(&dir);
    assert!(
        ran.status.success(),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let mut seen: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&ran.stdout).lines() {
        let (shape, outcome) = line.split_once(' ').unwrap();
        seen.entry(shape.parse().unwrap())
            .or_default()
            .push(outcome.to_owned());
    }
    let shapes: BTreeSet<&str> = rows.iter().map(|row| row.text).collect();
    let all: usize = { rows.iter() }
        .map(|row| row.all().iter().filter(|o| row.is_open(o)).count())
        .sum();
    let (mut outcomes, mut weak) = (0, 0);
    for (number, row) in rows.iter().enumerate() {
        let shown = seen
            .get(&number)
            .unwrap_or_else(|| panic!("{} was not run", row.name));
        for outcome in shown {
            // Of all four registers, those that the shape has.
            let digits: Vec<char> = outcome.chars().collect();
            let own: String = row
                .registers()
                .iter()
                .map(|r| digits[usize::from(*r)])
                .collect();
            let (name, access) = (row.name, row.access);
            assert!(
                !row.is_forbidden(&own),
                "HotSpot shows {own} of {name}, {access}"
            );
            if row.is_open(&own) {
                println!("left out, and shown by HotSpot: {own} of {name}, {access}");
                weak += 1;
            }
            outcomes += 1;
        }
    }
    println!(
        "{} shapes in {} rows, {outcomes} outcomes shown; of {all} that the model leaves out, {weak}",
        shapes.len(),
        rows.len()
    );
}
