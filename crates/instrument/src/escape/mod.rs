//! Which accesses cannot race because no other thread can know the object.
//!
//! # Algorithm
//! Forward data flow over one method. What is followed are the objects made in
//! it (every array, and objects of the class itself), by the instruction that
//! makes them (what it made last apart from what it made before), or its parameters.
//! A slot has the set of those that it may hold; the state also has the set of those that may have *escaped*: stored where others look
//! (a field, a static, an element of what has escaped), passed to a call that may
//! keep them, returned, thrown. Where paths meet, all sets are united. What is
//! stored into an array that has not escaped is remembered for all of the method, and
//! escapes with it.
//! A handler gets the state of every instruction that it covers, with what that
//! instruction may have let escape already.
//!
//! Calls of methods of the same class that cannot be overridden are looked into, a
//! few deep, for which parameters escape there (`calls.rs`, also for the few methods of the JDK
//! that are known to keep nothing).
//!
//! # What it claims
//! * An access named by [`Outcome::stays`] is to an object that no other thread
//!   ever gets to know.
//! * An access named by [`Outcome::not_yet`] is to an object that no other
//!   thread knows at that time. Another one can conflict with it only after it got
//!   hold of the object later, and unless that itself was a race (which is found at the
//!   place that it was published through), it comes after this access.
//!
//! All this for code that a verifier accepts. A method that is too large, or
//! has subroutines, has no such accesses.

mod calls;
mod engine;
mod lower;
#[cfg(test)]
mod tests;

use classfile::flow::Flow;
use classfile::{ClassFile, Code, op};

pub(crate) use calls::Summaries;
use engine::{Engine, OTHER, Seen};
use lower::{Followed, Lowered};

/// What is followed at a time: one bit each.
type Mask = u64;

/// So many makers at most are followed, some at a time.
const MOST: usize = 32 * engine::MAKERS;

/// Slots of all states of a method together, at most. (A method of a thousand
/// instructions with forty slots has 40,000.)
const LARGEST: usize = 8_000_000;

/// By pc, sorted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Accesses to what never escapes; also the instructions that make it.
    pub(crate) stays: Vec<u32>,
    /// Accesses to arrays that have not escaped yet, and arraycopies to such.
    pub(crate) not_yet: Vec<u32>,
    /// Writes of a constructor to its object, before it hands that to anybody.
    /// What the constructor that it begins with does is not looked at.
    pub(crate) early: Vec<u32>,
}

/// Follows what a method makes, and `this` if it is a constructor.
pub(crate) fn analyse(
    class: &ClassFile<'_>,
    code: &Code<'_>,
    flow: &Flow<'_>,
    constructor: bool,
    summaries: &mut Summaries,
) -> Outcome {
    let mut outcome = Outcome::default();
    if !is_fit(code) {
        return outcome;
    }
    let makers = makers(class, code);
    let mut rest = &makers[..makers.len().min(MOST)];
    let mut this = constructor;
    while this || !rest.is_empty() {
        let (now, later) = rest.split_at(rest.len().min(engine::MAKERS));
        let followed = Followed {
            makers: now,
            params: 0,
            this,
        };
        let lowered = Lowered::new(class, code, flow, &followed, summaries);
        if let Some(seen) = Engine::run(code, &lowered, &followed) {
            outcome.add(&seen, &followed);
        }
        (rest, this) = (later, false);
    }
    for list in [&mut outcome.stays, &mut outcome.not_yet, &mut outcome.early] {
        list.sort_unstable();
        list.dedup();
    }
    outcome
}

impl Outcome {
    fn add(&mut self, seen: &Seen, followed: &Followed<'_>) {
        let made = followed.made();
        let ever = seen.ever | engine::earlier(seen.ever & made) | engine::later(seen.ever & made);
        for access in &seen.accesses {
            let real = access.holds & !engine::NULL;
            if real == followed.this_bit() && real != 0 {
                // Not null either: the bridge does not look.
                if access.is_write && access.holds == real && real & access.escaped == 0 {
                    self.early.push(access.pc);
                }
            } else if real == 0 || real & !made != 0 {
                continue;
            } else if real & ever == 0 {
                self.stays.push(access.pc);
            } else if access.is_element && real & access.escaped == 0 {
                self.not_yet.push(access.pc);
            }
        }
        for (at, pc) in followed.makers.iter().enumerate() {
            if ever & engine::maker(at) == 0 {
                self.stays.push(*pc);
            }
        }
    }
}

/// The pcs of the instructions whose objects are followed.
fn makers(class: &ClassFile<'_>, code: &Code<'_>) -> Vec<u32> {
    let finalizes = class.method_index("finalize", "()V").is_some();
    let own = |cp: Option<u16>| {
        let named = cp.and_then(|cp| class.pool.class_name(cp));
        named.is_some_and(|n| n == class.name())
    };
    let makes = |op: u8, cp: Option<u16>| match op {
        op::NEWARRAY | op::ANEWARRAY | op::MULTIANEWARRAY => true,
        // Only of its own constructors it is known what they do.
        op::NEW => !finalizes && own(cp),
        _ => false,
    };
    let all = code.insns.iter().filter(|i| makes(i.op, i.cp()));
    all.map(|i| i.pc).collect()
}

/// It has no subroutines, and is not so large that looking at each of its states
/// takes long.
fn is_fit(code: &Code<'_>) -> bool {
    let slots = usize::from(code.max_locals) + usize::from(code.max_stack);
    code.insns.len().saturating_mul(slots) <= LARGEST
        && !code
            .insns
            .iter()
            .any(|i| matches!(i.op, op::JSR | op::JSR_W | op::RET))
}

/// Which parameters (by slot, `this` first) may escape from a method.
fn params_that_escape(
    class: &ClassFile<'_>,
    code: &Code<'_>,
    params: u16,
    summaries: &mut Summaries,
) -> Mask {
    const ALL: Mask = Mask::MAX;
    if usize::from(params) > engine::BITS || !is_fit(code) {
        return ALL;
    }
    let Ok(flow) = Flow::analyze(class, code) else {
        return ALL;
    };
    let followed = Followed {
        makers: &[],
        params,
        this: false,
    };
    let lowered = Lowered::new(class, code, &flow, &followed, summaries);
    match Engine::run(code, &lowered, &followed) {
        Some(seen) => seen.ever & !OTHER,
        None => ALL,
    }
}
