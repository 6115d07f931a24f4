//! Synchronized methods that lock by themselves.
//!
//! The JVM enters the monitor of a synchronized method before its first
//! instruction: no probe can come before that. In a controlled run the method
//! gives up the flag instead and does in its code what the flag meant:
//!
//! ```text
//! k = this, or the class; entering(k); monitorenter k; enter(k)
//! body                    exit(k); monitorexit k before each return
//! on any exception:       exit(k); monitorexit k; throw on
//! ```
//!
//! `k` is a local of its own, since a method may assign to its local 0. If
//! `entering` throws, the method ends without having locked anything, as a call
//! that could not start would have.
//!
//! HotSpot compiles no method that visibly locks one object twice. If the body
//! has locks of its own, it shall not see that `k` is `this`: it gets it back
//! from a call.

use classfile::{Asm, Snippet, acc, op};

use crate::bracket::Bracket;
use crate::method::{WeaveError, Weaver};
use crate::probes::{self, BRIDGE, ITSELF};
use crate::site::SiteKind;

/// The first version with class constants.
const CLASS_CONSTANTS: u16 = 49;

impl Weaver<'_, '_, '_> {
    /// Whether the method, which is synchronized, can lock by itself.
    pub(crate) fn can_lock_itself(&self, access: u16) -> bool {
        access & acc::STATIC == 0 || self.cx.class.major_version() >= CLASS_CONSTANTS
    }

    /// What goes around the method. This bracket must come first.
    pub(crate) fn own_monitor(&mut self, access: u16) -> Result<Bracket, WeaveError> {
        let site = self.site_at(SiteKind::SyncMethod, 0);
        let lock = self.editor.alloc_local(1);
        let this_class = self.cx.class.this_index();
        let locks_more = self.code.insns.iter().any(|i| i.op == op::MONITORENTER);
        let object = |a: &mut Asm<'_>| {
            if access & acc::STATIC != 0 {
                a.ldc_cp(this_class);
                return;
            }
            a.aload(0);
            if locks_more {
                a.invokestatic(BRIDGE, ITSELF.name, ITSELF.desc);
            }
        };
        let enter = self.assemble(
            self.cx.control.entering(),
            |a| {
                object(a);
                a.dup().astore(lock).push_int(site);
            },
            |a| {
                a.aload(lock).monitorenter();
            },
        )?;
        self.editor.insert_at_entry(enter);
        self.editor.hold_monitor(lock, &mut self.cx.class)?;
        self.locks_itself = true;
        let mut bracket = Bracket {
            entry: vec![self.snippet(probes::ENTER, |a| {
                a.aload(lock).push_int(site);
            })?],
            ..Bracket::default()
        };
        // Each return has its own line: where the lock was let go.
        for pc in self.returns() {
            let exit = self.site_at(SiteKind::Exit, pc);
            let snippet = self.leave(lock, exit)?;
            bracket.returns_at.push((pc, snippet));
        }
        bracket.thrown_last = Some(self.leave(lock, site)?);
        Ok(bracket)
    }

    fn leave(&mut self, lock: u16, site: i32) -> Result<Snippet, WeaveError> {
        self.assemble(
            probes::EXIT,
            |a| {
                a.aload(lock).push_int(site);
            },
            |a| {
                a.aload(lock).monitorexit();
            },
        )
    }
}
