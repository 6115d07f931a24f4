//! One test for each section of the programs in `programs/` (and for each row of a
//! table of such), named `COMMAND::DIRECTORY::SECTION`, so that one can be run by
//! name and a failure names it:
//!
//! ```text
//! cargo test -p photofinish --test sections racy
//! cargo test -p photofinish --test sections -- --list
//! ```
//!
//! Scenarios with a story of their own are in `tests/e2e`.

mod advise;
mod atomicity;
mod confirm;
mod control;
mod detected;
mod hunt;
mod jdks;
mod offline;
mod ordered;
mod predict;
mod redact;
mod unchanged;
mod verify;
mod virtual_threads;

use test_support::trials;

fn main() {
    // Those that take long come first, so that all cores have work to the end.
    let groups = [
        hunt::trials(),
        advise::trials(),
        confirm::trials(),
        ordered::trials(),
        unchanged::trials(),
        control::trials(),
        predict::trials(),
        atomicity::trials(),
        jdks::trials(),
        virtual_threads::trials(),
        verify::trials(),
        offline::trials(),
        detected::trials(),
    ];
    trials::run(groups.into_iter().flatten().collect());
}
