//! A suggestion as changes of bytecode, where that can be said.

use super::stable_names::{Field, Held, StableNames, Statement, Thing};
use advise::{Name, Repair, Sync, Variable};
use instrument::MemberRef;
use instrument::repair::{self as bytecode, Line, Object};

/// Whether a programmer could follow the suggestion at all: nobody moves a
/// statement into the JDK or into what the compiler made, and methods of
/// different objects have no lock in common.
pub fn makes_sense(repair: &Repair, book: &StableNames) -> bool {
    match *repair {
        Repair::Move { statement, before } => [statement, before].iter().all(|s| {
            statement_of(*s, book).is_ok_and(|s| s.has_line && ours(&s.class, book).is_ok())
        }),
        Repair::Methods(v) => methods(v, book).is_ok(),
        _ => true,
    }
}

/// The changes, or why there are none.
pub fn express(
    repair: &Repair,
    racing: &[Variable],
    book: &StableNames,
) -> Result<Vec<bytecode::Repair>, String> {
    match *repair {
        Repair::Volatile(Variable::Field(name)) => volatile(name, book),
        Repair::AtomicArray(Variable::Array(name)) => elements(name, book),
        Repair::Synchronized { statement, lock } => {
            let (at, field) = access(statement, racing, book)?;
            let lock = object(held(lock, book)?, &at, field)?;
            let field = field.name.clone();
            Ok(vec![bytecode::Repair::Locked { at, field, lock }])
        }
        Repair::Acquire { before, from } => acquire(before, from, racing, book),
        Repair::Move { statement, before } => {
            let (from, to) = (statement_of(statement, book)?, statement_of(before, book)?);
            if from.whole_method() != to.whole_method() {
                return Ok(vec![bytecode::Repair::MoveCall {
                    before: line(to, book)?,
                    class: from.class.clone(),
                    method: from.method.clone(),
                    desc: from.desc.clone(),
                }]);
            }
            let before = u16::try_from(to.line).map_err(|_| NO_LINE)?;
            Ok(vec![bytecode::Repair::Move {
                at: line(from, book)?,
                before,
            }])
        }
        Repair::Methods(v) => methods(v, book),
        Repair::AtomicClass(_) => Err("it orders what a volatile field orders".into()),
        Repair::Volatile(_) | Repair::AtomicArray(_) => Err("it has no name".into()),
    }
}

const NO_LINE: &str = "the class file does not say where its lines are";

fn volatile(name: Name, book: &StableNames) -> Result<Vec<bytecode::Repair>, String> {
    match book.thing(name) {
        Some(Thing::Field(field)) => {
            ours(&field.class, book)?;
            Ok(vec![bytecode::Repair::Volatile {
                class: field.class.clone(),
                field: field.name.clone(),
            }])
        }
        _ => Err("the field has no name".into()),
    }
}

fn elements(name: Name, book: &StableNames) -> Result<Vec<bytecode::Repair>, String> {
    let Some(Thing::Array(from)) = book.thing(name) else {
        return Err("the array has no name".into());
    };
    let mut all = Vec::new();
    for statement in book.elements(name) {
        ours(&statement.class, book)?;
        all.push(bytecode::Repair::Elements {
            at: line(statement, book)?,
            from: from.clone(),
        });
    }
    if all.is_empty() {
        return Err("nobody was seen to access its elements".into());
    }
    Ok(all)
}

fn acquire(
    before: u32,
    from: Sync,
    racing: &[Variable],
    book: &StableNames,
) -> Result<Vec<bytecode::Repair>, String> {
    let (at, field) = access(before, racing, book)?;
    let name = field.name.clone();
    match from {
        Sync::Lock(lock) => Ok(vec![bytecode::Repair::Acquire {
            lock: object(held(lock, book)?, &at, field)?,
            field: name,
            at,
        }]),
        Sync::Variable(Variable::Field(from)) => {
            let Some(Thing::Field(read)) = book.thing(from) else {
                return Err("the field to read has no name".into());
            };
            let held = match read.is_static {
                true => Held::Static(read.clone()),
                false => Held::Field(read.clone()),
            };
            Ok(vec![bytecode::Repair::Read {
                from: object(&held, &at, field)?,
                field: name,
                at,
            }])
        }
        Sync::Variable(Variable::Array(_)) => Err("which element to read is not known".into()),
        Sync::Thread(_) => Err("how to get hold of the thread there is not known".into()),
        Sync::Object(_) => Err("that order is the library's, not the program's".into()),
    }
}

/// The statement, and the racing field that it accesses.
fn access<'b>(
    statement: u32,
    racing: &[Variable],
    book: &'b StableNames,
) -> Result<(Line, &'b Field), String> {
    let at = statement_of(statement, book)?;
    let fields = racing.iter().filter_map(|v| match v {
        Variable::Field(name) => match book.thing(*name) {
            Some(Thing::Field(field)) => Some(field),
            _ => None,
        },
        Variable::Array(_) => None,
    });
    let field = fields.into_iter().next();
    let field = field.ok_or("it is about elements of an array")?;
    Ok((line(at, book)?, field))
}

fn held(lock: Name, book: &StableNames) -> Result<&Held, String> {
    match book.thing(lock) {
        Some(Thing::Lock(held)) => Ok(held),
        _ => Err("the lock has no name".into()),
    }
}

/// Methods that are all that a thread does.
const BODIES: [(&str, &str); 2] = [("run", "()V"), ("main", "([Ljava/lang/String;)V")];

/// The methods of the field's class that race on it become synchronized.
fn methods(variable: Variable, book: &StableNames) -> Result<Vec<bytecode::Repair>, String> {
    let Variable::Field(name) = variable else {
        return Err("it is about elements of an array".into());
    };
    let Some(Thing::Field(field)) = book.thing(name) else {
        return Err("it has no name".into());
    };
    ours(&field.class, book)?;
    let synchronized = |s: &Statement| {
        if s.class != field.class {
            return Err("methods of other classes access it".to_owned());
        }
        if s.method.starts_with('<') || s.method.starts_with("lambda$") {
            return Err("it is accessed in what cannot be synchronized".to_owned());
        }
        if BODIES.contains(&(s.method.as_str(), s.desc.as_str())) {
            return Err("a thread would hold the lock all its life".to_owned());
        }
        Ok(bytecode::Repair::Synchronized {
            class: s.class.clone(),
            method: s.method.clone(),
            desc: s.desc.clone(),
            on_class: field.is_static,
        })
    };
    let all = book.methods(name);
    if all.is_empty() {
        return Err("they are synchronized already".into());
    }
    all.into_iter().map(synchronized).collect()
}

/// How to get hold of the lock, or of the field, at an access of `field`.
fn object(held: &Held, at: &Line, field: &Field) -> Result<Object, String> {
    let found = match held {
        Held::Static(lock) => Some(Object::Static(member(lock))),
        Held::Class(class) => Some(Object::Class(class.clone())),
        Held::This(class) if !field.is_static && field.class == *class => Some(Object::Receiver),
        Held::This(class) if at.class == *class => Some(Object::This),
        Held::Field(lock) if !field.is_static && field.class == lock.class => {
            Some(Object::OfReceiver(member(lock)))
        }
        Held::Field(lock) if at.class == lock.class => Some(Object::OfThis(member(lock))),
        _ => None,
    };
    found.ok_or_else(|| "how to get hold of it there is not known".into())
}

fn member(field: &Field) -> MemberRef {
    MemberRef {
        class: field.class.clone(),
        name: field.name.clone(),
        desc: field.desc.clone(),
    }
}

fn statement_of(number: u32, book: &StableNames) -> Result<&Statement, String> {
    book.statement(number).ok_or_else(|| NO_LINE.to_owned())
}

fn line(statement: &Statement, book: &StableNames) -> Result<Line, String> {
    ours(&statement.class, book)?;
    let line = u16::try_from(statement.line).ok();
    let line = line.filter(|_| statement.has_line).ok_or(NO_LINE)?;
    Ok(Line {
        class: statement.class.clone(),
        method: statement.method.clone(),
        desc: statement.desc.clone(),
        line,
    })
}

/// Nobody repairs the JDK.
fn ours(class: &str, book: &StableNames) -> Result<(), String> {
    match book.owners.is_jdk(class) {
        true => Err("it would change the JDK".into()),
        false => Ok(()),
    }
}
