//! The schedule log as it is written. A disk that is full ends the log, not the
//! run, and is said once.

use super::Settings;
use super::settings::SPURIOUS;
use crate::Agent;
use protocol::RunEnd;
use schedule::log::{Header, Site, Writer};
use schedule::{Hit, PartialOrder, Ready, Thread, Trail};
use std::fs::File;
use std::io::{self, BufWriter, Write};

#[derive(Debug)]
pub struct Journal {
    /// Into nowhere if nobody asked for it: the digest is wanted all the same.
    writer: Option<Writer<Box<dyn Log>>>,
    digest: u64,
    order: PartialOrder,
    /// What the last reads saw, and how many of them; not written yet.
    saw: Option<(u32, u64)>,
}

/// Where a log goes.
trait Log: Write + Send + std::fmt::Debug {}
impl Log for BufWriter<File> {}
impl Log for io::Sink {}

impl Journal {
    pub fn create(settings: &Settings) -> Result<Journal, String> {
        let header = Header {
            strategy: settings.name().to_owned(),
            seed: settings.seed,
            clock: settings.clock,
            parameters: vec![
                ("depth".into(), settings.depth.to_string()),
                ("steps".into(), settings.steps.to_string()),
                (SPURIOUS.into(), settings.spurious.to_string()),
                // Targets are scheduling points: a replay needs the same.
                ("pair".into(), settings.pair_text.clone()),
            ],
        };
        let out: Box<dyn Log> = match &settings.log {
            Some(path) => {
                let file = File::create(path)
                    .map_err(|e| format!("cannot write the schedule {}: {e}", path.display()))?;
                Box::new(BufWriter::new(file))
            }
            None => Box::new(io::sink()),
        };
        let writer =
            Writer::new(out, &header).map_err(|e| format!("cannot write the schedule: {e}"))?;
        Ok(Journal {
            writer: Some(writer),
            digest: 0,
            order: PartialOrder::default(),
            saw: None,
        })
    }

    /// None is written.
    pub fn none() -> Journal {
        Journal {
            writer: None,
            digest: 0,
            order: PartialOrder::default(),
            saw: None,
        }
    }

    pub fn thread(&mut self, thread: Thread, name: &str, parent: Option<Thread>) {
        self.order.started(thread, parent);
        self.write(|w| w.thread(thread, name, parent));
    }

    /// `call`: of the program into the JDK, in which the step is made; 0 for none.
    pub fn step(&mut self, agent: &Agent, step: Trail, call: u32) {
        match step {
            Trail::Saw(which) => {
                match &mut self.saw {
                    Some((same, times)) if *same == which => *times += 1,
                    _ => {
                        self.flush_saw();
                        self.saw = Some((which, 1));
                    }
                }
                return;
            }
            _ => self.flush_saw(),
        }
        match step {
            Trail::Saw(_) => {}
            Trail::Ready(set) => self.write(|w| w.ready(&set)),
            Trail::Tick => {
                self.order.tick();
                self.write(Writer::tick);
            }
            Trail::Step(ready) => {
                self.site(agent, ready.op.site);
                if let Some(writer) = &self.writer {
                    let statement = writer.identity(ready.op.site);
                    self.order.step(ready.thread, &ready.op, statement);
                }
                if call != 0 && (ready.op.site == 0 || agent.sites.is_jdk(ready.op.site)) {
                    self.site(agent, call);
                    self.write(|w| w.call(call));
                }
                self.write(|w| w.step(ready.thread, &ready.op));
            }
        }
    }

    fn flush_saw(&mut self) {
        if let Some((which, times)) = self.saw.take() {
            self.write(|w| w.saw(which, times));
        }
    }

    pub fn hit(&mut self, agent: &Agent, hit: &Hit) {
        self.site(agent, hit.first.op.site);
        self.site(agent, hit.second.op.site);
        self.write(|w| w.hit(hit));
    }

    /// A statement is described before it is first spoken of.
    fn site(&mut self, agent: &Agent, site: u32) {
        self.write(|w| {
            if site != 0
                && !w.knows_site(site)
                && let Some(described) = describe(agent, site)
            {
                w.site(site, &described)?;
            }
            Ok(())
        });
    }

    /// An access is made now, to a variable that holds this value.
    pub fn told(&mut self, agent: &Agent, made: Ready, call: u32, value: &str) {
        let Ready { thread, op } = made;
        self.site(agent, op.site);
        let call = Some(call).filter(|call| *call != 0 && agent.sites.is_jdk(op.site));
        if let Some(call) = call {
            self.site(agent, call);
        }
        self.write(|w| w.told(thread, &op, call, value));
    }

    pub fn note(&mut self, text: &str) {
        self.write(|w| w.note(text));
    }

    fn write(&mut self, f: impl FnOnce(&mut Writer<Box<dyn Log>>) -> io::Result<()>) {
        if let Some(writer) = &mut self.writer
            && let Err(e) = f(writer)
        {
            crate::complain!("cannot write the schedule: {e}; it cannot be replayed");
            self.digest = writer.digest();
            self.writer = None;
        }
    }

    /// What was written so far is kept even if the program is killed.
    pub fn flush(&mut self) {
        self.write(Writer::flush);
    }

    /// The digest of the partial order of the steps so far.
    pub fn partial_order(&self) -> u64 {
        self.order.digest()
    }

    /// Writes the end; the digest of all steps.
    pub fn finish(&mut self, outcome: RunEnd) -> u64 {
        self.flush_saw();
        if let Some(writer) = self.writer.take() {
            self.digest = writer.digest();
            if let Err(e) = writer.end(outcome.word()) {
                crate::complain!("cannot write the schedule: {e}; it cannot be replayed");
            }
        }
        self.digest
    }
}

/// A statement as logs have it.
pub(super) fn describe(agent: &Agent, site: u32) -> Option<Site> {
    agent.sites.with(site, |class, s| Site {
        class: class.class.to_string(),
        method: s.method.to_string(),
        descriptor: s.desc.to_string(),
        bci: u32::from(s.bci),
        file: class.file.as_deref().map(str::to_owned),
        line: s.line.map(u32::from),
        target: s.label(&class.class),
    })
}
