//! Whose the classes of a recording are. The agent knows the loader of each class
//! with statements and writes it into the trace; for all others, and for traces of
//! older versions, the package decides.

use classfile::is_jdk_name;
use protocol::finding::told_owner;
use std::collections::BTreeMap;
use trace::Tables;
use trace::tables::Class;

#[derive(Clone, Debug, Default)]
pub(crate) struct Owners(BTreeMap<String, bool>);

impl Owners {
    pub fn new(tables: &Tables) -> Owners {
        let mut owners = Owners::default();
        owners.add(tables);
        owners
    }

    /// Of another recording too. A name that both have is the JDK's.
    pub fn add(&mut self, tables: &Tables) {
        for class in tables.classes.values() {
            let is_jdk = match class.loader {
                Class::JDK => true,
                Class::PROGRAM => false,
                _ => continue,
            };
            let known = self.0.entry(class.name.to_string()).or_insert(is_jdk);
            *known |= is_jdk;
        }
    }

    /// By internal name.
    pub fn is_jdk(&self, class: &str) -> bool {
        let known = self.0.get(class).copied();
        known.unwrap_or_else(|| is_jdk_name(class))
    }

    /// As reports have it.
    pub fn told(&self, class: &str) -> Option<bool> {
        told_owner(class, self.is_jdk(class))
    }
}
