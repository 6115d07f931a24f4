//! A method made ready for being followed: its instructions as what they do to
//! a stack of slots, cut into *stretches*, and what of it depends on what.
//!
//! A stretch is code that runs from its first instruction to its last once it
//! is entered. It ends before the target of a jump and behind whatever may go
//! on in more than one way: conditionals, switches, and all that may throw. The
//! graph of the stretches has two more nodes: `done`, where every return leads,
//! and `out`, for exceptions that nothing in the method catches and calls that
//! never come back.
//!
//! What may throw, of code that links: accesses to objects that may be null,
//! elements, integer division, casts, array sizes, calls. Errors of the JVM
//! (memory, stack, linkage) are left aside.

use crate::callee::{Callee, callee};
use crate::control::{Control, Graph};
use crate::purity::{Purity, Table};
use classfile::flow::{Flow, Kind, Origin};
use classfile::{ClassFile, Code, Insn, Operand, acc, method as method_desc, op, slots};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;

/// What an instruction does.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Takes slots and gives slots that come from what it took. `throws` if
    /// that may throw.
    Compute {
        pops: u8,
        pushes: u8,
        throws: bool,
    },
    Load {
        local: u16,
        wide: bool,
    },
    Store {
        local: u16,
        wide: bool,
    },
    Iinc(u16),
    /// Stack manipulation by its opcode.
    Shuffle(u8),
    /// Taken to `target` if the recorded bit equals `sense`.
    If {
        pops: u8,
        sense: bool,
        target: u32,
    },
    Goto {
        target: u32,
        back: bool,
    },
    /// Keys with targets, sorted by key.
    Switch {
        default: u32,
        cases: Vec<(i32, u32)>,
    },
    Return(u8),
    Throw,
    Field {
        write: bool,
        is_static: bool,
        slots: u8,
        throws: bool,
    },
    Elem {
        write: bool,
        slots: u8,
        refs: bool,
    },
    New,
    NewArray {
        pops: u8,
    },
    Monitor,
    Call(u32),
}

/// What may happen behind one outcome of a decision, until the outcomes are
/// one way again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Side {
    /// Synchronises, or calls something unknown.
    pub syncs: bool,
    /// Classes of locations it may write.
    pub writes: Vec<u32>,
    /// Locals it may set.
    pub sets: Vec<u16>,
}

#[derive(Debug)]
pub(crate) struct Body {
    pub acts: Vec<Act>,
    pub pcs: Vec<u32>,
    /// By instruction: its stretch; whether several ways lead to it.
    pub stretch: Vec<u32>,
    pub joins: Vec<bool>,
    pub callees: Vec<Callee>,
    pub handlers: Vec<(u32, u32, u32)>,
    pub locals: u16,
    pub is_static: bool,
    pub control: Control,
    /// The same graph as if nothing threw, and what depends on what in it, once somebody asked.
    plain: Graph,
    decides: OnceCell<Control>,
    /// By stretch that ends in a decision of the method's own: where its
    /// outcomes lead (instructions), and what may happen behind each *other*
    /// outcome.
    pub others: FxHashMap<u32, Vec<(u32, Side)>>,
    /// The node of all returns.
    pub done: u32,
}

/// What the trace knows of fields: by name and descriptor, the numbers of the
/// fields of that name, and whether one is volatile.
pub(crate) type Fields = FxHashMap<(String, String), (Vec<u32>, bool)>;

/// Of each class that is followed: its superclass, and the methods it declares,
/// with their descriptors.
pub(crate) type Above = FxHashMap<String, (String, Vec<String>)>;

/// What a method's surroundings tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'k> {
    pub purity: &'k Table,
    pub above: &'k Above,
    pub fields: &'k Fields,
}

impl Known<'_> {
    /// What a method does when it has no probes: one of a class without, or
    /// inherited from one.
    pub fn purity(&self, class: &str, method: &str, desc: &str) -> Option<Purity> {
        let mut class = class;
        // As deep as anybody derives; broken files may go in circles.
        for _ in 0..64 {
            let Some((above, declared)) = self.above.get(class) else {
                break;
            };
            let same = |m: &String| m.strip_prefix(method) == Some(desc);
            if declared.iter().any(same) {
                return None;
            }
            class = above;
        }
        // Nobody declared it: an interface further up did.
        if class == "java/lang/Object" && !OF_OBJECT.contains(&method) {
            return None;
        }
        self.purity.lookup(class, method)
    }
}

/// What Object itself has.
const OF_OBJECT: [&str; 9] = [
    "<init>",
    "clone",
    "equals",
    "getClass",
    "hashCode",
    "notify",
    "notifyAll",
    "toString",
    "wait",
];

/// The class of all array elements.
pub(crate) const ELEMENTS: u32 = u32::MAX - 1;

impl Body {
    /// `None` if the method makes no sense.
    pub fn decode(class: &ClassFile<'_>, index: usize, known: Known<'_>) -> Option<Body> {
        let code = Code::decode(class, index).ok()??;
        let is_static = class.methods.get(index)?.access & acc::STATIC != 0;
        let safe = safe_receivers(class, &code, is_static);
        let mut body = Body {
            acts: Vec::with_capacity(code.insns.len()),
            pcs: code.insns.iter().map(|i| i.pc).collect(),
            stretch: Vec::new(),
            joins: vec![false; code.insns.len()],
            callees: Vec::new(),
            handlers: Vec::new(),
            locals: code.max_locals,
            is_static,
            control: Control::from_graph(&Graph::default()),
            plain: Graph::default(),
            decides: OnceCell::new(),
            others: FxHashMap::default(),
            done: 0,
        };
        let mut effects = Vec::with_capacity(code.insns.len());
        for insn in &code.insns {
            let (act, effect) = body.act(class, &code, insn, &safe, known)?;
            body.acts.push(act);
            effects.push(effect);
        }
        for h in &code.handlers {
            let end = match code.index_of(h.end) {
                Some(end) => end,
                None => code.insns.len(),
            };
            let row = (code.index_of(h.start)?, end, code.index_of(h.handler)?);
            let (start, end, handler) = row;
            body.handlers
                .push((start as u32, end as u32, handler as u32));
        }
        let any: Vec<bool> = code.handlers.iter().map(|h| h.catch_type == 0).collect();
        body.analyse(&any, &effects)?;
        Some(body)
    }

    pub fn index_of(&self, pc: u32) -> Option<u32> {
        let at = self.pcs.binary_search(&pc).ok()?;
        Some(at as u32)
    }

    /// What depends on which decision if nothing throws: what a reader of the source would say.
    pub fn decides(&self) -> &Control {
        self.decides
            .get_or_init(|| Control::from_graph(&self.plain))
    }

    fn act(
        &mut self,
        class: &ClassFile<'_>,
        code: &Code<'_>,
        insn: &Insn,
        safe: &[u32],
        known: Known<'_>,
    ) -> Option<(Act, Effect)> {
        let target = |pc: u32| code.index_of(pc).map(|i| i as u32);
        let is_safe = || safe.binary_search(&insn.pc).is_ok();
        let compute = |pops, pushes, throws| Act::Compute {
            pops,
            pushes,
            throws,
        };
        let mut effect = Effect::default();
        let act = match (insn.op, &insn.operand) {
            (op::NOP, _) => compute(0, 0, false),
            (op::ACONST_NULL..=op::ICONST_5 | op::FCONST_0..=op::FCONST_2, _)
            | (op::BIPUSH | op::SIPUSH | op::LDC | op::LDC_W, _) => compute(0, 1, false),
            (op::LCONST_0 | op::LCONST_1 | op::DCONST_0 | op::DCONST_1 | op::LDC2_W, _) => {
                compute(0, 2, false)
            }
            (op::ILOAD..=op::ALOAD_3, _) => Act::Load {
                local: insn.local()?,
                wide: is_wide_load(insn.op),
            },
            (op::IALOAD..=op::SALOAD, _) => Act::Elem {
                write: false,
                slots: 1 + u8::from(matches!(insn.op, op::LALOAD | op::DALOAD)),
                refs: insn.op == op::AALOAD,
            },
            (op::ISTORE..=op::ASTORE_3, _) => {
                let local = insn.local()?;
                let wide = is_wide_store(insn.op);
                effect.sets.push(local);
                if wide {
                    effect.sets.push(local.checked_add(1)?);
                }
                Act::Store { local, wide }
            }
            (op::IASTORE..=op::SASTORE, _) => {
                effect.writes.push(ELEMENTS);
                Act::Elem {
                    write: true,
                    slots: 1 + u8::from(matches!(insn.op, op::LASTORE | op::DASTORE)),
                    refs: insn.op == op::AASTORE,
                }
            }
            (op::POP..=op::SWAP, _) => Act::Shuffle(insn.op),
            (op::IADD..=op::LXOR, _) => {
                let wide = matches!((insn.op - op::IADD) % 4, 1 | 3);
                let (pops, pushes) = match insn.op {
                    op::INEG..=op::DNEG => (1 + u8::from(wide), 1 + u8::from(wide)),
                    op::ISHL..=op::LUSHR => {
                        let wide = (insn.op - op::ISHL) % 2 == 1;
                        (2 + u8::from(wide), 1 + u8::from(wide))
                    }
                    op::IAND..=op::LXOR => {
                        let wide = (insn.op - op::IAND) % 2 == 1;
                        (2 + 2 * u8::from(wide), 1 + u8::from(wide))
                    }
                    _ => (2 + 2 * u8::from(wide), 1 + u8::from(wide)),
                };
                let throws = matches!(insn.op, op::IDIV | op::LDIV | op::IREM | op::LREM);
                compute(pops, pushes, throws)
            }
            (op::IINC, _) => {
                effect.sets.push(insn.local()?);
                Act::Iinc(insn.local()?)
            }
            (op::I2L | op::I2D | op::F2L | op::F2D, _) => compute(1, 2, false),
            (op::L2I | op::L2F | op::D2I | op::D2F, _) => compute(2, 1, false),
            (op::L2D | op::D2L, _) => compute(2, 2, false),
            (op::I2F | op::F2I | op::I2B | op::I2C | op::I2S, _) => compute(1, 1, false),
            (op::FCMPL | op::FCMPG, _) => compute(2, 1, false),
            (op::LCMP | op::DCMPL | op::DCMPG, _) => compute(4, 1, false),
            (opcode, &Operand::Branch(to)) if op::is_conditional(opcode) => Act::If {
                pops: 1 + u8::from(matches!(opcode, op::IF_ICMPEQ..=op::IF_ACMPNE)),
                sense: asks_yes(opcode),
                target: target(to)?,
            },
            (op::GOTO | op::GOTO_W, &Operand::Branch(to)) => Act::Goto {
                target: target(to)?,
                back: to <= insn.pc,
            },
            (op::TABLESWITCH | op::LOOKUPSWITCH, Operand::Switch(switch)) => {
                let mut cases = Vec::with_capacity(switch.cases.len());
                for &(key, to) in &switch.cases {
                    cases.push((key, target(to)?));
                }
                cases.sort_by_key(|c| c.0);
                Act::Switch {
                    default: target(switch.default)?,
                    cases,
                }
            }
            (op::IRETURN | op::FRETURN | op::ARETURN, _) => Act::Return(1),
            (op::LRETURN | op::DRETURN, _) => Act::Return(2),
            (op::RETURN, _) => Act::Return(0),
            (op::ATHROW, _) => Act::Throw,
            (op::GETSTATIC..=op::PUTFIELD, &Operand::Cp(cp)) => {
                let field = class.pool.member_ref(cp)?;
                let write = matches!(insn.op, op::PUTSTATIC | op::PUTFIELD);
                let is_static = matches!(insn.op, op::GETSTATIC | op::PUTSTATIC);
                let width = slots(&field.desc) as u8;
                let key = (field.name.into_owned(), field.desc.into_owned());
                if let Some((numbers, volatile)) = known.fields.get(&key) {
                    effect.syncs = *volatile;
                    if write {
                        effect.writes.extend(numbers);
                    }
                }
                Act::Field {
                    write,
                    is_static,
                    slots: width,
                    throws: !is_static && !is_safe(),
                }
            }
            (op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC, _) => {
                let mut callee = callee(class, insn, known, is_safe())?;
                callee.line = code.line_of(insn.pc).map(u32::from);
                effect.syncs = !callee.harmless();
                self.callees.push(callee);
                Act::Call(self.callees.len() as u32 - 1)
            }
            (op::NEW, _) => Act::New,
            (op::NEWARRAY | op::ANEWARRAY, _) => Act::NewArray { pops: 1 },
            (op::MULTIANEWARRAY, &Operand::MultiANew { dims, .. }) => Act::NewArray { pops: dims },
            (op::ARRAYLENGTH, _) => compute(1, 1, !is_safe()),
            (op::CHECKCAST, _) => compute(1, 1, true),
            (op::INSTANCEOF, _) => compute(1, 1, false),
            (op::MONITORENTER | op::MONITOREXIT, _) => {
                effect.syncs = true;
                Act::Monitor
            }
            _ => return None,
        };
        Some((act, effect))
    }

    /// Whether the instruction may throw, and so end its stretch.
    fn throws(&self, act: &Act) -> bool {
        match act {
            Act::Compute { throws, .. } | Act::Field { throws, .. } => *throws,
            Act::Elem { .. } | Act::NewArray { .. } | Act::Monitor | Act::Throw => true,
            Act::Call(callee) => self.callees[*callee as usize].leaves(),
            _ => false,
        }
    }

    /// Where an instruction leads normally.
    fn next(&self, at: usize) -> Vec<u32> {
        let behind = at as u32 + 1;
        match &self.acts[at] {
            Act::If { target, .. } => vec![*target, behind],
            Act::Goto { target, .. } => vec![*target],
            Act::Switch { default, cases } => {
                let mut all: Vec<u32> = cases.iter().map(|c| c.1).chain([*default]).collect();
                all.sort_unstable();
                all.dedup();
                all
            }
            Act::Return(_) | Act::Throw => vec![],
            _ => vec![behind],
        }
    }

    /// Stretches, their graph, and what depends on what in it. `None` if
    /// control would fall off the end.
    fn analyse(&mut self, catches_any: &[bool], effects: &[Effect]) -> Option<()> {
        let n = self.acts.len();
        let mut ways = vec![0u8; n];
        let mut starts = vec![false; n];
        *starts.first_mut()? = true;
        ways[0] = 1;
        for at in 0..n {
            let next = self.next(at);
            let jumps = !matches!(next[..], [only] if only as usize == at + 1);
            for to in next {
                let to = to as usize;
                let way = ways.get_mut(to)?;
                *way = way.saturating_add(1);
                starts[to] |= jumps;
            }
            if at + 1 < n && (jumps || self.throws(&self.acts[at])) {
                starts[at + 1] = true;
            }
        }
        for &(_, _, handler) in &self.handlers {
            starts[handler as usize] = true;
            ways[handler as usize] = 2;
        }
        for at in 0..n {
            self.joins[at] = ways[at] > 1;
            starts[at] |= ways[at] > 1;
        }
        let mut count = 0u32;
        let mut lasts = Vec::new();
        for (at, start) in starts.iter().enumerate() {
            if *start {
                count += 1;
                lasts.push(at);
            }
            self.stretch.push(count - 1);
            *lasts.last_mut()? = at;
        }
        self.done = count;
        let out = count + 1;
        let mut graph = Graph::default();
        for &last in &lasts {
            let mut to: Vec<u32> = self
                .next(last)
                .iter()
                .map(|i| self.stretch[*i as usize])
                .collect();
            if matches!(self.acts[last], Act::Return(_)) {
                to.push(self.done);
            }
            self.plain.node(to.iter().copied());
            if self.throws(&self.acts[last]) {
                let mut caught = false;
                for (row, &(start, end, handler)) in self.handlers.iter().enumerate() {
                    if (start..end).contains(&(last as u32)) {
                        to.push(self.stretch[handler as usize]);
                        if catches_any[row] {
                            caught = true;
                            break;
                        }
                    }
                }
                // A call may also never come back.
                if !caught || matches!(self.acts[last], Act::Call(_)) {
                    to.push(out);
                }
            }
            graph.node(to);
        }
        for graph in [&mut graph, &mut self.plain] {
            graph.node([]);
            graph.node([]);
        }
        self.control = Control::from_graph(&graph);
        self.sides(&graph, &lasts, effects);
        Some(())
    }

    fn sides(&mut self, graph: &Graph, lasts: &[usize], effects: &[Effect]) {
        if self.control.is_coarse() {
            return; // a decision then counts for all that follows
        }
        let mut of_stretch = vec![Effect::default(); lasts.len()];
        for (at, effect) in effects.iter().enumerate() {
            of_stretch[self.stretch[at] as usize].add(effect);
        }
        for (stretch, &last) in lasts.iter().enumerate() {
            if !matches!(self.acts[last], Act::If { .. } | Act::Switch { .. }) {
                continue;
            }
            let outcomes = self.next(last);
            let stretch = stretch as u32;
            let sides: Vec<Effect> = outcomes
                .iter()
                .map(|to| {
                    let mut side = Effect::default();
                    let start = self.stretch[*to as usize];
                    for node in self.control.side(graph, stretch, start) {
                        if let Some(effect) = of_stretch.get(node as usize) {
                            side.add(effect);
                        }
                    }
                    side
                })
                .collect();
            let syncs = sides.iter().any(|side| side.syncs);
            let mut rows = Vec::with_capacity(outcomes.len());
            for (taken, to) in outcomes.iter().enumerate() {
                let mut other = Effect::default();
                for (at, side) in sides.iter().enumerate() {
                    if at != taken {
                        other.add(side);
                    }
                }
                // Synchronisation that may go missing is as bad as more of it.
                other.syncs = syncs;
                rows.push((*to, other.finish()));
            }
            self.others.insert(stretch, rows);
        }
    }
}

/// What an instruction may do to others.
#[derive(Clone, Debug, Default)]
struct Effect {
    syncs: bool,
    writes: Vec<u32>,
    sets: Vec<u16>,
}

impl Effect {
    fn add(&mut self, other: &Effect) {
        self.syncs |= other.syncs;
        self.writes.extend(&other.writes);
        self.sets.extend(&other.sets);
    }

    fn finish(mut self) -> Side {
        self.writes.sort_unstable();
        self.writes.dedup();
        self.sets.sort_unstable();
        self.sets.dedup();
        Side {
            syncs: self.syncs,
            writes: self.writes,
            sets: self.sets,
        }
    }
}

/// Instructions whose object cannot be null: `this`, or made in the method.
fn safe_receivers(class: &ClassFile<'_>, code: &Code<'_>, is_static: bool) -> Vec<u32> {
    let Ok(flow) = Flow::analyze(class, code) else {
        return Vec::new();
    };
    let mut safe = Vec::new();
    flow.walk(|at, state| {
        let Some(insn) = code.insns.get(at) else {
            return;
        };
        let desc = || insn.cp().and_then(|cp| class.pool.member_desc(cp));
        let depth = match insn.op {
            op::GETFIELD | op::ARRAYLENGTH => Some(0),
            op::PUTFIELD => desc().map(|d| slots(&d)),
            op::INVOKEVIRTUAL | op::INVOKESPECIAL | op::INVOKEINTERFACE => desc()
                .as_deref()
                .and_then(|d| method_desc(d).ok())
                .map(|m| m.param_slots),
            _ => None,
        };
        let Some(value) = depth.and_then(|d| state.peek(d)) else {
            return;
        };
        let made = match value.origin {
            Origin::Param(0) => !is_static,
            Origin::Insn(pc) => code.at(pc).is_some_and(|i| {
                matches!(
                    i.op,
                    op::NEW | op::NEWARRAY | op::ANEWARRAY | op::MULTIANEWARRAY
                ) || matches!(i.op, op::LDC | op::LDC_W | op::INVOKEDYNAMIC)
            }),
            _ => false,
        };
        if made || matches!(value.kind, Kind::Uninit(_) | Kind::UninitThis) {
            safe.push(insn.pc);
        }
    });
    safe
}

fn is_wide_load(opcode: u8) -> bool {
    matches!(
        opcode,
        op::LLOAD | op::DLOAD | op::LLOAD_0..=op::LLOAD_3 | op::DLOAD_0..=op::DLOAD_3
    )
}

fn is_wide_store(opcode: u8) -> bool {
    matches!(
        opcode,
        op::LSTORE | op::DSTORE | op::LSTORE_0..=op::LSTORE_3 | op::DSTORE_0..=op::DSTORE_3
    )
}

/// Whether a conditional jumps when the recorded question is answered with yes
/// (see `follow.rs` of the crate `instrument` for the questions).
fn asks_yes(opcode: u8) -> bool {
    matches!(
        opcode,
        op::IFEQ
            | op::IFLT
            | op::IFGT
            | op::IF_ICMPEQ
            | op::IF_ICMPLT
            | op::IF_ICMPGT
            | op::IF_ACMPEQ
            | op::IFNULL
    )
}
