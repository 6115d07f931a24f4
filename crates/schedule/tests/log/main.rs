//! Schedule logs: what is written is read, of what is cut off a prefix, and any
//! bytes at all without harm.

mod damage;
mod round_trip;
mod seeds;
mod table;
