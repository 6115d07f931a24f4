//! Stack map frames, expanded by the book. Shares nothing with the crate's own
//! handling of them, so that the two can be held against each other.

/// A verification type, as far as a comparison needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Top,
    Int,
    Float,
    Long,
    Double,
    Null,
    UninitThis,
    Object,
    Uninit(u32),
}

/// A frame with longs and doubles taking two slots, the second of them `Top`.
#[derive(Debug, Clone)]
pub struct Frame {
    pub pc: u32,
    pub locals: Vec<Type>,
    pub stack: Vec<Type>,
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn u8(&mut self) -> u8 {
        let first = self.0[0];
        self.0 = &self.0[1..];
        first
    }

    fn u16(&mut self) -> u32 {
        u32::from(self.u8()) << 8 | u32::from(self.u8())
    }

    fn ty(&mut self) -> Type {
        match self.u8() {
            0 => Type::Top,
            1 => Type::Int,
            2 => Type::Float,
            3 => Type::Double,
            4 => Type::Long,
            5 => Type::Null,
            6 => Type::UninitThis,
            7 => {
                self.u16();
                Type::Object
            }
            8 => Type::Uninit(self.u16()),
            other => panic!("verification type {other}"),
        }
    }
}

/// All frames of a `StackMapTable`. `locals` are those the method starts with,
/// a long or double being one of them.
pub fn expand(table: &[u8], mut locals: Vec<Type>) -> Vec<Frame> {
    let mut b = Bytes(table);
    let mut frames = Vec::new();
    let mut next = 0;
    for _ in 0..b.u16() {
        let mut stack = Vec::new();
        let tag = b.u8();
        let delta = match tag {
            0..=63 => u32::from(tag),
            64..=127 => u32::from(tag) - 64,
            _ => b.u16(),
        };
        match tag {
            0..=63 | 251 => {}
            64..=127 | 247 => stack.push(b.ty()),
            248..=250 => locals.truncate(locals.len() - usize::from(251 - tag)),
            252..=254 => locals.extend((251..tag).map(|_| b.ty())),
            255 => {
                locals = (0..b.u16()).map(|_| b.ty()).collect();
                stack = (0..b.u16()).map(|_| b.ty()).collect();
            }
            _ => panic!("frame kind {tag}"),
        }
        let pc = next + delta;
        next = pc + 1;
        frames.push(Frame {
            pc,
            locals: slots(&locals),
            stack: slots(&stack),
        });
    }
    frames
}

fn slots(types: &[Type]) -> Vec<Type> {
    let mut out = Vec::new();
    for &ty in types {
        out.push(ty);
        if matches!(ty, Type::Long | Type::Double) {
            out.push(Type::Top);
        }
    }
    out
}
