//! Where probes go: a class file in, the same class with calls into the bridge
//! out, and the tables that say what each call stands for.
//!
//! # The way of a class
//! [`Policy`] gives the class a [`Level`]. [`rewrite`] adds the shadow fields
//! (`shadow.rs`), then takes each method apart and edits it in three passes over
//! different things: the method as a whole (`bracket.rs`: synchronized methods,
//! class initialisers, finalisers, the models of `models.rs`), its data accesses
//! and monitors (`data.rs`), and its calls into Unsafe, VarHandle and arraycopy
//! (`calls.rs`). Accesses that cannot race, because no other thread knows the
//! object, are found before (`escape`) and get no probe; in loops that order nothing, checks
//! of elements are put off and made of whole ranges (`deferred`). A controlled run adds scheduling points (`points.rs`), and
//! synchronized methods lock by themselves (`monitor.rs`); for prediction the way
//! through the code is told (`follow.rs`). What the methods of the bridge are is
//! in [`probes`]; the crate `classfile` does the byte work. Before all that, a
//! class may be changed as its author might change it ([`repair`]).
//!
//! # What it claims
//! * Rewritten code does what it did: probes are straight-line, leave stack and
//!   locals as they were, and stand where an exception of the instruction they
//!   watch comes out as before.
//! * A method that cannot be rewritten stays as it was and is named; the rest of
//!   its class is rewritten. One that only gets too large loses the probes of
//!   its data accesses first.
//! * Sites speak of the original bytecode: pcs, lines, member names.
//! * A class is rewritten once: its own output comes back unchanged.
//!
//! Hidden classes and class files of any version need nothing special: the only
//! constants used are methods, fields and ints.

pub mod access;
mod bracket;
mod calls;
mod class;
mod compound;
mod control;
mod data;
mod deferred;
mod effects;
mod escape;
mod facts;
mod follow;
pub mod initialisers;
mod jdk_calls;
mod jumps;
mod locals;
mod method;
pub mod models;
mod monitor;
mod points;
mod policy;
pub mod probes;
pub mod repair;
mod shadow;
mod site;
mod spins;
mod trusted_sections;
mod virtual_threads;
mod weak;

pub use class::{Mode, Request, Rewritten, rewrite};
pub use control::{Control, Statement};
pub use policy::{FieldPattern, Level, Pattern, Policy, never_touched};
pub use probes::{BRIDGE, CONTROL_BRIDGE, Probe, SAMPLED, SAMPLING_BRIDGE, all_probes};
pub use shadow::{
    ALLOC_FIELD, FREEZE_FIELD, ID_FIELD, PREFIX, ShadowKind, THREAD_DESC, THREAD_FIELD, shadow_name,
};
pub use site::{FieldInfo, Holder, MemberRef, Shadow, Site, SiteKind, Skipped};

/// Why a class could not be rewritten at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Malformed(#[from] classfile::Error),
    #[error(transparent)]
    Pool(#[from] classfile::PoolFull),
}
