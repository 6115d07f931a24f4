//! `export`, and `replay --case`, which checks what `export --junit` wrote.

use crate::args::{Export, Replay};
use crate::exit::{self, Failure};
use crate::say::{self, say};
use engine::export::{Checked, ExportConfig, Form, check, export};
use findings::text::{clean, clean_lines, counted};
use std::path::Path;

pub fn command(args: &Export) -> Result<u8, Failure> {
    let form = match (&args.junit, &args.plain) {
        (Some(sources), _) => Form::Junit {
            sources: sources.clone(),
            resources: args.resources.clone(),
        },
        (None, Some(directory)) => Form::Plain {
            directory: directory.clone(),
        },
        (None, None) => return Err(Failure::usage("choose --junit DIR or --plain DIR")),
    };
    let exported = export(&ExportConfig {
        results: args.results.clone(),
        number: args.result,
        id: args.id.clone(),
        form,
    })?;
    let mut files = String::new();
    for file in &exported.files {
        files += &(clean_lines(&file.to_string_lossy()) + "\n");
    }
    say::answer(files)?;
    if !args.quiet {
        for note in &exported.notes {
            say!("{}", clean(note));
        }
    }
    Ok(exit::NOTHING_FOUND)
}

/// Whether what a case tells of happens again.
pub fn case(args: &Replay, file: &Path) -> Result<u8, Failure> {
    let checked = check(file, &args.launch.config())?;
    if !args.show.quiet {
        say!("{}", told(&checked));
    }
    Ok(match (&checked.found, &checked.why_not) {
        (Some(_), _) => exit::FOUND,
        (None, Some(_)) => exit::LIMIT,
        (None, None) => exit::NOTHING_FOUND,
    })
}

fn told(checked: &Checked) -> String {
    let case = &checked.case;
    let mut lines = vec![format!("{}: {}", clean(&case.id), clean(&case.what))];
    let tried = counted(checked.tried.into(), "other schedule", "other schedules");
    match &checked.found {
        Some(how) => {
            lines.push(format!("it happens: {}", clean(how)));
            for (number, line) in (1..).zip(&case.story) {
                let place = match (&line.file, line.line) {
                    (Some(file), Some(line)) => format!("   {}:{line}", clean(file)),
                    _ => String::new(),
                };
                let (thread, text) = (clean(&line.thread), clean(&line.text));
                lines.push(format!("  {number}. {thread} {text}{place}"));
            }
            if !checked.followed {
                lines.push(format!(
                    "the program was changed since: the schedule could not be followed, and one of {tried} \
                     showed it (places are those of then)"
                ));
            }
        }
        None => match checked.followed {
            true => lines.push("it does not happen: the schedule was followed to its end".to_owned()),
            false => lines.push(
                "it does not happen; the program was changed since, so the schedule could not be followed".to_owned(),
            ),
        },
    }
    if checked.found.is_none() {
        let all = match checked.is_complete {
            true => ": all with so few preemptions",
            false => ", not all that there are",
        };
        lines.push(format!("{tried} near it did not show it{all}"));
    }
    if let Some(why) = &checked.why_not {
        lines.push(format!("there is no answer: {}", clean(why)));
    }
    lines.join("\n")
}
