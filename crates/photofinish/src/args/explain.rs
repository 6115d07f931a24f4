//! The arguments of `explain` and `doctor`.

use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Explain {
    /// What to explain, by its name in the report: `R1`, `D1`, `F1`
    #[arg(value_name = "ID")]
    pub id: String,
    /// A file written with --json, or a directory of results
    #[arg(long, value_name = "FILE", default_value = driver::store::DEFAULT)]
    pub from: PathBuf,
    /// Of a directory: an earlier result than the latest, by its number
    #[arg(long, value_name = "N")]
    pub result: Option<i64>,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// The java launcher or JDK directory [default: JAVA_HOME, then PATH]
    #[arg(long, value_name = "PATH")]
    pub java: Option<PathBuf>,
}
