//! Names of local variables, from a method's LocalVariableTable.

use classfile::{ClassFile, Member};

/// The table of one method: start, length, name index, local.
#[derive(Debug, Default)]
pub(crate) struct LocalNames {
    rows: Vec<[u16; 4]>,
}

impl LocalNames {
    /// Reads the table; empty if there is none or it is malformed.
    pub(crate) fn read(class: &ClassFile<'_>, method: &Member<'_>) -> LocalNames {
        let rows = class
            .find_attribute(&method.attributes, "Code")
            .and_then(|code| rows(class, &code.data));
        LocalNames {
            rows: rows.unwrap_or_default(),
        }
    }

    /// The name of a local at a pc. A variable's range starts behind the store
    /// that initialises it.
    pub(crate) fn name(&self, class: &ClassFile<'_>, local: u16, pc: u32) -> Option<String> {
        let row = self.rows.iter().find(|[start, len, _, slot]| {
            let start = u32::from(*start);
            *slot == local && (start..start + u32::from(*len)).contains(&pc)
        })?;
        class.pool.utf8(row[2]).map(|n| n.into_owned())
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_be_bytes([pair[0], pair[1]]))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<usize> {
    let quad = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_be_bytes([quad[0], quad[1], quad[2], quad[3]]) as usize)
}

fn rows(class: &ClassFile<'_>, code: &[u8]) -> Option<Vec<[u16; 4]>> {
    // max_stack, max_locals, code, exception table, then attributes.
    let mut at = 8usize.checked_add(u32_at(code, 4)?)?;
    at += 2 + 8 * usize::from(u16_at(code, at)?);
    let attributes = u16_at(code, at)?;
    at += 2;
    for _ in 0..attributes {
        let (name, len) = (u16_at(code, at)?, u32_at(code, at + 2)?);
        let data = code.get(at + 6..(at + 6).checked_add(len)?)?;
        if class.pool.utf8_bytes(name) == Some(b"LocalVariableTable") {
            return data
                .get(2..)?
                .chunks_exact(10)
                .map(|r| Some([u16_at(r, 0)?, u16_at(r, 2)?, u16_at(r, 4)?, u16_at(r, 8)?]))
                .collect();
        }
        at += 6 + len;
    }
    None
}
