//! By how much the index of an array access moves from one round of a loop to the next.
//!
//! An index that moves is made from variables that each round counts on by constants, so
//! that a loop of such accesses ends within 2^32 rounds. From one round in which the access
//! is made to the next the index moves by exactly the stride, modulo 2^32: the loop is
//! innermost, so each of its instructions runs at most once a round, in the order of the
//! code. The access itself may be left out in some rounds, and its array may be another
//! one each time; it is *steady* if neither can be.

use std::collections::BTreeMap;

use classfile::flow::{Flow, Kind, Origin, State};
use classfile::{Code, Constant, Insn, Operand, Pool, op, slots};

use super::regions::Region;
use crate::jumps::each_target;

/// An int: how much it grows in a round, and what it is, if it is constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Int {
    stride: i32,
    constant: Option<i32>,
}

/// What is known of a slot; of references, that they stay the same.
type Known = Option<Int>;

/// How an element access moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Walk {
    pub(super) stride: i32,
    /// It is made in each round, on the same array.
    pub(super) steady: bool,
}

/// All element accesses of a loop of whose index something is known, and the accesses to
/// fields of an object that stays the same, by pc.
pub(super) fn walks(
    pool: &Pool,
    code: &Code<'_>,
    flow: &Flow<'_>,
    region: &Region,
) -> BTreeMap<u32, Walk> {
    let counters = counters(code, region);
    let targets = targets(code);
    let mut found = BTreeMap::new();
    let mut stack: Vec<Known> = Vec::new();
    flow.walk(|at, before| {
        if !region.has(at) {
            return;
        }
        let insn = &code.insns[at];
        if stack.len() != before.stack.len() || targets.binary_search(&insn.pc).is_ok() {
            stack = vec![None; before.stack.len()];
        }
        if let Some(depth) = index_depth(insn.op)
            && let Some(index) = peek(&stack, depth)
        {
            let array = peek(&stack, depth + 1);
            let walk = Walk {
                stride: index.stride,
                steady: array.is_some_and(|a| a.stride == 0) && is_in_each_round(code, region, at),
            };
            found.insert(insn.pc, walk);
        }
        if let Some(depth) = receiver_depth(pool, insn)
            && peek(&stack, depth).is_some_and(|object| object.stride == 0)
        {
            let walk = Walk {
                stride: 0,
                steady: false,
            };
            found.insert(insn.pc, walk);
        }
        step(pool, &counters, insn, &mut stack, || flow.after(at, before));
    });
    found
}

/// How deep the index lies before an element access.
fn index_depth(opcode: u8) -> Option<usize> {
    match opcode {
        op::IALOAD..=op::SALOAD => Some(0),
        op::LASTORE | op::DASTORE => Some(2),
        op::IASTORE..=op::SASTORE => Some(1),
        _ => None,
    }
}

/// How deep the object lies before an access to a field.
fn receiver_depth(pool: &Pool, insn: &Insn) -> Option<usize> {
    match insn.op {
        op::GETFIELD => Some(0),
        op::PUTFIELD => {
            let field = insn.cp().and_then(|cp| pool.member_ref(cp))?;
            Some(usize::from(slots(&field.desc)))
        }
        _ => None,
    }
}

fn peek(stack: &[Known], depth: usize) -> Known {
    let at = stack.len().checked_sub(depth + 1)?;
    stack[at]
}

fn targets(code: &Code<'_>) -> Vec<u32> {
    let mut targets = Vec::new();
    for insn in &code.insns {
        each_target(&insn.operand, |to| targets.push(to));
    }
    targets.sort_unstable();
    targets
}

/// What each round adds to the int locals that the loop leaves alone or counts;
/// absent are those of which nothing is known.
fn counters(code: &Code<'_>, region: &Region) -> BTreeMap<u16, i32> {
    let mut counters: BTreeMap<u16, Option<i32>> =
        (0..code.max_locals).map(|local| (local, Some(0))).collect();
    for at in region.insns.clone() {
        let insn = &code.insns[at];
        let added = match (insn.op, &insn.operand) {
            (op::IINC, &Operand::Iinc { by, .. }) => {
                is_in_each_round(code, region, at).then_some(i32::from(by))
            }
            (op::ISTORE..=op::ASTORE_3, _) => None,
            _ => continue,
        };
        if let Some(counter) = insn.local().and_then(|local| counters.get_mut(&local)) {
            *counter = counter.zip(added).and_then(|(a, b)| a.checked_add(b));
        }
    }
    let known = counters.into_iter();
    known.filter_map(|(local, by)| Some((local, by?))).collect()
}

/// Whether no way around the loop leaves out the instruction.
fn is_in_each_round(code: &Code<'_>, region: &Region, skipped: usize) -> bool {
    let back = region.back_jumps(code);
    let mut seen = vec![false; code.insns.len()];
    let mut todo = vec![*region.insns.start()];
    while let Some(at) = todo.pop() {
        if at == skipped || !region.has(at) || std::mem::replace(&mut seen[at], true) {
            continue;
        }
        if back.contains(&at) {
            return false;
        }
        each_target(&code.insns[at].operand, |to| todo.extend(code.index_of(to)));
        if !op::ends_flow(code.insns[at].op) {
            todo.push(at + 1);
        }
    }
    true
}

fn constant(value: i32) -> Known {
    Some(Int {
        stride: 0,
        constant: Some(value),
    })
}

fn step(
    pool: &Pool,
    counters: &BTreeMap<u16, i32>,
    insn: &Insn,
    stack: &mut Vec<Known>,
    after: impl FnOnce() -> Option<State>,
) {
    let known = match insn.op {
        op::ICONST_M1..=op::ICONST_5 => constant(i32::from(insn.op) - i32::from(op::ICONST_0)),
        op::BIPUSH | op::SIPUSH => match insn.operand {
            Operand::Byte(value) => constant(i32::from(value)),
            Operand::Short(value) => constant(i32::from(value)),
            _ => None,
        },
        op::LDC | op::LDC_W => match insn.cp().and_then(|cp| pool.get(cp)) {
            Some(Constant::Integer(value)) => constant(value),
            _ => None,
        },
        op::ILOAD | op::ILOAD_0..=op::ILOAD_3 | op::ALOAD | op::ALOAD_0..=op::ALOAD_3 => {
            let stride = insn.local().and_then(|local| counters.get(&local));
            stride.map(|stride| Int {
                stride: *stride,
                constant: None,
            })
        }
        op::IADD | op::ISUB | op::IMUL | op::ISHL => match (peek(stack, 1), peek(stack, 0)) {
            (Some(a), Some(b)) => combined(insn.op, a, b),
            _ => None,
        },
        // Of what does not change, nothing that changes can be made.
        op::IDIV | op::IREM | op::IAND | op::IOR | op::IXOR | op::ISHR | op::IUSHR => {
            let still = |v: Known| v.is_some_and(|v| v.stride == 0);
            (still(peek(stack, 1)) && still(peek(stack, 0))).then_some(Int {
                stride: 0,
                constant: None,
            })
        }
        op::DUP => return dup(stack, 1, 0),
        op::DUP_X1 => return dup(stack, 1, 1),
        op::DUP_X2 => return dup(stack, 1, 2),
        op::DUP2 => return dup(stack, 2, 0),
        op::DUP2_X1 => return dup(stack, 2, 1),
        op::DUP2_X2 => return dup(stack, 2, 2),
        _ => None,
    };
    let Some(after) = after() else {
        stack.clear();
        return;
    };
    // What the instruction pushes is on top, and is its own.
    let mine = |v: &&classfile::flow::Value| v.origin == Origin::Insn(insn.pc);
    let pushed = match after.peek(0).as_ref().filter(mine) {
        Some(_) => 1,
        None => match after.peek(1).as_ref().filter(mine) {
            Some(two) if matches!(two.kind, Kind::Long | Kind::Double) => 2,
            _ => 0,
        },
    };
    let loads = (op::ILOAD..=op::ALOAD_3).contains(&insn.op);
    let keep = match loads || insn.op == op::CHECKCAST {
        // Loads push what has another origin.
        true => stack.len() - usize::from(insn.op == op::CHECKCAST),
        false => after.stack.len() - pushed,
    };
    stack.truncate(keep);
    stack.resize(after.stack.len(), None);
    if known.is_some()
        && let Some(top) = stack.last_mut()
    {
        *top = known;
    }
}

fn combined(opcode: u8, a: Int, b: Int) -> Known {
    let constant = a.constant.zip(b.constant).and_then(|(a, b)| match opcode {
        op::IADD => a.checked_add(b),
        op::ISUB => a.checked_sub(b),
        op::IMUL => a.checked_mul(b),
        _ => None,
    });
    let stride = match (opcode, a, b) {
        (op::IADD, ..) => a.stride.checked_add(b.stride)?,
        (op::ISUB, ..) => a.stride.checked_sub(b.stride)?,
        _ if a.stride == 0 && b.stride == 0 => 0,
        (op::IMUL, ..) => match (a.constant, b.constant) {
            (Some(times), _) => b.stride.checked_mul(times)?,
            (_, Some(times)) => a.stride.checked_mul(times)?,
            _ => return None,
        },
        _ => match b.constant {
            Some(by @ 0..=16) => a.stride.checked_mul(1 << by)?,
            _ => return None,
        },
    };
    Some(Int { stride, constant })
}

fn dup(stack: &mut Vec<Known>, count: usize, below: usize) {
    if let Some(at) = stack.len().checked_sub(count + below) {
        let copies = stack[stack.len() - count..].to_vec();
        stack.splice(at..at, copies);
    }
}
