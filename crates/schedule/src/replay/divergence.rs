//! Where a run left the one that it was to repeat, and what that may mean.

use crate::labels::what;
use crate::log::{Log, Site};
use crate::op::{Ready, Thread, View};
use crate::table::{place, thread_name};
use std::collections::BTreeMap;

/// What the log says comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expected {
    /// Its site has the number of the log.
    Step(Ready),
    Tick,
    /// The logged run had ended here, or was not logged any further.
    Nothing,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    pub step: u64,
    pub expected: Expected,
    /// Where the expected step was in the program.
    pub site: Option<Site>,
    /// What the expected thread would do instead; none if it is not enabled.
    pub got: Option<Ready>,
    pub ready: Vec<Ready>,
    /// By the names they had then.
    names: BTreeMap<Thread, String>,
    /// The log has an end.
    complete: bool,
}

/// A divergence in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    pub expected: String,
    pub got: String,
    /// What it looks like.
    pub why: String,
}

impl Divergence {
    pub(super) fn new(log: &Log, view: &View<'_>, expected: Expected) -> Divergence {
        let step = match expected {
            Expected::Step(ready) => Some(ready),
            _ => None,
        };
        let threads = view.ready.iter().chain(&step).map(|r| r.thread);
        Divergence {
            step: view.step,
            expected,
            site: step.and_then(|r| log.sites.get(&r.op.site).cloned()),
            got: step.and_then(|then| {
                let op = view.op_of(then.thread)?;
                Some(Ready { op, ..then })
            }),
            ready: view.ready.to_vec(),
            names: threads.map(|t| (t, thread_name(log, t))).collect(),
            complete: log.complete,
        }
    }

    /// `now` tells sites of the present run.
    pub fn explain(&self, now: impl Fn(u32) -> Option<Site>) -> Explanation {
        let say = |ready: &Ready, site: Option<&Site>| {
            let thread = self.names.get(&ready.thread).cloned();
            let thread = thread.unwrap_or_else(|| ready.thread.to_string());
            let at = site.map_or(String::new(), |s| format!(" at {}", place(s)));
            // By numbers: two runs may differ in the object alone.
            format!("{thread}: {}{at}", what(&ready.op, ""))
        };
        let now_say = |ready: &Ready| say(ready, now(ready.op.site).as_ref());
        let expected = match &self.expected {
            Expected::Step(ready) => say(ready, self.site.as_ref()),
            Expected::Tick => "that time passes to the next deadline".into(),
            Expected::Nothing if self.complete => "the end of the run".into(),
            Expected::Nothing => "nothing: the recording was cut off here".into(),
        };
        let got = match &self.got {
            Some(ready) => now_say(ready),
            None => self
                .ready
                .iter()
                .map(now_say)
                .collect::<Vec<_>>()
                .join("; "),
        };
        Explanation {
            expected,
            got,
            why: self.why(now).into(),
        }
    }

    fn why(&self, now: impl Fn(u32) -> Option<Site>) -> &'static str {
        let (then, got) = match (&self.expected, &self.got) {
            (Expected::Nothing, _) if self.complete => {
                return "the program goes on although the recorded run had ended";
            }
            (Expected::Nothing, _) => {
                return "the recorded run was killed, nothing tells how it went on";
            }
            (Expected::Tick, _) => return "somebody slept or waited then, and nobody does now",
            (Expected::Step(_), None) => {
                return "the thread that ran then is blocked, has ended or was not started";
            }
            (Expected::Step(then), Some(got)) => (then.op, got.op),
        };
        match (&self.site, &now(got.site)) {
            (Some(a), Some(b)) if a.identity() == b.identity() => {
                if then.kind != got.kind {
                    return "the statement does something else: the class was changed";
                }
                "the same statement goes to another object or element: something that is not \
                 under control has a say, such as input, files or native code"
            }
            (Some(a), Some(b)) if (&a.class, &a.method) == (&b.class, &b.method) => {
                "the thread took another way through the method, or the method was changed"
            }
            _ => "the thread took another way, or the program was changed",
        }
    }
}
