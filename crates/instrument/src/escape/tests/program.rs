//! Small programs over variables that hold arrays or objects.

/// The first four hold arrays (`Object[]`), the others objects of the class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Var(pub(super) u16);

pub(super) const ARRAYS: u16 = 4;
pub(super) const VARS: u16 = 7;
/// Elements of each array.
pub(super) const LENGTH: usize = 2;

impl Var {
    pub(super) fn is_array(self) -> bool {
        self.0 < ARRAYS
    }
}

#[derive(Clone, Debug)]
pub(super) enum Stmt {
    NewArray(Var),
    /// An array of arrays, with those.
    NewMatrix(Var),
    New(Var),
    SetNull(Var),
    /// To, from.
    Copy(Var, Var),
    /// `to = (..) array[0]`.
    LoadElement(Var, Var),
    /// `array[0] = value`.
    StoreElement(Var, Var),
    /// `to = (..) object.f`, `object.f = value`.
    LoadField(Var, Var),
    StoreField(Var, Var),
    LoadStatic(Var),
    StoreStatic(Var),
    /// A plain read or write that moves no reference.
    Read(Var),
    Write(Var),
    /// Calls of methods of the class: one that keeps its argument, one that only
    /// looks, one that puts the second into the first.
    Keep(Var),
    Look(Var),
    Stash(Var, Var),
    /// A call of somebody else's method.
    Foreign(Var),
    /// `System.arraycopy(from, 0, to, 0, 1)`.
    ArrayCopy(Var, Var),
    Throw(Var),
    Return,
    If(Vec<Stmt>, Vec<Stmt>),
    Loop(Vec<Stmt>),
    Try(Vec<Stmt>, Vec<Stmt>),
}

/// SplitMix64.
#[derive(Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn array(&mut self) -> Var {
        Var(self.below(usize::from(ARRAYS)) as u16)
    }

    fn object(&mut self) -> Var {
        Var(ARRAYS + self.below(usize::from(VARS - ARRAYS)) as u16)
    }

    fn any(&mut self) -> Var {
        Var(self.below(usize::from(VARS)) as u16)
    }
}

pub(super) fn program(random: &mut Random) -> Vec<Stmt> {
    // Not all of them null to begin with.
    let mut program = vec![Stmt::NewArray(Var(0)), Stmt::NewArray(Var(1))];
    program.push(Stmt::New(Var(ARRAYS)));
    program.extend(block(random, 0));
    program
}

fn block(random: &mut Random, depth: u32) -> Vec<Stmt> {
    let most = if depth == 0 { 14 } else { 5 };
    let count = 1 + random.below(most);
    (0..count).map(|_| stmt(random, depth)).collect()
}

fn stmt(random: &mut Random, depth: u32) -> Stmt {
    let kinds = if depth < 3 { 32 } else { 27 };
    match random.below(kinds) {
        0..=3 => Stmt::NewArray(random.array()),
        4 => Stmt::NewMatrix(random.array()),
        5..=6 => Stmt::New(random.object()),
        7 => Stmt::SetNull(random.any()),
        8..=9 => {
            let to = random.any();
            let from = if to.is_array() {
                random.array()
            } else {
                random.object()
            };
            Stmt::Copy(to, from)
        }
        10..=11 => Stmt::LoadElement(random.any(), random.array()),
        12..=13 => Stmt::StoreElement(random.array(), random.any()),
        14 => Stmt::LoadField(random.any(), random.object()),
        15 => Stmt::StoreField(random.object(), random.any()),
        16 => Stmt::LoadStatic(random.any()),
        17 => Stmt::StoreStatic(random.any()),
        18..=19 => Stmt::Read(random.any()),
        20..=21 => Stmt::Write(random.any()),
        22 => Stmt::Look(random.any()),
        23 => match random.below(4) {
            0 => Stmt::Keep(random.any()),
            1 => Stmt::Foreign(random.any()),
            2 => Stmt::Return,
            _ => Stmt::Throw(random.any()),
        },
        24 => Stmt::Stash(random.array(), random.any()),
        25..=26 => Stmt::ArrayCopy(random.array(), random.array()),
        27..=28 => Stmt::If(block(random, depth + 1), block(random, depth + 1)),
        29..=30 => Stmt::Loop(block(random, depth + 1)),
        _ => Stmt::Try(block(random, depth + 1), block(random, depth + 1)),
    }
}
