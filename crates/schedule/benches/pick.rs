//! What a decision costs: `cargo bench -p photofinish-schedule` prints, for each strategy
//! with 2, 8 and 64 enabled threads, nanoseconds a pick; then what else is done
//! for every step.

use schedule::log::{Header, Writer};
use schedule::progress::Progress;
use schedule::{Decision, Kind, Op, Params, Ready, Rng, Thread, View, strategies, strategy};
use std::hint::black_box;
use test_support::clock::Clock;

const PICKS: u64 = 1_000_000;

/// Best of three, a pick.
fn measure(mut work: impl FnMut()) -> f64 {
    let one = |_| {
        let clock = Clock::start();
        work();
        clock.seconds() * 1e9 / PICKS as f64
    };
    (0..3).map(one).fold(f64::MAX, f64::min)
}

/// Locks and volatiles of a few objects at some hundred statements; once in a
/// while a yield, or an access at a statement of the pair.
fn next_op(rng: &mut Rng) -> Op {
    let kind = match rng.below(64) {
        0 => Kind::Yield,
        1 => Kind::Read,
        2 => Kind::Write,
        n if n < 20 => Kind::AtomicRead,
        n if n < 40 => Kind::Release,
        _ => Kind::Acquire,
    };
    let site = match kind {
        Kind::Read => 1,
        Kind::Write => 2,
        _ => 3 + rng.below(500) as u32,
    };
    Op {
        kind,
        site,
        obj: 1 + rng.below(50),
        slot: 0,
    }
}

fn picks(name: &str, threads: Thread) -> f64 {
    let params = Params {
        seed: 1,
        steps: PICKS,
        pair: Some([vec![1], vec![2]]),
        ..Params::default()
    };
    measure(|| {
        let mut strategy = strategy(name, &params).expect("a known name");
        let mut rng = Rng::new(2);
        let first = |thread| Ready {
            thread,
            op: next_op(&mut Rng::new(u64::from(thread))),
        };
        let mut ready: Vec<Ready> = (0..threads).map(first).collect();
        let mut last = None;
        for step in 0..PICKS {
            let view = View {
                ready: &ready,
                last,
                deadline: None,
                step,
            };
            if let Decision::Run(thread) = strategy.pick(&view) {
                ready[thread as usize].op = next_op(&mut rng);
                last = Some(thread);
            }
            if step % 1024 == 0 {
                black_box(strategy.take_hits());
            }
        }
    })
}

fn steps() -> Vec<(Thread, Op)> {
    let mut rng = Rng::new(3);
    let one = |_| (rng.below(8) as Thread, next_op(&mut rng));
    (0..PICKS).map(one).collect()
}

fn main() {
    println!(
        "{:12} {:>8} {:>8} {:>8}   ns a pick, by enabled threads",
        "", 2, 8, 64
    );
    for name in strategies() {
        let [two, eight, many] = [2, 8, 64].map(|threads| picks(name, threads));
        println!("{name:12} {two:8.1} {eight:8.1} {many:8.1}");
    }
    let steps = steps();
    let watched = measure(|| {
        let mut progress = Progress::default();
        for (thread, op) in &steps {
            black_box(progress.step(*thread, op, op.kind.gives_way()));
        }
    });
    let mut size = 0;
    let logged = measure(|| {
        let mut log = Writer::new(Vec::new(), &Header::default()).expect("in memory");
        for (thread, op) in &steps {
            log.step(*thread, op).expect("in memory");
        }
        size = log.end("").expect("in memory").0.len();
    });
    println!("progress     {watched:8.1} ns a step");
    let bytes = size as f64 / PICKS as f64;
    println!("log          {logged:8.1} ns a step, {bytes:.1} bytes (no pattern at all)");
}
