//! Methods that are atomic by themselves: what they do to the object that they are called on.
//!
//! A table of lines `kind [key] class method ...`; `#` starts a comment, and `class Name ...` gives a
//! group of classes a name. The classes are those that a call names, so interfaces count. The last line
//! that fits counts, and a user's lines come after the built-in ones.
//!
//! | kind | the method |
//! |---|---|
//! | `check` | looks, and changes nothing |
//! | `rely` | looks, and fails or answers null if what it looks for is gone |
//! | `next` | looks, and fails if anything was added or removed |
//! | `put` | replaces what was there, whatever it was |
//! | `add` | adds something |
//! | `update` | makes a new value out of the old one |
//! | `take` | takes something away, and fails if there is nothing |
//! | `remove` | takes something away if it is there |
//! | `try` | looks and acts in one step |
//! | `block` | may wait; nothing is said of an object that such a method is called on |
//!
//! `key`: it is about the entry that its first argument names.
//!
//! A method is all its overloads; with parameters as in a descriptor, `remove(I)`, it is that one alone.

use crate::purity::BadLine;
use rustc_hash::FxHashMap;

/// See the module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Check,
    Rely,
    Next,
    Put,
    Add,
    Update,
    Take,
    Remove,
    Try,
    Block,
}

impl Kind {
    const ALL: [(&'static str, Kind); 10] = [
        ("check", Kind::Check),
        ("rely", Kind::Rely),
        ("next", Kind::Next),
        ("put", Kind::Put),
        ("add", Kind::Add),
        ("update", Kind::Update),
        ("take", Kind::Take),
        ("remove", Kind::Remove),
        ("try", Kind::Try),
        ("block", Kind::Block),
    ];

    /// Changes nothing.
    pub fn looks(self) -> bool {
        matches!(self, Kind::Check | Kind::Rely | Kind::Next)
    }

    /// May fail for what others did.
    pub(crate) fn fails(self) -> bool {
        matches!(self, Kind::Rely | Kind::Next | Kind::Take)
    }

    /// Adds something.
    pub fn adds(self) -> bool {
        matches!(self, Kind::Add | Kind::Put | Kind::Try)
    }

    /// Takes something away.
    pub fn removes(self) -> bool {
        matches!(self, Kind::Take | Kind::Remove)
    }
}

/// What a method does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    pub kind: Kind,
    /// About the entry of its first argument.
    pub keyed: bool,
}

/// The table.
#[derive(Clone, Debug)]
pub struct Operations {
    groups: FxHashMap<String, Vec<String>>,
    /// By class (internal name) and method.
    rows: FxHashMap<(String, String), Operation>,
}

impl Default for Operations {
    /// The built-in one.
    fn default() -> Operations {
        let mut table = Operations {
            groups: FxHashMap::default(),
            rows: FxHashMap::default(),
        };
        // A test reads it.
        let _ = table.extend(include_str!("operations.txt"));
        table
    }
}

impl Operations {
    /// Adds the lines of a text.
    pub fn extend(&mut self, text: &str) -> Result<(), BadLine> {
        for (at, line) in text.lines().enumerate() {
            let line = line.split('#').next().unwrap_or_default();
            let bad = |what: String| BadLine { line: at + 1, what };
            let mut words = line.split_whitespace().peekable();
            let Some(first) = words.next() else { continue };
            if first == "class" {
                let name = words.next();
                let name = name.ok_or_else(|| bad("a group needs a name".into()))?;
                let classes = words.map(|class| class.replace('.', "/"));
                self.groups.entry(name.into()).or_default().extend(classes);
                continue;
            }
            let kind = Kind::ALL.iter().find(|(name, _)| *name == first);
            let (_, kind) = kind.ok_or_else(|| bad(format!("{first:?} is no kind")))?;
            let keyed = words.next_if_eq(&"key").is_some();
            let class = words.next();
            let class = class.ok_or_else(|| bad("a class is missing".into()))?;
            let classes = match self.groups.get(class) {
                Some(group) => group.clone(),
                None if class.contains('.') => vec![class.replace('.', "/")],
                None => {
                    return Err(bad(format!(
                        "{class:?} is no group, and no class with its package"
                    )));
                }
            };
            if words.peek().is_none() {
                return Err(bad("no method is given".into()));
            }
            for method in words {
                let overload = format!("{method}(");
                for class in &classes {
                    // The last line counts, for overloads as well.
                    self.rows
                        .retain(|(c, m), _| c != class || !m.starts_with(&overload));
                    let operation = Operation { kind: *kind, keyed };
                    self.rows.insert((class.clone(), method.into()), operation);
                }
            }
        }
        Ok(())
    }

    /// What a method of a class (internal name) does, if the table has it.
    pub fn lookup(&self, class: &str, method: &str, desc: &str) -> Option<Operation> {
        let row = |method: String| self.rows.get(&(class.to_owned(), method)).copied();
        let params = desc.split_inclusive(')').next().unwrap_or_default();
        row(format!("{method}{params}")).or_else(|| row(method.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_is_well_formed() {
        let mut table = Operations {
            groups: FxHashMap::default(),
            rows: FxHashMap::default(),
        };
        table.extend(include_str!("operations.txt")).unwrap();
        let of = |class, method: &str| {
            let (name, desc) = method.split_at(method.find('(').unwrap_or(method.len()));
            let found = table.lookup(class, name, desc);
            found.map(|o| (o.kind, o.keyed))
        };
        let map = "java/util/concurrent/ConcurrentHashMap";
        assert_eq!(of(map, "containsKey"), Some((Kind::Check, true)));
        assert_eq!(of(map, "putIfAbsent"), Some((Kind::Try, true)));
        assert_eq!(of("java/util/Queue", "stream"), None);
        // Overloads that look and act in one, or do not fail.
        const O: &str = "Ljava/lang/Object;";
        let [two, three, any] = [2, 3, 1].map(|n| format!("({})", O.repeat(n)));
        let replace = |params: &str| of(map, &format!("replace{params}Z"));
        assert_eq!(replace(&two), Some((Kind::Put, true)));
        assert_eq!(replace(&three), Some((Kind::Try, true)));
        let remove = |class, params: &str| of(class, &format!("remove{params}Z"));
        for (class, params, kind) in [
            ("java/util/Queue", "()", Kind::Take),
            ("java/util/Queue", &any, Kind::Remove),
            ("java/util/List", "(I)", Kind::Take),
            ("java/util/List", &any, Kind::Remove),
            ("java/util/LinkedList", "()", Kind::Take),
            ("java/util/LinkedList", "(I)", Kind::Take),
            ("java/util/LinkedList", &any, Kind::Remove),
            ("java/util/concurrent/BlockingQueue", "()", Kind::Take),
        ] {
            assert_eq!(
                remove(class, params),
                Some((kind, false)),
                "{class} {params}"
            );
        }
    }

    #[test]
    fn a_users_lines_win_and_bad_ones_are_named() {
        let mut table = Operations::default();
        table
            .extend("class Mine com.shop.Cart com.shop.Bag # both\ncheck key Mine has\nput java.util.Map put")
            .unwrap();
        let operation = |kind, keyed| Some(Operation { kind, keyed });
        assert_eq!(
            table.lookup("com/shop/Bag", "has", "()Z"),
            operation(Kind::Check, true)
        );
        assert_eq!(
            table.lookup("java/util/Map", "put", ""),
            operation(Kind::Put, false)
        );
        table.extend("check java.util.List remove").unwrap();
        let remove = table.lookup("java/util/List", "remove", "(I)Ljava/lang/Object;");
        assert_eq!(remove, operation(Kind::Check, false));
        for (text, what) in [
            ("quite Map get", "\"quite\" is no kind"),
            ("check", "a class is missing"),
            (
                "check Nobody get",
                "\"Nobody\" is no group, and no class with its package",
            ),
            ("check Map", "no method is given"),
            ("class", "a group needs a name"),
        ] {
            let error = table.extend(&format!("\n{text}")).unwrap_err();
            assert_eq!((error.line, error.what.as_str()), (2, what));
        }
    }
}
