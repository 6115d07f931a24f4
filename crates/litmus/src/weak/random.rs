//! Random programs for the comparison with brute force over the axioms.

use super::{Access, Act, Operand, Program};

/// Programs of a few acts, over two locations of all kinds of access, mixed.
pub fn random(rng: &mut fastrand::Rng) -> Program {
    let kinds = [
        Access::Plain,
        Access::Plain,
        Access::Plain,
        Access::Opaque,
        Access::Ordered,
        Access::Volatile,
    ];
    // Most locations have one kind of access, as in Java.
    let usual = [(); 2].map(|()| kinds[rng.usize(..kinds.len())]);
    let threads = rng.usize(2..4);
    let mut program = Program::default();
    for thread in 0..threads {
        let mut acts = Vec::new();
        let mut next = 0;
        for _ in 0..match threads {
            2 => rng.usize(2..=3),
            _ => rng.usize(1..=2),
        } {
            let loc = rng.u16(0..2);
            let kind = match rng.u8(..6) {
                0 => kinds[rng.usize(..kinds.len())],
                _ => usual[usize::from(loc)],
            };
            match rng.u8(..16) {
                0..6 => {
                    acts.push(Act::Read(next, loc, kind));
                    next += 1;
                }
                6..12 => {
                    let value = match next > 0 && rng.bool() {
                        true => Operand::Register(rng.u8(..next), 1),
                        false => Operand::Value(1 + thread as i64 * 2 + acts.len() as i64),
                    };
                    acts.push(Act::Write(loc, value, kind));
                }
                12 => {
                    acts.push(Act::Add(next, loc, 1));
                    next += 1;
                }
                13 if next > 0 => {
                    acts.push(Act::Unless(rng.u8(..next), 0, 1));
                    acts.push(Act::Write(loc, Operand::Value(9), kind));
                }
                13 | 14 => {
                    acts.push(Act::Lock(0));
                    acts.push(Act::Write(loc, Operand::Value(7), kind));
                    acts.push(Act::Unlock(0));
                }
                _ => {
                    acts.push(Act::Lock(0));
                    acts.push(Act::Read(next, loc, kind));
                    acts.push(Act::Unlock(0));
                    next += 1;
                }
            }
        }
        program.threads.push(acts);
    }
    // A final field, or a start or join.
    match rng.u8(..8) {
        0 => {
            let value = Operand::Value(5);
            program.threads[0].push(Act::Write(8, value, Access::Final));
            program.threads[0].push(Act::Freeze(8));
            program.threads[1].push(Act::Read(7, 8, Access::Final));
        }
        1 => program.threads[0].push(Act::Fork(1)),
        2 => {
            program.threads[0].push(Act::Join(1));
            program.threads[0].push(Act::Read(7, rng.u16(0..2), Access::Plain));
        }
        _ => {}
    }
    program
}
