//! How a race or an uncaught exception came about, as a table with one column a thread: the
//! steps before the two accesses stand side by side, and they themselves; or the last steps
//! up to that of the thread that failed.

use super::{Page, Style};
use crate::timeline::{Row, Timeline, timelines_of_finding};
use findings::confirmed::Failure;
use findings::result::Race;
use findings::text::clean;
use std::io;

/// Rows shown unless everything is asked for; all of them then, up to a limit.
const SHORT: usize = 8;
const LONG: usize = 60;

/// The widest a column gets.
const WIDEST: usize = 28;

impl Page<'_> {
    pub(super) fn interleaving(&mut self, race: &Race) -> io::Result<()> {
        let kept = self.options.timelines;
        let kept = kept.and_then(|all| {
            timelines_of_finding(all, &race.id).find(|(_, t)| t.meetings().next().is_some())
        });
        let Some((name, timeline)) = kept else {
            return Ok(());
        };
        let most = if self.options.verbose { LONG } else { SHORT };
        let timeline = timeline.shortened(usize::MAX);
        // They may meet often; what came of it came of the last time.
        let Some(meeting) = timeline.meetings().last() else {
            return Ok(());
        };
        let from = (meeting + 1).saturating_sub(most);
        let rows = timeline.rows.get(from..=meeting).unwrap_or_default();
        writeln!(
            self.out,
            "\n  how they met in {} ({} before, then side by side):",
            clean(name),
            match from {
                0 => "all".to_owned(),
                _ => format!("the last {} rows", rows.len().saturating_sub(1)),
            }
        )?;
        self.table(&timeline, rows)
    }

    pub(super) fn before_failure(&mut self, failure: &Failure) -> io::Result<()> {
        let kept = self.options.timelines;
        let Some((_, timeline)) =
            kept.and_then(|all| timelines_of_finding(all, &failure.id).next())
        else {
            return Ok(());
        };
        let most = if self.options.verbose { LONG } else { SHORT };
        let timeline = timeline.shortened(usize::MAX);
        let failed = |row: &Row| {
            let lane = row.lane.and_then(|lane| timeline.lanes.get(lane));
            lane.is_some_and(|lane| lane.name == failure.thread)
        };
        let Some(last) = timeline.rows.iter().rposition(failed) else {
            return Ok(());
        };
        let from = (last + 1).saturating_sub(most);
        let rows = &timeline.rows[from..=last];
        let before = match from {
            0 => "what the threads did before".to_owned(),
            _ => format!("the last {} rows before", rows.len()),
        };
        writeln!(self.out, "\n  {before}:")?;
        self.table(&timeline, rows)?;
        writeln!(self.out)
    }

    fn table(&mut self, timeline: &Timeline, rows: &[Row]) -> io::Result<()> {
        // Only threads that do something here.
        let takes_part = |lane: usize| {
            let in_row = |row: &Row| {
                let beside = row.beside.as_ref().map(|b| b.lane);
                row.lane == Some(lane) || beside == Some(lane)
            };
            rows.iter().any(in_row)
        };
        let lanes: Vec<usize> = (0..timeline.lanes.len())
            .filter(|l| takes_part(*l))
            .collect();
        let title = |lane: &usize| {
            let lane = &timeline.lanes[*lane];
            cut(&match lane.name.is_empty() {
                true => format!("thread {}", lane.thread),
                false => lane.name.clone(),
            })
        };
        let cells = |row: &Row| -> Vec<String> {
            let cell = |lane: &usize| match &row.beside {
                _ if row.lane == Some(*lane) => cut(&row.what),
                Some(beside) if beside.lane == *lane => cut(&beside.what),
                _ => String::new(),
            };
            lanes.iter().map(cell).collect()
        };
        let mut widths: Vec<usize> = lanes.iter().map(|l| width(&title(l))).collect();
        for row in rows {
            for (known, cell) in widths.iter_mut().zip(cells(row)) {
                *known = (*known).max(width(&cell));
            }
        }
        let titles: Vec<String> = lanes.iter().map(title).collect();
        let bar = self.paint(Style::Blue, "|");
        let line = |number: &str, cells: &[String], style: Option<Style>| {
            let mut text = format!("  {number:>6} {bar}");
            for (cell, width) in cells.iter().zip(&widths) {
                let padded = format!(" {cell:<width$} ");
                text += &style.map_or(padded.clone(), |style| self.paint(style, &padded));
                text += &bar;
            }
            text
        };
        let mut text = vec![line("step", &titles, Some(Style::Bold))];
        for row in rows {
            let number = row.step.map(|step| step.to_string()).unwrap_or_default();
            let style = row.beside.as_ref().map(|_| Style::Red);
            let at = |index: Option<usize>| {
                let place = index.and_then(|index| timeline.places.get(index))?;
                let line = place.line?;
                Some(format!("{}:{line}", place.file.as_deref()?))
            };
            let mut places: Vec<String> = at(row.place).into_iter().collect();
            places.extend(row.beside.as_ref().and_then(|b| at(b.place)));
            let line = match row.lane {
                Some(_) => format!(
                    "{} {}",
                    line(&number, &cells(row), style),
                    clean(&places.join(" first, then "))
                ),
                None => format!("  {:>6} {bar} {}", "", cut(&row.what)),
            };
            text.push(line);
        }
        text.iter()
            .try_for_each(|line| writeln!(self.out, "{}", line.trim_end()))
    }
}

fn cut(text: &str) -> String {
    let text = clean(text);
    match width(&text) > WIDEST {
        true => text.chars().take(WIDEST - 1).chain(['…']).collect(),
        false => text,
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}
