//! The long campaign: as many programs as there is time for. See the library.

use clap::Parser;
use oracle::campaign::{self, Config};
use oracle::sample::Case;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Runs random Java programs under the tool and holds every certain claim against brute force
#[derive(Debug, Parser)]
#[command(name = "oracle", max_term_width = 100)]
struct Args {
    /// How many programs
    #[arg(long, value_name = "N", default_value_t = 5000)]
    programs: u64,
    /// The number of the first one; each number is a program
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// Begin nothing new after this many minutes
    #[arg(long, value_name = "MINUTES")]
    minutes: Option<u64>,
    /// `confirm` gets one program of so many
    #[arg(long, value_name = "N", default_value_t = 24)]
    confirm_every: u64,
    /// `detect` runs every program under each scheduler, not one of them by turns
    #[arg(long)]
    every_scheduler: bool,
    /// Where programs that show a contradiction are kept
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// The tool [default: beside this program]
    #[arg(long, value_name = "PATH")]
    tool: Option<PathBuf>,
    /// Only print this program, and what brute force knows about it
    #[arg(long, value_name = "N")]
    show: Option<u64>,
}

fn main() -> anyhow::Result<ExitCode> {
    let args = Args::parse();
    if let Some(number) = args.show {
        let case = Case::draw(number);
        println!("{}\n{:#?}", case.source.text, case.truth);
        return Ok(ExitCode::SUCCESS);
    }
    let tool = match args.tool {
        Some(tool) => tool,
        None => std::env::current_exe()?.with_file_name("photofinish"),
    };
    let config = Config {
        tool,
        from: args.from,
        programs: args.programs,
        at_most: args.minutes.map(|m| Duration::from_secs(60 * m)),
        confirm_every: args.confirm_every,
        every_scheduler: args.every_scheduler,
        keep: args.keep,
    };
    let began = Instant::now();
    let tally = campaign::run(&config, |tally| {
        println!("{} s: {tally}\n", began.elapsed().as_secs());
    })?;
    for contradiction in &tally.contradictions {
        println!("{contradiction}");
    }
    Ok(
        match tally.contradictions.is_empty() && tally.broken.is_empty() {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        },
    )
}
