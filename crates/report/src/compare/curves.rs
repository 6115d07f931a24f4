//! Figures 6 and 7 of the paper as one SVG picture: how many races were known
//! after each run, and which part of those that only the last scheduler found.

use findings::compare::{Comparison, Found, Row, Subject};
use std::collections::BTreeSet;
use std::fmt::Write;

const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 300.0;
const MARGIN: f64 = 44.0;
/// Told apart also by people who do not see all colours.
const COLOURS: [&str; 7] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#000000",
];

struct Line {
    name: String,
    points: Vec<f64>,
}

/// The picture, or nothing if there are no runs.
pub fn svg(all: &Comparison, subjects: &[Subject]) -> Option<String> {
    let known: Vec<Line> = subjects
        .iter()
        .map(|subject| Line {
            name: name(subject),
            points: all.cumulative(subject).iter().map(|n| *n as f64).collect(),
        })
        .filter(|line| !line.points.is_empty())
        .collect();
    if known.is_empty() {
        return None;
    }
    let shares: Vec<Line> = subjects
        .iter()
        .filter_map(|subject| share(all, subject, subjects))
        .collect();
    let panels = 1 + usize::from(!shares.is_empty());
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        WIDTH * panels as f64,
        HEIGHT + 20.0 * subjects.len() as f64,
    );
    let most = known
        .iter()
        .flat_map(|l| &l.points)
        .fold(1.0, |a: f64, b| a.max(*b));
    panel(&mut text, 0.0, "races known after each run", &known, most);
    if !shares.is_empty() {
        let title = "% of the races that only it found";
        panel(&mut text, WIDTH, title, &shares, 100.0);
    }
    text.push_str("</svg>\n");
    Some(text)
}

fn name(subject: &Subject) -> String {
    match subject.depth {
        Some(depth) => format!("{} {depth}", subject.scheduler),
        None => subject.scheduler.clone(),
    }
}

/// How much of its new races a scheduler knew after each run.
fn share(all: &Comparison, subject: &Subject, subjects: &[Subject]) -> Option<Line> {
    let new = all.new_races(subject, subjects);
    if new.is_empty() {
        return None;
    }
    let mut rows: Vec<&Row> = all.runs_of(subject).collect();
    rows.sort_by_key(|row| row.run);
    let mut seen: BTreeSet<&Found> = BTreeSet::new();
    let points = rows.into_iter().map(|row| {
        seen.extend(row.races.iter().filter(|race| new.contains(race)));
        100.0 * seen.len() as f64 / new.len() as f64
    });
    Some(Line {
        name: name(subject),
        points: points.collect(),
    })
}

fn panel(text: &mut String, left: f64, title: &str, lines: &[Line], most: f64) {
    let runs = lines
        .iter()
        .map(|l| l.points.len())
        .max()
        .unwrap_or(1)
        .max(1);
    let x = |run: usize| {
        let step = (WIDTH - 2.0 * MARGIN) / (runs.max(2) - 1) as f64;
        left + MARGIN + step * run as f64
    };
    let y = |value: f64| HEIGHT - MARGIN - (HEIGHT - 2.0 * MARGIN) * value / most;
    let (bottom, right) = (y(0.0), left + WIDTH - MARGIN);
    let begin = left + MARGIN;
    // Writing into a string does not fail.
    let _ = writeln!(
        text,
        "<text x=\"{begin}\" y=\"24\" font-weight=\"bold\">{}</text>",
        escaped(title)
    );
    let _ = writeln!(
        text,
        "<path d=\"M{begin} {} V{bottom} H{right}\" fill=\"none\" stroke=\"#888\"/>",
        y(most)
    );
    for value in [0.0, most] {
        let _ = writeln!(
            text,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{value}</text>",
            begin - 6.0,
            y(value) + 4.0
        );
    }
    for run in [0, runs - 1] {
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x(run),
            bottom + 18.0,
            run + 1
        );
    }
    for (at, line) in lines.iter().enumerate() {
        let colour = COLOURS[at % COLOURS.len()];
        let points: Vec<String> = line
            .points
            .iter()
            .enumerate()
            .map(|(run, value)| format!("{:.1},{:.1}", x(run), y(*value)))
            .collect();
        let _ = writeln!(
            text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            points.join(" ")
        );
        for point in &points {
            let (px, py) = point.split_once(',').unwrap_or_default();
            let _ = writeln!(
                text,
                "<circle cx=\"{px}\" cy=\"{py}\" r=\"3\" fill=\"{colour}\"/>"
            );
        }
        let down = HEIGHT - 4.0 + 18.0 * at as f64;
        let _ = writeln!(
            text,
            "<rect x=\"{begin}\" y=\"{}\" width=\"14\" height=\"4\" fill=\"{colour}\"/><text x=\"{}\" y=\"{down}\">{}</text>",
            down - 6.0,
            begin + 20.0,
            escaped(&line.name)
        );
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn a_line_for_each_scheduler_and_one_for_what_is_new() {
        let subjects = [Subject::new("native"), Subject::new("drfinder")];
        let picture = svg(&sample(), &subjects).unwrap();
        assert_eq!(picture.matches("<polyline").count(), 3);
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
        assert_eq!(
            picture.matches("<text").count(),
            picture.matches("</text>").count()
        );
        assert_eq!(svg(&Comparison::default(), &subjects), None);
    }
}
