//! Repairs, tried out: a class is changed as its author might change it, before
//! anybody puts probes into it.
//!
//! | repair | in the class |
//! |---|---|
//! | a field is volatile | its flag |
//! | elements have volatile semantics | element accesses of the statement go through a `VarHandle` |
//! | a statement under a lock | the lock is taken right before its accesses and given up behind them |
//! | an acquire before a statement | a volatile is read, or a lock taken and given up, right before its accesses |
//! | a statement is moved up | its instructions stand before those of another line |
//! | a method is synchronized | its flag |
//! | one call instead of two | another method of the object is called: `putIfAbsent` for `put`, `addAndGet` for `get` and `set` |
//! | two calls under the object's lock | the whole method holds its monitor |
//!
//! A *statement* is a line of a method, and its *accesses* are those to the
//! field that the repair is about. What is inserted is straight-line, so what
//! verified before verifies afterwards. What a repair cannot do is an error with
//! a reason, and the class is then as it was: nobody is told that something was
//! tried when it was not.

mod atomic;
mod elements;
mod locked;
mod moved;

use std::fmt;
use std::str::FromStr;

use classfile::flow::FlowError;
use classfile::{ClassFile, Code, EditError, Insn, PoolFull, acc, op};

use crate::site::MemberRef;

pub use elements::HANDLES;

/// A line of a method.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// Internal name.
    pub class: String,
    pub method: String,
    pub desc: String,
    pub line: u16,
}

/// An object, by how the code at the statement gets hold of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    This,
    /// The object whose field the statement accesses.
    Receiver,
    Static(MemberRef),
    OfThis(MemberRef),
    OfReceiver(MemberRef),
    Class(String),
}

/// What to change. See the module's text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Repair {
    Volatile {
        class: String,
        field: String,
    },
    /// Element accesses of the statement to arrays that came from this field
    /// (`a.B.flags`, `a.B.rows[]`); to all arrays, if none did.
    Elements {
        at: Line,
        from: String,
    },
    /// The accesses of the statement to the field of this name.
    Locked {
        at: Line,
        field: String,
        lock: Object,
    },
    /// Before these accesses.
    Acquire {
        at: Line,
        field: String,
        lock: Object,
    },
    /// The same with a read; `from` is a field.
    Read {
        at: Line,
        field: String,
        from: Object,
    },
    Move {
        at: Line,
        before: u16,
    },
    /// The next line that calls this method comes before the statement.
    MoveCall {
        before: Line,
        class: String,
        method: String,
        desc: String,
    },
    /// On its object; on its class, if that is where the guarded field is.
    Synchronized {
        class: String,
        method: String,
        desc: String,
        on_class: bool,
    },
    /// Calls of a method, by its name, become calls of another with the same parameters and result.
    Call {
        at: Line,
        from: String,
        to: String,
    },
    /// `n.set(n.get() + v)` becomes `n.addAndGet(v)`.
    Sum {
        at: Line,
    },
    /// The line's method runs under the monitor of the object that this method is called on.
    Hold {
        at: Line,
        call: String,
    },
}

/// Why a repair was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RepairError {
    #[error("the class declares no such field")]
    NoField,
    #[error("a final field cannot be volatile")]
    FinalField,
    #[error("there is no such method")]
    NoMethod,
    #[error("there is no such access in that line")]
    NoAccess,
    #[error("the object is not at hand there")]
    NotAtHand,
    #[error("the type of the array is not known there")]
    UnknownArray,
    #[error("there is no such call in that line")]
    NoCall,
    #[error("{0}")]
    CannotFuse(&'static str),
    #[error("{0}")]
    CannotMove(&'static str),
    #[error("{0}")]
    CannotLock(&'static str),
    #[error(transparent)]
    Malformed(#[from] classfile::Error),
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error(transparent)]
    Pool(#[from] PoolFull),
    #[error(transparent)]
    Flow(#[from] FlowError),
}

impl Repair {
    /// The class that has to be changed, by its internal name.
    pub fn class(&self) -> &str {
        match self {
            Repair::Volatile { class, .. } | Repair::Synchronized { class, .. } => class,
            Repair::Elements { at, .. }
            | Repair::Locked { at, .. }
            | Repair::Acquire { at, .. }
            | Repair::Read { at, .. }
            | Repair::Move { at, .. }
            | Repair::Call { at, .. }
            | Repair::Sum { at }
            | Repair::Hold { at, .. }
            | Repair::MoveCall { before: at, .. } => &at.class,
        }
    }
}

/// A class with one repair made.
pub fn repair(bytes: &[u8], repair: &Repair) -> Result<Vec<u8>, RepairError> {
    let mut class = ClassFile::parse(bytes)?;
    match repair {
        Repair::Volatile { field, .. } => volatile(&mut class, field)?,
        Repair::Elements { at, from } => elements::make_volatile(&mut class, at, from)?,
        Repair::Locked { at, field, lock } => locked::around(&mut class, at, field, lock)?,
        Repair::Acquire { at, field, lock } => locked::acquire(&mut class, at, field, lock)?,
        Repair::Read { at, field, from } => locked::read(&mut class, at, field, from)?,
        Repair::Move { at, before } => moved::up(&mut class, at, *before)?,
        Repair::MoveCall {
            before,
            class: callee,
            method,
            desc,
        } => moved::call_up(&mut class, before, [callee, method, desc])?,
        Repair::Synchronized {
            method,
            desc,
            on_class,
            ..
        } => synchronized(&mut class, method, desc, *on_class)?,
        Repair::Call { at, from, to } => atomic::call(&mut class, at, [from, to])?,
        Repair::Sum { at } => atomic::sum(&mut class, at)?,
        Repair::Hold { at, call } => atomic::hold(&mut class, at, call)?,
    }
    Ok(class.to_bytes())
}

fn volatile(class: &mut ClassFile<'_>, name: &str) -> Result<(), RepairError> {
    let at = class.fields.iter();
    let at = at.enumerate().find(|(_, f)| class.member_name(f) == name);
    let at = at.map(|(i, _)| i).ok_or(RepairError::NoField)?;
    let field = &mut class.fields[at];
    if field.is(acc::FINAL) {
        return Err(RepairError::FinalField);
    }
    field.access |= acc::VOLATILE;
    Ok(())
}

fn synchronized(
    class: &mut ClassFile<'_>,
    name: &str,
    desc: &str,
    on_class: bool,
) -> Result<(), RepairError> {
    let cannot = |why| Err(RepairError::CannotLock(why));
    if name.starts_with('<') {
        return cannot("constructors and initialisers cannot be synchronized");
    }
    let index = class
        .method_index(name, desc)
        .ok_or(RepairError::NoMethod)?;
    let method = &mut class.methods[index];
    if method.is(acc::SYNTHETIC) {
        return cannot("the compiler made the method, for a lambda perhaps");
    }
    if method.is(acc::STATIC) != on_class {
        return cannot("a static method and the object do not share a lock");
    }
    method.access |= acc::SYNCHRONIZED;
    Ok(())
}

/// The access flags of a method that a class declares.
pub fn method_flags(bytes: &[u8], name: &str, desc: &str) -> Option<u16> {
    let class = ClassFile::parse(bytes).ok()?;
    let index = class.method_index(name, desc)?;
    Some(class.methods[index].access)
}

/// The access flags of a field that a class declares.
pub fn field_flags(bytes: &[u8], name: &str) -> Option<u16> {
    let class = ClassFile::parse(bytes).ok()?;
    let mut fields = class.fields.iter();
    let field = fields.find(|f| class.member_name(f) == name)?;
    Some(field.access)
}

/// The method that a line is in.
fn method_of(class: &ClassFile<'_>, at: &Line) -> Result<usize, RepairError> {
    class
        .method_index(&at.method, &at.desc)
        .ok_or(RepairError::NoMethod)
}

fn decode<'a>(class: &ClassFile<'a>, index: usize) -> Result<Code<'a>, RepairError> {
    Code::decode(class, index)?.ok_or(RepairError::NoMethod)
}

/// The accesses in a line to a field of this name, of whatever class the code
/// says: it may name a subclass of the one that declares it.
fn accesses<'c>(
    class: &ClassFile<'_>,
    code: &'c Code<'_>,
    at: &Line,
    field: &str,
) -> Vec<&'c Insn> {
    let names = |insn: &Insn| {
        let member = insn.cp().and_then(|cp| class.pool.member_ref(cp));
        member.is_some_and(|m| m.name == field)
    };
    let all = code.insns.iter();
    all.filter(|i| (op::GETSTATIC..=op::PUTFIELD).contains(&i.op))
        .filter(|i| code.line_of(i.pc) == Some(at.line) && names(i))
        .collect()
}

/// Parts of a repair in text: `#` between them, as in statements that a
/// scheduler stops at.
impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repair::Volatile { class, field } => write!(f, "volatile#{class}#{field}"),
            Repair::Elements { at, from } => write!(f, "elements#{at}#{from}"),
            Repair::Locked { at, field, lock } => write!(f, "locked#{at}#{field}#{lock}"),
            Repair::Acquire { at, field, lock } => write!(f, "acquire#{at}#{field}#{lock}"),
            Repair::Read { at, field, from } => write!(f, "read#{at}#{field}#{from}"),
            Repair::Move { at, before } => write!(f, "move#{at}#{before}"),
            Repair::MoveCall {
                before,
                class,
                method,
                desc,
            } => write!(f, "move-call#{before}#{class}#{method}#{desc}"),
            Repair::Synchronized {
                class,
                method,
                desc,
                on_class,
            } => {
                let on = if *on_class { "class" } else { "object" };
                write!(f, "synchronized#{class}#{method}#{desc}#{on}")
            }
            Repair::Call { at, from, to } => write!(f, "call#{at}#{from}#{to}"),
            Repair::Sum { at } => write!(f, "sum#{at}"),
            Repair::Hold { at, call } => write!(f, "hold#{at}#{call}"),
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line {
            class,
            method,
            desc,
            line,
        } = self;
        write!(f, "{class}#{method}#{desc}#{line}")
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let member = |m: &MemberRef| format!("{}#{}#{}", m.class, m.name, m.desc);
        match self {
            Object::This => write!(f, "this"),
            Object::Receiver => write!(f, "receiver"),
            Object::Static(m) => write!(f, "static#{}", member(m)),
            Object::OfThis(m) => write!(f, "of-this#{}", member(m)),
            Object::OfReceiver(m) => write!(f, "of-receiver#{}", member(m)),
            Object::Class(name) => write!(f, "class#{name}"),
        }
    }
}

impl FromStr for Repair {
    type Err = String;

    fn from_str(text: &str) -> Result<Repair, String> {
        let parts: Vec<&str> = text.split('#').collect();
        let read = match parts[..] {
            ["volatile", class, field] => Some(Repair::Volatile {
                class: class.to_owned(),
                field: field.to_owned(),
            }),
            ["synchronized", class, method, desc, on] => on_class(on).map(|on_class| {
                let [class, method, desc] = [class, method, desc].map(str::to_owned);
                Repair::Synchronized {
                    class,
                    method,
                    desc,
                    on_class,
                }
            }),
            [kind, class, method, desc, line, ref rest @ ..] => {
                line.parse().ok().and_then(|line| {
                    let at = Line {
                        class: class.to_owned(),
                        method: method.to_owned(),
                        desc: desc.to_owned(),
                        line,
                    };
                    of_statement(kind, at, rest)
                })
            }
            _ => None,
        };
        read.ok_or_else(|| format!("{text:?} is no repair"))
    }
}

fn on_class(text: &str) -> Option<bool> {
    match text {
        "class" => Some(true),
        "object" => Some(false),
        _ => None,
    }
}

fn of_statement(kind: &str, at: Line, rest: &[&str]) -> Option<Repair> {
    match (kind, rest) {
        ("elements", [from]) => Some(Repair::Elements {
            at,
            from: (*from).to_owned(),
        }),
        ("move", [before]) => Some(Repair::Move {
            at,
            before: before.parse().ok()?,
        }),
        ("move-call", [class, method, desc]) => Some(Repair::MoveCall {
            before: at,
            class: (*class).to_owned(),
            method: (*method).to_owned(),
            desc: (*desc).to_owned(),
        }),
        ("call", [from, to]) => Some(Repair::Call {
            at,
            from: (*from).to_owned(),
            to: (*to).to_owned(),
        }),
        ("sum", []) => Some(Repair::Sum { at }),
        ("hold", [call]) => Some(Repair::Hold {
            at,
            call: (*call).to_owned(),
        }),
        (kind, [field, object @ ..]) => {
            let (field, object) = ((*field).to_owned(), of_parts(object)?);
            match kind {
                "locked" => Some(Repair::Locked {
                    at,
                    field,
                    lock: object,
                }),
                "acquire" => Some(Repair::Acquire {
                    at,
                    field,
                    lock: object,
                }),
                "read" => Some(Repair::Read {
                    at,
                    field,
                    from: object,
                }),
                _ => None,
            }
        }
        _ => None,
    }
}

fn of_parts(parts: &[&str]) -> Option<Object> {
    match *parts {
        ["this"] => Some(Object::This),
        ["receiver"] => Some(Object::Receiver),
        ["class", name] => Some(Object::Class(name.to_owned())),
        [kind, class, name, desc] => {
            let member = MemberRef {
                class: class.to_owned(),
                name: name.to_owned(),
                desc: desc.to_owned(),
            };
            match kind {
                "static" => Some(Object::Static(member)),
                "of-this" => Some(Object::OfThis(member)),
                "of-receiver" => Some(Object::OfReceiver(member)),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let at = Line {
            class: "a/B$C".into(),
            method: "run".into(),
            desc: "([I)V".into(),
            line: 12,
        };
        let member = MemberRef {
            class: "a/B".into(),
            name: "lock".into(),
            desc: "Ljava/lang/Object;".into(),
        };
        let objects = [
            Object::This,
            Object::Receiver,
            Object::Static(member.clone()),
            Object::OfThis(member.clone()),
            Object::OfReceiver(member),
            Object::Class("a/B".into()),
        ];
        let mut all = vec![
            Repair::Volatile {
                class: "a/B".into(),
                field: "x".into(),
            },
            Repair::Elements {
                at: at.clone(),
                from: "a.B.flags".into(),
            },
            Repair::Move {
                at: at.clone(),
                before: 9,
            },
            Repair::Call {
                at: at.clone(),
                from: "put".into(),
                to: "putIfAbsent".into(),
            },
            Repair::Sum { at: at.clone() },
            Repair::Hold {
                at: at.clone(),
                call: "get".into(),
            },
        ];
        all.extend([true, false].map(|on_class| Repair::Synchronized {
            class: "a/B".into(),
            method: "run".into(),
            desc: "()V".into(),
            on_class,
        }));
        for object in objects {
            let (at, field) = (at.clone(), "x".to_owned());
            all.push(Repair::Locked {
                at: at.clone(),
                field: field.clone(),
                lock: object.clone(),
            });
            all.push(Repair::Acquire {
                at: at.clone(),
                field: field.clone(),
                lock: object.clone(),
            });
            all.push(Repair::Read {
                at,
                field,
                from: object,
            });
        }
        for repair in all {
            assert_eq!(repair.to_string().parse(), Ok(repair));
        }
        for bad in [
            "",
            "volatile",
            "volatile#A",
            "elements#A#m#()V#x",
            "move#A#m#()V#1",
            "locked#A#m#()V#1#x#there",
            "odd#A#m#()V#1#x#this",
            "synchronized#A#m#()V",
            "synchronized#A#m#()V#there",
            "sum#A#m#()V#1#x",
            "hold#A#m#()V#1",
            "call#A#m#()V#1#put",
        ] {
            assert!(bad.parse::<Repair>().is_err(), "{bad}");
        }
    }
}
