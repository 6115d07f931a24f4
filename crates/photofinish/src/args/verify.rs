//! The options of `verify`.

use super::{Control, Launch, Memory, Sharding, Show};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Verify {
    #[command(flatten)]
    pub launch: Launch,
    #[command(flatten)]
    pub show: Show,
    /// Which thread to prefer, to find a first race sooner
    #[arg(long, value_enum, default_value = "plain")]
    pub order: SearchOrder,
    /// Explore only executions with at most K preemptions: `preemptions=2`
    #[arg(long, value_name = "preemptions=K", value_parser = bound)]
    pub bound: Option<u32>,
    /// What racy reads may see; with `weak`, the program is explored a second time in which they may see
    /// older writes, too
    #[arg(long, value_enum, value_name = "MODEL", default_value = "sc")]
    pub memory: Memory,
    /// Stop after this many executions that show a race
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub threshold: Option<u64>,
    /// Stop at the first race, deadlock or uncaught exception
    #[arg(long, value_enum, value_name = "first")]
    pub stop_at: Option<StopAt>,
    /// Stop after this many executions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_executions: Option<u64>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_seconds: Option<u64>,
    /// Continue the exploration of this program in --results that was stopped,
    /// interrupted or killed; limits may differ
    #[arg(long)]
    pub resume: bool,
    /// Executions side by side [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub jobs: Option<u32>,
    /// Make every execution in a JVM of its own
    #[arg(long)]
    pub isolate: bool,
    /// The program's standard input [default: none]
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Begin with the racing statements of this result as scheduling points: a merged one of
    /// shards that did not know of the same
    #[arg(long, value_name = "FILE")]
    pub points: Option<PathBuf>,
    #[command(flatten)]
    pub sharding: Sharding,
    #[command(flatten)]
    pub control: Control,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum StopAt {
    First,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SearchOrder {
    /// As few switches as possible
    Plain,
    /// Writes
    WritesFirst,
    /// Accesses to a location that another thread wrote
    WatchWritten,
    /// Threads that did not recently acquire what another had released
    AvoidReleaseAcquire,
    /// Acquires of what no thread has released yet
    AcquireFirst,
}

impl SearchOrder {
    pub fn order(self) -> explore::Order {
        match self {
            SearchOrder::Plain => explore::Order::Plain,
            SearchOrder::WritesFirst => explore::Order::WritesFirst,
            SearchOrder::WatchWritten => explore::Order::WatchWritten,
            SearchOrder::AvoidReleaseAcquire => explore::Order::AvoidReleaseAcquire,
            SearchOrder::AcquireFirst => explore::Order::AcquireFirst,
        }
    }
}

/// `preemptions=2`.
fn bound(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix("preemptions=");
    let number = number.ok_or("write preemptions=K, such as preemptions=2")?;
    number
        .parse()
        .map_err(|_| format!("{number:?} is no number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds() {
        assert_eq!(bound("preemptions=2"), Ok(2));
        for bad in ["", "2", "preemptions=", "preemptions=-1", "switches=2"] {
            assert!(bound(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn orders_have_the_names_that_the_exploration_knows() {
        for order in SearchOrder::value_variants() {
            let name = order.to_possible_value().unwrap();
            assert_eq!(explore::Order::named(name.get_name()), Some(order.order()));
        }
    }
}
