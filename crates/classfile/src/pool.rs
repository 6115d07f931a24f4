//! The constant pool: copied verbatim, appended to, never reordered.
//!
//! Every entry is a byte string (its tag and its payload), and equal strings
//! mean equal constants, so one hash table over those bytes deduplicates all
//! kinds. The table is built at the first addition only: most classes that pass
//! through are merely read.

use std::borrow::Cow;
use std::hash::Hasher;

use rustc_hash::FxHasher;

use crate::reader::Reader;
use crate::{Error, PoolFull, mutf8};

mod tag {
    pub const UTF8: u8 = 1;
    pub const INTEGER: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const LONG: u8 = 5;
    pub const DOUBLE: u8 = 6;
    pub const CLASS: u8 = 7;
    pub const STRING: u8 = 8;
    pub const FIELDREF: u8 = 9;
    pub const METHODREF: u8 = 10;
    pub const INTERFACE_METHODREF: u8 = 11;
    pub const NAME_AND_TYPE: u8 = 12;
    pub const METHOD_HANDLE: u8 = 15;
    pub const METHOD_TYPE: u8 = 16;
    pub const DYNAMIC: u8 = 17;
    pub const INVOKE_DYNAMIC: u8 = 18;
    pub const MODULE: u8 = 19;
    pub const PACKAGE: u8 = 20;
}

/// The constant pool of one class.
#[derive(Debug, Clone)]
pub struct Pool {
    /// The entries as they stand in the file, without the count.
    bytes: Vec<u8>,
    /// Where each entry starts in `bytes`; [`UNUSED`] for index 0 and the
    /// second index of a long or double.
    starts: Vec<u32>,
    /// Open-addressed indices of entries by the hash of their bytes; 0 is free.
    /// Empty until the first addition.
    table: Vec<u16>,
    /// Slots of `table` taken.
    used: usize,
    /// Members added lately. Probes name the same few members over and over;
    /// this saves looking up the five constants below each.
    recent: [u16; RECENT],
}

const RECENT: usize = 16;

const UNUSED: u32 = u32::MAX;

/// A constant, decoded as far as rewriting needs it.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant<'a> {
    Utf8(Cow<'a, str>),
    Integer(i32),
    Float(f32),
    Long(i64),
    Double(f64),
    Class(Cow<'a, str>),
    String(Cow<'a, str>),
    Field(MemberRef<'a>),
    Method(MemberRef<'a>),
    InterfaceMethod(MemberRef<'a>),
    NameAndType(Cow<'a, str>, Cow<'a, str>),
    MethodHandle {
        kind: u8,
        reference: u16,
    },
    MethodType(Cow<'a, str>),
    Dynamic {
        name: Cow<'a, str>,
        desc: Cow<'a, str>,
    },
    InvokeDynamic {
        name: Cow<'a, str>,
        desc: Cow<'a, str>,
    },
    Module(Cow<'a, str>),
    Package(Cow<'a, str>),
}

/// A field or method as named by a class file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRef<'a> {
    /// Internal name of the class (or an array descriptor).
    pub class: Cow<'a, str>,
    pub name: Cow<'a, str>,
    pub desc: Cow<'a, str>,
    /// The reference is an `InterfaceMethodref`.
    pub interface: bool,
}

impl Pool {
    pub(crate) fn parse(r: &mut Reader<'_>) -> Result<Pool, Error> {
        let count = r.u16()?;
        if count == 0 {
            // The count includes the unused index 0.
            return Err(Error::Index(0));
        }
        let mut scan = r.clone();
        let begin = scan.pos();
        let mut starts = Vec::with_capacity(usize::from(count) + 32);
        starts.push(UNUSED);
        while starts.len() < usize::from(count) {
            starts.push((scan.pos() - begin) as u32);
            let tag = scan.u8()?;
            let size = match tag {
                tag::UTF8 => usize::from(scan.u16()?),
                tag::CLASS | tag::STRING | tag::METHOD_TYPE | tag::MODULE | tag::PACKAGE => 2,
                tag::METHOD_HANDLE => 3,
                tag::LONG | tag::DOUBLE => 8,
                tag::INTEGER | tag::FLOAT => 4,
                tag::FIELDREF..=tag::NAME_AND_TYPE | tag::DYNAMIC | tag::INVOKE_DYNAMIC => 4,
                _ => {
                    let index = (starts.len() - 1) as u16;
                    return Err(Error::Tag { index, tag });
                }
            };
            scan.take(size)?;
            if matches!(tag, tag::LONG | tag::DOUBLE) {
                if starts.len() == usize::from(count) {
                    // Its second index would lie outside the pool.
                    return Err(Error::Index(count));
                }
                starts.push(UNUSED);
            }
        }
        let part = r.take(scan.pos() - begin)?;
        let mut bytes = Vec::with_capacity(part.len() + 512);
        bytes.extend_from_slice(part);
        Ok(Pool {
            bytes,
            starts,
            table: Vec::new(),
            used: 0,
            recent: [0; RECENT],
        })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend((self.starts.len() as u16).to_be_bytes());
        out.extend_from_slice(&self.bytes);
    }

    pub(crate) fn byte_len(&self) -> usize {
        self.bytes.len() + 2
    }

    /// One more than the largest index.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    pub fn is_empty(&self) -> bool {
        self.starts.len() <= 1
    }

    /// Tag and payload of an entry, with whatever follows it.
    fn entry(&self, index: u16) -> Option<(u8, &[u8])> {
        let start = *self.starts.get(usize::from(index))?;
        let (&tag, rest) = self.bytes.get(start as usize..)?.split_first()?;
        Some((tag, rest))
    }

    fn payload<const N: usize>(&self, index: u16, tag: u8) -> Option<[u8; N]> {
        let (found, rest) = self.entry(index)?;
        (found == tag)
            .then(|| rest.first_chunk().copied())
            .flatten()
    }

    /// The `u16` that entries of this tag consist of.
    fn link(&self, index: u16, tag: u8) -> Option<u16> {
        self.payload(index, tag).map(u16::from_be_bytes)
    }

    /// The two `u16` that entries of this tag consist of.
    fn links(&self, index: u16, tag: u8) -> Option<(u16, u16)> {
        let [a, b, c, d] = self.payload(index, tag)?;
        Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
    }

    /// The bytes of a `Utf8` entry, in the class file's own encoding.
    pub fn utf8_bytes(&self, index: u16) -> Option<&[u8]> {
        let (tag, rest) = self.entry(index)?;
        let (&len, rest) = rest.split_first_chunk()?;
        (tag == tag::UTF8)
            .then(|| rest.get(..usize::from(u16::from_be_bytes(len))))
            .flatten()
    }

    /// A `Utf8` entry; characters it has no right to hold become U+FFFD.
    pub fn utf8(&self, index: u16) -> Option<Cow<'_, str>> {
        self.utf8_bytes(index).map(mutf8::decode)
    }

    /// The name a `Class` entry holds: internal name or array descriptor.
    pub fn class_name(&self, index: u16) -> Option<Cow<'_, str>> {
        self.utf8(self.link(index, tag::CLASS)?)
    }

    pub fn string(&self, index: u16) -> Option<Cow<'_, str>> {
        self.utf8(self.link(index, tag::STRING)?)
    }

    pub fn integer(&self, index: u16) -> Option<i32> {
        self.payload(index, tag::INTEGER).map(i32::from_be_bytes)
    }

    pub fn long(&self, index: u16) -> Option<i64> {
        self.payload(index, tag::LONG).map(i64::from_be_bytes)
    }

    /// Name and descriptor of a `NameAndType` entry.
    pub fn name_and_type(&self, index: u16) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
        let (name, desc) = self.links(index, tag::NAME_AND_TYPE)?;
        Some((self.utf8(name)?, self.utf8(desc)?))
    }

    /// A `Fieldref`, `Methodref` or `InterfaceMethodref` entry.
    pub fn member_ref(&self, index: u16) -> Option<MemberRef<'_>> {
        let (tag, _) = self.entry(index)?;
        if !(tag::FIELDREF..=tag::INTERFACE_METHODREF).contains(&tag) {
            return None;
        }
        let (class, nat) = self.links(index, tag)?;
        let (name, desc) = self.name_and_type(nat)?;
        Some(MemberRef {
            class: self.class_name(class)?,
            name,
            desc,
            interface: tag == tag::INTERFACE_METHODREF,
        })
    }

    /// Name and descriptor of a `Dynamic` or `InvokeDynamic` entry.
    pub fn dynamic(&self, index: u16) -> Option<(Cow<'_, str>, Cow<'_, str>)> {
        let (tag, _) = self.entry(index)?;
        if !matches!(tag, tag::DYNAMIC | tag::INVOKE_DYNAMIC) {
            return None;
        }
        self.name_and_type(self.links(index, tag)?.1)
    }

    /// Descriptor of the member that an instruction's pool index names: of a
    /// field, a method or a dynamic call site.
    pub fn member_desc(&self, index: u16) -> Option<Cow<'_, str>> {
        let (tag, _) = self.entry(index)?;
        match tag {
            tag::FIELDREF..=tag::INTERFACE_METHODREF | tag::DYNAMIC | tag::INVOKE_DYNAMIC => {
                let nat = self.links(index, tag)?.1;
                self.utf8(self.links(nat, tag::NAME_AND_TYPE)?.1)
            }
            _ => None,
        }
    }

    /// Any entry, decoded.
    pub fn get(&self, index: u16) -> Option<Constant<'_>> {
        let (tag, rest) = self.entry(index)?;
        Some(match tag {
            tag::UTF8 => Constant::Utf8(self.utf8(index)?),
            tag::INTEGER => Constant::Integer(self.integer(index)?),
            tag::FLOAT => Constant::Float(f32::from_be_bytes(*rest.first_chunk()?)),
            tag::LONG => Constant::Long(self.long(index)?),
            tag::DOUBLE => Constant::Double(f64::from_be_bytes(*rest.first_chunk()?)),
            tag::CLASS => Constant::Class(self.class_name(index)?),
            tag::STRING => Constant::String(self.string(index)?),
            tag::FIELDREF => Constant::Field(self.member_ref(index)?),
            tag::METHODREF => Constant::Method(self.member_ref(index)?),
            tag::INTERFACE_METHODREF => Constant::InterfaceMethod(self.member_ref(index)?),
            tag::NAME_AND_TYPE => {
                let (name, desc) = self.name_and_type(index)?;
                Constant::NameAndType(name, desc)
            }
            tag::METHOD_HANDLE => {
                let &[kind, a, b] = rest.first_chunk()?;
                let reference = u16::from_be_bytes([a, b]);
                Constant::MethodHandle { kind, reference }
            }
            tag::METHOD_TYPE => Constant::MethodType(self.utf8(self.link(index, tag)?)?),
            tag::DYNAMIC => {
                let (name, desc) = self.dynamic(index)?;
                Constant::Dynamic { name, desc }
            }
            tag::INVOKE_DYNAMIC => {
                let (name, desc) = self.dynamic(index)?;
                Constant::InvokeDynamic { name, desc }
            }
            tag::MODULE => Constant::Module(self.utf8(self.link(index, tag)?)?),
            _ => Constant::Package(self.utf8(self.link(index, tag)?)?),
        })
    }

    pub fn add_utf8(&mut self, text: &str) -> Result<u16, PoolFull> {
        let text = mutf8::encode(text);
        let len = u16::try_from(text.len()).map_err(|_| PoolFull)?;
        let mut entry = smallvec::SmallVec::<[u8; 128]>::new();
        entry.push(tag::UTF8);
        entry.extend_from_slice(&len.to_be_bytes());
        entry.extend_from_slice(&text);
        self.intern(&entry)
    }

    fn add_link(&mut self, tag: u8, to: u16) -> Result<u16, PoolFull> {
        let [a, b] = to.to_be_bytes();
        self.intern(&[tag, a, b])
    }

    fn add_links(&mut self, tag: u8, one: u16, two: u16) -> Result<u16, PoolFull> {
        let ([a, b], [c, d]) = (one.to_be_bytes(), two.to_be_bytes());
        self.intern(&[tag, a, b, c, d])
    }

    pub fn add_class(&mut self, name: &str) -> Result<u16, PoolFull> {
        let name = self.add_utf8(name)?;
        self.add_link(tag::CLASS, name)
    }

    pub fn add_string(&mut self, text: &str) -> Result<u16, PoolFull> {
        let text = self.add_utf8(text)?;
        self.add_link(tag::STRING, text)
    }

    pub fn add_integer(&mut self, value: i32) -> Result<u16, PoolFull> {
        let [a, b, c, d] = value.to_be_bytes();
        self.intern(&[tag::INTEGER, a, b, c, d])
    }

    pub fn add_long(&mut self, value: i64) -> Result<u16, PoolFull> {
        let mut entry = [tag::LONG; 9];
        entry[1..].copy_from_slice(&value.to_be_bytes());
        self.intern(&entry)
    }

    pub fn add_name_and_type(&mut self, name: &str, desc: &str) -> Result<u16, PoolFull> {
        let (name, desc) = (self.add_utf8(name)?, self.add_utf8(desc)?);
        self.add_links(tag::NAME_AND_TYPE, name, desc)
    }

    fn add_member(
        &mut self,
        tag: u8,
        class: &str,
        name: &str,
        desc: &str,
    ) -> Result<u16, PoolFull> {
        let last = name.as_bytes().last().copied().unwrap_or(0);
        let slot = (class.len() * 31 + desc.len() * 7 + name.len() + usize::from(last)) % RECENT;
        if self.is_member(self.recent[slot], tag, [class, name, desc]) {
            return Ok(self.recent[slot]);
        }
        let class = self.add_class(class)?;
        let nat = self.add_name_and_type(name, desc)?;
        let index = self.add_links(tag, class, nat)?;
        self.recent[slot] = index;
        Ok(index)
    }

    /// Whether an entry is this member. Text in need of the class file's own
    /// encoding compares unequal, and is then looked up the long way.
    fn is_member(&self, index: u16, tag: u8, [class, name, desc]: [&str; 3]) -> bool {
        let is = |index: u16, text: &str| self.utf8_bytes(index) == Some(text.as_bytes());
        let same = || {
            let (class_index, nat) = self.links(index, tag)?;
            let class_name = self.link(class_index, tag::CLASS)?;
            let (name_index, desc_index) = self.links(nat, tag::NAME_AND_TYPE)?;
            Some(is(name_index, name) && is(desc_index, desc) && is(class_name, class))
        };
        same() == Some(true)
    }

    pub fn add_fieldref(&mut self, class: &str, name: &str, desc: &str) -> Result<u16, PoolFull> {
        self.add_member(tag::FIELDREF, class, name, desc)
    }

    pub fn add_methodref(&mut self, class: &str, name: &str, desc: &str) -> Result<u16, PoolFull> {
        self.add_member(tag::METHODREF, class, name, desc)
    }

    pub fn add_interface_methodref(
        &mut self,
        class: &str,
        name: &str,
        desc: &str,
    ) -> Result<u16, PoolFull> {
        self.add_member(tag::INTERFACE_METHODREF, class, name, desc)
    }

    /// The index of an entry of exactly these bytes, old or new.
    fn intern(&mut self, entry: &[u8]) -> Result<u16, PoolFull> {
        if (self.used + 1) * 2 > self.table.len() {
            self.rebuild();
        }
        let mask = self.table.len() - 1;
        let mut slot = hash(entry) & mask;
        loop {
            match self.table[slot] {
                0 => break,
                index => {
                    let start = self.starts[usize::from(index)] as usize;
                    if self.bytes[start..].starts_with(entry) {
                        return Ok(index);
                    }
                }
            }
            slot = (slot + 1) & mask;
        }
        let wide = matches!(entry.first(), Some(&(tag::LONG | tag::DOUBLE)));
        // The count is a u16, and one more than the largest index.
        if self.starts.len() + 1 + usize::from(wide) > usize::from(u16::MAX) {
            return Err(PoolFull);
        }
        let index = self.starts.len() as u16;
        self.starts.push(self.bytes.len() as u32);
        if wide {
            self.starts.push(UNUSED);
        }
        self.bytes.extend_from_slice(entry);
        self.table[slot] = index;
        self.used += 1;
        Ok(index)
    }

    /// Makes the table anew, with room for about as many additions again.
    fn rebuild(&mut self) {
        let size = (self.starts.len() * 4).max(64).next_power_of_two();
        self.table = vec![0; size];
        self.used = 0;
        for index in 1..self.starts.len() {
            let start = self.starts[index];
            if start == UNUSED {
                continue;
            }
            let end = self.starts[index + 1..].iter().find(|&&s| s != UNUSED);
            let end = end.map_or(self.bytes.len(), |&s| s as usize);
            let mut slot = hash(&self.bytes[start as usize..end]) & (size - 1);
            while self.table[slot] != 0 {
                slot = (slot + 1) & (size - 1);
            }
            self.table[slot] = index as u16;
            self.used += 1;
        }
    }
}

fn hash(entry: &[u8]) -> usize {
    let mut hasher = FxHasher::default();
    hasher.write(entry);
    hasher.finish() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn empty() -> Pool {
        Pool::parse(&mut Reader::new(&[0, 1])).unwrap()
    }

    #[test]
    fn equal_constants_share_an_entry_and_kinds_do_not_mix() {
        let mut pool = empty();
        let field = pool.add_fieldref("A", "x", "I").unwrap();
        let method = pool.add_methodref("A", "x", "I").unwrap();
        assert_ne!(field, method);
        assert_eq!(pool.add_fieldref("A", "x", "I").unwrap(), field);
        assert_eq!(pool.member_ref(field).unwrap().name, "x");
        assert!(!pool.member_ref(method).unwrap().interface);
        let class = pool.add_class("A").unwrap();
        let string = pool.add_string("A").unwrap();
        assert_eq!(pool.get(class), Some(Constant::Class("A".into())));
        assert_eq!(pool.get(string), Some(Constant::String("A".into())));
        assert_eq!(pool.string(class), None);
    }

    #[test]
    fn a_long_takes_two_indices() {
        let mut pool = empty();
        let long = pool.add_long(-5).unwrap();
        assert_eq!(pool.add_integer(-5).unwrap(), long + 2);
        assert_eq!((pool.long(long), pool.get(long + 1)), (Some(-5), None));
    }

    #[test]
    fn a_full_pool_refuses_and_stays_readable() {
        let mut pool = empty();
        let mut last = 0;
        for n in 0.. {
            match pool.add_integer(n) {
                Ok(index) => last = index,
                Err(PoolFull) => break,
            }
        }
        assert_eq!(last, 65_534);
        assert_eq!(pool.add_long(1), Err(PoolFull));
        assert_eq!(pool.add_integer(7).unwrap(), 8);
        assert!(pool.add_utf8(&"x".repeat(65_536)).is_err());
        let mut out = Vec::new();
        pool.write(&mut out);
        let again = Pool::parse(&mut Reader::new(&out)).unwrap();
        assert_eq!((again.len(), again.integer(last)), (65_535, Some(65_533)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        /// Interning equals looking for the same member in a list.
        #[test]
        fn members_are_found_again(names in prop::collection::vec("[a-c\\x00é\u{1f600}]{0,2}", 1..60)) {
            let mut pool = empty();
            let mut known: Vec<([&str; 3], u16)> = Vec::new();
            for triple in names.windows(3) {
                let key = [&*triple[0], &*triple[1], &*triple[2]];
                let index = pool.add_fieldref(key[0], key[1], key[2]).unwrap();
                match known.iter().find(|(k, _)| *k == key) {
                    Some((_, found)) => prop_assert_eq!(index, *found),
                    None => prop_assert!(known.iter().all(|(_, i)| *i != index)),
                }
                let member = pool.member_ref(index).unwrap();
                prop_assert_eq!([&*member.class, &*member.name, &*member.desc], key);
                known.push((key, index));
            }
        }
    }
}
