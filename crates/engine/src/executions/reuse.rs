//! How far JVMs that make one execution after the other are trusted, and which there are.
//!
//! An execution must not be able to tell that others were made before it. So that is tried:
//! executions of fresh JVMs must be the same in a worker before workers are used, and
//! what a worker shows for the first time is made again in a fresh JVM, which is what
//! counts. Where workers were wrong, or a program leaves behind what cannot be put back, every
//! execution gets its own JVM from then on, and the report says so.

use crate::error::Error;
use crate::launch::{Launcher, Plan, RunDir};
use driver::options::Control;
use driver::run::Request;

/// How often workers may be wrong, or die before they are trusted.
const PATIENCE: u32 = 3;

/// Why they are given up where they ended before they were trusted.
pub const ENDED: &str = "a JVM that is to be used again ended by itself";
/// Why they are given up where they were wrong.
pub const NOT_THE_SAME: &str = "they were not the same in a JVM that is used again";

#[derive(Debug)]
pub struct Reuse {
    /// Why there are none.
    off: Option<String>,
    /// Nobody wants them.
    unwanted: bool,
    wrong: u32,
    /// Executions load the program's classes anew, since keeping them was wrong; and why those
    /// do that of which nobody said so.
    new_classes: bool,
    reloads: Option<String>,
    /// Trials of workers that came to nothing.
    failed: u32,
    /// Executions that they made and that count.
    made: u64,
    hired: u64,
    dirs: Vec<RunDir>,
}

impl Reuse {
    pub fn new(isolate: bool) -> Reuse {
        Reuse {
            off: None,
            unwanted: isolate,
            wrong: 0,
            new_classes: false,
            reloads: None,
            failed: 0,
            made: 0,
            hired: 0,
            dirs: Vec::new(),
        }
    }

    pub fn is_on(&self) -> bool {
        !self.unwanted && self.off.is_none()
    }

    pub fn made(&self) -> u64 {
        self.made
    }

    pub fn why_not(&self) -> Option<String> {
        self.off.clone()
    }

    /// An execution of a worker counts.
    pub fn count(&mut self) {
        self.made += 1;
    }

    /// For whoever goes on with the same workers. What they made is counted here.
    pub fn hand_on(&mut self) -> Reuse {
        Reuse {
            made: 0,
            dirs: std::mem::take(&mut self.dirs),
            off: self.off.clone(),
            reloads: self.reloads.clone(),
            ..*self
        }
    }

    /// None of them counts.
    pub fn forget(&mut self) {
        self.made = 0;
    }

    pub fn give_up(&mut self, why: &str) {
        self.off.get_or_insert_with(|| why.to_owned());
    }

    /// Workers of another kind are of no use any more.
    pub fn kind(&self) -> u64 {
        self.new_classes.into()
    }

    /// An answer of a worker says why its executions load the program's classes anew.
    pub fn told(&mut self, reloads: Option<String>) {
        if reloads.is_some() {
            self.reloads = reloads;
        }
    }

    /// Why executions load classes anew, if they do.
    pub fn reloads(&self) -> Option<String> {
        self.reloads.clone()
    }

    /// Something was not the same with the classes of an earlier execution, or may not have been: from
    /// now on each has its own. False if that is so already.
    pub fn gives_up_classes(&mut self, why: &str) -> bool {
        self.reloads.get_or_insert_with(|| why.to_owned());
        !std::mem::replace(&mut self.new_classes, true)
    }

    /// A fresh JVM showed something else.
    pub fn was_wrong(&mut self) {
        if self.gives_up_classes(NOT_THE_SAME) {
            return;
        }
        self.wrong += 1;
        if self.wrong >= PATIENCE {
            self.give_up(NOT_THE_SAME);
        }
    }

    /// A worker died before it was trusted, or could not be compared.
    pub fn trial_failed(&mut self, why: &str) {
        self.failed += 1;
        if self.failed >= PATIENCE {
            self.give_up(why);
        }
    }

    /// How to start another worker. The plan has the control of its executions.
    pub fn hire<'a>(
        &mut self,
        launcher: &'a Launcher<'_>,
        plan: Plan,
    ) -> Result<Request<'a>, Error> {
        self.hired += 1;
        let dir = launcher.directory(&format!("worker-{}", self.hired))?;
        let control = plan.control.map(|control| Control {
            worker: true,
            new_classes: self.new_classes,
            ..control
        });
        let request = launcher.request(&dir, Plan { control, ..plan });
        self.dirs.push(dir);
        Ok(request)
    }
}
