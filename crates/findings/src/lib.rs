//! The report's model, apart from how it is shown. Pure: values in, values out.
//!
//! ```text
//! finding             what a run said ─► merge ─► result, confirmed  the JSON contract
//! absorb              two results of one program made one
//! suppress, baseline  what is known already
//! compare             several schedulers side by side
//! fingerprint         the same finding in another version of the program
//! text                names of the program's, safe to print
//! sources             where source lines come from
//! ```

mod absorb;
pub mod baseline;
pub mod compare;
pub mod confirmed;
pub mod finding;
pub mod fingerprint;
pub mod merge;
pub mod result;
pub mod sources;
pub mod suppress;
pub mod text;
