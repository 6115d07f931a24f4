//! Adversarial memory: the writes that a read may see, after Flanagan and Freund, "Adversarial
//! Memory for Detecting Destructive Races" (PLDI 2010), for the Java memory model (JLS 17.4).
//!
//! # Rule
//! Threads execute their statements in order, one at a time; the order of all actions is the
//! *execution order*. Synchronisation actions are sequentially consistent in it. A plain read r may
//! see any write w to its location that was made before it in execution order, unless there is
//! another write w' with w hb w' and w' hb r (happens-before consistency, JLS 17.4.5). The default
//! value is a write that happens before everything (17.4.4).
//!
//! | access | sees | orders |
//! |---|---|---|
//! | plain | what happens-before allows | nothing |
//! | opaque | the same, and coherent: never a write older than one that was seen before | nothing |
//! | acquire, release | as opaque | the release that was read from, before the acquire |
//! | volatile | the newest write | all earlier volatile writes of the location, and releases read from |
//! | final field after its freeze | the frozen value | what came before the freeze |
//!
//! # Claim
//! Every execution that follows the rule is one of the Java memory model. Happens-before, reads-from
//! and coherence all point forward in execution order, so committing the actions in that order
//! satisfies the causality requirements (17.4.8), and no value comes out of thin air.
//!
//! # What it leaves out
//! Reads never see a write that comes later in execution order: load buffering (both threads read
//! 1 in `r1 = x; y = 1 || r2 = y; x = 1`) is allowed by Java and seen on hardware, and not here. For
//! accesses other than plain ones, the coherence order is the execution order: of two writes
//! the one made later is the newer, so that the weak outcomes of 2+2W and S with opaque accesses are left
//! out. `long` and `double` are not torn (17.7 would allow it; HotSpot on 64 bits does not).
//! Reading a final field orders everything before the freeze before all that follows the read; 17.5.1 promises
//! that only for what is reached through the field. Each of these makes outcomes fewer.
//!
//! [`History`] is what the agent keeps of a location; [`Memory`] is the whole model, for
//! programs that have no other state, and compared with brute force over the axioms in the tests.

mod history;
mod machine;

pub use history::{History, INITIAL, Write};
pub use machine::{Access, Loc, Lock, Memory};
