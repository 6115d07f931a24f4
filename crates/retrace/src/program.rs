//! The program as the trace has it: methods whose control flow was recorded,
//! their class files, and which statement of which method a site is.

use crate::body::{Above, Body, Fields, Known};
use crate::operations::Operations;
use crate::purity::Table;
use classfile::{ClassFile, acc, is_jdk_name};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;
use trace::tables::{Class, SiteKind};
use trace::{ObjId, Tables};

/// A method that can be followed.
#[derive(Debug)]
pub(crate) struct Method<'a> {
    pub name: &'a str,
    pub desc: &'a str,
    /// The site of its start.
    pub site: u32,
    /// Of the JDK's.
    pub jdk: bool,
    class: u32,
    body: Option<Option<Rc<Body>>>,
}

/// Where in which method a site is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub method: u32,
    pub pc: u32,
    pub kind: SiteKind,
}

#[derive(Debug)]
pub(crate) struct Program<'a> {
    pub methods: Vec<Method<'a>>,
    places: FxHashMap<u32, Place>,
    classes: FxHashMap<u32, ClassFile<'a>>,
    /// What the classes that are followed inherit.
    above: Above,
    fields: Fields,
    kinds: FxHashMap<u32, SiteKind>,
    purity: &'a Table,
    pub tables: &'a Tables,
    /// Methods whose calls are single steps.
    pub operations: Option<&'a Operations>,
    /// Objects that threads wait for: what is done to them is no single step.
    pub waited: FxHashSet<ObjId>,
}

impl<'a> Program<'a> {
    pub fn new(
        tables: &'a Tables,
        files: &'a BTreeMap<u32, Vec<u8>>,
        purity: &'a Table,
    ) -> Program<'a> {
        let mut program = Program {
            methods: Vec::with_capacity(tables.methods.len()),
            places: FxHashMap::default(),
            classes: FxHashMap::default(),
            above: Above::default(),
            fields: Fields::default(),
            kinds: FxHashMap::default(),
            purity,
            tables,
            operations: None,
            waited: FxHashSet::default(),
        };
        for (number, bytes) in files {
            if let Ok(class) = ClassFile::parse(bytes) {
                if let Some(above) = class.super_name() {
                    let declared = class.methods.iter().map(|m| {
                        let (name, desc) = (class.member_name(m), class.member_desc(m));
                        format!("{name}{desc}")
                    });
                    let declared = declared.collect();
                    let row = (above.into_owned(), declared);
                    program.above.insert(class.name().into_owned(), row);
                }
                program.classes.insert(*number, class);
            }
        }
        for (slot, field) in &tables.fields {
            let key = (field.name.to_string(), field.desc.to_string());
            let row = program.fields.entry(key).or_default();
            row.0.push(*slot);
            row.1 |= field.flags & acc::VOLATILE != 0;
        }
        // A method's sites follow the one of its start.
        let mut current: Option<(u32, &trace::tables::Site)> = None;
        for (id, site) in &tables.sites {
            program.kinds.insert(id.0, site.kind);
            if site.kind == SiteKind::Method {
                current = tables.methods.get(&id.0).map(|row| {
                    program.methods.push(Method {
                        name: &row.name,
                        desc: &row.desc,
                        site: id.0,
                        jdk: is_jdks(tables, row.class, &site.class),
                        class: row.class,
                        body: None,
                    });
                    (program.methods.len() as u32 - 1, site)
                });
            }
            let Some((method, start)) = current else {
                continue;
            };
            let same =
                start.class == site.class && start.method == site.method && start.desc == site.desc;
            if same {
                let place = Place {
                    method,
                    pc: site.bci,
                    kind: site.kind,
                };
                program.places.insert(id.0, place);
            } else {
                current = None;
            }
        }
        program
    }

    pub fn place(&self, site: u32) -> Option<Place> {
        self.places.get(&site).copied()
    }

    pub fn kind(&self, site: u32) -> Option<SiteKind> {
        self.kinds.get(&site).copied()
    }

    /// The method's code; `None` if the trace does not have it, or it makes no
    /// sense.
    pub fn body(&mut self, method: u32) -> Option<Rc<Body>> {
        let row = self.methods.get_mut(method as usize)?;
        if row.body.is_none() {
            let class = self.classes.get(&row.class);
            let body = class.and_then(|class| {
                let index = class.method_index(row.name, row.desc)?;
                let known = Known {
                    purity: self.purity,
                    above: &self.above,
                    fields: &self.fields,
                };
                Body::decode(class, index, known)
            });
            row.body = Some(body.map(Rc::new));
        }
        row.body.clone().flatten()
    }
}

/// Whether a class is the JDK's: its loader says so, or else its name.
fn is_jdks(tables: &Tables, class: u32, name: &str) -> bool {
    match tables.classes.get(&class).map(|class| class.loader) {
        Some(Class::JDK) => true,
        Some(Class::PROGRAM) => false,
        _ => is_jdk_name(name),
    }
}
