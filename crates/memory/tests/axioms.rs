//! The machine against the table of known shapes, and against brute force over the axioms on random programs.

use litmus::weak::{self, Access, Act, Control, Outcome, Program, Row};
use memory::Memory;
use std::collections::BTreeSet;

/// All outcomes by the machine: every interleaving, every candidate.
fn ours(program: &Program) -> BTreeSet<Outcome> {
    let mut found = BTreeSet::new();
    let run = Run {
        control: Control::new(program),
        memory: Memory::default(),
        values: Default::default(),
    };
    run.extend(&mut found);
    found
}

#[derive(Clone)]
struct Run<'p> {
    control: Control<'p>,
    memory: Memory,
    /// What was written, by location and number.
    values: std::collections::BTreeMap<(u16, usize), i64>,
}

fn access(access: Access) -> memory::Access {
    match access {
        Access::Plain => memory::Access::Plain,
        Access::Opaque => memory::Access::Opaque,
        Access::Ordered => memory::Access::Ordered,
        Access::Volatile => memory::Access::Volatile,
        Access::Final => memory::Access::Final,
    }
}

impl Run<'_> {
    fn extend(self, found: &mut BTreeSet<Outcome>) {
        let threads = self.control.threads.len();
        let mut ended = true;
        for thread in 0..threads {
            let Some(act) = self.control.next(thread) else {
                continue;
            };
            ended = false;
            let candidates = match act {
                Act::Read(_, loc, kind) => {
                    self.memory
                        .clone()
                        .candidates(thread as u16, loc, access(kind))
                }
                Act::Add(_, loc, _) => {
                    let volatile = memory::Access::Volatile;
                    self.memory.clone().candidates(thread as u16, loc, volatile)
                }
                _ => vec![0],
            };
            for sees in candidates {
                let mut next = self.clone();
                next.make(thread, act, sees);
                next.extend(found);
            }
        }
        if ended && (0..threads).all(|t| self.control.is_over(t)) {
            found.insert(self.control.outcome());
        }
    }

    fn make(&mut self, thread: usize, act: Act, sees: usize) {
        let me = thread as u16;
        let seen = |run: &Run, loc| run.values.get(&(loc, sees)).copied().unwrap_or(0);
        let mut value = 0;
        match act {
            Act::Read(_, loc, kind) => {
                self.memory.read(me, loc, access(kind), sees);
                value = seen(self, loc);
            }
            Act::Write(loc, operand, kind) => {
                let number = self.memory.write(me, loc, access(kind));
                let written = self.control.threads[thread].value(operand);
                self.values.insert((loc, number), written);
            }
            Act::Add(_, loc, by) => {
                value = seen(self, loc);
                self.memory.read(me, loc, memory::Access::Volatile, sees);
                let number = self.memory.write(me, loc, memory::Access::Volatile);
                self.values.insert((loc, number), value + by);
            }
            Act::Lock(lock) => self.memory.lock(me, lock),
            Act::Unlock(lock) => self.memory.unlock(me, lock),
            Act::Fork(other) => self.memory.order(me, other as u16),
            Act::Join(other) => self.memory.order(other as u16, me),
            Act::Freeze(loc) => self.memory.freeze(me, loc),
            Act::Unless(..) => {}
        }
        self.control.done(thread, act, value);
    }
}

fn shown(row: &Row, outcomes: BTreeSet<Outcome>) -> BTreeSet<String> {
    outcomes.iter().map(|outcome| row.show(outcome)).collect()
}

#[test]
fn the_table_is_as_java_has_it() {
    let table = weak::table();
    let shapes: BTreeSet<&str> = table.iter().map(|row| row.text).collect();
    assert!(shapes.len() >= 40, "{}", shapes.len());
    for row in table {
        let (name, kind) = (row.name, row.access);
        let all = row.all();
        let allowed = |o: &&String| !row.is_forbidden(o) && !row.is_open(o);
        let wanted: BTreeSet<String> = all.iter().filter(allowed).cloned().collect();
        let both = all.iter().find(|o| row.is_forbidden(o) && row.is_open(o));
        assert_eq!(both, None, "{name} {kind}: forbidden and open");
        let patterns = row.forbids.iter().chain(row.open);
        for pattern in patterns {
            assert_eq!(
                pattern.len(),
                row.registers().len(),
                "{name} {kind}: {pattern}"
            );
        }
        let program = row.program();
        assert_eq!(shown(&row, ours(&program)), wanted, "{name} {kind}: ours");
        let brute = shown(&row, weak::outcomes(&program));
        assert_eq!(brute, wanted, "{name} {kind}: the axioms");
    }
}

#[test]
fn random_programs_have_the_outcomes_of_the_axioms() {
    let programs = std::env::var("PHOTOFINISH_REPEAT")
        .ok()
        .and_then(|n| n.parse::<u64>().ok());
    let programs = 1_000 * programs.unwrap_or(1);
    let (mut weak, mut outcomes) = (0, 0);
    for seed in 0..programs {
        let program = weak::random(&mut fastrand::Rng::with_seed(seed));
        let wanted = weak::outcomes(&program);
        assert_eq!(ours(&program), wanted, "seed {seed}: {program:?}");
        outcomes += wanted.len();
        weak += usize::from(wanted.len() > sequential(&program).len());
    }
    // The comparison is worth something only if there is weak behaviour to compare.
    assert!(
        weak as u64 * 8 > programs,
        "{weak} of {programs} have weak outcomes, {outcomes} in all"
    );
}

/// With every access volatile: what interleavings show.
fn sequential(program: &Program) -> BTreeSet<Outcome> {
    let mut program = program.clone();
    for act in program.threads.iter_mut().flatten() {
        if let Act::Read(_, _, kind) | Act::Write(_, _, kind) = act {
            *kind = Access::Volatile;
        }
    }
    weak::outcomes(&program)
}

/// The table of docs/memory.md.
#[test]
fn the_manual_has_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/memory.md");
    let page = std::fs::read_to_string(path).unwrap();
    let begin = page.find("<!-- litmus").unwrap();
    let begin = begin + page[begin..].find('\n').unwrap() + 1;
    let end = page.find("<!-- end -->").unwrap();
    let listed = |patterns: &[&str]| match patterns {
        [] => "nothing".to_owned(),
        all => all.join(", "),
    };
    let mut table =
        "\n| shape | acts | accesses | forbidden | allowed, left out |\n|---|---|---|---|---|\n"
            .to_owned();
    for row in weak::table() {
        let acts = row.text.replace('|', "\\|");
        table += &format!(
            "| {} | `{acts}` | {} | {} | {} |\n",
            row.name,
            row.access,
            listed(row.forbids),
            listed(row.open)
        );
    }
    table.push('\n');
    if std::env::var_os("PHOTOFINISH_GOLDEN").is_some() {
        std::fs::write(path, format!("{}{table}{}", &page[..begin], &page[end..])).unwrap();
        return;
    }
    assert_eq!(&page[begin..end], table, "PHOTOFINISH_GOLDEN=1 updates it");
}
