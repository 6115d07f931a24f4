//! The shortest run that shows a finding, as a numbered list.

use super::{Page, Style};
use findings::confirmed::Replay;
use findings::story::StoryLine;
use findings::text::{clean, counted};
use std::io;

impl Page<'_> {
    pub(super) fn story(&mut self, story: &[StoryLine], replay: Option<&Replay>) -> io::Result<()> {
        if story.is_empty() {
            return Ok(());
        }
        writeln!(self.out, "\n  what happens{}:", cost(replay))?;
        let width = story.iter().map(|line| told(line).chars().count()).max();
        let width = width.unwrap_or(0).min(WIDEST);
        for (number, line) in (1..).zip(story) {
            let thread = clean(&line.thread);
            let text = told(line);
            let pad = " ".repeat(width.saturating_sub(text.chars().count()));
            let text = text.replacen(&thread, &self.paint(Style::Bold, &thread), 1);
            let place = match (&line.file, line.line) {
                (Some(file), Some(line)) => format!("{pad}   {}:{line}", clean(file)),
                _ => String::new(),
            };
            writeln!(self.out, "    {number}. {text}{place}")?;
        }
        Ok(())
    }
}

/// Places stand in a column, unless a line is longer.
const WIDEST: usize = 70;

fn told(line: &StoryLine) -> String {
    format!("{} {}", clean(&line.thread), clean(&line.text))
}

fn cost(replay: Option<&Replay>) -> String {
    let Some(preemptions) = replay.and_then(|replay| replay.preemptions) else {
        return String::new();
    };
    let many = match preemptions {
        0 => "without a preemption".to_owned(),
        n => format!(
            "with {}",
            counted(u64::from(n), "preemption", "preemptions")
        ),
    };
    let fewest = match replay.is_some_and(|replay| replay.fewest) && preemptions > 0 {
        true => ", no schedule has fewer",
        false => "",
    };
    format!(" ({many}{fewest})")
}
