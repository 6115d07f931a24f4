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
//!
//! The JVM complains, on the program's output, if a method marked as intrinsic
//! is not synchronized where it used to be: such a method loses the mark.

use classfile::{Asm, ClassFile, Member, Snippet, acc, op};
use encoding::names::dotted;

use crate::bracket::Bracket;
use crate::method::{WeaveError, Weaver};
use crate::probes::{self, BRIDGE, ITSELF};
use crate::site::{Site, SiteKind};

/// The first version with class constants.
const CLASS_CONSTANTS: u16 = 49;

/// Why a method keeps its flag.
const NO_CLASS_CONSTANT: &str = "it locks its class, which this version of class files has no constant for: other threads may block on it";
pub(crate) const NATIVE: &str = "it is native and synchronized: other threads may block on it";
const INTRINSIC: &str = "the JVM knows it as synchronized: other threads may block on it";

const ANNOTATIONS: &str = "RuntimeVisibleAnnotations";
const CANDIDATE: &str = "Ljdk/internal/vm/annotation/IntrinsicCandidate;";

/// Whether a method is marked as intrinsic.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    None,
    /// That is its only annotation.
    Alone,
    Among,
}

fn mark(class: &ClassFile<'_>, method: &Member<'_>) -> Mark {
    let Some(found) = class.find_attribute(&method.attributes, ANNOTATIONS) else {
        return Mark::None;
    };
    let is_mark =
        |a, b| class.pool.utf8_bytes(u16::from_be_bytes([a, b])) == Some(CANDIDATE.as_bytes());
    match &*found.data {
        // One annotation: its type, and no elements.
        &[0, 1, a, b, 0, 0] if is_mark(a, b) => Mark::Alone,
        // Rather too often than not at all: any two bytes may name the type.
        data if data.windows(2).any(|w| is_mark(w[0], w[1])) => Mark::Among,
        _ => Mark::None,
    }
}

/// Takes the flag, and the mark, from a method that now locks by itself.
pub(crate) fn give_up_flag(class: &mut ClassFile<'_>, index: usize) {
    let marked = class.methods.get(index).map(|m| mark(class, m));
    let name = class.methods.get(index).and_then(|m| {
        let found = class.find_attribute(&m.attributes, ANNOTATIONS);
        found.map(|a| a.name_index)
    });
    if let Some(method) = class.methods.get_mut(index) {
        method.access &= !acc::SYNCHRONIZED;
        if marked == Some(Mark::Alone) {
            method.attributes.retain(|a| Some(a.name_index) != name);
        }
    }
}

impl Weaver<'_, '_, '_> {
    /// Why the method, which is synchronized, cannot lock by itself.
    pub(crate) fn keeps_flag(&self, access: u16, index: usize) -> Option<&'static str> {
        if access & acc::STATIC != 0 && self.cx.class.major_version() < CLASS_CONSTANTS {
            return Some(NO_CLASS_CONSTANT);
        }
        let member = self.cx.class.methods.get(index);
        let mark = member.map_or(Mark::None, |m| mark(&self.cx.class, m));
        (mark == Mark::Among).then_some(INTRINSIC)
    }

    /// What goes around the method. This bracket must come first.
    pub(crate) fn own_monitor(&mut self, access: u16) -> Result<Bracket, WeaveError> {
        let site = self.own_lock_site(access);
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
            entry: vec![self.snippet(self.enter_probe(), |a| {
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

    /// Where the method takes its own lock.
    pub(crate) fn own_lock_site(&mut self, access: u16) -> i32 {
        let from = match access & acc::STATIC {
            0 => "this".to_owned(),
            _ => format!("class {}", dotted(&self.cx.name)),
        };
        let site = Site {
            array_from: Some(from),
            ..self.bare_site(SiteKind::SyncMethod, 0)
        };
        self.cx.site(site)
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
