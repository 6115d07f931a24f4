//! A frame of a followed thread: slots, and the decisions that led to where it
//! is.

use crate::body::Body;
use crate::call::Open;
use crate::needs::Need;
use crate::program::Place;
use std::rc::Rc;

/// A slot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Val {
    pub need: Need,
    /// The object, if it was made in this thread; one more than its place in
    /// `Replay::objects`.
    pub object: u32,
}

impl Val {
    pub fn from_need(need: Need) -> Val {
        Val { need, object: 0 }
    }
}

/// What is known of the inside of an object.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Inside {
    pub need: Need,
    /// Others may know the object.
    pub shared: bool,
}

/// Who called.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Caller {
    /// The call instruction of the frame below.
    Direct,
    /// Code without probes that the frame below called.
    Foreign,
    /// The JVM, in the middle of the frame below: class loading, initialisers.
    Machine,
    /// Nobody that is followed.
    Nobody,
}

#[derive(Debug)]
pub(crate) struct Frame {
    pub method: u32,
    pub body: Rc<Body>,
    pub at: u32,
    pub locals: Vec<Val>,
    pub stack: Vec<Val>,
    /// What coming here depends on.
    pub entry: Need,
    /// The latest decision of each stretch that decided, oldest first.
    pub decided: Vec<Decision>,
    /// What being in the current stretch depends on, once somebody asked.
    pub control: Option<Need>,
    pub caller: Caller,
    /// The floor when it began.
    pub floor: Need,
    /// The call that it is in.
    pub open: Option<Open>,
    /// Something may have thrown since the last thing that is known to have
    /// happened.
    pub risky: bool,
}

/// A decision that was taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decision {
    pub stretch: u32,
    pub need: Need,
    /// What it asked, alone.
    pub condition: Need,
    /// Slots on the stack then.
    pub depth: usize,
}

impl Frame {
    pub fn control(&mut self) -> Need {
        if let Some(known) = self.control {
            return known;
        }
        let stretch = self.body.stretch.get(self.at as usize);
        let need = match stretch {
            Some(&stretch) => self.control_of(stretch),
            None => self.entry,
        };
        self.control = Some(need);
        need
    }

    /// What coming to a node depends on.
    pub fn control_of(&self, node: u32) -> Need {
        self.latest(node).map_or(self.entry, |d| d.need)
    }

    /// The latest decision that controls a node.
    pub fn latest(&self, node: u32) -> Option<&Decision> {
        let control = &self.body.control;
        let mut latest = self.decided.iter().rev();
        latest.find(|d| control.depends(node, d.stretch))
    }

    pub fn go(&mut self, to: u32) {
        let stretch = |at: u32| self.body.stretch.get(at as usize);
        if stretch(to) != stretch(self.at) || to <= self.at {
            self.control = None;
        }
        self.at = to;
    }

    /// Where the frame goes on if it catches at this place.
    pub fn catches(&self, place: Place) -> Option<u32> {
        let handler = self.body.index_of(place.pc)?;
        let mut rows = self.body.handlers.iter();
        let covers =
            |&&(start, end, h): &&(u32, u32, u32)| h == handler && (start..end).contains(&self.at);
        (self.method == place.method && rows.any(|row| covers(&row))).then_some(handler)
    }

    /// Something is known to have happened: what threw earlier did not.
    pub fn progress(&mut self) {
        self.risky = false;
    }
}
