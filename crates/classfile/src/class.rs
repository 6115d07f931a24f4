//! A class file as a whole: pool, members, attributes.

use std::borrow::Cow;

use crate::reader::Reader;
use crate::{Error, Pool, PoolFull};

/// Access flags this workspace asks about or sets.
pub mod acc {
    pub const PUBLIC: u16 = 0x0001;
    pub const PRIVATE: u16 = 0x0002;
    pub const PROTECTED: u16 = 0x0004;
    pub const STATIC: u16 = 0x0008;
    pub const FINAL: u16 = 0x0010;
    pub const SYNCHRONIZED: u16 = 0x0020;
    pub const VOLATILE: u16 = 0x0040;
    pub const BRIDGE: u16 = 0x0040;
    pub const TRANSIENT: u16 = 0x0080;
    pub const NATIVE: u16 = 0x0100;
    pub const INTERFACE: u16 = 0x0200;
    pub const ABSTRACT: u16 = 0x0400;
    pub const SYNTHETIC: u16 = 0x1000;
    pub const ANNOTATION: u16 = 0x2000;
    pub const ENUM: u16 = 0x4000;
    pub const MODULE: u16 = 0x8000;
}

/// A parsed class file. What is not changed is written back as it was read.
#[derive(Debug, Clone)]
pub struct ClassFile<'a> {
    minor: u16,
    major: u16,
    pub pool: Pool,
    pub access: u16,
    this_class: u16,
    super_class: u16,
    interfaces: Vec<u16>,
    pub fields: Vec<Member<'a>>,
    pub methods: Vec<Member<'a>>,
    pub attributes: Vec<Attribute<'a>>,
}

/// A field or a method.
#[derive(Debug, Clone)]
pub struct Member<'a> {
    pub access: u16,
    pub name_index: u16,
    pub desc_index: u16,
    pub attributes: Vec<Attribute<'a>>,
}

/// An attribute, unread.
#[derive(Debug, Clone)]
pub struct Attribute<'a> {
    pub name_index: u16,
    pub data: Cow<'a, [u8]>,
}

impl Member<'_> {
    pub fn is_static(&self) -> bool {
        self.access & acc::STATIC != 0
    }

    pub fn is(&self, flags: u16) -> bool {
        self.access & flags != 0
    }
}

impl<'a> ClassFile<'a> {
    /// Reads a class file. Only its structure is checked; what names and
    /// indices mean shows when somebody asks.
    pub fn parse(bytes: &'a [u8]) -> Result<ClassFile<'a>, Error> {
        let mut r = Reader::new(bytes);
        if r.u32()? != 0xcafe_babe {
            return Err(Error::Magic);
        }
        let (minor, major) = (r.u16()?, r.u16()?);
        let pool = Pool::parse(&mut r)?;
        let (access, this_class, super_class) = (r.u16()?, r.u16()?, r.u16()?);
        let count = r.u16()?;
        let interfaces = (0..count).map(|_| r.u16()).collect::<Result<_, _>>()?;
        let class = ClassFile {
            minor,
            major,
            pool,
            access,
            this_class,
            super_class,
            interfaces,
            fields: read_members(&mut r)?,
            methods: read_members(&mut r)?,
            attributes: read_attributes(&mut r)?,
        };
        match r.remaining() {
            0 => Ok(class),
            extra => Err(Error::Trailing(extra)),
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let attributes =
            |all: &[Attribute<'_>]| all.iter().map(|a| a.data.len() + 6).sum::<usize>();
        let members = self.fields.iter().chain(&self.methods);
        let size = self.pool.byte_len()
            + members
                .map(|m| 8 + attributes(&m.attributes))
                .sum::<usize>()
            + attributes(&self.attributes)
            + self.interfaces.len() * 2
            + 24;
        let mut out = Vec::with_capacity(size);
        out.extend(0xcafe_babe_u32.to_be_bytes());
        out.extend(self.minor.to_be_bytes());
        out.extend(self.major.to_be_bytes());
        self.pool.write(&mut out);
        for word in [self.access, self.this_class, self.super_class] {
            out.extend(word.to_be_bytes());
        }
        out.extend((self.interfaces.len() as u16).to_be_bytes());
        for index in &self.interfaces {
            out.extend(index.to_be_bytes());
        }
        write_members(&self.fields, &mut out);
        write_members(&self.methods, &mut out);
        write_attributes(&self.attributes, &mut out);
        out
    }

    pub fn major_version(&self) -> u16 {
        self.major
    }

    pub fn is_interface(&self) -> bool {
        self.access & acc::INTERFACE != 0
    }

    /// The pool index that names this class. Another entry of the same name may
    /// mean another class: a hidden class is known under this one only.
    pub fn this_index(&self) -> u16 {
        self.this_class
    }

    /// Internal name, such as `java/lang/Object`; empty if the pool has none.
    pub fn name(&self) -> Cow<'_, str> {
        self.pool.class_name(self.this_class).unwrap_or_default()
    }

    pub fn super_name(&self) -> Option<Cow<'_, str>> {
        self.pool.class_name(self.super_class)
    }

    /// Internal names of the direct superinterfaces.
    pub fn interfaces(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.interfaces
            .iter()
            .filter_map(|&i| self.pool.class_name(i))
    }

    pub fn member_name(&self, member: &Member<'_>) -> Cow<'_, str> {
        self.pool.utf8(member.name_index).unwrap_or_default()
    }

    pub fn member_desc(&self, member: &Member<'_>) -> Cow<'_, str> {
        self.pool.utf8(member.desc_index).unwrap_or_default()
    }

    /// The declared field of this name and descriptor.
    pub fn field(&self, name: &str, desc: &str) -> Option<&Member<'a>> {
        let mut all = self.fields.iter();
        all.find(|f| self.member_name(f) == name && self.member_desc(f) == desc)
    }

    /// The index of the declared method of this name and descriptor.
    pub fn method_index(&self, name: &str, desc: &str) -> Option<usize> {
        let mut all = self.methods.iter();
        all.position(|m| self.member_name(m) == name && self.member_desc(m) == desc)
    }

    pub fn add_field(&mut self, access: u16, name: &str, desc: &str) -> Result<(), PoolFull> {
        if self.fields.len() >= usize::from(u16::MAX) {
            return Err(PoolFull);
        }
        let name_index = self.pool.add_utf8(name)?;
        let desc_index = self.pool.add_utf8(desc)?;
        self.fields.push(Member {
            access,
            name_index,
            desc_index,
            attributes: Vec::new(),
        });
        Ok(())
    }

    /// The data of the class attribute of this name.
    pub fn attribute(&self, name: &str) -> Option<&[u8]> {
        self.find_attribute(&self.attributes, name)
            .map(|a| &*a.data)
    }

    /// The attribute of this name in any list of attributes of this class.
    pub fn find_attribute<'s>(
        &self,
        list: &'s [Attribute<'a>],
        name: &str,
    ) -> Option<&'s Attribute<'a>> {
        list.iter().find(|a| self.is_named(a, name))
    }

    pub(crate) fn is_named(&self, attribute: &Attribute<'_>, name: &str) -> bool {
        self.pool.utf8_bytes(attribute.name_index) == Some(name.as_bytes())
    }

    /// The name of the source file, if the compiler left it.
    pub fn source_file(&self) -> Option<String> {
        let index = Reader::new(self.attribute("SourceFile")?).u16().ok()?;
        self.pool.utf8(index).map(Cow::into_owned)
    }

    /// The nest host's internal name, if this class is not its own.
    pub fn nest_host(&self) -> Option<Cow<'_, str>> {
        let index = Reader::new(self.attribute("NestHost")?).u16().ok()?;
        self.pool.class_name(index)
    }

    /// Internal names of the other members of the nest this class hosts.
    pub fn nest_members(&self) -> Vec<Cow<'_, str>> {
        let Some(data) = self.attribute("NestMembers") else {
            return Vec::new();
        };
        let mut r = Reader::new(data);
        let count = r.u16().unwrap_or(0);
        (0..count)
            .map_while(|_| r.u16().ok())
            .filter_map(|i| self.pool.class_name(i))
            .collect()
    }
}

fn read_members<'a>(r: &mut Reader<'a>) -> Result<Vec<Member<'a>>, Error> {
    let count = r.u16()?;
    // A member takes 8 bytes at least: a lying count reserves no more memory
    // than the file could justify.
    let mut members = Vec::with_capacity(usize::from(count).min(r.remaining() / 8));
    for _ in 0..count {
        members.push(Member {
            access: r.u16()?,
            name_index: r.u16()?,
            desc_index: r.u16()?,
            attributes: read_attributes(r)?,
        });
    }
    Ok(members)
}

fn read_attributes<'a>(r: &mut Reader<'a>) -> Result<Vec<Attribute<'a>>, Error> {
    read_attributes_with(r, &Cow::Borrowed)
}

/// Attributes whose data `keep` takes over.
pub(crate) fn read_attributes_with<'d, 'a>(
    r: &mut Reader<'d>,
    keep: &impl Fn(&'d [u8]) -> Cow<'a, [u8]>,
) -> Result<Vec<Attribute<'a>>, Error> {
    let count = r.u16()?;
    let mut attributes = Vec::with_capacity(usize::from(count).min(r.remaining() / 6));
    for _ in 0..count {
        let name_index = r.u16()?;
        let len = r.u32()?;
        let data = keep(r.take(len as usize)?);
        attributes.push(Attribute { name_index, data });
    }
    Ok(attributes)
}

fn write_members(members: &[Member<'_>], out: &mut Vec<u8>) {
    out.extend((members.len() as u16).to_be_bytes());
    for member in members {
        for word in [member.access, member.name_index, member.desc_index] {
            out.extend(word.to_be_bytes());
        }
        write_attributes(&member.attributes, out);
    }
}

pub(crate) fn write_attributes(attributes: &[Attribute<'_>], out: &mut Vec<u8>) {
    out.extend((attributes.len() as u16).to_be_bytes());
    for attribute in attributes {
        out.extend(attribute.name_index.to_be_bytes());
        out.extend((attribute.data.len() as u32).to_be_bytes());
        out.extend_from_slice(&attribute.data);
    }
}
