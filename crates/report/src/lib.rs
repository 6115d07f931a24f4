//! Findings rendered for people and machines. Pure: findings and writers come
//! in, text goes to writers; source files are asked for through a trait.
//!
//! ```text
//! findings (a crate)  ─► terminal, html, sarif, junit
//! timeline            a schedule as a picture ─► terminal, html, sarif, perfetto
//! advice              what to change, and what was tried of it
//! explain             one finding at length
//! exploration         whether every schedule was seen
//! compare             several schedulers side by side
//! violations          atomicity violations and properties
//! ```

pub mod advice;
pub mod compare;
pub mod explain;
pub mod exploration;
pub mod html;
pub mod junit;
pub mod perfetto;
pub mod sarif;
pub mod snippet;
pub mod terminal;
pub mod timeline;
pub mod violations;
