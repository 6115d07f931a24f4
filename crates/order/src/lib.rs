//! Epochs, vector clocks, read sets, locksets: the arithmetic of "happened
//! before", without any opinion about which events create an order.
//!
//! Everything here is a value or an interning table. Nothing allocates on the
//! paths that a detector takes for every access.

mod clock;
mod epoch;
mod lock_sets;
mod read_sets;

pub use clock::{ClockView, VectorClock};
pub use epoch::{Epoch, Stamp, Tid};
pub use lock_sets::{Held, LockSetId, LockSets};
pub use read_sets::{ReadSets, SetId};
