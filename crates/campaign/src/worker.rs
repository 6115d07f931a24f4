//! A worker: takes units, one a job, does them on a thread of its own, stores the outcome, and
//! only then acknowledges the unit.
//!
//! ```text
//! take ─ decode ─ (result there already?) ─ bundle ─ engine ─ store ─ finish
//!          │no work: refused                  │wrong digest: given back, after some times given up
//!          │a task that this version does not know: given back, after some times given up
//! ```
//!
//! While the engine works, the lease is extended. A worker that dies in between leaves
//! a unit whose lease runs out; whoever gets it next looks first whether the result is there.
//! A unit that was taken [`MOST_DELIVERIES`] times kills its workers: it is given up with that reason.

use crate::bundle;
use crate::error::Error;
use crate::execute::{Machine, simulate};
use crate::hand::{Hand, Order};
use crate::patience::{patiently, stopped};
use crate::queue::{Queue, Taken};
use crate::unit::{self, Campaign, Head, Outcome, State, Task, Unit, WorkerStatus};
use driver::scratch::{self, Scratch};
use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often a unit is given out before it is given up.
pub const MOST_DELIVERIES: u64 = 10;

/// How long a unit rests that this worker could not do.
const REST: Duration = Duration::from_secs(2);

/// How long to wait for a unit before looking whether there is still a campaign.
const WAIT: Duration = Duration::from_secs(2);

/// How often to look whether the campaign still goes on, while there are units.
const LOOK: Duration = Duration::from_secs(2);

/// How long a worker that is told to stop may take to give its units back. A server that is away must not keep it.
const LEAVE: Duration = Duration::from_secs(15);

/// How often a worker says what it does.
const SAY: Duration = Duration::from_secs(3);

/// Somebody to tell what happens, a line at a time.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// A worker of a campaign.
pub struct Worker<Q: Queue> {
    inner: Arc<Inner<Q>>,
}

impl<Q: Queue> Clone for Worker<Q> {
    fn clone(&self) -> Worker<Q> {
        Worker {
            inner: self.inner.clone(),
        }
    }
}

struct Inner<Q: Queue> {
    queue: Arc<Q>,
    machine: Machine,
    bundles: Arc<Bundles>,
    stop: Arc<AtomicBool>,
    tell: Tell,
    jobs: u32,
    units: AtomicU64,
    executions: AtomicU64,
    /// One for each job.
    hands: Vec<Hand>,
    /// As the queue has it, for hands.
    campaign: Arc<Campaign>,
    doing: Mutex<BTreeMap<u32, String>>,
    said: Mutex<Instant>,
}

impl<Q: Queue> std::fmt::Debug for Worker<Q> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker")
            .field("machine", &self.inner.machine)
            .finish_non_exhaustive()
    }
}

/// Bundles that were unpacked here, by the digests of their manifests.
#[derive(Debug)]
pub struct Bundles {
    root: Scratch,
    ready: tokio::sync::Mutex<BTreeMap<String, PathBuf>>,
}

impl Bundles {
    /// Below a directory that only this user can enter, gone with the value. Those that killed
    /// workers left are swept.
    pub fn new() -> Result<Bundles, Error> {
        scratch::sweep();
        let making = "cannot make a directory for bundles; is TMPDIR writable?";
        Ok(Bundles {
            root: Scratch::create().map_err(Error::io(making))?,
            ready: tokio::sync::Mutex::default(),
        })
    }

    /// Removes what was unpacked, whoever else still holds this value.
    pub fn clear(&self) {
        // What cannot be removed is swept by another process.
        let _ = std::fs::remove_dir_all(self.root.path());
    }

    /// Where the campaign's bundle is, unpacked.
    async fn get<Q: Queue>(&self, queue: &Q) -> Result<PathBuf, Error> {
        let manifest = &queue.campaign().bundle;
        let digest = manifest.digest();
        let mut ready = self.ready.lock().await;
        if let Some(place) = ready.get(&digest) {
            return Ok(place.clone());
        }
        manifest.check()?;
        let mut pieces = Vec::with_capacity(manifest.pieces.len());
        for piece in &manifest.pieces {
            let content = patiently(|| queue.piece(piece)).await?;
            piece.check(&content)?;
            pieces.push(content);
        }
        let place = self.root.path().join(&digest);
        unpack(manifest, &pieces, &place)?;
        ready.insert(digest, place.clone());
        Ok(place)
    }
}

/// Whole, or not there.
fn unpack(manifest: &bundle::Manifest, pieces: &[Vec<u8>], place: &Path) -> Result<(), Error> {
    let making = || format!("cannot unpack the bundle into {}", place.display());
    let made = std::fs::DirBuilder::new().mode(0o700).create(place);
    made.map_err(Error::io(making()))?;
    let done = bundle::unpack(manifest, pieces, place);
    if done.is_err() {
        let _ = std::fs::remove_dir_all(place);
    }
    done
}

/// What came of taking a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Worked,
    Nothing,
}

impl<Q: Queue> Worker<Q> {
    pub fn new(
        queue: Arc<Q>,
        machine: Machine,
        bundles: Arc<Bundles>,
        stop: Arc<AtomicBool>,
        jobs: u32,
        tell: Tell,
    ) -> Worker<Q> {
        Worker {
            inner: Arc::new(Inner {
                hands: (0..jobs.max(1)).map(|_| Hand::default()).collect(),
                campaign: Arc::new(queue.campaign().clone()),
                queue,
                machine,
                bundles,
                stop,
                tell,
                jobs: jobs.max(1),
                units: AtomicU64::new(0),
                executions: AtomicU64::new(0),
                doing: Mutex::default(),
                said: Mutex::new(Instant::now() - 2 * SAY),
            }),
        }
    }

    /// Works until the campaign is over, or somebody says stop.
    pub async fn run(&self) -> Result<(), Error> {
        let jobs = (0..self.inner.jobs).map(|job| {
            let inner = self.inner.clone();
            tokio::spawn(async move { inner.work(job).await })
        });
        let jobs: Vec<_> = jobs.collect();
        let abort: Vec<_> = jobs.iter().map(|job| job.abort_handle()).collect();
        let all = async {
            let mut result = Ok(());
            for job in jobs {
                let ended = job.await.unwrap_or_else(|error| {
                    Err(Error::Refused(format!(
                        "a job of this worker failed: {error}"
                    )))
                });
                result = result.and(ended);
            }
            result
        };
        let result = tokio::select! {
            result = all => result,
            // The leases of its units run out.
            () = stopped(&self.inner.stop, LEAVE) => Ok(()),
        };
        for job in abort {
            job.abort();
        }
        self.rest().await;
        result
    }

    /// Ends JVMs that are kept for further units, if no unit is being done.
    pub async fn rest(&self) {
        let inner = self.inner.clone();
        let resting = move || inner.hands.iter().for_each(Hand::rest);
        let _ = tokio::task::spawn_blocking(resting).await;
    }

    pub fn units(&self) -> u64 {
        self.inner.units.load(Ordering::Relaxed)
    }
}

impl<Q: Queue> Inner<Q> {
    fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    async fn work(&self, job: u32) -> Result<(), Error> {
        let mut looked = Instant::now();
        while !self.is_stopping() {
            let turn = patiently(|| self.turn(job)).await?;
            if turn == Turn::Nothing || looked.elapsed() >= LOOK {
                looked = Instant::now();
                self.say(false).await;
                // What is stopped is not worked on, whatever is still waiting.
                if patiently(|| self.queue.state()).await? != State::Running {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Takes a unit and does it.
    async fn turn(&self, job: u32) -> Result<Turn, Error> {
        let Some(taken) = self.queue.take(WAIT).await? else {
            return Ok(Turn::Nothing);
        };
        let campaign = self.queue.campaign();
        let head = unit::decode::<Head>(&taken.bytes).and_then(|head| {
            head.check(campaign)?;
            Ok(head)
        });
        let head = match head {
            Ok(head) => head,
            Err(error) => {
                (self.tell)(&format!(
                    "a message of campaign {} is no work and is refused: {error}",
                    campaign.name
                ));
                patiently(|| self.queue.refuse(&taken.lease)).await?;
                return Ok(Turn::Worked);
            }
        };
        let unit = match unit::decode::<Unit>(&taken.bytes) {
            Ok(unit) => unit,
            Err(error) => {
                let why = format!("this version ({}) cannot do it: {error}", engine::tool());
                self.leave(&taken, &head, why).await?;
                return Ok(Turn::Worked);
            }
        };
        if taken.deliveries > 1 && self.queue.is_stored(&unit.id()).await? {
            patiently(|| self.queue.finish(&taken.lease)).await?;
            return Ok(Turn::Worked);
        }
        if taken.deliveries > MOST_DELIVERIES {
            let why = format!(
                "it was given out {} times, and no worker came to its end",
                taken.deliveries - 1
            );
            self.conclude(&taken, Outcome::given_up(&unit, &self.machine.worker, why))
                .await?;
            return Ok(Turn::Worked);
        }
        let words = unit.words(campaign);
        self.doing(job, Some(words));
        self.say(false).await;
        let done = self
            .extended(&taken, self.done(job, &unit, taken.deliveries))
            .await;
        self.doing(job, None);
        match done {
            Ok(outcome) => self.conclude(&taken, outcome).await?,
            Err(why) => {
                if let Some(why) = why {
                    (self.tell)(&format!("unit {} is given back: {why}", unit.id()));
                }
                patiently(|| self.queue.give_back(&taken.lease, REST)).await?;
            }
        }
        Ok(Turn::Worked)
    }

    /// Leaves a unit to workers of other versions; if there are none, it is given up.
    async fn leave(&self, taken: &Taken<Q::Lease>, head: &Head, why: String) -> Result<(), Error> {
        if taken.deliveries < MOST_DELIVERIES {
            (self.tell)(&format!("unit {} is given back: {why}", head.id()));
            return patiently(|| self.queue.give_back(&taken.lease, REST)).await;
        }
        self.conclude(taken, head.given_up(&self.machine.worker, why))
            .await
    }

    /// The outcome; or why this worker cannot do it, if there is anything to say about that.
    async fn done(
        &self,
        job: u32,
        unit: &Unit,
        deliveries: u64,
    ) -> Result<Outcome, Option<String>> {
        let place = match self.bundles.get(&*self.queue).await {
            Ok(place) => place,
            // It may have been damaged on its way; what stays so is given up in the end.
            Err(error) if deliveries < MOST_DELIVERIES => return Err(Some(error.to_string())),
            Err(error) => {
                return Ok(Outcome::given_up(
                    unit,
                    &self.machine.worker,
                    error.to_string(),
                ));
            }
        };
        if let Task::Simulated { micros, seed } = unit.task {
            return Ok(simulate(unit, &self.machine, micros, seed).await);
        }
        let order = Order {
            unit: unit.clone(),
            campaign: self.campaign.clone(),
            place,
            machine: self.machine.clone(),
        };
        let outcome = match self.hands.get(job as usize) {
            Some(hand) => hand.work(order).await,
            None => None,
        };
        if self.is_stopping() {
            // A signal cut the runs short: what they found is not what the unit has.
            return Err(None);
        }
        Ok(outcome.unwrap_or_else(|| {
            Outcome::given_up(unit, &self.machine.worker, "the engine failed (panic)")
        }))
    }

    /// Stores the outcome, then lets the unit go.
    async fn conclude(&self, taken: &Taken<Q::Lease>, outcome: Outcome) -> Result<(), Error> {
        let store = async {
            match patiently(|| self.queue.store(&outcome)).await {
                Err(Error::Unknown(name)) => {
                    (self.tell)(&format!(
                        "the result of unit {} is refused: campaign {name:?} is not known \
                         (it was removed meanwhile?)",
                        outcome.id()
                    ));
                    Ok(())
                }
                Err(Error::Refused(why)) => {
                    let lost = format!("its result cannot be stored: {why}");
                    let given_up = Outcome {
                        end: unit::End::GivenUp { why: lost },
                        orders: Vec::new(),
                        ..outcome.clone()
                    };
                    patiently(|| self.queue.store(&given_up)).await.map(drop)
                }
                other => other.map(drop),
            }
        };
        self.extended(taken, store).await?;
        self.units.fetch_add(1, Ordering::Relaxed);
        self.executions
            .fetch_add(outcome.executions, Ordering::Relaxed);
        patiently(|| self.queue.finish(&taken.lease)).await
    }

    /// Extends the lease while something goes on.
    async fn extended<T>(&self, taken: &Taken<Q::Lease>, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        let pause = self.queue.campaign().budget.lease() / 3;
        loop {
            match tokio::time::timeout(pause, work.as_mut()).await {
                Ok(done) => return done,
                // A server that is away will have been told in time, or will give it out again.
                Err(_) => {
                    let _ = self.queue.extend(&taken.lease).await;
                    self.say(true).await;
                }
            }
        }
    }

    fn doing(&self, job: u32, what: Option<String>) {
        let mut doing = self.doing.lock().unwrap_or_else(|e| e.into_inner());
        match what {
            Some(what) => doing.insert(job, what),
            None => doing.remove(&job),
        };
    }

    /// Says what this worker does, from time to time. Nothing depends on it.
    async fn say(&self, now: bool) {
        {
            let mut said = self.said.lock().unwrap_or_else(|e| e.into_inner());
            if said.elapsed() < if now { SAY / 2 } else { SAY } {
                return;
            }
            *said = Instant::now();
        }
        let status = WorkerStatus {
            name: self.machine.worker.clone(),
            jobs: self.jobs,
            units: self.units.load(Ordering::Relaxed),
            executions: self.executions.load(Ordering::Relaxed),
            doing: {
                let doing = self.doing.lock().unwrap_or_else(|e| e.into_inner());
                doing.values().cloned().collect()
            },
            at: unit::now(),
        };
        let _ = self.queue.tell(&status).await;
    }
}

/// A name for this process: host, process number, and a word that no other has.
pub fn name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let plain = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() || c == '-' => c,
        _ => '-',
    };
    let host: String = host.trim().chars().take(40).map(plain).collect();
    format!(
        "{host}-{}-{:06x}",
        std::process::id(),
        fastrand::u32(..1 << 24)
    )
}
