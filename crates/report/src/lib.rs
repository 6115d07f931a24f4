//! Results rendered for people and machines. Pure: bytes and writers come in,
//! text goes to writers; source files are asked for through a trait.
//!
//! ```text
//! finding, control  what a run says ─► merge ─► result, confirmed  the JSON contract ─► terminal, html, sarif, junit
//! timeline          a schedule as a picture ─► terminal, html, sarif, perfetto
//! absorb            two results of one program made one
//! suppress, baseline  what is known already
//! advice            what to change, and what was tried of it
//! exploration       whether every schedule was seen
//! ```

mod absorb;
pub mod advice;
pub mod baseline;
pub mod compare;
pub mod confirmed;
pub mod control;
pub mod exploration;
pub mod finding;
pub mod fingerprint;
pub mod html;
pub mod junit;
pub mod merge;
pub mod perfetto;
pub mod result;
pub mod sarif;
pub mod snippet;
pub mod suppress;
pub mod terminal;
pub mod text;
pub mod timeline;
