//! Recording: each thread fills a buffer of raw records; full buffers become
//! chunks of the trace, with one write each, so that a killed program leaves
//! every flushed chunk readable.

use crate::Agent;
use crate::memory::{RawClock, leak};
use crate::sites::ClassSites;
use instrument::SiteKind;
use rustc_hash::FxHashMap;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use trace::tables::{self, Footer, RunHeader};
use trace::{Encoder, ObjId, SiteId, ThreadId, Writer};

/// Bytes of a thread's buffer, a multiple of a record.
const BUFFER: usize = 2730 * trace::raw::BYTES;

#[derive(Debug)]
pub struct Recorder {
    state: Mutex<State>,
    events: AtomicU64,
}

/// A thread's buffer.
#[derive(Debug)]
struct Buffer {
    start: usize,
    thread: u32,
    /// Held while the records are taken out. True once the last were taken, at
    /// the end of the VM, while daemon threads still write.
    taken: Mutex<bool>,
}

#[derive(Debug)]
struct State {
    /// None after a write failed: recording has stopped.
    writer: Option<Writer<File>>,
    /// Buffers by the address of the thread's clock.
    buffers: FxHashMap<i64, Arc<Buffer>>,
    /// Memory of the buffers of threads that have ended.
    spare: Vec<usize>,
    classes_written: usize,
    threads_written: usize,
    fields_written: usize,
}

impl Recorder {
    pub fn create(path: &Path, jdk: &str) -> Result<Recorder, String> {
        let file = File::create(path).map_err(|e| format!("cannot create the trace {}: {e}", path.display()))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64);
        let header = RunHeader {
            tool: concat!("photofinish ", env!("CARGO_PKG_VERSION")).into(),
            jdk: jdk.into(),
            command: command_line(),
            start_ms: now,
        };
        let writer = Writer::new(file, &header).map_err(|e| format!("cannot write the trace {}: {e}", path.display()))?;
        let state = State { writer: Some(writer), buffers: FxHashMap::default(), spare: Vec::new(), classes_written: 0, threads_written: 0, fields_written: 0 };
        Ok(Recorder { state: Mutex::new(state), events: AtomicU64::new(0) })
    }

    /// A thread's buffer: where it starts; where it ends is left below the clock.
    pub fn open(&self, clock: RawClock) -> i64 {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        let start = state.spare.pop().unwrap_or_else(|| leak(BUFFER));
        let buffer = Buffer { start, thread: clock.id(), taken: Mutex::new(false) };
        state.buffers.insert(clock.address(), Arc::new(buffer));
        clock.set_limit(start + BUFFER);
        start as i64
    }

    /// The thread has ended, and has flushed its buffer.
    pub fn close(&self, clock: RawClock) {
        let found = self.state.lock().unwrap_or_else(|e| e.into_inner()).buffers.remove(&clock.address());
        if let Some(buffer) = found {
            *buffer.taken.lock().unwrap_or_else(|e| e.into_inner()) = true;
            self.state.lock().unwrap_or_else(|e| e.into_inner()).spare.push(buffer.start);
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
        let taken = buffer.taken.lock().unwrap_or_else(|e| e.into_inner());
        thread_local! {
            static ENCODER: std::cell::RefCell<(Encoder, Vec<u8>)> = std::cell::RefCell::default();
        }
        ENCODER.with_borrow_mut(|(encoder, chunk)| {
            // SAFETY: only this thread writes to its buffer.
            let words = unsafe { std::slice::from_raw_parts_mut(buffer.start as *mut u64, BUFFER / 8) };
            let used = used_words(words);
            if !*taken {
                chunk.clear();
                let what = encoder.raw_chunk(ThreadId(buffer.thread), &words[..used], chunk);
                self.events.fetch_add(what.events, Ordering::Relaxed);
                let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
                let written = state.tables(agent).and_then(|()| match &mut state.writer {
                    Some(writer) => writer.append_chunk(chunk, &what),
                    None => Ok(()),
                });
                state.check(agent, written);
            }
            words[..used].fill(0);
        });
        buffer.start as i64
    }

    pub fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// At the end of the VM: what the threads still have in their buffers.
    pub fn finish(&self, agent: &Agent) {
        let buffers: Vec<_> = {
            let state = self.state.lock().unwrap_or_else(|e| e.into_inner());
            state.buffers.values().cloned().collect()
        };
        for buffer in buffers {
            let mut taken = buffer.taken.lock().unwrap_or_else(|e| e.into_inner());
            if std::mem::replace(&mut *taken, true) {
                continue; // its thread has just ended
            }
            // SAFETY: a buffer of ours. A daemon thread may still be writing; a
            // record counts once its first word is there.
            let words = unsafe { std::slice::from_raw_parts(buffer.start as *const u64, BUFFER / 8) };
            let used = used_words(words);
            if used == 0 {
                continue;
            }
            let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
            let written = state.tables(agent).and_then(|()| match &mut state.writer {
                Some(writer) => writer.append_raw(ThreadId(buffer.thread), &words[..used]).map(|what| {
                    self.events.fetch_add(what.events, Ordering::Relaxed);
                }),
                None => Ok(()),
            });
            state.check(agent, written);
        }
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        let written = state.tables(agent);
        state.check(agent, written);
        let instrumented = agent.coverage.lock().unwrap_or_else(|e| e.into_inner()).instrumented;
        let footer = Footer { classes_instrumented: instrumented, ..Footer::default() };
        if let Some(writer) = state.writer.take() {
            let written = writer.finish(footer).map(|_| ());
            state.check(agent, written);
        }
    }
}

/// Records up to the first that is not there.
fn used_words(words: &[u64]) -> usize {
    let records = words.chunks_exact(trace::raw::WORDS);
    records.take_while(|r| r[0] != 0).count() * trace::raw::WORDS
}

impl State {
    /// Writes the rows that are new; they must stand before events that use them.
    fn tables(&mut self, agent: &Agent) -> std::io::Result<()> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let new = agent.sites.classes_from(self.classes_written);
        self.classes_written += new.len();
        for class in new {
            let rows: Vec<_> = (class.first..).zip(class.sites.iter().map(|s| site_row(&class, s))).collect();
            writer.sites(rows.iter().map(|(id, row)| (SiteId(*id), row)))?;
        }
        {
            let fields = agent.fields.lock().unwrap_or_else(|e| e.into_inner());
            let rows: Vec<_> = fields
                .rows_from(self.fields_written)
                .map(|(slot, f)| {
                    let (class, name, desc) = (f.class.as_str().into(), f.name.as_str().into(), f.desc.as_str().into());
                    (slot, tables::Field { class, name, desc, flags: f.flags })
                })
                .collect();
            self.fields_written += rows.len();
            writer.fields(rows.iter().map(|(slot, row)| (*slot, row)))?;
        }
        let arrays = agent.arrays.lock().unwrap_or_else(|e| e.into_inner()).take();
        let rows: Vec<_> = arrays.map(|(id, (class, site))| (ObjId(id), tables::Object { class, site: SiteId(site) })).collect();
        writer.objects(rows.iter().map(|(id, row)| (*id, row)))?;
        let threads = agent.threads.lock().unwrap_or_else(|e| e.into_inner());
        let rows: Vec<_> = threads.all()[self.threads_written..]
            .iter()
            .map(|t| {
                let created_at = t
                    .created
                    .iter()
                    .map(|f| tables::Frame { class: f.class.clone(), method: f.method.clone(), file: f.file.clone(), line: f.line })
                    .collect();
                let creator = t.creator.map(ThreadId);
                (ThreadId(t.id), tables::Thread { name: t.name.as_str().into(), creator, created_at, daemon: false, system: t.system })
            })
            .collect();
        self.threads_written += rows.len();
        writer.threads(rows.iter().map(|(id, row)| (*id, row)))
    }

    /// A full disk stops the recording, not the program.
    fn check(&mut self, agent: &Agent, written: std::io::Result<()>) {
        if let Err(e) = written {
            self.writer = None;
            let text = format!("recording stopped: cannot write the trace: {e}; it is readable up to here");
            eprintln!("photofinish: {text}");
            agent.findings.warn(&text);
        }
    }
}

fn site_row(class: &ClassSites, s: &instrument::Site) -> tables::Site {
    tables::Site {
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
            SiteKind::FenceAcquire | SiteKind::FenceRelease | SiteKind::Finalizer | SiteKind::Freeze => tables::SiteKind::Other,
        },
        checked: s.checked,
        target: s.target.as_ref().map(|t| tables::Member {
            class: t.class.as_str().into(),
            name: t.name.as_str().into(),
            desc: t.desc.as_str().into(),
        }),
        array_from: s.array_from.as_deref().map(Into::into),
    }
}

/// The JVM's command line, as the operating system knows it, without us.
fn command_line() -> Vec<tables::Str> {
    let raw = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let args = raw.split(|b| *b == 0).filter(|a| !a.is_empty()).map(String::from_utf8_lossy);
    args.filter(|a| !a.starts_with("-agentpath:")).map(|a| a.as_ref().into()).collect()
}
