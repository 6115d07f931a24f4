//! Recording: each thread fills a buffer of raw records; full buffers become
//! chunks of the trace, with one write each, so that a killed program leaves
//! every flushed chunk readable. A thread that waits does not fill its buffer,
//! and what the others do after its last synchronisation could not be put in
//! order without it: so a thread of ours takes what there is, a few times a
//! second.

use crate::contexts::Context;
use crate::memory::{RawClock, leak_words};
use crate::sites::ClassSites;
use crate::{Agent, guard};
use contract::stripe;
use instrument::SiteKind;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use trace::tables::{self, Footer, RunHeader};
use trace::{Encoder, ObjId, SiteId, ThreadId, Writer, raw};

/// Words of a thread's buffer, a multiple of a record.
const BUFFER: usize = 2730 * raw::WORDS;

/// How often, a millisecond apart, the end looks for compare-and-sets under way.
const LOOKS: usize = 50;

/// How long a record may lie in its buffer at most.
const SWEEP: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub struct Recorder {
    state: Mutex<State>,
    events: AtomicU64,
    /// None if a scheduler knows the order of accesses.
    stripes: Option<&'static [AtomicU64]>,
}

/// Memory of a buffer, never freed.
type Words = &'static [AtomicU64];

/// A thread's buffer.
#[derive(Debug)]
struct Buffer {
    /// The thread writes them as it goes, and others read them.
    words: Words,
    thread: u32,
    /// Held while records are taken out.
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    /// Words from the start that are in the trace already.
    words: usize,
    /// The last records were taken, at the end of the VM, while daemon threads
    /// still write.
    last: bool,
}

#[derive(Debug)]
struct State {
    /// None after a write failed: recording has stopped.
    writer: Option<Writer<File>>,
    /// Buffers by the address of the thread's clock.
    buffers: FxHashMap<i64, Arc<Buffer>>,
    /// Memory of the buffers of threads that have ended.
    spare: Vec<Words>,
    classes_written: usize,
    contexts_written: usize,
    threads_written: usize,
    fields_written: usize,
}

impl Recorder {
    pub fn create(path: &Path, jdk: &str, controlled: bool) -> Result<Recorder, String> {
        let file = File::create(path)
            .map_err(|e| format!("cannot create the trace {}: {e}", path.display()))?;
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| d.as_millis() as u64);
        let header = RunHeader {
            tool: concat!("photofinish ", env!("CARGO_PKG_VERSION")).into(),
            jdk: jdk.into(),
            command: command_line(),
            start_ms: now,
            ordered: true,
        };
        let writer = Writer::new(file, &header)
            .map_err(|e| format!("cannot write the trace {}: {e}", path.display()))?;
        let state = State {
            writer: Some(writer),
            buffers: FxHashMap::default(),
            spare: Vec::new(),
            classes_written: 0,
            contexts_written: 0,
            threads_written: 0,
            fields_written: 0,
        };
        Ok(Recorder {
            state: Mutex::new(state),
            events: AtomicU64::new(0),
            stripes: (!controlled).then(|| leak_words((stripe::COUNT << stripe::SHIFT) / 8)),
        })
    }

    /// Where the stripes are that order accesses; 0 if there are none.
    pub fn stripes(&self) -> i64 {
        self.stripes.map_or(0, |words| words.as_ptr() as i64)
    }

    /// A thread's buffer: where it starts; where it ends is left below the clock.
    pub fn open(&self, clock: RawClock) -> i64 {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        let words = state.spare.pop().unwrap_or_else(|| leak_words(BUFFER));
        let buffer = Buffer {
            words,
            thread: clock.id(),
            taken: Mutex::default(),
        };
        state.buffers.insert(clock.address(), Arc::new(buffer));
        clock.set_limit(words.as_ptr_range().end.addr() as u64);
        words.as_ptr().addr() as i64
    }

    /// The thread has ended, and has flushed its buffer.
    pub fn close(&self, clock: RawClock) {
        let found = self
            .state
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .buffers
            .remove(&clock.address());
        if let Some(buffer) = found {
            buffer.taken.lock().unwrap_or_else(|e| e.into_inner()).last = true;
            self.state
                .lock()
                .unwrap_or_else(|e| e.into_inner())
                .spare
                .push(buffer.words);
        }
    }

    /// Takes the records of a buffer; returns where to go on writing, 0 if the
    /// thread has none.
    pub fn flush(&self, agent: &Agent, clock: RawClock) -> i64 {
        let found = {
            let state = self.state.lock().unwrap_or_else(|e| e.into_inner());
            state.buffers.get(&clock.address()).cloned()
        };
        let Some(buffer) = found else { return 0 };
        let mut taken = buffer.taken.lock().unwrap_or_else(|e| e.into_inner());
        thread_local! {
            static ENCODER: RefCell<(Encoder, Vec<u64>, Vec<u8>)> = RefCell::default();
        }
        ENCODER.with_borrow_mut(|(encoder, new, chunk)| {
            let used = buffer.used();
            if !taken.last {
                chunk.clear();
                new.clear();
                let words = used.get(taken.words..).unwrap_or_default();
                new.extend(words.iter().map(|word| word.load(Ordering::Relaxed)));
                let what = encoder.raw_chunk(ThreadId(buffer.thread), new, chunk);
                self.events.fetch_add(what.events, Ordering::Relaxed);
                let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
                let written = state.tables(agent).and_then(|()| match &mut state.writer {
                    Some(writer) => writer.append_chunk(chunk, &what),
                    None => Ok(()),
                });
                state.check(agent, written);
            }
            for word in used {
                word.store(0, Ordering::Relaxed);
            }
            taken.words = 0;
        });
        buffer.words.as_ptr().addr() as i64
    }

    pub fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// Takes what is in the buffers from now on, every [`SWEEP`].
    pub fn keep_up(&'static self, agent: &'static Agent) {
        let sweeper = std::thread::Builder::new().name("photofinish".into());
        let started = sweeper.spawn(|| {
            while self
                .state
                .lock()
                .unwrap_or_else(|e| e.into_inner())
                .writer
                .is_some()
            {
                guard(|| self.sweep(agent, false));
                std::thread::sleep(SWEEP);
            }
        });
        if let Err(e) = started {
            agent.findings.warn(format!(
                "cannot start a thread ({e}): if the program is killed, more of the trace is lost"
            ));
        }
    }

    /// What the threads have in their buffers and is not in the trace yet.
    fn sweep(&self, agent: &Agent, last: bool) {
        for buffer in self.buffers() {
            let mut taken = buffer.taken.lock().unwrap_or_else(|e| e.into_inner());
            if taken.last {
                continue; // its thread has just ended
            }
            taken.last = last;
            let new = buffer.written(taken.words);
            if new.is_empty() {
                continue;
            }
            taken.words += new.len();
            let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
            let written = state.tables(agent).and_then(|()| match &mut state.writer {
                Some(writer) => writer
                    .append_raw(ThreadId(buffer.thread), &new)
                    .map(|what| {
                        self.events.fetch_add(what.events, Ordering::Relaxed);
                    }),
                None => Ok(()),
            });
            state.check(agent, written);
        }
    }

    fn buffers(&self) -> Vec<Arc<Buffer>> {
        let state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        state.buffers.values().cloned().collect()
    }

    /// Whether a record has its place, and does not count yet.
    fn is_open(&self) -> bool {
        self.buffers().iter().any(|buffer| {
            let taken = buffer.taken.lock().unwrap_or_else(|e| e.into_inner());
            !taken.last && buffer.is_open(taken.words)
        })
    }

    /// At the end of the VM.
    pub fn finish(&self, agent: &Agent) {
        // A daemon thread may be in the middle of one. Its number is taken, and
        // without its record nobody reads on; it will be there in no time.
        for _ in 0..LOOKS {
            if !self.is_open() {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.sweep(agent, true);
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        let written = state.tables(agent);
        state.check(agent, written);
        let instrumented = agent
            .coverage
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .instrumented;
        let footer = Footer {
            classes_instrumented: instrumented,
            ..Footer::default()
        };
        if let Some(writer) = state.writer.take() {
            let written = writer.finish(footer).map(|_| ());
            state.check(agent, written);
        }
    }
}

impl Buffer {
    /// Records up to the first that is not there, for the thread that writes them.
    fn used(&self) -> &'static [AtomicU64] {
        let records = self.words.chunks_exact(raw::WORDS);
        let count = records
            .take_while(|r| r[0].load(Ordering::Relaxed) != 0)
            .count();
        &self.words[..count * raw::WORDS]
    }

    /// Whether the first record that does not count has a sequence number.
    fn is_open(&self, from: usize) -> bool {
        let mut records = self
            .words
            .get(from..)
            .unwrap_or_default()
            .chunks_exact(raw::WORDS);
        let first = records.find(|record| record[0].load(Ordering::Acquire) == 0);
        first.is_some_and(|record| record[2].load(Ordering::Relaxed) != 0)
    }

    /// Whole records from this word on. The thread may still be writing: a
    /// record counts once its first word is there, an atomic one once the next
    /// is, which continues it.
    fn written(&self, from: usize) -> Vec<u64> {
        let mut new = Vec::new();
        for record in self
            .words
            .get(from..)
            .unwrap_or_default()
            .chunks_exact(raw::WORDS)
        {
            let first = record[0].load(Ordering::Acquire);
            if first == 0 {
                break;
            }
            new.push(first);
            new.extend(record[1..].iter().map(|word| word.load(Ordering::Relaxed)));
        }
        let last = new.len().wrapping_sub(raw::WORDS);
        if new
            .get(last)
            .is_some_and(|first| matches!(*first as u8, raw::ATOMIC_READ..=raw::ATOMIC_UPDATE))
        {
            new.truncate(last);
        }
        new
    }
}

impl State {
    /// Writes the rows that are new; they must stand before events that use them.
    fn tables(&mut self, agent: &Agent) -> std::io::Result<()> {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        let new = agent.sites.classes_from(self.classes_written);
        for class in new {
            let row = tables::Class {
                name: class.class.clone(),
                loader: match class.is_jdk {
                    true => tables::Class::JDK,
                    false => tables::Class::PROGRAM,
                },
                hash: class.digest.clone(),
            };
            let number = self.classes_written as u32;
            writer.classes([(number, &row)])?;
            self.classes_written += 1;
            let bytes = class.bytes.lock().unwrap_or_else(|e| e.into_inner()).take();
            if let Some(bytes) = bytes {
                writer.class_bytes(number, &bytes)?;
                let methods = methods(&class, number);
                writer.methods(methods.iter().map(|(id, row)| (*id, row)))?;
            }
            let rows: Vec<_> = (class.first..)
                .zip(class.sites.iter().map(|s| site_row(&class, s)))
                .collect();
            writer.sites(rows.iter().map(|(id, row)| (SiteId(*id), row)))?;
        }
        let new = agent.sites.contexts.all_from(self.contexts_written);
        self.contexts_written += new.len();
        for (number, Context { statement, call }) in new {
            let row = agent.sites.with(statement, |class, site| tables::Site {
                call: Some(SiteId(call)),
                ..site_row(class, site)
            });
            if let Some(row) = row {
                writer.sites([(SiteId(number), &row)])?;
            }
        }
        {
            let fields = agent.fields.lock().unwrap_or_else(|e| e.into_inner());
            let rows: Vec<_> = fields
                .rows_from(self.fields_written)
                .map(|(slot, f)| {
                    let (class, name, desc) = (
                        f.class.as_str().into(),
                        f.name.as_str().into(),
                        f.desc.as_str().into(),
                    );
                    (
                        slot,
                        tables::Field {
                            class,
                            name,
                            desc,
                            flags: f.flags,
                        },
                    )
                })
                .collect();
            self.fields_written += rows.len();
            writer.fields(rows.iter().map(|(slot, row)| (*slot, row)))?;
        }
        let arrays = agent
            .arrays
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .take();
        let rows: Vec<_> = arrays
            .map(|(id, (class, site))| {
                (
                    ObjId(id),
                    tables::Object {
                        class,
                        site: SiteId(site),
                    },
                )
            })
            .collect();
        writer.objects(rows.iter().map(|(id, row)| (*id, row)))?;
        let threads = agent.threads.lock().unwrap_or_else(|e| e.into_inner());
        let rows: Vec<_> = threads.all()[self.threads_written..]
            .iter()
            .map(|t| {
                let created_at = t
                    .created
                    .iter()
                    .map(|f| tables::Frame {
                        class: f.class.clone(),
                        method: f.method.clone(),
                        file: f.file.clone(),
                        line: f.line,
                    })
                    .collect();
                let creator = t.creator.map(ThreadId);
                (
                    ThreadId(t.id),
                    tables::Thread {
                        name: t.name().into(),
                        creator,
                        created_at,
                        daemon: false,
                        system: t.system,
                    },
                )
            })
            .collect();
        self.threads_written += rows.len();
        writer.threads(rows.iter().map(|(id, row)| (*id, row)))
    }

    /// A full disk stops the recording, not the program.
    fn check(&mut self, agent: &Agent, written: std::io::Result<()>) {
        if let Err(e) = written {
            self.writer = None;
            let text = format!(
                "recording stopped: cannot write the trace: {e}; it is readable up to here"
            );
            crate::complain!("{text}");
            agent.findings.warn(text);
        }
    }
}

/// The methods whose control flow is recorded, by the site of their start.
fn methods(class: &ClassSites, number: u32) -> Vec<(u32, tables::Method)> {
    let all = (class.first..).zip(&class.sites);
    all.filter(|(_, s)| s.kind == SiteKind::Method)
        .map(|(id, s)| {
            let row = tables::Method {
                class: number,
                name: s.method.clone(),
                desc: s.desc.clone(),
            };
            (id, row)
        })
        .collect()
}

fn site_row(class: &ClassSites, s: &instrument::Site) -> tables::Site {
    tables::Site {
        call: None,
        class: class.class.clone(),
        method: s.method.clone(),
        desc: s.desc.clone(),
        bci: u32::from(s.bci),
        file: class.file.clone(),
        line: s.line.map(u32::from),
        kind: match s.kind {
            SiteKind::FieldRead => tables::SiteKind::FieldRead,
            SiteKind::FieldWrite => tables::SiteKind::FieldWrite,
            SiteKind::StaticRead => tables::SiteKind::StaticRead,
            SiteKind::StaticWrite => tables::SiteKind::StaticWrite,
            SiteKind::ElemRead => tables::SiteKind::ElemRead,
            SiteKind::ElemWrite => tables::SiteKind::ElemWrite,
            SiteKind::ArrayCopy => tables::SiteKind::ArrayCopy,
            SiteKind::ArrayClone => tables::SiteKind::ArrayClone,
            SiteKind::Unsafe => tables::SiteKind::Unsafe,
            SiteKind::VarHandle => tables::SiteKind::VarHandle,
            SiteKind::Enter => tables::SiteKind::MonitorEnter,
            SiteKind::Exit => tables::SiteKind::MonitorExit,
            SiteKind::SyncMethod => tables::SiteKind::SyncMethod,
            SiteKind::Init => tables::SiteKind::Init,
            SiteKind::NewObject => tables::SiteKind::NewObject,
            SiteKind::NewArray => tables::SiteKind::NewArray,
            SiteKind::Model => tables::SiteKind::Model,
            SiteKind::Method => tables::SiteKind::Method,
            SiteKind::Switch => tables::SiteKind::Switch,
            SiteKind::Handler => tables::SiteKind::Handler,
            SiteKind::FenceAcquire
            | SiteKind::FenceRelease
            | SiteKind::Finalizer
            | SiteKind::Constructed
            | SiteKind::Frame
            | SiteKind::Freeze
            | SiteKind::Call => tables::SiteKind::Other,
        },
        checked: s.checked,
        target: s.target.as_ref().map(|t| tables::Member {
            class: t.class.as_str().into(),
            name: t.name.as_str().into(),
            desc: t.desc.as_str().into(),
        }),
        // Of a copy it depends on the access.
        array_from: { s.array_from.as_deref() }
            .filter(|_| s.kind != SiteKind::ArrayCopy)
            .map(Into::into),
    }
}

/// The JVM's command line, as the operating system knows it, without us.
fn command_line() -> Vec<tables::Str> {
    let raw = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let args = raw
        .split(|b| *b == 0)
        .filter(|a| !a.is_empty())
        .map(String::from_utf8_lossy);
    args.filter(|a| !a.starts_with("-agentpath:"))
        .map(|a| a.as_ref().into())
        .collect()
}
