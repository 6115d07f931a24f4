//! Small programs over variables that hold arrays or objects.

use fastrand::Rng;

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

fn array(random: &mut Rng) -> Var {
    Var(random.u16(..ARRAYS))
}

fn object(random: &mut Rng) -> Var {
    Var(random.u16(ARRAYS..VARS))
}

fn any(random: &mut Rng) -> Var {
    Var(random.u16(..VARS))
}

pub(super) fn program(random: &mut Rng) -> Vec<Stmt> {
    // Not all of them null to begin with.
    let mut program = vec![Stmt::NewArray(Var(0)), Stmt::NewArray(Var(1))];
    program.push(Stmt::New(Var(ARRAYS)));
    program.extend(block(random, 0));
    program
}

fn block(random: &mut Rng, depth: u32) -> Vec<Stmt> {
    let most = if depth == 0 { 14 } else { 5 };
    let count = 1 + random.usize(..most);
    (0..count).map(|_| stmt(random, depth)).collect()
}

fn stmt(random: &mut Rng, depth: u32) -> Stmt {
    let kinds = if depth < 3 { 32 } else { 27 };
    match random.usize(..kinds) {
        0..=3 => Stmt::NewArray(array(random)),
        4 => Stmt::NewMatrix(array(random)),
        5..=6 => Stmt::New(object(random)),
        7 => Stmt::SetNull(any(random)),
        8..=9 => {
            let to = any(random);
            let from = if to.is_array() {
                array(random)
            } else {
                object(random)
            };
            Stmt::Copy(to, from)
        }
        10..=11 => Stmt::LoadElement(any(random), array(random)),
        12..=13 => Stmt::StoreElement(array(random), any(random)),
        14 => Stmt::LoadField(any(random), object(random)),
        15 => Stmt::StoreField(object(random), any(random)),
        16 => Stmt::LoadStatic(any(random)),
        17 => Stmt::StoreStatic(any(random)),
        18..=19 => Stmt::Read(any(random)),
        20..=21 => Stmt::Write(any(random)),
        22 => Stmt::Look(any(random)),
        23 => match random.usize(..4) {
            0 => Stmt::Keep(any(random)),
            1 => Stmt::Foreign(any(random)),
            2 => Stmt::Return,
            _ => Stmt::Throw(any(random)),
        },
        24 => Stmt::Stash(array(random), any(random)),
        25..=26 => Stmt::ArrayCopy(array(random), array(random)),
        27..=28 => Stmt::If(block(random, depth + 1), block(random, depth + 1)),
        29..=30 => Stmt::Loop(block(random, depth + 1)),
        _ => Stmt::Try(block(random, depth + 1), block(random, depth + 1)),
    }
}
