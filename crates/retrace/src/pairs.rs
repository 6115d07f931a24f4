//! From a look to an act: values that a thread read in one step and that decide, or make up, what it
//! writes to the same location in a later one.
//!
//! Two ways lead there. The value *flows*: it is in what is written, or in the arguments of the call
//! that writes. Or it *steers*: it is asked by one of the nearest decisions before the act, in the method of the act or
//! in that which called it. Decisions further out, and those that only might have
//! thrown, are left aside: they decide on everything. A loop's own condition steers calls of
//! methods in the table (`while (!queue.isEmpty()) queue.remove()`), but no plain write: a flag that ends a loop is
//! set in it.
//!
//! What takes its own look and acts on it in the same step (`putIfAbsent`, a compare-and-set) is no act here.

use crate::needs::{Need, Needs};
use crate::operate::{Operated, Steering, WHOLE};
use crate::operations::Kind;
use crate::program::Program;
use predict::atomicity::stale::{Flow, Others, Stale};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::tables::{Member, Site};
use trace::{Loc, LockId, ObjId, Op, SiteId};

/// Marks objects that are imaginary.
const IMAGINARY: u64 = 1 << 62;

/// Objects that belong together.
#[derive(Default)]
struct Union(FxHashMap<ObjId, ObjId>);

impl Union {
    fn find(&mut self, object: ObjId) -> ObjId {
        let mut root = object;
        while let Some(&up) = self.0.get(&root).filter(|up| **up != root) {
            root = up;
        }
        let mut at = object;
        while let Some(up) = self
            .0
            .insert(at, root)
            .filter(|up| *up != root && *up != at)
        {
            at = up;
        }
        root
    }

    fn join(&mut self, a: ObjId, b: ObjId) {
        let (a, b) = (self.find(a), self.find(b));
        self.0.insert(a.max(b), a.min(b));
    }
}

/// Gives the imaginary locks, variables and statements of all threads their names.
pub(crate) fn name(threads: &mut [&mut Needs], program: &Program<'_>) -> Vec<(SiteId, Site)> {
    let mut union = Union::default();
    for operated in threads.iter().flat_map(|needs| &needs.operations) {
        for pair in operated.objects.windows(2) {
            union.join(pair[0], pair[1]);
        }
    }
    // What takes no lock and knows no volatile is only as atomic as the locks around it.
    let mut safe: FxHashSet<ObjId> = FxHashSet::default();
    for operated in threads.iter().flat_map(|needs| &needs.operations) {
        if let Some(object) = operated.objects.first().filter(|_| operated.guards) {
            safe.insert(union.find(*object));
        }
    }
    let first = program
        .tables
        .sites
        .keys()
        .next_back()
        .map_or(0, |site| site.0);
    let mut known: FxHashMap<(u32, u32), SiteId> = FxHashMap::default();
    let mut sites = Vec::new();
    for needs in threads {
        let mut named = Vec::new();
        for operated in &needs.operations {
            let Some(object) = operated.objects.first() else {
                continue;
            };
            let object = union.find(*object);
            let is_safe = safe.contains(&object);
            let object = ObjId(object.0 | IMAGINARY);
            let site = known
                .entry((operated.method, operated.pc))
                .or_insert_with(|| {
                    let id = SiteId(first.saturating_add(1 + sites.len() as u32));
                    sites.extend(site(operated, program).map(|site| (id, site)));
                    id
                });
            named.push((
                operated.events,
                operated.acquire..=operated.release,
                *site,
                (object, is_safe),
            ));
        }
        for ((from, to), imaginary, site, (object, is_safe)) in named {
            for event in from..=to {
                let Some(out) = needs.out.get_mut(event as usize) else {
                    continue;
                };
                out.site = site;
                if !imaginary.contains(&event) {
                    continue;
                }
                let at = |loc: Loc| Loc { obj: object, ..loc };
                out.op = match out.op {
                    Op::Acquire(_) | Op::Release(_) if !is_safe => Op::Branch(0),
                    Op::Acquire(_) => Op::Acquire(LockId(object)),
                    Op::Release(_) => Op::Release(LockId(object)),
                    Op::Read(loc) => Op::Read(at(loc)),
                    Op::Write(loc) => Op::Write(at(loc)),
                    op => op,
                };
            }
        }
    }
    sites
}

/// The statement of a call.
fn site(operated: &Operated, program: &Program<'_>) -> Option<Site> {
    let method = program.methods.get(operated.method as usize)?;
    let start = program.tables.sites.get(&SiteId(method.site))?;
    let (class, name) = &operated.callee;
    Some(Site {
        bci: operated.pc,
        line: operated.line,
        kind: trace::tables::SiteKind::Other,
        target: Some(Member {
            class: class.as_str().into(),
            name: name.as_str().into(),
            desc: "".into(),
        }),
        array_from: None,
        call: None,
        ..start.clone()
    })
}

/// The pairs of one thread, by places in the completed trace.
pub(crate) fn find(needs: &Needs, places: &[u32], found: &mut Vec<Stale>) {
    let looks: FxHashMap<u32, (Kind, bool)> = { needs.operations.iter() }
        .map(|operated| (operated.read, (operated.kind, operated.somewhere)))
        .collect();
    let mut finder = Finder {
        needs,
        places,
        looks,
        found,
    };
    for operated in &needs.operations {
        finder.operation(operated);
    }
    for (write, steering) in &needs.steered {
        if needs.instead(*write).is_some() {
            continue;
        }
        let Some(out) = needs.out.get(*write as usize) else {
            continue;
        };
        let Some(loc) = location(out.op) else {
            continue;
        };
        let act = Act {
            event: *write,
            loc,
            others: Others::Any,
        };
        finder.flows(out.value, act);
        finder.steers(steering, act, false);
    }
}

/// What may act on something stale.
#[derive(Clone, Copy)]
struct Act {
    event: u32,
    loc: Loc,
    others: Others,
}

struct Finder<'n> {
    needs: &'n Needs,
    places: &'n [u32],
    /// Reads that are calls, and whether of some entry that nobody knows.
    looks: FxHashMap<u32, (Kind, bool)>,
    found: &'n mut Vec<Stale>,
}

impl Finder<'_> {
    fn operation(&mut self, operated: &Operated) {
        let others = match operated.kind {
            Kind::Put | Kind::Add | Kind::Update => Others::Any,
            Kind::Take | Kind::Rely => Others::Removals,
            Kind::Next => Others::Structural,
            Kind::Check | Kind::Remove | Kind::Try | Kind::Block => return,
        };
        // The act is what it writes, or sees.
        let acts = match operated.writes {
            0 => operated.read..operated.read + 1,
            n => operated.read + 1..operated.read + 1 + n,
        };
        for event in acts {
            let out = self.needs.out.get(event as usize);
            let Some(loc) = out.and_then(|out| location(out.op)) else {
                continue;
            };
            let act = Act { event, loc, others };
            self.flows(operated.given, act);
            // An iterator knows what its collection was.
            if operated.kind == Kind::Next {
                self.flows(operated.receiver, act);
            }
            self.steers(&operated.steering, act, true);
        }
    }

    fn flows(&mut self, value: Need, act: Act) {
        for look in self.looks_at(value, act) {
            self.push(look, act, Flow::Value);
        }
    }

    /// Of looks by one statement the last decided: a thread that waits for its turn looks many times, and
    /// what it saw before has no say any more. A loop's own condition counts where `loops` says so.
    fn steers(&mut self, steering: &Steering, act: Act, loops: bool) {
        let mut all: Vec<(u32, bool)> = Vec::new();
        for (asked, again) in steering {
            let looks = self.looks_at(*asked, act);
            all.extend(looks.into_iter().map(|look| (look, *again)));
        }
        let what = |look: u32| {
            let out = self.needs.out.get(look as usize);
            out.map(|out| (out.site, location(out.op)))
        };
        let last = |look: u32| {
            all.iter()
                .all(|(l, _)| *l <= look || what(*l) != what(look))
        };
        let kept: Vec<u32> = { all.iter() }
            .filter(|(look, again)| last(*look) && (loops || !again))
            .map(|(look, _)| *look)
            .collect();
        for look in kept {
            self.push(look, act, Flow::Decision);
        }
    }

    /// The looks, at what is acted on, whose values a need names.
    fn looks_at(&self, need: Need, act: Act) -> Vec<u32> {
        let reads = self.needs.reads(need).into_iter();
        let looks = reads.filter(|read| *read < act.event).filter(|read| {
            let Some(out) = self.needs.out.get(*read as usize) else {
                return false;
            };
            let known = self.looks.get(read);
            let seen = location(out.op);
            let somewhere = known.is_some_and(|(_, somewhere)| *somewhere);
            let same = seen == Some(act.loc)
                || somewhere && seen.is_some_and(|seen| seen.obj == act.loc.obj);
            // What looked and acted in one is no look.
            same && matches!(out.op, Op::Read(_) | Op::AtomicRead(..))
                && known.is_none_or(|(kind, _)| kind.looks())
        });
        looks.collect()
    }

    fn push(&mut self, look: u32, act: Act, flow: Flow) {
        let place = |event: u32| self.places[event as usize];
        let stale = Stale {
            read: place(look),
            act: place(act.event),
            flow,
            others: act.others,
        };
        self.found.push(stale);
    }
}

fn location(op: Op) -> Option<Loc> {
    match op {
        Op::Read(loc) | Op::Write(loc) | Op::AtomicRead(loc, _) | Op::AtomicWrite(loc, _) => {
            Some(loc)
        }
        _ => None,
    }
}

/// Whether a location is that of an imaginary variable.
pub fn is_imaginary(loc: Loc) -> bool {
    loc.obj.0 & IMAGINARY != 0 && loc.slot >= WHOLE
}
