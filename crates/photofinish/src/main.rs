//! Photofinish: data races in Java programs. This crate is the command line:
//! arguments, configuration file, progress, output, exit codes. What the
//! commands do is in crate `engine`.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod commands;
mod config;
mod exit;
mod heartbeat;
mod outputs;
mod progress;
mod say;
mod show;

use clap::FromArgMatches;
use exit::Failure;
use findings::text::clean_lines;
use say::say;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = match config::extend(std::env::args_os().collect()) {
        Ok(args) => args,
        Err(failure) => return failed(failure),
    };
    let parsed = args::command().try_get_matches_from(args);
    let cli = match parsed.and_then(|matches| args::Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, anything else is bad usage.
            let code = if error.use_stderr() { exit::USAGE } else { 0 };
            print(&error, code);
            return code.into();
        }
    };
    let result = commands::run(cli.command);
    match result {
        Ok(code) => code.into(),
        Err(failure) => failed(failure),
    }
}

/// In colours on a terminal; names in it that would trick one are spelled out, without.
fn print(error: &clap::Error, code: u8) {
    let plain = error.render().to_string();
    let cleaned = clean_lines(&plain);
    if code == exit::USAGE && cleaned.trim_end() != plain.trim_end() {
        say!("{}", cleaned.trim_end());
    } else {
        let _ = error.print();
    }
}

fn failed(Failure { code, error }: Failure) -> ExitCode {
    say!("photofinish: {}", clean_lines(&format!("{error:#}")));
    code.into()
}
