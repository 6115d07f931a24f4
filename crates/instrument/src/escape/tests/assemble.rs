//! Programs as bytecode, in a class with the methods that they call.

use std::collections::BTreeMap;

use classfile::op;

use super::program::{Stmt, VARS, Var};

/// Of the method `m`.
pub(super) const DESC: &str = "(I)V";

/// The variables are in the locals behind the parameter.
const FIRST: u16 = 1;
const CHOICE: u8 = op::ILOAD_0;

pub(super) struct Assembled {
    pub(super) class: Vec<u8>,
    /// Where each statement's access is, or what makes its object.
    pub(super) pcs: BTreeMap<*const Stmt, u32>,
    uses: Vec<u32>,
}

impl Assembled {
    /// The accesses in their order, without what makes objects.
    pub(super) fn accesses(&self) -> &[u32] {
        &self.uses
    }
}

pub(super) fn assemble(program: &[Stmt]) -> Assembled {
    let mut pool = Pool::default();
    let (this, object) = (pool.class("T"), pool.class("java/lang/Object"));
    let methods = [
        pool.method(0, "<init>", "()V", |p, c| {
            c.op(op::ALOAD_0);
            c.cp(
                op::INVOKESPECIAL,
                p.member(10, "java/lang/Object", "<init>", "()V"),
            );
        }),
        pool.method(2, "look", "()V", |p, c| {
            c.op(op::ALOAD_0);
            c.cp(op::GETFIELD, p.member(9, "T", "i", "I"));
            c.op(op::POP);
        }),
        pool.method(8 | 2, "lookAt", "([Ljava/lang/Object;)V", |_, c| {
            c.ops(&[op::ALOAD_0, op::ICONST_0, op::AALOAD, op::POP]);
        }),
        pool.method(8 | 2, "keep", "(Ljava/lang/Object;)V", |p, c| {
            c.op(op::ALOAD_0);
            c.cp(op::PUTSTATIC, p.member(9, "T", "s", OBJECT));
        }),
        pool.method(8 | 2, "stash", STASH, |_, c| {
            c.ops(&[op::ALOAD_0, op::ICONST_0, op::ALOAD_1, op::AASTORE]);
        }),
    ];
    let mut code = Assembler::default();
    for var in 0..VARS {
        code.op(op::ACONST_NULL);
        code.store(Var(var));
    }
    code.block(&mut pool, program);
    let pcs = std::mem::take(&mut code.pcs);
    let uses = std::mem::take(&mut code.uses);
    let m = pool.method(8, "m", DESC, |_, c| *c = code);
    let mut class = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 50];
    let fields = [(0, "f", OBJECT), (0, "i", "I"), (8, "s", OBJECT)];
    let fields = fields.map(|(access, name, desc)| {
        let mut bytes = Vec::new();
        for part in [access, pool.utf8(name), pool.utf8(desc), 0] {
            bytes.extend(part.to_be_bytes());
        }
        bytes
    });
    class.extend((pool.count + 1).to_be_bytes());
    class.extend(&pool.bytes);
    for part in [0x21, this, object, 0, fields.len() as u16] {
        class.extend(part.to_be_bytes());
    }
    class.extend(fields.concat());
    class.extend((methods.len() as u16 + 1).to_be_bytes());
    class.extend(methods.concat());
    class.extend(m);
    class.extend([0, 0]);
    Assembled { class, pcs, uses }
}

const OBJECT: &str = "Ljava/lang/Object;";
const STASH: &str = "([Ljava/lang/Object;Ljava/lang/Object;)V";
const COPY: &str = "(Ljava/lang/Object;ILjava/lang/Object;II)V";

#[derive(Default)]
struct Pool {
    bytes: Vec<u8>,
    count: u16,
    known: BTreeMap<Vec<u8>, u16>,
}

impl Pool {
    fn add(&mut self, entry: Vec<u8>) -> u16 {
        if let Some(known) = self.known.get(&entry) {
            return *known;
        }
        self.count += 1;
        self.bytes.extend(&entry);
        self.known.insert(entry, self.count);
        self.count
    }

    fn entry(&mut self, tag: u8, parts: &[u16]) -> u16 {
        let parts = parts.iter().flat_map(|p| p.to_be_bytes());
        self.add(std::iter::once(tag).chain(parts).collect())
    }

    fn utf8(&mut self, text: &str) -> u16 {
        let mut entry = vec![1, 0, text.len() as u8];
        entry.extend(text.bytes());
        self.add(entry)
    }

    fn class(&mut self, name: &str) -> u16 {
        let name = self.utf8(name);
        self.entry(7, &[name])
    }

    /// A field (9) or method (10).
    fn member(&mut self, tag: u8, class: &str, name: &str, desc: &str) -> u16 {
        let class = self.class(class);
        let (name, desc) = (self.utf8(name), self.utf8(desc));
        let both = self.entry(12, &[name, desc]);
        self.entry(tag, &[class, both])
    }

    fn method(
        &mut self,
        access: u16,
        name: &str,
        desc: &str,
        body: impl FnOnce(&mut Pool, &mut Assembler),
    ) -> Vec<u8> {
        let mut code = Assembler::default();
        body(self, &mut code);
        code.op(op::RETURN);
        let mut attribute: Vec<u8> = [8u16, 16].iter().flat_map(|n| n.to_be_bytes()).collect();
        attribute.extend((code.bytes.len() as u32).to_be_bytes());
        attribute.extend(&code.bytes);
        attribute.extend((code.handlers.len() as u16).to_be_bytes());
        for handler in code.handlers {
            let parts = handler.into_iter().chain([0]);
            attribute.extend(parts.flat_map(u16::to_be_bytes));
        }
        attribute.extend([0, 0]);
        let mut method = Vec::new();
        for part in [
            access,
            self.utf8(name),
            self.utf8(desc),
            1,
            self.utf8("Code"),
        ] {
            method.extend(part.to_be_bytes());
        }
        method.extend((attribute.len() as u32).to_be_bytes());
        method.extend(attribute);
        method
    }
}

#[derive(Default)]
struct Assembler {
    bytes: Vec<u8>,
    /// Start, end, handler; innermost first.
    handlers: Vec<[u16; 3]>,
    pcs: BTreeMap<*const Stmt, u32>,
    uses: Vec<u32>,
}

impl Assembler {
    fn op(&mut self, op: u8) {
        self.bytes.push(op);
    }

    fn ops(&mut self, ops: &[u8]) {
        self.bytes.extend(ops);
    }

    fn cp(&mut self, op: u8, cp: u16) {
        self.op(op);
        self.bytes.extend(cp.to_be_bytes());
    }

    fn load(&mut self, var: Var) {
        self.ops(&[op::ALOAD, (FIRST + var.0) as u8]);
    }

    fn store(&mut self, var: Var) {
        self.ops(&[op::ASTORE, (FIRST + var.0) as u8]);
    }

    fn pc(&self) -> u16 {
        self.bytes.len() as u16
    }

    /// A branch to be bent to its target later.
    fn branch(&mut self, op: u8) -> u16 {
        let at = self.pc();
        self.ops(&[op, 0, 0]);
        at
    }

    fn bend(&mut self, branch: u16, target: u16) {
        let offset = target.wrapping_sub(branch).to_be_bytes();
        let at = usize::from(branch) + 1;
        self.bytes[at..at + 2].copy_from_slice(&offset);
    }

    fn block(&mut self, pool: &mut Pool, stmts: &[Stmt]) {
        for stmt in stmts {
            self.stmt(pool, stmt);
        }
    }

    /// The next instruction is what the statement is about.
    fn here(&mut self, stmt: &Stmt, is_use: bool) {
        let pc = u32::from(self.pc());
        self.pcs.insert(stmt, pc);
        if is_use {
            self.uses.push(pc);
        }
    }

    fn cast(&mut self, pool: &mut Pool, to: Var) {
        let name = if to.is_array() {
            "[Ljava/lang/Object;"
        } else {
            "T"
        };
        self.cp(op::CHECKCAST, pool.class(name));
        self.store(to);
    }

    fn call(&mut self, pool: &mut Pool, class: &str, name: &str, desc: &str) {
        self.cp(op::INVOKESTATIC, pool.member(10, class, name, desc));
    }

    fn stmt(&mut self, pool: &mut Pool, stmt: &Stmt) {
        match stmt {
            Stmt::NewArray(to) => {
                self.op(op::ICONST_2);
                self.here(stmt, false);
                self.cp(op::ANEWARRAY, pool.class("java/lang/Object"));
                self.store(*to);
            }
            Stmt::NewMatrix(to) => {
                self.ops(&[op::ICONST_2, op::ICONST_2]);
                self.here(stmt, false);
                self.cp(op::MULTIANEWARRAY, pool.class("[[Ljava/lang/Object;"));
                self.op(2);
                self.store(*to);
            }
            Stmt::New(to) => {
                self.here(stmt, false);
                self.cp(op::NEW, pool.class("T"));
                self.op(op::DUP);
                self.cp(op::INVOKESPECIAL, pool.member(10, "T", "<init>", "()V"));
                self.store(*to);
            }
            Stmt::SetNull(to) => {
                self.op(op::ACONST_NULL);
                self.store(*to);
            }
            Stmt::Copy(to, from) => {
                self.load(*from);
                self.store(*to);
            }
            Stmt::LoadElement(to, array) => {
                self.load(*array);
                self.op(op::ICONST_0);
                self.here(stmt, true);
                self.op(op::AALOAD);
                self.cast(pool, *to);
            }
            Stmt::StoreElement(array, value) => {
                self.load(*array);
                self.op(op::ICONST_0);
                self.load(*value);
                self.here(stmt, true);
                self.op(op::AASTORE);
            }
            Stmt::LoadField(to, object) => {
                self.load(*object);
                self.here(stmt, true);
                self.cp(op::GETFIELD, pool.member(9, "T", "f", OBJECT));
                self.cast(pool, *to);
            }
            Stmt::StoreField(object, value) => {
                self.load(*object);
                self.load(*value);
                self.here(stmt, true);
                self.cp(op::PUTFIELD, pool.member(9, "T", "f", OBJECT));
            }
            Stmt::LoadStatic(to) => {
                self.cp(op::GETSTATIC, pool.member(9, "T", "s", OBJECT));
                self.cast(pool, *to);
            }
            Stmt::StoreStatic(from) => {
                self.load(*from);
                self.cp(op::PUTSTATIC, pool.member(9, "T", "s", OBJECT));
            }
            Stmt::Read(object) => {
                self.load(*object);
                if object.is_array() {
                    self.op(op::ICONST_1);
                    self.here(stmt, true);
                    self.op(op::AALOAD);
                } else {
                    self.here(stmt, true);
                    self.cp(op::GETFIELD, pool.member(9, "T", "i", "I"));
                }
                self.op(op::POP);
            }
            Stmt::Write(object) => {
                self.load(*object);
                self.op(op::ICONST_1);
                if object.is_array() {
                    self.op(op::ACONST_NULL);
                    self.here(stmt, true);
                    self.op(op::AASTORE);
                } else {
                    self.here(stmt, true);
                    self.cp(op::PUTFIELD, pool.member(9, "T", "i", "I"));
                }
            }
            Stmt::Keep(from) => {
                self.load(*from);
                self.call(pool, "T", "keep", "(Ljava/lang/Object;)V");
            }
            Stmt::Look(object) => {
                self.load(*object);
                if object.is_array() {
                    self.call(pool, "T", "lookAt", "([Ljava/lang/Object;)V");
                } else {
                    self.cp(op::INVOKEVIRTUAL, pool.member(10, "T", "look", "()V"));
                }
            }
            Stmt::Stash(array, value) => {
                self.load(*array);
                self.load(*value);
                self.call(pool, "T", "stash", STASH);
            }
            Stmt::Foreign(from) => {
                self.load(*from);
                self.call(pool, "U", "x", "(Ljava/lang/Object;)V");
            }
            Stmt::ArrayCopy(from, to) => {
                self.load(*from);
                self.op(op::ICONST_0);
                self.load(*to);
                self.ops(&[op::ICONST_0, op::ICONST_1]);
                self.here(stmt, true);
                self.call(pool, "java/lang/System", "arraycopy", COPY);
            }
            Stmt::Throw(from) => {
                self.load(*from);
                self.op(op::ATHROW);
            }
            Stmt::Return => self.op(op::RETURN),
            Stmt::If(yes, no) => {
                self.op(CHOICE);
                let skip = self.branch(op::IFEQ);
                self.block(pool, yes);
                let end = self.branch(op::GOTO);
                self.bend(skip, self.pc());
                self.block(pool, no);
                self.bend(end, self.pc());
            }
            Stmt::Loop(body) => {
                let top = self.pc();
                self.op(CHOICE);
                let out = self.branch(op::IFEQ);
                self.block(pool, body);
                let back = self.branch(op::GOTO);
                self.bend(back, top);
                self.bend(out, self.pc());
            }
            Stmt::Try(body, handler) => {
                let start = self.pc();
                self.block(pool, body);
                let end = self.pc();
                let out = self.branch(op::GOTO);
                self.handlers.push([start, end, self.pc()]);
                self.op(op::POP);
                self.block(pool, handler);
                self.bend(out, self.pc());
            }
        }
    }
}
