//! The arguments of `advise`.

use super::{Control, Launch, Show};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Advise {
    #[command(flatten)]
    pub launch: Launch,
    #[command(flatten)]
    pub show: Show,
    /// Advise on the program of this report (JSON), with its statements as
    /// scheduling points
    #[arg(long, value_name = "FILE", conflicts_with = "trace")]
    pub from: Option<PathBuf>,
    /// Analyse recorded traces instead of running a program; nothing is tried
    #[arg(long, value_name = "FILE", conflicts_with = "program")]
    pub trace: Vec<PathBuf>,
    /// Controlled runs to learn from, and with each repair
    #[arg(long, value_name = "N", default_value = "12", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Try at most this many repairs, the best first
    #[arg(long, value_name = "N", default_value = "16")]
    pub tries: usize,
    /// Explore the program with a repair, if it has at most this many
    /// executions; 0: only run it
    #[arg(long, value_name = "N", default_value = "300")]
    pub max_executions: u64,
    /// Free runs that measure what a repair costs; 0 for none
    #[arg(long, value_name = "N", default_value = "3")]
    pub cost_runs: u32,
    /// Runs side by side [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// The program's standard input [default: none]
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    #[command(flatten)]
    pub control: Control,
}
