//! Random runs, and the dumbest possible merge of them.

// Each test binary uses a part of this.
#![allow(dead_code)]

use proptest::prelude::*;
use trace::*;

/// An event with its sequence number (0 if it has none).
pub type Numbered = (Event, u64);

fn small_or_any() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0..20u64, 1 => 0..5000u64, 1 => any::<u64>()]
}

pub fn op() -> impl Strategy<Value = Op> {
    let obj = || small_or_any().prop_map(ObjId);
    let lock = || obj().prop_map(LockId);
    let slot = prop_oneof![8 => 0..40u32, 1 => any::<u32>()];
    let loc = (obj(), slot)
        .prop_map(|(obj, slot)| Loc { obj, slot })
        .boxed();
    let thread = || prop_oneof![9 => 0..6u32, 1 => any::<u32>()].prop_map(ThreadId);
    let mode = || prop_oneof![Just(Mode::Opaque), Just(Mode::AcqRel), Just(Mode::Volatile)];
    prop_oneof![
        20 => loc.clone().prop_map(Op::Read),
        20 => loc.clone().prop_map(Op::Write),
        2 => (loc.clone(), mode()).prop_map(|(l, m)| Op::AtomicRead(l, m)),
        2 => (loc.clone(), mode()).prop_map(|(l, m)| Op::AtomicWrite(l, m)),
        2 => (loc, mode()).prop_map(|(l, m)| Op::AtomicUpdate(l, m)),
        4 => lock().prop_map(Op::Acquire),
        4 => lock().prop_map(Op::Release),
        1 => lock().prop_map(Op::AcquireShared),
        1 => lock().prop_map(Op::ReleaseShared),
        1 => lock().prop_map(Op::WaitBegin),
        1 => (lock(), any::<bool>()).prop_map(|(lock, notified)| Op::WaitEnd { lock, notified }),
        1 => prop_oneof![lock().prop_map(Op::Notify), lock().prop_map(Op::NotifyAll)],
        1 => thread().prop_map(Op::Fork),
        1 => prop_oneof![Just(Op::Begin), Just(Op::End), Just(Op::Interrupted), Just(Op::Park)],
        1 => prop_oneof![
            thread().prop_map(Op::Join),
            thread().prop_map(Op::Interrupt),
            thread().prop_map(Op::Unpark)
        ],
        1 => prop_oneof![
            obj().prop_map(Op::SyncRelease),
            obj().prop_map(Op::SyncAcquire),
            obj().prop_map(Op::InitBegin),
            obj().prop_map(Op::InitEnd)
        ],
        2 => prop_oneof![
            any::<u32>().prop_map(Op::MethodEnter),
            any::<u32>().prop_map(Op::MethodExit),
            any::<u32>().prop_map(Op::Branch),
            any::<u32>().prop_map(Op::Unsure)
        ],
    ]
}

pub fn site() -> impl Strategy<Value = SiteId> {
    prop_oneof![9 => 0..50u32, 1 => any::<u32>()].prop_map(SiteId)
}

/// A run in the order it happened, synchronisation numbered from 1.
pub fn run(max: usize) -> impl Strategy<Value = Vec<Numbered>> {
    prop::collection::vec((0..5u32, site(), op()), 0..max).prop_map(|events| {
        let mut seq = 0;
        let number = |(thread, site, op): (u32, SiteId, Op)| {
            let thread = ThreadId(thread);
            let mine = if op.is_sync() {
                seq += 1;
                seq
            } else {
                0
            };
            (Event { thread, site, op }, mine)
        };
        events.into_iter().map(number).collect()
    })
}

/// What merging should give: by the latest number of the thread, else stable.
pub fn merged(run: &[Numbered]) -> Vec<Item> {
    let mut out = Vec::new();
    for thread in 0..5 {
        let mut latest = 0;
        for &(event, seq) in run.iter().filter(|(e, _)| e.thread.0 == thread) {
            latest = latest.max(seq);
            out.push(Item { event, seq: latest });
        }
    }
    out.sort_by_key(|item| item.seq);
    out
}

pub fn header() -> RunHeader {
    RunHeader {
        tool: "photofinish 0.1.0".into(),
        jdk: "17".into(),
        command: vec!["-cp".into(), "x".into(), "Main".into()],
        start_ms: 12,
        ordered: true,
    }
}

/// Writes the run as the agent would: buffers of `size` events, each thread's
/// written when full, the rest at the end.
pub fn write(run: &[Numbered], size: usize) -> Vec<u8> {
    let mut w = Writer::new(Vec::new(), &header()).unwrap();
    let mut buffers: Vec<Vec<u64>> = vec![Vec::new(); 5];
    for &(e, seq) in run {
        let t = e.thread.0 as usize;
        raw::pack(e.site, e.op, seq, &mut buffers[t]);
        if buffers[t].len() >= size * raw::WORDS {
            w.append_raw(e.thread, &buffers[t]).unwrap();
            buffers[t].clear();
        }
    }
    for (t, words) in buffers.iter().enumerate() {
        w.append_raw(ThreadId(t as u32), words).unwrap();
    }
    w.finish(Default::default()).unwrap()
}

pub fn read(bytes: &[u8]) -> Vec<Item> {
    let mut trace = Trace::from_slice(bytes).unwrap();
    trace.all_events().map(|item| item.unwrap()).collect()
}
