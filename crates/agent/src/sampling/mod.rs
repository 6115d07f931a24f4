//! Runs under a budget: a thread of ours turns all probes from phase to phase. When, is decided in `account`; what they
//! do is in PhotofinishSampling.java; that no race is made up by it is argued in `detect::sampled`.
//!
//! Our part in that: an era is current from before the first probe can see it until before the first probe can
//! miss it, and its floor is what all threads have done when it begins. A race counts only if its era is current
//! after it was found.

mod account;

use crate::jni::Jni;
use crate::memory::RawClock;
use crate::{Agent, agent, guard};
use account::{Account, Phase, Reading, Step};
use instrument::SiteKind;
use protocol::{Budget, summary};
use rustix::time::{ClockId, clock_gettime};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Debug)]
pub struct Sampling {
    account: Mutex<Account>,
    /// 0: none.
    current: AtomicU32,
    floor: RawClock,
}

impl Sampling {
    pub fn new(budget: Budget) -> Sampling {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Sampling {
            account: Mutex::new(Account::new(budget, processors)),
            current: AtomicU32::new(0),
            floor: RawClock::new(),
        }
    }

    /// All that was done before the era, or more.
    pub fn floor(&self) -> RawClock {
        self.floor
    }

    /// Whether order has been followed since the era began.
    pub fn is_current(&self, era: u32) -> bool {
        era != 0 && self.current.load(Ordering::SeqCst) == era
    }

    /// Once the VM is up.
    pub fn start(&'static self, a: &'static Agent) {
        let thread = std::thread::Builder::new().name("photofinish".into());
        let spawned = thread.spawn(|| {
            guard(|| {
                if let Some(a) = agent()
                    && let Some(jni) = a.attach_current_thread()
                {
                    self.keep_turning(a, jni);
                }
            });
        });
        if let Err(e) = spawned {
            a.findings
                .warn(format!("cannot start a thread ({e}): nothing is watched"));
        }
    }

    fn keep_turning(&self, a: &Agent, jni: Jni) {
        let mut era = 0;
        loop {
            let now = reading(a);
            let step = { self.account.lock().unwrap_or_else(|e| e.into_inner()) }.step(now);
            match step {
                Step::Sleep(nap) => std::thread::sleep(nap),
                Step::Turn(to) => self.turn(a, jni, to, &mut era),
            }
        }
    }

    fn turn(&self, a: &Agent, jni: Jni, to: Phase, era: &mut u32) {
        let Some(bridge) = a.bridge.get() else { return };
        let of = match to {
            Phase::Rest | Phase::Count => {
                self.current.store(0, Ordering::SeqCst);
                0
            }
            Phase::Sample => {
                *era = era.wrapping_add(1).max(1);
                let threads = a.threads.lock().unwrap_or_else(|e| e.into_inner());
                threads.raise_to_now(self.floor);
                drop(threads);
                self.current.store(*era, Ordering::SeqCst);
                *era
            }
            Phase::Compare => *era,
        };
        bridge.turn(jni, to.number(), of as i32);
    }

    /// What was watched, of the whole run and of each class.
    pub fn summary(&self, a: &Agent) -> summary::Sampling {
        let now = reading(a);
        let totals = { self.account.lock().unwrap_or_else(|e| e.into_inner()) }.totals(now);
        let mut classes: BTreeMap<String, [u64; 2]> = BTreeMap::new();
        for class in a.sites.classes_from(0) {
            let accesses = (class.first..).zip(&class.sites).filter(|(_, site)| {
                let data = matches!(
                    site.kind,
                    SiteKind::FieldRead
                        | SiteKind::FieldWrite
                        | SiteKind::StaticRead
                        | SiteKind::StaticWrite
                        | SiteKind::ElemRead
                        | SiteKind::ElemWrite
                );
                data && site.checked && site.volatile != Some(true)
            });
            for (number, _) in accesses {
                let counts = classes
                    .entry(encoding::names::dotted(&class.class))
                    .or_default();
                counts[0] += 1;
                counts[1] += u64::from(a.sites.table.was_sampled(number));
            }
        }
        let classes = classes.into_iter();
        summary::Sampling {
            classes: classes
                .map(|(class, [statements, sampled])| summary::SampledClass {
                    class,
                    statements,
                    sampled,
                })
                .collect(),
            ..totals
        }
    }
}

fn reading(a: &Agent) -> Reading {
    let used = clock_gettime(ClockId::ProcessCPUTime);
    let threads = a.threads.lock().unwrap_or_else(|e| e.into_inner());
    Reading {
        cpu: used.tv_sec as u64 * 1_000_000 + used.tv_nsec as u64 / 1_000,
        accesses: threads.counted(),
    }
}
