//! From bytes to instructions.
//!
//! Accepts exactly the encodings of the specification and checks that every
//! branch lands on an instruction; nothing else is verified.

use crate::code::{INTERIOR, Insn, Operand, Switch};
use crate::reader::Reader;
use crate::{Error, op};

/// The instructions of `code`, and for each pc the index of the instruction
/// that starts there. `code` has at most 65535 bytes.
pub(crate) fn instructions(code: &[u8]) -> Result<(Vec<Insn>, Vec<u16>), Error> {
    let mut index = vec![INTERIOR; code.len()];
    // Instructions take between two and three bytes on average.
    let mut insns = Vec::with_capacity(code.len() / 2 + 1);
    let mut branches = false;
    let mut r = Reader::new(code);
    while r.remaining() > 0 {
        let pc = r.pos();
        index[pc] = insns.len() as u16;
        let insn = instruction(&mut r, pc as u32)?;
        branches |= matches!(insn.operand, Operand::Branch(_) | Operand::Switch(_));
        insns.push(insn);
    }
    if branches {
        let check = |pc: u32| match index.get(pc as usize) {
            Some(&i) if i != INTERIOR => Ok(()),
            _ => Err(Error::Target(pc)),
        };
        for insn in &insns {
            match &insn.operand {
                &Operand::Branch(target) => check(target)?,
                Operand::Switch(switch) => {
                    check(switch.default)?;
                    switch.cases.iter().try_for_each(|&(_, pc)| check(pc))?;
                }
                _ => {}
            }
        }
    }
    Ok((insns, index))
}

fn instruction(r: &mut Reader<'_>, pc: u32) -> Result<Insn, Error> {
    let mut op = r.u8()?;
    let mut wide = false;
    let operand = match op {
        op::NOP..=op::DCONST_1
        | op::ILOAD_0..=op::SALOAD
        | op::ISTORE_0..=op::LXOR
        | op::I2L..=op::DCMPG
        | op::IRETURN..=op::RETURN
        | op::ARRAYLENGTH
        | op::ATHROW
        | op::MONITORENTER
        | op::MONITOREXIT => Operand::None,
        op::BIPUSH => Operand::Byte(r.u8()? as i8),
        op::SIPUSH => Operand::Short(r.i16()?),
        op::LDC => Operand::Cp(u16::from(r.u8()?)),
        op::LDC_W
        | op::LDC2_W
        | op::GETSTATIC..=op::INVOKESTATIC
        | op::NEW
        | op::ANEWARRAY
        | op::CHECKCAST
        | op::INSTANCEOF => Operand::Cp(r.u16()?),
        op::ILOAD..=op::ALOAD | op::ISTORE..=op::ASTORE | op::RET => {
            Operand::Local(u16::from(r.u8()?))
        }
        op::IINC => Operand::Iinc {
            local: u16::from(r.u8()?),
            by: i16::from(r.u8()? as i8),
        },
        op::IFEQ..=op::JSR | op::IFNULL | op::IFNONNULL => {
            let by = i32::from(r.i16()?);
            Operand::Branch(target(pc, by)?)
        }
        op::GOTO_W | op::JSR_W => {
            let by = r.i32()?;
            Operand::Branch(target(pc, by)?)
        }
        op::TABLESWITCH | op::LOOKUPSWITCH => Operand::Switch(Box::new(switch(r, op, pc)?)),
        op::INVOKEINTERFACE => {
            let (cp, count, zero) = (r.u16()?, r.u8()?, r.u8()?);
            if zero != 0 {
                return Err(Error::Operand(pc));
            }
            Operand::InvokeInterface { cp, count }
        }
        op::INVOKEDYNAMIC => {
            let (cp, zero) = (r.u16()?, r.u16()?);
            if zero != 0 {
                return Err(Error::Operand(pc));
            }
            Operand::InvokeDynamic(cp)
        }
        op::NEWARRAY => Operand::NewArray(r.u8()?),
        op::MULTIANEWARRAY => Operand::MultiANew {
            cp: r.u16()?,
            dims: r.u8()?,
        },
        op::WIDE => {
            wide = true;
            op = r.u8()?;
            match op {
                op::ILOAD..=op::ALOAD | op::ISTORE..=op::ASTORE | op::RET => {
                    Operand::Local(r.u16()?)
                }
                op::IINC => Operand::Iinc {
                    local: r.u16()?,
                    by: r.i16()?,
                },
                _ => return Err(Error::Opcode { pc, op }),
            }
        }
        _ => return Err(Error::Opcode { pc, op }),
    };
    Ok(Insn {
        pc,
        op,
        wide,
        operand,
    })
}

fn switch(r: &mut Reader<'_>, op: u8, pc: u32) -> Result<Switch, Error> {
    // Operands start at the next multiple of four.
    r.take(3 - (pc as usize & 3))?;
    let default = target(pc, r.i32()?)?;
    let mut cases;
    if op == op::TABLESWITCH {
        let (low, high) = (r.i32()?, r.i32()?);
        let count = i64::from(high) - i64::from(low) + 1;
        if count < 1 || count > r.remaining() as i64 / 4 {
            return Err(Error::Operand(pc));
        }
        cases = Vec::with_capacity(count as usize);
        for key in low..=high {
            cases.push((key, target(pc, r.i32()?)?));
        }
    } else {
        let count = r.i32()?;
        if count < 0 || i64::from(count) > r.remaining() as i64 / 8 {
            return Err(Error::Operand(pc));
        }
        cases = Vec::with_capacity(count as usize);
        for _ in 0..count {
            cases.push((r.i32()?, target(pc, r.i32()?)?));
        }
    }
    Ok(Switch { default, cases })
}

fn target(pc: u32, by: i32) -> Result<u32, Error> {
    pc.checked_add_signed(by).ok_or(Error::Operand(pc))
}
