//! Loops that a thread is in, and whether it waits in one of them.
//!
//! A thread waits if an iteration began and ended in the same *state* of the thread
//! (what its own variables hold and how often it wrote to memory, told as a number), made no
//! step but reads, and saw each location as it was at the first look: the next
//! iteration will do the same until somebody writes to one of them. Loops stand inside
//! each other, in one method or in methods that call each other; an iteration of the
//! outer one has all the steps of the inner one.
//!
//! Where such an iteration has no reads among its steps, plain memory is what keeps the thread
//! there. It is *idle* until another thread makes a step.

use explore::Loc;

/// Loops that are followed at once. Further inside, none are.
const MOST_LOOPS: usize = 64;
/// Locations that an iteration may read before it is taken to do more than wait.
const MOST_READS: usize = 256;

/// A loop in one activation of its method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Loop {
    /// A number of its method in the upper half, of its head in the lower.
    pub number: u32,
    /// How many frames the thread's stack has.
    pub depth: u32,
}

impl Loop {
    /// Whether the other one can still be under way when the thread is at this one: the
    /// activation that it is in has not returned.
    fn is_inside(self, other: Loop) -> bool {
        let same_method = self.number >> 16 == other.number >> 16;
        other.depth < self.depth || other.depth == self.depth && same_method
    }
}

/// What a thread did since it was last at the head of a loop.
#[derive(Clone, Debug)]
struct Iteration {
    of: Loop,
    state: i64,
    /// How many steps that others could notice were made before it, but for those of idle threads.
    began: u64,
    /// It was just begun by a jump back, after one that waits for these.
    is_next: bool,
    waits_for: Vec<Loc>,
    /// Since when the thread was idle, if the one before showed that.
    idle: Option<u64>,
    /// Each location once, with what was seen of it.
    reads: Vec<(Loc, u64)>,
    /// It did something besides reading, or saw a location change under its eyes.
    changed: bool,
    /// The one before, which goes on if the condition of the jump back does not hold.
    before: Option<Box<Iteration>>,
}

impl Iteration {
    fn new(of: Loop, state: i64, now: u64) -> Iteration {
        Iteration {
            of,
            state,
            began: now,
            is_next: false,
            waits_for: vec![],
            idle: None,
            reads: vec![],
            changed: false,
            before: None,
        }
    }
}

/// Those of one thread, the innermost last. Loops that were left without a word stay
/// until one around them goes on.
#[derive(Clone, Debug, Default)]
pub(super) struct Loops(Vec<Iteration>);

impl Loops {
    /// The thread read a location, and saw this version of it.
    pub fn read(&mut self, at: Loc, seen: u64) {
        for iteration in self.0.iter_mut().filter(|i| !i.changed) {
            match iteration.reads.iter().find(|(loc, _)| *loc == at) {
                Some((_, before)) => iteration.changed = *before != seen,
                None => iteration.reads.push((at, seen)),
            }
            iteration.changed |= iteration.reads.len() > MOST_READS;
        }
    }

    /// The thread did something that an iteration which waits does not do.
    pub fn changed(&mut self) {
        for iteration in &mut self.0 {
            iteration.changed = true;
        }
    }

    /// Forgets what has returned meanwhile.
    fn position(&mut self, of: Loop) -> Option<usize> {
        self.0.retain(|i| of.is_inside(i.of));
        self.0.iter().rposition(|i| i.of == of)
    }

    /// The thread jumps back to the head of a loop, if a condition that it has worked out
    /// does not say otherwise.
    pub fn again(&mut self, of: Loop, state: i64, now: u64) {
        let mut next = Iteration::new(of, state, now);
        next.is_next = true;
        if let Some(at) = self.position(of) {
            self.0.truncate(at + 1);
            if let Some(last) = self.0.pop() {
                if last.state == state && !last.changed {
                    next.idle = last.reads.is_empty().then_some(last.began);
                    next.waits_for = last.reads.iter().map(|(loc, _)| *loc).collect();
                    next.waits_for.sort_unstable();
                }
                next.before = Some(Box::new(last));
            }
        }
        if self.0.len() < MOST_LOOPS {
            self.0.push(next);
        }
    }

    /// The thread is at the head of a loop: what it has to wait for before it goes on, or
    /// since when it is idle. Unless it has jumped back there, the first iteration begins.
    pub fn head(&mut self, of: Loop, state: i64, now: u64) -> (Vec<Loc>, Option<u64>) {
        if let Some(at) = self.position(of) {
            let iteration = &mut self.0[at];
            iteration.before = None;
            if std::mem::take(&mut iteration.is_next) {
                return (
                    std::mem::take(&mut iteration.waits_for),
                    iteration.idle.take(),
                );
            }
            self.0.remove(at);
        }
        if self.0.len() < MOST_LOOPS {
            self.0.push(Iteration::new(of, state, now));
        }
        (vec![], None)
    }

    /// The thread goes on behind a conditional jump back, which may stand anywhere in the loop.
    /// If it was about to jump, the iteration that seemed to end goes on. (If the loop is left
    /// there, nobody comes back to it but by its head, where another one begins.)
    pub fn not_again(&mut self, of: Loop) {
        if let Some(at) = self.position(of)
            && self.0[at].is_next
        {
            self.0.truncate(at + 1);
            let next = self.0.pop();
            self.0.extend(next.and_then(|next| next.before).map(|i| *i));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTER: Loop = Loop {
        number: 1,
        depth: 5,
    };
    const INNER: Loop = Loop {
        number: 2,
        depth: 6,
    };

    fn at(slot: u32) -> Loc {
        Loc { obj: 1, slot }
    }

    /// A loop that is come to in the first state, reads, and jumps back in the second.
    fn waits_for(read: &[(u32, u64)], states: [i64; 2], act: bool) -> Vec<Loc> {
        let mut loops = Loops::default();
        assert!(loops.head(OUTER, states[0], 0).0.is_empty());
        for (slot, seen) in read {
            loops.read(at(*slot), *seen);
        }
        if act {
            loops.changed();
        }
        loops.again(OUTER, states[1], 0);
        loops.head(OUTER, states[1], 0).0
    }

    #[test]
    fn who_reads_and_changes_nothing_waits() {
        assert_eq!(
            waits_for(&[(2, 0), (1, 0), (2, 0)], [7, 7], false),
            [at(1), at(2)]
        );
        // A variable of its own, a step, a location that changed meanwhile, nothing read.
        assert!(waits_for(&[(1, 0)], [7, 8], false).is_empty());
        assert!(waits_for(&[(1, 0)], [7, 7], true).is_empty());
        assert!(waits_for(&[(1, 0), (1, 1)], [7, 7], false).is_empty());
        assert!(waits_for(&[], [7, 7], false).is_empty());
    }

    #[test]
    fn the_outer_loop_waits_for_what_the_inner_one_reads() {
        let mut loops = Loops::default();
        loops.head(OUTER, 1, 0);
        for turn in 0..2 {
            loops.head(INNER, turn, 0);
            loops.read(at(turn as u32), 0);
            loops.again(INNER, turn + 1, 0);
            assert!(loops.head(INNER, turn + 1, 0).0.is_empty(), "it counts");
        }
        loops.again(OUTER, 1, 0);
        assert_eq!(loops.head(OUTER, 1, 0).0, [at(0), at(1)]);
    }

    #[test]
    fn another_activation_is_another_loop() {
        let mut loops = Loops::default();
        loops.head(OUTER, 1, 0);
        loops.changed();
        let deeper = Loop { depth: 9, ..OUTER };
        loops.head(deeper, 1, 0);
        loops.read(at(1), 0);
        // The method has returned; what the outer one did still counts.
        loops.again(OUTER, 1, 0);
        assert!(loops.head(OUTER, 1, 0).0.is_empty());
    }

    #[test]
    fn who_reads_only_plain_memory_is_idle() {
        let mut loops = Loops::default();
        let again = |loops: &mut Loops, state: i64| {
            loops.again(OUTER, state, 5);
            loops.head(OUTER, state, 5)
        };
        loops.head(OUTER, 1, 3);
        assert_eq!(again(&mut loops, 1), (vec![], Some(3)));
        assert_eq!(again(&mut loops, 1), (vec![], Some(5)));
        assert_eq!(again(&mut loops, 2), (vec![], None));
        loops.read(at(1), 0);
        assert_eq!(again(&mut loops, 2), (vec![at(1)], None));
    }

    /// `while (r == 0) { r = a; if (r == 0) { r = b; } }`: a compiler lets the second
    /// condition jump back as well.
    #[test]
    fn an_iteration_goes_on_behind_a_jump_that_is_not_made() {
        let mut loops = Loops::default();
        loops.head(OUTER, 1, 0);
        for _ in 0..2 {
            loops.read(at(1), 0);
            loops.again(OUTER, 1, 0);
            loops.not_again(OUTER);
            // Others come there without such a jump.
            loops.not_again(OUTER);
            loops.read(at(2), 0);
            loops.again(OUTER, 1, 0);
            assert_eq!(loops.head(OUTER, 1, 0).0, [at(1), at(2)]);
        }
        loops.changed();
        loops.again(OUTER, 1, 0);
        loops.not_again(OUTER);
        loops.again(OUTER, 1, 0);
        assert!(loops.head(OUTER, 1, 0).0.is_empty());
    }

    #[test]
    fn what_was_left_is_forgotten() {
        let mut loops = Loops::default();
        loops.head(OUTER, 1, 0);
        loops.read(at(1), 0);
        // Come to anew.
        loops.head(OUTER, 1, 0);
        loops.again(OUTER, 1, 0);
        assert!(loops.head(OUTER, 1, 0).0.is_empty());
        // Methods that were called one after the other have returned; callers have not.
        for number in 0..40 {
            loops.head(
                Loop {
                    number: number << 16,
                    depth: 7,
                },
                0,
                0,
            );
        }
        let under_way: Vec<u32> = loops.0.iter().map(|i| i.of.depth).collect();
        assert_eq!(under_way, [OUTER.depth, 7]);
        for depth in 8..100 {
            loops.head(Loop { number: 1, depth }, 0, 0);
        }
        assert_eq!(loops.0.len(), MOST_LOOPS);
    }
}
