//! A worker: execution after execution in one JVM. `PhotofinishWorker` in the
//! bridge leads; here is what the agent puts back in between, and how it talks to
//! the coordinator, which listens on a socket in the run directory: a line that asks
//! for executions, a line that answers.
//!
//! All of an execution happens before all of the next one: the leading thread knows
//! everything before it starts the next main thread. So what FastTrack remembers of
//! memory that lives on can stay. Threads that an execution leaves behind are never
//! given a turn again. What would be noticed by the next execution all the same is
//! said in the answer, and the coordinator starts another worker, or makes every
//! execution in a JVM of its own.

use super::printed::Printed;
use super::{Control, Journal, Place, Processors, State};
use crate::Agent;
use crate::jni::{Jni, Ref};
use instrument::initialisers::{Initialiser, initialiser};
use protocol::execution::{Answer, Ask, AskedSeed, Seeded, WorkerRun};
use protocol::{RunEnd, files};
use rustc_hash::FxHashMap;
use schedule::{Decider, Guided, SchedulerState, Status, Thread};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Executions after which a fresh JVM is cheaper than what has piled up.
const MOST_EXECUTIONS: u64 = 20_000;
/// Threads that may be left behind.
const MOST_LEFT: u32 = 400;
/// How long executions are collected before they are answered together.
const BATCH: Duration = Duration::from_millis(50);

type Classes = FxHashMap<Box<[u8]>, Option<Vec<u8>>>;

#[derive(Debug, Default)]
pub struct Worker {
    line: Mutex<Option<BufReader<UnixStream>>>,
    batch: Mutex<Batch>,
    /// How the execution ended.
    outcome: Mutex<Option<RunEnd>>,
    ended: Condvar,
    /// Why no other execution can follow, whatever the JVM.
    unfit: Mutex<Option<String>>,
    made: AtomicU64,
    left: AtomicU32,
    /// Classes as they were and as they became.
    classes: Mutex<Classes>,
    /// The program's classes as they were, by name, and what their initialisers do.
    sources: Mutex<FxHashMap<String, Arc<[u8]>>>,
    initialisers: Mutex<FxHashMap<String, Initialiser>>,
    /// The next execution has the classes of the last one.
    keeps: AtomicBool,
    /// Why executions have classes of their own.
    reloads: Mutex<Option<String>>,
    /// Sites that mean a class of this execution.
    fleeting: Mutex<Vec<u32>>,
    has_stub: AtomicBool,
    /// The main thread ended by an exception.
    has_failed: AtomicBool,
    printed: Mutex<Printed>,
}

/// Executions that were asked for together.
#[derive(Debug)]
struct Batch {
    /// Those that are left.
    seeds: std::vec::IntoIter<AskedSeed>,
    began: Instant,
    made: Vec<WorkerRun>,
}

impl Default for Batch {
    fn default() -> Batch {
        Batch {
            seeds: Vec::new().into_iter(),
            began: Instant::now(),
            made: Vec::new(),
        }
    }
}

/// The execution that is next.
struct NextExecution {
    decider: Decider,
    variant: usize,
    seed: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl Worker {
    /// The next execution; none if nobody is there any more.
    fn next(&self, control: &Control, out: &Path) -> Option<NextExecution> {
        let settings = &control.settings;
        let mut batch = lock(&self.batch);
        if batch.seeds.len() == 0 {
            match self.next_ask(&control.processors, out)? {
                Ask::Job(job) => {
                    return Some(NextExecution {
                        decider: Guided::new(job.guide()).into(),
                        variant: 0,
                        seed: settings.seed,
                    });
                }
                Ask::Seeds(seeds) => {
                    batch.seeds = seeds.into_iter();
                    batch.began = Instant::now();
                }
            }
        }
        let AskedSeed(variant, seed) = batch.seeds.next()?;
        Some(NextExecution {
            decider: settings.reseeded(variant, seed)?,
            variant,
            seed,
        })
    }

    fn next_ask(&self, processors: &Processors, out: &Path) -> Option<Ask> {
        let mut line = lock(&self.line);
        if line.is_none() {
            *line = Some(BufReader::new(connect(out).ok()?));
        }
        let mut text = String::new();
        processors.leave();
        let read = line.as_mut()?.read_line(&mut text);
        processors.settle();
        match read {
            Ok(n) if n > 0 => serde_json::from_str(&text).ok(),
            _ => None,
        }
    }

    fn send(&self, answer: &Answer) -> bool {
        let Ok(mut text) = serde_json::to_vec(answer) else {
            return false;
        };
        text.push(b'\n');
        let line = lock(&self.line);
        let stream = line.as_ref().map(BufReader::get_ref);
        stream.is_some_and(|mut s| s.write_all(&text).is_ok())
    }

    fn end(&self, outcome: RunEnd) {
        *lock(&self.outcome) = Some(outcome);
        self.ended.notify_all();
    }

    /// A thread ended by an exception.
    pub(super) fn has_died(&self, thread: Thread) {
        self.has_failed.fetch_or(thread == 0, Ordering::AcqRel);
    }

    /// The program prints; false if that is no output of it.
    pub(super) fn print(&self, file: i32, bytes: &[u8]) -> bool {
        lock(&self.printed).add(file, bytes)
    }

    /// Something that no JVM but a fresh one has as it was.
    pub fn complain(&self, why: &str) {
        lock(&self.unfit).get_or_insert_with(|| why.to_owned());
    }

    /// The class with probes, made once.
    pub fn rewritten(
        &self,
        name: impl FnOnce() -> String,
        bytes: &[u8],
        make: impl FnOnce() -> Option<Vec<u8>>,
    ) -> Option<Vec<u8>> {
        if let Some(known) = lock(&self.classes).get(bytes) {
            return known.clone();
        }
        lock(&self.sources).insert(name(), bytes.into());
        let made = make();
        lock(&self.classes).insert(bytes.into(), made.clone());
        made
    }

    /// What the initialiser of a class of the program does.
    pub fn initialiser(&self, class: &str) -> Initialiser {
        if let Some(known) = lock(&self.initialisers).get(class) {
            return known.clone();
        }
        let sources = lock(&self.sources);
        let found = initialiser(class, &|name| sources.get(name).cloned());
        drop(sources);
        lock(&self.initialisers).insert(class.to_owned(), found.clone());
        found
    }

    /// The site means a class that goes with the execution.
    pub fn is_fleeting(&self, site: u32) {
        lock(&self.fleeting).push(site);
    }

    /// What stands in for the first class that the application's loader is asked
    /// for, which is the program's main class.
    pub fn stub(&self, name: &str) -> Option<Vec<u8>> {
        (!self.has_stub.swap(true, Ordering::AcqRel)).then(|| super::stub::class(name))
    }
}

/// The name of a socket may be 108 bytes long, that of a directory any.
fn connect(out: &Path) -> std::io::Result<UnixStream> {
    let dir = File::open(out)?;
    UnixStream::connect(format!(
        "/proc/self/fd/{}/{}",
        dir.as_raw_fd(),
        files::WORKER
    ))
}

impl Control {
    pub fn worker(&self) -> Option<&Worker> {
        self.worker.as_ref()
    }

    /// Waits for a job and prepares everything for its execution. The process ends
    /// when there is none.
    pub fn next_execution(&self, a: &Agent, jni: Jni) -> bool {
        let Some(worker) = &self.worker else {
            return false;
        };
        let Some(next) = worker.next(self, &a.options.out) else {
            crate::natives::exit_now(0);
        };
        if worker.made.fetch_add(1, Ordering::Relaxed) == 0 {
            crate::carriers::install();
            self.start_watch();
        }
        self.restart(a, jni, worker, next);
        true
    }

    fn restart(&self, a: &Agent, jni: Jni, worker: &Worker, next: NextExecution) {
        Place::next_generation();
        a.findings.take();
        a.check.lock().unwrap_or_else(|e| e.into_inner()).restart();
        a.stacks.lock().unwrap_or_else(|e| e.into_inner()).restart();
        let keeps = worker.keeps.load(Ordering::Acquire);
        if !keeps {
            for site in lock(&worker.fleeting).drain(..) {
                a.sites.table.set(site, [0; 3]);
            }
            self.callers.restart();
        }
        self.names.restart(a, jni, keeps);
        self.told.restart();
        lock(&self.named).clear();
        *lock(&worker.outcome) = None;
        *lock(&worker.printed) = Printed::default();
        worker.has_failed.store(false, Ordering::Release);
        let journal = match self.settings.is_exploring() {
            true => Journal::none(),
            false => Journal::create(&self.settings).unwrap_or_else(|_| Journal::none()),
        };
        let seed = next.seed;
        let mut world = SchedulerState::new(next.decider, seed, self.settings.max_steps);
        world.wake_spuriously(self.settings.spurious);
        let mut state = self.lock();
        *state = State::new(world, journal, seed);
        state.variant = next.variant;
        let mut places = self.places.write().unwrap_or_else(|e| e.into_inner());
        places.clear();
        drop(places);
        self.publish(&state.world);
        self.now.store(0, Ordering::Relaxed);
        self.leaving.store(std::ptr::null_mut(), Ordering::Release);
        self.is_running.store(true, Ordering::Release);
        self.is_over.store(false, Ordering::Release);
    }

    /// The first thread of an execution, started by the one that leads: it runs.
    pub(super) fn starting_main(&self, a: &Agent, jni: Jni, thread: Ref) -> Option<&'static Place> {
        self.worker.as_ref()?;
        let empty = self
            .places
            .read()
            .unwrap_or_else(|e| e.into_inner())
            .is_empty();
        if !empty || Place::current().is_some() {
            return None;
        }
        let place = self.add(a, jni, thread, true);
        place.give_turn();
        Some(place)
    }

    /// Runs the program, whose exceptions are its thread's.
    pub fn call_main(&self, jni: Jni, class: Ref, args: Ref) {
        self.names.begin();
        jni.call_main(class, args);
    }

    /// Whether the execution ended here, in a worker. Called when it has been
    /// found to be over.
    pub(super) fn end_execution(&self, outcome: RunEnd) -> bool {
        match &self.worker {
            Some(worker) => {
                worker.end(outcome);
                true
            }
            None => false,
        }
    }

    /// Nobody has the turn. Was that all?
    pub(super) fn perhaps_finished(&self) {
        if self.worker.is_some()
            && self.lock().world.is_finished()
            && !self.is_over.swap(true, Ordering::AcqRel)
        {
            self.end_execution(RunEnd::Exit);
        }
    }

    /// Whether the program has started no thread yet.
    pub fn is_alone(&self) -> bool {
        self.lock().world.threads() == 1
    }

    /// After an execution: whether the next one has its classes. `why` says why it must not.
    pub fn keeps_classes(&self, why: Option<String>) -> bool {
        let Some(worker) = &self.worker else {
            return false;
        };
        let is_left = {
            let state = self.lock();
            (0..state.world.threads() as Thread).any(|t| state.world.status(t) != Status::Ended)
        };
        let keeps = why.is_none() && !is_left && self.settings.keeps_classes();
        if let Some(why) = why {
            lock(&worker.reloads).get_or_insert(why);
        }
        worker.keeps.store(keeps, Ordering::Release);
        keeps
    }

    pub fn await_end(&self, a: &Agent, jni: Jni) {
        let Some(worker) = &self.worker else {
            return;
        };
        let mut outcome = lock(&worker.outcome);
        while outcome.is_none() {
            outcome = worker
                .ended
                .wait(outcome)
                .unwrap_or_else(|e| e.into_inner());
        }
        drop(outcome);
        self.settle(a, jni);
    }

    /// Tells what the execution was. If nothing can follow, the process ends.
    pub fn answer(&self, a: &Agent, jni: Jni, complaint: &str) {
        let Some(worker) = &self.worker else {
            return;
        };
        if !complaint.is_empty() {
            worker.complain(complaint);
        }
        let outcome = lock(&worker.outcome).unwrap_or(RunEnd::Exit);
        let run = self.run_of_worker(a, worker, outcome);
        let mut last = self.leaves_something(a, jni, worker);
        last |= worker.made.load(Ordering::Relaxed) >= MOST_EXECUTIONS;
        let unfit = lock(&worker.unfit).clone();
        last |= unfit.is_some();
        let mut batch = lock(&worker.batch);
        batch.made.push(run);
        if !last && batch.seeds.len() > 0 && batch.began.elapsed() < BATCH {
            return;
        }
        batch.seeds = Vec::new().into_iter();
        let answer = Answer {
            made: std::mem::take(&mut batch.made),
            unfit,
            reloads: lock(&worker.reloads).clone(),
            is_last: last,
        };
        if !worker.send(&answer) || last {
            crate::natives::exit_now(0);
        }
    }

    fn run_of_worker(&self, a: &Agent, worker: &Worker, outcome: RunEnd) -> WorkerRun {
        let (execution, seeded) = match self.settings.is_exploring() {
            true => (self.told(a), None),
            false => {
                let failed = worker.has_failed.load(Ordering::Acquire);
                let printed = std::mem::take(&mut *lock(&worker.printed));
                let seeded = Seeded {
                    control: self.summary(a, outcome),
                    exit: super::ending::exit_code(outcome, failed),
                    ..printed.told()
                };
                (None, Some(seeded))
            }
        };
        WorkerRun {
            outcome,
            findings: a.findings.take(),
            execution,
            seeded,
        }
    }

    /// The program ends the JVM.
    pub fn answer_and_exit(&self, a: &Agent, jni: Jni) {
        if self.worker.is_none() {
            return;
        }
        if self.is_over.swap(true, Ordering::AcqRel) {
            // It is told of, and the process ends for the thread that came here.
            std::thread::sleep(std::time::Duration::from_secs(5));
            crate::natives::exit_now(0);
        }
        self.answer(a, jni, "it ends the JVM itself");
    }

    /// Whether threads were left behind in a way that the next execution would
    /// notice.
    fn leaves_something(&self, a: &Agent, jni: Jni, worker: &Worker) -> bool {
        let left: Vec<(Thread, Status)> = {
            let state = self.lock();
            (0..state.world.threads() as Thread)
                .map(|t| (t, state.world.status(t)))
                .filter(|(_, status)| *status != Status::Ended)
                .collect()
        };
        let all = worker.left.fetch_add(left.len() as u32, Ordering::Relaxed) + left.len() as u32;
        let mut noticed = all > MOST_LEFT;
        for (thread, status) in left {
            let Some(place) = self.place(thread) else {
                continue;
            };
            let (name, _) = a.jvmti.thread(place.object()); // it may have got one later
            if name.starts_with("ForkJoinPool.commonPool-")
                || name == "CompletableFutureDelayScheduler"
            {
                worker.complain("it uses threads that the JDK keeps for all");
            }
            let bridge = a.bridge.get();
            noticed |= status == Status::Outside
                || self.is_inside(jni, place)
                || bridge.is_none_or(|b| b.holds_foreign(jni, place.object()));
            // SAFETY: the execution is over, and its threads, if they are still there,
            // wait for ever; only this one, which leads, knows their places.
            unsafe { place.give_back(jni) };
        }
        noticed
    }

    /// Whether the thread stands inside the JDK's own work.
    fn is_inside(&self, jni: Jni, place: &Place) -> bool {
        let Some(f) = self.fields.get() else {
            return true;
        };
        let pf = jni.object_field(place.object(), f.pf);
        pf.is_null()
            || [f.unwatched, f.linking]
                .into_iter()
                .any(|field| jni.int_field(pf.get(), field) != 0)
    }
}
