//! What strategies are shown and what they answer.

/// Threads in the order in which they were made; 0 is the main thread.
pub type Thread = u32;

/// What a thread does next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Kind {
    /// The first thing a thread does.
    Begin = 0,
    Acquire,
    /// Takes a lock if it is free, and goes on without it if not.
    TryAcquire,
    Release,
    AcquireShared,
    ReleaseShared,
    Wait,
    Notify,
    NotifyAll,
    Park,
    Unpark,
    Start,
    Join,
    Sleep,
    /// The thread says that it cannot get on by itself, as `Spin`.
    Yield,
    /// Made up by the scheduler when a thread ran through many iterations of a
    /// loop without any other operation.
    Spin,
    Interrupt,
    AtomicRead,
    AtomicWrite,
    AtomicUpdate,
    /// A plain access, at statements that were asked for.
    Read,
    Write,

    // Told in explorations only.
    /// The last thing a thread does.
    End,
    /// Has the monitor again after a wait.
    WaitEnd,
    IsAlive,
    /// Looks at its own interrupt status and clears it.
    Interrupted,
    IsInterrupted,
}

impl Kind {
    /// In the order of their numbers.
    pub const ALL: [Kind; 27] = [
        Kind::Begin,
        Kind::Acquire,
        Kind::TryAcquire,
        Kind::Release,
        Kind::AcquireShared,
        Kind::ReleaseShared,
        Kind::Wait,
        Kind::Notify,
        Kind::NotifyAll,
        Kind::Park,
        Kind::Unpark,
        Kind::Start,
        Kind::Join,
        Kind::Sleep,
        Kind::Yield,
        Kind::Spin,
        Kind::Interrupt,
        Kind::AtomicRead,
        Kind::AtomicWrite,
        Kind::AtomicUpdate,
        Kind::Read,
        Kind::Write,
        Kind::End,
        Kind::WaitEnd,
        Kind::IsAlive,
        Kind::Interrupted,
        Kind::IsInterrupted,
    ];

    pub fn from_number(number: u8) -> Option<Kind> {
        Kind::ALL.get(usize::from(number)).copied()
    }

    /// The thread says that others should go on first.
    pub fn gives_way(self) -> bool {
        matches!(self, Kind::Yield | Kind::Spin)
    }

    /// An access to a variable, plain or atomic.
    pub fn is_access(self) -> bool {
        matches!(
            self,
            Kind::Read | Kind::Write | Kind::AtomicRead | Kind::AtomicWrite | Kind::AtomicUpdate
        )
    }

    pub fn is_plain(self) -> bool {
        matches!(self, Kind::Read | Kind::Write)
    }

    /// An access that may change the variable.
    pub fn is_write(self) -> bool {
        matches!(self, Kind::Write | Kind::AtomicWrite | Kind::AtomicUpdate)
    }
}

/// One operation of a thread. Where it goes is `(obj, slot)`: a field of an
/// object, an element of an array, a lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Op {
    pub kind: Kind,
    /// The statement.
    pub site: u32,
    /// 0: none.
    pub obj: u64,
    pub slot: u32,
}

impl Op {
    /// Both access one variable, and at least one may change it. Whether they
    /// belong to different threads is for the caller to know.
    pub fn conflicts(&self, other: &Op) -> bool {
        self.kind.is_access()
            && other.kind.is_access()
            && self.obj != 0
            && self.obj == other.obj
            && self.slot == other.slot
            && (self.kind.is_write() || other.kind.is_write())
    }

    /// They conflict and are not both atomic: a data race, if two threads can
    /// do them at once.
    pub fn races(&self, other: &Op) -> bool {
        self.conflicts(other) && (self.kind.is_plain() || other.kind.is_plain())
    }
}

/// An enabled thread and what it does next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Ready {
    pub thread: Thread,
    pub op: Op,
}

/// The state of a run as a strategy sees it.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Ascending by thread, never empty.
    pub ready: &'a [Ready],
    /// Who ran last; it may be blocked or gone.
    pub last: Option<Thread>,
    /// How many virtual nanoseconds away the next deadline is, if somebody sleeps or waits
    /// with one.
    pub deadline: Option<u64>,
    /// How many operations were run before.
    pub step: u64,
}

impl View<'_> {
    /// What `thread` does next, if it is enabled.
    pub fn op_of(&self, thread: Thread) -> Option<Op> {
        let at = self
            .ready
            .binary_search_by_key(&thread, |r| r.thread)
            .ok()?;
        Some(self.ready[at].op)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Decision {
    /// One of the enabled threads makes its operation.
    Run(Thread),
    /// Nobody goes on before time has passed to the next deadline. Only if
    /// there is one ([`View::deadline`]).
    Tick,
    /// Nobody can go on: what each stands before would have to wait.
    Stuck,
}

/// Two conflicting accesses stood side by side, and one was made right before
/// the other could have been.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Hit {
    /// [`View::step`] at that time.
    pub step: u64,
    /// Executed first.
    pub first: Ready,
    pub second: Ready,
}
