//! Names that are the same in all runs, for what the numbers of one trace mean.
//!
//! A statement is a line of a method: what is suggested is suggested for lines.
//! A field is itself; an array is known by the field, or the place, that it came
//! from, a lock by how the code that takes it gets hold of it.

use crate::offline;
use crate::owners::Owners;
use advise::{Name, Variable};
use encoding::names::dotted;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use trace::tables::{Member, Site, SiteKind};
use trace::{Event, Loc, LockId, ObjId, Op, SiteId, Tables, ThreadId};

const ACC_STATIC: u16 = 0x0008;

/// A line of a method; classes by their internal names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Statement {
    pub class: String,
    pub method: String,
    pub desc: String,
    pub file: Option<String>,
    /// Its bytecode index, if the class file has no lines.
    pub line: u32,
    pub has_line: bool,
}

impl Statement {
    /// Class, name and descriptor.
    pub fn whole_method(&self) -> (&str, &str, &str) {
        (&self.class, &self.method, &self.desc)
    }
}

/// How code gets hold of a lock.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Held {
    /// `this`, in a method of this class.
    This(String),
    Static(Field),
    Field(Field),
    Class(String),
    /// Nobody can tell; in words.
    Other(String),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Field {
    pub class: String,
    pub name: String,
    pub desc: String,
    pub is_static: bool,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Thing {
    Field(Field),
    /// In words.
    Array(String),
    Lock(Held),
    Thread(String),
    Object(String),
}

/// All names so far.
#[derive(Debug, Default)]
pub struct StableNames {
    pub(super) owners: Owners,
    things: Vec<Thing>,
    numbers: FxHashMap<Thing, Name>,
    statements: Vec<Statement>,
    lines: FxHashMap<Statement, u32>,
    /// Statements that access elements of an array, by its name.
    elements: FxHashMap<Name, BTreeSet<u32>>,
    /// Statements with racing accesses to a field.
    racing: FxHashMap<Name, BTreeSet<u32>>,
    /// Racing accesses to a field without any lock: the statement, and the index of
    /// the bytecode.
    bare: FxHashMap<Name, BTreeSet<(u32, u32)>>,
    /// Statements with racing accesses to a field that had a lock.
    locked: FxHashMap<Name, BTreeSet<u32>>,
    /// Methods that are synchronized already: class, name and descriptor.
    synchronized: BTreeSet<(String, String, String)>,
}

impl StableNames {
    fn name(&mut self, thing: Thing) -> Name {
        if let Some(known) = self.numbers.get(&thing) {
            return *known;
        }
        let number = self.things.len() as Name;
        self.things.push(thing.clone());
        self.numbers.insert(thing, number);
        number
    }

    pub fn thing(&self, name: Name) -> Option<&Thing> {
        self.things.get(usize::try_from(name).ok()?)
    }

    /// The number of a line; 0 is no statement.
    fn line(&mut self, site: &Site) -> u32 {
        let statement = Statement {
            class: site.class.to_string(),
            method: site.method.to_string(),
            desc: site.desc.to_string(),
            file: site.file.as_ref().map(|f| f.to_string()),
            line: site.line.unwrap_or(site.bci),
            has_line: site.line.is_some(),
        };
        if let Some(known) = self.lines.get(&statement) {
            return *known;
        }
        self.statements.push(statement.clone());
        let number = self.statements.len() as u32;
        self.lines.insert(statement, number);
        number
    }

    pub fn statement(&self, number: u32) -> Option<&Statement> {
        self.statements.get((number as usize).checked_sub(1)?)
    }

    /// The source file of a class, by its dotted name, if some statement of it
    /// was seen.
    pub fn file_of(&self, class: &str) -> Option<String> {
        let of = self.statements.iter().find(|s| dotted(&s.class) == class);
        of?.file.clone()
    }

    /// A racing access of a field; `bare` is the index of its bytecode, if no lock
    /// was held.
    pub fn races(&mut self, variable: Variable, statement: u32, bare: Option<u32>) {
        if let Variable::Field(name) = variable {
            self.racing.entry(name).or_default().insert(statement);
            match bare {
                Some(code) => self.bare.entry(name).or_default().insert((statement, code)),
                None => self.locked.entry(name).or_default().insert(statement),
            };
        }
    }

    /// The methods with racing accesses to a field that are not synchronized: a
    /// statement of each.
    pub fn methods(&self, field: Name) -> Vec<&Statement> {
        let all = self.racing.get(&field).into_iter().flatten();
        let mut one: Vec<&Statement> = all.filter_map(|n| self.statement(*n)).collect();
        let is_synchronized = |s: &Statement| {
            let (class, method, desc) = s.whole_method();
            let method = (class.to_owned(), method.to_owned(), desc.to_owned());
            self.synchronized.contains(&method)
        };
        one.retain(|s| !is_synchronized(s));
        one.sort();
        one.dedup_by_key(|s| s.whole_method());
        one
    }

    /// Why accesses to a field may have to stay together, or apart, which a volatile
    /// field does not see to.
    pub fn wants_lock(&self, variable: Variable) -> Option<String> {
        if let Some(method) = self.several_places(variable) {
            let text = "accesses the field in several places, which this does not keep together";
            return Some(format!("{method} {text}"));
        }
        let method = self.locks(variable)?;
        Some(format!("{method} takes a lock to access the field"))
    }

    /// A method that accesses the field under a lock, while others do without.
    fn locks(&self, variable: Variable) -> Option<String> {
        let Variable::Field(name) = variable else {
            return None;
        };
        let method = |n: &u32| self.statement(*n).map(Statement::whole_method);
        let bare = self.bare.get(&name)?.iter();
        let bare: BTreeSet<_> = bare.filter_map(|(n, _)| method(n)).collect();
        let mut locked = self.locked.get(&name)?.iter().filter_map(method);
        // A bare look before the lock is taken, in the same method, is a habit.
        let (class, method, _) = locked.find(|m| !bare.contains(m))?;
        Some(format!("{}.{method}", dotted(class)))
    }

    /// A method that accesses the field in several places without a lock. In one call,
    /// what it saw at the first may be another's by the second; whether a call comes to
    /// both, a recording does not say.
    fn several_places(&self, variable: Variable) -> Option<String> {
        let Variable::Field(name) = variable else {
            return None;
        };
        let mut times: BTreeMap<(&str, &str, &str), BTreeSet<u32>> = BTreeMap::new();
        for (statement, code) in self.bare.get(&name)? {
            let of = self.statement(*statement)?.whole_method();
            times.entry(of).or_default().insert(*code);
        }
        let mut all = times.into_iter().filter(|(_, codes)| codes.len() > 1);
        let ((class, method, _), _) = all.next()?;
        Some(format!("{}.{method}", dotted(class)))
    }

    /// The statements that are known to access an array's elements.
    pub fn elements(&self, array: Name) -> impl Iterator<Item = &Statement> {
        let all = self.elements.get(&array).into_iter().flatten();
        all.filter_map(|n| self.statement(*n))
    }
}

/// What the numbers of one trace mean.
#[derive(Debug, Default)]
pub struct OfTrace {
    fields: FxHashMap<u32, Name>,
    arrays: FxHashMap<ObjId, Name>,
    locks: FxHashMap<ObjId, Name>,
    threads: FxHashMap<ThreadId, Name>,
    objects: FxHashMap<ObjId, Name>,
    /// For what nobody has a name for.
    unknown: Name,
}

impl OfTrace {
    /// Reads the tables as far as the events need them, and gives the events
    /// the sites of the book.
    pub fn read(book: &mut StableNames, tables: &Tables, events: &mut [Event]) -> OfTrace {
        book.owners.add(tables);
        let mut of = OfTrace {
            unknown: book.name(Thing::Object("something".into())),
            ..OfTrace::default()
        };
        let mut lines: FxHashMap<SiteId, u32> = FxHashMap::default();
        for event in events {
            let site = tables.sites.get(&event.site);
            let line = match site {
                Some(row) => *lines.entry(event.site).or_insert_with(|| book.line(row)),
                None => 0,
            };
            of.see(book, tables, event, site, line);
            event.site = SiteId(line);
        }
        of
    }

    fn see(
        &mut self,
        book: &mut StableNames,
        tables: &Tables,
        event: &Event,
        site: Option<&Site>,
        line: u32,
    ) {
        match event.op {
            Op::Read(loc) | Op::Write(loc) => self.location(book, tables, loc, site, line),
            Op::AtomicRead(loc, _) | Op::AtomicWrite(loc, _) | Op::AtomicUpdate(loc, _) => {
                self.location(book, tables, loc, site, line);
            }
            Op::Acquire(lock) | Op::WaitEnd { lock, .. } | Op::AcquireShared(lock) => {
                if let Some(site) = site.filter(|s| s.kind == SiteKind::SyncMethod) {
                    let names = [&site.class, &site.method, &site.desc];
                    let [class, method, desc] = names.map(|name| name.to_string());
                    book.synchronized.insert((class, method, desc));
                }
                self.lock(book, tables, lock, site);
            }
            Op::SyncAcquire(object) | Op::SyncRelease(object) => {
                self.objects.entry(object).or_insert_with(|| {
                    let class = tables.objects.get(&object);
                    let class = class.map_or("an object", |o| &o.class);
                    book.name(Thing::Object(dotted(class)))
                });
            }
            Op::Join(thread) => {
                self.threads.entry(thread).or_insert_with(|| {
                    let name = offline::thread_name(tables, thread);
                    book.name(Thing::Thread(name))
                });
            }
            _ => {}
        }
    }

    fn location(
        &mut self,
        book: &mut StableNames,
        tables: &Tables,
        loc: Loc,
        site: Option<&Site>,
        line: u32,
    ) {
        let object = tables.objects.get(&loc.obj);
        let is_array = self.arrays.contains_key(&loc.obj)
            || object.is_some_and(|o| o.class.starts_with('['))
            || site.is_some_and(|s| s.kind.is_element());
        if !is_array {
            self.fields.entry(loc.slot).or_insert_with(|| {
                let row = tables.fields.get(&loc.slot);
                let row = row.map(|f| Field {
                    class: f.class.to_string(),
                    name: f.name.to_string(),
                    desc: f.desc.to_string(),
                    is_static: f.flags & ACC_STATIC != 0,
                });
                match row.or_else(|| site.and_then(named_by)) {
                    Some(field) => book.name(Thing::Field(field)),
                    None => self.unknown,
                }
            });
            return;
        }
        let name = match self.arrays.get(&loc.obj) {
            Some(name) => *name,
            None => {
                let name = book.name(Thing::Array(array(tables, loc, site)));
                self.arrays.insert(loc.obj, name);
                name
            }
        };
        book.elements.entry(name).or_default().insert(line);
    }

    fn lock(&mut self, book: &mut StableNames, tables: &Tables, lock: LockId, site: Option<&Site>) {
        let known = self.locks.get(&lock.0).and_then(|n| book.thing(*n));
        if known.is_some_and(|t| !matches!(t, Thing::Lock(Held::Other(_)))) {
            return;
        }
        let held = site.and_then(held_by).unwrap_or_else(|| {
            let class = tables.objects.get(&lock.0).map(|o| dotted(&o.class));
            Held::Other(class.unwrap_or_else(|| "a lock".into()))
        });
        let name = book.name(Thing::Lock(held));
        self.locks.insert(lock.0, name);
    }
}

/// The field that an access names.
fn named_by(site: &Site) -> Option<Field> {
    let target = site.target.as_ref()?;
    Some(Field {
        is_static: matches!(site.kind, SiteKind::StaticRead | SiteKind::StaticWrite),
        ..field(target)
    })
}

fn field(member: &Member) -> Field {
    Field {
        class: member.class.to_string(),
        name: member.name.to_string(),
        desc: member.desc.to_string(),
        is_static: false,
    }
}

/// An array, in words.
fn array(tables: &Tables, loc: Loc, site: Option<&Site>) -> String {
    let from = site.and_then(|s| s.array_from.as_ref());
    let object = tables.objects.get(&loc.obj);
    let made = object.and_then(|o| tables.sites.get(&o.site));
    match (from, made) {
        (Some(from), _) if !from.contains(' ') => dotted(from),
        (_, Some(made)) => format!(
            "the array made at {}:{}",
            made.file.as_deref().unwrap_or(&made.class),
            made.line.unwrap_or(made.bci)
        ),
        (Some(from), None) => format!("the array in {from}"),
        (None, None) => "an array".to_owned(),
    }
}

/// How the code at a site gets hold of the lock that it takes.
fn held_by(site: &Site) -> Option<Held> {
    if !matches!(site.kind, SiteKind::MonitorEnter | SiteKind::SyncMethod) {
        return None;
    }
    let from = site.array_from.as_deref()?;
    match (from, site.target.as_ref()) {
        ("this", _) => Some(Held::This(site.class.to_string())),
        ("static", Some(member)) => Some(Held::Static(Field {
            is_static: true,
            ..field(member)
        })),
        ("field", Some(member)) => Some(Held::Field(field(member))),
        _ => {
            let class = from.strip_prefix("class ")?;
            Some(Held::Class(class.replace('.', "/")))
        }
    }
}

impl advise::Names for OfTrace {
    fn variable(&self, loc: Loc) -> Variable {
        match self.arrays.get(&loc.obj) {
            Some(name) => Variable::Array(*name),
            None => Variable::Field(*self.fields.get(&loc.slot).unwrap_or(&self.unknown)),
        }
    }

    fn lock(&self, lock: LockId) -> Name {
        *self.locks.get(&lock.0).unwrap_or(&self.unknown)
    }

    fn thread(&self, thread: ThreadId) -> Name {
        *self.threads.get(&thread).unwrap_or(&self.unknown)
    }

    fn object(&self, object: ObjId) -> Name {
        *self.objects.get(&object).unwrap_or(&self.unknown)
    }
}

impl advise::Words for StableNames {
    fn variable(&self, variable: Variable) -> String {
        let (Variable::Field(name) | Variable::Array(name)) = variable;
        match self.thing(name) {
            Some(Thing::Field(field)) => words(field),
            Some(Thing::Array(what)) => what.clone(),
            _ => "a variable".into(),
        }
    }

    fn methods(&self, variable: Variable) -> String {
        let (Variable::Field(name) | Variable::Array(name)) = variable;
        let all = self.methods(name).into_iter();
        let all: Vec<String> = all
            .map(|s| format!("{}.{}", dotted(&s.class), s.method))
            .collect();
        match all.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => "its methods".into(),
        }
    }

    fn lock(&self, lock: Name) -> String {
        match self.thing(lock) {
            Some(Thing::Lock(Held::This(class))) => {
                format!("the {} (this)", dotted(class))
            }
            Some(Thing::Lock(Held::Static(field) | Held::Field(field))) => words(field),
            Some(Thing::Lock(Held::Class(class))) => format!("{}.class", dotted(class)),
            Some(Thing::Lock(Held::Other(what))) => format!("the lock ({what})"),
            _ => "a lock".into(),
        }
    }

    fn thread(&self, thread: Name) -> String {
        match self.thing(thread) {
            Some(Thing::Thread(name)) => format!("thread {name}"),
            _ => "a thread".into(),
        }
    }

    fn object(&self, object: Name) -> String {
        match self.thing(object) {
            Some(Thing::Object(what)) => what.clone(),
            _ => "an object".into(),
        }
    }

    fn elsewhere(&self, statement: u32, than: u32) -> Option<String> {
        let of = |site: u32| StableNames::statement(self, site);
        let (of, than) = (of(statement)?, of(than)?);
        (of.whole_method() != than.whole_method())
            .then(|| format!("{}.{}", dotted(&of.class), of.method))
    }

    fn statement(&self, site: u32) -> String {
        match self.statement(site) {
            Some(s) if s.has_line => {
                let file = s.file.as_deref().unwrap_or(&s.class);
                format!("{file}:{}", s.line)
            }
            Some(s) => format!("{}.{} at bytecode {}", dotted(&s.class), s.method, s.line),
            None => "a statement".into(),
        }
    }
}

fn words(field: &Field) -> String {
    format!("{}.{}", dotted(&field.class), field.name)
}
