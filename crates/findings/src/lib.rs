//! The report's model, apart from how it is shown. Pure: values in, values out.
//!
//! ```text
//! finding             what a run said
//! merge               runs, and whole results, folded into one result
//! parts               results of shards or machines made one, in any order
//! shard               a part of the work, and which parts a result has
//! digests             sets that parts of divided work have in common
//! result              the JSON contract; parts of it: confirmed, advice,
//!                     prediction, exploration
//! group               one finding for what one repair mends
//! schema              its JSON schema, from the types
//! suppress, baseline  what is known already
//! compare             several schedulers side by side
//! fingerprint         the same finding in another version of the program
//! text                names of the program's, safe to print
//! story               what happened, in a few lines
//! sources             where source lines come from
//! ```

pub mod advice;
pub mod baseline;
pub mod compare;
pub mod confirmed;
pub mod digests;
pub mod exploration;
pub mod finding;
pub mod fingerprint;
pub mod group;
pub mod merge;
pub mod parts;
pub mod prediction;
pub mod result;
pub mod sampling;
pub mod schema;
pub mod shard;
pub mod sources;
pub mod story;
pub mod suppress;
pub mod text;
