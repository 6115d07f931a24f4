//! What one thread recorded, made ready for being followed: its events and the
//! records between them, and apart from those the bits of its conditionals.

use crate::program::{Place, Program};
use trace::tables::SiteKind;
use trace::{Event, Op, SiteId};

/// A recorded thing other than bits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Item {
    /// A method began.
    Enter { method: u32, steps: u32 },
    /// An exception left it.
    Left { method: u32, steps: u32 },
    /// A handler of it began.
    Caught { place: Place, steps: u32 },
    /// The key of a switch.
    Key { place: Place, key: i32 },
    /// An array is copied, with so many accesses.
    Copy { place: Place, count: u32 },
    /// What comes next happened after so many steps.
    At { steps: u32 },
    /// An event of the program, in a method that is followed or elsewhere.
    Event(Option<Place>),
}

#[derive(Debug, Default)]
pub(crate) struct Stream {
    /// With the event's number in the trace.
    items: Vec<(u32, Item)>,
    next: usize,
    bits: Vec<u32>,
    /// Word and bits of it that are used up.
    bit: (usize, u32),
}

impl Stream {
    pub fn push(&mut self, number: u32, event: &Event, program: &Program<'_>) {
        let place = match event.site {
            SiteId(0) => None,
            SiteId(site) => program.place(site),
        };
        let item = match event.op {
            Op::Unsure(_) => return,
            Op::Branch(bits) if event.site.0 == 0 => return self.bits.push(bits),
            Op::MethodEnter(steps) => match place {
                Some(Place { method, .. }) => Item::Enter { method, steps },
                None => return,
            },
            Op::MethodExit(steps) if event.site.0 == 0 => Item::At { steps },
            Op::MethodExit(steps) => match place {
                Some(Place { method, .. }) => Item::Left { method, steps },
                None => return,
            },
            Op::Branch(n) => match place {
                Some(place) if place.kind == SiteKind::Handler => Item::Caught { place, steps: n },
                Some(place) if place.kind == SiteKind::Switch => Item::Key {
                    place,
                    key: n as i32,
                },
                Some(place) => Item::Copy { place, count: n },
                None => return,
            },
            _ => Item::Event(place),
        };
        self.items.push((number, item));
    }

    #[inline]
    pub fn head(&self) -> Option<(u32, Item)> {
        self.items.get(self.next).copied()
    }

    pub fn take(&mut self) {
        self.next += 1;
    }

    /// The answer of the next conditional.
    pub fn next_bit(&mut self) -> Option<bool> {
        loop {
            let word = *self.bits.get(self.bit.0)?;
            // Below a leading one.
            let count = 31u32.saturating_sub(word.leading_zeros());
            if self.bit.1 < count {
                let bit = word >> (count - 1 - self.bit.1) & 1;
                self.bit.1 += 1;
                return Some(bit != 0);
            }
            self.bit = (self.bit.0 + 1, 0);
        }
    }
}
