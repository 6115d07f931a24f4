//! Calls of the program into the JDK, where data is checked too: one call makes many
//! accesses inside `java.util`, and a reader wants to know the call, and what it was about.
//!
//! Probes before and after each call tell the bridge which one a thread is in. Statements
//! of the JDK are stamped together with it, so that a race inside the JDK is known by the
//! calls that led to both of its accesses. A call knows the fields that its receiver and
//! its arguments were read from, by data flow within the method: directly, as an element
//! of an array that was, as the result of a getter of this class, or as the result of
//! another call into the JDK about such an object (`cache.entrySet().iterator()`).
//!
//! Schedules and recordings tell of steps inside `java.util.concurrent`, where no data is
//! checked; there the calls into it are told as well, so that a step is shown by the
//! program's line and not by one of `ReentrantLock`.
//!
//! What it claims: while a probe says that a thread is in a call, it is. Calls end in
//! the order in which they began; one that ends by an exception ends at the latest where
//! the exception is caught, there without going back to the call around it.
//! Not every call that leads into the JDK is seen: the callee may be inherited by a class
//! of the program. Then no call is known, which is said, or that around it.

use classfile::flow::{Origin, State};
use classfile::{Code, Insn, Pool, Snippet, is_jdk_name, method as method_desc, op, slots};

use crate::class::{ClassCx, Mode};
use crate::method::{WeaveError, Weaver};
use crate::policy::Level;
use crate::probes::{self, CALLING};
use crate::site::{Holder, Site, SiteKind};

/// How far results of calls and elements of arrays are followed back.
const FAR: u32 = 8;

/// Packages below `java.util` in which data is not checked, or that call back only.
const ELSEWHERE: [&str; 8] = [
    "concurrent/",
    "function/",
    "jar/",
    "logging/",
    "prefs/",
    "regex/",
    "spi/",
    "zip/",
];

/// Whether a call of this method may reach data of the JDK that is checked.
fn reaches_checked_data(class: &str, name: &str, desc: &str) -> bool {
    if let Some(rest) = class.strip_prefix("java/util/") {
        let copies = || desc.contains("Ljava/util/");
        return !ELSEWHERE.iter().any(|p| rest.starts_with(p))
            && !name.starts_with("requireNonNull")
            && (name != "<init>" || copies());
    }
    let prints = || desc.starts_with("(Ljava/lang/Object;)");
    match class {
        "java/lang/Iterable" => true,
        "java/io/PrintStream" | "java/lang/StringBuilder" | "java/lang/String" => prints(),
        _ => class.starts_with("java/text/") && name != "<init>",
    }
}

/// Whether a call of this method may order threads inside the JDK: of interest where
/// schedules are told.
fn reaches_synchronisation(class: &str) -> bool {
    class.starts_with("java/util/concurrent/")
}

/// The same of an instruction.
pub(crate) fn is_call_to_checked_data(pool: &Pool, insn: &Insn) -> bool {
    calls(pool, insn, reaches_checked_data)
}

fn calls(pool: &Pool, insn: &Insn, is: impl FnOnce(&str, &str, &str) -> bool) -> bool {
    let called = (op::INVOKEVIRTUAL..=op::INVOKEINTERFACE).contains(&insn.op);
    let target = insn
        .cp()
        .filter(|_| called)
        .and_then(|cp| pool.member_ref(cp));
    target.is_some_and(|t| is(&t.class, &t.name, &t.desc))
}

/// A call, or the access to an element: where the references come from that it is about,
/// the receiver or the array first.
#[derive(Debug)]
pub(crate) struct Taken {
    pc: u32,
    origins: Vec<Origin>,
}

impl Taken {
    /// None for all other instructions.
    pub(crate) fn by(pool: &Pool, insn: &Insn, state: &State) -> Option<Taken> {
        let pc = insn.pc;
        if insn.op == op::AALOAD {
            let origins = vec![state.peek(1)?.origin];
            return Some(Taken { pc, origins });
        }
        if !(op::INVOKEVIRTUAL..=op::INVOKEINTERFACE).contains(&insn.op) {
            return None;
        }
        let target = pool.member_ref(insn.cp()?)?;
        let called = method_desc(&target.desc).ok()?;
        let mut depth = called.param_slots;
        let mut origins = Vec::new();
        if insn.op != op::INVOKESTATIC && target.name != "<init>" {
            origins.push(state.peek(depth)?.origin);
        }
        for param in called.params() {
            depth = depth.checked_sub(slots(param))?;
            if param.starts_with(['L', '[']) {
                origins.push(state.peek(depth)?.origin);
            }
        }
        Some(Taken { pc, origins })
    }
}

/// The fields that the calls of a method into the JDK are about, by pc.
pub(crate) fn holders(
    cx: &mut ClassCx<'_>,
    code: &Code<'_>,
    taken: &[Taken],
) -> Vec<(u32, Box<[Holder]>)> {
    let mut all = Vec::new();
    for call in taken {
        let Some(insn) = code.at(call.pc) else {
            continue;
        };
        if !is_call_to_checked_data(&cx.class.pool, insn) {
            continue;
        }
        let mut holders: Vec<Holder> = Vec::new();
        for origin in &call.origins {
            if let Some(holder) = holder(cx, code, taken, *origin, FAR)
                && !holders.contains(&holder)
            {
                holders.push(holder);
            }
        }
        if !holders.is_empty() {
            all.push((call.pc, holders.into()));
        }
    }
    all
}

fn holder(
    cx: &mut ClassCx<'_>,
    code: &Code<'_>,
    taken: &[Taken],
    origin: Origin,
    left: u32,
) -> Option<Holder> {
    let Origin::Insn(pc) = origin else {
        return None;
    };
    let maker = code.at(pc)?;
    let left = left.checked_sub(1)?;
    match maker.op {
        op::GETFIELD | op::GETSTATIC => field(cx, maker.cp()?, maker.op == op::GETSTATIC),
        op::AALOAD => {
            let at = taken.binary_search_by_key(&pc, |t| t.pc).ok()?;
            let origin = *taken.get(at)?.origins.first()?;
            holder(cx, code, taken, origin, left)
        }
        op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => {
            let target = cx.target(maker.cp()?)?;
            if target.class == cx.name {
                return got(cx, &target.name, &target.desc);
            }
            if !is_jdk_name(&target.class) {
                return None;
            }
            let at = taken.binary_search_by_key(&pc, |t| t.pc).ok()?;
            let origins = &taken.get(at)?.origins;
            origins
                .iter()
                .find_map(|origin| holder(cx, code, taken, *origin, left))
        }
        _ => None,
    }
}

/// A field of the program's.
fn field(cx: &mut ClassCx<'_>, cp: u16, is_static: bool) -> Option<Holder> {
    let field = cx.target(cp)?;
    (!is_jdk_name(&field.class)).then_some(Holder { field, is_static })
}

/// A method that returns a field, and does nothing else.
#[derive(Debug)]
pub(crate) struct Getter {
    name: String,
    desc: String,
    cp: u16,
    is_static: bool,
}

/// The getters of a class, as its methods were before they got probes.
pub(crate) fn getters(cx: &ClassCx<'_>) -> Vec<Getter> {
    if !cx.tells_calls() {
        return Vec::new();
    }
    let methods = cx.class.methods.iter().filter_map(|method| {
        let code = cx.class.find_attribute(&method.attributes, "Code")?;
        // max_stack, max_locals and the length of the code come before it.
        let length = code.data.get(4..8)?;
        let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]);
        let end = 8usize.checked_add(usize::try_from(length).ok()?)?;
        let (cp, is_static) = match *code.data.get(8..end)? {
            [op::ALOAD_0, op::GETFIELD, a, b, op::ARETURN] => ([a, b], false),
            [op::GETSTATIC, a, b, op::ARETURN] => ([a, b], true),
            _ => return None,
        };
        Some(Getter {
            name: cx.class.member_name(method).into_owned(),
            desc: cx.class.member_desc(method).into_owned(),
            cp: u16::from_be_bytes(cp),
            is_static,
        })
    });
    methods.collect()
}

/// The field that a method of this class returns, if that is all it does.
fn got(cx: &mut ClassCx<'_>, name: &str, desc: &str) -> Option<Holder> {
    let mut getters = cx.getters.iter();
    let getter = getters.find(|getter| getter.name == name && getter.desc == desc)?;
    let (cp, is_static) = (getter.cp, getter.is_static);
    field(cx, cp, is_static)
}

impl ClassCx<'_> {
    /// Whether the class tells which of its calls to checked data a thread is in. A recording
    /// has no use for it.
    pub(crate) fn tells_calls(&self) -> bool {
        !self.jdk && matches!(self.mode, Mode::FastTrack | Mode::Events)
    }

    /// Whether it tells calls that may order threads: for schedules and recordings, whose
    /// steps inside the JDK are shown by the program's lines.
    fn tells_synchronisation(&self) -> bool {
        !self.jdk && self.has_steps()
    }

    fn has_steps(&self) -> bool {
        self.control.on || matches!(self.mode, Mode::Record | Mode::Full)
    }
}

impl Weaver<'_, '_, '_> {
    /// Tells that a thread is in this call.
    pub(crate) fn call_into_jdk(&mut self, insn: &Insn) -> Result<(), WeaveError> {
        let data = self.checks() && self.cx.tells_calls();
        let synchronisation = self.level == Level::Full && self.cx.tells_synchronisation();
        let is_told = |class: &str, name: &str, desc: &str| {
            data && reaches_checked_data(class, name, desc)
                || synchronisation && reaches_synchronisation(class)
        };
        if !calls(&self.cx.class.pool, insn, is_told) {
            return Ok(());
        }
        let site = Site {
            target: insn.cp().and_then(|cp| self.cx.target(cp)),
            holders: self.facts.holders(insn.pc),
            ..self.bare_site(SiteKind::Call, insn.pc)
        };
        let site = self.cx.site(site);
        self.scratch.reset();
        let before = self.scratch.take(&mut self.editor, "I");
        let bridge = self.cx.class_of_probe(CALLING);
        let calling = Snippet::new(&mut self.cx.class.pool)
            .push_int(site)
            .invokestatic(bridge, CALLING.name, CALLING.desc)
            .istore(before)
            .finish()?;
        let called = self.snippet(probes::CALLED, |a| {
            a.iload(before);
        })?;
        self.editor.insert_before(insn.pc, calling);
        self.editor.insert_after(insn.pc, called);
        Ok(())
    }

    /// Exceptions end calls that nobody sees the end of. A handler that covers itself only gives
    /// a lock back and throws again (`synchronized`); a probe there, which may throw as far as
    /// the JVM knows, would keep C1 from compiling the method.
    pub(crate) fn thrown(&mut self) -> Result<(), WeaveError> {
        let told = matches!(self.cx.mode, Mode::FastTrack | Mode::Events) || self.cx.has_steps();
        if !told || self.level == Level::None {
            return Ok(());
        }
        let mut starts: Vec<u32> = self.code.handlers.iter().map(|h| h.handler).collect();
        starts.sort_unstable();
        starts.dedup();
        let covers_itself = |pc: u32| {
            let mut handlers = self.code.handlers.iter();
            handlers.any(|h| h.handler == pc && (h.start..h.end).contains(&pc))
        };
        starts.retain(|pc| !covers_itself(*pc));
        for pc in starts {
            let snippet = self.snippet(probes::THROWN, |_| {})?;
            self.editor.insert_before(pc, snippet);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_may_reach_checked_data() {
        for (class, name, desc, expected) in [
            (
                "java/util/Map",
                "put",
                "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;",
                true,
            ),
            ("java/util/HashMap", "<init>", "()V", false),
            (
                "java/util/ArrayList",
                "<init>",
                "(Ljava/util/Collection;)V",
                true,
            ),
            (
                "java/util/concurrent/ConcurrentMap",
                "get",
                "(Ljava/lang/Object;)Ljava/lang/Object;",
                false,
            ),
            (
                "java/util/Objects",
                "requireNonNull",
                "(Ljava/lang/Object;)Ljava/lang/Object;",
                false,
            ),
            (
                "java/text/DateFormat",
                "format",
                "(Ljava/util/Date;)Ljava/lang/String;",
                true,
            ),
            (
                "java/lang/StringBuilder",
                "append",
                "(Ljava/lang/Object;)Ljava/lang/StringBuilder;",
                true,
            ),
            (
                "java/lang/StringBuilder",
                "append",
                "(I)Ljava/lang/StringBuilder;",
                false,
            ),
            ("com/shop/Cart", "add", "(Ljava/util/Map;)V", false),
        ] {
            assert_eq!(
                reaches_checked_data(class, name, desc),
                expected,
                "{class}.{name}{desc}"
            );
        }
    }
}
