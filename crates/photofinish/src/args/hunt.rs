//! `hunt`, and the commands that are made from these definitions themselves.

use super::{Control, Launch, Memory, Sharding, Show, StopAt};
use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Hunt {
    #[command(flatten)]
    pub launch: Launch,
    #[command(flatten)]
    pub show: Show,
    /// Runs for each pair of statements that may race
    #[arg(long, value_name = "N", default_value = "20", value_parser = clap::value_parser!(u32).range(1..))]
    pub trials: u32,
    /// Controlled runs that look for races that free runs do not show; more while they cost little
    /// and show something new
    #[arg(long, value_name = "N", default_value = "20")]
    pub runs: u32,
    /// What racy reads may see in trials of races of which nothing came otherwise: the newest
    /// write, or also older ones that Java allows
    #[arg(long, value_enum, value_name = "MODEL", default_value = "sc")]
    pub memory: Memory,
    /// Stages to leave out, as the summary calls them: `advise`, `predict`
    #[arg(long, value_name = "STAGE", value_delimiter = ',')]
    pub skip: Vec<String>,
    /// Stop when a race, stale value, deadlock or uncaught exception is certain
    #[arg(long, value_enum, value_name = "first")]
    pub stop_at: Option<StopAt>,
    /// Runs side by side [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// The program's standard input in every run; `-` reads it from ours
    /// [default: none]
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    #[command(flatten)]
    pub sharding: Sharding,
    #[command(flatten)]
    pub control: Control,
}

#[derive(Debug, Args)]
pub struct Completions {
    pub shell: Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// The command to document, instead of the first page
    pub command: Option<String>,
}
