//! The writes of one location, in execution order.

use order::{ClockView, Epoch, VectorClock};

/// The write that every location begins with: its default value, or what was there before anybody
/// looked. It happens before everything.
pub const INITIAL: usize = 0;

/// A write as far as the order of reads is concerned.
#[derive(Clone, Debug)]
pub struct Write {
    /// Who made it, and when.
    by: Epoch,
    /// What happened before it, itself included.
    knows: VectorClock,
    /// The statement, for reports.
    pub site: u32,
}

impl Write {
    pub fn new(by: Epoch, knows: VectorClock, site: u32) -> Write {
        Write { by, knows, site }
    }

    pub fn by(&self) -> Epoch {
        self.by
    }
}

/// See the module. Writes are known by their number; [`INITIAL`] is the first.
#[derive(Clone, Debug)]
pub struct History {
    /// Those from number `base + 1` on.
    writes: Vec<Write>,
    base: usize,
    /// How many are kept; of more, the oldest are forgotten, which makes candidates fewer.
    keeps: usize,
}

impl History {
    /// Keeps so many writes, at least one.
    pub fn new(keeps: usize) -> History {
        History {
            writes: Vec::new(),
            base: 0,
            keeps: keeps.max(1),
        }
    }

    /// A write is made; its number.
    pub fn write(&mut self, write: Write) -> usize {
        if self.writes.len() == self.keeps {
            self.writes.remove(0);
            self.base += 1;
        }
        self.writes.push(write);
        self.newest()
    }

    /// The number of the newest write.
    pub fn newest(&self) -> usize {
        self.base + self.writes.len()
    }

    /// The number of the oldest write that is known; older ones were forgotten.
    pub fn oldest(&self) -> usize {
        if self.base == 0 {
            INITIAL
        } else {
            self.base + 1
        }
    }

    /// None of [`INITIAL`] and of those that were forgotten.
    pub fn get(&self, number: usize) -> Option<&Write> {
        self.writes.get(number.checked_sub(self.base + 1)?)
    }

    /// The writes that a plain read may see, the newest first; the newest is always among them.
    /// `knows`: what happened before the read.
    pub fn visible(&self, knows: &impl ClockView) -> Vec<usize> {
        let numbers = (self.oldest()..=self.newest()).rev();
        numbers.filter(|n| !self.is_hidden(*n, knows)).collect()
    }

    /// Whether a write happens before another one that happens before the read.
    fn is_hidden(&self, number: usize, knows: &impl ClockView) -> bool {
        let by = self.get(number).map(Write::by);
        // One that happens after it was made after it.
        let later = self
            .writes
            .iter()
            .skip((number + 1).saturating_sub(self.base + 1));
        let hides = |w: &Write| by.is_none_or(|by| w.knows.covers(by)) && knows.covers(w.by);
        later.into_iter().any(hides)
    }

    /// The newest write that happens before the read.
    pub fn newest_before(&self, knows: &impl ClockView) -> usize {
        let at = self.writes.iter().rposition(|w| knows.covers(w.by));
        at.map_or(self.oldest(), |at| self.base + 1 + at)
    }
}
