//! Probes that make the way of a thread through the code known, for prediction:
//! where methods begin and how they end, how conditionals and switches were
//! decided, which handlers caught something.
//!
//! What is recorded is the least from which the way can be told again (the
//! crate `retrace` does that): one bit a conditional; one a jump back, so that
//! between two times at one place of a method there is always a bit; the key of
//! a switch. Calls and returns are counted together with the bits, and the count
//! goes with every beginning of a method, so it is known which call began it,
//! also when code without probes came in between.
//!
//! A conditional is told before it is decided, by its operands: a probe on the
//! way that it takes would have to tell it from other ways to the same place.

use classfile::flow::{Flow, Kind};
use classfile::{Code, Insn, Operand, Snippet, op};

use crate::bracket::Bracket;
use crate::class::{ClassCx, Mode};
use crate::method::{WeaveError, Weaver};
use crate::models::{Hook, Model};
use crate::policy::Level;
use crate::probes::{self, Probe};
use crate::site::SiteKind;

/// The JVM loads a class wherever one is first named; what loaders do then is
/// no part of the way through the program.
static LOADING: Model = Model {
    class: "java/lang/ClassLoader",
    method: "loadClass",
    desc: Some("(Ljava/lang/String;)Ljava/lang/Class;"),
    hook: Hook::Unwatched,
};

/// Models of a class that only this mode has.
pub(crate) fn models(class: &str, mode: Mode) -> Option<&'static Model> {
    Some(&LOADING).filter(|m| mode == Mode::Full && m.class == class)
}

/// Whether the method's control flow is recorded: of all methods whose data
/// accesses are, but for subroutines and comparisons of objects that are not
/// initialised yet, which only very old or odd compilers make.
pub(crate) fn can_follow(cx: &ClassCx<'_>, code: &Code<'_>, level: Level) -> bool {
    if cx.mode != Mode::Full || level < Level::Full || cx.jdk && cx.name.starts_with("jdk/") {
        return false;
    }
    let has = |pick: fn(u8) -> bool| code.insns.iter().any(|i| pick(i.op));
    if has(|o| matches!(o, op::JSR | op::JSR_W | op::RET)) {
        return false;
    }
    if !has(compares_refs) {
        return true;
    }
    let Ok(flow) = Flow::analyze(&cx.class, code) else {
        return false;
    };
    let mut sound = true;
    flow.walk(|at, state| {
        let Some(insn) = code.insns.get(at) else {
            return;
        };
        if compares_refs(insn.op) {
            let odd = |depth| {
                let kind = state.peek(depth).map(|v| v.kind);
                matches!(kind, Some(Kind::Uninit(_) | Kind::UninitThis))
            };
            let two = matches!(insn.op, op::IF_ACMPEQ | op::IF_ACMPNE);
            sound &= !(odd(0) || two && odd(1));
        }
    });
    sound
}

fn compares_refs(opcode: u8) -> bool {
    matches!(
        opcode,
        op::IF_ACMPEQ | op::IF_ACMPNE | op::IFNULL | op::IFNONNULL
    )
}

/// The probe of a conditional, which tells what both of its forms ask.
fn question(opcode: u8) -> Option<Probe> {
    Some(match opcode {
        op::IFEQ | op::IFNE => probes::IF_ZERO,
        op::IFLT | op::IFGE => probes::IF_LESS,
        op::IFGT | op::IFLE => probes::IF_MORE,
        op::IF_ICMPEQ | op::IF_ICMPNE => probes::IF_SAME,
        op::IF_ICMPLT | op::IF_ICMPGE => probes::IF_BELOW,
        op::IF_ICMPGT | op::IF_ICMPLE => probes::IF_ABOVE,
        op::IF_ACMPEQ | op::IF_ACMPNE => probes::IF_SAME_REF,
        op::IFNULL | op::IFNONNULL => probes::IF_NULL,
        _ => return None,
    })
}

impl Weaver<'_, '_, '_> {
    /// Around the method. No handler fits around a constructor: how one ends
    /// is seen by what comes next.
    pub(crate) fn follow(&mut self) -> Result<Bracket, WeaveError> {
        let site = self.site_at(SiteKind::Method, 0);
        let thrown = match &*self.cx.method {
            "<init>" => vec![],
            _ => vec![(probes::METHOD_THROWN, Some(site))],
        };
        Ok(Bracket {
            entry: vec![self.site_call(probes::METHOD_BEGIN, site)?],
            returns: vec![self.snippet(probes::STEP, |_| {})?],
            thrown,
            ..Bracket::default()
        })
    }

    /// At the start of every handler.
    pub(crate) fn handlers(&mut self) -> Result<(), WeaveError> {
        let mut starts: Vec<u32> = self.code.handlers.iter().map(|h| h.handler).collect();
        starts.sort_unstable();
        starts.dedup();
        for pc in starts {
            let site = self.site_at(SiteKind::Handler, pc);
            let snippet = self.site_call(probes::CAUGHT, site)?;
            self.editor.insert_before(pc, snippet);
        }
        Ok(())
    }

    /// The probes of an instruction that decides, or calls.
    pub(crate) fn control(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        let snippet = match (insn.op, &insn.operand) {
            (op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC, _) => self.snippet(probes::STEP, |_| {})?,
            (op::GOTO | op::GOTO_W, &Operand::Branch(target)) => {
                if target > insn.pc {
                    return Ok(());
                }
                self.snippet(probes::BACK, |_| {})?
            }
            (op::TABLESWITCH | op::LOOKUPSWITCH, _) => {
                let site = self.site_at(SiteKind::Switch, insn.pc);
                self.snippet(probes::SWITCH, |a| {
                    a.dup().push_int(site);
                })?
            }
            (opcode, _) => match question(opcode) {
                Some(probe) => self.conditional(probe)?,
                None => return Ok(()),
            },
        };
        self.editor.insert_before(insn.pc, snippet);
        Ok(())
    }

    fn conditional(&mut self, probe: Probe) -> Result<Snippet, WeaveError> {
        self.snippet(probe, |a| {
            if probe.slots() == 2 {
                a.dup2();
            } else {
                a.dup();
            }
        })
    }
}
