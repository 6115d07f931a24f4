//! A part of the work, and what puts parts together.

use super::Show;
use clap::Args;
use findings::shard::Shard;
use std::path::PathBuf;

/// Work that is divided over machines.
#[derive(Clone, Copy, Debug, Args)]
pub struct Sharding {
    /// Do only this part of the work: `3/16` is the third of sixteen; `photofinish merge` puts
    /// them together [default: all of it]
    #[arg(
        long,
        value_name = "I/N",
        default_value = "1/1",
        hide_default_value = true
    )]
    pub shard: Shard,
}

#[derive(Debug, Args)]
pub struct Merge {
    /// Files written with --json, directories of results, or directories that have some of
    /// either
    #[arg(required = true, value_name = "FILE")]
    pub from: Vec<PathBuf>,
    /// Keep the merged result in this directory, with the schedules to replay
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub show: Show,
}
