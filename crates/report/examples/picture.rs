//! Terminal output with colours, from standard input, as an SVG picture on
//! standard output. `scripts/picture` makes the README's with it.

use std::fmt::Write;
use std::io::Read;

/// Of a character, in pixels; for a monospace font at this size.
const WIDE: f64 = 7.9;
const HIGH: f64 = 19.0;
const SIZE: u32 = 13;
const MARGIN: f64 = 18.0;

/// The longest line that is shown whole.
const COLUMNS: usize = 112;

fn main() -> std::io::Result<()> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    print!("{}", picture(&text));
    Ok(())
}

fn picture(text: &str) -> String {
    let lines: Vec<Vec<(&str, String)>> = text.lines().map(pieces).collect();
    let long = |line: &Vec<(&str, String)>| line.iter().map(|(_, t)| t.chars().count()).sum();
    let columns: usize = lines.iter().map(long).max().unwrap_or(0);
    let width = columns as f64 * WIDE + 2.0 * MARGIN;
    let height = lines.len() as f64 * HIGH + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"output of photofinish\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#14161a\"/>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" \
         font-size=\"{SIZE}\" fill=\"#e7e6e2\" xml:space=\"preserve\">\n"
    );
    for (row, line) in lines.iter().enumerate() {
        let y = MARGIN + (row as f64 + 0.75) * HIGH;
        let mut column = 0;
        for (style, piece) in line {
            // Each piece at its place: fonts differ, columns must not. Browsers
            // drop spaces at either end.
            let indent = piece.chars().take_while(|c| *c == ' ').count();
            let x = MARGIN + (column + indent) as f64 * WIDE;
            column += piece.chars().count();
            let piece = piece.trim();
            let length = piece.chars().count() as f64 * WIDE;
            if piece.is_empty() {
                continue;
            }
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y:.1}\" textLength=\"{length:.1}\" {style}>{}</text>",
                escaped(piece)
            );
        }
    }
    svg + "</g>\n</svg>\n"
}

/// Stretches of one style.
fn pieces(line: &str) -> Vec<(&'static str, String)> {
    let mut pieces = Vec::new();
    let mut style = "";
    let mut shown = 0;
    for (index, part) in line.split("\u{1b}[").enumerate() {
        let text = match part.split_once('m').filter(|_| index > 0) {
            Some((code, text)) => {
                style = match code {
                    "1" => "font-weight=\"bold\"",
                    "1;31" => "font-weight=\"bold\" fill=\"#ff8a80\"",
                    "1;33" => "font-weight=\"bold\" fill=\"#f1c169\"",
                    "1;34" => "font-weight=\"bold\" fill=\"#8cc0f5\"",
                    _ => "",
                };
                text
            }
            None => part,
        };
        let room = COLUMNS.saturating_sub(shown);
        let count = text.chars().count();
        let mut text: String = text.chars().take(room).collect();
        if count > room && room > 0 {
            text.pop();
            text.push('…');
        }
        shown += text.chars().count();
        pieces.push((style, text));
    }
    pieces
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;")
}
