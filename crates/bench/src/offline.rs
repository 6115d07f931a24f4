//! Detectors over a binary trace: events a second, from the file to the last
//! verdict, decoding included, in one thread.
//!
//! The trace is generated, and written as the agent writes: a buffer for each
//! thread, numbers on synchronisation only. Ten threads, fifty locks, a hundred
//! thousand variables in twenty thousand objects; two objects in three belong
//! to one thread, the others to a lock, under which they are accessed in runs,
//! as in critical sections. So the program is correct, and a detector that
//! reports something is wrong.

use crate::check_interrupt;
use crate::compare::{Tool, progress};
use crate::figures::median;
use crate::measure;
use anyhow::{Context, Result, ensure};
use detect::{Detector, Vectors, fasttrack, h, hybrid, lockset};
use fastrand::Rng;
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use trace::tables::Footer;
use trace::{Loc, LockId, ObjId, Op, RunHeader, SiteId, ThreadId, Trace, Writer};

const THREADS: u32 = 10;
const LOCKS: u64 = 50;
const OBJECTS: u64 = 20_000;
const FIELDS: u64 = 5;
/// Events in a buffer of the agent, and so in a chunk.
const BUFFER: usize = 2730;
/// Events handed to a detector at once.
const BATCH: usize = 4096;

#[derive(Debug)]
pub struct Offline {
    pub events: u64,
    pub bytes: u64,
    /// Name and events a second of processor time.
    pub speeds: Vec<(&'static str, f64)>,
    pub problems: Vec<String>,
}

impl Offline {
    pub fn speed(&self, name: &str) -> Option<f64> {
        self.speeds.iter().find(|s| s.0 == name).map(|s| s.1)
    }
}

pub const FASTTRACK: &str = "fasttrack";
pub const VECTORS: &str = "full vector clocks";
const DECODING: &str = "decoding alone";
const COMMAND: &str = "detect --trace";

/// What is timed: nothing but decoding, or a detector.
type Make = fn() -> Option<Box<dyn Detector>>;

const FOLDS: [(&str, Make); 6] = [
    (DECODING, || None),
    (FASTTRACK, || Some(fasttrack::KIND.detector())),
    (VECTORS, || Some(Box::new(Vectors::default()))),
    ("h", || Some(h::KIND.detector())),
    ("hybrid", || Some(hybrid::KIND.detector())),
    ("lockset", || Some(lockset::KIND.detector())),
];

pub fn measure(tool: &Tool, events: u64, runs: u32) -> Result<Offline> {
    progress("writing a trace");
    let file = File::create(&tool.trace).context("cannot write a trace")?;
    let written = generate(BufWriter::new(file), events)?;
    let bytes = std::fs::metadata(&tool.trace)?.len();
    let mut seconds = vec![Vec::new(); FOLDS.len()];
    let mut command = Vec::new();
    let mut problems = Vec::new();
    for number in 1..=runs {
        for ((name, make), seconds) in FOLDS.iter().zip(&mut seconds) {
            check_interrupt(&tool.interrupted)?;
            progress(&format!("offline, {name}, run {number} of {runs}"));
            let mut detector = make();
            let start = cpu_seconds();
            let seen = fold(&tool.trace, detector.as_deref_mut())?;
            seconds.push(cpu_seconds() - start);
            ensure!(
                seen == written,
                "{seen} of {written} events were in the trace"
            );
            let found = detector.map_or(0, |d| d.findings().len());
            if found > 0 && number == 1 {
                problems.push(format!("offline, {name}: {found} findings, must be none"));
            }
        }
        progress(&format!("offline, {COMMAND}, run {number} of {runs}"));
        let mut detect = Command::new(&tool.photofinish);
        detect.args(["detect", "--quiet", "--trace"]);
        detect.arg(&tool.trace);
        let done = measure::run(detect, tool.limit)?;
        check_interrupt(&tool.interrupted)?;
        if done.status.success() {
            command.push(done.cpu.as_secs_f64());
        } else if number == 1 {
            problems.push(format!("offline, {COMMAND}: {}", done.status));
        }
    }
    progress("");
    let names = FOLDS.iter().map(|fold| fold.0).chain([COMMAND]);
    let speeds = names
        .zip(seconds.into_iter().chain([command]))
        .filter_map(|(name, seconds)| Some((name, written as f64 / median(seconds)?)));
    Ok(Offline {
        events: written,
        bytes,
        speeds: speeds.collect(),
        problems,
    })
}

/// Opens the trace and goes through it; how many events there were.
fn fold(path: &Path, detector: Option<&mut (dyn Detector + 'static)>) -> Result<u64> {
    let file = File::open(path)?;
    let mut trace = Trace::open(file)?;
    let mut count = 0;
    let mut events = trace.events();
    let Some(detector) = detector else {
        events.for_each_event(|e| {
            std::hint::black_box(e);
            count += 1;
        })?;
        return Ok(count);
    };
    let mut batch = Vec::with_capacity(BATCH);
    events.for_each_event(|e| {
        batch.push(*e);
        if batch.len() == BATCH {
            detector.events(&batch);
            count += BATCH as u64;
            batch.clear();
        }
    })?;
    detector.events(&batch);
    Ok(count + batch.len() as u64)
}

/// Processor time of this thread: other work on the machine matters less.
fn cpu_seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Threads' buffers on their way into a trace.
struct Recording<W> {
    writer: Writer<W>,
    buffers: Vec<Vec<(SiteId, Op, u64)>>,
    /// Of the latest synchronisation.
    seq: u64,
    events: u64,
}

impl<W: Write> Recording<W> {
    fn push(&mut self, thread: u32, site: u64, op: Op) -> Result<()> {
        self.seq += u64::from(op.is_sync());
        self.events += 1;
        let buffer = &mut self.buffers[thread as usize];
        buffer.push((SiteId(site as u32), op, self.seq));
        if buffer.len() == BUFFER {
            self.writer
                .append_events(ThreadId(thread), buffer.drain(..))?;
        }
        Ok(())
    }
}

/// What a thread is in the middle of.
#[derive(Clone, Copy)]
struct Section {
    lock: u64,
    accesses: u64,
}

/// Writes a trace of at least so many events, and says of how many.
pub fn generate(out: impl Write, events: u64) -> Result<u64> {
    let mut random = Rng::with_seed(42);
    let header = RunHeader {
        ordered: true,
        ..RunHeader::default()
    };
    let mut run = Recording {
        writer: Writer::new(out, &header)?,
        buffers: vec![Vec::new(); THREADS as usize],
        seq: 0,
        events: 0,
    };
    run.push(0, 0, Op::Begin)?;
    for thread in 1..THREADS {
        run.push(0, 0, Op::Fork(ThreadId(thread)))?;
        run.push(thread, 0, Op::Begin)?;
    }
    let mut sections: Vec<Option<Section>> = vec![None; THREADS as usize];
    let mut taken = [false; LOCKS as usize];
    let lock_id = |lock: u64| LockId(ObjId(1 + lock));
    // Lock after lock first, then thread after thread.
    let locked = OBJECTS / 3 / LOCKS;
    let owned = (OBJECTS - locked * LOCKS) / u64::from(THREADS);
    while run.events < events {
        let thread = random.u64(..u64::from(THREADS));
        let section = &mut sections[thread as usize];
        let number = thread as u32;
        match section {
            Some(Section { lock, accesses: 0 }) => {
                let lock = *lock;
                *section = None;
                taken[lock as usize] = false;
                run.push(number, 1000 + lock, Op::Release(lock_id(lock)))?;
            }
            Some(Section { lock, accesses }) => {
                *accesses -= 1;
                let object = *lock * locked + random.u64(..locked);
                access(&mut run, &mut random, number, object)?;
            }
            None if random.u64(..12) == 0 => {
                let lock = random.u64(..LOCKS);
                if !std::mem::replace(&mut taken[lock as usize], true) {
                    let accesses = 4 + random.u64(..6);
                    *section = Some(Section { lock, accesses });
                    run.push(number, 2000 + lock, Op::Acquire(lock_id(lock)))?;
                }
            }
            None => {
                let object = locked * LOCKS + thread * owned + random.u64(..owned);
                access(&mut run, &mut random, number, object)?;
            }
        }
    }
    for (thread, buffer) in (0..).zip(&mut run.buffers) {
        run.writer
            .append_events(ThreadId(thread), buffer.drain(..))?;
    }
    run.writer.finish(Footer::default())?;
    Ok(run.events)
}

/// A field of the object, one time in four to write it. A statement accesses
/// one field; three of them read it and three write.
fn access<W: Write>(
    run: &mut Recording<W>,
    random: &mut Rng,
    thread: u32,
    object: u64,
) -> Result<()> {
    let field = random.u64(..FIELDS);
    let loc = Loc {
        obj: ObjId(1000 + object),
        slot: field as u32,
    };
    let write = random.u64(..4) == 0;
    let site = 1 + field * 6 + u64::from(write) * 3 + random.u64(..3);
    run.push(
        thread,
        site,
        if write { Op::Write(loc) } else { Op::Read(loc) },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::Event;

    /// The trace in memory, as events in the order of reading.
    fn generated(events: u64) -> Vec<Event> {
        let mut bytes = Vec::new();
        let written = generate(&mut bytes, events).unwrap();
        let mut trace = Trace::from_slice(&bytes).unwrap();
        let mut all = Vec::new();
        trace.events().for_each_event(|e| all.push(*e)).unwrap();
        assert_eq!(all.len() as u64, written);
        all
    }

    #[test]
    fn the_program_is_correct_and_has_the_shape_that_is_claimed() {
        let events = generated(300_000);
        for (name, make) in FOLDS {
            if let Some(mut detector) = make() {
                detector.events(&events);
                assert!(detector.findings().is_empty(), "{name}");
            }
        }
        let distinct = |f: &dyn Fn(&Event) -> Option<(u64, u32)>| {
            let all: std::collections::BTreeSet<_> = events.iter().filter_map(f).collect();
            all.len() as u64
        };
        let variables = distinct(&|e| e.op.access().map(|(loc, _)| (loc.obj.0, loc.slot)));
        let locks = distinct(&|e| match e.op {
            Op::Acquire(lock) => Some((lock.0.0, 0)),
            _ => None,
        });
        // Not all of them are met in so short a trace.
        assert!((80_000..=OBJECTS * FIELDS).contains(&variables));
        assert_eq!(locks, LOCKS);
        assert_eq!(distinct(&|e| Some((0, e.thread.0))), u64::from(THREADS));
        let accesses = events.iter().filter(|e| e.op.access().is_some()).count();
        let share = accesses as f64 / events.len() as f64;
        assert!((0.8..0.95).contains(&share), "{share}");
    }

    #[test]
    fn a_detector_that_is_given_a_race_finds_it() {
        let mut events = generated(10_000);
        // Forget the locks: then what they protect is unprotected.
        events.retain(|e| !matches!(e.op, Op::Acquire(_) | Op::Release(_)));
        for (name, make) in FOLDS {
            if let Some(mut detector) = make() {
                detector.events(&events);
                assert!(!detector.findings().is_empty(), "{name}");
            }
        }
    }
}
