//! Programs as Java: one class each, whose threads do what the model's do, one step a line.
//!
//! What a variable is follows from how it is accessed: a plain field, a volatile one, or an
//! `AtomicInteger`. A read and a write right behind it that uses the value share a line, as in
//! `x = x + 1`: there a line is two accesses. At the end the main thread, which has to have joined
//! the others, tells what came of it: [`outcome`] is the model's word for the same.

use crate::explore::Execution;
use crate::program::{Array, Expr, Lock, Place, Program, Reg, Stmt, Value, Var};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use trace::{Loc, SiteId, ThreadId};

/// How Java declares a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Plain,
    Volatile,
    Atomic,
}

/// A class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    pub class: String,
    pub text: String,
    /// The line of every site.
    lines: BTreeMap<SiteId, u32>,
}

impl Source {
    /// Where a site's step is; 0 for beginnings and ends, which have none.
    pub fn line(&self, site: SiteId) -> u32 {
        self.lines.get(&site).copied().unwrap_or(0)
    }
}

/// What all programs of a directory share: where the outcome goes. One line a run, to the
/// standard output and, if the property `outcomes` names one, to the end of a file.
pub const TELL: &str = r#"import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

final class Tell {
    static void outcome(String name, String outcome) {
        String line = name + " " + outcome;
        System.out.println(line);
        String file = System.getProperty("outcomes");
        if (file == null) {
            return;
        }
        try (FileOutputStream out = new FileOutputStream(file, true)) {
            out.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
"#;

/// Writes a program as a class. Its main thread is thread 0, and the only one that runs from the
/// start.
///
/// # Panics
///
/// If there is no Java for it: a variable that is accessed both plainly and atomically, or a
/// statement that nobody has needed in Java so far.
pub fn source(program: &Program, class: &str) -> Source {
    let mut used = Used::default();
    for (thread, body) in program.threads.iter().enumerate() {
        used.block(thread, body);
    }
    let mut writer = Writer {
        used,
        class: class.to_owned(),
        text: String::new(),
        indent: 0,
        line: 1,
        next_site: 1,
        handlers: 0,
        lines: BTreeMap::new(),
    };
    writer.class(program);
    Source {
        class: class.to_owned(),
        text: writer.text,
        lines: writer.lines,
    }
}

/// What a run's Java tells at its end: the registers of each thread, or that it died, and all
/// memory that the program names.
pub fn outcome(program: &Program, execution: &Execution) -> String {
    let mut used = Used::default();
    for (thread, body) in program.threads.iter().enumerate() {
        used.block(thread, body);
    }
    let mut text = String::new();
    for thread in 0..program.threads.len() {
        let id = ThreadId(thread as u32);
        if execution.outcome.failed.iter().any(|(t, _)| *t == id) {
            text.push('!');
        } else {
            let registers = execution.registers.get(thread);
            for reg in 0..used.registers(thread) {
                let value = registers.and_then(|r| r.get(usize::from(reg)));
                let _ = write!(text, "{},", value.copied().unwrap_or(0));
            }
        }
        text.push(';');
    }
    let value = |loc: Loc| execution.memory.get(&loc).copied().unwrap_or(0);
    for var in used.vars.keys() {
        let _ = write!(text, "{},", value(var.loc()));
    }
    for (array, length) in arrays(program) {
        for index in 0..length {
            let _ = write!(text, "{},", value(array.loc(index)));
        }
    }
    text
}

/// What a location is called in Java; the elements of an array all the same.
pub fn name(program: &Program, loc: Loc) -> String {
    let array = arrays(program).find(|(array, _)| array.loc(0).obj == loc.obj);
    match array {
        Some((array, _)) => format!("e{}[]", array.0),
        None => format!("x{}", loc.slot),
    }
}

fn arrays(program: &Program) -> impl Iterator<Item = (Array, u32)> + '_ {
    let numbered = (0u16..).zip(&program.arrays);
    numbered.map(|(number, length)| (Array(number), *length))
}

/// What a program uses, and how.
#[derive(Debug, Default)]
struct Used {
    vars: BTreeMap<Var, Kind>,
    locks: BTreeSet<Lock>,
    /// By thread.
    highest: BTreeMap<usize, u8>,
}

impl Used {
    fn registers(&self, thread: usize) -> u8 {
        self.highest.get(&thread).map_or(0, |reg| reg + 1)
    }

    fn reg(&mut self, thread: usize, reg: Reg) {
        let highest = self.highest.entry(thread).or_default();
        *highest = (*highest).max(reg.0);
    }

    fn place(&mut self, thread: usize, place: &Place, kind: Kind) {
        match place {
            Place::Var(var) => {
                let was = self.vars.entry(*var).or_insert(kind);
                match (*was, kind) {
                    (Kind::Volatile, Kind::Atomic) => *was = kind,
                    (Kind::Atomic, Kind::Volatile) => {}
                    _ => assert_eq!(*was, kind, "{var:?} is accessed in two ways"),
                }
            }
            Place::Elem(_, index) => {
                assert_eq!(kind, Kind::Plain, "elements are plain");
                self.expr(thread, index);
            }
        }
    }

    fn expr(&mut self, thread: usize, expr: &Expr) {
        match expr {
            Expr::Const(_) => {}
            Expr::Reg(reg) => self.reg(thread, *reg),
            Expr::Add(a, b)
            | Expr::Sub(a, b)
            | Expr::Eq(a, b)
            | Expr::Lt(a, b)
            | Expr::And(a, b)
            | Expr::Or(a, b) => {
                self.expr(thread, a);
                self.expr(thread, b);
            }
            Expr::Not(a) => self.expr(thread, a),
        }
    }

    fn block(&mut self, thread: usize, body: &[Stmt]) {
        for stmt in body {
            self.stmt(thread, stmt);
        }
    }

    fn stmt(&mut self, thread: usize, stmt: &Stmt) {
        match stmt {
            Stmt::Set(reg, value) => {
                self.reg(thread, *reg);
                self.expr(thread, value);
            }
            Stmt::Read(reg, place) => {
                self.reg(thread, *reg);
                self.place(thread, place, Kind::Plain);
            }
            Stmt::Write(place, value) => {
                self.place(thread, place, Kind::Plain);
                self.expr(thread, value);
            }
            Stmt::Load(reg, place, _) => {
                self.reg(thread, *reg);
                self.place(thread, place, Kind::Volatile);
            }
            Stmt::Store(place, value, _) => {
                self.place(thread, place, Kind::Volatile);
                self.expr(thread, value);
            }
            Stmt::Cas {
                ok,
                place,
                expect,
                new,
                ..
            } => {
                self.reg(thread, *ok);
                self.place(thread, place, Kind::Atomic);
                self.expr(thread, expect);
                self.expr(thread, new);
            }
            Stmt::FetchAdd { old, place, by, .. } => {
                self.reg(thread, *old);
                self.place(thread, place, Kind::Atomic);
                self.expr(thread, by);
            }
            Stmt::Sync(lock, body) => {
                self.locks.insert(*lock);
                self.block(thread, body);
            }
            Stmt::Wait(lock)
            | Stmt::TimedWait(lock)
            | Stmt::Notify(lock)
            | Stmt::NotifyAll(lock) => {
                self.locks.insert(*lock);
            }
            Stmt::Fork(_) | Stmt::Join(_) | Stmt::Sleep => {}
            Stmt::If(cond, then, otherwise) => {
                self.expr(thread, cond);
                self.block(thread, then);
                self.block(thread, otherwise);
            }
            Stmt::While { cond, body, .. } | Stmt::Spin { cond, body } => {
                self.expr(thread, cond);
                self.block(thread, body);
            }
            Stmt::Assert(holds) => self.expr(thread, holds),
            Stmt::Catch { body, handler } => {
                self.block(thread, body);
                self.block(thread, handler);
            }
            other => panic!("no Java for {other:?}"),
        }
    }
}

struct Writer {
    used: Used,
    class: String,
    text: String,
    indent: usize,
    /// The one that is written next.
    line: u32,
    /// Sites are numbered as `code::compile` does.
    next_site: u32,
    handlers: u32,
    lines: BTreeMap<SiteId, u32>,
}

impl Writer {
    fn put(&mut self, text: &str) {
        for _ in 0..self.indent {
            self.text.push_str("    ");
        }
        self.text.push_str(text);
        self.text.push('\n');
        self.line += 1;
    }

    fn open(&mut self, text: &str) {
        self.put(text);
        self.indent += 1;
    }

    fn close(&mut self, text: &str) {
        self.indent -= 1;
        self.put(text);
    }

    /// The next site is on the next line.
    fn site(&mut self) {
        self.lines.insert(SiteId(self.next_site), self.line);
        self.next_site += 1;
    }

    fn class(&mut self, program: &Program) {
        let class = self.class.clone();
        self.open(&format!("final class {class} extends Thread {{"));
        for (var, kind) in self.used.vars.clone() {
            self.put(&declaration(var, kind));
        }
        for (array, length) in arrays(program) {
            self.put(&format!(
                "static final int[] e{} = new int[{length}];",
                array.0
            ));
        }
        for lock in self.used.locks.clone() {
            self.put(&format!("static final Object l{} = new Object();", lock.0));
        }
        for thread in 0..program.threads.len() {
            if thread > 0 {
                let new = format!("new {class}(\"t{thread}\", {thread})");
                self.put(&format!("static final {class} t{thread} = {new};"));
            }
            self.put(&format!("static boolean ended{thread};"));
            for reg in 0..self.used.registers(thread) {
                self.put(&format!("static int end{thread}_{reg};"));
            }
        }
        self.put("final int number;");
        self.open(&format!("{class}(String name, int number) {{"));
        self.put("super(name);");
        self.put("this.number = number;");
        self.close("}");
        self.run(program.threads.len());
        for (thread, body) in program.threads.iter().enumerate() {
            self.body(thread, body);
        }
        self.main(program);
        self.close("}");
    }

    fn run(&mut self, threads: usize) {
        self.open("@Override public void run() {");
        self.open("try {");
        self.open("switch (number) {");
        for thread in 1..threads {
            self.put(&format!("case {thread}: body{thread}(); break;"));
        }
        self.put("default: throw new AssertionError();");
        self.close("}");
        self.close("} catch (InterruptedException e) {");
        self.indent += 1;
        self.put("throw new AssertionError(e);");
        self.close("}");
        self.close("}");
    }

    fn body(&mut self, thread: usize, body: &[Stmt]) {
        let head = format!("static void body{thread}() throws InterruptedException {{");
        self.open(&head);
        let registers = self.used.registers(thread);
        for reg in 0..registers {
            self.put(&format!("int r{reg} = 0;"));
        }
        self.block(body);
        for reg in 0..registers {
            self.put(&format!("end{thread}_{reg} = r{reg};"));
        }
        self.put(&format!("ended{thread} = true;"));
        self.close("}");
    }

    fn main(&mut self, program: &Program) {
        self.open("static void play() throws InterruptedException {");
        self.put("body0();");
        self.put("StringBuilder text = new StringBuilder();");
        for thread in 0..program.threads.len() {
            self.open(&format!("if (ended{thread}) {{"));
            for reg in 0..self.used.registers(thread) {
                self.put(&format!("text.append(end{thread}_{reg}).append(',');"));
            }
            self.close("} else {");
            self.indent += 1;
            self.put("text.append('!');");
            self.close("}");
            self.put("text.append(';');");
        }
        for (var, kind) in self.used.vars.clone() {
            let value = match kind {
                Kind::Atomic => format!("x{}.get()", var.0),
                Kind::Plain | Kind::Volatile => format!("x{}", var.0),
            };
            self.put(&format!("text.append({value}).append(',');"));
        }
        for (array, length) in arrays(program) {
            for index in 0..length {
                let element = format!("e{}[{index}]", array.0);
                self.put(&format!("text.append({element}).append(',');"));
            }
        }
        self.put(&format!(
            "Tell.outcome(\"{}\", text.toString());",
            self.class
        ));
        self.close("}");
        self.open("public static void main(String[] args) throws InterruptedException {");
        self.put("play();");
        self.close("}");
    }

    fn block(&mut self, body: &[Stmt]) {
        let mut rest = body;
        while let [stmt, after @ ..] = rest {
            rest = after;
            if let (Stmt::Read(reg, from), [Stmt::Write(to, value), after @ ..]) = (stmt, after)
                && mentions(value, *reg)
            {
                self.site();
                self.site();
                let (from, to) = (place(from), place(to));
                self.put(&format!("r{} = {from}; {to} = {};", reg.0, int(value)));
                rest = after;
            } else {
                self.stmt(stmt);
            }
        }
    }

    fn step(&mut self, text: &str) {
        self.site();
        self.put(text);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Set(reg, value) => self.put(&format!("r{} = {};", reg.0, int(value))),
            Stmt::Read(reg, from) => self.step(&format!("r{} = {};", reg.0, place(from))),
            Stmt::Write(to, value) => self.step(&format!("{} = {};", place(to), int(value))),
            Stmt::Load(reg, from, _) => {
                let get = if self.is_atomic(from) { ".get()" } else { "" };
                self.step(&format!("r{} = {}{get};", reg.0, place(from)));
            }
            Stmt::Store(to, value, _) => {
                let (to, atomic, value) = (place(to), self.is_atomic(to), int(value));
                self.step(&match atomic {
                    true => format!("{to}.set({value});"),
                    false => format!("{to} = {value};"),
                });
            }
            Stmt::Cas {
                ok,
                place: at,
                expect,
                new,
                ..
            } => {
                let call = format!("{}.compareAndSet({}, {})", place(at), int(expect), int(new));
                self.step(&format!("r{} = {call} ? 1 : 0;", ok.0));
            }
            Stmt::FetchAdd {
                old, place: at, by, ..
            } => self.step(&format!(
                "r{} = {}.getAndAdd({});",
                old.0,
                place(at),
                int(by)
            )),
            Stmt::Sync(lock, body) => {
                self.site();
                self.open(&format!("synchronized (l{}) {{", lock.0));
                self.block(body);
                self.site();
                self.close("}");
            }
            Stmt::Wait(lock) => self.step(&format!("l{}.wait();", lock.0)),
            Stmt::TimedWait(lock) => self.step(&format!("l{}.wait(5);", lock.0)),
            Stmt::Notify(lock) => self.step(&format!("l{}.notify();", lock.0)),
            Stmt::NotifyAll(lock) => self.step(&format!("l{}.notifyAll();", lock.0)),
            Stmt::Fork(thread) => self.step(&format!("t{}.start();", thread.0)),
            Stmt::Join(thread) => self.step(&format!("t{}.join();", thread.0)),
            Stmt::Sleep => self.put("Thread.sleep(2);"),
            Stmt::If(cond, then, otherwise) => {
                self.open(&format!("if ({}) {{", bool(cond)));
                self.block(then);
                self.close("} else {");
                self.indent += 1;
                self.block(otherwise);
                self.close("}");
            }
            Stmt::While { cond, bound, body } => {
                let n = format!("n{}", self.line);
                let head = format!("int {n} = 0; {n} < {bound} && {}; {n}++", bool(cond));
                self.open(&format!("for ({head}) {{"));
                self.block(body);
                self.close("}");
            }
            Stmt::Spin { cond, body } => {
                self.open(&format!("while ({}) {{", bool(cond)));
                self.block(body);
                self.close("}");
            }
            Stmt::Assert(holds) => {
                let throws = "throw new IllegalStateException();";
                self.step(&format!("if (!({})) {throws}", bool(holds)));
            }
            Stmt::Catch { body, handler } => {
                self.handlers += 1;
                let name = format!("e{}", self.handlers);
                self.open("try {");
                self.block(body);
                self.close(&format!("}} catch (RuntimeException {name}) {{"));
                self.indent += 1;
                self.block(handler);
                self.close("}");
            }
            other => panic!("no Java for {other:?}"),
        }
    }

    fn is_atomic(&self, place: &Place) -> bool {
        match place {
            Place::Var(var) => self.used.vars.get(var) == Some(&Kind::Atomic),
            Place::Elem(..) => false,
        }
    }
}

fn declaration(var: Var, kind: Kind) -> String {
    let name = var.0;
    match kind {
        Kind::Plain => format!("static int x{name};"),
        Kind::Volatile => format!("static volatile int x{name};"),
        Kind::Atomic => {
            let class = "java.util.concurrent.atomic.AtomicInteger";
            format!("static final {class} x{name} = new {class}();")
        }
    }
}

fn place(place: &Place) -> String {
    match place {
        Place::Var(var) => format!("x{}", var.0),
        Place::Elem(array, index) => format!("e{}[{}]", array.0, int(index)),
    }
}

fn mentions(expr: &Expr, reg: Reg) -> bool {
    match expr {
        Expr::Const(_) => false,
        Expr::Reg(r) => *r == reg,
        Expr::Add(a, b)
        | Expr::Sub(a, b)
        | Expr::Eq(a, b)
        | Expr::Lt(a, b)
        | Expr::And(a, b)
        | Expr::Or(a, b) => mentions(a, reg) || mentions(b, reg),
        Expr::Not(a) => mentions(a, reg),
    }
}

fn constant(value: Value) -> String {
    value.to_string()
}

/// As a number.
fn int(expr: &Expr) -> String {
    match expr {
        Expr::Const(value) => constant(*value),
        Expr::Reg(reg) => format!("r{}", reg.0),
        Expr::Add(a, b) => format!("({} + {})", int(a), int(b)),
        Expr::Sub(a, b) => format!("({} - {})", int(a), int(b)),
        other => format!("({} ? 1 : 0)", bool(other)),
    }
}

/// As a condition.
fn bool(expr: &Expr) -> String {
    match expr {
        Expr::Eq(a, b) => format!("({} == {})", int(a), int(b)),
        Expr::Lt(a, b) => format!("({} < {})", int(a), int(b)),
        Expr::And(a, b) => format!("({} && {})", bool(a), bool(b)),
        Expr::Or(a, b) => format!("({} || {})", bool(a), bool(b)),
        Expr::Not(a) => format!("!{}", bool(a)),
        other => format!("({} != 0)", int(other)),
    }
}
