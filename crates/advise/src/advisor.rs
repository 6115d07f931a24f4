//! Advice from many paths: Figure 26 of JRF-E, race by race and path by path.
//!
//! For each race it is counted on how many of its paths each repair would have
//! helped; that is bounded by the program's text, so memory does not grow with
//! the number of paths, and they may come in any portions. Repairs of the racing
//! variable itself always hold. Those of sections 3.1.3, 3.1.5 and 3.1.6 hold if
//! every path offers them (the paper drops the others; here they are told with
//! their numbers). A lock holds if some path offers it and the side that has it
//! had it on every path: then, with the other side under it as well, the two can
//! never meet. The others are not told.
//!
//! A race may be seen in both orders. The paper counts only paths on which the
//! write came first (the others look harmless to `h`); here all count.

use crate::cover::cover;
use crate::path::{Path, access};
use crate::repair::{Kind, Name, Names, Repair, Sync, Variable, site};
use crate::suggest::{Suggestions, suggest};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use trace::Loc;

/// A race: two statements and what they both access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Race {
    pub variable: Variable,
    /// The statements, the smaller number first.
    pub sites: (u32, u32),
}

/// A repair for a race.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Suggestion {
    pub kind: Kind,
    pub repair: Repair,
    /// How many times, of those that the race was seen, it would have helped.
    pub helps: u64,
}

/// What is to be said of a race.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RaceAdvice {
    pub race: Race,
    /// How often it was seen.
    pub seen: u64,
    /// By kind.
    pub suggestions: Vec<Suggestion>,
}

impl RaceAdvice {
    /// Whether the suggestion holds on every path on which the race was seen.
    pub fn holds(&self, suggestion: &Suggestion) -> bool {
        suggestion.helps == self.seen
    }
}

/// A repair and how many races it removes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Ranked {
    pub repair: Repair,
    /// The races that it removes, as far as the paths tell.
    pub removes: Vec<Race>,
    /// Those that it removes on some of their paths.
    pub helps: Vec<Race>,
    /// It removes them for certain; see [`Kind::sufficient`].
    pub sufficient: bool,
}

/// Repairs that together remove all races.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RepairSet {
    pub repairs: Vec<Repair>,
    /// No smaller set of these repairs does it. Otherwise nobody knows.
    pub smallest: bool,
}

/// Everything.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Advice {
    pub races: Vec<RaceAdvice>,
    /// The best first.
    pub ranked: Vec<Ranked>,
    pub set: RepairSet,
}

/// What was learnt of a race.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Known {
    seen: u64,
    #[serde(with = "pairs")]
    repairs: BTreeMap<(Kind, Repair), u64>,
    /// What would have helped if acquired before the statement.
    #[serde(with = "pairs")]
    carriers: BTreeMap<(u32, Sync), u64>,
    sides: [Side; 2],
}

/// One of the two statements, and locks.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Side {
    /// Offered by some path, to put the statement under.
    offered: BTreeSet<Name>,
    /// Held on every path.
    holds: BTreeSet<Name>,
}

impl Known {
    /// `second` is the site of the manifest; `turned` if it is the smaller one.
    fn add(&mut self, new: Suggestions, second: u32, turned: bool) {
        for repair in new.repairs {
            *self.repairs.entry(repair).or_default() += 1;
        }
        for carrier in new.carriers {
            *self.carriers.entry((second, carrier)).or_default() += 1;
        }
        let mut told = [
            (new.manifest_took, new.source_holds),
            (new.source_gave, new.manifest_holds),
        ];
        if turned {
            told.swap(0, 1);
        }
        for (side, (offered, holds)) in self.sides.iter_mut().zip(told) {
            side.offered.extend(offered);
            if self.seen == 0 {
                side.holds = holds;
            } else {
                side.holds.retain(|lock| holds.contains(lock));
            }
        }
        self.seen += 1;
    }
}

/// Collects what paths tell, and gives advice at any time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Advisor {
    #[serde(with = "pairs")]
    races: BTreeMap<Race, Known>,
    /// Through what threads have come to know of writes of others: the
    /// acquiring history, of all paths.
    #[serde(with = "pairs")]
    history: BTreeMap<Variable, BTreeSet<Sync>>,
}

impl Advisor {
    pub fn new() -> Advisor {
        Advisor::default()
    }

    /// Takes in a path, with the pairs of events on it that race. A path
    /// without races is worth telling as well: it shows how accesses came to
    /// be ordered.
    pub fn add(&mut self, path: &Path<'_>, races: &[(usize, usize)], names: &dyn Names) {
        self.learn(path, names);
        for (source, manifest) in races {
            let (first, second) = (&path.events[*source], &path.events[*manifest]);
            let Some((loc, ..)) = access(first.op) else {
                continue;
            };
            let (a, b) = (site(first.site), site(second.site));
            let race = Race {
                variable: names.variable(loc),
                sites: (a.min(b), a.max(b)),
            };
            let new = suggest(path, names, *source, *manifest);
            self.races.entry(race).or_default().add(new, b, a > b);
        }
    }

    fn learn(&mut self, path: &Path<'_>, names: &dyn Names) {
        let mut written: FxHashMap<Loc, usize> = FxHashMap::default();
        for (n, e) in path.events.iter().enumerate() {
            let Some((loc, write, false)) = access(e.op) else {
                continue;
            };
            if let Some(last) = written.get(&loc)
                && path.events[*last].thread != e.thread
                && path.ordered(*last, n)
                && let Some(sync) = path.learnt(*last, n, names)
            {
                let known = self.history.entry(names.variable(loc)).or_default();
                known.insert(sync);
            }
            if write {
                written.insert(loc, n);
            }
        }
    }

    /// What to do, as far as is known.
    pub fn advice(&self) -> Advice {
        let all = self.races.iter();
        let races: Vec<RaceAdvice> = all.map(|(race, known)| self.advise(*race, known)).collect();
        let mut ranked: BTreeMap<Repair, Ranked> = BTreeMap::new();
        for advice in &races {
            for suggestion in &advice.suggestions {
                let entry = ranked.entry(suggestion.repair).or_insert_with(|| Ranked {
                    repair: suggestion.repair,
                    removes: Vec::new(),
                    helps: Vec::new(),
                    sufficient: true,
                });
                entry.sufficient &= suggestion.kind.sufficient();
                if advice.holds(suggestion) {
                    entry.removes.push(advice.race);
                } else {
                    entry.helps.push(advice.race);
                }
            }
        }
        let mut ranked: Vec<Ranked> = ranked.into_values().collect();
        ranked.sort_by_key(|r| {
            let most = |n: usize| std::cmp::Reverse(n);
            (most(r.removes.len()), !r.sufficient, most(r.helps.len()))
        });
        let set = smallest(&races, &ranked);
        Advice { races, ranked, set }
    }

    fn advise(&self, race: Race, known: &Known) -> RaceAdvice {
        let mut found = known.repairs.clone();
        let itself = match race.variable {
            Variable::Field(_) => Kind::Volatile,
            Variable::Array(_) => Kind::AtomicArray,
        };
        found.insert((itself, Repair::of_variable(race.variable)), known.seen);
        if itself == Kind::Volatile {
            let class = Repair::AtomicClass(race.variable);
            found.insert((Kind::AtomicClass, class), known.seen);
            let methods = Repair::Methods(race.variable);
            found.insert((Kind::SynchronizedMethods, methods), known.seen);
        }
        let others = self.history.get(&race.variable);
        for ((before, from), helps) in &known.carriers {
            if others.is_some_and(|others| others.contains(from)) {
                let repair = Repair::Acquire {
                    before: *before,
                    from: *from,
                };
                found.insert((Kind::SameAcquire, repair), *helps);
            }
        }
        let sites = [race.sites.0, race.sites.1];
        for (mine, other) in [(0, 1), (1, 0)] {
            let (mine, other, statement) = (&known.sides[mine], &known.sides[other], sites[mine]);
            for lock in mine.offered.intersection(&other.holds) {
                if !mine.holds.contains(lock) {
                    let repair = Repair::Synchronized {
                        statement,
                        lock: *lock,
                    };
                    found.insert((Kind::Synchronized, repair), known.seen);
                }
            }
        }
        let suggestion = |((kind, repair), helps)| Suggestion {
            kind,
            repair,
            helps,
        };
        RaceAdvice {
            race,
            seen: known.seen,
            suggestions: found.into_iter().map(suggestion).collect(),
        }
    }
}

/// The fewest repairs that are certain to remove all races.
fn smallest(races: &[RaceAdvice], ranked: &[Ranked]) -> RepairSet {
    let number = |race: &Race| races.iter().position(|r| r.race == *race);
    let certain: Vec<&Ranked> = ranked.iter().filter(|r| r.sufficient).collect();
    let removes: Vec<Vec<usize>> = certain
        .iter()
        .map(|r| r.removes.iter().filter_map(number).collect())
        .collect();
    let found = cover(races.len(), &removes);
    RepairSet {
        repairs: found.chosen.iter().map(|r| certain[*r].repair).collect(),
        smallest: found.smallest,
    }
}

/// Maps as lists of pairs: keys that are not strings, in any format.
mod pairs {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::collections::BTreeMap;

    pub fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        s: S,
    ) -> Result<S::Ok, S::Error> {
        s.collect_seq(map)
    }

    pub fn deserialize<'de, K, V, D>(d: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        let all = Vec::<(K, V)>::deserialize(d)?;
        Ok(all.into_iter().collect())
    }
}
