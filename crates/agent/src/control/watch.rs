//! A thread of our own that looks whether the thread that has the turn gets on.
//!
//! One that sleeps in the kernel although it has the turn waits for something
//! that only another thread can bring: class initialisation, a native lock,
//! input. It is taken to be outside, another one runs, and the report says so.
//! While somebody is outside and nobody else can run, time passes as it does
//! elsewhere, and to a far deadline when nothing has come for a while.
//! When all that the program waits for has ended but the JVM does not shut down,
//! daemons go on. When nothing at all has happened for long, the run is ended with
//! a dump.

use super::{Control, Place};
use crate::{Agent, agent, guard};
use protocol::control::Cause;
use schedule::SchedulerState;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const PERIOD: Duration = Duration::from_millis(10);
/// Looks in a row that find the thread asleep, its processor time unchanged.
const PATIENCE: u32 = 5;
/// The same while threads of the JVM's own have work to do.
const JVM_PATIENCE: u32 = 200;
/// Looks in a row that find nobody running although somebody could.
const IDLE: u32 = 100;
/// The same while a deadline is waited for.
const SHORT_PERIOD: Duration = Duration::from_millis(1);
/// How long threads outside have to bring something before a far deadline comes.
const MOST_WAITED: Duration = Duration::from_secs(2);
/// Looks between two times that the schedule is handed to the file system.
const FLUSH: u32 = 20;
/// How long the JVM may take to tell what its threads do when a run is given up.
const LAST_WORDS: Duration = Duration::from_secs(20);

impl Control {
    pub(super) fn start_watch(&self) {
        let thread = std::thread::Builder::new().name("photofinish".into());
        let spawned = thread.spawn(|| {
            guard(|| {
                if let Some(a) = agent()
                    && let Some(control) = &a.control
                {
                    control.watch(a);
                }
            });
        });
        if let Err(e) = spawned {
            crate::complain!("no thread to watch the run with: {e}");
        }
    }

    fn watch(&self, a: &Agent) {
        let mut beat = 0;
        let mut last_life = Instant::now();
        let mut asleep: Option<(u32, u64)> = None;
        let (mut looks, mut jvm_looks, mut idle_looks) = (0, 0, 0);
        let (mut flushed, mut unflushed) = (0, 0);
        let mut waiting: Option<(u64, Instant)> = None;
        loop {
            if self.is_over.load(Ordering::Acquire) {
                if self.worker().is_none() {
                    return;
                }
                (last_life, looks) = (Instant::now(), 0);
                std::thread::sleep(PERIOD);
                continue;
            }
            std::thread::sleep(if waiting.is_some() {
                SHORT_PERIOD
            } else {
                PERIOD
            });
            let now = self.beat.load(Ordering::Relaxed);
            let (running, idle, deadline) = {
                let state = self.state.lock().unwrap_or_else(|e| e.into_inner());
                let world = &state.world;
                let running = world.running().and_then(|t| self.place(t));
                let deadline = world.until_deadline().map(|left| (world.turns(), left));
                (running, world.is_idle(), deadline)
            };
            waiting = self.let_time_pass(a, waiting, deadline);
            unflushed += 1;
            if unflushed >= FLUSH && now != flushed {
                (flushed, unflushed) = (now, 0);
                self.lock().journal.flush();
            }
            idle_looks = if idle && now == beat {
                idle_looks + 1
            } else {
                0
            };
            if idle_looks >= IDLE {
                let next = self.ask(a, SchedulerState::resume);
                self.tell(next);
            }
            let at_work = running.filter(|p| !p.is_waiting.load(Ordering::Acquire));
            let seen = at_work.and_then(kernel_state);
            let sleeping = seen.filter(|s| s.asleep).map(|s| (s.tid, s.time));
            if now != beat || self.collecting.load(Ordering::Acquire) {
                (beat, looks, last_life) = (now, 0, Instant::now());
                asleep = sleeping;
                continue;
            }
            if seen.is_some_and(|s| !s.asleep) {
                last_life = Instant::now(); // it computes
            }
            looks = match sleeping {
                Some(_) if sleeping != asleep => 0,
                // It may wait for one of the JVM's own threads.
                Some(_) if looks > 0 && self.is_jvm_busy() && jvm_looks < JVM_PATIENCE => {
                    jvm_looks += 1;
                    looks
                }
                Some(_) => looks + 1,
                None => 0,
            };
            if looks == 0 {
                jvm_looks = 0;
            }
            asleep = sleeping;
            let waits = looks >= PATIENCE && !self.settings.debugger;
            if let (true, Some(place)) = (waits, running) {
                looks = 0;
                self.let_others_run(a, place, now);
            }
            if last_life.elapsed() > Duration::from_secs(self.settings.watchdog)
                && self.is_running.load(Ordering::Acquire)
            {
                self.give_up(a);
            }
        }
    }

    /// `deadline`: how often the turn was given so far, and how far the deadline is
    /// that is waited for. Since when it is, comes back.
    fn let_time_pass(
        &self,
        a: &Agent,
        waiting: Option<(u64, Instant)>,
        deadline: Option<(u64, u64)>,
    ) -> Option<(u64, Instant)> {
        let (turns, left) = deadline?;
        let since = match waiting {
            Some((before, since)) if before == turns => since,
            _ => return Some((turns, Instant::now())),
        };
        if since.elapsed() < Duration::from_nanos(left).min(MOST_WAITED) {
            return waiting;
        }
        let next = self.ask(a, SchedulerState::pass_time);
        self.tell(next);
        None
    }

    /// Whether a thread that is not the program's, such as a compiler, wants to run.
    fn is_jvm_busy(&self) -> bool {
        let watch = rustix::thread::gettid().as_raw_nonzero().get() as u32;
        let controlled: Vec<u32> = {
            let places = self.places.read().unwrap_or_else(|e| e.into_inner());
            let tids = places.iter().map(|p| p.tid.load(Ordering::Acquire));
            tids.chain([watch]).collect()
        };
        let Ok(tasks) = std::fs::read_dir("/proc/self/task") else {
            return false;
        };
        tasks
            .flatten()
            .filter_map(|t| t.file_name().to_str()?.parse::<u32>().ok())
            .filter(|tid| !controlled.contains(tid))
            .any(|tid| task_state(tid).is_some_and(|s| !s.asleep))
    }

    /// The thread waits for something outside.
    fn let_others_run(&self, a: &Agent, place: &'static Place, beat: u64) {
        if self.beat.load(Ordering::Relaxed) != beat {
            return;
        }
        let mut left = false;
        let next = self.ask(a, |world: &mut SchedulerState| {
            left = world.running() == Some(place.thread) && world.has_choice();
            if left {
                world.leave(place.thread)
            } else {
                schedule::Next::Idle
            }
        });
        if !left {
            return;
        }
        self.lock().journal.note(&format!(
            "thread {} waits inside the JVM or native code; others go on",
            place.thread
        ));
        self.name_uncontrolled(
            a,
            Cause::WaitedOutside,
            &format!(
                "thread \"{}\" waited inside the JVM or native code",
                place.name
            ),
        );
        self.tell(next);
    }

    fn tell(&self, next: schedule::Next) {
        if let schedule::Next::Run(thread) = next
            && let Some(next) = self.place(thread)
        {
            next.give_turn();
        }
    }

    fn give_up(&self, a: &Agent) {
        let why = format!(
            "nothing happened for {} seconds: every thread waits for something outside control",
            self.settings.watchdog
        );
        // A JVM that is stuck itself may not answer.
        std::thread::spawn(|| {
            std::thread::sleep(LAST_WORDS);
            crate::complain!("the JVM does not answer; the run is ended");
            crate::natives::exit_now(super::ending::STUCK);
        });
        // Attached only now: before, the program would see one thread more.
        self.end_stuck(a, a.attach_current_thread(), &why);
    }
}

#[derive(Clone, Copy)]
struct Seen {
    tid: u32,
    asleep: bool,
    /// Processor time, in ticks.
    time: u64,
}

/// What the kernel says of a thread.
fn kernel_state(place: &Place) -> Option<Seen> {
    task_state(place.tid.load(Ordering::Acquire))
}

/// Whether the thread has nothing to do, or waits for something.
pub(super) fn is_asleep(place: &Place) -> bool {
    kernel_state(place).is_none_or(|s| s.asleep)
}

fn task_state(tid: u32) -> Option<Seen> {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{tid}/stat")).ok()?;
    // The name, in parentheses, may contain anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let state = *fields.first()?;
    let time = |i: usize| fields.get(i)?.parse::<u64>().ok();
    Some(Seen {
        tid,
        asleep: state == "S" || state == "D",
        time: time(11)? + time(12)?,
    })
}
