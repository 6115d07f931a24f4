//! FastTrack's slow path: what the bridge could not decide from two words and
//! a clock. The decision itself is crate `detect`'s, the same as offline; here
//! are the words, the class-initialisation rule applied to them, and the
//! report of what was found.

use crate::Agent;
use crate::jni::{Jni, Ref};
use crate::memory::{MAX_SLOTS, RawClock, Word, bridge_epoch};
use crate::sampling::Sampling;
use crate::stacks::{Frame, Stacks, type_name};
use crate::threads::Thread;
use contract::index;
use detect::{InitIntervals, Prior, Reads, variable};
use instrument::access::{self, AccessMode};
use instrument::{Level, SiteKind};
use order::{ClockView, Epoch, ReadSets, Stamp, Tid, VectorClock};
use protocol::finding::{self, Access, AccessOp, ArraySource, Line, Location, Race};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// What the slow path shares between threads.
#[derive(Default, Debug)]
pub struct Check {
    sets: ReadSets,
    inits: InitIntervals,
    /// What was seen of each pair of statements, in either order; those of the JDK by the
    /// calls that lead to them.
    pairs: FxHashMap<(u32, u32), PairSeen>,
    /// Of each pair of statements, in how many calls it was reported.
    reported: FxHashMap<(u32, u32), u32>,
    pub races: u64,
    /// Pairs inside the JDK that are called by code whose locks we do not see.
    pub unwatched: u64,
}

/// How often a pair of statements raced, since it was reported or before.
#[derive(Debug)]
enum PairSeen {
    Unwatched(u64),
    Reported(u64),
}

impl Default for PairSeen {
    fn default() -> PairSeen {
        PairSeen::Unwatched(0)
    }
}

/// Races of one pair of statements whose callers are looked at; beyond that ever
/// fewer.
const LOOKS: u64 = 64;
/// Pairs of calls for which one pair of statements of the JDK is reported.
const MOST_CALLS: u32 = 32;

impl Check {
    /// What was reported is reported again: another test begins.
    pub fn forget_reported(&mut self) {
        self.pairs.clear();
        self.reported.clear();
    }

    /// All that was comes before all that will be: another execution begins.
    pub fn restart(&mut self) {
        self.forget_reported();
        (self.races, self.unwatched) = (0, 0);
        self.inits = InitIntervals::default();
    }
}

/// One access, as the bridge asks about it.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    pub clock: RawClock,
    pub epoch: i64,
    pub w: u64,
    pub r: u64,
    pub site: u32,
    pub write: bool,
    pub owner: Ref<'a>,
    /// Element index; or see [`index`].
    pub index: i32,
}

/// Whose epochs these are cannot be told (see [`crate::threads`]).
fn one_of_several() -> finding::Thread {
    finding::Thread {
        name: "one of too many threads to tell apart".to_owned(),
        ..finding::Thread::default()
    }
}

impl Agent {
    /// Answers below the clock; whether there was no race.
    pub fn check(&self, jni: Jni, q: Query) -> bool {
        let my = Stamp::new(bridge_epoch(q.epoch), q.site);
        let w = match Word::unpack(q.w) {
            Word::Access(stamp) => stamp,
            Word::Set(_) => Stamp::NONE,
        };
        let r = match Word::unpack(q.r) {
            Word::Access(stamp) if stamp.epoch.is_none() => Reads::None,
            Word::Access(stamp) => Reads::One(stamp),
            Word::Set(set) => Reads::Shared(set),
        };
        let mut check = lock_soon(&self.check);
        let check = &mut *check;
        let mut step = loop {
            let step = if q.write {
                variable::write(w, r, &q.clock, my, &check.sets)
            } else {
                variable::read(w, r, &q.clock, my, &mut check.sets)
            };
            let Some(prior) = step.race else { break step };
            // Ordered after all, by the initialisation of a class?
            let Some(known) = check.inits.excuse(prior.stamp.epoch) else {
                break step;
            };
            let mut learnt = false;
            for (slot, clock) in known.iter() {
                if clock > q.clock.get(slot) {
                    q.clock.set(slot, clock as u32);
                    learnt = true;
                }
            }
            if !learnt {
                // Threads that share a slot: nobody can tell any more.
                break variable::Step { race: None, ..step };
            }
        };
        let reads = match step.r {
            Reads::None => Word::Access(Stamp::NONE),
            Reads::One(stamp) => Word::Access(stamp),
            Reads::Shared(set) => Word::Set(set),
        };
        q.clock.answer(Word::Access(step.w).pack(), reads.pack());
        // What has happened in an era is known while the era lasts.
        let is_known = |s: &Sampling| s.is_current(q.clock.era());
        if step.race.is_some() && !self.sampling.as_ref().is_none_or(is_known) {
            step.race = None;
        }
        let clean = step.race.is_none();
        if let Some(prior) = step
            .race
            .and_then(|p| self.conflicting(p, &q, r, &check.sets))
        {
            let pair = (prior.stamp.site.min(q.site), prior.stamp.site.max(q.site));
            let pair_seen = check.pairs.entry(pair).or_default();
            match pair_seen {
                PairSeen::Reported(count) => {
                    *count += 1;
                    if count.is_power_of_two() {
                        self.findings.write(Line::Count {
                            sites: [pair.0, pair.1].map(u64::from),
                            count: *count,
                        });
                    }
                }
                // The JDK's own use of its collections does not speak for the program's.
                PairSeen::Unwatched(times) => {
                    *times += 1;
                    let first = *times == 1;
                    let looks = *times <= LOOKS || times.is_power_of_two();
                    let statement = |site| self.sites.contexts.context(site).statement;
                    let (a, b) = (statement(pair.0), statement(pair.1));
                    let calls = check.reported.entry((a.min(b), a.max(b))).or_default();
                    if looks && *calls < MOST_CALLS && self.report(jni, &q, prior) {
                        *calls += 1;
                        check.races += 1;
                        *pair_seen = PairSeen::Reported(1);
                    } else if first {
                        check.unwatched += 1;
                    }
                }
            }
        }
        clean
    }

    /// The earlier access that this one conflicts with: two atomic accesses do
    /// not, so there may be another one behind the first.
    fn conflicting(&self, prior: Prior, q: &Query, r: Reads, sets: &ReadSets) -> Option<Prior> {
        if !self.is_atomic(q.site) || !self.is_atomic(prior.stamp.site) {
            return Some(prior);
        }
        let mut reads = variable::unordered_reads(r, &q.clock, sets).filter(|_| q.write);
        let plain = reads.find(|s| !self.is_atomic(s.site));
        plain.map(|stamp| Prior {
            stamp,
            write: false,
        })
    }

    fn is_atomic(&self, site: u32) -> bool {
        let mode = self.sites.with(site, |_, s| {
            let name = &s.target.as_ref()?.name;
            match s.kind {
                SiteKind::VarHandle => access::var_handle(name),
                SiteKind::Unsafe => access::raw(name),
                _ => None,
            }
        });
        mode.flatten().is_some_and(|a| a.mode != AccessMode::Plain)
    }

    /// Whether the code that calls into `java.util` here is watched. What the
    /// JDK does with its own collections behind locks that we do not see (class
    /// loading, method handles) is not for us to judge.
    pub fn is_watched(&self, stack: &[Frame]) -> bool {
        let caller = stack
            .iter()
            .filter(|f| !is_reflection(f) && !works_for_its_caller(f))
            .map(|f| {
                let class = f.class.replace('.', "/");
                let is_jdk = self.owners.is_jdk(&class);
                (is_jdk, self.policy.level_of(&class, Some(is_jdk)))
            })
            .find(|(is_jdk, level)| !(*is_jdk && *level == Level::Full));
        caller.is_none_or(|(is_jdk, level)| !is_jdk || level != Level::None)
    }

    /// A static initialiser begins. Which class does not matter: within a
    /// thread they end in reverse order.
    pub fn init_begin(&self, epoch: i64) {
        let mut check = self.check.lock().unwrap_or_else(|e| e.into_inner());
        check.inits.begin(0, bridge_epoch(epoch));
    }

    pub fn init_end(&self, clock: RawClock, epoch: i64) {
        let known = self.known(clock);
        let mut check = self.check.lock().unwrap_or_else(|e| e.into_inner());
        check.inits.end(0, bridge_epoch(epoch), known);
    }

    /// If the epoch lies in a static initialiser that has ended, what it did is known to who asks.
    pub fn learn_of_initialiser(&self, clock: RawClock, epoch: Epoch) {
        let check = self.check.lock().unwrap_or_else(|e| e.into_inner());
        for (slot, known) in { check.inits.excuse(epoch) }
            .into_iter()
            .flat_map(VectorClock::iter)
        {
            if known > clock.get(slot) {
                clock.set(slot, known as u32);
            }
        }
    }

    /// All that a thread knows, as it stands.
    pub fn known(&self, clock: RawClock) -> VectorClock {
        let threads = self.threads.lock().unwrap_or_else(|e| e.into_inner());
        let slots = threads.slot_count().min(MAX_SLOTS);
        (0..slots).map(|s| clock.get(s as Tid)).collect()
    }

    pub fn sample(&self, epoch: i64, site: u32, held: &str) {
        let mut stacks = self.stacks.lock().unwrap_or_else(|e| e.into_inner());
        let stack = self.at_statement(site, stacks.current(&self.jvmti));
        stacks.keep(site, bridge_epoch(epoch), stack, held);
    }

    /// Writes the race down; false if it is not the program's.
    fn report(&self, jni: Jni, q: &Query, prior: Prior) -> bool {
        let held = self.bridge.get().map(|b| b.held(jni)).unwrap_or_default();
        let mut stacks = self.stacks.lock().unwrap_or_else(|e| e.into_inner());
        let now = self.at_statement(q.site, stacks.current(&self.jvmti));
        let threads = self.threads.lock().unwrap_or_else(|e| e.into_inner());
        let then = stacks
            .of_access(prior.stamp.site, prior.stamp.epoch)
            .filter(|_| !threads.is_shared(prior.stamp.epoch));
        let other = then.map(|sample| &*sample.stack);
        if !self.is_watched(&now) || other.is_some_and(|s| !self.is_watched(s)) {
            return false;
        }
        let access =
            |op: bool, site: u32, thread: Option<&Thread>, stack: &[Frame], locks: Option<&str>| {
                Access {
                    op: AccessOp::new(op),
                    thread: thread.map_or_else(one_of_several, |t| self.told_thread(t)),
                    frame: { self.frame_of(site, stack) }
                        .map(|f| self.told_frame(&f))
                        .unwrap_or_default(),
                    stack: self.told(stack),
                    // Whoever knows the locks knows the stack.
                    stack_exact: locks.is_some(),
                    // Under a budget some were taken while nobody looked.
                    locks: { locks.filter(|_| self.sampling.is_none()) }
                        .map(|l| l.lines().map(str::to_owned).collect()),
                    holders: self.holders(site, stack),
                }
            };
        let Stamp { epoch: when, site } = prior.stamp;
        let who = threads.of_epoch(when);
        let first = match then {
            Some(sample) => access(prior.write, site, who, &sample.stack, Some(&*sample.locks)),
            None => access(prior.write, site, who, &self.way_to(site, &stacks), None),
        };
        let second = access(
            q.write,
            q.site,
            threads.get(q.clock.id()),
            &now,
            Some(held.as_str()),
        );
        self.findings.write(Line::Race(Box::new(Race {
            detector: self.options.mode.name().to_owned(),
            sites: Some([prior.stamp.site, q.site].map(u64::from)),
            location: self.location(jni, q, prior),
            allocated: self.allocation(jni, q),
            accesses: [first, second],
            count: 1,
        })));
        true
    }

    /// What is true of the stack in every execution of a statement: the statement itself; in the
    /// JDK also how the program's call leads there.
    fn way_to(&self, site: u32, stacks: &Stacks) -> Vec<Frame> {
        let call = self.sites.contexts.context(site).call;
        let (Some(statement), Some(call)) = (self.sites.frame(site), self.sites.frame(call)) else {
            return Vec::new();
        };
        let some = stacks.some(site).map_or(&[][..], |stack| stack);
        match some.iter().position(|f| is_same_method(f, &call)) {
            Some(at) => some.get(..=at).unwrap_or_default().to_vec(),
            None => vec![statement, call],
        }
    }

    /// The fields of the program's that hold what an access inside the JDK is about, as far
    /// as the call shows that led there.
    pub fn holders(&self, site: u32, stack: &[Frame]) -> Vec<Location> {
        self.holders_in(self.sites.contexts.context(site).call, stack)
    }

    /// The same for a call that is known, if it is the innermost one of the stack.
    pub fn holders_in(&self, call: u32, stack: &[Frame]) -> Vec<Location> {
        let own = stack.iter().find(|f| !self.owners.is_jdk(&f.class));
        let Some(frame) = self.sites.frame(call).filter(|_| call != 0) else {
            return Vec::new();
        };
        if !own.is_some_and(|own| is_same_method(own, &frame)) {
            return Vec::new();
        }
        let holders = self.sites.with(call, |_, site| {
            let holders = site.holders.iter();
            let told =
                holders.map(|h| self.field(type_name(&h.field.class), &h.field.name, h.is_static));
            told.collect()
        });
        holders.unwrap_or_default()
    }

    /// The stack with the statement on top: its check may come later in its method.
    fn at_statement(&self, site: u32, mut stack: Arc<[Frame]>) -> Arc<[Frame]> {
        if let Some(own) = self.sites.frame(site)
            && let Some(top) = Arc::make_mut(&mut stack).first_mut()
            && (&top.class, &top.method) == (&own.class, &own.method)
        {
            (top.line, top.bci) = (own.line, own.bci);
        }
        stack
    }

    /// The statement itself, or, if it is in the reflection machinery, the
    /// innermost statement of the stack that is not.
    pub fn frame_of(&self, site: u32, stack: &[Frame]) -> Option<Frame> {
        let own = self.sites.frame(site);
        match &own {
            Some(f) if is_reflection(f) => {
                stack.iter().find(|f| !is_reflection(f)).cloned().or(own)
            }
            _ => own,
        }
    }

    /// The location that two statements access, by the names in their class files:
    /// the class may inherit the field, and of an array the type is unknown.
    pub fn location_named_by(&self, sites: [u32; 2]) -> Option<Location> {
        let write = |site| self.sites.with(site, |_, s| s.kind == SiteKind::ElemWrite);
        let accesses = sites.map(|site| (site, write(site) == Some(true)));
        let from = self.array_named_by(accesses);
        self.sites.with(sites[0], |_, s| match &s.target {
            Some(target) if !s.kind.is_element() => {
                let statics = matches!(s.kind, SiteKind::StaticRead | SiteKind::StaticWrite);
                self.field(type_name(&target.class), &target.name, statics)
            }
            _ => self.element(None, None, from.as_deref()),
        })
    }

    /// Where the array comes from that statements read or write, if one of them says so:
    /// the field that holds it rather than a local variable.
    pub fn array_named_by(&self, accesses: [(u32, bool); 2]) -> Option<String> {
        let from = |(site, write): (u32, bool)| {
            let named = self
                .sites
                .with(site, |_, s| s.array(write).map(str::to_owned));
            named.flatten()
        };
        let is_local =
            |name: &&String| name.starts_with("parameter ") || name.starts_with("local ");
        let names: Vec<String> = accesses.into_iter().filter_map(from).collect();
        let held = names.iter().find(|name| !is_local(name));
        held.or(names.first()).cloned()
    }

    fn location(&self, jni: Jni, q: &Query, prior: Prior) -> Location {
        let class = if q.owner.is_null() {
            None
        } else {
            self.jvmti.class_signature(jni.class_of(q.owner))
        };
        if q.index >= 0 {
            let from = self.array_named_by([(q.site, q.write), (prior.stamp.site, prior.write)]);
            return self.element(
                class.as_deref(),
                u32::try_from(q.index).ok(),
                from.as_deref(),
            );
        }
        if q.index <= index::OFFSET {
            let statics = class.as_deref() == Some("Ljava/lang/Class;");
            let holder = if statics {
                q.owner
            } else {
                jni.class_of(q.owner)
            };
            let named = self.field_at(jni, holder, statics, i64::from(index::OFFSET - q.index));
            let (class, name) = named.unwrap_or_else(|| (class.unwrap_or_default(), "?".into()));
            return self.field(type_name(&class), &name, statics);
        }
        let named = self.sites.with(q.site, |_, s| {
            let statics = matches!(s.kind, SiteKind::StaticRead | SiteKind::StaticWrite);
            s.target.clone().map(|t| (statics, t))
        });
        let Some((statics, target)) = named.flatten() else {
            return self.field("?".into(), "?", false);
        };
        let declaring = if statics {
            self.static_owners
                .lock()
                .unwrap_or_else(|e| e.into_inner())
                .get(&self.sites.contexts.context(q.site).statement)
                .cloned()
        } else {
            self.declaring(jni, q.owner, &target)
        };
        let class = declaring.map_or_else(|| type_name(&target.class), |c| type_name(&c));
        self.field(class, &target.name, statics)
    }

    /// Where the object or array was made, if that was noticed.
    fn allocation(&self, jni: Jni, q: &Query) -> Option<finding::Frame> {
        if q.owner.is_null() {
            return None;
        }
        let site = self.bridge.get()?.allocation_site(jni, q.owner);
        let site = u32::try_from(site).ok().filter(|s| *s > 0)?;
        Some(self.told_frame(&self.sites.frame(site)?))
    }

    pub fn told_thread(&self, thread: &Thread) -> finding::Thread {
        finding::Thread {
            id: u64::from(thread.id),
            name: thread.name(),
            created: self.told(&thread.created),
            test: thread.test,
        }
    }

    pub fn field(&self, class: String, name: &str, is_static: bool) -> Location {
        Location::Field {
            jdk: finding::told_owner(&class, self.owners.is_jdk(&class)),
            class,
            field: name.to_owned(),
            is_static,
        }
    }

    /// An element of an array: its type as a signature, and what it was read from,
    /// as far as that is known.
    pub fn element(&self, class: Option<&str>, index: Option<u32>, from: Option<&str>) -> Location {
        let from = from.map(ArraySource::from);
        let owner = from.as_ref().and_then(ArraySource::class);
        Location::Array {
            array: class.map(type_name).unwrap_or_default(),
            index,
            jdk: owner.and_then(|c| finding::told_owner(c, self.owners.is_jdk(c))),
            from,
            allocated: None,
        }
    }
}

fn is_same_method(a: &Frame, b: &Frame) -> bool {
    (&a.class, &a.method) == (&b.class, &b.method)
}

/// Frames of `java.lang` in which a collection is gone through, or made a text, for whoever asked for it: `set.forEach(f)`,
/// `println(set)`, `"a" + set`. Their caller decides.
fn works_for_its_caller(frame: &Frame) -> bool {
    matches!(
        &*frame.class,
        "java.lang.Iterable"
            | "java.lang.String"
            | "java.lang.StringBuilder"
            | "java.lang.AbstractStringBuilder"
            | "java.lang.StringConcatHelper"
    )
}

/// Frames between a reflective access and the code that asked for it.
fn is_reflection(frame: &Frame) -> bool {
    [
        "jdk.internal.reflect.",
        "sun.reflect.",
        "java.lang.reflect.",
        "java.lang.invoke.LambdaForm$",
        "java.lang.invoke.DirectMethodHandle",
        "java.lang.invoke.Invokers$Holder",
    ]
    .iter()
    .any(|p| frame.class.starts_with(p))
}

/// Takes a lock that is held for a fraction of a microsecond: going to sleep
/// for it would cost more than the wait.
fn lock_soon<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    for _ in 0..200 {
        if let Ok(guard) = mutex.try_lock() {
            return guard;
        }
        std::hint::spin_loop();
    }
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}
