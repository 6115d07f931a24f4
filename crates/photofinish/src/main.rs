//! Photofinish: data races in Java programs. This crate is the command line;
//! what it does lives in the crates it puts together.

mod advise;
mod args;
mod compare;
mod config;
mod confirm;
mod controlled_run;
mod detect;
mod exit;
mod full;
mod generated;
mod hunt;
mod launch;
mod may_trigger;
mod offline;
mod outputs;
mod predict;
mod progress;
mod record;
mod replay;
mod saved;
mod session;
mod show;
mod sources;
mod suppress;
mod trace_command;
mod verify;

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
    let result = match cli.command {
        args::Command::Hunt(args) => hunt::command(&args),
        args::Command::Detect(args) => detect::command(&args),
        args::Command::Compare(args) => compare::command(&args),
        args::Command::Advise(args) => advise::command(*args),
        args::Command::Confirm(args) => confirm::command(args),
        args::Command::Replay(args) => replay::command(&args),
        args::Command::Record(args) => record::command(&args),
        args::Command::Predict(args) => predict::command(&args),
        args::Command::Verify(args) => verify::command(&args),
        args::Command::Trace(command) => trace_command::command(&command),
        args::Command::Report(args) => show::command(&args),
        args::Command::Completions(args) => generated::completions(&args),
        args::Command::Man(args) => generated::man(&args),
    };
    match result {
        Ok(code) => code.into(),
        Err(failure) => failed(failure),
    }
}

fn failed(Failure { code, error }: Failure) -> ExitCode {
    eprintln!("photofinish: {error:#}");
    code.into()
}
