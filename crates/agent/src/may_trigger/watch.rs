//! Reversed lock orders lead to deadlocks, too. A thread of our own looks for
//! them: threads that wait for locks in a ring, twice in a row, all of them
//! blocked in the eyes of the JVM. Such a run is reported and ended; the driver
//! makes another.

use super::{Hidden, Live};
use crate::jni::Jni;
use crate::jvmti::state;
use crate::{Agent, agent, guard};
use protocol::RunEnd;
use protocol::control::{StuckThreads, Waiting};
use protocol::finding::Line;
use std::time::Duration;

const PERIOD: Duration = Duration::from_millis(300);
/// As for controlled runs.
const DEADLOCK: i32 = 112;

impl Hidden {
    /// Once the VM is up.
    pub fn start_watch(&self) {
        if self.holder.is_none() {
            return;
        }
        let thread = std::thread::Builder::new().name("photofinish".into());
        let spawned = thread.spawn(|| {
            guard(|| {
                if let Some(a) = agent()
                    && let Some(hidden) = &a.hidden
                    && let Some(jni) = a.attach_current_thread()
                {
                    hidden.watch(a, jni);
                }
            });
        });
        if let Err(e) = spawned {
            crate::complain!("no thread to look for deadlocks with: {e}");
        }
    }

    fn watch(&self, a: &Agent, jni: Jni) {
        let mut before: Vec<u32> = Vec::new();
        loop {
            std::thread::sleep(PERIOD);
            let ring = self.ring(a, jni);
            let ids: Vec<u32> = ring.iter().map(|l| l.id).collect();
            if !ids.is_empty() && ids == before {
                self.end_in_deadlock(a, jni, &ring);
            }
            before = ids;
        }
    }

    /// Threads that wait for each other, in order; empty if there are none.
    fn ring(&self, a: &Agent, jni: Jni) -> Vec<Live> {
        let Some(bridge) = a.bridge.get() else {
            return Vec::new();
        };
        let live: Vec<Live> = self.live();
        let blocked = |l: &Live| {
            let now = a.jvmti.thread_state(l.object.get());
            now & (state::BLOCKED | state::PARKED) != 0
        };
        let next = |l: &Live| {
            let id = blocked(l).then(|| bridge.waits_for(jni, l.object.get()))?;
            live.iter().find(|other| other.id as i32 == id).cloned()
        };
        for start in &live {
            let mut ring = vec![start.clone()];
            while let Some(other) = ring.last().and_then(next) {
                if other.id == start.id {
                    // The same ring is found from each of its threads.
                    ring.sort_by_key(|l| l.id);
                    return ring;
                }
                if ring.iter().any(|l| l.id == other.id) {
                    break;
                }
                ring.push(other);
            }
        }
        Vec::new()
    }

    fn end_in_deadlock(&self, a: &Agent, jni: Jni, ring: &[Live]) {
        let Some(bridge) = a.bridge.get() else {
            return;
        };
        let name = |l: &Live| a.jvmti.thread(l.object.get()).0;
        let threads: Vec<_> = ring
            .iter()
            .map(|l| {
                let holder = bridge.waits_for(jni, l.object.get());
                let holder = ring.iter().find(|other| other.id as i32 == holder);
                let held = bridge.held_by(jni, l.object.get());
                let mut stacks = a.stacks.lock().unwrap_or_else(|e| e.into_inner());
                let stack = stacks.of_thread(&a.jvmti, l.object.get());
                Waiting {
                    thread: name(l),
                    waits_for: bridge.wanted(jni, l.object.get()),
                    held_by: holder.map(name),
                    holds: held.lines().map(str::to_owned).collect(),
                    stack: a.told(&stack),
                }
            })
            .collect();
        a.findings.write(Line::Deadlock(StuckThreads {
            cycle: true,
            threads,
        }));
        guard(|| a.finish_with(RunEnd::Deadlock));
        crate::natives::exit_now(DEADLOCK);
    }
}
