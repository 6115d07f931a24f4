//! Events a second of each detector over one stream in memory:
//! `cargo bench -p photofinish-detect`, or `cargo bench -p photofinish-detect -- 2 fasttrack` for two
//! million events and one detector.
//!
//! Ten threads, fifty locks, a hundred thousand variables in twenty thousand
//! objects; nine events in ten are plain accesses. Two accesses in three go to
//! the thread's own objects, the others to shared ones, under the lock that
//! belongs to them, in runs as critical sections have them: so the program is
//! correct, and a detector that reports something is wrong.

use detect::{DETECTORS, Detector, Vectors};
use fastrand::Rng;
use std::time::Instant;
use trace::{Event, Loc, LockId, ObjId, Op, SiteId, ThreadId};

const THREADS: u64 = 10;
const LOCKS: u64 = 50;
const OBJECTS: u64 = 20_000;
const FIELDS: u64 = 5;

fn stream(events: usize) -> Vec<Event> {
    let mut random = Rng::with_seed(42);
    let mut out = Vec::with_capacity(events + 64);
    let start = |out: &mut Vec<Event>, thread| {
        if thread > 0 {
            out.push(event(0, 0, Op::Fork(ThreadId(thread))));
        }
        out.push(event(thread, 0, Op::Begin));
    };
    (0..THREADS as u32).for_each(|thread| start(&mut out, thread));
    // What each thread is in the middle of: a lock and the accesses left.
    let mut inside = [(0u64, 0u64); THREADS as usize];
    let mut taken = [false; LOCKS as usize];
    while out.len() < events {
        let thread = random.u64(..THREADS);
        let (lock, left) = inside[thread as usize];
        let op = if left == 1 {
            taken[lock as usize] = false;
            inside[thread as usize] = (0, 0);
            Op::Release(LockId(ObjId(1 + lock)))
        } else if left > 1 {
            inside[thread as usize].1 -= 1;
            // A third of the objects, dealt out to the locks.
            let object = random.u64(..OBJECTS / 3 / LOCKS) * LOCKS + lock;
            access(&mut random, object)
        } else if random.u64(..12) > 0 {
            let own = OBJECTS * 2 / 3 / THREADS;
            let object = OBJECTS / 3 + LOCKS + thread * own + random.u64(..own - LOCKS);
            access(&mut random, object)
        } else {
            let lock = random.u64(..LOCKS);
            if std::mem::replace(&mut taken[lock as usize], true) {
                continue;
            }
            inside[thread as usize] = (lock, 5 + random.u64(..6));
            Op::Acquire(LockId(ObjId(1 + lock)))
        };
        // A statement accesses one field; three of them read it and three write.
        let site = match op.access() {
            Some((loc, write)) => 1 + loc.slot * 6 + u32::from(write) * 3 + random.u64(..3) as u32,
            None => 1000 + random.u64(..10) as u32,
        };
        out.push(event(thread as u32, site, op));
    }
    out
}

fn access(random: &mut Rng, object: u64) -> Op {
    let loc = Loc {
        obj: ObjId(1000 + object),
        slot: random.u64(..FIELDS) as u32,
    };
    if random.u64(..4) == 0 {
        Op::Write(loc)
    } else {
        Op::Read(loc)
    }
}

fn event(thread: u32, site: u32, op: Op) -> Event {
    Event {
        thread: ThreadId(thread),
        site: SiteId(site),
        op,
    }
}

/// Millions of events a second, the best of three.
fn speed(events: &[Event], make: impl Fn() -> Box<dyn Detector>) -> f64 {
    let once = || {
        let mut detector = make();
        let start = Instant::now();
        // As many at a time as a reader of traces hands over.
        events.chunks(4096).for_each(|some| detector.events(some));
        let taken = start.elapsed();
        assert!(
            detector.findings().is_empty(),
            "{:?}",
            detector.findings().iter().next()
        );
        events.len() as f64 / taken.as_secs_f64() / 1e6
    };
    (0..3).map(|_| once()).fold(0.0, f64::max)
}

fn main() {
    let millions = std::env::args().find_map(|a| a.parse::<f64>().ok());
    let events = stream((millions.unwrap_or(10.0) * 1e6) as usize);
    let accesses = events.iter().filter(|e| e.op.access().is_some()).count();
    println!(
        "{:.1} million events, {:.0}% accesses",
        events.len() as f64 / 1e6,
        100.0 * accesses as f64 / events.len() as f64
    );
    let wanted = |name: &str| {
        let mut names = std::env::args()
            .skip(1)
            .filter(|a| a.parse::<f64>().is_err());
        names.all(|a| a.starts_with('-') || a == name)
    };
    let twin = || Box::new(Vectors::default()) as Box<dyn Detector>;
    if wanted("vectors") {
        println!("{:<12}{:>8.1} M events/s", "vectors", speed(&events, twin));
    }
    for kind in DETECTORS {
        let name = kind.name();
        if wanted(name) {
            let speed = speed(&events, || kind.detector());
            println!("{name:<12}{speed:>8.1} M events/s");
        }
    }
}
