//! Instructions as far as they matter here: what they do to the slots that hold
//! references, and what they let escape. Depths of the stack come from `classfile::flow`.

use classfile::flow::{Flow, Kind, Origin, State, Value};
use classfile::{ClassFile, Code, Insn, op, slots};

use super::Mask;
use super::calls::{Summaries, arguments};
use super::engine::{NULL, OTHER, maker};

/// What is followed: the makers, two bits each (see `engine.rs`), then parameters
/// or `this`.
#[derive(Debug)]
pub(super) struct Followed<'m> {
    /// Sorted.
    pub(super) makers: &'m [u32],
    /// So many slots of parameters.
    pub(super) params: u16,
    /// `this` of a constructor.
    pub(super) this: bool,
}

impl Followed<'_> {
    fn maker(&self, pc: u32) -> Option<Mask> {
        self.makers.binary_search(&pc).ok().map(maker)
    }

    /// The bits of the makers.
    pub(super) fn made(&self) -> Mask {
        (1 << (2 * self.makers.len())) - 1
    }

    pub(super) fn param(&self, slot: u16) -> Mask {
        1 << (2 * self.makers.len() + usize::from(slot))
    }

    /// None if it is not followed.
    pub(super) fn this_bit(&self) -> Mask {
        if self.this { self.param(0) } else { 0 }
    }

    /// Whether a value may be one of those; origins are certain.
    pub(super) fn may_hold(&self, code: &Code<'_>, value: Value) -> bool {
        match value.origin {
            Origin::Unknown => true,
            Origin::Param(_) => self.this || self.params > 0,
            Origin::Insn(pc) => {
                self.maker(pc).is_some() || code.at(pc).is_some_and(|i| i.op == op::AALOAD)
            }
        }
    }
}

/// What an instruction does to the slots.
#[derive(Clone, Copy, Debug)]
pub(super) enum Act {
    Nothing,
    /// A reference from a local, to a local.
    Load(u16),
    Store(u16),
    /// Another value to a local, of one or two slots.
    Clear(u16, u16),
    Dup {
        count: u16,
        below: u16,
    },
    Swap,
    /// An element that is a reference.
    LoadElement,
    StoreElement,
    /// So much of the stack stays, so many slots come on top, and this is in the
    /// first of them.
    Result {
        keep: u16,
        push: u16,
        value: Mask,
    },
    /// The same for an instruction that makes what is followed.
    Make {
        keep: u16,
        bit: Mask,
    },
}

/// Where an access finds its object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    pub(super) depth: u16,
    pub(super) is_element: bool,
    pub(super) is_write: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) act: Act,
    /// Depths of what escapes, and of what is only looked at by a call.
    pub(super) escapes: Vec<u16>,
    pub(super) lent: Vec<u16>,
    pub(super) access: Option<Access>,
}

/// All instructions; `None` where control never arrives.
#[derive(Debug)]
pub(super) struct Lowered {
    pub(super) steps: Vec<Option<Step>>,
    /// Bits of arrays of arrays that come with their elements.
    pub(super) nested: Mask,
}

impl Lowered {
    pub(super) fn new(
        class: &ClassFile<'_>,
        code: &Code<'_>,
        flow: &Flow<'_>,
        followed: &Followed<'_>,
        summaries: &mut Summaries,
    ) -> Lowered {
        let mut lowered = Lowered {
            steps: vec![None; code.insns.len()],
            nested: 0,
        };
        for insn in code.insns.iter().filter(|i| i.op == op::MULTIANEWARRAY) {
            lowered.nested |= followed.maker(insn.pc).unwrap_or(0);
        }
        flow.walk(|at, before| {
            let insn = &code.insns[at];
            let mut step = Step {
                act: act(followed, insn, before, || flow.after(at, before)),
                escapes: Vec::new(),
                lent: Vec::new(),
                access: access(class, insn),
            };
            match insn.op {
                op::PUTFIELD | op::PUTSTATIC | op::ARETURN | op::ATHROW => step.escapes.push(0),
                op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC => {
                    arguments(class, code, followed, insn, before, summaries, &mut step);
                }
                _ => {}
            }
            lowered.steps[at] = Some(step);
        });
        lowered
    }
}

fn act(
    followed: &Followed<'_>,
    insn: &Insn,
    before: &State,
    after: impl FnOnce() -> Option<State>,
) -> Act {
    let depth = before.stack.len() as u16;
    let local = insn.local().unwrap_or(0);
    let number = |push| Act::Result {
        keep: depth,
        push,
        value: 0,
    };
    match insn.op {
        op::ALOAD | op::ALOAD_0..=op::ALOAD_3 => Act::Load(local),
        op::ASTORE | op::ASTORE_0..=op::ASTORE_3 => Act::Store(local),
        op::LLOAD | op::DLOAD | op::LLOAD_0..=op::LLOAD_3 | op::DLOAD_0..=op::DLOAD_3 => number(2),
        op::ILOAD..=op::ALOAD_3 => number(1),
        op::LSTORE | op::DSTORE | op::LSTORE_0..=op::LSTORE_3 | op::DSTORE_0..=op::DSTORE_3 => {
            Act::Clear(local, 2)
        }
        op::ISTORE..=op::ASTORE_3 => Act::Clear(local, 1),
        op::DUP => dup(1, 0),
        op::DUP_X1 => dup(1, 1),
        op::DUP_X2 => dup(1, 2),
        op::DUP2 => dup(2, 0),
        op::DUP2_X1 => dup(2, 1),
        op::DUP2_X2 => dup(2, 2),
        op::SWAP => Act::Swap,
        op::CHECKCAST | op::IINC | op::NOP => Act::Nothing,
        op::AALOAD => Act::LoadElement,
        op::AASTORE => Act::StoreElement,
        // Nothing comes behind these.
        op::IRETURN..=op::RETURN | op::ATHROW => Act::Nothing,
        _ => match after() {
            Some(after) => result(followed, insn, &after),
            None => Act::Nothing,
        },
    }
}

fn dup(count: u16, below: u16) -> Act {
    Act::Dup { count, below }
}

/// An instruction that takes what it takes and pushes at most one value of its own.
fn result(followed: &Followed<'_>, insn: &Insn, after: &State) -> Act {
    let mine = |v: &&Value| v.origin == Origin::Insn(insn.pc);
    let len = after.stack.len() as u16;
    let top = after.peek(0);
    let (push, value) = match top.as_ref().filter(mine) {
        Some(top) => (1, value(top.kind)),
        None => match after.peek(1).as_ref().filter(mine) {
            Some(two) if matches!(two.kind, Kind::Long | Kind::Double) => (2, 0),
            _ => (0, 0),
        },
    };
    let keep = len.saturating_sub(push);
    match followed.maker(insn.pc) {
        Some(bit) => Act::Make { keep, bit },
        None => Act::Result { keep, push, value },
    }
}

fn value(kind: Kind) -> Mask {
    match kind {
        Kind::Null => NULL,
        Kind::Ref(_) | Kind::Uninit(_) | Kind::UninitThis => OTHER,
        _ => 0,
    }
}

fn access(class: &ClassFile<'_>, insn: &Insn) -> Option<Access> {
    let element = |depth, is_write| Access {
        depth,
        is_element: true,
        is_write,
    };
    let field = |depth, is_write| Access {
        depth,
        is_element: false,
        is_write,
    };
    Some(match insn.op {
        op::IALOAD..=op::SALOAD => element(1, false),
        op::LASTORE | op::DASTORE => element(3, true),
        op::IASTORE..=op::SASTORE => element(2, true),
        op::GETFIELD => field(0, false),
        op::PUTFIELD => field(slots(&class.pool.member_desc(insn.cp()?)?), true),
        op::INVOKESTATIC if super::calls::is_arraycopy(class, insn) => element(2, true),
        _ => return None,
    })
}
