//! Advice in words.

use crate::repair::{Name, Repair, Sync, Variable};

/// What things are called, for people.
pub trait Words {
    /// `Bank.total`, or `int[] made at Bank.java:12`.
    fn variable(&self, variable: Variable) -> String;
    /// Those with racing accesses: `Bank.add and Bank.take`.
    fn methods(&self, variable: Variable) -> String;
    /// `the monitor of Bank.lock`.
    fn lock(&self, lock: Name) -> String;
    fn thread(&self, thread: Name) -> String;
    fn object(&self, object: Name) -> String;
    /// `Bank.java:12`.
    fn statement(&self, site: u32) -> String;
    /// `Bank.add`, if the statement is in another method than this one.
    fn elsewhere(&self, statement: u32, than: u32) -> Option<String>;
}

impl Repair {
    /// What the repair changes: a variable, or a statement.
    pub fn target(&self, words: &dyn Words) -> String {
        match *self {
            Repair::Volatile(v) | Repair::AtomicArray(v) | Repair::AtomicClass(v) => {
                words.variable(v)
            }
            Repair::Methods(v) => words.methods(v),
            Repair::Synchronized { statement, .. }
            | Repair::Move { statement, .. }
            | Repair::Acquire {
                before: statement, ..
            } => words.statement(statement),
        }
    }

    /// What to do, as a sentence.
    pub fn text(&self, words: &dyn Words) -> String {
        match *self {
            Repair::Volatile(v) => format!("make {} volatile", words.variable(v)),
            Repair::AtomicArray(v) => format!(
                "use an atomic array (java.util.concurrent.atomic) for {}",
                words.variable(v)
            ),
            Repair::AtomicClass(v) => format!(
                "make {} an atomic variable (java.util.concurrent.atomic)",
                words.variable(v)
            ),
            Repair::Methods(v) => format!("make {} synchronized", words.methods(v)),
            Repair::Synchronized { statement, lock } => format!(
                "put {} in a block synchronized on {}",
                words.statement(statement),
                words.lock(lock)
            ),
            Repair::Move { statement, before } => {
                let (what, to) = (words.statement(statement), words.statement(before));
                match words.elsewhere(statement, before) {
                    Some(method) => {
                        format!("move the call of {method}, which has {what}, before {to}")
                    }
                    None => format!("move {what} before {to}"),
                }
            }
            Repair::Acquire { before, from } => {
                let acquire = match from {
                    Sync::Variable(v) => format!("read {}", words.variable(v)),
                    Sync::Lock(lock) => format!("take {}", words.lock(lock)),
                    Sync::Thread(thread) => format!("join {}", words.thread(thread)),
                    Sync::Object(object) => format!("synchronise through {}", words.object(object)),
                };
                format!("{acquire} before {}", words.statement(before))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain;

    impl Words for Plain {
        fn variable(&self, variable: Variable) -> String {
            match variable {
                Variable::Field(_) => "Bank.total".into(),
                Variable::Array(_) => "Bank.flags".into(),
            }
        }

        fn methods(&self, _: Variable) -> String {
            "Bank.add and Bank.take".into()
        }

        fn lock(&self, _: Name) -> String {
            "the monitor of Bank.lock".into()
        }

        fn thread(&self, thread: Name) -> String {
            format!("Thread-{thread}")
        }

        fn object(&self, _: Name) -> String {
            "a task".into()
        }

        fn elsewhere(&self, statement: u32, than: u32) -> Option<String> {
            (statement / 100 != than / 100).then(|| "Bank.add".into())
        }

        fn statement(&self, site: u32) -> String {
            format!("Bank.java:{site}")
        }
    }

    #[test]
    fn sentences() {
        let (field, array) = (Variable::Field(1), Variable::Array(1));
        let acquire = |from| Repair::Acquire { before: 12, from };
        let cases = [
            (Repair::Volatile(field), "make Bank.total volatile"),
            (
                Repair::Methods(field),
                "make Bank.add and Bank.take synchronized",
            ),
            (
                Repair::AtomicArray(array),
                "use an atomic array (java.util.concurrent.atomic) for Bank.flags",
            ),
            (
                Repair::AtomicClass(field),
                "make Bank.total an atomic variable (java.util.concurrent.atomic)",
            ),
            (
                Repair::Synchronized {
                    statement: 12,
                    lock: 0,
                },
                "put Bank.java:12 in a block synchronized on the monitor of Bank.lock",
            ),
            (
                Repair::Move {
                    statement: 12,
                    before: 9,
                },
                "move Bank.java:12 before Bank.java:9",
            ),
            (
                Repair::Move {
                    statement: 112,
                    before: 9,
                },
                "move the call of Bank.add, which has Bank.java:112, before Bank.java:9",
            ),
            (
                acquire(Sync::Variable(field)),
                "read Bank.total before Bank.java:12",
            ),
            (
                acquire(Sync::Lock(0)),
                "take the monitor of Bank.lock before Bank.java:12",
            ),
            (
                acquire(Sync::Thread(3)),
                "join Thread-3 before Bank.java:12",
            ),
            (
                acquire(Sync::Object(3)),
                "synchronise through a task before Bank.java:12",
            ),
        ];
        for (repair, text) in cases {
            assert_eq!(repair.text(&Plain), text);
            let target = repair.target(&Plain);
            assert!(target == "Bank.java:12" || text.contains(&target));
        }
    }
}
