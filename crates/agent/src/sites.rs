//! Every statement with a probe: numbers, names, and what the bridge needs to
//! know of each (the table in shared memory).

use crate::contexts::{self, Contexts};
use crate::memory::SiteTable;
use crate::stacks::Frame;
use contract::site::{CHECKED, FINALIZER};
use instrument::{Site, SiteKind};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, RwLock};

/// The sites of one class, numbered on from `first`.
#[derive(Debug)]
pub struct ClassSites {
    pub class: Arc<str>,
    pub file: Option<Arc<str>>,
    /// Digest of the class file as it was, when recording: a later stage that
    /// has the class files can tell whether they are the same.
    pub digest: Vec<u8>,
    pub is_jdk: bool,
    pub first: u32,
    /// The class file as it was, until the recorder has written it down; only
    /// when it is needed.
    pub bytes: Mutex<Option<Vec<u8>>>,
    pub sites: Vec<Site>,
}

#[derive(Debug)]
pub struct Sites {
    pub table: SiteTable,
    pub contexts: Contexts,
    classes: RwLock<Vec<Arc<ClassSites>>>,
}

impl Sites {
    pub fn new() -> Sites {
        Sites {
            table: SiteTable::new(),
            contexts: Contexts::default(),
            classes: RwLock::new(Vec::new()),
        }
    }

    /// Runs `rewrite` with the next free number and keeps the sites it
    /// returns. None if the numbers have run out.
    pub fn add<T>(&self, rewrite: impl FnOnce(u32) -> (T, Option<ClassSites>)) -> Option<T> {
        let mut classes = self.classes.write().unwrap_or_else(|e| e.into_inner());
        let first = classes.last().map_or(1, |c| c.first + c.sites.len() as u32);
        let (result, added) = rewrite(first);
        let Some(added) = added else {
            return Some(result);
        };
        if first as usize + added.sites.len() > contexts::FIRST as usize {
            return None;
        }
        for (i, site) in added.sites.iter().enumerate() {
            // Of these the bridge asks nothing but this.
            let mark = match site.kind {
                SiteKind::Unsafe | SiteKind::VarHandle if site.checked => CHECKED,
                SiteKind::Finalizer => FINALIZER,
                _ => continue,
            };
            self.table.set(first + i as u32, [mark, 0, 0]);
        }
        classes.push(Arc::new(added));
        Some(result)
    }

    pub fn count(&self) -> usize {
        let classes = self.classes.read().unwrap_or_else(|e| e.into_inner());
        classes
            .last()
            .map_or(0, |c| c.first as usize + c.sites.len() - 1)
    }

    /// The statement of this number, in whatever call.
    pub fn with<T>(&self, site: u32, f: impl FnOnce(&ClassSites, &Site) -> T) -> Option<T> {
        let site = self.contexts.context(site).statement;
        let class = {
            let classes = self.classes.read().unwrap_or_else(|e| e.into_inner());
            let at = classes.partition_point(|c| c.first <= site);
            classes.get(at.checked_sub(1)?)?.clone()
        };
        let found = class.sites.get((site - class.first) as usize)?;
        Some(f(&class, found))
    }

    /// Whether the statement is in a class whose name begins so.
    pub fn is_in(&self, site: u32, package: &str) -> bool {
        let found = self.with(site, |class, _| class.class.starts_with(package));
        found.unwrap_or(false)
    }

    /// Whether the statement is the JDK's.
    pub fn is_jdk(&self, site: u32) -> bool {
        self.with(site, |class, _| class.is_jdk).unwrap_or(false)
    }

    /// Classes from number `from` on, for the recorder's tables.
    pub fn classes_from(&self, from: usize) -> Vec<Arc<ClassSites>> {
        let classes = self.classes.read().unwrap_or_else(|e| e.into_inner());
        classes.get(from..).unwrap_or_default().to_vec()
    }

    pub fn frame(&self, site: u32) -> Option<Frame> {
        self.with(site, |class, s| Frame {
            class: encoding::names::dotted(&class.class).into(),
            method: s.method.clone(),
            desc: Some(s.desc.clone()),
            file: class.file.clone(),
            line: s.line.map(u32::from),
            bci: Some(u32::from(s.bci)),
        })
    }
}

/// Arrays that events name: type and allocation site. When recording they go
/// into the trace and are forgotten; a detector needs them to the end.
#[derive(Default, Debug)]
pub struct Arrays {
    rows: FxHashMap<u64, (Arc<str>, u32)>,
}

impl Arrays {
    pub fn add(&mut self, id: u64, class: Arc<str>, site: u32) {
        self.rows.insert(id, (class, site));
    }

    pub fn get(&self, id: u64) -> Option<(&str, u32)> {
        self.rows.get(&id).map(|(class, site)| (&**class, *site))
    }

    pub fn take(&mut self) -> impl Iterator<Item = (u64, (Arc<str>, u32))> + use<> {
        std::mem::take(&mut self.rows).into_iter()
    }
}
