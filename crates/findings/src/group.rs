//! One finding for what one repair mends.
//!
//! A detector sees pairs of accesses. Somebody who repairs them sees a field without a
//! lock, an array, or an object of the JDK that threads share: one `HashMap` makes dozens
//! of pairs inside `java.util`. So races are grouped by their *owner*:
//!
//! 1. A field of the program's owns the races on it. A field that holds an array owns
//!    the races on its elements.
//! 2. A field owns the races inside an object of the JDK if the calls that led to both
//!    accesses are about what was read from it, or one of them is and of the other that is
//!    unknown ([`Access::holders`]). If the two disagree, it is one object that two fields
//!    hold; the first by name stands for both.
//! 3. What remains has places in common: calls into the JDK that are about no known field,
//!    or where an array was allocated. Races that share one are one finding, and belong to
//!    the owner of other races at these places if that is only one.
//!
//! The grouping is a pure function of the set of races: their order decides only which race
//! leads its group, and with that what is shown first. Two objects that are used by the
//! same two statements, and by no other, are one finding: nothing tells them apart.
//!
//! In memory a report has all races side by side. JSON has one entry for each finding, the
//! leading race with the others inside it ([`fold`], [`unfold`]); renderers ask [`findings`].

use crate::finding::{ArraySource, Frame, Location};
use crate::result::{Access, Race};
use crate::suppress::{array_type, name};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Races that one repair mends.
#[derive(Clone, Debug)]
pub struct Finding<'r> {
    /// The race that leads.
    pub race: &'r Race,
    /// All others.
    pub members: Vec<&'r Race>,
    /// What a person would repair: `Class.field`, or words where no field is known.
    pub owner: String,
    /// The field, where the race is about what it holds.
    holder: Option<Location>,
}

impl<'r> Finding<'r> {
    /// What it is a race on, for people: a field of the program's rather than one inside of
    /// what it holds.
    pub fn location(&self) -> &Location {
        self.holder.as_ref().unwrap_or(&self.race.location)
    }

    /// The same in a word; never a field of the JDK's that a call of the program led to.
    pub fn name(&self) -> String {
        match self.is_unnamed() {
            true => self.owner.clone(),
            false => name(self.location()),
        }
    }

    /// Whether it is a race `on` the location, or `inside` of what it holds.
    pub fn preposition(&self) -> &'static str {
        match self.is_inside() {
            true => "inside",
            false => "on",
        }
    }

    /// Nobody knows a field that holds the object whose inside it is about.
    pub fn is_unnamed(&self) -> bool {
        self.is_inside() && self.holder.is_none()
    }

    /// Whether the accesses are to the inside of an object of the JDK's.
    pub fn is_inside(&self) -> bool {
        is_inside(self.race)
    }

    /// The two statements of the program's.
    pub fn statements(&self) -> [&'r Frame; 2] {
        self.race.accesses.each_ref().map(own_statement)
    }

    /// The leading race, then the others.
    pub fn all(&self) -> impl Iterator<Item = &'r Race> + use<'_, 'r> {
        [self.race].into_iter().chain(self.members.iter().copied())
    }
}

/// The findings of a report's races, in the order of the races that lead them.
pub fn findings(races: &[Race]) -> Vec<Finding<'_>> {
    let owners = owners(races);
    let mut places: HashMap<&Owner, usize> = HashMap::new();
    let mut all: Vec<Finding<'_>> = Vec::new();
    for (race, owner) in races.iter().zip(&owners) {
        match places.get(owner) {
            Some(at) => all[*at].members.push(race),
            None => {
                places.insert(owner, all.len());
                all.push(Finding {
                    race,
                    members: Vec::new(),
                    owner: owner.to_string(),
                    holder: None,
                });
            }
        }
    }
    for found in &mut all {
        // The leading race may not know it.
        let holder = found.all().find_map(holder);
        found.holder = holder;
    }
    all
}

/// For an access inside the JDK the program's call that led there, where it is known.
pub fn own_call(access: &Access) -> Option<&Frame> {
    let mut stack = access.stack.iter();
    is_foreign(&access.at)
        .then(|| stack.find(|frame| !is_foreign(frame)))
        .flatten()
}

/// The program's statement, as far as it is known.
pub fn own_statement(access: &Access) -> &Frame {
    own_call(access).unwrap_or(&access.at)
}

/// Frames that are not the reader's: the JDK's, and the classes it makes for lambdas.
pub fn is_foreign(frame: &Frame) -> bool {
    frame.is_jdk() || is_lambda(frame)
}

/// A class that the JDK made for a lambda.
pub fn is_lambda(frame: &Frame) -> bool {
    frame.file.is_none() && frame.class.contains("$$Lambda")
}

/// Whether a race is on data of the JDK's.
pub fn is_inside(race: &Race) -> bool {
    match &race.location {
        Location::Array {
            from: Some(ArraySource::Field(_)),
            ..
        }
        | Location::Field { .. } => race.location.is_jdk() == Some(true),
        // Its name says nothing, but an array that only the JDK touches is the JDK's.
        Location::Array { .. } => race.accesses.iter().all(|access| access.at.is_jdk()),
    }
}

/// The field of the program's that holds what a race inside the JDK is about.
pub fn holder(race: &Race) -> Option<Location> {
    if !is_inside(race) {
        return None;
    }
    let [a, b] = race.accesses.each_ref().map(|access| &access.holders);
    let common = a.iter().find(|holder| b.contains(holder));
    let either = || {
        a.first()
            .into_iter()
            .chain(b.first())
            .min_by_key(|h| name(h))
    };
    common.or_else(either).cloned()
}

/// What a race is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Owner {
    /// A field itself: `Class.field`.
    Field(String),
    /// What a field holds.
    Content(String),
    /// No field is known: what it is, and the first place in common.
    Unnamed(String, Place),
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Owner::Field(name) | Owner::Content(name) => f.write_str(name),
            Owner::Unnamed(what, Place { class, method, .. }) if class.is_empty() => {
                write!(f, "{what}{method}")
            }
            Owner::Unnamed(what, Place { class, method, .. }) => {
                write!(f, "{what} in {class}.{method}")
            }
        }
    }
}

/// A place that races on one object have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Place {
    class: String,
    method: String,
    line: Option<u32>,
}

impl Place {
    fn new(frame: &Frame) -> Place {
        Place {
            class: frame.class.clone(),
            method: frame.method.clone(),
            line: frame.line.or(frame.bci),
        }
    }

    /// Of a race of which no place is known.
    fn nowhere(race: &Race) -> Place {
        Place {
            class: String::new(),
            method: format!(" {}", name(&race.location)),
            line: None,
        }
    }
}

/// The owner that a race names itself.
fn named(race: &Race) -> Option<Owner> {
    if is_inside(race) {
        return holder(race).map(|field| Owner::Content(name(&field)));
    }
    match &race.location {
        Location::Field { .. } => Some(Owner::Field(name(&race.location))),
        Location::Array {
            from: Some(ArraySource::Field(field)),
            ..
        } => Some(Owner::Content(field.trim_end_matches("[]").to_owned())),
        Location::Array { .. } => None,
    }
}

/// Where races may meet others on the same object.
fn places(race: &Race) -> Vec<Place> {
    let accesses = race.accesses.iter();
    let mut places: Vec<Place> = if is_inside(race) {
        let nameless = accesses.filter(|access| access.holders.is_empty());
        nameless.filter_map(own_call).map(Place::new).collect()
    } else {
        match &race.location {
            Location::Field { .. } => Vec::new(),
            Location::Array {
                allocated: Some(at),
                ..
            } => vec![Place::new(at)],
            Location::Array { .. } => accesses.map(|access| Place::new(&access.at)).collect(),
        }
    };
    if places.is_empty() {
        places.push(Place::nowhere(race));
    }
    places
}

/// What an object is that no field is known to hold.
fn kind(race: &Race) -> String {
    if !is_inside(race) {
        return match &race.location {
            Location::Array { array, .. } => array_type(array).to_owned(),
            field => name(field),
        };
    }
    // The class that the program called.
    let called = race.accesses.iter().filter_map(|access| {
        let own = access.stack.iter().position(|frame| !is_foreign(frame))?;
        let callee = access.stack.get(own.checked_sub(1)?)?;
        Some(callee.class.as_str())
    });
    match called.min() {
        Some(class) => format!("a {}", class.split('$').next().unwrap_or(class)),
        None => "an object of the JDK".to_owned(),
    }
}

/// By race, its owner.
fn owners(races: &[Race]) -> Vec<Owner> {
    let named: Vec<Option<Owner>> = races.iter().map(named).collect();
    let mut sets = Sets::default();
    let mut numbers: BTreeMap<Place, usize> = BTreeMap::new();
    let mut known: BTreeMap<usize, BTreeSet<&Owner>> = BTreeMap::new();
    // Places of races without an owner belong together.
    let spots: Vec<Vec<usize>> = races
        .iter()
        .map(|race| {
            let places = places(race).into_iter();
            let number = |place| *numbers.entry(place).or_insert_with(|| sets.add());
            places.map(number).collect()
        })
        .collect();
    for (spots, owner) in spots.iter().zip(&named) {
        if let ([first, rest @ ..], None) = (&spots[..], owner) {
            rest.iter().for_each(|other| sets.join(*first, *other));
        }
    }
    for (spots, owner) in spots.iter().zip(&named) {
        for spot in spots {
            known.entry(sets.root(*spot)).or_default().extend(owner);
        }
    }
    let place_of: BTreeMap<usize, &Place> = {
        let mut first = BTreeMap::new();
        for (place, spot) in &numbers {
            first.entry(sets.root(*spot)).or_insert(place);
        }
        first
    };
    // One word for all races of a set.
    let mut kinds: BTreeMap<usize, String> = BTreeMap::new();
    for ((race, spots), owner) in races.iter().zip(&spots).zip(&named) {
        if let (Some(spot), None) = (spots.first(), owner) {
            let this = kind(race);
            let kind = kinds
                .entry(sets.root(*spot))
                .or_insert_with(|| this.clone());
            *kind = this.min(std::mem::take(kind));
        }
    }
    let unnamed = |spots: &[usize]| {
        let root = spots.first().map(|spot| sets.root(*spot))?;
        let owners = known.get(&root)?;
        match owners.iter().collect::<Vec<_>>()[..] {
            [one] => Some((**one).clone()),
            _ => Some(Owner::Unnamed(
                kinds.get(&root)?.clone(),
                (*place_of.get(&root)?).clone(),
            )),
        }
    };
    let owners = named.iter().zip(&spots).zip(races);
    owners
        .map(|((named, spots), race)| {
            let owner = named.clone().or_else(|| unnamed(spots));
            owner.unwrap_or_else(|| Owner::Unnamed(kind(race), Place::nowhere(race)))
        })
        .collect()
}

/// Disjoint sets of numbers.
#[derive(Debug, Default)]
struct Sets {
    parents: Vec<usize>,
}

impl Sets {
    fn add(&mut self) -> usize {
        self.parents.push(self.parents.len());
        self.parents.len() - 1
    }

    fn root(&self, mut at: usize) -> usize {
        while self.parents[at] != at {
            at = self.parents[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        // The smaller number is the root: equal sets have equal roots.
        self.parents[a.max(b)] = a.min(b);
    }
}

/// What the leading race of several has besides itself in JSON; also one alone that is about
/// the inside of something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// What a person would repair: `Class.field`, or words where no field is known.
    pub owner: String,
    /// What the two accesses of the leading race are to, if the location is the field that
    /// holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<Location>,
    /// The other races, whole.
    #[serde(default)]
    pub members: Vec<Race>,
}

/// A finding in JSON.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Folded<'r> {
    #[serde(flatten)]
    race: Cow<'r, Race>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<Group>,
}

/// Writes races as findings.
pub fn fold<S: Serializer>(races: &[Race], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(findings(races).into_iter().map(|finding| {
        let unnamed = finding.is_unnamed();
        let Finding {
            race,
            members,
            owner,
            holder,
        } = finding;
        if members.is_empty() && holder.is_none() && !unnamed {
            return Folded {
                race: Cow::Borrowed(race),
                group: None,
            };
        }
        let mut leading = Cow::Borrowed(race);
        let inside = holder.map(|field| std::mem::replace(&mut leading.to_mut().location, field));
        let group = Group {
            owner,
            inside,
            members: members.into_iter().cloned().collect(),
        };
        Folded {
            race: leading,
            group: Some(group),
        }
    }))
}

/// Reads findings as races, in the order of reports.
pub fn unfold<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Race>, D::Error> {
    let folded: Vec<Folded<'static>> = Vec::deserialize(deserializer)?;
    let mut races = Vec::with_capacity(folded.len());
    let mut grouped = false;
    for Folded { race, group } in folded {
        let mut race = race.into_owned();
        let Some(group) = group else {
            races.push(race);
            continue;
        };
        if let Some(inside) = group.inside {
            race.location = inside;
        }
        races.push(race);
        races.extend(group.members);
        grouped = true;
    }
    if grouped {
        crate::merge::rank_all(&mut races);
    }
    Ok(races)
}
