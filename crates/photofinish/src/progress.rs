//! What is going on, on standard error: a line that is replaced, only on a
//! terminal; and a line for each run or repair, also with `--verbose`.

use crate::say::{say, say_on};
use engine::Progress;
use findings::group::Finding;
use findings::text::clean;
use std::cell::{Cell, RefCell};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often the number of executions is shown.
const OFTEN: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub struct Terminal {
    /// The line that is replaced is shown.
    line: bool,
    /// Runs and repairs are shown.
    steps: bool,
    /// Stages are shown.
    stages: bool,
    /// What every line begins with.
    head: RefCell<String>,
    deadline: Cell<Option<Instant>>,
    shown: Cell<bool>,
    /// When the number of executions was shown last.
    explored: Cell<Option<Instant>>,
}

impl Terminal {
    /// Shown unless the user wants silence.
    pub fn new(quiet: bool, verbose: bool) -> Terminal {
        let line = !quiet && std::io::stderr().is_terminal();
        Terminal {
            line,
            steps: line || verbose,
            stages: verbose,
            head: RefCell::default(),
            deadline: Cell::default(),
            shown: Cell::default(),
            explored: Cell::default(),
        }
    }

    /// Runs are not shown if there is only one.
    pub fn steps_if(mut self, several: bool) -> Terminal {
        self.steps &= several;
        self
    }

    /// Takes the line away, so that other text can follow.
    pub fn clear(&self) {
        if self.shown.replace(false) {
            say_on!("\r\x1b[K");
        }
    }
}

impl Progress for Terminal {
    fn deadline(&self, at: Option<Instant>) {
        self.deadline.set(at);
    }

    fn stage(&self, name: &str) {
        if self.stages {
            self.clear();
            say!("photofinish: {name}");
        }
    }

    fn tally(&self, stage: &str, suspected: usize, certain: usize) {
        *self.head.borrow_mut() = format!("{stage}: {suspected} suspected, {certain} found; ");
    }

    fn doing(&self, text: &str) {
        if !self.line {
            return;
        }
        let left = match self.deadline.get() {
            Some(at) => {
                let left = at.saturating_duration_since(Instant::now()).as_secs();
                format!(" ({}:{:02} left)", left / 60, left % 60)
            }
            None => String::new(),
        };
        say_on!("\r\x1b[K{}{text}{left}", self.head.borrow());
        self.shown.set(true);
    }

    fn step(&self, text: &str) {
        if self.steps {
            say!("photofinish: {text}");
        }
    }

    fn found(&self, finding: &Finding<'_>) {
        if self.line {
            self.clear();
            let (race, place) = (finding.race, clean(&finding.name()));
            let at = finding.preposition();
            say!("{}: race {at} {place}, {}", race.id, race.status.word());
        }
    }

    fn explored(&self, so_far: &explore::Progress) {
        let soon = |at: Instant| at.elapsed() < OFTEN;
        if !self.line || self.explored.get().is_some_and(soon) {
            return;
        }
        self.explored.set(Some(Instant::now()));
        let of = so_far.estimate.map_or(String::new(), |all| {
            format!(" of about {}", all.round() as u64)
        });
        say_on!("\r\x1b[Kphotofinish: {} executions{of}", so_far.executions);
        self.shown.set(true);
    }

    fn complaint(&self, line: &str) {
        say!("{}", clean(line));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.clear();
    }
}
