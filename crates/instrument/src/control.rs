//! What a controlled run wants to know: which statements are its targets, and
//! which classes get scheduling points.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::Level;
use crate::probes::{self, Probe};
use classfile::op;

/// A controlled run. Every class then gets what keeps threads from blocking
/// inside the JVM, and classes with points say what they are about to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// Data accesses that are scheduling points too.
    pub targets: Vec<Statement>,
    /// Only requests for locks are points: threads run freely otherwise.
    pub only_locks: bool,
    /// Methods (`class#method#descriptor`) that say when a thread is in them.
    pub frames: BTreeSet<String>,
    /// All schedules are explored: every access is checked by itself, and loops
    /// in which a thread may wait say so.
    pub explores: bool,
}

/// A statement of the program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Statement {
    /// One instruction.
    Exact {
        /// Internal name.
        class: String,
        method: String,
        desc: String,
        /// Offset in the original bytecode.
        bci: u16,
    },
    /// Every data access on a line.
    Line {
        /// As the class's SourceFile attribute has it.
        file: String,
        line: u16,
    },
    /// Every access to a field of this name: whose it is, is known only when it
    /// runs. In classes that have points.
    Field { name: String },
    /// Every access to elements of arrays, by the descriptor of what they hold,
    /// `L` for all references and `B` for booleans too. In classes that have
    /// points.
    Elements { of: char },
    /// As `Field`, and what was written before is kept: reads may see it.
    WeakField { name: String },
    /// As `Elements`, likewise.
    WeakElements { of: char },
}

/// What control means for one class.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClassControl {
    /// The run is controlled.
    pub(crate) on: bool,
    /// The class says what it is about to do.
    pub(crate) points: bool,
    only_locks: bool,
    /// Methods that say when a thread is in them: name and descriptor.
    frames: Vec<(Arc<str>, Arc<str>)>,
    pub(crate) explores: bool,
    instructions: Vec<(Arc<str>, Arc<str>, u16)>,
    /// Sorted.
    lines: Vec<u16>,
    fields: Vec<Arc<str>>,
    elements: Vec<char>,
    /// Of fields and elements, those whose reads may see older writes.
    weak_fields: Vec<Arc<str>>,
    weak_elements: Vec<char>,
}

/// Whether a class of this level says what it is about to do.
pub(crate) fn has_points(class: &str, level: Level) -> bool {
    level == Level::Full || level > Level::None && class.starts_with("java/util/")
}

impl ClassControl {
    pub(crate) fn new(
        control: Option<&Control>,
        class: &str,
        level: Level,
        source_file: impl FnOnce() -> Option<String>,
    ) -> ClassControl {
        let Some(control) = control else {
            return ClassControl::default();
        };
        let mut this = ClassControl {
            on: true,
            explores: control.explores,
            points: has_points(class, level),
            only_locks: control.only_locks,
            frames: frames(control, class),
            ..ClassControl::default()
        };
        let is_line = |s: &Statement| matches!(s, Statement::Line { .. });
        let source = match control.targets.iter().any(is_line) {
            true => source_file(),
            false => None,
        };
        for target in &control.targets {
            match target {
                Statement::Exact {
                    class: c,
                    method,
                    desc,
                    bci,
                } if c == class => {
                    let row = (method.as_str().into(), desc.as_str().into(), *bci);
                    this.instructions.push(row);
                }
                Statement::Line { file, line } if source.as_ref() == Some(file) => {
                    this.lines.push(*line);
                }
                Statement::Field { name } if this.points => {
                    this.fields.push(name.as_str().into());
                }
                Statement::Elements { of } if this.points => this.elements.push(*of),
                Statement::WeakField { name } if this.points => {
                    this.fields.push(name.as_str().into());
                    this.weak_fields.push(name.as_str().into());
                }
                Statement::WeakElements { of } if this.points => {
                    this.elements.push(*of);
                    this.weak_elements.push(*of);
                }
                _ => {}
            }
        }
        this.lines.sort_unstable();
        this
    }

    /// Atomic accesses and loops are points too.
    pub(crate) fn accesses(&self) -> bool {
        self.points && !self.only_locks
    }

    /// Whether the method says when a thread is in it.
    pub(crate) fn is_frame(&self, method: &str, desc: &str) -> bool {
        let mut frames = self.frames.iter();
        frames.any(|(m, d)| &**m == method && &**d == desc)
    }

    /// What is called before a monitor is entered.
    pub(crate) fn entering(&self) -> Probe {
        if self.points {
            probes::ENTERING
        } else {
            probes::ENTERING_QUIETLY
        }
    }

    pub(crate) fn has_targets(&self) -> bool {
        !self.instructions.is_empty()
            || !self.lines.is_empty()
            || !self.fields.is_empty()
            || !self.elements.is_empty()
    }

    /// Whether every access to fields of this name is a target.
    pub(crate) fn is_field(&self, name: &str) -> bool {
        self.fields.iter().any(|field| &**field == name)
    }

    /// Whether every access by this instruction, to an element, is a target.
    pub(crate) fn is_element(&self, opcode: u8) -> bool {
        self.elements.contains(&element_type(opcode))
    }

    /// Whether reads of fields of this name may see older writes.
    pub(crate) fn is_weak_field(&self, name: &str) -> bool {
        self.weak_fields.iter().any(|field| &**field == name)
    }

    /// The same of elements.
    pub(crate) fn is_weak_element(&self, opcode: u8) -> bool {
        self.weak_elements.contains(&element_type(opcode))
    }

    /// Whether the instruction is a target.
    pub(crate) fn is_target(&self, method: &str, desc: &str, pc: u32, line: Option<u16>) -> bool {
        line.is_some_and(|line| self.lines.binary_search(&line).is_ok())
            || self
                .instructions
                .iter()
                .any(|(m, d, bci)| &**m == method && &**d == desc && u32::from(*bci) == pc)
    }
}

/// What an array holds that the instruction accesses: a descriptor's letter.
pub(crate) fn element_type(opcode: u8) -> char {
    match opcode {
        op::IALOAD | op::IASTORE => 'I',
        op::LALOAD | op::LASTORE => 'J',
        op::FALOAD | op::FASTORE => 'F',
        op::DALOAD | op::DASTORE => 'D',
        op::CALOAD | op::CASTORE => 'C',
        op::SALOAD | op::SASTORE => 'S',
        op::BALOAD | op::BASTORE => 'B',
        _ => 'L',
    }
}

fn frames(control: &Control, class: &str) -> Vec<(Arc<str>, Arc<str>)> {
    let prefix = format!("{class}#");
    let mine = control.frames.range(prefix.clone()..);
    let mine = mine.map_while(|key| key.strip_prefix(&prefix));
    mine.filter_map(|rest| rest.split_once('#'))
        .map(|(method, desc)| (method.into(), desc.into()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_of_one_class_only() {
        let keys = ["a/B#m#()V", "a/B#n#(I)V", "a/B$C#m#()V", "a/BC#m#()V"];
        let control = Control {
            frames: keys.map(str::to_owned).into(),
            ..Control::default()
        };
        let found = ClassControl::new(Some(&control), "a/B", Level::Full, || None);
        assert!(found.is_frame("m", "()V") && found.is_frame("n", "(I)V"));
        assert!(!found.is_frame("m", "(I)V"));
        assert_eq!(found.frames.len(), 2);
    }
}
