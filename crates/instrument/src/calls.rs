//! Calls that are accesses: Unsafe, VarHandle, arraycopy, clone; fences; and
//! constructor calls that complete an allocation.
//!
//! To report an access both before and after the call that does it, its
//! arguments are spilled into locals above the method's own, and loaded again
//! for the probes and for the call.

use classfile::{Asm, Insn, method as method_desc, op};

use crate::access::{self, Access, AccessMode, Fence, Op};
use crate::method::{WeaveError, Weaver, call_probe};
use crate::policy::Level;
use crate::probes::{self, Probe};
use crate::site::{MemberRef, Site, SiteKind};

const VAR_HANDLE: &str = "java/lang/invoke/VarHandle";
const UNSAFES: [&str; 2] = ["jdk/internal/misc/Unsafe", "sun/misc/Unsafe"];

/// An argument in its local.
struct Spilled<'d> {
    desc: &'d str,
    local: u16,
}

impl Weaver<'_, '_, '_> {
    /// The probes of a call.
    pub(crate) fn call(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        // A constructor is known by its pc; most other calls are of no interest
        // and must cost nothing.
        if insn.op == op::INVOKESPECIAL && self.facts.is_fresh(insn.pc) {
            return self.new_object(insn);
        }
        if !insn.cp().is_some_and(|cp| self.is_of_interest(cp)) {
            return Ok(());
        }
        let Some(target) = insn.cp().and_then(|cp| self.cx.target(cp)) else {
            return Ok(());
        };
        if insn.op == op::INVOKESPECIAL && target.name == "clone" {
            return self.object_clone(insn, &target);
        }
        if self.level == Level::None {
            return Ok(());
        }
        let full = self.level == Level::Full;
        match (insn.op, target.class.as_str()) {
            (op::INVOKESPECIAL, _) if full && self.facts.is_fresh(insn.pc) => self.new_object(insn),
            (op::INVOKESTATIC, "java/lang/System") if full && target.name == "arraycopy" => {
                self.array_copy(insn, &target)
            }
            (op::INVOKESTATIC, VAR_HANDLE) => self.fence(insn, &target),
            (op::INVOKEVIRTUAL, VAR_HANDLE) => self.var_handle(insn, &target),
            (op::INVOKEVIRTUAL, class) if UNSAFES.contains(&class) => {
                self.unsafe_call(insn, &target)
            }
            (op::INVOKEVIRTUAL, class)
                if full && class.starts_with('[') && target.name == "clone" =>
            {
                self.array_clone(insn)
            }
            _ => Ok(()),
        }
    }

    /// Could the method of this pool index be one that gets probes?
    fn is_of_interest(&self, cp: u16) -> bool {
        let Some(member) = self.cx.class.pool.member_ref(cp) else {
            return false;
        };
        match &*member.class {
            VAR_HANDLE => true,
            "java/lang/System" => member.name == "arraycopy",
            class => member.name == "clone" || UNSAFES.contains(&class),
        }
    }

    /// `super.clone()` that reaches Object copies shadow fields too.
    fn object_clone(&mut self, insn: &Insn, target: &MemberRef) -> Result<(), WeaveError> {
        if target.class != "java/lang/Object" || target.desc != "()Ljava/lang/Object;" {
            return Ok(());
        }
        let snippet = self.snippet(probes::CLONED, |a| {
            a.dup();
        })?;
        self.editor.insert_after(insn.pc, snippet);
        Ok(())
    }

    fn new_object(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        let site = self.site_at(SiteKind::NewObject, insn.pc);
        let snippet = self.snippet(probes::NEW_OBJECT, |a| {
            a.dup().push_int(site);
        })?;
        self.editor.insert_after(insn.pc, snippet);
        Ok(())
    }

    fn array_clone(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        let site = self.site_at(SiteKind::ArrayClone, insn.pc);
        let snippet = self.snippet(probes::CLONE_ARRAY, |a| {
            a.dup().push_int(site);
        })?;
        self.editor.insert_before(insn.pc, snippet);
        Ok(())
    }

    fn array_copy(&mut self, insn: &Insn, target: &MemberRef) -> Result<(), WeaveError> {
        let Some(spilled) = self.spill(&target.desc) else {
            return Ok(());
        };
        let site = self.site_at(SiteKind::ArrayCopy, insn.pc);
        let unshared = self.facts.is_unshared(insn.pc);
        let snippet = self.snippet(probes::ARRAYCOPY, |a| {
            store_all(a, &spilled);
            load_all(a, &spilled);
            for (i, argument) in spilled.iter().enumerate() {
                if i == 2 && unshared {
                    a.raw(&[op::ACONST_NULL], 0, 1); // the destination needs no check
                } else {
                    a.load(argument.desc, argument.local);
                }
            }
            a.push_int(site);
        })?;
        self.editor.insert_before(insn.pc, snippet);
        Ok(())
    }

    /// Locals for the arguments of a method; `None` if the descriptor is none.
    fn spill<'d>(&mut self, desc: &'d str) -> Option<Vec<Spilled<'d>>> {
        let method = method_desc(desc).ok()?;
        self.scratch.reset();
        let params = method.params().map(|desc| Spilled {
            desc,
            local: self.scratch.take(&mut self.editor, desc),
        });
        Some(params.collect())
    }

    /// Fences matter where the program itself builds on them.
    fn fence(&mut self, insn: &Insn, target: &MemberRef) -> Result<(), WeaveError> {
        let Some(fence) = access::fence(&target.name) else {
            return Ok(());
        };
        if self.level < Level::Full || self.cx.jdk || target.desc != "()V" {
            return Ok(());
        }
        if fence != Fence::Acquire {
            let site = self.site_at(SiteKind::FenceRelease, insn.pc);
            let snippet = self.snippet(probes::FENCE, |a| {
                a.push_int(site);
            })?;
            self.editor.insert_before(insn.pc, snippet);
        }
        if fence != Fence::Release {
            let site = self.site_at(SiteKind::FenceAcquire, insn.pc);
            let snippet = self.snippet(probes::FENCE, |a| {
                a.push_int(site);
            })?;
            self.editor.insert_after(insn.pc, snippet);
        }
        Ok(())
    }

    fn unsafe_call(&mut self, insn: &Insn, target: &MemberRef) -> Result<(), WeaveError> {
        if !target.desc.starts_with("(Ljava/lang/Object;J") {
            return self.fence(insn, target);
        }
        let Some(access) = self.relevant(access::raw(&target.name)) else {
            return Ok(());
        };
        let Some(spilled) = self.spill(&target.desc) else {
            return Ok(());
        };
        let [base, offset, ..] = spilled.as_slice() else {
            return Ok(());
        };
        let location = |a: &mut Asm<'_>| {
            a.aload(base.local).lload(offset.local);
        };
        let probes = AccessProbes {
            before: probes::RAW_BEFORE,
            after: probes::RAW_AFTER,
            after_cas: probes::RAW_AFTER_CAS,
        };
        self.access(
            insn,
            target,
            access,
            SiteKind::Unsafe,
            &spilled,
            None,
            probes,
            location,
        )
    }

    fn var_handle(&mut self, insn: &Insn, target: &MemberRef) -> Result<(), WeaveError> {
        let Some(access) = self.relevant(access::var_handle(&target.name)) else {
            return Ok(());
        };
        let Some(spilled) = self.spill(&target.desc) else {
            return Ok(());
        };
        let Some(coordinates) = spilled
            .len()
            .checked_sub(access.values())
            .and_then(|n| spilled.get(..n))
        else {
            return Ok(());
        };
        let handle = self.scratch.take(&mut self.editor, "L");
        let location = |a: &mut Asm<'_>| {
            a.aload(handle);
            match coordinates.first() {
                Some(base) if base.desc.starts_with(['L', '[']) => a.aload(base.local),
                _ => a.aconst_null(),
            };
            match coordinates.get(1) {
                Some(index) if matches!(index.desc, "I" | "S" | "C" | "B") => a.iload(index.local),
                _ => a.push_int(-1),
            };
        };
        let probes = AccessProbes {
            before: probes::VH_BEFORE,
            after: probes::VH_AFTER,
            after_cas: probes::VH_AFTER_CAS,
        };
        self.access(
            insn,
            target,
            access,
            SiteKind::VarHandle,
            &spilled,
            Some(handle),
            probes,
            location,
        )
    }

    /// Plain accesses matter only where data is checked.
    fn relevant(&self, access: Option<Access>) -> Option<Access> {
        access.filter(|a| self.level == Level::Full || a.mode != AccessMode::Plain)
    }

    /// The call with its probes, in place of the call alone. `receiver` is the
    /// local to keep the receiver in, if a probe wants it.
    #[expect(
        clippy::too_many_arguments,
        reason = "one call scheme, two families of probes"
    )]
    fn access(
        &mut self,
        insn: &Insn,
        target: &MemberRef,
        access: Access,
        kind: SiteKind,
        spilled: &[Spilled<'_>],
        receiver: Option<u16>,
        probes: AccessProbes,
        location: impl Fn(&mut Asm<'_>),
    ) -> Result<(), WeaveError> {
        let site = Site {
            target: insn.cp().and_then(|cp| self.cx.target(cp)),
            ..self.bare_site(kind, insn.pc)
        };
        let site = self.cx.site(site);
        let tells = access.op == Op::Cas && target.desc.ends_with(")Z");
        let after = match (access.op, tells) {
            (Op::Write, _) => None,
            (_, true) => Some(probes.after_cas),
            (_, false) => Some(probes.after),
        };
        let before = (access.op != Op::Read).then_some(probes.before);
        let before = before
            .map(|p| Ok::<_, WeaveError>((p, self.cx.probe(p)?)))
            .transpose()?;
        let after = after
            .map(|p| Ok::<_, WeaveError>((p, self.cx.probe(p)?)))
            .transpose()?;

        let mut asm = classfile::Snippet::new(&mut self.cx.class.pool);
        let a = &mut asm;
        store_all(a, spilled);
        if let Some(local) = receiver {
            a.astore(local);
        }
        if let Some((probe, cp)) = before {
            location(a);
            a.push_int(access.code()).push_int(site);
            call_probe(a, probe, cp);
        }
        if let Some(local) = receiver {
            a.aload(local);
        }
        load_all(a, spilled);
        a.copy(insn);
        if let Some((probe, cp)) = after {
            if tells {
                a.dup();
            }
            location(a);
            a.push_int(access.code()).push_int(site);
            call_probe(a, probe, cp);
        }
        let snippet = asm.finish()?;
        self.editor.replace(insn.pc, snippet);
        Ok(())
    }
}

/// One family's probes.
struct AccessProbes {
    before: Probe,
    after: Probe,
    after_cas: Probe,
}

fn store_all(a: &mut Asm<'_>, spilled: &[Spilled<'_>]) {
    for s in spilled.iter().rev() {
        a.store(s.desc, s.local);
    }
}

fn load_all(a: &mut Asm<'_>, spilled: &[Spilled<'_>]) {
    for s in spilled {
        a.load(s.desc, s.local);
    }
}
