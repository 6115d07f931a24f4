//! Sites: where in the program a probe stands, and what it stands for.

use std::sync::Arc;

/// What a probe at a site reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SiteKind {
    FieldRead,
    FieldWrite,
    StaticRead,
    StaticWrite,
    ElemRead,
    ElemWrite,
    ArrayCopy,
    ArrayClone,
    /// A call of an Unsafe method on (object, offset).
    Unsafe,
    /// A signature-polymorphic call of a VarHandle.
    VarHandle,
    /// A fence behind which reads stay. A full fence has a site of each kind.
    FenceAcquire,
    /// A fence before which writes stay.
    FenceRelease,
    /// monitorenter.
    Enter,
    /// monitorexit, or the normal end of a synchronized method.
    Exit,
    /// The start of a synchronized method, and its end by an exception.
    SyncMethod,
    /// A class initialiser.
    Init,
    NewObject,
    NewArray,
    /// A constructor of a class with a finaliser, or that finaliser.
    Finalizer,
    /// The end of a constructor of a class that may have inherited one.
    Constructed,
    /// The end of a constructor of a class whose final fields are frozen there.
    Freeze,
    /// A hook of `models.rs`.
    Model,
    /// The start of a method whose control flow is recorded.
    Method,
    /// A method that says when a thread is in it.
    Frame,
    /// A tableswitch or lookupswitch of such a method.
    Switch,
    /// An exception handler of such a method.
    Handler,
    /// A call of the program into the JDK.
    Call,
}

impl SiteKind {
    /// Whether elements of arrays are accessed there.
    pub fn is_element(self) -> bool {
        matches!(
            self,
            SiteKind::ElemRead | SiteKind::ElemWrite | SiteKind::ArrayCopy | SiteKind::ArrayClone
        )
    }
}

/// A field or method as the class file names it: `class` may be a subclass of
/// the class that declares it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemberRef {
    /// Internal name, or descriptor of an array.
    pub class: String,
    pub name: String,
    pub desc: String,
}

/// One site. Its id is [`Request::first_site`](crate::Request) plus its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Name and descriptor of the method it is in.
    pub method: Arc<str>,
    pub desc: Arc<str>,
    /// Offset in the original bytecode.
    pub bci: u16,
    pub line: Option<u16>,
    pub kind: SiteKind,
    /// The field accessed, the method called, or the field that a lock was
    /// read from.
    pub target: Option<Arc<MemberRef>>,
    /// For a field declared in this class: is it volatile? Of other classes'
    /// fields that is unknown when a class is loaded.
    pub volatile: Option<bool>,
    /// Data accesses here are to be checked, not only ordered.
    pub checked: bool,
    /// For array sites: where the array came from, in words. For locks: `this`,
    /// `static` or `field` (then `target` has it), or `class` and its name.
    pub array_from: Option<String>,
    /// For copies of arrays: the same of the destination.
    pub array_to: Option<String>,
    /// For elements: the array's type as far as the code tells, a descriptor.
    pub array_type: Option<String>,
    /// For calls into the JDK: fields from which the receiver and the arguments come.
    pub holders: Box<[Holder]>,
}

/// A field that holds what a call is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Holder {
    pub field: Arc<MemberRef>,
    pub is_static: bool,
}

impl Site {
    /// What it is about, for people: `Bank.total`, `Bank.table[]` for elements, `this Bank` or
    /// `Bank.class` for a lock, `ReentrantLock.lock()` for a call or a modelled method; empty if
    /// that is not known. `class`: the internal name of the class it is in.
    pub fn label(&self, class: &str) -> String {
        let member = { self.target.as_deref() }
            .map(|member| format!("{}.{}", simple(&member.class), member.name));
        let known = match (self.kind, self.array_from.as_deref()) {
            (SiteKind::Model, _) => Some(format!("{}.{}()", simple(class), self.method)),
            (SiteKind::Call, _) => member.map(|method| method + "()"),
            (kind, Some(from)) if kind.is_element() => Some(match from.split_once(' ') {
                // `local a`, `parameter a`.
                Some((_, variable)) => format!("{variable}[]"),
                None => simple_member(from) + "[]",
            }),
            (SiteKind::Enter | SiteKind::SyncMethod, Some("this")) => {
                Some(format!("this {}", simple(class)))
            }
            (SiteKind::Enter | SiteKind::SyncMethod, Some(from)) => {
                let locked = from.strip_prefix("class ");
                locked.map(|class| simple(class) + ".class").or(member)
            }
            _ => member,
        };
        known.unwrap_or_default()
    }

    /// Where the array came from that an access here reads, or writes.
    pub fn array(&self, write: bool) -> Option<&str> {
        match self.kind {
            SiteKind::ArrayCopy if write => self.array_to.as_deref(),
            _ => self.array_from.as_deref(),
        }
    }
}

/// `com/shop/Bank$Vault` or `com.shop.Bank$Vault` as `Bank.Vault`.
fn simple(class: &str) -> String {
    let name = class.rsplit(['/', '.']).next().unwrap_or(class);
    name.replace('$', ".")
}

/// `com.shop.Bank$Vault.coins` as `Bank.Vault.coins`.
fn simple_member(field: &str) -> String {
    match field.rsplit_once('.') {
        Some((class, name)) => format!("{}.{name}", simple(class)),
        None => field.to_owned(),
    }
}

/// A declared field, and the fields added beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldInfo {
    pub name: String,
    pub desc: String,
    /// As rewritten: some plain fields become volatile, see `models.rs`.
    pub access: u16,
    pub shadow: Shadow,
}

/// Which fields were added for a field. Names by [`shadow_name`](crate::shadow_name).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shadow {
    /// None.
    None,
    /// A write and a read epoch.
    Data,
    /// An object that stands for the volatile.
    Volatile,
}

/// A method that was left as it was, or given fewer probes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Name and descriptor.
    pub method: String,
    pub why: String,
    /// Its ordering probes are there, only the data accesses are not seen.
    pub data_only: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(kind: SiteKind, target: Option<(&str, &str)>, from: Option<&str>) -> String {
        let member = |(class, name): (&str, &str)| MemberRef {
            class: class.to_owned(),
            name: name.to_owned(),
            desc: String::new(),
        };
        let site = Site {
            method: "deposit".into(),
            desc: "()V".into(),
            bci: 0,
            line: None,
            kind,
            target: target.map(member).map(Arc::new),
            volatile: None,
            checked: true,
            array_from: from.map(str::to_owned),
            array_to: None,
            array_type: None,
            holders: Box::default(),
        };
        site.label("com/shop/Bank$Vault")
    }

    #[test]
    fn labels_are_names_of_the_program() {
        use SiteKind::{Call, ElemRead, Enter, Exit, FieldWrite, Model, SyncMethod};
        let total = Some(("com/shop/Bank", "total"));
        assert_eq!(label(FieldWrite, total, None), "Bank.total");
        assert_eq!(
            label(ElemRead, None, Some("com.shop.Bank.table")),
            "Bank.table[]"
        );
        assert_eq!(label(ElemRead, None, Some("local row")), "row[]");
        assert_eq!(label(ElemRead, None, None), "");
        assert_eq!(label(SyncMethod, None, Some("this")), "this Bank.Vault");
        assert_eq!(
            label(Enter, None, Some("class com.shop.Bank")),
            "Bank.class"
        );
        assert_eq!(label(Enter, total, Some("field")), "Bank.total");
        assert_eq!(label(Exit, None, None), "");
        let lock = Some(("java/util/concurrent/locks/ReentrantLock", "lock"));
        assert_eq!(label(Call, lock, None), "ReentrantLock.lock()");
        assert_eq!(label(Model, None, None), "Bank.Vault.deposit()");
    }
}
