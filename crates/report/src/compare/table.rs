//! The tables, as text with aligned columns.

use findings::compare::{Comparison, Found, Subject};
use findings::text::counted;
use std::collections::BTreeSet;

/// Table 3: a row a scheduler.
pub fn by_scheduler(all: &Comparison, subjects: &[Subject]) -> String {
    let mut rows = vec![
        [
            "scheduler",
            "runs",
            "races",
            "locations",
            "new",
            "missed",
            "seconds",
            "slowdown",
            "thrashing",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    let alone = all.seconds(&Subject::new("alone"));
    let slowdown = |seconds: Option<f64>| match (seconds, alone) {
        (Some(seconds), Some(alone)) if alone > 0.0 => format!("{:.1}x", seconds / alone),
        _ => String::new(),
    };
    let time = |seconds: Option<f64>| seconds.map_or_else(String::new, |s| format!("{s:.2}"));
    let total: BTreeSet<&Found> = subjects.iter().flat_map(|s| all.races(s)).collect();
    for name in ["alone", "phase-1"] {
        let subject = Subject::new(name);
        if let Some(seconds) = all.seconds(&subject) {
            let runs = all.runs_of(&subject).count().to_string();
            let mut row = vec![name.to_owned(), runs];
            row.extend([""; 4].map(str::to_owned));
            row.extend([time(Some(seconds)), slowdown(Some(seconds)), String::new()]);
            rows.push(row);
        }
    }
    for subject in subjects {
        let races = all.races(subject);
        let seconds = all.seconds(subject);
        rows.push(vec![
            subject.scheduler.clone(),
            all.runs_of(subject).count().to_string(),
            races.len().to_string(),
            locations(&races).to_string(),
            all.new_races(subject, subjects).len().to_string(),
            (total.len() - races.len()).to_string(),
            time(seconds),
            slowdown(seconds),
            thrashing(all, subject),
        ]);
    }
    format!(
        "{}{} in all, at {}\n",
        aligned(&rows),
        counted(total.len() as u64, "race", "races"),
        counted(locations(&total) as u64, "location", "locations"),
    )
}

/// Table 4: for each depth, races and, in brackets, those that no other scheduler
/// found.
pub fn by_depth(all: &Comparison, depths: &[Subject], others: &[Subject]) -> String {
    let mut rows = vec![vec!["depth".to_owned()], vec!["races (new)".to_owned()]];
    for subject in depths {
        let depth = subject.depth.unwrap_or(0);
        let races = all.races(subject).len();
        let new = all.new_races(subject, others).len();
        rows[0].push(depth.to_string());
        rows[1].push(format!("{races} ({new})"));
    }
    aligned(&rows)
}

fn locations(races: &BTreeSet<&Found>) -> usize {
    let locations: BTreeSet<&str> = races.iter().map(|r| r.location.as_str()).collect();
    locations.len()
}

fn thrashing(all: &Comparison, subject: &Subject) -> String {
    let hidden: Vec<_> = all
        .runs_of(subject)
        .filter_map(|row| row.hidden.as_ref())
        .collect();
    let suspended: u64 = hidden.iter().map(|h| h.suspended).sum();
    let thrashed: u64 = hidden.iter().map(|h| h.thrashed).sum();
    match suspended {
        0 => String::new(),
        n => format!("{:.1} %", 100.0 * thrashed as f64 / n as f64),
    }
}

/// The first column to the left, the others to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(&widths).enumerate() {
            match at {
                0 => line += &format!("{cell:<width$}"),
                _ => line += &format!("  {cell:>width$}"),
            }
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_table_says_who_found_what() {
        let subjects = [Subject::new("native"), Subject::new("drfinder")];
        let text = by_scheduler(&sample(), &subjects);
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|l| l.split_whitespace().collect())
            .collect();
        assert_eq!(lines[1], ["alone", "1", "0.50", "1.0x"]);
        assert_eq!(lines[2], ["phase-1", "1", "0.70", "1.4x"]);
        assert_eq!(
            lines[3],
            ["native", "2", "1", "1", "0", "2", "1.00", "2.0x"]
        );
        assert_eq!(
            lines[4],
            [
                "drfinder", "2", "3", "2", "2", "0", "2.00", "4.0x", "25.0", "%"
            ]
        );
        assert!(text.ends_with("3 races in all, at 2 locations\n"), "{text}");
    }

    #[test]
    fn depths_are_held_against_the_other_schedulers() {
        let mut all = sample();
        for row in &mut all.rows {
            if row.subject.scheduler == "drfinder" {
                row.subject.depth = Some(4);
            }
        }
        let depth = Subject {
            depth: Some(4),
            ..Subject::new("drfinder")
        };
        let text = by_depth(&all, &[depth], &[Subject::new("native")]);
        assert_eq!(text, "depth            4\nraces (new)  3 (2)\n");
    }
}
