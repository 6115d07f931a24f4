//! What a trace consists of: how many events of which kind, by whom, where,
//! and what they cost in the file.

use std::collections::BTreeMap;
use std::io::{Read, Seek};

use rustc_hash::FxHashMap;

use crate::error::Error;
use crate::event::{Op, SiteId, ThreadId};
use crate::merge::Gap;
use crate::reader::Trace;

#[derive(Clone, PartialEq, Debug, Default)]
pub struct Stats {
    pub events: u64,
    /// Plain reads and writes.
    pub accesses: u64,
    /// By the name of the kind of event ([`Op::name`]).
    pub kinds: BTreeMap<&'static str, u64>,
    pub threads: BTreeMap<ThreadId, u64>,
    /// Locations that were accessed plainly.
    pub locations: u64,
    /// Sites by accesses, most first.
    pub sites: Vec<(SiteId, u64)>,
    /// Fields (their slots) by accesses, most first; accesses of elements, as
    /// far as sites tell, are left out.
    pub fields: Vec<(u32, u64)>,
    /// Bytes of event chunks divided by events.
    pub bytes_per_event: f64,
    pub file_bytes: u64,
    /// Where events were lost first, and how many numbered ones altogether.
    pub gap: Option<Gap>,
    pub missing: u64,
}

impl Stats {
    /// Reads all events that were saved, also those behind gaps. The lists of
    /// sites and fields are cut to `top`.
    pub fn collect<R: Read + Seek>(trace: &mut Trace<R>, top: usize) -> Result<Stats, Error> {
        let mut stats = Stats::default();
        let mut sites: FxHashMap<SiteId, u64> = FxHashMap::default();
        let mut slots: FxHashMap<(SiteId, u32), u64> = FxHashMap::default();
        let mut locations = rustc_hash::FxHashSet::default();
        let mut events = trace.all_events();
        events.for_each_event(|e| {
            stats.events += 1;
            *stats.kinds.entry(e.op.name()).or_default() += 1;
            *stats.threads.entry(e.thread).or_default() += 1;
            if let Some((loc, _)) = e.op.access() {
                stats.accesses += 1;
                locations.insert(loc);
                *sites.entry(e.site).or_default() += 1;
                *slots.entry((e.site, loc.slot)).or_default() += 1;
            }
        })?;
        stats.gap = events.gap();
        stats.missing = events.missing();
        stats.locations = locations.len() as u64;

        let table = &trace.tables().sites;
        let mut fields: FxHashMap<u32, u64> = FxHashMap::default();
        for ((site, slot), n) in slots {
            if !table.get(&site).is_some_and(|s| s.kind.is_element()) {
                *fields.entry(slot).or_default() += n;
            }
        }
        stats.sites = ranked(sites, top);
        stats.fields = ranked(fields, top);
        let (event_bytes, file_bytes) = trace.sizes();
        stats.file_bytes = file_bytes;
        if stats.events > 0 {
            stats.bytes_per_event = event_bytes as f64 / stats.events as f64;
        }
        Ok(stats)
    }
}

/// Most first; equal ones by number, so that the answer is always the same.
fn ranked<K: Ord + Copy>(counts: FxHashMap<K, u64>, top: usize) -> Vec<(K, u64)> {
    let mut all: Vec<(K, u64)> = counts.into_iter().collect();
    all.sort_by_key(|&(key, n)| (std::cmp::Reverse(n), key));
    all.truncate(top);
    all
}

impl Op {
    /// The kind of event in a word or two, as statistics print it.
    pub fn name(self) -> &'static str {
        match self {
            Op::Read(_) => "read",
            Op::Write(_) => "write",
            Op::AtomicRead(..) => "atomic read",
            Op::AtomicWrite(..) => "atomic write",
            Op::AtomicUpdate(..) => "atomic update",
            Op::Acquire(_) => "acquire",
            Op::Release(_) => "release",
            Op::AcquireShared(_) => "acquire shared",
            Op::ReleaseShared(_) => "release shared",
            Op::WaitBegin(_) => "wait begin",
            Op::WaitEnd { .. } => "wait end",
            Op::Notify(_) => "notify",
            Op::NotifyAll(_) => "notify all",
            Op::Fork(_) => "fork",
            Op::Begin => "begin",
            Op::End => "end",
            Op::Join(_) => "join",
            Op::Interrupt(_) => "interrupt",
            Op::Interrupted => "interrupted",
            Op::Park => "park",
            Op::Unpark(_) => "unpark",
            Op::SyncRelease(_) => "sync release",
            Op::SyncAcquire(_) => "sync acquire",
            Op::InitBegin(_) => "init begin",
            Op::InitEnd(_) => "init end",
            Op::MethodEnter(_) => "method enter",
            Op::MethodExit(_) => "method exit",
            Op::Branch(_) => "branch",
            Op::Unsure(_) => "unsure",
        }
    }
}
