//! The known shapes, with what Java allows, forbids, and allows but crate `memory` leaves out.
//!
//! Acts of a thread are separated by `;`, threads by `|`. Locations are `f` (a final field), `p`, `s`, `t` and `w` to `z`,
//! registers `a` to `d`, no two threads share one; an outcome is their values in order. `a?` ends the
//! thread unless `a` is 1. Patterns may have `*`.

use super::{Access, Act, Operand, Outcome, Program, Value};

/// A shape with accesses of some kind.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub name: &'static str,
    pub text: &'static str,
    /// The kind of access, for all locations or by location (`x:plain y:volatile`).
    pub access: &'static str,
    /// The largest value of a register.
    pub most: Value,
    /// Outcomes that Java forbids.
    pub forbids: &'static [&'static str],
    /// Outcomes that Java allows and the model leaves out.
    pub open: &'static [&'static str],
}

impl Row {
    pub fn program(&self) -> Program {
        let thread = |text: &'static str| {
            let acts: Vec<&str> = text.split(';').map(str::trim).collect();
            let rest = (0..acts.len()).rev();
            let parse = |(act, left): (&&str, usize)| self.act(act, left);
            acts.iter().zip(rest).map(parse).collect()
        };
        Program {
            threads: self.text.split('|').map(thread).collect(),
        }
    }

    fn access(&self, loc: char) -> Access {
        let own = self.access.split(' ').find_map(|word| {
            let (name, access) = word.split_once(':')?;
            name.starts_with(loc).then_some(access)
        });
        match own.unwrap_or(self.access) {
            _ if loc == 'f' => Access::Final,
            "opaque" => Access::Opaque,
            "ordered" => Access::Ordered,
            "volatile" => Access::Volatile,
            _ => Access::Plain,
        }
    }

    /// `left`: how many follow in the thread.
    fn act(&self, text: &str, left: usize) -> Act {
        let number = |text: &str| -> Value {
            let number = text.trim().parse();
            number.unwrap_or_else(|_| panic!("a number in {text}"))
        };
        let first = |text: &str| text.chars().next().unwrap_or_default();
        let register = |text: &str| first(text) as u8 - b'a';
        if let Some(to) = text.strip_prefix("join") {
            return Act::Join(number(to) as usize);
        }
        if let Some(to) = text.strip_prefix("fork") {
            return Act::Fork(number(to) as usize);
        }
        if let Some(loc) = text.strip_prefix("freeze ") {
            return Act::Freeze(first(loc) as u16);
        }
        if let Some(r) = text.strip_suffix('?') {
            return Act::Unless(register(r), 1, left);
        }
        match text {
            "lock" => return Act::Lock(0),
            "unlock" => return Act::Unlock(0),
            _ => {}
        }
        let (to, from) = text
            .split_once('=')
            .unwrap_or_else(|| panic!("an act: {text}"));
        let is_register = |c: char| ('a'..='e').contains(&c);
        if is_register(first(to)) {
            if let Some(loc) = from.strip_suffix("++") {
                return Act::Add(register(to), first(loc) as u16, 1);
            }
            return Act::Read(register(to), first(from) as u16, self.access(first(from)));
        }
        let value = match is_register(first(from)) {
            true => Operand::Register(register(from), from.len() as Value - 1),
            false => Operand::Value(number(from)),
        };
        Act::Write(first(to) as u16, value, self.access(first(to)))
    }

    /// The names of the registers.
    pub fn registers(&self) -> Vec<u8> {
        let acts = self.program().threads.into_iter().flatten();
        let read = |act: Act| match act {
            Act::Read(r, ..) | Act::Add(r, ..) => Some(r),
            _ => None,
        };
        let mut all: Vec<u8> = acts.filter_map(read).collect();
        all.sort_unstable();
        all
    }

    /// An outcome as the table has it: one digit a register; 0 where nothing was read.
    pub fn show(&self, outcome: &Outcome) -> String {
        let value = |r: &u8| {
            let mut known = outcome.iter();
            known.find(|((_, k), _)| k == r).map_or(0, |(_, v)| *v)
        };
        let digits = self.registers();
        digits.iter().map(|r| value(r).to_string()).collect()
    }

    /// Every outcome that can be written down.
    pub fn all(&self) -> Vec<String> {
        let mut all = vec![String::new()];
        for _ in self.registers() {
            let longer = |text: &String| {
                let text = text.clone();
                (0..=self.most).map(move |v| format!("{text}{v}"))
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    pub fn is_forbidden(&self, outcome: &str) -> bool {
        self.forbids.iter().any(|pattern| matches(pattern, outcome))
    }

    pub fn is_open(&self, outcome: &str) -> bool {
        self.open.iter().any(|pattern| matches(pattern, outcome))
    }
}

fn matches(pattern: &str, outcome: &str) -> bool {
    let same = |(p, o): (char, char)| p == '*' || p == o;
    pattern.chars().zip(outcome.chars()).all(same)
}

/// Outcomes.
type Outcomes = &'static [&'static str];

/// A shape: name, text, largest value, and for each kind of access what is forbidden and left out.
type Shape = (
    &'static str,
    &'static str,
    Value,
    &'static [(&'static str, Outcomes, Outcomes)],
);

pub fn table() -> Vec<Row> {
    let mut rows = Vec::new();
    for &(name, text, most, kinds) in SHAPES {
        rows.extend(kinds.iter().map(|&(access, forbids, open)| Row {
            name,
            text,
            access,
            most,
            forbids,
            open,
        }));
    }
    rows
}

#[rustfmt::skip]
const SHAPES: &[Shape] = &[
    ("SB", "x=1; a=y | y=1; b=x", 1, &[
        ("plain", &[], &[]), ("opaque", &[], &[]), ("ordered", &[], &[]), ("volatile", &["00"], &[]),
        ("x:volatile y:plain", &[], &[]),
    ]),
    ("SB in a lock", "lock; x=1; a=y; unlock | lock; y=1; b=x; unlock", 1, &[("plain", &["00", "11"], &[])]),
    ("3SB", "x=1; a=y | y=1; b=z | z=1; c=x", 1, &[("plain", &[], &[]), ("ordered", &[], &[]), ("volatile", &["000"], &[])]),
    ("MP", "x=1; y=1 | a=y; b=x", 1, &[
        ("plain", &[], &[]), ("opaque", &[], &[]), ("ordered", &["10"], &[]), ("volatile", &["10"], &[]),
        ("x:plain y:volatile", &["10"], &[]), ("x:plain y:ordered", &["10"], &[]), ("x:plain y:opaque", &[], &[]),
        // The plain read may be late: it may be moved behind the volatile one.
        ("x:volatile y:plain", &[], &["10"]),
    ]),
    ("MP in a lock", "lock; x=1; y=1; unlock | lock; a=y; b=x; unlock", 1, &[("plain", &["01", "10"], &[])]),
    ("MP, only the writer locks", "lock; x=1; y=1; unlock | a=y; b=x", 1, &[("plain", &[], &[])]),
    ("LB", "a=x; y=1 | b=y; x=1", 1, &[
        ("plain", &[], &["11"]), ("opaque", &[], &["11"]), ("ordered", &["11"], &[]), ("volatile", &["11"], &[]),
    ]),
    ("3LB", "a=x; y=1 | b=y; z=1 | c=z; x=1", 1, &[("plain", &[], &["111"]), ("ordered", &["111"], &[])]),
    ("IRIW", "x=1 | y=1 | a=x; b=y | c=y; d=x", 1, &[
        ("plain", &[], &[]), ("opaque", &[], &[]), ("ordered", &[], &[]), ("volatile", &["1010"], &[]),
    ]),
    ("CoRR", "x=1 | a=x; b=x", 1, &[
        ("plain", &[], &[]), ("opaque", &["10"], &[]), ("ordered", &["10"], &[]), ("volatile", &["10"], &[]),
    ]),
    ("CoRR, two writers and readers", "x=1 | x=2 | a=x; b=x | c=x; d=x", 2, &[
        ("plain", &[], &[]),
        ("opaque", &["10**", "20**", "**10", "**20", "1221", "2112"], &[]),
        ("volatile", &["10**", "20**", "**10", "**20", "1221", "2112"], &[]),
    ]),
    ("CoWW", "x=1; x=2 | a=x; b=x", 2, &[
        ("plain", &[], &[]), ("opaque", &["10", "20", "21"], &[]), ("volatile", &["10", "20", "21"], &[]),
    ]),
    ("CoWR", "x=1; a=x | x=2", 2, &[
        ("plain", &["0"], &[]), ("opaque", &["0"], &[]), ("ordered", &["0"], &[]), ("volatile", &["0"], &[]),
    ]),
    ("CoRW", "a=x; x=1 | x=2", 2, &[("plain", &["1"], &[]), ("opaque", &["1"], &[]), ("volatile", &["1"], &[])]),
    ("WRC", "x=1 | a=x; y=1 | b=y; c=x", 1, &[
        ("plain", &[], &[]), ("opaque", &[], &[]), ("ordered", &["110"], &[]), ("volatile", &["110"], &[]),
        ("x:plain y:volatile", &[], &[]), ("x:opaque y:ordered", &["110"], &[]),
    ]),
    ("ISA2", "x=1; y=1 | a=y; z=1 | b=z; c=x", 1, &[
        ("plain", &[], &[]), ("ordered", &["110"], &[]), ("volatile", &["110"], &[]),
        ("x:plain y:volatile z:volatile", &["110"], &[]), ("x:plain y:volatile z:plain", &[], &[]),
    ]),
    ("RWC", "x=1 | a=x; b=y | y=1; c=x", 1, &[
        ("plain", &[], &[]), ("opaque", &[], &[]), ("ordered", &[], &[]), ("volatile", &["100"], &[]),
    ]),
    ("W+RWC", "x=1; y=1 | a=y; b=z | z=1; c=x", 1, &[("plain", &[], &[]), ("ordered", &[], &[]), ("volatile", &["100"], &[])]),
    ("2+2W", "x=1; y=2 | y=1; x=2 | join0; join1; a=x; b=y", 2, &[
        ("plain", &["0*", "*0"], &[]), ("opaque", &["0*", "*0"], &["11"]), ("ordered", &["0*", "*0"], &["11"]),
        ("volatile", &["0*", "*0", "11"], &[]),
    ]),
    ("R", "x=1; y=1 | y=2; a=x | join0; join1; b=y", 2, &[
        ("plain", &["2*", "*0"], &[]), ("opaque", &["2*", "*0"], &[]), ("ordered", &["2*", "*0"], &[]),
        ("volatile", &["2*", "*0", "02"], &[]),
    ]),
    ("S", "x=2; y=1 | a=y; x=1 | join0; join1; b=x", 2, &[
        ("plain", &["2*", "*0"], &[]), ("opaque", &["2*", "*0"], &["12"]), ("ordered", &["2*", "*0", "12"], &[]),
        ("volatile", &["2*", "*0", "12"], &[]), ("x:plain y:volatile", &["2*", "*0", "12"], &[]),
    ]),
    ("Peterson", "x=1; t=1; a=y; b=t | y=1; t=0; c=x; d=t", 1, &[
        ("plain", &[], &[]), ("opaque", &["*0*1"], &[]), ("ordered", &["*0*1"], &[]),
        // Neither enters unless the other does not: see the nine.
        ("volatile", &["0*0*", "0*11", "00*1", "10*1", "100*"], &[]),
    ]),
    ("own write read early", "x=1; a=x; b=y | y=1; c=y; d=x", 1, &[
        ("plain", &["0***", "**0*"], &[]), ("opaque", &["0***", "**0*"], &[]), ("ordered", &["0***", "**0*"], &[]),
        ("volatile", &["0***", "**0*", "1010"], &[]),
    ]),
    ("lost update", "a=x; x=a+ | b=x; x=b+ | join0; join1; c=x", 2, &[
        ("plain", &["2**", "*2*", "**0", "11*", "002"], &[]),
        ("opaque", &["2**", "*2*", "**0", "11*", "002", "011", "101"], &[]),
        ("volatile", &["2**", "*2*", "**0", "11*", "002", "011", "101"], &[]),
    ]),
    ("getAndAdd", "a=x++ | b=x++ | join0; join1; c=x", 2, &[("plain", &["2**", "*2*", "**0", "**1", "00*", "11*"], &[])]),
    ("stop flag", "s=1 | a=s; b=s; c=s", 1, &[
        ("plain", &[], &[]), ("opaque", &["10*", "*10"], &[]), ("volatile", &["10*", "*10"], &[]),
    ]),
    ("unsafe publication", "x=1; p=1 | a=p; a?; b=x", 1, &[
        ("plain", &["01"], &[]), ("x:plain p:opaque", &["01"], &[]), ("x:plain p:ordered", &["01", "10"], &[]),
        ("x:plain p:volatile", &["01", "10"], &[]),
    ]),
    ("double-checked locking", "lock; a=p; x=1; p=1; unlock | b=p; b?; c=x", 1, &[
        ("plain", &["1**", "*01"], &[]), ("x:plain p:volatile", &["1**", "*01", "*10"], &[]),
    ]),
    ("final field", "f=1; freeze f; p=1 | a=p; a?; b=f", 1, &[("plain", &["01", "10"], &[])]),
    ("final field, leaked", "p=1; f=1; freeze f | a=p; a?; b=f", 1, &[("plain", &["01"], &[])]),
    // 17.5.1 speaks of what is reached through the final field only.
    ("final field, then another", "x=1; f=1; freeze f; p=1 | a=p; a?; b=f; c=x", 1, &[("plain", &["01*", "0*1", "10*"], &["110"])]),
    ("another, then a final field", "x=1; f=1; freeze f; p=1 | a=p; a?; c=x; b=f", 1, &[("plain", &["01*", "0*1", "10*"], &[])]),
    // What Dekker's algorithm guards, behind its first step.
    ("Dekker", "x=1; a=y; z=1 | y=1; b=x; c=z", 1, &[
        ("plain", &[], &[]), ("x:volatile y:volatile z:plain", &["00*"], &[]), ("x:ordered y:ordered z:plain", &[], &[]),
    ]),
    ("WWC", "x=2 | a=x; y=1 | b=y; x=1 | join0; join1; join2; c=x", 2, &[
        ("plain", &["*2*", "**0"], &["111", "112"]), ("opaque", &["*2*", "**0"], &["111", "112", "212"]),
        ("ordered", &["*2*", "**0", "11*", "212"], &[]), ("volatile", &["*2*", "**0", "11*", "212"], &[]),
    ]),
    ("Z6", "x=1; y=1 | y=2; z=1 | a=z; b=x | join0; join1; join2; c=y", 2, &[
        ("plain", &["2**", "*2*", "**0"], &[]), ("ordered", &["2**", "*2*", "**0"], &[]),
        ("volatile", &["2**", "*2*", "**0", "102"], &[]),
    ]),
    ("3.2W", "x=1; y=2 | y=1; z=2 | z=1; x=2 | join0; join1; join2; a=x; b=y; c=z", 2, &[
        ("plain", &["0**", "*0*", "**0"], &[]), ("opaque", &["0**", "*0*", "**0"], &["111"]),
        ("ordered", &["0**", "*0*", "**0"], &["111"]), ("volatile", &["0**", "*0*", "**0", "111"], &[]),
    ]),
    ("IRRWIW", "x=2 | a=x; b=y | y=1 | c=y; x=1 | join0; join1; join2; join3; d=x", 2, &[
        ("plain", &["*2**", "**2*", "***0"], &[]), ("opaque", &["*2**", "**2*", "***0"], &[]),
        ("ordered", &["*2**", "**2*", "***0", "101*"], &[]),
        ("volatile", &["*2**", "**2*", "***0", "101*", "2012"], &[]),
    ]),
    ("MP by getAndAdd", "x=1; a=y++ | b=y; c=x", 1, &[
        ("plain", &["1**"], &[]), ("x:plain y:ordered", &["1**", "010"], &[]), ("x:plain y:volatile", &["1**", "010"], &[]),
    ]),
    ("MP by getAndAdd, both", "x=1; a=y++ | b=y++; c=x", 1, &[("plain", &["00*", "11*", "010"], &[])]),
    // 17.4.8 commits both writes before the reads; a coherent location has no such circle.
    ("CoRW, both threads", "a=x; x=1 | b=x; x=2", 2, &[
        ("plain", &["1*", "*2"], &["21"]), ("opaque", &["1*", "*2", "21"], &[]), ("volatile", &["1*", "*2", "21"], &[]),
    ]),
    ("start", "x=1; fork1 | a=x", 1, &[("plain", &["0"], &[])]),
    ("write after start", "x=1; fork1; x=2 | a=x", 2, &[("plain", &["0"], &[])]),
    ("join", "x=1 | join0; a=x", 1, &[("plain", &["0"], &[])]),
];
