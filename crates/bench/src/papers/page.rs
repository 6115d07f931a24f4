//! `docs/papers-tables.md`: a part for each paper between marks, so that one can be measured again
//! without the others.

use anyhow::{Context, Result};
use std::path::Path;

pub const FILE: &str = "papers-tables.md";

/// Puts the tables of a paper into the page.
pub fn write(docs: &Path, paper: &str, made: &str, tables: &str) -> Result<()> {
    let path = docs.join(FILE);
    let page = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let page = with(&page, paper, &format!("{made}\n\n{tables}"))
        .with_context(|| format!("{} has no place for {paper}", path.display()))?;
    std::fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))
}

fn with(page: &str, paper: &str, text: &str) -> Option<String> {
    let begin = format!("<!-- {paper}: written by ./bench --only {paper} -->\n");
    let (before, rest) = page.split_once(&begin)?;
    let (_, after) = rest.split_once("<!-- end -->")?;
    Some(format!(
        "{before}{begin}{}\n<!-- end -->{after}",
        text.trim_end()
    ))
}

/// When and on what they were measured.
pub fn made(machine: &str, quick: bool) -> String {
    let seconds = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("?").to_owned();
    let how = if quick { ", --quick" } else { "" };
    format!("{}, {}, load {load}{how}.", date(seconds), machine.trim())
}

/// The day of a time since 1970 (Hinnant's algorithm, "chrono-compatible low-level date algorithms").
fn date(seconds: u64) -> String {
    let days = (seconds / 86_400) as i64 + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_part_is_replaced() {
        let part = |name: &str, text: &str| {
            format!("<!-- {name}: written by ./bench --only {name} -->\n{text}\n<!-- end -->\n")
        };
        let page = format!("a\n{}b\n{}", part("jrf", "old"), part("drfinder", "kept"));
        let now = with(&page, "jrf", "new\n\n").unwrap();
        assert_eq!(
            now,
            format!("a\n{}b\n{}", part("jrf", "new"), part("drfinder", "kept"))
        );
        assert_eq!(with(&page, "racefuzzer", "new"), None);
    }

    #[test]
    fn the_page_has_a_place_for_every_paper() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../docs")
            .join(FILE);
        let page = std::fs::read_to_string(page).unwrap();
        for paper in crate::papers::NAMES {
            assert!(with(&page, paper, "").is_some(), "{paper}");
        }
    }

    #[test]
    fn days() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(1_767_225_599), "2025-12-31");
    }
}
