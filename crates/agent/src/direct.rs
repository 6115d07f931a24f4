//! Events straight into one of the detectors that need every one of them (all but
//! FastTrack). The fold is the one that also runs over traces; it runs
//! in the program's threads, one at a time, so it sees the events in an order
//! in which they happened.

use crate::Agent;
use crate::jni::Jni;
use crate::stacks::{self, type_name};
use contract::attempt::{SUCCEEDED, TRIED};
use detect::{Detector, Finding};
use protocol::Mode;
use protocol::finding::{Access, AccessOp, Frame, Line, Location, Race};
use trace::{ThreadId, raw};

#[derive(Debug)]
pub struct Direct {
    detector: Box<dyn Detector>,
    /// Findings looked at.
    seen: usize,
    pub races: u64,
}

impl Direct {
    /// None for modes that do without.
    pub fn new(mode: Mode) -> Option<Direct> {
        match mode {
            // What FastTrack does on the spot is in `check`.
            Mode::Detect(kind) if mode.makes_events() => Some(Direct {
                detector: kind.detector(),
                seen: 0,
                races: 0,
            }),
            _ => None,
        }
    }
}

impl Agent {
    pub fn direct_event(&self, jni: Jni, thread: u32, words: [u64; 3], slot: u32) {
        let Some(direct) = &self.direct else { return };
        let [w0, w1, w2] = words;
        let flags = w0 & (TRIED | SUCCEEDED);
        let records = [
            w0 & !flags,
            w1,
            w2,
            u64::from(raw::SLOT),
            u64::from(slot),
            0,
        ];
        let Some((event, _)) = raw::unpack(ThreadId(thread), &records).next() else {
            return;
        };
        let mut direct = direct.lock().unwrap_or_else(|e| e.into_inner());
        match flags {
            TRIED => direct.detector.attempt(&event),
            SUCCEEDED => direct.detector.succeeded(&event),
            _ => direct.detector.event(&event),
        }
        let findings = direct.detector.findings();
        if findings.len() == direct.seen {
            return;
        }
        let new: Vec<Finding> = findings.iter().skip(direct.seen).copied().collect();
        direct.seen += new.len();
        for finding in new {
            if self.report_finding(jni, &finding) {
                direct.races += 1;
            }
        }
    }

    /// Writes a finding down; false if it is not the program's.
    fn report_finding(&self, jni: Jni, f: &Finding) -> bool {
        let held = self.bridge.get().map(|b| b.held(jni)).unwrap_or_default();
        let now = self
            .stacks
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .current(&self.jvmti);
        if !self.is_watched(&now) {
            return false;
        }
        let call = self.bridge.get().map_or(0, |b| b.call_now(jni));
        let threads = self.threads.lock().unwrap_or_else(|e| e.into_inner());
        let access = |a: detect::Access, stack: &[stacks::Frame], exact: bool| Access {
            op: AccessOp::new(a.write),
            thread: threads
                .get(a.thread.0)
                .map(|t| self.told_thread(t))
                .unwrap_or_default(),
            frame: { self.frame_of(a.site.0, stack) }
                .map(|f| self.told_frame(&f))
                .unwrap_or_default(),
            stack: self.told(stack),
            stack_exact: exact,
            locks: exact.then(|| held.lines().map(str::to_owned).collect()),
            holders: match exact {
                true => self.holders_in(call, stack),
                false => Vec::new(),
            },
        };
        let (location, allocated) = {
            let accesses = [f.second, f.first].map(|a| (a.site.0, a.write));
            self.location_of(f.loc, accesses)
        };
        self.findings.write(Line::Race(Box::new(Race {
            detector: self.options.mode.name().to_owned(),
            sites: Some([f.first.site.0, f.second.site.0].map(u64::from)),
            location,
            allocated,
            accesses: [access(f.first, &[], false), access(f.second, &now, true)],
            count: 1,
        })));
        true
    }

    /// A location as people name it: by the field that its slot is, or as an
    /// element of an array.
    fn location_of(
        &self,
        loc: trace::Loc,
        accesses: [(u32, bool); 2],
    ) -> (Location, Option<Frame>) {
        if let Some(f) = self
            .fields
            .lock()
            .unwrap_or_else(|e| e.into_inner())
            .of_slot(loc.slot)
        {
            return (
                self.field(type_name(&f.class), &f.name, f.flags & 8 != 0),
                None,
            );
        }
        let arrays = self.arrays.lock().unwrap_or_else(|e| e.into_inner());
        let (class, made) = arrays.get(loc.obj.0).unwrap_or(("array", 0));
        let from = self.array_named_by(accesses);
        let allocated = self.sites.frame(made).map(|f| self.told_frame(&f));
        (
            self.element(Some(class), Some(loc.slot), from.as_deref()),
            allocated,
        )
    }
}
