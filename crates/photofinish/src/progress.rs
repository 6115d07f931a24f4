//! What is going on, on standard error. On a terminal: a line that is replaced, and a line for
//! each run or repair. Elsewhere, in a log: a line for each stage of a hunt, and every 30 seconds
//! what is being done. `--verbose` has both kinds of lines, `--quiet` none.

use crate::heartbeat::Heartbeat;
use crate::say::{say, say_on};
use engine::Progress;
use findings::group::Finding;
use findings::text::clean;
use std::cell::{Cell, RefCell};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// How often the number of executions is shown.
const OFTEN: Duration = Duration::from_millis(200);

/// How often a log says what is being done.
const IN_LOGS: Duration = Duration::from_secs(30);

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
    /// What is being done is said in a log.
    in_log: bool,
    /// Begins with the first thing that is being done.
    heartbeat: RefCell<Option<Heartbeat>>,
}

impl Terminal {
    /// Shown unless the user wants silence.
    pub fn new(quiet: bool, verbose: bool) -> Terminal {
        let line = !quiet && std::io::stderr().is_terminal();
        let in_log = !quiet && !line;
        Terminal {
            line,
            steps: line || verbose,
            stages: verbose || in_log,
            head: RefCell::default(),
            deadline: Cell::default(),
            shown: Cell::default(),
            explored: Cell::default(),
            in_log,
            heartbeat: RefCell::default(),
        }
    }

    /// Runs are not shown if there is only one: the program's own output is.
    pub fn steps_if(mut self, several: bool) -> Terminal {
        self.steps &= several;
        self.in_log &= several;
        self
    }

    /// Takes the line away, so that other text can follow.
    pub fn clear(&self) {
        if self.shown.replace(false) {
            say_on!("\r\x1b[K");
        }
        if let Some(heartbeat) = &*self.heartbeat.borrow() {
            heartbeat.set(None);
        }
    }

    /// Shows what is being done: at once, or with the next line of a log.
    fn show(&self, text: &str) {
        if self.line {
            say_on!("\r\x1b[K{text}");
            self.shown.set(true);
        } else if self.in_log {
            let say = |text: &str| say!("photofinish: {}", clean(text));
            let mut heartbeat = self.heartbeat.borrow_mut();
            let heartbeat = heartbeat.get_or_insert_with(|| Heartbeat::start(IN_LOGS, say));
            heartbeat.set(Some(text.to_owned()));
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
        let left = match self.deadline.get() {
            Some(at) => {
                let left = at.saturating_duration_since(Instant::now()).as_secs();
                format!(" ({}:{:02} left)", left / 60, left % 60)
            }
            None => String::new(),
        };
        self.show(&format!("{}{text}{left}", self.head.borrow()));
    }

    fn step(&self, text: &str) {
        if self.steps {
            say!("photofinish: {text}");
        } else if self.in_log {
            self.show(text);
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
        if self.explored.get().is_some_and(soon) {
            return;
        }
        self.explored.set(Some(Instant::now()));
        let of = so_far.estimate.map_or(String::new(), |all| {
            format!(" of about {}", all.round() as u64)
        });
        self.show(&format!("{} executions{of}", so_far.executions));
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
