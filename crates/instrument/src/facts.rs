//! What the data flow of a method tells the probes: which receivers are not
//! objects yet, which constructor calls leave a fresh object on the stack, and
//! where arrays come from.

use classfile::flow::{Flow, Kind, Origin, State};
use classfile::{Code, Insn, Operand, Pool, method as method_desc, op};
use encoding::names::dotted;

use std::sync::Arc;

use crate::class::{ClassCx, Mode};
use crate::escape::{self, Outcome};
use crate::jdk_calls::{self, Taken, is_call_to_checked_data};
use crate::locals::LocalNames;
use crate::method::WeaveError;
use crate::policy::Level;
use crate::site::{Holder, MemberRef};

/// All lists are sorted by pc.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    uninitialised: Vec<u32>,
    fresh: Vec<u32>,
    arrays: Vec<(u32, String)>,
    /// Of calls that copy arrays: which of theirs, and where it comes from.
    copies: Vec<(u32, usize, String)>,
    /// Accesses to what no other thread can know.
    escape: Outcome,
    /// Types of the arrays used, as descriptors, where they are known.
    types: Vec<(u32, String)>,
    /// Where the locks that are taken come from.
    locks: Vec<(u32, Lock)>,
    /// Fields that calls into the JDK are about.
    holders: Vec<(u32, Box<[Holder]>)>,
}

/// Where a lock comes from: one word, and the field or class it is about.
#[derive(Clone, Debug)]
pub(crate) struct Lock {
    pub(crate) from: String,
    pub(crate) field: Option<Arc<MemberRef>>,
}

/// An array access: where, the array's origin, a local that holds it.
struct ArrayUse {
    pc: u32,
    origin: Origin,
    local: Option<u16>,
    kind: Kind,
}

impl Facts {
    pub(crate) fn gather(
        cx: &mut ClassCx<'_>,
        code: &Code<'_>,
        index: usize,
        level: Level,
    ) -> Result<Facts, WeaveError> {
        let has = |pick: fn(u8) -> bool| code.insns.iter().any(|i| pick(i.op));
        let early_writes = &*cx.method == "<init>" && has(|o| o == op::PUTFIELD);
        let wanted = level == Level::Full
            && code.insns.iter().any(|i| {
                array_depth(i.op).is_some()
                    || matches!(i.op, op::INVOKESPECIAL | op::MONITORENTER)
                    || !copied_depths(&cx.class.pool, i).is_empty()
            });
        let calls = level == Level::Full && cx.tells_calls() && { code.insns.iter() }
            .any(|i| is_call_to_checked_data(&cx.class.pool, i));
        if !early_writes && !wanted && !calls {
            return Ok(Facts::default());
        }
        let flow = match Flow::analyze(&cx.class, code) {
            Ok(flow) => flow,
            // Only in a constructor do probes depend on it.
            Err(error) if early_writes => return Err(error.into()),
            Err(_) => return Ok(Facts::default()),
        };
        let mut facts = Facts::default();
        let mut uses = Vec::new();
        let mut copies = Vec::new();
        let mut locks = Vec::new();
        let mut taken = Vec::new();
        flow.walk(|at, state| {
            if let Some(insn) = code.insns.get(at) {
                if calls {
                    taken.extend(Taken::by(&cx.class.pool, insn, state));
                }
                for (nth, depth) in copied_depths(&cx.class.pool, insn).iter().enumerate() {
                    copies.extend(array_use(insn.pc, state, *depth).map(|used| (nth, used)));
                }
                facts.see(&cx.class.pool, level, insn, state, &mut uses);
                if insn.op == op::MONITORENTER
                    && let Some(lock) = state.peek(0)
                {
                    locks.push((insn.pc, lock.origin));
                }
            }
        });
        let is_static = cx.class.methods.get(index).is_none_or(|m| m.is_static());
        for (pc, origin) in locks {
            if let Some(lock) = Lock::from(cx, code, is_static, origin) {
                facts.locks.push((pc, lock));
            }
        }
        facts.holders = jdk_calls::holders(cx, code, &taken);
        // Who follows the data wants every access.
        let wanted = cx.detects() && cx.mode != Mode::Full && !cx.check_unshared;
        if wanted && level == Level::Full {
            let summaries = &mut cx.summaries;
            facts.escape = escape::analyse(&cx.class, code, &flow, early_writes, summaries);
        }
        if level == Level::Full && !(uses.is_empty() && copies.is_empty()) {
            let namer = Namer {
                names: match cx.class.methods.get(index) {
                    Some(member) => LocalNames::read(&cx.class, member),
                    None => LocalNames::default(),
                },
                code,
                uses: &uses,
            };
            for (nth, used) in &copies {
                if let Some(name) = namer.name(cx, used, 0) {
                    facts.copies.push((used.pc, *nth, name));
                }
            }
            for used in &uses {
                if let Kind::Ref(id) = used.kind {
                    let name = flow.type_name(id);
                    if name.starts_with('[') {
                        facts.types.push((used.pc, name));
                    }
                }
                if let Some(name) = namer.name(cx, used, 0) {
                    facts.arrays.push((used.pc, name));
                }
            }
        }
        Ok(facts)
    }

    fn see(
        &mut self,
        pool: &Pool,
        level: Level,
        insn: &Insn,
        state: &State,
        uses: &mut Vec<ArrayUse>,
    ) {
        if let Some(depth) = array_depth(insn.op) {
            uses.extend(array_use(insn.pc, state, depth));
            return;
        }
        match insn.op {
            op::PUTFIELD => {
                let Some(desc) = insn.cp().and_then(|cp| pool.member_desc(cp)) else {
                    return;
                };
                let receiver = state.peek(classfile::slots(&desc));
                if receiver.is_some_and(|v| v.kind == Kind::UninitThis) {
                    self.uninitialised.push(insn.pc);
                }
            }
            op::INVOKESPECIAL if level == Level::Full => {
                let Some(target) = insn.cp().and_then(|cp| pool.member_ref(cp)) else {
                    return;
                };
                if target.name != "<init>" {
                    return;
                }
                let Ok(desc) = method_desc(&target.desc) else {
                    return;
                };
                let receiver = state.peek(desc.param_slots).map(|v| v.kind);
                let below = desc.param_slots.saturating_add(1);
                let below = state.peek(below).map(|v| v.kind);
                if matches!(receiver, Some(Kind::Uninit(_))) && receiver == below {
                    self.fresh.push(insn.pc);
                }
            }
            _ => {}
        }
    }

    /// The field write at `pc` has a receiver before its `super(..)`.
    pub(crate) fn is_uninitialised(&self, pc: u32) -> bool {
        self.uninitialised.binary_search(&pc).is_ok()
    }

    /// The constructor call at `pc` leaves the new object on top of the stack.
    pub(crate) fn is_fresh(&self, pc: u32) -> bool {
        self.fresh.binary_search(&pc).is_ok()
    }

    /// The array used at `pc` (or copied to) is known to this thread only.
    pub(crate) fn is_unshared(&self, pc: u32) -> bool {
        self.stays(pc) || self.escape.not_yet.binary_search(&pc).is_ok()
    }

    /// What is used or made at `pc` will never be known to another thread.
    pub(crate) fn stays(&self, pc: u32) -> bool {
        self.escape.stays.binary_search(&pc).is_ok()
    }

    /// The constructor that writes at `pc` has handed its object to nobody.
    pub(crate) fn is_early(&self, pc: u32) -> bool {
        self.escape.early.binary_search(&pc).is_ok()
    }

    /// The type of the array used at `pc`, as a descriptor.
    pub(crate) fn array_type(&self, pc: u32) -> Option<String> {
        let at = self.types.binary_search_by_key(&pc, |a| a.0).ok()?;
        self.types.get(at).map(|a| a.1.clone())
    }

    /// Where the lock taken at `pc` comes from.
    pub(crate) fn lock(&self, pc: u32) -> Option<&Lock> {
        let at = self.locks.binary_search_by_key(&pc, |l| l.0).ok()?;
        self.locks.get(at).map(|l| &l.1)
    }

    /// Where the arrays come from that are copied at `pc`: the source, the destination.
    pub(crate) fn copied_from(&self, pc: u32, nth: usize) -> Option<String> {
        let at = self.copies.iter().find(|c| (c.0, c.1) == (pc, nth))?;
        Some(at.2.clone())
    }

    /// Fields that the call at `pc` into the JDK is about.
    pub(crate) fn holders(&self, pc: u32) -> Box<[Holder]> {
        let at = self.holders.binary_search_by_key(&pc, |h| h.0).ok();
        let found = at.and_then(|at| self.holders.get(at));
        found.map(|h| h.1.clone()).unwrap_or_default()
    }

    /// Where the array used at `pc` comes from.
    pub(crate) fn array_from(&self, pc: u32) -> Option<String> {
        let at = self.arrays.binary_search_by_key(&pc, |a| a.0).ok()?;
        self.arrays.get(at).map(|a| a.1.clone())
    }
}

impl Lock {
    fn from(
        cx: &mut ClassCx<'_>,
        code: &Code<'_>,
        is_static: bool,
        origin: Origin,
    ) -> Option<Lock> {
        let pc = match origin {
            Origin::Param(0) if !is_static => {
                let from = "this".to_owned();
                return Some(Lock { from, field: None });
            }
            Origin::Insn(pc) => pc,
            _ => return None,
        };
        let maker = code.at(pc)?;
        let (from, field) = match maker.op {
            op::GETFIELD => ("field".to_owned(), cx.target(maker.cp()?)),
            op::GETSTATIC => ("static".to_owned(), cx.target(maker.cp()?)),
            op::LDC..=op::LDC2_W => {
                let class = cx.class.pool.class_name(maker.cp()?)?;
                (format!("class {}", dotted(&class)), None)
            }
            _ => return None,
        };
        Some(Lock { from, field })
    }
}

/// The array that lies so deep before an instruction.
fn array_use(pc: u32, state: &State, depth: u16) -> Option<ArrayUse> {
    let array = state.peek(depth)?;
    let held =
        |v: &classfile::flow::Value| v.origin == array.origin && matches!(v.kind, Kind::Ref(_));
    let local = match array.origin {
        Origin::Unknown => None,
        _ => state.locals.iter().position(held),
    };
    Some(ArrayUse {
        pc,
        origin: array.origin,
        local: local.and_then(|l| u16::try_from(l).ok()),
        kind: array.kind,
    })
}

/// How deep the arrays lie before a call that copies: the source, the destination.
fn copied_depths(pool: &Pool, insn: &Insn) -> &'static [u16] {
    let called = matches!(insn.op, op::INVOKESTATIC | op::INVOKEVIRTUAL);
    let target = insn
        .cp()
        .filter(|_| called)
        .and_then(|cp| pool.member_ref(cp));
    match target {
        Some(t) if t.class == "java/lang/System" && t.name == "arraycopy" => &[4, 2],
        Some(t) if t.class.starts_with('[') && t.name == "clone" => &[0],
        _ => &[],
    }
}

/// How deep the array lies before an element access.
fn array_depth(opcode: u8) -> Option<u16> {
    match opcode {
        op::IALOAD..=op::SALOAD => Some(1),
        op::LASTORE | op::DASTORE => Some(3),
        op::IASTORE..=op::SASTORE => Some(2),
        _ => None,
    }
}

/// Puts origins into words.
struct Namer<'n, 'a> {
    names: LocalNames,
    code: &'n Code<'a>,
    uses: &'n [ArrayUse],
}

impl Namer<'_, '_> {
    fn name(&self, cx: &mut ClassCx<'_>, used: &ArrayUse, depth: u32) -> Option<String> {
        let local = |cx: &ClassCx<'_>, kind: &str, local: u16| {
            let name = self.names.name(&cx.class, local, used.pc)?;
            Some(format!("{kind} {name}"))
        };
        match used.origin {
            Origin::Unknown => None,
            Origin::Param(slot) => local(cx, "parameter", slot),
            Origin::Insn(pc) => {
                let maker = self.code.at(pc)?;
                match (maker.op, &maker.operand) {
                    (op::GETFIELD | op::GETSTATIC, &Operand::Cp(cp)) => {
                        let target = cx.target(cp)?;
                        Some(format!("{}.{}", dotted(&target.class), target.name))
                    }
                    (op::AALOAD, _) if depth < 4 => {
                        let at = self.uses.binary_search_by_key(&pc, |u| u.pc).ok()?;
                        let outer = self.name(cx, self.uses.get(at)?, depth + 1)?;
                        Some(format!("{outer}[]"))
                    }
                    (op::INVOKEVIRTUAL..=op::INVOKEINTERFACE, _) => {
                        let target = maker.cp().and_then(|cp| cx.target(cp))?;
                        if target.class.starts_with('[') {
                            return local(cx, "local", used.local?);
                        }
                        Some(format!("{}.{}()", dotted(&target.class), target.name))
                    }
                    _ => local(cx, "local", used.local?),
                }
            }
        }
    }
}
