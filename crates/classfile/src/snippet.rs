//! Straight-line code to insert, assembled against a constant pool.
//!
//! Without branches a snippet's bytes do not depend on where it lands, so it is
//! finished the moment it is assembled. The assembler follows the stack depth,
//! relative to where the snippet starts, so that `max_stack` can be raised by
//! what is needed.

use smallvec::SmallVec;

use crate::{Insn, Operand, Pool, PoolFull, desc, op};

/// Finished straight-line code.
#[derive(Debug, Clone, Default)]
pub struct Snippet {
    pub(crate) bytes: SmallVec<[u8; 32]>,
    /// Depth at the end, relative to the start.
    depth: i32,
    /// The largest relative depth on the way.
    pub(crate) max: i32,
    /// Ends in `athrow`: nothing falls out of it.
    pub(crate) ends: bool,
    /// Offset of the first `new` in it: what frames then refer to, if the
    /// snippet replaces a `new`.
    pub(crate) new_at: Option<u32>,
}

impl Snippet {
    /// Starts an assembler that adds the constants it needs to `pool`.
    #[expect(
        clippy::new_ret_no_self,
        reason = "the assembler is how a snippet comes into being"
    )]
    pub fn new(pool: &mut Pool) -> Asm<'_> {
        Asm {
            pool,
            snippet: Snippet::default(),
            failed: false,
        }
    }

    /// What the snippet leaves on the stack, less what it took.
    pub fn depth(&self) -> i32 {
        self.depth
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// Assembles a [`Snippet`]: one method an instruction, then [`Asm::finish`].
///
/// A constant pool that overflows, or a descriptor that is none, is remembered
/// and shows at `finish`.
#[derive(Debug)]
pub struct Asm<'p> {
    pool: &'p mut Pool,
    snippet: Snippet,
    failed: bool,
}

/// Instructions of one byte: name, opcode, slots popped, slots pushed.
macro_rules! plain {
    ($($name:ident $op:ident $pops:literal $pushes:literal;)*) => {
        $(pub fn $name(&mut self) -> &mut Self {
            self.emit(&[op::$op], $pops, $pushes)
        })*
    };
}

/// Loads and stores: name, opcode, the opcode's `_0` form, slots popped, pushed.
macro_rules! local {
    ($($name:ident $op:ident $short:ident $pops:literal $pushes:literal;)*) => {
        $(pub fn $name(&mut self, local: u16) -> &mut Self {
            self.local(op::$op, op::$short, local, $pops, $pushes)
        })*
    };
}

impl Asm<'_> {
    plain! {
        nop NOP 0 0;
        aconst_null ACONST_NULL 0 1;
        dup DUP 1 2;
        dup_x1 DUP_X1 2 3;
        dup_x2 DUP_X2 3 4;
        dup2 DUP2 2 4;
        dup2_x1 DUP2_X1 3 5;
        dup2_x2 DUP2_X2 4 6;
        pop POP 1 0;
        pop2 POP2 2 0;
        swap SWAP 2 2;
        monitorenter MONITORENTER 1 0;
        monitorexit MONITOREXIT 1 0;
        arraylength ARRAYLENGTH 1 1;
        i2l I2L 1 2;
        l2i L2I 2 1;
        iadd IADD 2 1;
        isub ISUB 2 1;
        imul IMUL 2 1;
    }

    local! {
        iload ILOAD ILOAD_0 0 1;
        lload LLOAD LLOAD_0 0 2;
        fload FLOAD FLOAD_0 0 1;
        dload DLOAD DLOAD_0 0 2;
        aload ALOAD ALOAD_0 0 1;
        istore ISTORE ISTORE_0 1 0;
        lstore LSTORE LSTORE_0 2 0;
        fstore FSTORE FSTORE_0 1 0;
        dstore DSTORE DSTORE_0 2 0;
        astore ASTORE ASTORE_0 1 0;
    }

    /// Adds to an int in a local.
    pub fn iinc(&mut self, local: u16, by: i8) -> &mut Self {
        let by = by as u8;
        match u8::try_from(local) {
            Ok(local) => self.emit(&[op::IINC, local, by], 0, 0),
            Err(_) => {
                let [a, b] = local.to_be_bytes();
                // The sign fills the upper byte.
                let sign = if by < 0x80 { 0 } else { 0xff };
                self.emit(&[op::WIDE, op::IINC, a, b, sign, by], 0, 0)
            }
        }
    }

    /// Loads a local of the type that a field descriptor names.
    pub fn load(&mut self, desc: &str, local: u16) -> &mut Self {
        match desc.as_bytes().first() {
            Some(b'J') => self.lload(local),
            Some(b'D') => self.dload(local),
            Some(b'F') => self.fload(local),
            Some(b'L' | b'[') => self.aload(local),
            _ => self.iload(local),
        }
    }

    /// Stores into a local of the type that a field descriptor names.
    pub fn store(&mut self, desc: &str, local: u16) -> &mut Self {
        match desc.as_bytes().first() {
            Some(b'J') => self.lstore(local),
            Some(b'D') => self.dstore(local),
            Some(b'F') => self.fstore(local),
            Some(b'L' | b'[') => self.astore(local),
            _ => self.istore(local),
        }
    }

    pub fn athrow(&mut self) -> &mut Self {
        self.emit(&[op::ATHROW], 1, 0);
        self.snippet.ends = true;
        self
    }

    /// Pushes an int in the shortest way.
    pub fn push_int(&mut self, value: i32) -> &mut Self {
        if let Ok(byte) = i8::try_from(value) {
            return match byte {
                -1..=5 => self.emit(&[(i32::from(op::ICONST_0) + value) as u8], 0, 1),
                _ => self.emit(&[op::BIPUSH, byte as u8], 0, 1),
            };
        }
        if let Ok(short) = i16::try_from(value) {
            let [a, b] = short.to_be_bytes();
            return self.emit(&[op::SIPUSH, a, b], 0, 1);
        }
        let cp = self.pool.add_integer(value);
        self.ldc(cp)
    }

    pub fn push_long(&mut self, value: i64) -> &mut Self {
        match value {
            0 => self.emit(&[op::LCONST_0], 0, 2),
            1 => self.emit(&[op::LCONST_1], 0, 2),
            _ => {
                let cp = self.pool.add_long(value);
                self.with_cp(op::LDC2_W, cp, 0, 2)
            }
        }
    }

    /// Pushes a class object; class files before version 49 cannot.
    pub fn ldc_class(&mut self, name: &str) -> &mut Self {
        let cp = self.pool.add_class(name);
        self.ldc(cp)
    }

    /// Pushes a constant already in the pool, of one slot.
    pub fn ldc_cp(&mut self, cp: u16) -> &mut Self {
        self.ldc(Ok(cp))
    }

    pub fn ldc_string(&mut self, text: &str) -> &mut Self {
        let cp = self.pool.add_string(text);
        self.ldc(cp)
    }

    /// `ldc`, or `ldc_w` if the index needs it.
    fn ldc(&mut self, cp: Result<u16, PoolFull>) -> &mut Self {
        match cp.map(u8::try_from) {
            Ok(Ok(short)) => self.emit(&[op::LDC, short], 0, 1),
            _ => self.with_cp(op::LDC_W, cp, 0, 1),
        }
    }

    pub fn checkcast(&mut self, class: &str) -> &mut Self {
        let cp = self.pool.add_class(class);
        self.with_cp(op::CHECKCAST, cp, 1, 1)
    }

    pub fn getfield(&mut self, class: &str, name: &str, desc: &str) -> &mut Self {
        self.field(op::GETFIELD, class, name, desc)
    }

    pub fn putfield(&mut self, class: &str, name: &str, desc: &str) -> &mut Self {
        self.field(op::PUTFIELD, class, name, desc)
    }

    pub fn getstatic(&mut self, class: &str, name: &str, desc: &str) -> &mut Self {
        self.field(op::GETSTATIC, class, name, desc)
    }

    pub fn putstatic(&mut self, class: &str, name: &str, desc: &str) -> &mut Self {
        self.field(op::PUTSTATIC, class, name, desc)
    }

    fn field(&mut self, op: u8, class: &str, name: &str, desc: &str) -> &mut Self {
        let cp = self.pool.add_fieldref(class, name, desc);
        self.field_with(op, cp, desc)
    }

    /// A field instruction on a field already in the pool.
    pub fn field_cp(&mut self, op: u8, cp: u16) -> &mut Self {
        match self.pool.member_desc(cp).map(|d| desc::slots(&d)) {
            Some(2) => self.field_with(op, Ok(cp), "J"),
            Some(_) => self.field_with(op, Ok(cp), "I"),
            None => self.fail(),
        }
    }

    fn field_with(&mut self, op: u8, cp: Result<u16, PoolFull>, desc: &str) -> &mut Self {
        let value = i32::from(desc::slots(desc));
        let (pops, pushes) = match op {
            op::GETSTATIC => (0, value),
            op::PUTSTATIC => (value, 0),
            op::GETFIELD => (1, value),
            _ => (1 + value, 0),
        };
        self.with_cp(op, cp, pops, pushes)
    }

    pub fn invokestatic(&mut self, class: &str, name: &str, desc: &str) -> &mut Self {
        let cp = self.pool.add_methodref(class, name, desc);
        self.invoke_with(op::INVOKESTATIC, cp, desc)
    }

    pub fn invokevirtual(&mut self, class: &str, name: &str, desc: &str) -> &mut Self {
        let cp = self.pool.add_methodref(class, name, desc);
        self.invoke_with(op::INVOKEVIRTUAL, cp, desc)
    }

    pub fn invokespecial(&mut self, class: &str, name: &str, desc: &str) -> &mut Self {
        let cp = self.pool.add_methodref(class, name, desc);
        self.invoke_with(op::INVOKESPECIAL, cp, desc)
    }

    /// Any call of a method already in the pool.
    pub fn invoke_cp(&mut self, op: u8, cp: u16) -> &mut Self {
        match self.pool.member_desc(cp).map(|d| d.into_owned()) {
            Some(desc) => self.invoke_with(op, Ok(cp), &desc),
            None => self.fail(),
        }
    }

    fn invoke_with(&mut self, op: u8, cp: Result<u16, PoolFull>, desc: &str) -> &mut Self {
        let Ok(method) = desc::method(desc) else {
            return self.fail();
        };
        let receiver = !matches!(op, op::INVOKESTATIC | op::INVOKEDYNAMIC);
        let pops = i32::from(method.param_slots) + i32::from(receiver);
        let pushes = i32::from(method.ret_slots());
        self.with_cp(op, cp, pops, pushes);
        match op {
            op::INVOKEINTERFACE => match u8::try_from(pops) {
                Ok(count) => self.snippet.bytes.extend([count, 0]),
                Err(_) => self.failed = true,
            },
            op::INVOKEDYNAMIC => self.snippet.bytes.extend([0, 0]),
            _ => {}
        }
        self
    }

    /// Repeats a call or field access of the method. Anything else needs
    /// [`Asm::raw`], and fails here.
    pub fn copy(&mut self, insn: &Insn) -> &mut Self {
        match (insn.op, &insn.operand) {
            (op::GETSTATIC..=op::PUTFIELD, &Operand::Cp(cp)) => self.field_cp(insn.op, cp),
            (op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC, _) => match insn.cp() {
                Some(cp) => self.invoke_cp(insn.op, cp),
                None => self.fail(),
            },
            _ => self.fail(),
        }
    }

    /// Any straight-line instruction; the caller says what it does to the stack.
    pub fn raw(&mut self, bytes: &[u8], pops: u16, pushes: u16) -> &mut Self {
        self.emit(bytes, i32::from(pops), i32::from(pushes))
    }

    /// Another snippet's code.
    pub fn append(&mut self, other: &Snippet) -> &mut Self {
        let before = self.snippet.depth;
        let highest = before + other.max;
        self.emit(&other.bytes, 0, 0);
        let s = &mut self.snippet;
        s.ends = other.ends;
        s.depth = before + other.depth;
        s.max = s.max.max(highest);
        self
    }

    pub fn finish(&mut self) -> Result<Snippet, PoolFull> {
        let snippet = std::mem::take(&mut self.snippet);
        if std::mem::take(&mut self.failed) {
            return Err(PoolFull);
        }
        Ok(snippet)
    }

    fn local(&mut self, op: u8, short: u8, local: u16, pops: i32, pushes: i32) -> &mut Self {
        match u8::try_from(local) {
            Ok(n @ 0..4) => self.emit(&[short + n], pops, pushes),
            Ok(n) => self.emit(&[op, n], pops, pushes),
            Err(_) => {
                let [a, b] = local.to_be_bytes();
                self.emit(&[op::WIDE, op, a, b], pops, pushes)
            }
        }
    }

    fn with_cp(&mut self, op: u8, cp: Result<u16, PoolFull>, pops: i32, pushes: i32) -> &mut Self {
        match cp.map(u16::to_be_bytes) {
            Ok([a, b]) => self.emit(&[op, a, b], pops, pushes),
            Err(PoolFull) => self.fail(),
        }
    }

    fn fail(&mut self) -> &mut Self {
        self.failed = true;
        self
    }

    fn emit(&mut self, bytes: &[u8], pops: i32, pushes: i32) -> &mut Self {
        let s = &mut self.snippet;
        s.ends = false;
        if bytes.first() == Some(&op::NEW) && s.new_at.is_none() {
            s.new_at = Some(s.bytes.len() as u32);
        }
        s.bytes.extend_from_slice(bytes);
        s.depth = s.depth - pops + pushes;
        s.max = s.max.max(s.depth);
        self
    }
}
