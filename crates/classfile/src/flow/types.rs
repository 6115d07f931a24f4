//! Abstract values, and how they merge.

use rustc_hash::FxHashMap;

/// A slot as far as the analysis knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value {
    pub kind: Kind,
    pub origin: Origin,
}

/// What a slot holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Unknown or unusable; also the second slot of a long or double.
    Top,
    Int,
    Float,
    Long,
    Double,
    Null,
    /// A reference; [`Flow::type_name`](super::Flow::type_name) tells its type.
    Ref(TypeId),
    /// Fresh from the `new` at this pc, not yet initialised.
    Uninit(u32),
    /// `this` in a constructor, before `super(..)` or `this(..)`.
    UninitThis,
    /// Pushed by a `jsr` to the subroutine at this pc.
    ReturnAddress(u32),
}

/// Where a value comes from. Copying (loads, stores, dup, swap) and casts do
/// not change it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Several places, or none that can be named.
    Unknown,
    /// The parameter that arrived in this local (0 is `this` where there is one).
    Param(u16),
    /// The instruction at this pc made it.
    Insn(u32),
}

/// Names a class or array type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeId {
    /// Index into [`Types::bases`].
    base: u32,
    dims: u8,
}

impl Value {
    pub(super) const TOP: Value = Value {
        kind: Kind::Top,
        origin: Origin::Unknown,
    };

    /// What is true of both. `None` if that is this value already.
    fn merged(self, other: Value) -> Option<Value> {
        if self == other || self == Value::TOP {
            return None;
        }
        let kind = match (self.kind, other.kind) {
            (a, b) if a == b => a,
            (Kind::Null, Kind::Ref(t)) | (Kind::Ref(t), Kind::Null) => Kind::Ref(t),
            (Kind::Ref(_), Kind::Ref(_)) => Kind::Ref(TypeId::OBJECT),
            _ => return Some(Value::TOP),
        };
        let origin = if self.origin == other.origin {
            self.origin
        } else {
            Origin::Unknown
        };
        let value = Value { kind, origin };
        (value != self).then_some(value)
    }
}

/// Locals and stack at one point. A long or double takes two slots, the second
/// of them [`Kind::Top`].
#[derive(Debug, Default, PartialEq, Eq)]
pub struct State {
    pub locals: Vec<Value>,
    pub stack: Vec<Value>,
}

impl Clone for State {
    fn clone(&self) -> State {
        State {
            locals: self.locals.clone(),
            stack: self.stack.clone(),
        }
    }

    // Not derived: one state is reused for every block.
    fn clone_from(&mut self, source: &State) {
        self.locals.clone_from(&source.locals);
        self.stack.clone_from(&source.stack);
    }
}

impl State {
    /// The slot `depth` below the top of the stack; 0 is the top.
    pub fn peek(&self, depth: u16) -> Option<Value> {
        let index = self.stack.len().checked_sub(usize::from(depth) + 1)?;
        self.stack.get(index).copied()
    }

    /// Takes another way to the same place into account; whether that changed
    /// anything. `None` if the depths differ.
    pub(super) fn merge(&mut self, other: &State) -> Option<bool> {
        if self.stack.len() != other.stack.len() {
            return None;
        }
        let mut grew = false;
        let mine = self.locals.iter_mut().chain(&mut self.stack);
        for (a, &b) in mine.zip(other.locals.iter().chain(&other.stack)) {
            if let Some(value) = a.merged(b) {
                *a = value;
                grew = true;
            }
        }
        Some(grew)
    }
}

/// The types that a method names.
#[derive(Debug)]
pub(super) struct Types {
    /// Element type of each; whether it is primitive.
    bases: Vec<(String, bool)>,
    known: FxHashMap<String, u32>,
}

impl TypeId {
    pub(super) const OBJECT: TypeId = TypeId { base: 0, dims: 0 };

    /// The type of an array's elements, if they are references.
    pub(super) fn component(self) -> TypeId {
        match self.dims.checked_sub(1) {
            Some(dims) => TypeId { dims, ..self },
            None => TypeId::OBJECT,
        }
    }
}

impl Types {
    pub fn new(this: &str) -> Types {
        let mut types = Types {
            bases: Vec::new(),
            known: FxHashMap::default(),
        };
        types.class("java/lang/Object");
        types.bases.push((this.to_owned(), false));
        types
    }

    /// The class under analysis.
    pub fn this(&self) -> TypeId {
        TypeId { base: 1, dims: 0 }
    }

    /// The type a `Class` constant names: internal name, or array descriptor.
    pub fn class(&mut self, name: &str) -> TypeId {
        if name.starts_with('[') {
            return self.array(name);
        }
        let base = match self.known.get(name) {
            Some(&base) => base,
            None => self.add(name, name, false),
        };
        TypeId { base, dims: 0 }
    }

    fn array(&mut self, desc: &str) -> TypeId {
        let element = desc.trim_start_matches('[');
        // A verifier allows 255; more is a broken name, and saturates.
        let dims = u8::try_from(desc.len() - element.len()).unwrap_or(u8::MAX);
        let class = element.strip_prefix('L').and_then(|e| e.strip_suffix(';'));
        let base = match class {
            Some(class) => self.class(class.trim_start_matches('[')).base,
            None => match self.known.get(element_key(element)) {
                Some(&base) => base,
                None => self.add(element_key(element), element, true),
            },
        };
        TypeId { base, dims }
    }

    fn add(&mut self, key: &str, name: &str, primitive: bool) -> u32 {
        let base = self.bases.len() as u32;
        self.bases.push((name.to_owned(), primitive));
        self.known.insert(key.to_owned(), base);
        base
    }

    /// What a value of a field descriptor is.
    pub fn kind_of(&mut self, desc: &str) -> Kind {
        match desc.as_bytes().first() {
            Some(b'J') => Kind::Long,
            Some(b'D') => Kind::Double,
            Some(b'F') => Kind::Float,
            Some(b'[') => Kind::Ref(self.array(desc)),
            Some(b'L') => {
                let name = desc.strip_prefix('L').and_then(|d| d.strip_suffix(';'));
                Kind::Ref(self.class(name.unwrap_or("java/lang/Object")))
            }
            _ => Kind::Int,
        }
    }

    pub fn name(&self, id: TypeId) -> String {
        let Some((base, primitive)) = self.bases.get(id.base as usize) else {
            return String::new();
        };
        let dims = "[".repeat(usize::from(id.dims));
        match (id.dims, primitive) {
            (0, _) => base.clone(),
            (_, true) => format!("{dims}{base}"),
            (_, false) => format!("{dims}L{base};"),
        }
    }
}

/// Primitive types share the table with classes; no class name has a dot.
fn element_key(element: &str) -> &str {
    match element {
        "Z" => "Z.",
        "B" => "B.",
        "C" => "C.",
        "S" => "S.",
        "I" => "I.",
        "J" => "J.",
        "F" => "F.",
        "D" => "D.",
        _ => "?.",
    }
}
