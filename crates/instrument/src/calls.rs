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
const REFLECT_ARRAY: &str = "java/lang/reflect/Array";
/// Where `Arrays.equals`, `mismatch` and `compare` read.
const ARRAYS_SUPPORT: &str = "jdk/internal/util/ArraysSupport";
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
        let is_target = self.is_target(insn.pc);
        if self.level == Level::None && !is_target {
            return Ok(());
        }
        let full = self.checks() || is_target;
        match (insn.op, target.class.as_str()) {
            (op::INVOKESTATIC, "java/lang/System") if full && target.name == "arraycopy" => {
                self.array_copy(insn, &target)
            }
            (op::INVOKESTATIC, REFLECT_ARRAY) if self.checks() => self.reflected(insn, &target),
            (op::INVOKESTATIC, ARRAYS_SUPPORT) if self.checks() => self.mismatch(insn, &target),
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
            VAR_HANDLE | REFLECT_ARRAY => true,
            ARRAYS_SUPPORT => member.name == "mismatch",
            "java/lang/System" => member.name == "arraycopy",
            class => member.name == "clone" || UNSAFES.contains(&class),
        }
    }

    /// `super.clone()` that reaches Object copies shadow fields too.
    fn object_clone(&mut self, insn: &Insn, target: &MemberRef) -> Result<(), WeaveError> {
        let copies = target.class == "java/lang/Object" && target.desc == "()Ljava/lang/Object;";
        if !copies || !self.cx.detects() {
            return Ok(());
        }
        let snippet = self.snippet(probes::CLONED, |a| {
            a.dup();
        })?;
        self.editor.insert_after(insn.pc, snippet);
        Ok(())
    }

    fn new_object(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        if !self.checks() {
            return Ok(());
        }
        let site = self.site_at(SiteKind::NewObject, insn.pc);
        let snippet = self.snippet(probes::NEW_OBJECT, |a| {
            a.dup().push_int(site);
        })?;
        self.editor.insert_after(insn.pc, snippet);
        Ok(())
    }

    fn array_clone(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        if self.is_target(insn.pc) {
            let site = self.range_site(SiteKind::ElemRead, insn, 0);
            let snippet = self.snippet(probes::TARGET_RANGE, |a| {
                a.dup().push_int(0).push_int(-1).push_int(site);
            })?;
            self.editor.insert_before(insn.pc, snippet);
            let snippet = self.snippet(probes::TARGET_RANGES, |_| {})?;
            self.editor.insert_before(insn.pc, snippet);
        }
        if !self.checks() {
            return Ok(());
        }
        let site = self.copy_site(SiteKind::ArrayClone, insn);
        let snippet = self.snippet(probes::CLONE_ARRAY, |a| {
            a.dup().push_int(site);
        })?;
        self.editor.insert_before(insn.pc, snippet);
        self.accessed(insn)
    }

    fn copy_site(&mut self, kind: SiteKind, insn: &Insn) -> i32 {
        let site = Site {
            array_from: self.facts.copied_from(insn.pc, 0),
            array_to: self.facts.copied_from(insn.pc, 1),
            ..self.bare_site(kind, insn.pc)
        };
        self.cx.site(site)
    }

    fn array_copy(&mut self, insn: &Insn, target: &MemberRef) -> Result<(), WeaveError> {
        let Some(spilled) = self.spill(&target.desc) else {
            return Ok(());
        };
        if self.is_target(insn.pc) {
            self.target_copy(insn, &spilled)?;
        }
        if !self.checks() {
            return Ok(());
        }
        let site = self.copy_site(SiteKind::ArrayCopy, insn);
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
        self.accessed(insn)
    }

    /// `Array.get(array, i)`, `Array.setInt(array, i, n)` and the like.
    fn reflected(&mut self, insn: &Insn, target: &MemberRef) -> Result<(), WeaveError> {
        let (kind, probe) = match target.name.get(..3) {
            Some("get") => (SiteKind::ElemRead, probes::REFLECTED_READ),
            Some("set") => (SiteKind::ElemWrite, probes::REFLECTED_WRITE),
            _ => return Ok(()),
        };
        if !target.desc.starts_with("(Ljava/lang/Object;I") {
            return Ok(()); // getLength
        }
        let Some(spilled) = self.spill(&target.desc) else {
            return Ok(());
        };
        let [array, index, ..] = spilled.as_slice() else {
            return Ok(());
        };
        let site = self.range_site(kind, insn, 0);
        let snippet = self.snippet(probe, |a| {
            store_all(a, &spilled);
            load_all(a, &spilled);
            a.aload(array.local).iload(index.local).push_int(site);
        })?;
        self.editor.insert_before(insn.pc, snippet);
        self.accessed(insn)
    }

    /// How far it read only its result tells.
    fn mismatch(&mut self, insn: &Insn, target: &MemberRef) -> Result<(), WeaveError> {
        if !target.desc.ends_with(")I") {
            return Ok(());
        }
        let Some(spilled) = self.spill(&target.desc) else {
            return Ok(());
        };
        let (first, from, second, from2, length) = match spilled.as_slice() {
            [a, b, n] => (a, None, b, None, n),
            [a, i, b, j, n] => (a, Some(i), b, Some(j), n),
            _ => return Ok(()),
        };
        if [first, second].iter().any(|s| !s.desc.starts_with('['))
            || [from, from2, Some(length)]
                .iter()
                .flatten()
                .any(|s| s.desc != "I")
        {
            return Ok(());
        }
        let site = self.range_site(SiteKind::ElemRead, insn, 0);
        let mut asm = classfile::Snippet::new(&mut self.cx.class.pool);
        store_all(&mut asm, &spilled);
        load_all(&mut asm, &spilled);
        let keep = asm.finish()?;
        self.editor.insert_before(insn.pc, keep);
        let ranges = |a: &mut Asm<'_>| {
            for (array, from) in [(first, from), (second, from2)] {
                a.aload(array.local);
                match from {
                    Some(from) => a.iload(from.local),
                    None => a.push_int(0),
                };
            }
            a.iload(length.local).push_int(site);
        };
        if self.cx.ordered {
            let snippet = self.snippet(probes::COMPARING, ranges)?;
            self.editor.insert_before(insn.pc, snippet);
        }
        let snippet = self.snippet(probes::MISMATCH, |a| {
            a.dup();
            ranges(a);
        })?;
        self.editor.insert_after(insn.pc, snippet);
        self.accessed(insn)
    }

    /// An arraycopy that is a target: what it reads, and what it writes.
    fn target_copy(&mut self, insn: &Insn, spilled: &[Spilled<'_>]) -> Result<(), WeaveError> {
        let [from, at, to, at2, length] = spilled else {
            return Ok(());
        };
        let mut asm = classfile::Snippet::new(&mut self.cx.class.pool);
        store_all(&mut asm, spilled);
        load_all(&mut asm, spilled);
        let keep = asm.finish()?;
        self.editor.insert_before(insn.pc, keep);
        let ranges = [
            (SiteKind::ElemRead, from, at),
            (SiteKind::ElemWrite, to, at2),
        ];
        for (n, (kind, array, first)) in ranges.into_iter().enumerate() {
            let site = self.range_site(kind, insn, n);
            let snippet = self.snippet(probes::TARGET_RANGE, |a| {
                a.aload(array.local).iload(first.local).iload(length.local);
                a.push_int(site);
            })?;
            self.editor.insert_before(insn.pc, snippet);
        }
        let snippet = self.snippet(probes::TARGET_RANGES, |_| {})?;
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
        if !self.checks() || self.cx.jdk || target.desc != "()V" {
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
        let Some(access) = self.relevant(access::raw(&target.name), insn.pc) else {
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
            point: probes::RAW_POINT,
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
        let Some(access) = self.relevant(access::var_handle(&target.name), insn.pc) else {
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
            point: probes::VH_POINT,
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
    fn is_reported(&self, access: Access) -> bool {
        self.cx.detects()
            && match self.level {
                Level::None => false,
                Level::Sync => access.mode != AccessMode::Plain,
                Level::Full => true,
            }
    }

    fn is_point(&self, access: Access, pc: u32) -> bool {
        self.cx.control.accesses() && access.mode != AccessMode::Plain || self.is_target(pc)
    }

    fn relevant(&self, access: Option<Access>, pc: u32) -> Option<Access> {
        access.filter(|a| self.is_reported(*a) || self.is_point(*a, pc))
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
        let reported = self.is_reported(access);
        let controlled = self.is_point(access, insn.pc);
        let tells = access.op == Op::Cas && target.desc.ends_with(")Z");
        let after = match (access.op, tells) {
            _ if !reported => None,
            (Op::Write, _) => None,
            (_, true) => Some(probes.after_cas),
            (_, false) => Some(probes.after),
        };
        let early = access.op != Op::Read || self.cx.ordered;
        let before = (early && reported).then_some(probes.before);
        let accessed = (self.cx.ordered && reported).then_some(probes::ACCESSED);
        let point = controlled.then_some(probes.point);
        let result = (controlled && tells).then_some(probes::CAS_RESULT);
        let exchanged = match access.op {
            Op::Cas if after.is_some() && !tells => exchanged(target, spilled),
            _ => None,
        };
        let mut with_cp = |probe: Option<Probe>| match probe {
            Some(p) => self.cx.probe(p).map(|cp| Some((p, cp))),
            None => Ok(None),
        };
        let (point, before) = (with_cp(point)?, with_cp(before)?);
        let (result, after) = (with_cp(result)?, with_cp(after)?);
        let told = with_cp(exchanged.as_ref().map(|e| e.probe))?;
        let accessed = with_cp(accessed)?;

        let mut asm = classfile::Snippet::new(&mut self.cx.class.pool);
        let a = &mut asm;
        store_all(a, spilled);
        if let Some(local) = receiver {
            a.astore(local);
        }
        for (probe, cp) in [point, before].into_iter().flatten() {
            location(a);
            a.push_int(access.code()).push_int(site);
            call_probe(a, probe, cp);
        }
        if let Some(local) = receiver {
            a.aload(local);
        }
        load_all(a, spilled);
        a.copy(insn);
        if let Some((probe, cp)) = result {
            a.dup().push_int(site);
            call_probe(a, probe, cp);
        }
        if let (Some((probe, cp)), Some(e)) = (told, &exchanged) {
            if e.wide {
                a.dup2()
            } else {
                a.dup()
            };
            a.load(e.expected.desc, e.expected.local);
            // What is passed as a byte may have more bits on the stack.
            match e.expected.desc {
                "B" => a.raw(&[op::I2B], 1, 1),
                "C" => a.raw(&[op::I2C], 1, 1),
                "S" => a.raw(&[op::I2S], 1, 1),
                _ => a,
            };
            call_probe(a, probe, cp);
        }
        if let Some((probe, cp)) = after {
            if tells {
                a.dup();
            }
            location(a);
            a.push_int(access.code()).push_int(site);
            call_probe(a, probe, cp);
        }
        if let Some((probe, cp)) = accessed {
            call_probe(a, probe, cp);
        }
        let snippet = asm.finish()?;
        self.editor.replace(insn.pc, snippet);
        Ok(())
    }
}

/// How to tell what became of a compare-and-exchange.
struct Exchanged<'s, 'd> {
    probe: Probe,
    expected: &'s Spilled<'d>,
    wide: bool,
}

/// None if the result and what was expected cannot be compared as they are.
fn exchanged<'s, 'd>(target: &MemberRef, spilled: &'s [Spilled<'d>]) -> Option<Exchanged<'s, 'd>> {
    let expected = spilled.get(spilled.len().checked_sub(2)?)?;
    let result = target.desc.rsplit(')').next()?;
    let kind = |desc: &str| match desc.as_bytes().first() {
        Some(b'B' | b'C' | b'S' | b'I') => Some(probes::EXCHANGED_INT),
        Some(b'J') => Some(probes::EXCHANGED_LONG),
        Some(b'F') => Some(probes::EXCHANGED_FLOAT),
        Some(b'D') => Some(probes::EXCHANGED_DOUBLE),
        Some(b'L' | b'[') => Some(probes::EXCHANGED_REFERENCE),
        _ => None,
    };
    let probe = kind(expected.desc).filter(|p| kind(result).is_some_and(|r| r.name == p.name))?;
    Some(Exchanged {
        probe,
        expected,
        wide: matches!(result, "J" | "D"),
    })
}

/// One family's probes.
struct AccessProbes {
    point: Probe,
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
