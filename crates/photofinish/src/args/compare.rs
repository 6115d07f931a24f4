//! `compare`.

use super::{Control, Launch};
use clap::Args;
use schedule::Scheduler;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Compare {
    #[command(flatten)]
    pub launch: Launch,
    /// What to compare
    #[arg(
        long,
        value_name = "SCHEDULER",
        value_parser = super::registry::scheduler(),
        value_delimiter = ',',
        default_values = engine::compare::DEFAULT.map(Scheduler::name)
    )]
    pub schedulers: Vec<Scheduler>,
    /// Runs under each scheduler
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Also runs of drfinder with each of these depths: `2..20` (every second
    /// one), or `4,12`
    #[arg(long, value_name = "DEPTHS", value_parser = depths)]
    pub depths: Option<Depths>,
    /// The curves, as a picture
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// All runs and what they found, as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Print nothing but the tables
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub control: Control,
}

/// Depths to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depths(pub Vec<u32>);

fn depths(text: &str) -> Result<Depths, String> {
    let number = |text: &str| match text.trim().parse::<u32>() {
        Ok(n @ 1..=1000) => Ok(n),
        _ => Err(format!("{text:?} is no depth; write 2..20 or 4,12")),
    };
    let all: Vec<u32> = match text.split_once("..") {
        Some((from, to)) => (number(from)?..=number(to)?).step_by(2).collect(),
        None => text.split(',').map(number).collect::<Result<_, _>>()?,
    };
    match all.is_empty() {
        true => Err("the range is empty".to_owned()),
        false => Ok(Depths(all)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_as_the_paper_has_them() {
        let all = depths("2..20").unwrap();
        assert_eq!(all.0, [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]);
        assert_eq!(depths("4,12").unwrap().0, [4, 12]);
        for bad in ["", "0", "a", "5..3", "1..x", "2,,3"] {
            assert!(depths(bad).is_err(), "{bad}");
        }
    }
}
