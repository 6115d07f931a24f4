//! What trusted code keeps to itself.
//!
//! The data of classes of level Sync makes no events: an `ArrayBlockingQueue`
//! counts its elements in a plain field behind a lock. Detectors need no more
//! than the lock. A predictor, which asks what else could have happened, must
//! know that `take` came after `put` for a reason. So in recordings every
//! critical section of trusted code is also an update of one imaginary variable
//! of its lock: such sections keep their order in whatever is predicted. That is
//! more order than there need be, and needs to know nothing of the class.
//!
//! Monitors are entered through probes of their own. Locks of
//! `java.util.concurrent` are taken inside modelled methods that everybody calls,
//! so the caller says beforehand that it is trusted code; the bridge remembers
//! it of the lock, and a wait on one of its conditions counts as well.

use classfile::{Insn, op};

use crate::method::{WeaveError, Weaver};
use crate::models::{Hook, MODELS};
use crate::policy::Level;
use crate::probes::{self, Probe};

/// The interface of all locks.
const LOCK: &str = "java/util/concurrent/locks/Lock";

/// Classes behind whose locks nothing is kept that anybody reads: what goes out
/// comes in some order, and nothing in the program tells in which. What threads
/// keep of themselves is told by events.
const KEEP_NOTHING: [&str; 9] = [
    "java/io/PrintStream",
    "java/io/PrintWriter",
    "java/io/BufferedOutputStream",
    "java/io/BufferedWriter",
    "java/io/OutputStreamWriter",
    "java/util/logging/StreamHandler",
    "java/util/logging/ConsoleHandler",
    "java/util/logging/FileHandler",
    "java/lang/Thread",
];

/// Whether a call of this method is one that takes a lock.
fn takes_lock(class: &str, method: &str) -> bool {
    let takes = |hook| {
        matches!(
            hook,
            Hook::Lock { .. }
                | Hook::TryLock { .. }
                | Hook::SharedLock { .. }
                | Hook::SharedTryLock { .. }
                | Hook::StampWrite
                | Hook::StampRead
        )
    };
    let mut models = MODELS.iter().filter(|m| takes(m.hook));
    models.any(|m| m.method == method && (m.class == class || class == LOCK))
}

impl Weaver<'_, '_, '_> {
    /// Whether the method's class is trusted with its data, and events tell.
    pub(crate) fn keeps_data(&self) -> bool {
        self.level == Level::Sync
            && self.cx.mode.is_events()
            && !KEEP_NOTHING.contains(&self.cx.name.as_str())
    }

    pub(crate) fn enter_probe(&self) -> Probe {
        match self.keeps_data() {
            true => probes::ENTER_TRUSTED,
            false => probes::ENTER,
        }
    }

    /// Before a call that takes a lock.
    pub(crate) fn trusting(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        if !matches!(insn.op, op::INVOKEVIRTUAL | op::INVOKEINTERFACE) || !self.keeps_data() {
            return Ok(());
        }
        let member = insn.cp().and_then(|cp| self.cx.class.pool.member_ref(cp));
        if member.is_some_and(|m| takes_lock(&m.class, &m.name)) {
            let snippet = self.snippet(probes::TRUSTING, |_| {})?;
            self.editor.insert_before(insn.pc, snippet);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_take_a_lock() {
        assert!(takes_lock(
            "java/util/concurrent/locks/ReentrantLock",
            "lockInterruptibly"
        ));
        assert!(takes_lock(LOCK, "tryLock"));
        assert!(!takes_lock(LOCK, "unlock"));
        assert!(!takes_lock("com/shop/Lock", "lock"));
        assert!(!takes_lock(
            "java/util/concurrent/locks/ReentrantReadWriteLock",
            "readLock"
        ));
    }
}
