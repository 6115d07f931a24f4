//! Random walks over arrays by several threads, under FastTrack as it is: ranges, blocks
//! and all. Three threads do one step after the other, as a script says, in an order that
//! the tool does not see; only locks order them for it. A vector clock and the whole
//! history of each element say which arrays race: exactly those must be reported.

use fastrand::Rng;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use test_support::jdk::{path, run_for_text};
use test_support::programs::{Program, repeat, root, scratch};

const CASES: usize = 240;
const THREADS: usize = 3;
const LOCKS: usize = 2;
/// Steps of a case, handing over aside.
const STEPS: usize = 9;

fn pick(random: &mut Rng, from: &[usize]) -> usize {
    from[random.usize(..from.len())]
}

/// The operation that goes on to the end of the array.
const THROWS: usize = OPERATIONS.len() - 1;

/// What a step does to elements `first` to `last` of `a`: whether it writes, which of the
/// elements it comes to, and how that is written in Java.
struct Operation {
    write: bool,
    elements: fn(usize, usize, usize) -> Vec<usize>,
    java: &'static str,
}

fn upwards(first: usize, last: usize, _: usize) -> Vec<usize> {
    (first..=last).collect()
}

fn every_other(first: usize, last: usize, _: usize) -> Vec<usize> {
    (first..=last).step_by(2).collect()
}

fn every_third(first: usize, last: usize, _: usize) -> Vec<usize> {
    (first..=last).step_by(3).collect()
}

const OPERATIONS: [Operation; 14] = [
    Operation {
        write: true,
        elements: upwards,
        java: "for (int i = first; i <= last; i++) a[i] = i;",
    },
    Operation {
        write: false,
        elements: upwards,
        java: "for (int i = first; i <= last; i++) sum += a[i];",
    },
    Operation {
        write: true,
        elements: every_other,
        java: "for (int i = first; i <= last; i += 2) a[i] = i;",
    },
    Operation {
        write: false,
        elements: every_other,
        java: "for (int i = first; i <= last; i += 2) sum += a[i];",
    },
    Operation {
        write: true,
        elements: upwards,
        java: "for (int i = last; i >= first; i--) a[i] = i;",
    },
    Operation {
        write: false,
        elements: upwards,
        java: "for (int i = last; i >= first; i--) sum += a[i];",
    },
    Operation {
        write: true,
        elements: |first, last, _| (first..=last).rev().step_by(2).collect(),
        java: "for (int i = last; i >= first; i -= 2) a[i] = i;",
    },
    Operation {
        write: true,
        elements: every_third,
        java: "for (int i = first; i <= last; i += 3) a[i] = i;",
    },
    Operation {
        write: false,
        elements: every_third,
        java: "for (int i = first; i <= last; i += 3) sum += a[i];",
    },
    Operation {
        write: true,
        elements: |first, _, _| vec![first],
        java: "a[first] = 1;",
    },
    Operation {
        write: false,
        elements: |_, last, _| vec![last],
        java: "sum += a[last];",
    },
    Operation {
        write: true,
        elements: upwards,
        java: "System.arraycopy(new int[last - first + 1], 0, a, first, last - first + 1);",
    },
    // The array in each round is one of two; the other one is nobody else's.
    Operation {
        write: true,
        elements: every_other,
        java: "int[] b = new int[a.length]; for (int i = first; i <= last; i++) ((i - first & 1) == 0 ? a : b)[i] = i;",
    },
    Operation {
        write: true,
        elements: |first, _, length| (first..length).collect(),
        java: "try { for (int i = first;; i++) a[i] += i; } catch (IndexOutOfBoundsException e) { sum++; }",
    },
];

enum Step {
    Access {
        operation: usize,
        first: usize,
        last: usize,
    },
    Lock(usize),
}

struct Case {
    length: usize,
    steps: Vec<(usize, Step)>,
}

fn case(random: &mut Rng) -> Case {
    let length = pick(random, &[40, 127, 128, 129, 700]);
    let steps = match random.usize(..5) {
        0..=2 => in_turns(random, length),
        3 => in_parts(random, length),
        _ => by_parity(random, length),
    };
    Case { length, steps }
}

/// One thread after the other uses the array, mostly after it was handed over.
fn in_turns(random: &mut Rng, length: usize) -> Vec<(usize, Step)> {
    let edges = [0, 0, 0, 1, 2, 100, 126, 127, 128, 129, 383, 384, 600];
    let mut steps = Vec::new();
    let mut thread = random.usize(..THREADS);
    for _ in 0..STEPS {
        if random.usize(..5) < 2 {
            let next = random.usize(..THREADS);
            if random.usize(..3) > 0 {
                let lock = random.usize(..LOCKS);
                steps.push((thread, Step::Lock(lock)));
                steps.push((next, Step::Lock(lock)));
            }
            thread = next;
        }
        let first = pick(random, &edges) % length;
        let last = match random.usize(..5) {
            0..=2 => length - 1,
            3 => length - 1 - random.usize(..3),
            _ => pick(random, &edges) % length,
        };
        let access = Step::Access {
            operation: random.usize(..OPERATIONS.len()),
            first: first.min(last),
            last: first.max(last),
        };
        steps.push((thread, access));
    }
    steps
}

/// Each thread has a part of the array, and seldom goes one element too far.
fn in_parts(random: &mut Rng, length: usize) -> Vec<(usize, Step)> {
    let (third, shift) = (length / THREADS, random.usize(..8));
    let step = |random: &mut Rng| {
        let thread = random.usize(..THREADS);
        let first = thread * third + shift + pick(random, &[0, 0, 0, 1, 2]);
        let last = (thread + 1) * third + shift - 1 - pick(random, &[0, 0, 0, 1, 2]);
        let too_far = usize::from(random.usize(..40) == 0);
        let access = Step::Access {
            operation: random.usize(..THROWS),
            first,
            last: (last + too_far).min(length - 1),
        };
        match random.usize(..4) {
            0 => (thread, Step::Lock(thread.min(LOCKS - 1))),
            _ => (thread, access),
        }
    };
    (0..2 * STEPS).map(|_| step(random)).collect()
}

/// One thread has the even elements and one the odd ones, except sometimes.
fn by_parity(random: &mut Rng, length: usize) -> Vec<(usize, Step)> {
    let step = |random: &mut Rng| {
        let thread = random.usize(..2);
        let operation = match random.usize(..40) {
            0 => random.usize(..2),
            _ => 2 + random.usize(..2),
        };
        let access = Step::Access {
            operation,
            first: thread + 2 * pick(random, &[0, 0, 0, 3]),
            last: length - 1 - pick(random, &[0, 0, 5]),
        };
        match random.usize(..4) {
            0 => (thread, Step::Lock(thread)),
            _ => (thread, access),
        }
    };
    (0..2 * STEPS).map(|_| step(random)).collect()
}

/// The cases that have a race: by full vector clocks, with every access remembered.
fn racy(cases: &[Case]) -> BTreeSet<String> {
    let mut clocks = [[0u32; THREADS]; THREADS];
    for (thread, clock) in clocks.iter_mut().enumerate() {
        clock[thread] = 1;
    }
    let mut locks = [[0u32; THREADS]; LOCKS];
    let mut racy = BTreeSet::new();
    for (number, case) in cases.iter().enumerate() {
        let mut history: Vec<Vec<(usize, u32, bool)>> = vec![Vec::new(); case.length];
        for (thread, step) in &case.steps {
            let clock = &mut clocks[*thread];
            match step {
                Step::Lock(lock) => {
                    for (mine, others) in clock.iter_mut().zip(locks[*lock]) {
                        *mine = others.max(*mine);
                    }
                    locks[*lock] = *clock;
                    clock[*thread] += 1;
                }
                Step::Access {
                    operation,
                    first,
                    last,
                } => {
                    let Operation {
                        write, elements, ..
                    } = &OPERATIONS[*operation];
                    for element in elements(*first, *last, case.length) {
                        let conflicts = |(other, at, wrote): &(usize, u32, bool)| {
                            (*write || *wrote) && *at > clock[*other]
                        };
                        if history[element].iter().any(conflicts) {
                            racy.insert(format!("Case{number}"));
                        }
                        history[element].push((*thread, clock[*thread], *write));
                    }
                }
            }
        }
    }
    racy
}

/// A class a case, so that races of one are told from those of another.
fn java(cases: &[Case], to: &Path) {
    let mut text = String::from("abstract class Case {\n");
    text.push_str("    abstract int step(int operation, int[] a, int first, int last);\n\n");
    text.push_str("    static Case[] all() {\n        return new Case[] {\n");
    for number in 0..cases.len() {
        let _ = writeln!(text, "            new Case{number}(),");
    }
    text.push_str("        };\n    }\n}\n");
    for number in 0..cases.len() {
        let _ = writeln!(text, "\nfinal class Case{number} extends Case {{");
        text.push_str("    int step(int operation, int[] a, int first, int last) {\n");
        text.push_str("        int sum = 0;\n        switch (operation) {\n");
        for (which, operation) in OPERATIONS.iter().enumerate() {
            let body = operation.java;
            let _ = writeln!(text, "            case {which} -> {{ {body} }}");
        }
        text.push_str(
            "            default -> sum = 1;\n        }\n        return sum;\n    }\n}\n",
        );
    }
    std::fs::write(to, text).unwrap();
}

const MAIN: &str = r#"
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

final class Script {
    static final Object[] LOCKS = {new Object(), new Object()};

    /** Lines of thread, case, operation or -1 minus a lock, first and last element; before them, a line of lengths. */
    public static void main(String[] args) throws Exception {
        List<String> lines = Files.readAllLines(Path.of(args[0]));
        int[] lengths = numbers(lines.get(0));
        Case[] cases = Case.all();
        int[][] arrays = new int[lengths.length][];
        for (int i = 0; i < lengths.length; i++) {
            arrays[i] = new int[lengths[i]];
            cases[i].step(-1, arrays[i], 0, 0);
        }
        int[][] steps = new int[lines.size() - 1][];
        for (int i = 0; i < steps.length; i++) steps[i] = numbers(lines.get(i + 1));
        Turn.set(0);
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            int me = i;
            threads[i] = new Thread(() -> run(me, steps, cases, arrays));
        }
        for (Thread thread : threads) thread.start();
        for (Thread thread : threads) thread.join();
    }

    static int[] numbers(String line) {
        String[] words = line.split(" ");
        int[] numbers = new int[words.length];
        for (int i = 0; i < words.length; i++) numbers[i] = Integer.parseInt(words[i]);
        return numbers;
    }

    static void run(int me, int[][] steps, Case[] cases, int[][] arrays) {
        for (int s = 0; s < steps.length; s++) {
            int[] step = steps[s];
            if (step[0] != me) continue;
            Turn.await(s);
            if (step[2] < 0) {
                synchronized (LOCKS[-1 - step[2]]) {
                    step = null;
                }
            } else {
                cases[step[1]].step(step[2], arrays[step[1]], step[3], step[4]);
            }
            Turn.done();
        }
    }
}
"#;

fn script(cases: &[Case], to: &Path) {
    let lengths: Vec<String> = cases.iter().map(|c| c.length.to_string()).collect();
    let mut text = lengths.join(" ");
    for (number, case) in cases.iter().enumerate() {
        for (thread, step) in &case.steps {
            let (operation, first, last) = match step {
                Step::Access {
                    operation,
                    first,
                    last,
                } => (*operation as i32, *first, *last),
                Step::Lock(lock) => (-1 - *lock as i32, 0, 0),
            };
            let _ = write!(text, "\n{thread} {number} {operation} {first} {last}");
        }
    }
    std::fs::write(to, text).unwrap();
}

fn check(seed: usize) {
    let mut random = Rng::with_seed(seed as u64);
    let cases: Vec<Case> = (0..CASES).map(|_| case(&mut random)).collect();
    let expected = racy(&cases);
    let quiet = CASES - expected.len();
    assert!(
        expected.len() > CASES / 4 && quiet > CASES / 4,
        "{quiet} are quiet"
    );
    let dir = scratch(&format!("ranges-{seed}"));
    let (classes, steps) = (dir.join("classes"), dir.join("script"));
    java(&cases, &dir.join("Case.java"));
    script(&cases, &steps);
    std::fs::write(dir.join("Script.java"), MAIN).unwrap();
    let turn = root().join("crates/photofinish/tests/java/src/Turn.java");
    let sources = [dir.join("Case.java"), dir.join("Script.java"), turn];
    let [a, b, c] = sources.each_ref().map(|p| path(p));
    run_for_text("javac", &["-g", "-d", path(&classes), a, b, c]);
    let program = Program::new(&["-cp", path(&classes), "Script", path(&steps)]);
    // All that is usual, and with each access checked on the spot.
    for options in [&[][..], &["--check-unshared"]] {
        let found = program.detect(&[&["--exclude", "Turn"], options].concat());
        let classes = found.races().iter().flat_map(|race| {
            let accesses = race["accesses"].as_array().unwrap().iter();
            accesses.map(|a| a["class"].as_str().unwrap().to_owned())
        });
        let found: BTreeSet<String> = classes.collect();
        assert_eq!(found, expected, "seed {seed}, {options:?}");
    }
}

#[test]
fn exactly_the_arrays_that_race_are_reported() {
    for seed in 0..repeat() {
        check(seed);
    }
}
