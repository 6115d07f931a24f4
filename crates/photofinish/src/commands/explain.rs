//! `explain` and `doctor`: what people ask before and after a run.

use crate::args::{Doctor, Explain};
use crate::exit::{self, Failure};
use crate::say::{self, say};
use engine::doctor::{Health, examine};
use engine::saved;
use findings::text::clean_lines;

pub fn explain(args: &Explain) -> Result<u8, Failure> {
    let report = saved::load(&args.from, args.result)?;
    let mut text = Vec::new();
    if !report::explain::explain(&report, &args.id, &mut text)? {
        return Err(Failure::usage(format!(
            "{} has no {}; `photofinish report {}` lists what there is",
            args.from.display(),
            args.id,
            args.from.display()
        )));
    }
    let origin = saved::origin(&args.from, args.result, &report);
    text.extend(format!("  = {}\n", clean_lines(&origin)).bytes());
    say::answer(text)?;
    Ok(exit::NOTHING_FOUND)
}

pub fn doctor(args: &Doctor) -> Result<u8, Failure> {
    let checks = examine(args.java.as_deref());
    let mut text = String::new();
    for check in &checks {
        let mark = match check.health {
            Health::Good => "ok     ",
            Health::Warning => "warning",
            Health::Bad => "bad    ",
        };
        text += &format!("{mark} {}: {}\n", check.what, clean_lines(&check.found));
        if let Some(repair) = &check.repair {
            text += &format!("        -> {}\n", clean_lines(repair));
        }
    }
    say::answer(text)?;
    Ok(
        match checks.iter().any(|check| check.health == Health::Bad) {
            true => {
                say!("photofinish: programs cannot be run here");
                exit::NO_JAVA
            }
            false => exit::NOTHING_FOUND,
        },
    )
}
