//! A hunt from a Rust program: `hunt JAVA-ARGUMENTS...`, what would follow `java`.
//!
//! Nothing but a JDK is needed besides: the agent is inside the library.

use engine::findings::suppress::name;
use engine::hunt::{HuntConfig, hunt};
use engine::{ControlConfig, Error, FAIL_ON, LaunchConfig, Progress};
use std::process::ExitCode;
use std::time::Duration;

/// Tells what is found while the hunt goes on.
struct Told;

impl Progress for Told {
    fn stage(&self, name: &str) {
        eprintln!("stage: {name}");
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Usage(why)) => {
            eprintln!("cannot be done: {why:#}");
            ExitCode::from(64)
        }
        Err(error) => {
            eprintln!("failed: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Error> {
    let results = tempfile::tempdir()?;
    let config = HuntConfig {
        trials: 5,
        runs: 4,
        control: ControlConfig {
            results: results.path().to_owned(),
            ..ControlConfig::default()
        },
        launch: LaunchConfig {
            time_limit: Some(Duration::from_secs(60)),
            ..LaunchConfig::new(std::env::args_os().skip(1))
        },
        ..HuntConfig::default()
    };
    let hunted = hunt(&config, &Told)?;
    println!("{:?}", hunted.answer.verdict(FAIL_ON));
    for race in &hunted.answer.report.races {
        println!("{} {:?} {}", race.id, race.status, name(&race.location));
    }
    Ok(())
}
