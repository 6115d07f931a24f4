//! Atomic and raw accesses: what `Unsafe` and `VarHandle` calls do, read off
//! their names.
//!
//! Both families name the operation first and the memory ordering last
//! (`getAndAddIntAcquire`, `weakCompareAndSetPlain`). The result is packed into
//! one `int`, the *code* argument of the bridge's `raw…` and `vh…` probes:
//! `op | mode << MODE_SHIFT`. The bridge's constants are generated from these.

/// Where a code has the mode, and which bits of it are the operation.
pub const MODE_SHIFT: u32 = 4;
pub const OP_MASK: i32 = (1 << MODE_SHIFT) - 1;

/// What the call does to the location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Reads.
    Read = 0,
    /// Writes.
    Write = 1,
    /// Reads and always writes: getAndSet, getAndAdd, getAndBitwise….
    Update = 2,
    /// Reads, and writes when the comparison holds. The `…AfterCas` probes
    /// carry the outcome. compareAndExchange has none to carry and uses the
    /// plain After probe; an `exchanged…` probe before it tells what was seen
    /// and what was expected. Without that (the result is dropped, or of
    /// another type than what was expected) it counts as one that succeeded.
    Cas = 3,
}

/// With which ordering (java.lang.invoke.VarHandle's access modes).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccessMode {
    /// No ordering, no atomicity: can race.
    Plain = 0,
    /// Atomic, no ordering.
    Opaque = 1,
    /// The read acquires; a write part is plain.
    Acquire = 2,
    /// The write releases; a read part is plain.
    Release = 3,
    /// Acquires and releases, sequentially consistent.
    Volatile = 4,
}

/// An operation in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    pub op: Op,
    pub mode: AccessMode,
}

impl Access {
    /// The `code` argument of the probes.
    pub fn code(self) -> i32 {
        self.op as i32 | (self.mode as i32) << MODE_SHIFT
    }

    /// How many trailing parameters of the call are values, not coordinates.
    pub fn values(self) -> usize {
        match self.op {
            Op::Read => 0,
            Op::Write | Op::Update => 1,
            Op::Cas => 2,
        }
    }
}

/// A memory fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fence {
    Acquire,
    Release,
    Full,
}

const ATOMICS: [(&str, Op); 6] = [
    ("weakCompareAndSet", Op::Cas),
    ("compareAndSet", Op::Cas),
    ("compareAndSwap", Op::Cas),
    ("compareAndExchange", Op::Cas),
    ("getAndSet", Op::Update),
    ("getAndAdd", Op::Update),
];

/// Splits an atomic's name into its operation and what follows.
fn atomic(name: &str) -> Option<(Op, &str)> {
    if let Some(rest) = name.strip_prefix("getAndBitwise") {
        let rest = ["Or", "And", "Xor"]
            .iter()
            .find_map(|o| rest.strip_prefix(o));
        return rest.map(|rest| (Op::Update, rest));
    }
    ATOMICS
        .iter()
        .find_map(|&(prefix, op)| name.strip_prefix(prefix).map(|rest| (op, rest)))
}

fn mode_suffix(rest: &str, unmarked: AccessMode) -> (AccessMode, &str) {
    const SUFFIXES: [(&str, AccessMode); 5] = [
        ("Plain", AccessMode::Plain),
        ("Opaque", AccessMode::Opaque),
        ("Acquire", AccessMode::Acquire),
        ("Release", AccessMode::Release),
        ("Volatile", AccessMode::Volatile),
    ];
    SUFFIXES
        .iter()
        .find_map(|&(s, mode)| rest.strip_suffix(s).map(|rest| (mode, rest)))
        .unwrap_or((unmarked, rest))
}

/// A signature-polymorphic method of `VarHandle`.
pub fn var_handle(name: &str) -> Option<Access> {
    if let Some((op, rest)) = atomic(name) {
        let (mode, rest) = mode_suffix(rest, AccessMode::Volatile);
        return rest.is_empty().then_some(Access { op, mode });
    }
    let (op, rest) = if let Some(rest) = name.strip_prefix("get") {
        (Op::Read, rest)
    } else {
        (Op::Write, name.strip_prefix("set")?)
    };
    let (mode, rest) = mode_suffix(rest, AccessMode::Plain);
    rest.is_empty().then_some(Access { op, mode })
}

/// A method of `jdk.internal.misc.Unsafe` or `sun.misc.Unsafe` whose
/// parameters start with (Object, long).
pub fn raw(name: &str) -> Option<Access> {
    const TYPES: [&str; 14] = [
        "Boolean",
        "Byte",
        "Short",
        "Char",
        "Int",
        "Long",
        "Float",
        "Double",
        "Reference",
        "Object",
        "Address",
        "ShortUnaligned",
        "CharUnaligned",
        "IntUnaligned",
    ];
    let known = |t: &str| TYPES.contains(&t) || t == "LongUnaligned";
    if let Some((op, rest)) = atomic(name) {
        let (mode, rest) = mode_suffix(rest, AccessMode::Volatile);
        return known(rest).then_some(Access { op, mode });
    }
    if let Some(rest) = name.strip_prefix("putOrdered") {
        return known(rest).then_some(Access {
            op: Op::Write,
            mode: AccessMode::Release,
        });
    }
    let (op, rest) = if let Some(rest) = name.strip_prefix("get") {
        (Op::Read, rest)
    } else {
        (Op::Write, name.strip_prefix("put")?)
    };
    let (mode, rest) = mode_suffix(rest, AccessMode::Plain);
    known(rest).then_some(Access { op, mode })
}

/// A fence of `VarHandle` or `Unsafe`. loadLoad and storeStore count as acquire
/// and release: code that uses them does so to hand data over.
pub fn fence(name: &str) -> Option<Fence> {
    match name {
        "fullFence" => Some(Fence::Full),
        "acquireFence" | "loadLoadFence" | "loadFence" => Some(Fence::Acquire),
        "releaseFence" | "storeStoreFence" | "storeFence" => Some(Fence::Release),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn var_handle_names() {
        let is = |n: &str, op, mode| assert_eq!(var_handle(n), Some(Access { op, mode }), "{n}");
        is("get", Op::Read, AccessMode::Plain);
        is("set", Op::Write, AccessMode::Plain);
        is("getVolatile", Op::Read, AccessMode::Volatile);
        is("setRelease", Op::Write, AccessMode::Release);
        is("getAcquire", Op::Read, AccessMode::Acquire);
        is("setOpaque", Op::Write, AccessMode::Opaque);
        is("compareAndSet", Op::Cas, AccessMode::Volatile);
        is("weakCompareAndSetPlain", Op::Cas, AccessMode::Plain);
        is("weakCompareAndSet", Op::Cas, AccessMode::Volatile);
        is("compareAndExchangeAcquire", Op::Cas, AccessMode::Acquire);
        is("getAndBitwiseXorRelease", Op::Update, AccessMode::Release);
        is("getAndAdd", Op::Update, AccessMode::Volatile);
        for n in [
            "accessModeType",
            "coordinateTypes",
            "getClass",
            "toMethodHandle",
            "fullFence",
        ] {
            assert_eq!(var_handle(n), None, "{n}");
        }
    }

    #[test]
    fn raw_names() {
        let is = |n: &str, op, mode| assert_eq!(raw(n), Some(Access { op, mode }), "{n}");
        is("getInt", Op::Read, AccessMode::Plain);
        is("putReference", Op::Write, AccessMode::Plain);
        is("putObjectVolatile", Op::Write, AccessMode::Volatile);
        is("putOrderedLong", Op::Write, AccessMode::Release);
        is("compareAndSwapObject", Op::Cas, AccessMode::Volatile);
        is("weakCompareAndSetIntPlain", Op::Cas, AccessMode::Plain);
        is(
            "compareAndExchangeLongAcquire",
            Op::Cas,
            AccessMode::Acquire,
        );
        is(
            "getAndBitwiseAndIntRelease",
            Op::Update,
            AccessMode::Release,
        );
        is("getAndSetReference", Op::Update, AccessMode::Volatile);
        is("getLongUnaligned", Op::Read, AccessMode::Plain);
        for n in [
            "copyMemory",
            "setMemory",
            "getUncompressedObject",
            "getLoadAverage",
            "park",
        ] {
            assert_eq!(raw(n), None, "{n}");
        }
    }

    #[test]
    fn codes_are_distinct_and_fixed() {
        let code = |op, mode| Access { op, mode }.code();
        assert_eq!(code(Op::Read, AccessMode::Plain), 0x00);
        assert_eq!(code(Op::Write, AccessMode::Release), 0x31);
        assert_eq!(code(Op::Cas, AccessMode::Volatile), 0x43);
    }
}
