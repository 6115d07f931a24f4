//! The queue inside one process. Units wait in memory; what must outlive the process is in a
//! directory, which others may read meanwhile:
//!
//! ```text
//! campaign.json   the description
//! state           running, stopped or done
//! made            how many units were published
//! pieces/DIGEST   the bundle
//! results         frames: length, time, name, message; only ever appended to
//! workers.json    what the workers said last
//! ```
//!
//! A place in the sequence of results is an offset into the file. A frame that was cut short
//! by a crash is cut off when the campaign goes on: its unit has no result then, and is done again.

use crate::bundle::Piece;
use crate::error::Error;
use crate::queue::{Kept, Queue, SILENT, Stored, Taken};
use crate::unit::{self, Campaign, LONGEST, Outcome, State, Unit, WorkerStatus, is_name};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Where campaigns are, in the directory of results.
pub const BELOW: &str = "campaigns";

/// Bytes before the name of a frame: lengths of name and message, time.
const HEAD: usize = 4 + 4 + 8;

/// How often somebody who waits for another process looks again.
const LOOK: Duration = Duration::from_millis(100);

#[derive(Debug, Clone)]
pub struct Embedded {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    campaign: Campaign,
    dir: PathBuf,
    inner: Mutex<Inner>,
    work: Notify,
    stored: Notify,
    /// Whether this process may write; others only look.
    owner: Option<File>,
}

#[derive(Debug, Default)]
struct Inner {
    waiting: VecDeque<Waiting>,
    leased: BTreeMap<u64, (Waiting, Instant)>,
    /// Names of units that wait or are worked on.
    known: BTreeSet<String>,
    results: BTreeSet<String>,
    next_lease: u64,
    workers: BTreeMap<String, WorkerStatus>,
}

#[derive(Debug)]
struct Waiting {
    name: String,
    bytes: Vec<u8>,
    deliveries: u64,
    not_before: Instant,
}

impl Embedded {
    /// Begins a campaign below the directory of results, or goes on with the one of this name
    /// if it is the same.
    pub fn create(
        results: &Path,
        campaign: Campaign,
        pieces: &BTreeMap<String, Vec<u8>>,
    ) -> Result<Embedded, Error> {
        let dir = results.join(BELOW).join(&campaign.name);
        let making = || format!("cannot make {}", dir.display());
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder
            .create(dir.join("pieces"))
            .map_err(Error::io(making()))?;
        for (digest, bytes) in pieces {
            write(&dir.join("pieces").join(digest), bytes)?;
        }
        let text = serde_json::to_vec_pretty(&campaign).unwrap_or_default();
        write(&dir.join("campaign.json"), &text)?;
        Embedded::at(dir, campaign, true)
    }

    /// The campaign of this name: to go on with it, or only to look at it.
    pub fn open(results: &Path, name: &str, own: bool) -> Result<Embedded, Error> {
        let dir = results.join(BELOW).join(name);
        if !is_name(name) || !dir.join("campaign.json").exists() {
            return Err(Error::Unknown(name.to_owned()));
        }
        let text = read(&dir.join("campaign.json"), LONGEST)?;
        let campaign: Campaign = unit::decode(&text)?;
        campaign.check(name)?;
        Embedded::at(dir, campaign, own)
    }

    fn at(dir: PathBuf, campaign: Campaign, own: bool) -> Result<Embedded, Error> {
        let mut inner = Inner::default();
        let owner = match own {
            true => Some(claim(&dir, &campaign.name)?),
            false => None,
        };
        if own {
            let (frames, end) = frames(&dir, 0, usize::MAX)?;
            inner.results = frames.into_iter().map(|frame| frame.unit).collect();
            let writing = format!("cannot write {}", dir.join("results").display());
            let mut open = OpenOptions::new();
            let opened = open.create(true).append(true).open(dir.join("results"));
            opened
                .and_then(|file| file.set_len(end))
                .map_err(Error::io(writing))?;
        }
        Ok(Embedded {
            shared: Arc::new(Shared {
                campaign,
                dir,
                inner: Mutex::new(inner),
                work: Notify::new(),
                stored: Notify::new(),
                owner,
            }),
        })
    }

    /// The campaigns of a directory of results.
    pub fn names(results: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(results.join(BELOW)).into_iter().flatten();
        let names = entries
            .flatten()
            .filter_map(|e| e.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| is_name(name)).collect();
        names.sort();
        names
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.shared.inner.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn put_back(&self, lease: u64, after: Duration) {
        let mut inner = self.inner();
        if let Some((mut waiting, _)) = inner.leased.remove(&lease) {
            waiting.not_before = Instant::now() + after;
            inner.waiting.push_back(waiting);
        }
        drop(inner);
        self.shared.work.notify_one();
    }

    fn drop_lease(&self, lease: u64) {
        let mut inner = self.inner();
        if let Some((waiting, _)) = inner.leased.remove(&lease) {
            inner.known.remove(&waiting.name);
        }
    }

    /// The first unit that may be given out, with leases that ran out among them.
    fn next(&self) -> Option<Taken<u64>> {
        let now = Instant::now();
        let until = now + self.shared.campaign.budget.lease();
        let mut inner = self.inner();
        let late =
            |(lease, (_, until)): (&u64, &(Waiting, Instant))| (*until <= now).then_some(*lease);
        let late: Vec<u64> = inner.leased.iter().filter_map(late).collect();
        for lease in late {
            if let Some((waiting, _)) = inner.leased.remove(&lease) {
                inner.waiting.push_front(waiting);
            }
        }
        let ready = inner.waiting.iter().position(|w| w.not_before <= now)?;
        let mut waiting = inner.waiting.remove(ready)?;
        waiting.deliveries += 1;
        inner.next_lease += 1;
        let lease = inner.next_lease;
        let taken = Taken {
            bytes: waiting.bytes.clone(),
            deliveries: waiting.deliveries,
            lease,
        };
        inner.leased.insert(lease, (waiting, until));
        Some(taken)
    }
}

impl Queue for Embedded {
    type Lease = u64;

    fn campaign(&self) -> &Campaign {
        &self.shared.campaign
    }

    async fn publish(&self, units: &[Unit]) -> Result<usize, Error> {
        let mut new = 0;
        let mut inner = self.inner();
        for unit in units {
            if inner.known.insert(unit.id()) {
                new += 1;
                inner.waiting.push_back(Waiting {
                    name: unit.id(),
                    bytes: unit::encode(unit),
                    deliveries: 0,
                    not_before: Instant::now(),
                });
            }
        }
        drop(inner);
        self.shared.work.notify_waiters();
        self.shared.work.notify_one();
        Ok(new)
    }

    async fn take(&self, wait: Duration) -> Result<Option<Taken<u64>>, Error> {
        let until = Instant::now() + wait;
        loop {
            let notified = self.shared.work.notified();
            if let Some(taken) = self.next() {
                // Whoever else waits may find another.
                self.shared.work.notify_one();
                return Ok(Some(taken));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            // Leases run out without a word.
            let _ = tokio::time::timeout(left.min(LOOK), notified).await;
        }
    }

    async fn extend(&self, lease: &u64) -> Result<(), Error> {
        let until = Instant::now() + self.shared.campaign.budget.lease();
        if let Some((_, old)) = self.inner().leased.get_mut(lease) {
            *old = until;
        }
        Ok(())
    }

    async fn finish(&self, lease: &u64) -> Result<(), Error> {
        self.drop_lease(*lease);
        Ok(())
    }

    async fn give_back(&self, lease: &u64, after: Duration) -> Result<(), Error> {
        self.put_back(*lease, after);
        Ok(())
    }

    async fn refuse(&self, lease: &u64) -> Result<(), Error> {
        self.drop_lease(*lease);
        Ok(())
    }

    async fn store(&self, outcome: &Outcome) -> Result<Kept, Error> {
        let shared = &self.shared;
        if outcome.campaign != shared.campaign.name {
            return Err(Error::Unknown(outcome.campaign.clone()));
        }
        if shared.owner.is_none() {
            return Err(Error::Usage("another process has this campaign".into()));
        }
        let (name, bytes) = (outcome.id(), unit::encode(outcome));
        let mut inner = self.inner();
        if !inner.results.insert(name.clone()) {
            return Ok(Kept::Known);
        }
        let path = shared.dir.join("results");
        let written = append(&path, &frame(&name, unit::now(), &bytes));
        if let Err(source) = written {
            inner.results.remove(&name);
            let what = format!("cannot write {}", path.display());
            return Err(Error::Io { what, source });
        }
        drop(inner);
        shared.stored.notify_waiters();
        Ok(Kept::New)
    }

    async fn is_stored(&self, unit: &str) -> Result<bool, Error> {
        Ok(self.inner().results.contains(unit))
    }

    async fn results(&self, after: u64, most: usize, wait: Duration) -> Result<Vec<Stored>, Error> {
        let until = Instant::now() + wait;
        loop {
            let notified = self.shared.stored.notified();
            let (found, _) = frames(&self.shared.dir, after, most)?;
            let left = until.saturating_duration_since(Instant::now());
            if !found.is_empty() || left.is_zero() {
                return Ok(found);
            }
            let _ = tokio::time::timeout(left.min(LOOK), notified).await;
        }
    }

    async fn piece(&self, piece: &Piece) -> Result<Vec<u8>, Error> {
        let digest = &piece.digest;
        if !is_name(digest) {
            return Err(Error::Refused(format!("{digest:?} is no digest")));
        }
        let path = self.shared.dir.join("pieces").join(digest);
        read(&path, piece.bytes as usize)
    }

    async fn state(&self) -> Result<State, Error> {
        let path = self.shared.dir.join("state");
        match path.exists() {
            true => unit_state(&read(&path, LONGEST)?),
            false => Ok(State::Running),
        }
    }

    async fn set_state(&self, state: State) -> Result<(), Error> {
        let text = serde_json::to_vec(&state).unwrap_or_default();
        write(&self.shared.dir.join("state"), &text)
    }

    async fn set_made(&self, made: u64) -> Result<(), Error> {
        write(&self.shared.dir.join("made"), made.to_string().as_bytes())
    }

    async fn made(&self) -> Result<Option<u64>, Error> {
        let text = std::fs::read_to_string(self.shared.dir.join("made"));
        Ok(text.ok().and_then(|text| text.parse().ok()))
    }

    async fn tell(&self, status: &WorkerStatus) -> Result<(), Error> {
        let mut inner = self.inner();
        inner.workers.insert(status.name.clone(), status.clone());
        let all: Vec<&WorkerStatus> = inner.workers.values().collect();
        let text = serde_json::to_vec(&all).unwrap_or_default();
        write(&self.shared.dir.join("workers.json"), &text)
    }

    async fn workers(&self) -> Result<Vec<WorkerStatus>, Error> {
        let text = read(&self.shared.dir.join("workers.json"), LONGEST).unwrap_or_default();
        let mut all: Vec<WorkerStatus> = serde_json::from_slice(&text).unwrap_or_default();
        all.retain(|worker| unit::now() - worker.at < SILENT.as_secs_f64());
        Ok(all)
    }
}

fn unit_state(text: &[u8]) -> Result<State, Error> {
    let state = serde_json::from_slice(text);
    state.map_err(|error| Error::Refused(format!("the state cannot be read: {error}")))
}

/// So that no two processes append to the same results.
fn claim(dir: &Path, name: &str) -> Result<File, Error> {
    let path = dir.join("owner");
    let opened = OpenOptions::new().create(true).append(true).open(&path);
    let file = opened.map_err(Error::io(format!("cannot write {}", path.display())))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(_) => Err(Error::Usage(format!(
            "another process works on campaign {name:?}; wait for it, or give another --name"
        ))),
    }
}

fn frame(name: &str, at: f64, bytes: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(HEAD + name.len() + bytes.len());
    frame.extend((name.len() as u32).to_le_bytes());
    frame.extend((bytes.len() as u32).to_le_bytes());
    frame.extend(at.to_le_bytes());
    frame.extend(name.as_bytes());
    frame.extend(bytes);
    frame
}

fn append(path: &Path, frame: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    let before = file.metadata()?.len();
    let written = file.write_all(frame);
    if written.is_err() {
        // A full disk must not leave half a frame before the next one.
        let _ = file.set_len(before);
    }
    written
}

/// Whole frames from an offset on, and where the last ends.
fn frames(dir: &Path, from: u64, most: usize) -> Result<(Vec<Stored>, u64), Error> {
    let path = dir.join("results");
    let Ok(mut file) = File::open(&path) else {
        return Ok((Vec::new(), 0));
    };
    let reading = || format!("cannot read {}", path.display());
    let size = file.metadata().map_err(Error::io(reading()))?.len();
    file.seek(SeekFrom::Start(from))
        .map_err(Error::io(reading()))?;
    let mut file = std::io::BufReader::new(file);
    let (mut found, mut at) = (Vec::new(), from);
    while found.len() < most {
        let mut head = [0; HEAD];
        if at + HEAD as u64 > size || file.read_exact(&mut head).is_err() {
            break;
        }
        let word = |at: usize| [head[at], head[at + 1], head[at + 2], head[at + 3]];
        let name = u32::from_le_bytes(word(0)) as usize;
        let bytes = u32::from_le_bytes(word(4)) as usize;
        if name > 256 || bytes > LONGEST {
            return Err(Error::Refused(format!("{} is damaged", path.display())));
        }
        let end = at + (HEAD + name + bytes) as u64;
        if end > size {
            break;
        }
        let mut rest = vec![0; name + bytes];
        if file.read_exact(&mut rest).is_err() {
            break;
        }
        let message = rest.split_off(name);
        at = end;
        found.push(Stored {
            sequence: at,
            at: f64::from_le_bytes(head[8..16].try_into().unwrap_or_default()),
            unit: String::from_utf8_lossy(&rest).into_owned(),
            bytes: message,
        });
    }
    Ok((found, at))
}

/// A file of this many bytes at most.
fn read(path: &Path, most: usize) -> Result<Vec<u8>, Error> {
    let content = engine::input::read(path, most as u64);
    content.map_err(Error::io(format!("cannot read {}", path.display())))
}

/// Whole, or not at all.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let new = path.with_extension("new");
    let written = std::fs::write(&new, bytes).and_then(|()| std::fs::rename(&new, path));
    written.map_err(Error::io(format!("cannot write {}", path.display())))
}
