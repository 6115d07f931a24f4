//! One method: which of its instructions get which probes.

use classfile::flow::FlowError;
use classfile::{Asm, ClassFile, Code, EditError, Editor, Insn, PoolFull, Snippet, op, slots};

use crate::class::ClassCx;
use crate::deferred::Deferred;
use crate::facts::Facts;
use crate::follow;
use crate::jumps::jumps;
use crate::policy::Level;
use crate::probes::Probe;
use crate::site::{Site, SiteKind};

/// Why a method stays as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WeaveError {
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error(transparent)]
    Malformed(#[from] classfile::Error),
    #[error(transparent)]
    Pool(#[from] PoolFull),
    #[error(transparent)]
    Flow(#[from] FlowError),
}

impl WeaveError {
    /// Fewer probes would help.
    pub(crate) fn is_size(&self) -> bool {
        matches!(
            self,
            WeaveError::Edit(EditError::CodeTooLarge(_) | EditError::BranchTooFar(_))
                | WeaveError::Edit(EditError::Pool(_))
                | WeaveError::Pool(_)
        )
    }
}

/// A method being rewritten.
pub(crate) struct Weaver<'w, 'c, 'a> {
    pub(crate) cx: &'w mut ClassCx<'a>,
    pub(crate) code: &'c Code<'a>,
    pub(crate) editor: Editor<'c, 'a>,
    pub(crate) facts: Facts,
    pub(crate) deferred: Deferred,
    /// Where jumps lead, sorted.
    pub(crate) targets: Vec<u32>,
    /// Lower than the class's if the method got too large.
    pub(crate) level: Level,
    /// Its control flow is recorded.
    pub(crate) followed: bool,
    pub(crate) scratch: Scratch,
    /// The method gives up `synchronized` and locks by itself.
    pub(crate) locks_itself: bool,
}

/// Locals to spill call arguments into. They live around one call only, so
/// every call of the method uses the same ones.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Of one slot, of two.
    locals: [Vec<u16>; 2],
    used: [usize; 2],
}

impl Scratch {
    pub(crate) fn reset(&mut self) {
        self.used = [0; 2];
    }

    pub(crate) fn take(&mut self, editor: &mut Editor<'_, '_>, field_desc: &str) -> u16 {
        let wide = usize::from(slots(field_desc) == 2);
        let at = self.used[wide];
        self.used[wide] += 1;
        match self.locals[wide].get(at) {
            Some(&local) => local,
            None => {
                let local = editor.alloc_local(wide as u16 + 1);
                self.locals[wide].push(local);
                local
            }
        }
    }
}

/// Rewrites the method; answers whether anything changed.
pub(crate) fn weave(cx: &mut ClassCx<'_>, index: usize, level: Level) -> Result<bool, WeaveError> {
    let Some(code) = Code::decode(&cx.class, index)? else {
        return Ok(false);
    };
    let facts = if level == Level::None && !cx.control.has_targets() {
        Facts::default()
    } else {
        let wanted = cx.detects() || cx.control.has_targets();
        let level = if wanted {
            level
        } else {
            level.min(Level::Sync)
        };
        Facts::gather(cx, &code, index, level)?
    };
    let mut targets: Vec<u32> = jumps(&code).into_iter().map(|(_, to)| to).collect();
    targets.sort_unstable();
    let mut weaver = Weaver {
        targets,
        editor: Editor::new(&code),
        followed: follow::can_follow(cx, &code, level),
        code: &code,
        cx,
        facts,
        deferred: Deferred::default(),
        level,
        scratch: Scratch::default(),
        locks_itself: false,
    };
    weaver.defer()?;
    weaver.bracket(index)?;
    if weaver.followed {
        weaver.handlers()?;
    }
    weaver.thrown()?;
    weaver.waiting_loops()?;
    for insn in &code.insns {
        weaver.instruction(insn)?;
    }
    let Weaver {
        editor,
        cx,
        locks_itself,
        ..
    } = weaver;
    if editor.is_empty() {
        return Ok(false);
    }
    editor.finish(&mut cx.class)?;
    if locks_itself {
        cx.note_unsynchronized(index);
    }
    Ok(true)
}

impl Weaver<'_, '_, '_> {
    fn instruction(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        if self.followed {
            self.control(insn)?;
        }
        self.trusting(insn)?;
        self.call_into_jdk(insn)?;
        if (op::INVOKEVIRTUAL..=op::INVOKESTATIC).contains(&insn.op) {
            return self.call(insn);
        }
        if self.level > Level::None || self.cx.control.has_targets() {
            self.data(insn)?;
            self.backward_branch(insn)?;
        }
        Ok(())
    }

    /// Data accesses are checked.
    pub(crate) fn checks(&self) -> bool {
        self.level == Level::Full && self.cx.detects()
    }

    /// Notes a site at an instruction.
    pub(crate) fn site_at(&mut self, kind: SiteKind, pc: u32) -> i32 {
        let site = self.bare_site(kind, pc);
        self.cx.site(site)
    }

    pub(crate) fn bare_site(&self, kind: SiteKind, pc: u32) -> Site {
        Site {
            checked: self.level == Level::Full,
            ..self.cx.new_site(kind, pc, self.code.line_of(pc))
        }
    }

    /// A snippet that ends in the call of a probe; `arguments` pushes them.
    pub(crate) fn snippet(
        &mut self,
        probe: Probe,
        arguments: impl FnOnce(&mut Asm<'_>),
    ) -> Result<Snippet, WeaveError> {
        self.assemble(probe, arguments, |_| {})
    }

    /// The same with something behind the call.
    pub(crate) fn assemble(
        &mut self,
        probe: Probe,
        arguments: impl FnOnce(&mut Asm<'_>),
        behind: impl FnOnce(&mut Asm<'_>),
    ) -> Result<Snippet, WeaveError> {
        let cp = self.cx.probe(probe)?;
        let mut asm = Snippet::new(&mut self.cx.class.pool);
        arguments(&mut asm);
        call_probe(&mut asm, probe, cp);
        behind(&mut asm);
        Ok(asm.finish()?)
    }
}

/// The call itself, once its pool index is known.
pub(crate) fn call_probe(asm: &mut Asm<'_>, probe: Probe, cp: u16) {
    let [a, b] = cp.to_be_bytes();
    asm.raw(&[op::INVOKESTATIC, a, b], probe.slots(), 0);
}

/// Does the method overwrite its local 0?
pub(crate) fn keeps_this(code: &Code<'_>) -> bool {
    !code.insns.iter().any(|i| {
        (op::ISTORE..=op::ASTORE_3).contains(&i.op) && i.local() == Some(0)
            || i.op == op::IINC && i.local() == Some(0)
    })
}

/// The descriptor of a declared field, found by its name alone.
pub(crate) fn field_desc(class: &ClassFile<'_>, name: &str) -> Option<String> {
    let field = class.fields.iter().find(|f| class.member_name(f) == name)?;
    Some(class.member_desc(field).into_owned())
}
