//! What each event of a run depends on within its thread: the contract between
//! a component that knows the program (the slicer of recorded bytecode, the interpreter
//! of model programs) and the engines that may then leave values out.
//!
//! # The contract
//! Events are named by their place in the trace, from 0. For an event `e` of
//! thread `t` the producer gives two lists of earlier events of `t`:
//!
//! - **happens**: if everything in this list is as it was, then `t` comes to
//!   `e` again, whatever its other reads see: it does the same
//!   synchronisation on the way, in the same order, and no other; it throws
//!   nothing that would leave the way, and is held up by no loop. If `e` is an
//!   access it is one of the same location, if it takes a lock it is the same
//!   lock, if it enters a method the same method. So the list has the reads
//!   behind every branch that decides on `e` (termination-sensitively, and
//!   exceptional exits are branches too), behind the object and the index it
//!   uses, and behind every earlier branch with a side, taken or not, that may
//!   synchronise, throw, not end, or call something unknown.
//! - **value**, for writes: if this is as it was as well, `e` writes the value
//!   it wrote.
//!
//! An entry is one of two things, see [`Dep`]: the *value* of an earlier read,
//! or that an earlier event *happens*: then all that it needs is meant. The
//! latter keeps lists short: what the fifth event after a loop needs is what
//! the fourth needs, and perhaps a read more. Lists need not be closed: a read
//! whose value is needed must have happened, and its own list says what for.
//!
//! An event that nothing was said of depends on *all* that its thread saw
//! before; that is true of every event, so leaving events out, or knowing
//! nothing at all ([`Deps::unknown`]), makes predictions fewer, never wrong.
//!
//! **Writes that did not happen.** A branch may go the other way and write
//! something there. Either the producer puts the reads behind such a branch
//! into the lists of all later events, or it says so with
//! [`Builder::may_write`]: from event `e` on, up to its thread's next one,
//! locations of these classes may be written unless this list is as it was.
//! An access in a side that was taken may also go missing, or go elsewhere:
//! that follows from its own list and needs nothing more.
//!
//! **Classes of locations.** Two accesses with different classes can never be
//! of one location, whatever the values: the number of the field, and one
//! class for the elements of all arrays (or one for each element type). Without
//! a class, an access may go anywhere.
//!
//! **Loads.** `AtomicRead` also stands for a compare-and-set that failed, and
//! that could have succeeded. Only if the producer says that an atomic read is
//! a mere load ([`Builder::load`]) may its value be left out.
//!
//! What does not come from reads (time, random numbers, input) is taken to be
//! the same again, and so is what calls that the producer holds for pure do.

/// The class of an access that may go anywhere.
pub const ANYWHERE: u32 = u32::MAX;

/// Marks an entry as "happens".
const HAPPENS: u32 = 1 << 31;
/// Nothing was said: all.
const ALL: u32 = u32::MAX;

/// One thing that an event depends on: an earlier event of its thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dep {
    /// The value that this read, or update, saw.
    Value(u32),
    /// That this event happened, with all that it needs for that.
    Happens(u32),
}

/// What is known of one event's needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Needs<'a> {
    /// Everything its thread saw before.
    All,
    These(&'a [Entry]),
}

/// A [`Dep`], packed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry(u32);

impl Entry {
    #[inline]
    pub fn get(self) -> Dep {
        match self.0 & HAPPENS {
            0 => Dep::Value(self.0),
            _ => Dep::Happens(self.0 & !HAPPENS),
        }
    }
}

/// A write that may happen instead of what did.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MayWrite {
    /// Behind this event of its thread, before the thread's next one.
    pub after: u32,
    pub classes: Vec<u32>,
    unless: (u32, u32),
}

/// The dependences of a trace. See the module for what they mean.
#[derive(Debug, Default)]
pub struct Deps {
    rows: Vec<Row>,
    entries: Vec<Entry>,
    may: Vec<MayWrite>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    /// Where the entries start; `ALL` if nothing was said.
    start: u32,
    happens: u32,
    value: u32,
    class: u32,
    load: bool,
}

impl Row {
    const UNKNOWN: Row = Row {
        start: ALL,
        happens: 0,
        value: 0,
        class: ANYWHERE,
        load: false,
    };
}

impl Deps {
    /// Nothing is known: every event depends on all before it.
    pub fn unknown() -> Deps {
        Deps::default()
    }

    /// Whether nothing is known of any event.
    pub fn is_unknown(&self) -> bool {
        self.rows.is_empty()
    }

    fn row(&self, event: u32) -> &Row {
        self.rows.get(event as usize).unwrap_or(&Row::UNKNOWN)
    }

    fn entries(&self, start: u32, from: u32, count: u32) -> Needs<'_> {
        if start == ALL {
            return Needs::All;
        }
        let from = start as usize + from as usize;
        Needs::These(&self.entries[from..from + count as usize])
    }

    /// What has to be as it was for `event` to happen.
    #[inline]
    pub fn happens(&self, event: u32) -> Needs<'_> {
        let row = self.row(event);
        self.entries(row.start, 0, row.happens)
    }

    /// What has to be as it was, besides, for it to write what it wrote.
    #[inline]
    pub fn value(&self, event: u32) -> Needs<'_> {
        let row = self.row(event);
        self.entries(row.start, row.happens, row.value)
    }

    /// The class of the location that `event` accesses.
    #[inline]
    pub fn class(&self, event: u32) -> u32 {
        self.row(event).class
    }

    /// Whether an atomic read is no more than that.
    #[inline]
    pub fn is_load(&self, event: u32) -> bool {
        self.row(event).load
    }

    /// Writes that did not happen, by the event that they would follow.
    pub fn may_write(&self) -> &[MayWrite] {
        &self.may
    }

    /// What has to be as it was for such a write not to happen.
    pub fn unless(&self, write: &MayWrite) -> Needs<'_> {
        self.entries(write.unless.0, 0, write.unless.1)
    }
}

/// Takes dependences in any order of events. What does not make sense (an
/// entry that is not an earlier event) makes its event depend on all.
#[derive(Debug)]
pub struct Builder {
    deps: Deps,
}

impl Builder {
    /// For a trace of so many events.
    pub fn new(events: usize) -> Builder {
        Builder {
            deps: Deps {
                rows: vec![Row::UNKNOWN; events],
                ..Deps::default()
            },
        }
    }

    /// What `event` needs to happen, and to write what it wrote.
    pub fn event(
        &mut self,
        event: u32,
        happens: impl IntoIterator<Item = Dep>,
        value: impl IntoIterator<Item = Dep>,
    ) {
        let Some((start, happens)) = self.list(event, happens) else {
            return;
        };
        let Some((_, value)) = self.list(event, value) else {
            return;
        };
        if let Some(row) = self.deps.rows.get_mut(event as usize) {
            (row.start, row.happens, row.value) = (start, happens, value);
        }
    }

    /// The class of the location that `event` accesses.
    pub fn class(&mut self, event: u32, class: u32) {
        if let Some(row) = self.deps.rows.get_mut(event as usize) {
            row.class = class;
        }
    }

    /// The atomic read `event` is a mere load.
    pub fn load(&mut self, event: u32) {
        if let Some(row) = self.deps.rows.get_mut(event as usize) {
            row.load = true;
        }
    }

    /// Behind `after`, its thread may write locations of these classes, unless
    /// the list is as it was.
    pub fn may_write(
        &mut self,
        after: u32,
        classes: impl IntoIterator<Item = u32>,
        unless: impl IntoIterator<Item = Dep>,
    ) {
        let end = after.saturating_add(1);
        let unless = self.list(end, unless).unwrap_or((ALL, 0));
        self.deps.may.push(MayWrite {
            after,
            classes: classes.into_iter().collect(),
            unless,
        });
    }

    pub fn build(mut self) -> Deps {
        self.deps.may.sort_by_key(|write| write.after);
        self.deps
    }

    /// Where the list is, and how long; `None` if it makes no sense.
    fn list(&mut self, before: u32, list: impl IntoIterator<Item = Dep>) -> Option<(u32, u32)> {
        let start = self.deps.entries.len();
        for dep in list {
            let (event, mark) = match dep {
                Dep::Value(event) => (event, 0),
                Dep::Happens(event) => (event, HAPPENS),
            };
            if event >= before || event >= HAPPENS {
                self.deps.entries.truncate(start);
                return None;
            }
            self.deps.entries.push(Entry(event | mark));
        }
        let count = self.deps.entries.len() - start;
        let start = u32::try_from(start).ok().filter(|start| *start != ALL)?;
        Some((start, u32::try_from(count).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(needs: Needs<'_>) -> Option<Vec<Dep>> {
        match needs {
            Needs::All => None,
            Needs::These(entries) => Some(entries.iter().map(|e| e.get()).collect()),
        }
    }

    #[test]
    fn what_is_said_is_kept_and_the_rest_is_all() {
        let mut builder = Builder::new(5);
        builder.event(3, [Dep::Value(1), Dep::Happens(2)], [Dep::Value(0)]);
        builder.event(1, [], []);
        builder.class(3, 7);
        builder.load(1);
        builder.may_write(3, [7, 8], [Dep::Value(3)]);
        builder.may_write(1, [9], [Dep::Value(2)]);
        let deps = builder.build();
        assert_eq!(
            list(deps.happens(3)),
            Some(vec![Dep::Value(1), Dep::Happens(2)])
        );
        assert_eq!(list(deps.value(3)), Some(vec![Dep::Value(0)]));
        assert_eq!(list(deps.happens(1)), Some(vec![]));
        assert_eq!(list(deps.value(1)), Some(vec![]));
        assert_eq!((list(deps.happens(4)), list(deps.value(99))), (None, None));
        assert_eq!((deps.class(3), deps.class(4)), (7, ANYWHERE));
        assert_eq!((deps.is_load(1), deps.is_load(3)), (true, false));
        let [late, write] = deps.may_write() else {
            panic!()
        };
        assert_eq!((late.after, write.after), (1, 3));
        assert_eq!(list(deps.unless(write)), Some(vec![Dep::Value(3)]));
        // An event cannot depend on a later one.
        assert_eq!(list(deps.unless(late)), None);
    }

    #[test]
    fn nonsense_makes_an_event_depend_on_all() {
        let mut builder = Builder::new(3);
        builder.event(1, [Dep::Value(1)], []);
        builder.event(2, [Dep::Value(0)], [Dep::Value(u32::MAX)]);
        builder.event(7, [], []);
        let deps = builder.build();
        assert_eq!((list(deps.happens(1)), list(deps.happens(2))), (None, None));
        assert!(Deps::unknown().is_unknown() && !deps.is_unknown());
    }
}
