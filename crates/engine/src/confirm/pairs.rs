//! From a race of a report to the statements that trials stop at, and from a
//! hit back to the race: which of its accesses went first, or is it another
//! race altogether?
//!
//! A race of a report is a location and two source lines; a hit is about two
//! instructions on one location. A hit confirms the race only if one
//! instruction lies on either line and the location is the race's: the same
//! two lines may race on two fields, and a statement may race with itself.

use driver::options::Statement;
use findings::finding::Hit;
use findings::finding::{self, AccessOp, Frame, Location};
use findings::group;
use findings::result::{Access, Race};
use std::collections::BTreeSet;

/// The statements on either side; `None` if the class files do not say enough
/// to find them again.
pub fn sides(race: &Race) -> Option<[Vec<Statement>; 2]> {
    let mut sides = [Vec::new(), Vec::new()];
    let shown = race.accesses.iter().map(|access| &access.at);
    for frame in race.statements.iter().chain(shown) {
        for (access, side) in race.accesses.iter().zip(&mut sides) {
            if same_line(&access.at, frame) {
                let statement = statement(frame)?;
                if !side.contains(&statement) {
                    side.push(statement);
                }
            }
        }
    }
    (!sides.iter().any(Vec::is_empty)).then_some(sides)
}

fn statement(frame: &Frame) -> Option<Statement> {
    if let (Some(desc), Some(bci)) = (&frame.desc, frame.bci) {
        return Some(Statement::Exact {
            class: frame.class.replace('.', "/"),
            method: frame.method.clone(),
            desc: desc.clone(),
            bci,
        });
    }
    Some(Statement::Line {
        file: frame.file.clone()?,
        line: frame.line?,
    })
}

/// Whether two frames are on one line of one method; where there are no lines,
/// at one instruction.
fn same_line(a: &Frame, b: &Frame) -> bool {
    let line = |f: &Frame| (f.line.is_none(), f.line.or(f.bci));
    (&a.class, &a.method, line(a)) == (&b.class, &b.method, line(b))
}

/// Whether a statement of a hit is one of those that took part in the race on
/// this access's side. Where instructions are known, the line is not enough.
fn on_side(race: &Race, access: &Access, frame: &Frame) -> bool {
    let instruction = |f: &Frame| Some((f.desc.clone()?, f.bci?));
    let took_part = |f: &Frame| match (instruction(f), instruction(frame)) {
        (Some(known), Some(hit)) => known == hit,
        _ => true,
    };
    let shown = race.accesses.iter().map(|access| &access.at);
    let mut statements = race.statements.iter().chain(shown);
    same_line(&access.at, frame) && statements.any(|f| same_line(&access.at, f) && took_part(f))
}

/// Whether the program came to a statement of the JDK by the same call, as far as that is
/// known: other calls may be about another object.
fn same_call(access: &Access, met: &finding::Access) -> bool {
    let met = met.stack.iter().find(|frame| !group::is_foreign(frame));
    match (group::own_call(access), met) {
        (Some(known), Some(met)) => same_line(known, met),
        _ => true,
    }
}

/// Races inside one object of the JDK's that are tried: they are one finding, and the rest
/// would say the same.
const MOST_INSIDE: usize = 8;

/// Ids of the races that are worth a trial.
pub(crate) fn worth_trying(races: &[Race]) -> BTreeSet<String> {
    let findings = group::findings(races);
    let ids = findings.iter().flat_map(|finding| {
        let most = match finding.is_inside() {
            true => MOST_INSIDE,
            false => usize::MAX,
        };
        finding.all().take(most).map(|race| race.id.clone())
    });
    ids.collect()
}

/// How a hit decided a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Which of the race's accesses went first.
    pub first: u8,
    /// The two cannot be told apart: there is no other order.
    pub symmetric: bool,
}

/// How the hit decided this race; `None` if it is about another one.
pub fn order(race: &Race, hit: &Hit) -> Option<Order> {
    // An array has a name on either side. Which one it is the instructions tell.
    let known = |frame: &Frame| frame.desc.is_some() && frame.bci.is_some();
    let named = !(known(&hit.first.frame) && known(&hit.second.frame));
    if !hit
        .location
        .as_ref()
        .is_none_or(|location| same_location(location, &race.location, named))
    {
        return None;
    }
    let [a, b] = &race.accesses;
    let fits = |x: &Access, y: &Access| {
        let meant = |access: &Access, met: &finding::Access| {
            on_side(race, access, &met.frame) && same_call(access, met)
        };
        let both = meant(x, &hit.first) && meant(y, &hit.second);
        both.then(|| likeness(x, &hit.first) + likeness(y, &hit.second))
    };
    let (straight, swapped) = (fits(a, b), fits(b, a));
    let first = match (straight, swapped) {
        (None, None) => return None,
        (straight, swapped) => u8::from(swapped > straight),
    };
    Some(Order {
        first,
        symmetric: straight == swapped,
    })
}

/// An instruction that takes part in a race, and what it does there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    instruction: Instruction,
    writes: bool,
}

/// Where an access is; by its line where the class files say no more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Instruction {
    class: String,
    method: String,
    desc: Option<String>,
    bci: Option<u32>,
    line: Option<u32>,
}

impl Instruction {
    fn new(frame: &Frame) -> Instruction {
        let exact = frame.desc.is_some() && frame.bci.is_some();
        Instruction {
            class: frame.class.clone(),
            method: frame.method.clone(),
            desc: frame.desc.clone().filter(|_| exact),
            bci: frame.bci.filter(|_| exact),
            line: frame.line.filter(|_| !exact),
        }
    }
}

/// The orders of two accesses in which a race was made to happen. A line that
/// reads and writes (`x = x + 5`) takes part with several accesses, and each two
/// of them that race have two orders of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessOrders {
    /// First and second.
    seen: BTreeSet<(Point, Point)>,
}

impl AccessOrders {
    pub fn add(&mut self, hit: &Hit) {
        let point = |access: &finding::Access| Point {
            instruction: Instruction::new(&access.frame),
            writes: access.op == AccessOp::Write,
        };
        self.seen.insert((point(&hit.first), point(&hit.second)));
    }

    /// Whether each two accesses that met were seen in both orders, and each two
    /// instructions of the race met, unless both only read.
    pub fn are_complete(&self, race: &Race) -> bool {
        let reversed = |(a, b): &(Point, Point)| self.seen.contains(&(b.clone(), a.clone()));
        let shown = race.accesses.iter().map(|access| &access.at);
        let side = |access: &Access| -> Vec<Instruction> {
            let frames = race.statements.iter().chain(shown.clone());
            let frames = frames.filter(|frame| same_line(&access.at, frame));
            frames.map(Instruction::new).collect()
        };
        let [ones, others] = [side(&race.accesses[0]), side(&race.accesses[1])];
        let mut pairs = ones.iter().flat_map(|a| others.iter().map(move |b| (a, b)));
        !self.seen.is_empty()
            && self.seen.iter().all(reversed)
            && pairs.all(|(a, b)| self.met(a, b) || self.only_reads(a) && self.only_reads(b))
    }

    fn met(&self, a: &Instruction, b: &Instruction) -> bool {
        let mut seen = self
            .seen
            .iter()
            .map(|(x, y)| (&x.instruction, &y.instruction));
        seen.any(|(x, y)| (x, y) == (a, b) || (y, x) == (a, b))
    }

    /// What was never met is not known to.
    fn only_reads(&self, at: &Instruction) -> bool {
        let points = self.seen.iter().flat_map(|(a, b)| [a, b]);
        let mut points = points.filter(|point| point.instruction == *at).peekable();
        points.peek().is_some() && points.all(|point| !point.writes)
    }
}

/// Which of two accesses on one line is meant: the instruction tells, then
/// what it does, then the thread.
fn likeness(access: &Access, hit: &finding::Access) -> u32 {
    let bci = access.at.bci.is_some() && access.at.bci == hit.frame.bci;
    let op = access.op == hit.op;
    let thread = access.thread == hit.thread.name;
    4 * u32::from(bci) + 2 * u32::from(op) + u32::from(thread)
}

/// What is unknown of either does not matter, nor does the element of an array,
/// and what the array is called only if that is to count (`named`). A hit names a
/// field through the class in the class file, which may inherit it; the statements
/// say the rest.
fn same_location(a: &Location, b: &Location, named: bool) -> bool {
    match (a, b) {
        (Location::Field { field, .. }, Location::Field { field: other, .. }) => field == other,
        (
            Location::Array { array, from, .. },
            Location::Array {
                array: other_array,
                from: other_from,
                ..
            },
        ) => {
            let type_known = !array.is_empty() && !other_array.is_empty();
            let from_known = named && from.is_some() && other_from.is_some();
            (!type_known || array == other_array) && (!from_known || from == other_from)
        }
        _ => false,
    }
}

/// `R2, R4 to R9`: what many names come to.
pub fn listed(names: &[String]) -> String {
    let number = |name: &String| name.strip_prefix('R')?.parse::<u64>().ok();
    let follow = |pair: &[String]| match (number(&pair[0]), number(&pair[1])) {
        (Some(a), Some(b)) => a.checked_add(1) == Some(b),
        _ => false,
    };
    let mut all = Vec::new();
    let mut rest = names;
    while let [first, ..] = rest {
        let row = 1 + rest.windows(2).take_while(|pair| follow(pair)).count();
        match row {
            0..3 => all.extend(rest[..row].iter().cloned()),
            _ => all.push(format!("{first} to {}", rest[row - 1])),
        }
        rest = &rest[row..];
    }
    all.join(", ")
}

/// The race that a hit shows, if the agent knew the location.
pub fn race_of(hit: &Hit) -> Option<finding::Race> {
    Some(finding::Race {
        detector: "racefuzzer".to_owned(),
        sites: None,
        location: hit.location.clone()?,
        accesses: [hit.first.clone(), hit.second.clone()],
        allocated: None,
        count: 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use findings::finding::AccessOp::{Read, Write};
    use findings::result::Status;

    fn frame(line: u32, bci: u32) -> Frame {
        Frame {
            class: "a.B".into(),
            method: "m".into(),
            desc: Some("()V".into()),
            file: Some("B.java".into()),
            line: Some(line),
            bci: Some(bci),
            jdk: None,
        }
    }

    fn access(op: AccessOp, thread: &str, frame: Frame) -> finding::Access {
        finding::Access {
            op,
            thread: finding::Thread {
                name: thread.into(),
                ..Default::default()
            },
            frame,
            stack: vec![],
            stack_exact: true,
            locks: None,
            holders: vec![],
        }
    }

    fn field(name: &str) -> Location {
        Location::Field {
            class: "a.B".into(),
            field: name.into(),
            is_static: false,
            jdk: None,
        }
    }

    fn hit(first: finding::Access, second: finding::Access, location: &str) -> Hit {
        Hit {
            step: 1,
            location: Some(field(location)),
            first,
            second,
        }
    }

    fn race(first: finding::Access, second: finding::Access) -> Race {
        let found = race_of(&hit(first, second, "x")).unwrap();
        findings::merge::race(found, Status::Potential)
    }

    #[test]
    fn rows_of_names_are_short() {
        let listed = |names: &str| {
            let names: Vec<String> = names.split(' ').map(Into::into).collect();
            listed(&names)
        };
        assert_eq!(listed("R1"), "R1");
        assert_eq!(listed("R1 R2 R4"), "R1, R2, R4");
        assert_eq!(listed("R2 R4 R5 R6 R9"), "R2, R4 to R6, R9");
        assert_eq!(listed("A.java:1,B.java:2 R7"), "A.java:1,B.java:2, R7");
    }

    #[test]
    fn a_hit_tells_who_went_first() {
        let (r, w) = (
            access(Read, "s", frame(3, 1)),
            access(Write, "t", frame(9, 4)),
        );
        let race = race(r.clone(), w.clone());
        let order = |a, b, x| order(&race, &hit(a, b, x)).map(|o| (o.first, o.symmetric));
        assert_eq!(order(r.clone(), w.clone(), "x"), Some((0, false)));
        assert_eq!(order(w.clone(), r.clone(), "x"), Some((1, false)));
        assert_eq!(order(w.clone(), r.clone(), "y"), None, "another field");
        assert_eq!(order(w.clone(), w.clone(), "x"), None, "a race with itself");
        let beside = access(Write, "t", frame(9, 5));
        assert_eq!(order(r.clone(), beside, "x"), None, "another instruction");
    }

    #[test]
    fn an_array_has_a_name_on_either_side() {
        let (r, w) = (
            access(Read, "s", frame(3, 1)),
            access(Write, "t", frame(9, 4)),
        );
        let named = |array: &str, from: &str| Location::Array {
            array: array.into(),
            index: Some(1),
            from: Some(from.to_owned().into()),
            jdk: None,
            allocated: None,
        };
        let mut race = race(r.clone(), w.clone());
        race.location = named("int[]", "parameter hashes");
        let met = |location: Location, bci: bool| {
            let mut met = hit(w.clone(), r.clone(), "x");
            met.location = Some(location);
            for access in [&mut met.first, &mut met.second] {
                access.frame.bci = access.frame.bci.filter(|_| bci);
            }
            order(&race, &met).map(|o| o.first)
        };
        assert_eq!(met(named("", "a.B.hashes()"), true), Some(1));
        assert_eq!(met(named("long[]", "a.B.hashes()"), true), None);
        assert_eq!(met(named("", "parameter hashes"), false), Some(1));
        assert_eq!(met(named("", "a.B.hashes()"), false), None, "maybe another");
    }

    #[test]
    fn two_instructions_of_one_line() {
        let (r, w) = (
            access(Read, "s", frame(3, 1)),
            access(Write, "t", frame(3, 4)),
        );
        let race = race(r.clone(), w.clone());
        let order = |a, b| order(&race, &hit(a, b, "x")).unwrap();
        assert_eq!(order(r.clone(), w.clone()).first, 0);
        assert_eq!(order(w, r).first, 1);
    }

    #[test]
    fn one_statement_in_two_threads() {
        let w = |thread: &str| access(Write, thread, frame(3, 4));
        let race = race(w("s"), w("t"));
        let order = |a, b| order(&race, &hit(a, b, "x")).unwrap();
        assert_eq!(
            order(w("s"), w("t")),
            Order {
                first: 0,
                symmetric: false
            }
        );
        assert_eq!(
            order(w("t"), w("s")),
            Order {
                first: 1,
                symmetric: false
            }
        );
        assert!(order(w("u"), w("v")).symmetric);
    }

    /// `x = x + 5` in one thread, `x = x + 17` in another.
    #[test]
    fn lines_that_read_and_write_have_six_orders() {
        let [r, w] = [(Read, 1), (Write, 4)].map(|(op, bci)| access(op, "s", frame(3, bci)));
        let [q, v] = [(Read, 11), (Write, 14)].map(|(op, bci)| access(op, "t", frame(9, bci)));
        let mut race = race(r.clone(), v.clone());
        let all = [&r, &w, &q, &v];
        race.statements = all.map(|access| access.frame.clone()).to_vec();
        let mut orders = AccessOrders::default();
        // Both trials that once passed for both orders: a write went first in each.
        for (first, second) in [(&w, &q), (&v, &r)] {
            orders.add(&hit(first.clone(), second.clone(), "x"));
        }
        assert!(!orders.are_complete(&race));
        for (first, second) in [(&q, &w), (&r, &v), (&w, &v)] {
            orders.add(&hit(first.clone(), second.clone(), "x"));
            assert!(!orders.are_complete(&race));
        }
        orders.add(&hit(v.clone(), w.clone(), "x"));
        assert!(orders.are_complete(&race));
    }

    #[test]
    fn one_instruction_in_two_threads_has_one_order() {
        let [s, t] = ["s", "t"].map(|thread| access(Write, thread, frame(3, 4)));
        let race = race(s.clone(), t.clone());
        let mut orders = AccessOrders::default();
        assert!(!orders.are_complete(&race), "nothing was seen");
        orders.add(&hit(s, t, "x"));
        assert!(orders.are_complete(&race));
    }

    #[test]
    fn all_statements_of_a_line_are_stopped_at() {
        let mut found = race(
            access(Read, "s", frame(3, 1)),
            access(Write, "t", frame(9, 4)),
        );
        found.statements = vec![frame(3, 1), frame(3, 2), frame(9, 4)];
        let [a, b] = sides(&found).unwrap();
        let text = |side: &[Statement]| side.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(text(&a), ["a/B#m#()V#1", "a/B#m#()V#2"]);
        assert_eq!(text(&b), ["a/B#m#()V#4"]);
        found.statements.clear();
        for access in &mut found.accesses {
            access.at.desc = None;
        }
        let [a, _] = sides(&found).unwrap();
        assert_eq!(text(&a), ["B.java:3"]);
        found.accesses[0].at.file = None;
        assert_eq!(sides(&found), None);
    }
}
