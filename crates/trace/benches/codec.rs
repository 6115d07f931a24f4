//! How compact the format is and how fast both ways go, on four shapes of
//! program. `cargo bench -p photofinish-trace` prints, per shape: bytes an event, encoding
//! in ns an event (one thread, as in the JVM), decoding and merging in million
//! events a second; then the STD text's speed.

use fastrand::Rng;
use std::hint::black_box;
use test_support::clock::Clock;
use trace::*;

const EVENTS: usize = 4_000_000;
/// Records in a buffer of the agent.
const BUFFER: usize = 2730;

type Numbered = (ThreadId, SiteId, Op, u64);

fn loc(obj: u64, slot: u64) -> Loc {
    Loc {
        obj: ObjId(obj),
        slot: slot as u32,
    }
}

/// Collects events, numbering the synchronisation.
#[derive(Default)]
struct Run {
    events: Vec<Numbered>,
    seq: u64,
}

impl Run {
    fn push(&mut self, thread: u32, site: u32, op: Op) {
        if op.is_sync() {
            self.seq += 1;
        }
        self.events
            .push((ThreadId(thread), SiteId(site), op, self.seq));
    }

    fn full(&self) -> bool {
        self.events.len() >= EVENTS
    }
}

/// Matrix multiplication, four threads, a barrier now and then.
fn arrays() -> Run {
    let mut run = Run::default();
    let n = 64;
    let mut round = 0;
    while !run.full() {
        for t in 0..4 {
            let row = round % n;
            for j in 0..n {
                for k in 0..n {
                    run.push(t, 500, Op::Read(loc(10 + row, k)));
                    run.push(t, 501, Op::Read(loc(1000 + k, j)));
                    run.push(t, 502, Op::Read(loc(2000 + row, j)));
                    run.push(t, 503, Op::Write(loc(2000 + row, j)));
                }
            }
            run.push(t, 504, Op::Acquire(LockId(ObjId(7))));
            run.push(t, 505, Op::Release(LockId(ObjId(7))));
        }
        round += 1;
    }
    run
}

/// Walking and changing linked nodes: several fields of an object, then its
/// neighbour, mostly allocated in order; a lock around each walk.
fn objects() -> Run {
    let mut run = Run::default();
    let mut r = Rng::with_seed(42);
    while !run.full() {
        let t = r.u64(..4) as u32;
        run.push(t, 90, Op::Acquire(LockId(ObjId(3))));
        let mut node = r.u64(..50_000);
        for _ in 0..40 {
            run.push(t, 100, Op::Read(loc(node, 4)));
            run.push(t, 101, Op::Read(loc(node, 5)));
            if r.u64(..4) == 0 {
                run.push(t, 102, Op::Write(loc(node, 6)));
            }
            run.push(t, 103, Op::Read(loc(node, 7)));
            node = match r.u64(..10) {
                0 => r.u64(..50_000),
                _ => node + 1,
            };
        }
        run.push(t, 91, Op::Release(LockId(ObjId(3))));
    }
    run
}

/// Short critical sections on many locks.
fn locks() -> Run {
    let mut run = Run::default();
    let mut r = Rng::with_seed(7);
    while !run.full() {
        let t = r.u64(..8) as u32;
        let lock = LockId(ObjId(100 + r.u64(..50)));
        run.push(t, 10, Op::Acquire(lock));
        run.push(t, 11, Op::Read(loc(lock.0.0, 1)));
        run.push(t, 12, Op::Write(loc(lock.0.0, 1)));
        run.push(t, 13, Op::Release(lock));
        run.push(t, 14, Op::AtomicUpdate(loc(5, r.u64(..4)), Mode::Volatile));
    }
    run
}

/// No pattern at all: ten threads, 50 locks, 100,000 variables, 300 sites.
fn noise() -> Run {
    let mut run = Run::default();
    let mut r = Rng::with_seed(99);
    while !run.full() {
        let t = r.u64(..10) as u32;
        let site = r.u64(..300) as u32;
        let at = loc(r.u64(..100_000), 0);
        match r.u64(..20) {
            0 => run.push(t, site, Op::Acquire(LockId(ObjId(r.u64(..50))))),
            1 => run.push(t, site, Op::Release(LockId(ObjId(r.u64(..50))))),
            n if n < 8 => run.push(t, site, Op::Write(at)),
            _ => run.push(t, site, Op::Read(at)),
        }
    }
    run
}

fn measure(name: &str, run: &Run) {
    let threads = 1 + run.events.iter().map(|e| e.0.0).max().unwrap_or(0);
    let mut buffers = Vec::new();
    let mut open: Vec<Vec<u64>> = vec![Vec::new(); threads as usize];
    for &(t, site, op, seq) in &run.events {
        let words = &mut open[t.0 as usize];
        raw::pack(site, op, seq, words);
        if words.len() >= BUFFER * raw::WORDS {
            buffers.push((t, std::mem::take(words)));
        }
    }
    for (t, words) in open.into_iter().enumerate() {
        buffers.push((ThreadId(t as u32), words));
    }

    let mut best_encode = f64::MAX;
    let mut file = Vec::new();
    for _ in 0..3 {
        let mut w = Writer::new(Vec::new(), &RunHeader::default()).expect("in memory");
        let clock = Clock::start();
        for (t, words) in &buffers {
            w.append_raw(*t, words).expect("in memory");
        }
        best_encode = best_encode.min(clock.seconds());
        file = w.finish(Default::default()).expect("in memory");
    }
    let mut best_decode = f64::MAX;
    let mut best_open = f64::MAX;
    for _ in 0..3 {
        let clock = Clock::start();
        let mut trace = Trace::from_slice(&file).expect("just written");
        best_open = best_open.min(clock.seconds());
        let mut count = 0u64;
        let clock = Clock::start();
        trace
            .events()
            .for_each_event(|e| {
                black_box(e);
                count += 1;
            })
            .expect("just written");
        best_decode = best_decode.min(clock.seconds());
        assert_eq!(count, run.events.len() as u64);
    }
    let n = run.events.len() as f64;
    println!(
        "{name:8} {:5.2} bytes/event  encode {:5.1} ns/event  open {:5.2} ns/event  decode {:6.1} M events/s",
        file.len() as f64 / n,
        best_encode * 1e9 / n,
        best_open * 1e9 / n,
        n / best_decode / 1e6,
    );
}

/// STD text in and out, through memory.
fn measure_std(run: &Run) {
    let tables = Tables::default();
    let mut text = Vec::new();
    let mut best = [f64::MAX; 3];
    for _ in 0..3 {
        text.clear();
        let clock = Clock::start();
        let mut exporter = std_text::Exporter::new(Default::default(), &tables);
        for &(thread, site, op, _) in &run.events {
            exporter.event(&Event { thread, site, op }, &mut text);
        }
        best[0] = best[0].min(clock.seconds());
        let clock = Clock::start();
        let strict = std_text::Strictness::Strict;
        std_text::import(&text[..], strict, |e| {
            black_box(e);
            Ok(())
        })
        .expect("just written");
        best[1] = best[1].min(clock.seconds());
        let clock = Clock::start();
        std_text::convert(&text[..], strict, std::io::sink()).expect("just written");
        best[2] = best[2].min(clock.seconds());
    }
    let [export, import, convert] = best.map(|s| text.len() as f64 / s / 1e6);
    println!(
        "STD text: export {export:.0} MB/s, import {import:.0} MB/s, to binary {convert:.0} MB/s"
    );
}

fn main() {
    for (name, run) in [
        ("arrays", arrays()),
        ("objects", objects()),
        ("locks", locks()),
        ("noise", noise()),
    ] {
        measure(name, &run);
    }
    measure_std(&noise());
}
