//! Numbers that are taken where an access would else be put before one that it
//! came after (java/bridge/java/lang/PhotofinishOrder.java) give accesses that
//! conflict the order of the run. The recorder here is that protocol, step by
//! step; the twin is the run itself.

mod common;

use common::{header, read};
use proptest::prelude::*;
use std::collections::BTreeMap;
use trace::*;

const THREADS: u32 = 4;

/// What a thread does next.
#[derive(Clone, Copy, Debug)]
enum Act {
    Read(u64),
    Write(u64),
    Volatile(u64, bool),
    Sync,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0..4u64).prop_map(Act::Read),
        4 => (0..4u64).prop_map(Act::Write),
        1 => (4..6u64, any::<bool>()).prop_map(|(v, w)| Act::Volatile(v, w)),
        1 => Just(Act::Sync),
    ]
}

#[derive(Clone, Copy, Default)]
struct Stripe {
    write: u64,
    read: u64,
}

/// The recorder: as many stripes as given, numbers by thread.
struct Recorder {
    stripes: Vec<Stripe>,
    numbers: [u64; THREADS as usize],
    next: u64,
    buffers: [Vec<u64>; THREADS as usize],
    orders: usize,
}

impl Recorder {
    fn number(&mut self, thread: u32) -> u64 {
        self.numbers[thread as usize] = self.next;
        self.next += 1;
        self.next - 1
    }

    fn put(&mut self, thread: u32, site: u32, op: Op, seq: u64) {
        raw::pack(SiteId(site), op, seq, &mut self.buffers[thread as usize]);
    }

    fn act(&mut self, thread: u32, site: u32, act: Act) {
        let loc = |var| Loc {
            obj: ObjId(var + 1),
            slot: 0,
        };
        let (var, write, atomic) = match act {
            Act::Sync => {
                let seq = self.number(thread);
                return self.put(thread, site, Op::SyncRelease(ObjId(99)), seq);
            }
            Act::Read(var) => (var, false, false),
            Act::Write(var) => (var, true, false),
            Act::Volatile(var, write) => (var, write, true),
        };
        let at = var as usize % self.stripes.len();
        let stripe = self.stripes[at];
        let latest = match write {
            true => stripe.write.max(stripe.read),
            false => stripe.write,
        };
        if atomic {
            let seq = self.number(thread);
            let op = match write {
                true => Op::AtomicWrite(loc(var), Mode::Volatile),
                false => Op::AtomicRead(loc(var), Mode::Volatile),
            };
            self.put(thread, site, op, seq);
        } else {
            if self.numbers[thread as usize] < latest {
                let seq = self.number(thread);
                self.orders += 1;
                let words = [u64::from(raw::ORDER), 0, seq];
                self.buffers[thread as usize].extend(words);
            }
            let op = match write {
                true => Op::Write(loc(var)),
                false => Op::Read(loc(var)),
            };
            self.put(thread, site, op, 0);
        }
        let number = self.numbers[thread as usize];
        let stripe = &mut self.stripes[at];
        match write {
            true => stripe.write = number,
            false => stripe.read = stripe.read.max(number),
        }
    }
}

fn recorded(run: &[(u32, Act)], stripes: usize) -> (Vec<Item>, usize) {
    let mut recorder = Recorder {
        stripes: vec![Stripe::default(); stripes],
        numbers: [0; THREADS as usize],
        next: raw::FIRST_SEQ,
        buffers: Default::default(),
        orders: 0,
    };
    for thread in 0..THREADS {
        let seq = recorder.number(thread);
        recorder.put(thread, 0, Op::Begin, seq);
    }
    for (site, (thread, act)) in (1..).zip(run) {
        recorder.act(*thread, site, *act);
    }
    let mut w = Writer::new(Vec::new(), &header()).unwrap();
    for (thread, words) in (0..).zip(&recorder.buffers) {
        w.append_raw(ThreadId(thread), words).unwrap();
    }
    let bytes = w.finish(Default::default()).unwrap();
    (read(&bytes), recorder.orders)
}

/// By access, which its site tells: the write it comes right after.
fn sources(accesses: impl Iterator<Item = (u32, u64, bool)>) -> BTreeMap<u32, Option<u32>> {
    let mut last = BTreeMap::new();
    let mut sources = BTreeMap::new();
    for (site, var, write) in accesses {
        sources.insert(site, last.get(&var).copied());
        if write {
            last.insert(var, site);
        }
    }
    sources
}

proptest! {
    #[test]
    fn reads_see_in_the_trace_what_they_saw_in_the_run(
        run in prop::collection::vec((0..THREADS, act()), 0..120),
        stripes in 1..6usize,
    ) {
        let happened = (1..).zip(&run).filter_map(|(site, (_, act))| match *act {
            Act::Read(var) => Some((site, var, false)),
            Act::Write(var) => Some((site, var, true)),
            Act::Volatile(var, write) => Some((site, var, write)),
            Act::Sync => None,
        });
        let (items, _) = recorded(&run, stripes);
        let merged = items.iter().filter_map(|item| {
            let (loc, write) = match item.event.op {
                Op::Read(loc) | Op::AtomicRead(loc, _) => (loc, false),
                Op::Write(loc) | Op::AtomicWrite(loc, _) => (loc, true),
                _ => return None,
            };
            Some((item.event.site.0, loc.obj.0 - 1, write))
        });
        prop_assert_eq!(sources(merged), sources(happened));
    }

    /// Who takes turns by synchronisation pays for no number.
    #[test]
    fn what_synchronisation_orders_needs_no_numbers(
        run in prop::collection::vec((0..THREADS, act()), 0..60),
        stripes in 1..6usize,
    ) {
        let turns: Vec<_> = run.iter().flat_map(|step| [(step.0, Act::Sync), *step]).collect();
        prop_assert_eq!(recorded(&turns, stripes).1, 0);
    }
}
