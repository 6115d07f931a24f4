//! What is predicted from one run of a random program, put to the program
//! itself and to all its schedules.

mod atomicity;
mod oracle;
mod properties;
mod soundness;
mod stale;
mod stale_pieces;
mod windows;
