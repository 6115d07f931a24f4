//! The controlled run: exactly one of the program's threads runs at a time, and
//! a strategy says which (crate `schedule`; `SchedulerState` there is what is known of
//! each thread, this is how they are made to obey).
//!
//! | module | holds |
//! |---|---|
//! | `place` | a thread's place: where it waits for its turn |
//! | `points` | the running thread is about to do something; it may be another's turn |
//! | `callers` | points that are not the program's |
//! | `life` | threads begin and end |
//! | `blocking` | the JDK's natives that block, done here in virtual time |
//! | `exploring` | what is a step of its own when all schedules are explored |
//! | `naming` | names of objects that are the same in equivalent executions |
//! | `worker`, `stub`, `printed` | execution after execution in one JVM |
//! | `outside` | natives that block elsewhere, monitors that the JVM hands out |
//! | `weak` | reads that may see older writes |
//! | `watch` | a thread that is stuck where nobody can stop it |
//! | `ending` | deadlocks, livelocks and limits: what is said, and the end |
//! | `journal` | the schedule log as it is written |
//!
//! Who has the turn is in `SchedulerState` alone, under one lock that is held for a
//! decision only. A thread gives the turn away by telling the next one's place,
//! and never touches the program again before its own turn comes.

pub mod blocking;
mod callers;
mod caught;
mod ending;
mod exploring;
mod journal;
pub mod life;
mod naming;
pub mod outside;
mod place;
mod points;
mod printed;
mod settings;
mod stub;
mod watch;
mod weak;
mod worker;

pub use callers::{Whose, whose};
pub use place::{Place, Processors};
pub use settings::Settings;
pub use weak::Access;

use crate::Agent;
use crate::jni::{Field, Jni, Object, Ref};
use crate::memory::RawClock;
use callers::Callers;
use contract::choice;
use instrument::{THREAD_DESC, THREAD_FIELD};
use journal::Journal;
use protocol::RunEnd;
use protocol::control::{Cause, ControlSummary, Delay, Uncontrolled};
use protocol::finding::Line;
use rustc_hash::{FxHashMap, FxHashSet};
use schedule::may_trigger::{Counts, Peer, Plan};
use schedule::{Fact, Kind, Next, SchedulerState, Status, Thread, Trail, Why};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock};

/// How long threads outside control may take to wake somebody before nobody
/// being able to run is called a deadlock.
const GRACE_MS: u64 = 300;
/// The same in a worker where there are no threads outside control.
const HASTE_MS: u64 = 10;

#[derive(Debug)]
pub struct Control {
    settings: Settings,
    state: Mutex<State>,
    /// By thread.
    places: RwLock<Vec<&'static Place>>,
    /// What points have to decide, see `publish`; compiled code reads it.
    choice: AtomicI32,
    /// Goes up with everything that happens here.
    beat: AtomicU64,
    /// Virtual nanoseconds, for threads that do not have the turn.
    now: AtomicU64,
    /// A thread that has said that it ends, and is perhaps not seen to be dead.
    leaving: AtomicPtr<Place>,
    fields: OnceLock<Fields>,
    /// The VM is up and main is controlled.
    is_running: AtomicBool,
    /// The run is being ended; nobody is given a turn any more.
    is_over: AtomicBool,
    collecting: AtomicBool,
    named: Mutex<Vec<String>>,
    callers: Callers,
    told: caught::Told,
    processors: Processors,
    names: naming::Names,
    /// Executions follow one another here.
    worker: Option<worker::Worker>,
}

#[derive(Debug)]
struct State {
    world: SchedulerState,
    seed: u64,
    journal: Journal,
    hits: u64,
    /// Which variant of the worker's executions this is.
    variant: usize,
    /// Target sites that have come to a point, and what they do; none if they are targets
    /// of other executions.
    targets: FxHashMap<u32, Option<Kind>>,
    /// Sides of the pair that have, as bits.
    reached: u8,
    /// Processes that the program has started and whose end nobody awaits yet.
    forked: FxHashSet<i64>,
    weak: weak::Weak,
}

impl State {
    fn new(world: SchedulerState, journal: Journal, seed: u64) -> State {
        State {
            world,
            seed,
            journal,
            hits: 0,
            variant: 0,
            targets: FxHashMap::default(),
            reached: 0,
            forked: FxHashSet::default(),
            weak: weak::Weak::default(),
        }
    }
}

/// Fields that are read and written from here.
#[derive(Debug)]
struct Fields {
    pf: Of<Object>,
    place: Of<i32>,
    quiet: Of<i32>,
    unwatched: Of<i32>,
    linking: Of<i32>,
    clock: Of<i64>,
    interrupted: Of<bool>,
    /// What has the status, if that is not the thread itself.
    holder: Option<Of<Object>>,
    status: Of<i32>,
    call: Of<i32>,
    structure: Of<i64>,
    /// What the program has for exceptions of this thread.
    handler: Option<Of<Object>>,
    /// java.lang.Thread itself.
    thread: Ref<'static>,
}

/// A field of a class that is never unloaded.
type Of<T> = Field<'static, T>;

/// Fields of PhotofinishThread among them: ints, and a long.
pub(crate) const INTS_OF_THREADS: [&str; 5] = ["place", "quiet", "unwatched", "linking", "call"];
pub(crate) const CLOCK_OF_THREADS: &str = "clock";

// SAFETY: field ids, and the global references that their classes are known by,
// are good in every thread.
unsafe impl Send for Fields {}
// SAFETY: as for Send; nothing changes them.
unsafe impl Sync for Fields {}

impl Control {
    pub fn new(mut settings: Settings, plan: Option<Arc<Plan>>) -> Result<Control, String> {
        let strategy = settings.strategy(plan)?;
        let mut world = SchedulerState::new(strategy, settings.seed, settings.max_steps);
        world.wake_spuriously(settings.spurious);
        if settings.tells() {
            world.tell_ready();
        }
        let journal = match settings.is_worker() {
            true => Journal::none(),
            false => Journal::create(&settings)?,
        };
        let worker = settings.is_worker().then(worker::Worker::default);
        Ok(Control {
            state: Mutex::new(State::new(world, journal, settings.seed)),
            processors: Processors::of_the_jvm(),
            settings,
            places: RwLock::default(),
            choice: AtomicI32::new(0),
            beat: AtomicU64::new(0),
            now: AtomicU64::new(0),
            leaving: AtomicPtr::default(),
            fields: OnceLock::new(),
            is_running: AtomicBool::new(false),
            // A worker has nothing to do yet.
            is_over: AtomicBool::new(worker.is_some()),
            worker,
            collecting: AtomicBool::new(false),
            named: Mutex::default(),
            callers: Callers::default(),
            told: caught::Told::default(),
            names: naming::Names::default(),
        })
    }

    pub fn targets(&self) -> &instrument::Control {
        &self.settings.targets
    }

    /// Where the program's threads run.
    pub fn processors(&self) -> &Processors {
        &self.processors
    }

    pub fn choice_address(&self) -> i64 {
        self.choice.as_ptr() as i64
    }

    /// Once the VM is up: the fields that we need to know.
    pub fn look_up(&self, jni: Jni) -> bool {
        let class = |name: &str| Some(jni.global(jni.find_class(name))?.leak());
        let find = || {
            let thread = class("java/lang/Thread")?;
            let ours = class("java/lang/PhotofinishThread")?;
            // In JDK 19 and later it is in an object of its own.
            let holder = jni.reference_field(thread, "holder", "Ljava/lang/Thread$FieldHolder;");
            let has_status = match holder {
                Some(_) => class("java/lang/Thread$FieldHolder")?,
                None => thread,
            };
            let ints = INTS_OF_THREADS.map(|name| jni.field(ours, name));
            let [place, quiet, unwatched, linking, call] = ints;
            Some(Fields {
                pf: jni.reference_field(thread, THREAD_FIELD, THREAD_DESC)?,
                place: place?,
                quiet: quiet?,
                unwatched: unwatched?,
                linking: linking?,
                call: call?,
                clock: jni.field(ours, CLOCK_OF_THREADS)?,
                interrupted: jni.field(thread, "interrupted")?,
                holder,
                status: jni.field(has_status, "threadStatus")?,
                structure: jni.field(thread, "eetop")?,
                handler: jni.reference_field(
                    thread,
                    "uncaughtExceptionHandler",
                    "Ljava/lang/Thread$UncaughtExceptionHandler;",
                ),
                thread,
            })
        };
        match find() {
            Some(fields) => self.fields.set(fields).is_ok(),
            None => false,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.beat.fetch_add(1, Ordering::Relaxed);
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn place(&self, thread: Thread) -> Option<&'static Place> {
        let places = self.places.read().unwrap_or_else(|e| e.into_inner());
        places.get(thread as usize).copied()
    }

    /// Whether the object is a controlled thread that has ended.
    fn has_ended(&self, jni: Jni, o: Ref) -> bool {
        let place = self.place_of(jni, o);
        place.is_some_and(|p| p.is_gone.load(Ordering::Acquire))
    }

    /// The place of a thread, if it is controlled; of what is no thread there is none.
    fn place_of(&self, jni: Jni, thread: Ref) -> Option<&'static Place> {
        let f = self.fields.get()?;
        if !jni.is_instance(thread, f.thread) {
            return None;
        }
        let pf = jni.object_field(thread, f.pf);
        if pf.is_null() {
            return None;
        }
        let number = jni.int_field(pf.get(), f.place);
        self.place(u32::try_from(number).ok()?.checked_sub(1)?)
    }

    /// Asks the world, writes down what it decided, and hands over to whom it
    /// names: `ask` gets the state and answers what is to happen. Returns when it
    /// is this thread's turn.
    fn decide(
        &self,
        a: &Agent,
        jni: Jni,
        me: &'static Place,
        ask: impl FnOnce(&mut SchedulerState) -> Next,
    ) {
        if self.settings.log.is_some() {
            me.call.store(self.call(jni, me), Ordering::Relaxed);
        }
        let next = self.ask(a, ask);
        self.hand_over(a, jni, me, next);
    }

    /// The call of the program into the JDK that the current thread is in; 0 for none.
    fn call(&self, jni: Jni, me: &Place) -> u32 {
        let Some(f) = self.fields.get() else {
            return 0;
        };
        let pf = jni.object_field(me.object(), f.pf);
        match pf.is_null() {
            true => 0,
            false => jni.int_field(pf.get(), f.call) as u32,
        }
    }

    fn ask(&self, a: &Agent, ask: impl FnOnce(&mut SchedulerState) -> Next) -> Next {
        let mut state = self.lock();
        if self.is_hidden() {
            let peers = self.peers(&state.world);
            state.world.tell(Fact::Peers(&peers));
        }
        let next = ask(&mut state.world);
        self.note_steps(a, &mut state);
        self.publish(&state.world);
        let now = state.world.now();
        self.now.store(now, Ordering::Relaxed);
        if a.is_cut_at(now) {
            drop(state);
            a.end_here();
        }
        next
    }

    fn is_hidden(&self) -> bool {
        self.settings.is_hidden_serial()
    }

    /// Threads that have not ended, and the methods of the relation they are in.
    fn peers(&self, world: &SchedulerState) -> Vec<Peer> {
        let places = self.places.read().unwrap_or_else(|e| e.into_inner());
        let status = |p: &Place| world.status(p.thread);
        let live = places.iter().filter(|p| status(p) != Status::Ended);
        live.map(|p| Peer {
            thread: p.thread,
            methods: p.clock.map_or([0; 2], RawClock::frames),
            able: match status(p) {
                Status::Ready(_) | Status::Running => true,
                Status::Blocked(b) => b.why == Why::Sleep,
                Status::Outside | Status::Ended => false,
            },
        })
        .collect()
    }

    /// Told before the first point at a lock.
    pub fn lock_is(&self, number: u64, class: u32) {
        let mut state = self.lock();
        state.world.tell(Fact::Lock { obj: number, class });
    }

    pub fn hidden_counts(&self) -> Option<Counts> {
        self.lock().world.hidden_counts()
    }

    /// For compiled code: whether there is something to decide at points, and
    /// whether a thread may have to be stopped that is not supposed to run.
    fn publish(&self, world: &SchedulerState) {
        let bit = |is_set: bool, bit: i32| if is_set { bit } else { 0 };
        let decides = bit(world.has_choice(), choice::DECIDES);
        let outside = bit(world.is_anybody_outside(), choice::OUTSIDE);
        self.choice.store(decides | outside, Ordering::Relaxed);
    }

    fn hand_over(&self, a: &Agent, jni: Jni, me: &'static Place, next: Next) {
        if next == Next::Run(me.thread) && !self.has_diverged() {
            return;
        }
        if self.announce(a, jni, Some(me), next) {
            self.settle(a, jni);
            return;
        }
        me.await_turn();
        self.settle(a, jni);
    }

    /// Tells the thread that comes next. True if that turned out to be this thread.
    fn announce(&self, a: &Agent, jni: Jni, me: Option<&'static Place>, next: Next) -> bool {
        match next {
            _ if self.is_over.load(Ordering::Acquire) => {}
            Next::Run(_) if self.has_diverged() => self.end_diverged(a),
            Next::Run(thread) => {
                if let Some(place) = self.place(thread) {
                    place.give_turn();
                }
            }
            Next::Idle => self.perhaps_finished(),
            Next::Livelock => self.end_in_livelock(a, jni),
            Next::Limit => self.end_at_limit(a),
            Next::Stuck => return self.perhaps_deadlock(a, jni, me),
        }
        false
    }

    /// Nobody can run. Threads outside control may change that; if they do not,
    /// it is a deadlock. If they did, the thread that ran last found out what is now.
    fn perhaps_deadlock(&self, a: &Agent, jni: Jni, me: Option<&'static Place>) -> bool {
        if self.settings.is_exploring() {
            let cycle = self.guided(|g| g.cycle()).unwrap_or_default();
            self.end_in_deadlock(a, jni, &cycle);
            return false;
        }
        let (turns, outside) = {
            let state = self.lock();
            (state.world.turns(), state.world.is_anybody_outside())
        };
        // What a worker sees for the first time is looked at again elsewhere.
        let hasty = self.worker.is_some() && !outside;
        let grace = std::time::Duration::from_millis(if hasty { HASTE_MS } else { GRACE_MS });
        match me {
            Some(me) => {
                if me.await_turn_for(grace) {
                    return true;
                }
            }
            None => std::thread::sleep(grace),
        }
        if self.lock().world.turns() != turns {
            return false;
        }
        self.free_forgotten(a, jni);
        match self.ask(a, SchedulerState::resume) {
            Next::Stuck => self.end_in_deadlock(a, jni, &[]),
            Next::Run(thread) if Some(thread) == me.map(|p| p.thread) => return true,
            next => {
                self.announce(a, jni, me, next);
            }
        }
        false
    }

    /// A thread that ran out of stack at the very end of a synchronized block gave
    /// the monitor back without being able to say so. Before anything is called a
    /// deadlock, the JVM is asked. True if somebody can go on.
    fn free_forgotten(&self, a: &Agent, jni: Jni) -> bool {
        let Some(bridge) = a.bridge.get() else {
            return false;
        };
        let blocked: Vec<(Thread, u64)> = {
            let state = self.lock();
            let status = |t| state.world.status(t);
            (0..state.world.threads() as Thread)
                .filter_map(|t| match status(t) {
                    Status::Blocked(b) if b.why == Why::Monitor => Some((t, b.obj)),
                    _ => None,
                })
                .collect()
        };
        let mut any = false;
        for (thread, number) in blocked {
            let Some(place) = self.place(thread) else {
                continue;
            };
            let o = bridge.awaited(jni, place.object());
            if !o.is_null() && a.jvmti.is_monitor_free(o) {
                bridge.forget_holder(jni, o);
                self.released(number);
                any = true;
            }
        }
        any
    }

    /// Before the program goes on: a thread that ends must be seen to be dead,
    /// or what the program sees of it would depend on chance.
    fn settle(&self, _a: &Agent, jni: Jni) {
        let leaving = self.leaving.swap(std::ptr::null_mut(), Ordering::AcqRel);
        // SAFETY: places are never freed.
        if let Some(place) = unsafe { leaving.as_ref() } {
            self.until_dead(jni, place);
        }
    }

    /// For threads that are not controlled and may have woken one that is. That
    /// no thread can run was noticed by the thread that ran last.
    fn stir(&self, a: &Agent, jni: Jni) {
        let next = self.ask(a, SchedulerState::resume);
        if next != Next::Stuck {
            self.announce(a, jni, None, next);
        }
    }

    fn note_steps(&self, a: &Agent, state: &mut State) {
        let State {
            world,
            journal,
            hits,
            ..
        } = state;
        for hit in world.take_hits() {
            *hits += 1;
            journal.hit(a, &hit);
            self.report_hit(a, &hit);
        }
        for step in world.take_trail() {
            let place = match &step {
                Trail::Step(ready) => self.place(ready.thread),
                Trail::Tick | Trail::Saw(_) | Trail::Ready(_) => None,
            };
            let call = place.map_or(0, |place| place.call.load(Ordering::Relaxed));
            journal.step(a, step, call);
        }
    }

    /// A run that is to be repeated and is not the same any more is of no use.
    fn has_diverged(&self) -> bool {
        if self.settings.is_exploring() {
            return self
                .guided(|g| g.divergence().is_some())
                .unwrap_or_default();
        }
        self.settings.is_replaying() && self.lock().world.divergence().is_some()
    }

    /// A garbage collection stops every thread: that is not being stuck.
    pub fn collecting(&self, now: bool) {
        self.collecting.store(now, Ordering::Release);
        self.beat.fetch_add(1, Ordering::Relaxed);
    }

    /// Says once that something is out of our hands.
    pub fn name_uncontrolled(&self, a: &Agent, cause: Cause, what: &str) {
        let mut named = self.named.lock().unwrap_or_else(|e| e.into_inner());
        if named.len() < 100 && !named.iter().any(|n| n == what) {
            named.push(what.into());
            a.findings.write(Line::Uncontrolled(Uncontrolled {
                cause,
                what: what.into(),
            }));
        }
    }

    /// For the summary, after the end.
    pub fn summary(&self, a: &Agent, outcome: RunEnd) -> ControlSummary {
        if self.settings.is_exploring() {
            self.tell_execution(a);
        }
        let mut state = self.lock();
        self.note_steps(a, &mut state);
        let digest = state.journal.finish(outcome);
        let partial_order = state.journal.partial_order();
        let State {
            world,
            seed,
            hits,
            variant,
            reached,
            ..
        } = &mut *state;
        let (counts, threads) = (world.counts, world.threads());
        let name = |t: &Thread| self.place(*t).map(|p| p.name.clone());
        let delays = world.delays().iter().map(|d| Delay {
            sleeper: name(&d.sleeper).unwrap_or_default(),
            millis: d.nanos / blocking::MILLI,
            delayed: d.delayed.iter().filter_map(name).collect(),
        });
        let delays = delays.collect();
        let divergence = world.divergence().map(|d| self.describe(a, d));
        let divergence = divergence.or_else(|| {
            let at = world.guided()?.divergence()?;
            Some(exploring::describe(at))
        });
        ControlSummary {
            strategy: self.settings.name_of(*variant).to_owned(),
            seed: *seed,
            steps: counts.steps,
            switches: counts.switches,
            forced_spins: counts.spins,
            ticks: counts.ticks,
            delays,
            digest: Some(format!("{digest:016x}")),
            partial_order: Some(partial_order),
            threads: threads as u64,
            hits: *hits,
            reached: [*reached & 1 != 0, *reached & 2 != 0],
            divergence,
            outcome,
        }
    }
}
