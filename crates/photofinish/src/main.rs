//! Photofinish: data races in Java programs. This crate is the command line:
//! arguments, configuration file, progress, output, exit codes. What the
//! commands do is in crate `engine`.

mod args;
mod commands;
mod config;
mod exit;
mod outputs;
mod progress;
mod show;

use clap::Parser;
use exit::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = match config::extend(std::env::args_os().collect()) {
        Ok(args) => args,
        Err(failure) => return failed(failure),
    };
    let cli = match args::Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, anything else is bad usage.
            let code = if error.use_stderr() { exit::USAGE } else { 0 };
            let _ = error.print();
            return code.into();
        }
    };
    let result = commands::run(cli.command);
    match result {
        Ok(code) => code.into(),
        Err(failure) => failed(failure),
    }
}

fn failed(Failure { code, error }: Failure) -> ExitCode {
    eprintln!("photofinish: {error:#}");
    code.into()
}
