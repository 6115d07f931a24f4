//! The engines over a run of any length, in memory with a bound.
//!
//! Engines that fold see every event once; what they keep grows with locations, not with
//! events, and one whose tables would outgrow the memory ends there and says so. Engines that
//! look at a whole (SyncP, OSR, and SHB for its witnesses) see *windows*: stretches of the run, each of which
//! overlaps with the one before by half. A run that fits into one window is seen as a whole.
//!
//! # What a window's predictions claim
//! They are sound. A witness of a window stands for this schedule: all events before the window as they were in
//! the run, then the witness. The events before the window really happened in that order, so
//! the program can be where the window begins. What matters of that state is stated at the beginning of the
//! window, as events that engines and the checker know: each thread takes the locks it held, then a
//! static initialiser ends. The end of an initialiser comes before all that follows it, by rule 8 of the
//! [checker](crate::check), so no witness leaves any of that out or puts it later. Values, volatile writes, waits,
//! signals and forks before the window count as there from the start: rules compare what a witness has with what the
//! window has.
//!
//! A window does not begin while it is open what some read before it saw ([`Op::Unsure`]): not before
//! that read's thread has synchronised again. Writes that it may have seen come before that in the
//! trace, so from there on the events before the window are a part of the run again. A window with a mark that means a
//! read before it is not looked at, nor is anything after a window that cannot have happened.
//!
//! # What a window misses
//! Pairs that are farther apart than one window is long are not compared; half a window apart they always are. Of those
//! compared, critical sections from before the window are not reordered, nor are reads from before it.
//!
//! # Cost
//! Twice that of one pass with a window as large as the run, in memory that the [`Bounds`] give: an event takes
//! 32 bytes while it is in the window and about a hundred more while the window is looked at.

use crate::deps::Deps;
use crate::found::{Predictions, Standing};
use crate::index::Index;
use crate::verify::Verifier;
use crate::{Engine, Method, STOPPED, Shb, ShouldStop, osr, syncp, unsure};
use rustc_hash::{FxHashMap, FxHashSet};
use trace::{Event, LockId, ObjId, Op, SiteId, ThreadId};

/// Events handed to the folding engines at once.
const BATCH: usize = 4096;
/// The static initialiser that ends where a window begins: no object of a run.
const BEGINNING: ObjId = ObjId(u64::MAX);

/// How much is looked at at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Events of a window.
    pub events: usize,
    /// Bytes of the clocks of a window, which grow with threads.
    pub clocks: usize,
}

/// What the caller decides and knows.
#[derive(Clone, Copy)]
pub struct Control<'c> {
    pub stop: &'c ShouldStop<'c>,
    /// Whether there is room for so many bytes more.
    pub room: &'c dyn Fn(usize) -> bool,
    /// A clock, for the table of engines.
    pub seconds: &'c dyn Fn() -> f64,
}

/// What one engine found.
#[derive(Debug)]
pub struct Looked {
    pub method: Method,
    pub found: Predictions,
    /// What engines share counts for each of them.
    pub seconds: f64,
    /// How many of the first events it saw before its memory ended; `None`: all.
    pub ended: Option<u64>,
}

/// What all found.
#[derive(Debug)]
pub struct Outcome {
    pub looked: Vec<Looked>,
    pub events: u64,
    /// How many windows there were, and the distance up to which all pairs were compared.
    pub windows: u32,
    pub reach: u64,
}

/// The engines at work.
pub struct Windows<'c> {
    control: Control<'c>,
    bounds: Bounds,
    folds: Vec<Fold>,
    shb: Option<(Shb, Row)>,
    searches: Vec<(Row, Predictions)>,
    /// Not yet seen by engines that fold.
    batch: Vec<Event>,
    window: Vec<Event>,
    /// Events at the beginning of the window that state how things stood.
    stated: usize,
    /// Events of the run before the window.
    before: u64,
    /// Events of the run that a window had.
    had: u64,
    standing: AtStart,
    /// Pairs of SHB that had their chance of a witness.
    proved: usize,
    events: u64,
    windows: u32,
    reach: u64,
    /// No window is looked at any more.
    closed: bool,
    stopped: bool,
}

struct Fold {
    row: Row,
    /// Absent once its memory ended.
    engine: Option<Box<dyn Engine>>,
    found: Predictions,
}

struct Row {
    method: Method,
    seconds: f64,
    ended: Option<u64>,
}

impl std::fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Windows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Windows")
            .field("events", &self.events)
            .field("windows", &self.windows)
            .finish_non_exhaustive()
    }
}

impl<'c> Windows<'c> {
    /// Engines by their methods. Sliced causality is OSR here: nothing is known of dependences.
    pub fn new(
        methods: impl IntoIterator<Item = Method>,
        bounds: Bounds,
        control: Control<'c>,
    ) -> Windows<'c> {
        let mut windows = Windows {
            control,
            bounds,
            folds: Vec::new(),
            shb: None,
            searches: Vec::new(),
            batch: Vec::with_capacity(BATCH.min(bounds.events.max(1))),
            window: Vec::new(),
            stated: 0,
            before: 0,
            had: 0,
            standing: AtStart::default(),
            proved: 0,
            events: 0,
            windows: 0,
            reach: u64::MAX,
            closed: false,
            stopped: false,
        };
        for method in methods {
            let row = Row {
                method,
                seconds: 0.0,
                ended: None,
            };
            match method {
                Method::Hb | Method::Wcp => windows.folds.push(Fold {
                    row,
                    engine: Some(method.engine()),
                    found: Predictions::default(),
                }),
                Method::Shb => windows.shb = Some((Shb::default(), row)),
                Method::SyncP | Method::Osr | Method::Sliced => {
                    windows.searches.push((row, Predictions::default()));
                }
            }
        }
        windows.closed = windows.shb.is_none() && windows.searches.is_empty();
        windows
    }

    /// The next event of the run.
    #[inline]
    pub fn push(&mut self, e: &Event) {
        self.events += 1;
        if self.stopped {
            return;
        }
        self.batch.push(*e);
        if !self.closed {
            self.window.push(*e);
        }
        if self.batch.len() == self.batch.capacity() {
            self.flush();
        }
    }

    /// Whether there is nothing more to do: the rest of the run need not be read.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// The run is over.
    pub fn finish(mut self) -> Outcome {
        self.flush();
        while !self.closed && !self.stopped && self.had < self.events {
            self.look();
        }
        let mut looked = Vec::new();
        for fold in self.folds {
            let found = match fold.engine {
                Some(engine) => engine.finish(&[], &Deps::unknown(), self.control.stop),
                None => fold.found,
            };
            looked.push((fold.row, found));
        }
        if let Some((mut shb, row)) = self.shb {
            looked.push((row, std::mem::take(shb.found())));
        }
        looked.extend(self.searches);
        looked.sort_by_key(|(row, _)| row.method);
        let stopped = self.stopped;
        let looked = looked.into_iter().map(|(row, mut found)| {
            if let Some(events) = row.ended {
                let why = format!("there was no more memory after {events} events");
                found.incomplete.get_or_insert(why);
            } else if stopped {
                found.incomplete.get_or_insert_with(|| STOPPED.to_owned());
            }
            Looked {
                method: row.method,
                found,
                seconds: row.seconds,
                ended: row.ended,
            }
        });
        Outcome {
            looked: looked.collect(),
            events: self.events,
            windows: self.windows,
            reach: self.reach,
        }
    }

    /// Hands over what is collected; looks at the window if it is full.
    #[inline(never)]
    fn flush(&mut self) {
        let seen = self.events - self.batch.len() as u64;
        for fold in &mut self.folds {
            let Some(engine) = &mut fold.engine else {
                continue;
            };
            let start = (self.control.seconds)();
            if (self.control.room)(engine.growth(self.batch.len())) {
                engine.events(&self.batch);
            } else if let Some(engine) = fold.engine.take() {
                fold.row.ended = Some(seen);
                fold.found = engine.finish(&[], &Deps::unknown(), self.control.stop);
            }
            fold.row.seconds += (self.control.seconds)() - start;
        }
        if let Some((shb, row)) = &mut self.shb
            && row.ended.is_none()
        {
            let start = (self.control.seconds)();
            if (self.control.room)(shb.growth(self.batch.len())) {
                shb.events(&self.batch);
            } else {
                row.ended = Some(seen);
                *shb = shb.reduced();
            }
            row.seconds += (self.control.seconds)() - start;
        }
        self.batch.clear();
        while !self.closed && !self.stopped && self.window.len() - self.stated >= self.bounds.events
        {
            self.look();
        }
        if (self.control.stop)() {
            self.stopped = true;
            self.window = Vec::new();
        }
    }

    /// Looks at the window, and moves it on.
    fn look(&mut self) {
        if !self.standing.open.is_empty() {
            self.advance(self.before);
        }
        if self.had == self.events {
            return;
        }
        if self.windows > 0 {
            self.reach = self.reach.min(self.had - self.before);
        }
        let window = std::mem::take(&mut self.window);
        let shift = self.before as i64 - self.stated as i64;
        let from = (self.had as i64 - shift) as usize;
        let start = (self.control.seconds)();
        let unknown = Deps::unknown();
        let mut covered = window.len();
        if self.before > 0 && unsure::reaches_before(&window) {
            self.complain("what some reads saw is open where a window of the trace begins");
        } else {
            let mut verifier = Verifier::of_window(&window, &unknown, self.before, self.stated);
            let index = Index::bounded(verifier.trace(), self.bounds.clocks);
            let prepared = (self.control.seconds)() - start;
            covered = index.events.len();
            self.closed |= verifier.is_broken() && covered == verifier.trace().len();
            let end = (covered as i64 + shift) as u64;
            self.prove(&index, &mut verifier, end, prepared);
            self.search(&index, &mut verifier, from as u32, prepared);
        }
        self.windows += 1;
        self.window = window;
        let end = (covered as i64 + shift) as u64;
        let overlap = self.bounds.events as u64 / 2;
        let next = if end > self.had {
            end.saturating_sub(overlap).max(self.before)
        } else if self.before < self.had {
            // The clocks of the overlap alone are too much.
            self.had
        } else {
            self.complain("the clocks of so many threads take too much memory");
            self.closed = true;
            end
        };
        self.had = self.had.max(end);
        if self.closed {
            self.window = Vec::new();
        } else if self.had < self.events || self.window.len() - self.stated >= self.bounds.events {
            self.advance(next);
        }
    }

    /// SHB's new pairs before event `end` of the run, if they lie in the window, get their
    /// witnesses.
    fn prove<'a>(
        &mut self,
        index: &Index<'a>,
        verifier: &mut Verifier<'a>,
        end: u64,
        prepared: f64,
    ) {
        let Some((shb, row)) = &mut self.shb else {
            return;
        };
        let from = self.proved;
        let new = shb.found().iter().skip(from);
        self.proved += new.take_while(|p| p.second_event < end).count();
        if from == self.proved {
            return;
        }
        let start = (self.control.seconds)();
        let (before, stated) = (self.before, self.stated as u64);
        let place = |event: u64| Some(event.checked_sub(before)? + stated);
        shb.prove(index, verifier, from, place);
        tell(shb.found(), from, index, before, self.stated);
        row.seconds += prepared + (self.control.seconds)() - start;
    }

    fn search<'a>(
        &mut self,
        index: &Index<'a>,
        verifier: &mut Verifier<'a>,
        from: u32,
        prepared: f64,
    ) {
        for (row, found) in &mut self.searches {
            let start = (self.control.seconds)();
            let known = found.len();
            let search = match row.method {
                Method::SyncP => syncp::search,
                _ => osr::search,
            };
            search(index, verifier, from, found, self.control.stop);
            tell(found, known, index, self.before, self.stated);
            let (before, stated) = (self.before, self.stated as u64);
            for p in found.iter_mut().skip(known) {
                p.first_event = p.first_event.map(|event| event + before - stated);
                p.second_event = p.second_event + before - stated;
            }
            row.seconds += prepared + (self.control.seconds)() - start;
        }
    }

    fn complain(&mut self, why: &str) {
        let shb = self.shb.iter_mut().map(|(shb, _)| shb.found());
        for found in shb.chain(self.searches.iter_mut().map(|(_, found)| found)) {
            found.incomplete.get_or_insert_with(|| why.to_owned());
        }
    }

    /// The window begins after `next` events of the run, or as soon after that as it can.
    fn advance(&mut self, next: u64) {
        let mut gone = self.stated;
        while let Some(e) = self.window.get(gone)
            && (self.before < next || !self.standing.open.is_empty())
        {
            self.standing.event(e);
            self.before += 1;
            gone += 1;
        }
        if self.had < self.before {
            self.had = self.before;
            self.complain("what some reads saw is open for long: windows begin after that");
        }
        let mut window = self.standing.stated();
        self.stated = window.len();
        window.extend_from_slice(&self.window[gone..]);
        self.window = window;
    }
}

/// Writes down the ends of new witnesses, which are all that is kept of them.
fn tell(found: &mut Predictions, from: usize, index: &Index<'_>, before: u64, stated: usize) {
    let view = index.lists().of_window(before, stated);
    for p in found.iter_mut().skip(from) {
        if let Some(witness) = p
            .witness
            .take()
            .filter(|_| p.standing >= Standing::Predicted)
        {
            p.told = Some(view.told(&witness));
        }
    }
}

/// How things stand where a window begins.
#[derive(Debug, Default)]
struct AtStart {
    /// Locks that a thread has, shared or not, and how often.
    held: FxHashMap<ThreadId, Vec<(LockId, bool, u32)>>,
    /// Threads of which it is not known what they saw before they synchronise again.
    open: FxHashSet<ThreadId>,
}

impl AtStart {
    fn event(&mut self, e: &Event) {
        if e.op.is_sync() {
            self.open.remove(&e.thread);
        }
        let (lock, shared, taken) = match e.op {
            Op::Acquire(lock) | Op::WaitEnd { lock, .. } => (lock, false, true),
            Op::Release(lock) | Op::WaitBegin(lock) => (lock, false, false),
            Op::AcquireShared(lock) => (lock, true, true),
            Op::ReleaseShared(lock) => (lock, true, false),
            Op::Unsure(_) => {
                self.open.insert(e.thread);
                return;
            }
            _ => return,
        };
        let held = self.held.entry(e.thread).or_default();
        match held.iter().position(|h| h.0 == lock && h.1 == shared) {
            Some(at) if taken => held[at].2 += 1,
            Some(at) => {
                held[at].2 -= 1;
                if held[at].2 == 0 {
                    held.remove(at);
                }
            }
            None if taken => held.push((lock, shared, 1)),
            None => {}
        }
        if held.is_empty() {
            self.held.remove(&e.thread);
        }
    }

    /// The same as events.
    fn stated(&self) -> Vec<Event> {
        let mut threads: Vec<&ThreadId> = self.held.keys().collect();
        threads.sort_unstable();
        let mut events = Vec::new();
        for thread in threads {
            let mut add = |op| {
                events.push(Event {
                    thread: *thread,
                    site: SiteId(0),
                    op,
                });
            };
            for (lock, shared, times) in &self.held[thread] {
                for _ in 0..*times {
                    match shared {
                        true => add(Op::AcquireShared(*lock)),
                        false => add(Op::Acquire(*lock)),
                    }
                }
            }
            add(Op::InitEnd(BEGINNING));
        }
        events
    }
}
