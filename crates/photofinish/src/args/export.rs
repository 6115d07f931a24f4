//! The arguments of `export`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Export {
    /// The finding, by its name in the report: `R1`, `D1`, `F1`
    #[arg(value_name = "ID")]
    pub id: String,
    /// Write a JUnit 5 test below this directory of sources: `src/test/java`
    #[arg(
        long,
        value_name = "DIR",
        required_unless_present = "plain",
        conflicts_with = "plain"
    )]
    pub junit: Option<PathBuf>,
    /// Where the schedule of the test goes [default: `resources` beside `java`]
    #[arg(long, value_name = "DIR", requires = "junit")]
    pub resources: Option<PathBuf>,
    /// Write a program of its own into this directory, which forces the order of the two
    /// accesses and needs nothing but a JDK
    #[arg(long, value_name = "DIR")]
    pub plain: Option<PathBuf>,
    /// Where the results were kept
    #[arg(long, value_name = "DIR", default_value = driver::store::DEFAULT)]
    pub results: PathBuf,
    /// An earlier result than the latest, by its number
    #[arg(long, value_name = "N")]
    pub result: Option<i64>,
    /// Do not say what to do with it
    #[arg(short, long)]
    pub quiet: bool,
}
