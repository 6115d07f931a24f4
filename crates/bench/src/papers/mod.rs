//! The tables of the four papers, with our figures beside theirs: `programs/papers/*.toml` has every
//! row of theirs and the program that stands for it, and the commands of the tool measure that.
//!
//! ```text
//! rows        what the papers' tables say
//! workshop    compiles programs, runs them alone and under the tool
//! races       what a report says, counted as the papers count
//! racefuzzer  table 1
//! jpredictor  tables 1 to 3
//! jrf         tables 1 to 8
//! drfinder    tables 2 to 4, figures 6 to 8
//! page        docs/papers-tables.md
//! ```
//!
//! Seconds are processor time, of the tool and its JVMs, unless a table says otherwise: other
//! work on the machine makes them a little longer, not many times. Cells are `theirs / ours`.

mod drfinder;
mod jpredictor;
mod jrf;
pub mod page;
mod racefuzzer;
mod races;
pub mod rows;
pub mod workshop;

use anyhow::Result;
use rows::Paper;
use workshop::Workshop;

/// Names for `--only`; `papers` means all of them.
pub const ALL: &str = "papers";
pub const NAMES: [&str; 4] = ["racefuzzer", "jpredictor", "jrf", "drfinder"];

/// The tables of a paper as Markdown; `tell` hears of each row.
pub fn measure(paper: &str, shop: &Workshop<'_>, tell: &dyn Fn(&str)) -> Result<String> {
    let rows = Paper::load(shop.programs, paper)?;
    match rows {
        Paper::RaceFuzzer(rows) => racefuzzer::tables(&rows, shop, tell),
        Paper::JPredictor(rows) => jpredictor::tables(&rows, shop, tell),
        Paper::Jrf(rows) => jrf::tables(&rows, shop, tell),
        Paper::DrFinder(rows) => drfinder::tables(&rows, shop, tell),
    }
}

/// A line of a table.
fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// The head of a table.
fn head(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    line(&names) + &line(&vec!["---".to_owned(); names.len()])
}

/// A line with their figures and ours.
fn compared<S: AsRef<str>>(name: &str, theirs: &[S], ours: &[String], note: String) -> String {
    let cells = { theirs.iter().zip(ours) }.map(|(theirs, ours)| both(theirs.as_ref(), ours));
    let cells = { [name.to_owned()].into_iter() }.chain(cells).chain([note]);
    line(&cells.collect::<Vec<_>>())
}

/// Their figure and ours.
fn both(theirs: &str, ours: &str) -> String {
    format!("{theirs} / {ours}")
}
