//! What is made from the definition of the command line: completions for
//! shells, pages for `man`.

use crate::args::{self, Completions, Man};
use crate::exit::{self, Failure};
use crate::say;
use anyhow::Context;

/// `photofinish completions SHELL`.
pub fn completions(wanted: &Completions) -> Result<u8, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(wanted.shell, &mut args::command(), "photofinish", &mut text);
    say::answer(text)?;
    Ok(exit::NOTHING_FOUND)
}

/// `photofinish man [COMMAND]`.
pub fn man(asked: &Man) -> Result<u8, Failure> {
    let mut whole = args::command();
    whole.build();
    let wanted = match &asked.command {
        None => whole,
        Some(name) => {
            let known: Vec<String> = whole
                .get_subcommands()
                .map(|command| command.get_name().to_owned())
                .collect();
            let found = whole.find_subcommand(name).cloned();
            found.ok_or_else(|| {
                Failure::usage(format!(
                    "there is no command {name}; there are: {}",
                    known.join(", ")
                ))
            })?
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(wanted)
        .render(&mut text)
        .context("cannot make the page")?;
    say::answer(text)?;
    Ok(exit::NOTHING_FOUND)
}
