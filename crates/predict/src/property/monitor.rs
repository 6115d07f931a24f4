//! Monitors: a state, and what each event makes of it.
//!
//! A regular expression becomes a deterministic automaton: its places (of
//! Glushkov's construction) are bits, the states are the sets of places that
//! can be reached, and the letters are the combinations of names that events
//! of the trace have. A formula becomes a recurrence over the truth of its
//! parts, one bit each, innermost first (Havelund and Rosu: "Synthesizing
//! monitors for safety properties", TACAS 2002): what a part is now follows
//! from its own parts now and from the bits before.

use super::Rule;
use super::parse::{Formula, Regex};
use rustc_hash::FxHashMap;

/// A compiled property.
#[derive(Clone, Debug)]
pub struct Monitor(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Automaton {
        letters: FxHashMap<u64, usize>,
        /// By state and letter: the next state; 0 is where nothing matches any
        /// more.
        next: Vec<Vec<u32>>,
        accepts: Vec<bool>,
        start: u32,
    },
    /// By part, innermost first. The state has a bit for each that the next
    /// event asks for, and a last one that says that there was an event.
    Recurrence { parts: Vec<Part>, kept: State },
}

#[derive(Clone, Copy, Debug)]
enum Part {
    True,
    Event(u32),
    Not(u32),
    And(u32, u32),
    Or(u32, u32),
    Prev(u32),
    Since(u32, u32),
    Once(u32),
    Historically(u32),
}

/// A monitor's state: a number, or bits.
pub type State = u128;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    Go(State),
    Broken,
}

/// The places of an expression: up to so many; what is longer matches more
/// than it says, and the parser does not let it through.
const PLACES: usize = 127;
const PARTS: usize = 127;
/// States of an automaton.
const STATES: usize = 1 << 16;

impl Monitor {
    /// `letters` are the combinations of names that occur.
    pub fn new(rule: &Rule, letters: impl IntoIterator<Item = u64>) -> Monitor {
        match rule {
            Rule::Never(regex) => automaton(regex, letters),
            Rule::Always(formula) => {
                let mut parts = Vec::new();
                flatten(formula, &mut parts);
                let keep = |(n, part): (usize, &Part)| match part {
                    Part::Prev(a) => 1 << a,
                    Part::Since(..) | Part::Once(_) | Part::Historically(_) => 1 << n,
                    _ => 0,
                };
                let first = parts.iter().any(|p| matches!(p, Part::Historically(_)));
                let kept = parts.iter().enumerate().map(keep);
                let kept = kept.fold(State::from(first) << parts.len(), |all, bit| all | bit);
                Monitor(Kind::Recurrence { parts, kept })
            }
        }
    }

    pub fn start(&self) -> State {
        match &self.0 {
            Kind::Automaton { start, .. } => State::from(*start),
            Kind::Recurrence { .. } => 0,
        }
    }

    /// The next event, by its names.
    pub fn step(&self, state: State, names: u64) -> Verdict {
        match &self.0 {
            Kind::Automaton {
                letters,
                next,
                accepts,
                ..
            } => {
                let letter = letters.get(&names);
                let next = letter.and_then(|l| next.get(state as usize)?.get(*l));
                let next = next.copied().unwrap_or(0);
                if accepts[next as usize] {
                    Verdict::Broken
                } else {
                    Verdict::Go(State::from(next))
                }
            }
            Kind::Recurrence { parts, kept } => {
                let before = |part: u32| state >> part & 1 == 1;
                let first = state >> parts.len() & 1 == 0;
                let mut now: State = 1 << parts.len();
                for (n, part) in parts.iter().enumerate() {
                    let me = n as u32;
                    let is = |part: u32| now >> part & 1 == 1;
                    let holds = match *part {
                        Part::True => true,
                        Part::Event(event) => names >> event & 1 == 1,
                        Part::Not(a) => !is(a),
                        Part::And(a, b) => is(a) && is(b),
                        Part::Or(a, b) => is(a) || is(b),
                        Part::Prev(a) => before(a),
                        Part::Since(a, b) => is(b) || (is(a) && before(me)),
                        Part::Once(a) => is(a) || before(me),
                        Part::Historically(a) => is(a) && (first || before(me)),
                    };
                    now |= State::from(holds) << n;
                }
                match parts.len().checked_sub(1) {
                    Some(last) if now >> last & 1 == 0 => Verdict::Broken,
                    _ => Verdict::Go(now & kept),
                }
            }
        }
    }
}

/// Whether a rule can be compiled.
pub(super) fn fits(rule: &Rule) -> bool {
    match rule {
        Rule::Never(regex) => {
            let mut places = Places::default();
            places.add(regex);
            places.letters.len() < PLACES
        }
        Rule::Always(formula) => {
            let mut parts = Vec::new();
            flatten(formula, &mut parts);
            parts.len() <= PARTS
        }
    }
}

fn flatten(formula: &Formula, parts: &mut Vec<Part>) -> u32 {
    let part = match formula {
        Formula::True => Part::True,
        Formula::Event(event) => Part::Event(*event),
        Formula::Not(a) => Part::Not(flatten(a, parts)),
        Formula::And(a, b) => Part::And(flatten(a, parts), flatten(b, parts)),
        Formula::Or(a, b) => Part::Or(flatten(a, parts), flatten(b, parts)),
        Formula::Prev(a) => Part::Prev(flatten(a, parts)),
        Formula::Since(a, b) => Part::Since(flatten(a, parts), flatten(b, parts)),
        Formula::Once(a) => Part::Once(flatten(a, parts)),
        Formula::Historically(a) => Part::Historically(flatten(a, parts)),
    };
    parts.push(part);
    parts.len() as u32 - 1
}

/// The places of an expression: its letters, and which follow which.
#[derive(Default)]
struct Places {
    /// Names, and whether one of them is wanted or none.
    letters: Vec<(u64, bool)>,
    follow: Vec<State>,
}

/// Where a part of it may begin and end, and whether it may be empty.
#[derive(Clone, Copy)]
struct Ends {
    first: State,
    last: State,
    empty: bool,
}

impl Places {
    fn letter(&mut self, names: u64, wanted: bool) -> Ends {
        let place = 1u128 << self.letters.len().min(PLACES);
        self.letters.push((names, wanted));
        self.follow.push(0);
        Ends {
            first: place,
            last: place,
            empty: false,
        }
    }

    fn connect(&mut self, last: State, first: State) {
        for (n, follow) in self.follow.iter_mut().enumerate() {
            if last >> n.min(PLACES) & 1 == 1 {
                *follow |= first;
            }
        }
    }

    fn add(&mut self, regex: &Regex) -> Ends {
        let nothing = Ends {
            first: 0,
            last: 0,
            empty: true,
        };
        match regex {
            Regex::Empty => nothing,
            Regex::One(names) => self.letter(*names, true),
            Regex::Not(names) => self.letter(*names, false),
            Regex::Seq(list) => list.iter().fold(nothing, |before, part| {
                let part = self.add(part);
                self.connect(before.last, part.first);
                let or = |yes: bool, set: State| if yes { set } else { 0 };
                Ends {
                    first: before.first | or(before.empty, part.first),
                    last: part.last | or(part.empty, before.last),
                    empty: before.empty && part.empty,
                }
            }),
            Regex::Or(list) => {
                let ends: Vec<Ends> = list.iter().map(|part| self.add(part)).collect();
                Ends {
                    first: ends.iter().fold(0, |set, e| set | e.first),
                    last: ends.iter().fold(0, |set, e| set | e.last),
                    empty: ends.iter().any(|e| e.empty),
                }
            }
            Regex::Star(inner) => {
                let inner = self.add(inner);
                self.connect(inner.last, inner.first);
                Ends {
                    empty: true,
                    ..inner
                }
            }
        }
    }
}

fn automaton(regex: &Regex, letters: impl IntoIterator<Item = u64>) -> Monitor {
    let mut places = Places::default();
    let ends = places.add(regex);
    let mut known: Vec<u64> = letters.into_iter().collect();
    known.sort_unstable();
    known.dedup();
    // The places that a letter may lead to.
    let leads = |names: u64| {
        let list = places.letters.iter().enumerate();
        let fits = list.filter(|(_, (set, wanted))| (names & set != 0) == *wanted);
        fits.fold(0u128, |set, (n, _)| set | 1 << n.min(PLACES))
    };
    let leads: Vec<State> = known.iter().map(|names| leads(*names)).collect();

    // The first state is the hopeless one, the second the beginning.
    let mut sets: Vec<State> = vec![0, 0];
    let mut numbers: FxHashMap<State, u32> = FxHashMap::from_iter([(0, 0)]);
    let mut next: Vec<Vec<u32>> = vec![vec![0; known.len()]];
    let mut at = 1;
    while at < sets.len() {
        let reach = if at == 1 {
            ends.first
        } else {
            let follow = places.follow.iter().enumerate();
            let here = follow.filter(|(n, _)| sets[at] >> n & 1 == 1);
            here.fold(0, |set, (_, f)| set | f)
        };
        let row = leads.iter().map(|letter| {
            let set = reach & letter;
            *numbers.entry(set).or_insert_with(|| {
                // Beyond, nothing is matched: what is missed is no violation.
                if sets.len() >= STATES {
                    return 0;
                }
                sets.push(set);
                sets.len() as u32 - 1
            })
        });
        let row: Vec<u32> = row.collect();
        next.push(row);
        at += 1;
    }
    Monitor(Kind::Automaton {
        letters: known.into_iter().zip(0..).collect(),
        next,
        accepts: sets.iter().map(|set| set & ends.last != 0).collect(),
        start: 1,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::*;
    use proptest::prelude::*;

    /// Whether the word from `from` to `to` matches, by definition.
    fn matches(regex: &Regex, word: &[u64]) -> bool {
        match regex {
            Regex::Empty => word.is_empty(),
            Regex::One(names) => word.len() == 1 && word[0] & names != 0,
            Regex::Not(names) => word.len() == 1 && word[0] & names == 0,
            Regex::Or(list) => list.iter().any(|r| matches(r, word)),
            Regex::Seq(list) => match list.split_first() {
                None => word.is_empty(),
                Some((first, rest)) => (0..=word.len()).any(|n| {
                    matches(first, &word[..n]) && matches(&Regex::Seq(rest.to_vec()), &word[n..])
                }),
            },
            Regex::Star(inner) => {
                word.is_empty()
                    || (1..=word.len())
                        .any(|n| matches(inner, &word[..n]) && matches(regex, &word[n..]))
            }
        }
    }

    /// Whether the formula holds at the last event, by definition.
    fn holds(formula: &Formula, word: &[u64]) -> bool {
        let Some((now, before)) = word.split_last() else {
            return false;
        };
        let prefixes = |f: &Formula| {
            (1..=word.len())
                .map(|n| holds(f, &word[..n]))
                .collect::<Vec<_>>()
        };
        match formula {
            Formula::True => true,
            Formula::Event(n) => now >> n & 1 == 1,
            Formula::Not(a) => !holds(a, word),
            Formula::And(a, b) => holds(a, word) && holds(b, word),
            Formula::Or(a, b) => holds(a, word) || holds(b, word),
            Formula::Prev(a) => !before.is_empty() && holds(a, before),
            Formula::Once(a) => prefixes(a).contains(&true),
            Formula::Historically(a) => !prefixes(a).contains(&false),
            Formula::Since(a, b) => {
                let (a, b) = (prefixes(a), prefixes(b));
                (0..word.len()).any(|n| b[n] && a[n + 1..].iter().all(|a| *a))
            }
        }
    }

    fn regex() -> impl Strategy<Value = Regex> {
        let leaf = prop_oneof![
            Just(Regex::Empty),
            (1u64..8).prop_map(Regex::One),
            (0u64..8).prop_map(Regex::Not),
        ];
        leaf.prop_recursive(4, 16, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Regex::Seq),
                proptest::collection::vec(inner.clone(), 1..3).prop_map(Regex::Or),
                inner.prop_map(|r| Regex::Star(Box::new(r))),
            ]
        })
    }

    fn formula() -> impl Strategy<Value = Formula> {
        let leaf = prop_oneof![Just(Formula::True), (0u32..3).prop_map(Formula::Event)];
        leaf.prop_recursive(5, 20, 2, |inner| {
            let one =
                |f: fn(Box<Formula>) -> Formula| inner.clone().prop_map(move |a| f(Box::new(a)));
            let two = |f: fn(Box<Formula>, Box<Formula>) -> Formula| {
                (inner.clone(), inner.clone()).prop_map(move |(a, b)| f(Box::new(a), Box::new(b)))
            };
            prop_oneof![
                one(Formula::Not),
                one(Formula::Prev),
                one(Formula::Once),
                one(Formula::Historically),
                two(Formula::And),
                two(Formula::Or),
                two(Formula::Since),
            ]
        })
    }

    /// Where the monitor says no.
    fn broken(rule: &Rule, word: &[u64]) -> Option<usize> {
        let monitor = Monitor::new(rule, word.iter().copied());
        let mut state = monitor.start();
        word.iter()
            .position(|names| match monitor.step(state, *names) {
                Verdict::Broken => true,
                Verdict::Go(next) => {
                    state = next;
                    false
                }
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 4000,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn automata_do_what_expressions_mean(
            regex in regex(),
            word in proptest::collection::vec(1u64..8, 0..7),
        ) {
            let naive = (1..=word.len()).position(|n| matches(&regex, &word[..n]));
            let rule = Rule::Never(regex);
            prop_assume!(fits(&rule));
            prop_assert_eq!(broken(&rule, &word), naive);
        }

        #[test]
        fn recurrences_do_what_formulas_mean(
            formula in formula(),
            word in proptest::collection::vec(1u64..8, 0..8),
        ) {
            let naive = (1..=word.len()).position(|n| !holds(&formula, &word[..n]));
            prop_assert_eq!(broken(&Rule::Always(formula), &word), naive);
        }
    }

    #[test]
    fn what_does_not_fit_is_not_let_through() {
        let long = format!("event a = call A.a\nproperty p: never {}", "a ".repeat(400));
        let error = Spec::parse(&long).unwrap_err();
        assert!(error.what.contains("too long"), "{error}");
    }
}
