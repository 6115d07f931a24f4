//! Events a second of processor time and peak memory of each engine, on
//! generated traces:
//! `cargo bench -p photofinish-predict`, or `cargo bench -p photofinish-predict -- 1 syncp,osr` for
//! one million events and two engines.
//!
//! Ten threads, fifty locks, a hundred thousand variables; nine events in ten
//! are plain accesses. Half of them go to the thread's own objects, a sixth to
//! objects that threads hand over to each other through a mailbox under a lock
//! and then access without, the others to shared ones: in trace `guarded`
//! always under the lock that belongs to them, in trace `careless` one access
//! in fifty, to one of a thousand variables and by three hundred statements,
//! is made without. For sliced causality, what a thread does depends on what it
//! did before, on mailboxes and every sixteenth read besides, and what it writes
//! on the read before. Every measurement is a process of its own, so
//! that its peak of memory is its own; what the trace itself takes, which the
//! engines that fold do not need, is shown beside it.

use fastrand::Rng;
use predict::deps::{Builder, Dep, Deps};
use predict::{Method, Standing};
use std::process::{Command, ExitCode};
use trace::{Event, Loc, LockId, ObjId, Op, SiteId, ThreadId};

const THREADS: u64 = 10;
const LOCKS: u64 = 50;
const OBJECTS: u64 = 20_000;
const FIELDS: u64 = 5;
/// Objects accessed without a lock, and those of each mailbox.
const CARELESS: u64 = 200;
const HANDED: u64 = 20;

fn generate(events: usize, careless: bool) -> Vec<Event> {
    let mut random = Rng::with_seed(7);
    let mut out = Vec::with_capacity(events + 32);
    for thread in 0..THREADS as u32 {
        if thread > 0 {
            out.push(event(0, 0, Op::Fork(ThreadId(thread))));
        }
        out.push(event(thread, 0, Op::Begin));
    }
    // What each thread is in the middle of: a lock and the accesses left.
    let mut inside = [(0u64, 0u64); THREADS as usize];
    let mut taken = [false; LOCKS as usize];
    // Who took what was in each lock's mailbox.
    let mut owner = [None; LOCKS as usize];
    while out.len() < events {
        let thread = random.u64(..THREADS);
        let (lock, left) = inside[thread as usize];
        let op = if left == 1 {
            taken[lock as usize] = false;
            inside[thread as usize] = (0, 0);
            Op::Release(LockId(ObjId(1 + lock)))
        } else if careless && random.u64(..50) == 0 {
            let op = access(&mut random, CARELESS, 0);
            let site = 2000 + random.u64(..300) as u32;
            out.push(event(thread as u32, site, op));
            continue;
        } else if left > 1 {
            inside[thread as usize].1 -= 1;
            // A third of the objects, dealt out to the locks.
            let object = OBJECTS / 3 / LOCKS;
            access(&mut random, object, CARELESS + lock * object)
        } else if let lock = random.u64(..LOCKS)
            && owner[lock as usize] == Some(thread)
        {
            access(&mut random, HANDED, OBJECTS + lock * HANDED)
        } else if random.u64(..12) > 0 {
            let own = OBJECTS / 2 / THREADS;
            access(&mut random, own, OBJECTS / 3 + CARELESS + thread * own)
        } else {
            let lock = random.u64(..LOCKS);
            if std::mem::replace(&mut taken[lock as usize], true) {
                continue;
            }
            inside[thread as usize] = (lock, 4 + random.u64(..5));
            out.push(event(
                thread as u32,
                900,
                Op::Acquire(LockId(ObjId(1 + lock))),
            ));
            let mailbox = Loc {
                obj: ObjId(500 + lock),
                slot: 0,
            };
            out.push(event(thread as u32, 901, Op::Read(mailbox)));
            let now = &mut owner[lock as usize];
            if now.is_some_and(|owner| owner != thread) {
                continue;
            }
            *now = now.is_none().then_some(thread);
            Op::Write(mailbox)
        };
        // A statement accesses one field; three of them read it and three write.
        let site = match op.access() {
            Some((loc, write)) => 1 + loc.slot * 6 + u32::from(write) * 3 + random.u64(..3) as u32,
            None => 902,
        };
        out.push(event(thread as u32, site, op));
    }
    out
}

/// What the events depend on.
fn dependences(trace: &[Event]) -> Deps {
    let mut builder = Builder::new(trace.len());
    let mut last = [None; THREADS as usize];
    let mut last_read = [None; THREADS as usize];
    let mut reads = 0u32;
    let mut decided = [false; THREADS as usize];
    for (at, e) in (0u32..).zip(trace) {
        let t = e.thread.0 as usize;
        let before = last[t].map(Dep::Happens);
        let read = last_read[t].map(Dep::Value);
        let access = e.op.access();
        let value = read.filter(|_| access.is_some_and(|(_, write)| write));
        builder.event(
            at,
            before.into_iter().chain(read.filter(|_| decided[t])),
            value,
        );
        if let Some((loc, write)) = access {
            builder.class(at, loc.slot);
            if !write {
                last_read[t] = Some(at);
                reads += 1;
                // What is in a mailbox decides who goes on with it.
                decided[t] = reads.is_multiple_of(16) || e.site.0 == 901;
            }
        }
        last[t] = Some(at);
    }
    builder.build()
}

fn access(random: &mut Rng, objects: u64, from: u64) -> Op {
    let loc = Loc {
        obj: ObjId(1000 + from + random.u64(..objects)),
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

/// The most memory this process ever had, in MB.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kb = line.and_then(|l| l.split_whitespace().next()?.parse::<f64>().ok());
    kb.unwrap_or(f64::NAN) / 1024.0
}

/// Seconds that this process has had a processor: others may be at work.
fn processor() -> f64 {
    let status = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanos = status
        .split_whitespace()
        .next()
        .and_then(|n| n.parse::<f64>().ok());
    nanos.unwrap_or(f64::NAN) / 1e9
}

/// One measurement, in this process.
fn measure(method: Method, millions: f64, careless: bool) {
    let trace = generate((millions * 1e6) as usize, careless);
    let deps = match method {
        Method::Sliced => dependences(&trace),
        _ => Deps::unknown(),
    };
    let before = peak();
    let start = processor();
    let found = method.run_with(&trace, &deps);
    let seconds = processor() - start;
    let predicted = found.iter().filter(|p| p.standing == Standing::Predicted);
    println!(
        "{:<10}{:>6}{:<9}{:>9.2}{:>12.2}{:>10.0}{:>10.0}{:>8}{:>11}  {}",
        if careless { "careless" } else { "guarded" },
        millions,
        format!("  {}", method.name()),
        seconds,
        trace.len() as f64 / seconds / 1e6,
        before,
        peak(),
        found.len(),
        predicted.count(),
        found.incomplete.as_deref().unwrap_or("")
    );
    assert!(careless || found.is_empty(), "the program is correct");
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [_, _, _, _] = args.as_slice()
        && args[0] == "measure"
        && let (Some(method), Ok(millions)) = (Method::from_name(&args[1]), args[2].parse())
    {
        measure(method, millions, args[3] == "careless");
        return ExitCode::SUCCESS;
    }
    let sizes: Vec<&String> = args.iter().filter(|a| a.parse::<f64>().is_ok()).collect();
    let sizes = if sizes.is_empty() {
        vec!["1", "10"]
    } else {
        sizes.into_iter().map(String::as_str).collect()
    };
    let named = args.iter().flat_map(|a| a.split(','));
    let mut methods: Vec<Method> = named.filter_map(Method::from_name).collect();
    if methods.is_empty() {
        methods = Method::ALL.to_vec();
    }
    println!(
        "{:<10}{:>6}{:<9}{:>9}{:>12}{:>10}{:>10}{:>8}{:>11}",
        "trace", "M", "  by", "seconds", "M events/s", "trace MB", "peak MB", "pairs", "predicted"
    );
    let me = std::env::current_exe().expect("a path to this program");
    for kind in ["guarded", "careless"] {
        for size in &sizes {
            for method in &methods {
                let args = ["measure", method.name(), size, kind];
                let done = Command::new(&me).args(args).status();
                if !done.is_ok_and(|status| status.success()) {
                    return ExitCode::FAILURE;
                }
            }
        }
    }
    ExitCode::SUCCESS
}
