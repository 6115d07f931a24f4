//! One line on standard error that says what is going on; only on a terminal.

use std::cell::{Cell, RefCell};
use std::io::IsTerminal;
use std::time::Instant;

#[derive(Debug)]
pub struct Progress {
    on: bool,
    /// What every line begins with.
    head: RefCell<String>,
    deadline: Option<Instant>,
    shown: Cell<bool>,
}

impl Progress {
    /// Shown unless the user wants silence.
    pub fn new(quiet: bool, deadline: Option<Instant>) -> Progress {
        Progress {
            on: !quiet && std::io::stderr().is_terminal(),
            head: RefCell::default(),
            deadline,
            shown: Cell::new(false),
        }
    }

    pub fn is_on(&self) -> bool {
        self.on
    }

    /// What the lines from now on begin with.
    pub fn head(&self, text: String) {
        *self.head.borrow_mut() = text;
    }

    /// Replaces the line.
    pub fn say(&self, text: &str) {
        if !self.on {
            return;
        }
        let left = match self.deadline {
            Some(at) => {
                let left = at.saturating_duration_since(Instant::now()).as_secs();
                format!(" ({}:{:02} left)", left / 60, left % 60)
            }
            None => String::new(),
        };
        eprint!("\r\x1b[K{}{text}{left}", self.head.borrow());
        self.shown.set(true);
    }

    /// Takes the line away, so that other text can follow.
    pub fn clear(&self) {
        if self.shown.replace(false) {
            eprint!("\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
