//! What one instruction does to a state.

use super::types::{Kind, Origin, State, TypeId, Types, Value};
use super::{Flow, FlowError};
use crate::{Code, Constant, Insn, Operand, Pool, desc, op};

/// What an instruction's constant means for the stack; resolved once, so that a
/// finished analysis does not hold on to the class.
#[derive(Debug, Clone, Copy)]
pub(super) enum Effect {
    None,
    /// The kind it pushes, or of the field it writes.
    Kind(Kind),
    /// A call: slots taken, receiver included, and what it returns.
    Call {
        pops: u16,
        ret: Option<Kind>,
    },
    /// A call of a constructor of this class: slots taken by its parameters.
    Init {
        params: u16,
        class: TypeId,
    },
}

/// The effects of all instructions of a method, in their order.
pub(super) fn effects(
    pool: &Pool,
    code: &Code<'_>,
    types: &mut Types,
) -> Result<Vec<Effect>, FlowError> {
    let mut all = Vec::with_capacity(code.insns.len());
    for insn in &code.insns {
        let effect = effect(pool, insn, types);
        all.push(effect.ok_or(FlowError::Constant(insn.pc))?);
    }
    Ok(all)
}

fn effect(pool: &Pool, insn: &Insn, types: &mut Types) -> Option<Effect> {
    if let Operand::NewArray(code) = insn.operand {
        let name = match code {
            4 => "[Z",
            5 => "[C",
            6 => "[F",
            7 => "[D",
            8 => "[B",
            9 => "[S",
            10 => "[I",
            11 => "[J",
            _ => return None,
        };
        return Some(Effect::Kind(Kind::Ref(types.class(name))));
    }
    let Some(cp) = insn.cp() else {
        return Some(Effect::None);
    };
    Some(match insn.op {
        op::LDC | op::LDC_W | op::LDC2_W => {
            let kind = match pool.get(cp)? {
                Constant::Integer(_) => Kind::Int,
                Constant::Float(_) => Kind::Float,
                Constant::Long(_) => Kind::Long,
                Constant::Double(_) => Kind::Double,
                Constant::String(_) => Kind::Ref(types.class("java/lang/String")),
                Constant::Class(_) => Kind::Ref(types.class("java/lang/Class")),
                Constant::MethodHandle { .. } => {
                    Kind::Ref(types.class("java/lang/invoke/MethodHandle"))
                }
                Constant::MethodType(_) => Kind::Ref(types.class("java/lang/invoke/MethodType")),
                Constant::Dynamic { desc, .. } => types.kind_of(&desc),
                _ => return None,
            };
            let two = matches!(kind, Kind::Long | Kind::Double);
            if two != (insn.op == op::LDC2_W) {
                return None;
            }
            Effect::Kind(kind)
        }
        op::GETSTATIC..=op::PUTFIELD => Effect::Kind(types.kind_of(&pool.member_desc(cp)?)),
        op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC => {
            let descriptor = pool.member_desc(cp)?;
            let method = desc::method(&descriptor).ok()?;
            if insn.op == op::INVOKESPECIAL {
                let member = pool.member_ref(cp)?;
                if member.name == "<init>" {
                    return Some(Effect::Init {
                        params: method.param_slots,
                        class: types.class(&member.class),
                    });
                }
            }
            let receiver = !matches!(insn.op, op::INVOKESTATIC | op::INVOKEDYNAMIC);
            Effect::Call {
                pops: method.param_slots.checked_add(u16::from(receiver))?,
                ret: (method.ret != "V").then(|| types.kind_of(method.ret)),
            }
        }
        op::ANEWARRAY => {
            let name = pool.class_name(cp)?;
            let array = match name.starts_with('[') {
                true => format!("[{name}"),
                false => format!("[L{name};"),
            };
            Effect::Kind(Kind::Ref(types.class(&array)))
        }
        op::CHECKCAST | op::MULTIANEWARRAY => {
            Effect::Kind(Kind::Ref(types.class(&pool.class_name(cp)?)))
        }
        _ => Effect::None,
    })
}

/// A state with the instruction that changes it.
struct Machine<'s> {
    state: &'s mut State,
    pc: u32,
    max_stack: usize,
}

impl Machine<'_> {
    fn pop(&mut self) -> Result<Value, FlowError> {
        self.state.stack.pop().ok_or(FlowError::Stack(self.pc))
    }

    fn drop(&mut self, slots: usize) -> Result<(), FlowError> {
        let left = self.state.stack.len().checked_sub(slots);
        let left = left.ok_or(FlowError::Stack(self.pc))?;
        self.state.stack.truncate(left);
        Ok(())
    }

    fn put(&mut self, value: Value) -> Result<(), FlowError> {
        if self.state.stack.len() >= self.max_stack {
            return Err(FlowError::Stack(self.pc));
        }
        self.state.stack.push(value);
        Ok(())
    }

    /// Pushes a value of which this instruction is the origin.
    fn push(&mut self, kind: Kind) -> Result<(), FlowError> {
        let origin = Origin::Insn(self.pc);
        self.push_from(kind, origin)
    }

    fn push_from(&mut self, kind: Kind, origin: Origin) -> Result<(), FlowError> {
        self.put(Value { kind, origin })?;
        match kind {
            Kind::Long | Kind::Double => self.put(Value::TOP),
            _ => Ok(()),
        }
    }

    fn op(&mut self, pops: usize, kind: Kind) -> Result<(), FlowError> {
        self.drop(pops)?;
        self.push(kind)
    }

    /// Inserts copies of the `count` top slots below the `below` slots under
    /// them: all the dup instructions.
    fn dup(&mut self, count: usize, below: usize) -> Result<(), FlowError> {
        let stack = &mut self.state.stack;
        let at = stack.len().checked_sub(count + below);
        let at = at.ok_or(FlowError::Stack(self.pc))?;
        if stack.len() + count > self.max_stack {
            return Err(FlowError::Stack(self.pc));
        }
        let top = stack.len() - count;
        for k in 0..count {
            // Each insertion moves the originals up by one.
            stack.insert(at + k, stack[top + 2 * k]);
        }
        Ok(())
    }

    fn load(&mut self, insn: &Insn, kind: Option<Kind>) -> Result<(), FlowError> {
        let local = insn.local().map(usize::from);
        let value = local.and_then(|n| self.state.locals.get(n)).copied();
        let value = value.ok_or(FlowError::Local(self.pc))?;
        match kind {
            Some(kind) => self.push_from(kind, value.origin),
            None => self.put(value),
        }
    }

    fn store(&mut self, insn: &Insn, wide: bool) -> Result<(), FlowError> {
        if wide {
            self.drop(1)?;
        }
        let value = self.pop()?;
        let at = insn.local().map_or(usize::MAX, usize::from);
        let locals = &mut self.state.locals;
        if at.saturating_add(usize::from(wide)) >= locals.len() {
            return Err(FlowError::Local(self.pc));
        }
        // Half a long is no value.
        if at > 0 && matches!(locals[at - 1].kind, Kind::Long | Kind::Double) {
            locals[at - 1] = Value::TOP;
        }
        locals[at] = value;
        if wide {
            locals[at + 1] = Value::TOP;
        }
        Ok(())
    }

    /// A constructor has run: all copies of its receiver are initialised.
    fn init(&mut self, params: u16, class: TypeId, this: TypeId) -> Result<(), FlowError> {
        self.drop(usize::from(params))?;
        let receiver = self.pop()?;
        let done = match receiver.kind {
            Kind::UninitThis => Kind::Ref(this),
            Kind::Uninit(_) => Kind::Ref(class),
            _ => return Ok(()),
        };
        let all = self.state.locals.iter_mut().chain(&mut self.state.stack);
        for value in all.filter(|v| v.kind == receiver.kind) {
            value.kind = done;
        }
        Ok(())
    }
}

impl Flow<'_> {
    /// Runs one instruction; whether it changed the locals.
    pub(super) fn step(&self, i: usize, state: &mut State) -> Result<bool, FlowError> {
        let insn = &self.code.insns[i];
        let mut m = Machine {
            state,
            pc: insn.pc,
            max_stack: usize::from(self.code.max_stack),
        };
        let changes_locals = match insn.op {
            op::ISTORE..=op::ASTORE_3 | op::IINC => true,
            op::INVOKESPECIAL => matches!(self.effects[i], Effect::Init { .. }),
            _ => false,
        };
        match self.effects[i] {
            Effect::None => plain(&mut m, insn)?,
            Effect::Kind(kind) => constant(&mut m, insn, kind)?,
            Effect::Call { pops, ret } => {
                m.drop(usize::from(pops))?;
                if let Some(kind) = ret {
                    m.push(kind)?;
                }
            }
            Effect::Init { params, class } => m.init(params, class, self.types.this())?,
        }
        Ok(changes_locals)
    }
}

/// Instructions whose constant has a kind.
fn constant(m: &mut Machine<'_>, insn: &Insn, kind: Kind) -> Result<(), FlowError> {
    let slots = match kind {
        Kind::Long | Kind::Double => 2,
        _ => 1,
    };
    match insn.op {
        op::PUTSTATIC => m.drop(slots),
        op::PUTFIELD => m.drop(slots + 1),
        op::GETFIELD | op::NEWARRAY | op::ANEWARRAY => m.op(1, kind),
        // The same value, under another name.
        op::CHECKCAST => {
            let value = m.pop()?;
            m.push_from(kind, value.origin)
        }
        op::MULTIANEWARRAY => {
            let dims = match insn.operand {
                Operand::MultiANew { dims, .. } => usize::from(dims),
                _ => 0,
            };
            m.op(dims, kind)
        }
        _ => m.push(kind),
    }
}

/// Instructions that name no constant, or one that does not matter here.
fn plain(m: &mut Machine<'_>, insn: &Insn) -> Result<(), FlowError> {
    use Kind::{Double, Float, Int, Long};
    match insn.op {
        op::NOP | op::RETURN | op::GOTO | op::GOTO_W | op::RET => Ok(()),
        op::ACONST_NULL => m.push(Kind::Null),
        op::ICONST_M1..=op::ICONST_5 | op::BIPUSH | op::SIPUSH => m.push(Int),
        op::LCONST_0 | op::LCONST_1 => m.push(Long),
        op::FCONST_0..=op::FCONST_2 => m.push(Float),
        op::DCONST_0 | op::DCONST_1 => m.push(Double),
        op::ILOAD | op::ILOAD_0..=op::ILOAD_3 => m.load(insn, Some(Int)),
        op::LLOAD | op::LLOAD_0..=op::LLOAD_3 => m.load(insn, Some(Long)),
        op::FLOAD | op::FLOAD_0..=op::FLOAD_3 => m.load(insn, Some(Float)),
        op::DLOAD | op::DLOAD_0..=op::DLOAD_3 => m.load(insn, Some(Double)),
        op::ALOAD | op::ALOAD_0..=op::ALOAD_3 => m.load(insn, None),
        op::IALOAD | op::BALOAD..=op::SALOAD => m.op(2, Int),
        op::LALOAD => m.op(2, Long),
        op::FALOAD => m.op(2, Float),
        op::DALOAD => m.op(2, Double),
        op::AALOAD => {
            m.drop(1)?;
            match m.pop()?.kind {
                Kind::Ref(array) => m.push(Kind::Ref(array.component())),
                _ => m.push(Kind::Ref(TypeId::OBJECT)),
            }
        }
        op::LSTORE | op::DSTORE | op::LSTORE_0..=op::LSTORE_3 | op::DSTORE_0..=op::DSTORE_3 => {
            m.store(insn, true)
        }
        op::ISTORE..=op::ASTORE_3 => m.store(insn, false),
        op::LASTORE | op::DASTORE => m.drop(4),
        op::IASTORE..=op::SASTORE => m.drop(3),
        op::POP => m.drop(1),
        op::POP2 => m.drop(2),
        op::DUP => m.dup(1, 0),
        op::DUP_X1 => m.dup(1, 1),
        op::DUP_X2 => m.dup(1, 2),
        op::DUP2 => m.dup(2, 0),
        op::DUP2_X1 => m.dup(2, 1),
        op::DUP2_X2 => m.dup(2, 2),
        op::SWAP => {
            let (top, under) = (m.pop()?, m.pop()?);
            m.put(top)?;
            m.put(under)
        }
        op::IADD..=op::DREM => match (insn.op - op::IADD) % 4 {
            0 => m.op(2, Int),
            1 => m.op(4, Long),
            2 => m.op(2, Float),
            _ => m.op(4, Double),
        },
        op::INEG | op::I2B..=op::I2S => m.op(1, Int),
        op::LNEG => m.op(2, Long),
        op::FNEG => m.op(1, Float),
        op::DNEG => m.op(2, Double),
        op::ISHL | op::ISHR | op::IUSHR | op::IAND | op::IOR | op::IXOR => m.op(2, Int),
        op::LSHL | op::LSHR | op::LUSHR => m.op(3, Long),
        op::LAND | op::LOR | op::LXOR => m.op(4, Long),
        op::IINC => {
            let at = insn.local().map_or(usize::MAX, usize::from);
            let origin = Origin::Insn(insn.pc);
            let slot = m.state.locals.get_mut(at);
            *slot.ok_or(FlowError::Local(insn.pc))? = Value { kind: Int, origin };
            Ok(())
        }
        op::I2L => m.op(1, Long),
        op::I2F => m.op(1, Float),
        op::I2D => m.op(1, Double),
        op::L2I | op::D2I => m.op(2, Int),
        op::L2F | op::D2F => m.op(2, Float),
        op::L2D => m.op(2, Double),
        op::F2I => m.op(1, Int),
        op::F2L => m.op(1, Long),
        op::F2D => m.op(1, Double),
        op::D2L => m.op(2, Long),
        op::LCMP | op::DCMPL | op::DCMPG => m.op(4, Int),
        op::FCMPL | op::FCMPG => m.op(2, Int),
        op::IF_ICMPEQ..=op::IF_ACMPNE => m.drop(2),
        op::IFEQ..=op::IFLE | op::IFNULL | op::IFNONNULL => m.drop(1),
        op::TABLESWITCH | op::LOOKUPSWITCH => m.drop(1),
        op::JSR | op::JSR_W => match insn.operand {
            Operand::Branch(target) => m.push(Kind::ReturnAddress(target)),
            _ => Ok(()),
        },
        op::LRETURN | op::DRETURN => m.drop(2),
        op::IRETURN..=op::ARETURN | op::ATHROW => m.drop(1),
        op::MONITORENTER | op::MONITOREXIT => m.drop(1),
        op::NEW => {
            let pc = insn.pc;
            // A second `new` here is another object: the first is out of reach.
            let all = m.state.locals.iter_mut().chain(&mut m.state.stack);
            for value in all.filter(|v| v.kind == Kind::Uninit(pc)) {
                *value = Value::TOP;
            }
            m.push(Kind::Uninit(pc))
        }
        op::ARRAYLENGTH | op::INSTANCEOF => m.op(1, Int),
        // Everything else names a constant with an effect of its own.
        _ => Ok(()),
    }
}
