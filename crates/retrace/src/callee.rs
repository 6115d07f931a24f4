//! Methods that a body calls, as its instructions name them.

use crate::body::Known;
use crate::purity::Purity;
use classfile::{ClassFile, Insn, method as method_desc, op};

/// A method that is called.
#[derive(Clone, Debug)]
pub(crate) struct Callee {
    pub op: u8,
    pub class: String,
    pub name: String,
    pub desc: String,
    /// Slots, with the receiver.
    pub pops: u16,
    pub pushes: u16,
    /// Returns an object of its own class, as builders do.
    pub returns_self: bool,
    pub returns_ref: bool,
    /// What it does if it has no probes; none if it may have some.
    pub purity: Option<Purity>,
    /// The same for when it turned out to have none.
    pub otherwise: Option<Purity>,
    /// What it does is known without knowing the receiver.
    exact: bool,
    /// The receiver may be null.
    pub throws: bool,
    pub pc: u32,
    pub line: Option<u32>,
}

impl Callee {
    /// May not come back, or come back with an exception.
    pub fn leaves(&self) -> bool {
        let total = matches!(self.purity, Some(Purity::Total | Purity::Output));
        self.throws || !(self.exact && total)
    }

    /// Changes nothing that matters, synchronises with nobody.
    pub fn harmless(&self) -> bool {
        let pure = matches!(self.purity, Some(Purity::Total | Purity::Pure));
        self.exact && pure
    }
}

/// Classes that nobody can extend, as far as calls of them are common.
const FINAL: [&str; 16] = [
    "java/lang/String",
    "java/lang/StringBuilder",
    "java/lang/StringBuffer",
    "java/lang/Integer",
    "java/lang/Long",
    "java/lang/Short",
    "java/lang/Byte",
    "java/lang/Character",
    "java/lang/Boolean",
    "java/lang/Float",
    "java/lang/Double",
    "java/lang/Class",
    "java/lang/Math",
    "java/util/Optional",
    "java/util/UUID",
    "java/util/concurrent/TimeUnit",
];

pub(crate) fn callee(
    class: &ClassFile<'_>,
    insn: &Insn,
    known: Known<'_>,
    safe: bool,
) -> Option<Callee> {
    let cp = insn.cp()?;
    let (owner, name, desc) = if insn.op == op::INVOKEDYNAMIC {
        let (name, desc) = class.pool.dynamic(cp)?;
        (String::new(), name.into_owned(), desc.into_owned())
    } else {
        let m = class.pool.member_ref(cp)?;
        (
            m.class.into_owned(),
            m.name.into_owned(),
            m.desc.into_owned(),
        )
    };
    let signature = method_desc(&desc).ok()?;
    let receiver = !matches!(insn.op, op::INVOKESTATIC | op::INVOKEDYNAMIC);
    let pushes = signature.ret_slots();
    let ret = signature.ret;
    let named = ret.strip_prefix('L').and_then(|r| r.strip_suffix(';'));
    let exact =
        matches!(insn.op, op::INVOKESTATIC | op::INVOKESPECIAL) || FINAL.contains(&owner.as_str());
    Some(Callee {
        op: insn.op,
        pops: signature.param_slots + u16::from(receiver),
        pushes,
        returns_self: receiver && named == Some(owner.as_str()),
        returns_ref: ret.starts_with(['L', '[']),
        // Lambdas, method references and string concatenation: what they make
        // comes from what they take.
        purity: match insn.op {
            op::INVOKEDYNAMIC => Some(Purity::Total),
            _ if owner.starts_with('[') => Some(Purity::Pure),
            _ => known.purity(&owner, &name, &desc),
        },
        otherwise: known.purity.lookup(&owner, &name),
        exact: exact || insn.op == op::INVOKEDYNAMIC,
        throws: receiver && !safe,
        pc: insn.pc,
        line: None,
        class: owner,
        name,
        desc,
    })
}
