//! The report of a hunt as it is on the terminal, without what differs from run
//! to run: numbers of runs, trials and steps, times, paths, who found a race in
//! which order, the rows of an interleaving. What is left is compared with
//! `programs/examples/hunt/`.

use std::collections::BTreeSet;

/// What is left of a report.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Redacted {
    pub races: BTreeSet<Race>,
    /// All after the races.
    pub rest: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Race {
    /// The location, as its first line has it.
    pub location: String,
    pub text: String,
    /// What came of it; which of these were seen is up to chance.
    pub outcomes: BTreeSet<String>,
}

const RULE: &str = "----\n";

impl Redacted {
    /// Of what a hunt wrote. Only of `wanted` locations must something be said.
    pub fn from_report(report: &str, wanted: &BTreeSet<&str>) -> Redacted {
        let mut redacted = Redacted::default();
        let mut blocks: Vec<Vec<&str>> = vec![Vec::new()];
        // Nothing is said of threads that were held back, if none was, nor of runs without a forced
        // order, if all went well; what a log has of the progress depends on the time.
        let sometimes = [
            "threads were held back",
            "runs without a forced order: ",
            "photofinish: ",
        ];
        let always = |line: &&str| !sometimes.iter().any(|start| line.starts_with(start));
        for line in report.lines().filter(always) {
            let begins = is_race(line) || is_other(line);
            let ends = ends_races(line);
            let first = blocks.last().and_then(|block| block.first());
            let inside = first.is_some_and(|line| is_race(line) || is_other(line));
            if begins || ends && inside {
                blocks.push(Vec::new());
            }
            if let Some(block) = blocks.last_mut() {
                block.push(line);
            }
        }
        for block in blocks {
            match block.first() {
                Some(head) if is_race(head) => {
                    if wanted.contains(location(head).as_str()) {
                        redacted.races.insert(race(&block));
                    }
                }
                Some(head) if is_other(head) => {}
                _ => redacted.rest += &rest(&block, wanted),
            }
        }
        redacted
    }

    /// Of a golden file.
    pub fn read(text: &str) -> Redacted {
        let mut parts: Vec<&str> = text.split(RULE).collect();
        let rest = parts.pop().unwrap_or_default().to_owned();
        let races = parts.into_iter().map(|part| {
            let (text, outcomes) = part.split_once("came of it:\n").unwrap_or((part, ""));
            Race {
                location: location(text),
                text: text.to_owned(),
                outcomes: outcomes.lines().map(str::to_owned).collect(),
            }
        });
        Redacted {
            races: races.collect(),
            rest,
        }
    }

    /// Adds what another run said.
    pub fn add(&mut self, other: Redacted) {
        for mut race in other.races {
            let same = self.races.iter().find(|known| known.text == race.text);
            if let Some(same) = same.cloned() {
                self.races.remove(&same);
                race.outcomes.extend(same.outcomes);
            }
            self.races.insert(race);
        }
        self.rest = other.rest;
    }

    /// As a golden file has it.
    pub fn write(&self) -> String {
        let mut out = String::new();
        for race in &self.races {
            out += &race.text;
            out += "came of it:\n";
            race.outcomes.iter().for_each(|o| out += &format!("{o}\n"));
            out += RULE;
        }
        out + &self.rest
    }
}

fn is_race(line: &str) -> bool {
    line.starts_with('R')
        && [": race on ", ": race inside "]
            .iter()
            .any(|w| line.contains(w))
}

/// A deadlock or an uncaught exception, `D1: ...`: what a race led to in some runs.
fn is_other(line: &str) -> bool {
    let rest = line.strip_prefix(['D', 'F']).unwrap_or_default();
    let number = rest.split(':').next().unwrap_or_default();
    !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
}

/// What may come after the races.
fn ends_races(line: &str) -> bool {
    ["warning:", "not instrumented:", "no model:"]
        .iter()
        .any(|start| line.starts_with(start))
        || line.contains(" classes instrumented, ")
}

/// `race on static A.f (confirmed)`: the location; `race inside A.f: B.m (B.java:3) and ...`: the
/// field that holds it, after `inside`.
fn location(text: &str) -> String {
    let (_, rest) = text.split_once("race ").unwrap_or_default();
    let end = [": ", " ("].iter().filter_map(|end| rest.find(end)).min();
    let what = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
    let what = what.strip_prefix("on ").unwrap_or(what);
    what.replacen("static ", "", 1)
}

fn race(block: &[&str]) -> Race {
    let mut race = Race {
        location: location(block[0]),
        ..Race::default()
    };
    let (_, facts) = block[0].rsplit_once(" (").unwrap_or_default();
    let status = facts.split(' ').next().unwrap_or_default();
    let (_, head) = block[0].split_once(": ").unwrap_or_default();
    // Which of the calls is shown is up to chance.
    let end = [": ", " ("].iter().filter_map(|end| head.find(end)).min();
    let head = head.get(..end.unwrap_or(head.len())).unwrap_or_default();
    race.text = format!("{head} ({status} by ...)\n");
    let text = block[1..].join("\n");
    let mut accesses: Vec<String> = Vec::new();
    for part in text.split("\n\n") {
        let part = part.trim_matches('\n');
        let first = part.lines().next().unwrap_or_default().trim();
        if first.starts_with("read by thread") || first.starts_with("write by thread") {
            accesses.push(part.lines().filter_map(access_line).collect());
        } else if first.starts_with("how they met") || first.starts_with("what happens") {
            accesses.push("  how they met: ...\n".to_owned());
        } else if first.contains(" first (") || first.starts_with("in either order (") {
            race.outcomes.extend(part.lines().filter_map(outcome_line));
        }
        // The rest says where the object came from, which not every run knows,
        // and how to see it again.
    }
    // Either may have come first; threads that do the same change places.
    accesses.sort_by_key(|text| text.starts_with("  how"));
    let met = accesses.split_off(accesses.len().min(2));
    accesses.sort();
    for part in accesses.into_iter().chain(met) {
        race.text += &format!("\n{part}");
    }
    race.text += "\n";
    race
}

fn access_line(line: &str) -> Option<String> {
    let trimmed = line.trim();
    // Not every run knows these.
    if trimmed.starts_with("= (further callers") || trimmed.starts_with("= (who called") {
        return None;
    }
    let line = match line.split_once("\", holding ") {
        Some((thread, _)) => format!("{thread}\""),
        None => line.to_owned(),
    };
    // It may be called there from several lines; the JDK's lines are its own.
    let elsewhere = trimmed.starts_with("= called from") || trimmed.starts_with("in java.");
    let line = if elsewhere { without_line(&line) } else { line };
    Some(format!("{}\n", without_twins(&line)))
}

fn outcome_line(line: &str) -> Option<String> {
    let trimmed = line.trim();
    if trimmed.starts_with("= at") || trimmed.starts_with("= to see it again") {
        return None;
    }
    let (_, came) = trimmed.split_once("): ")?;
    Some(format!("  {}", without_twins(came)))
}

/// `A.m (A.java:12)` without the number.
fn without_line(text: &str) -> String {
    match text.rsplit_once(".java:") {
        Some((start, end)) => {
            let rest = end.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{start}.java:N{rest}")
        }
        None => text.to_owned(),
    }
}

/// Two requests that do the same, told apart by their currencies.
fn without_twins(text: &str) -> String {
    text.replace("request-SEK", "request-...")
        .replace("request-JPY", "request-...")
}

fn rest(block: &[&str], wanted: &BTreeSet<&str>) -> String {
    let mut out = String::new();
    let mut head = "";
    let mut said: BTreeSet<String> = BTreeSet::new();
    for line in block {
        let (start, text) = line.split_at_checked(11).unwrap_or((line, ""));
        if ["certain", "unclear", "likely", "next", "looked at"].contains(&start.trim()) {
            head = start.trim();
        } else if !start.trim().is_empty() || line.is_empty() {
            head = "";
        }
        let line = match head {
            "certain" => {
                let (_, race) = text.split_once(' ').unwrap_or_default();
                let (race, status) = race.rsplit_once(": ").unwrap_or((race, ""));
                let status = status.split([',', ' ']).next().unwrap_or_default();
                if !wanted.contains(race) {
                    continue;
                }
                format!("certain    {race}: {status}")
            }
            "next" => "next       photofinish replay ...".to_owned(),
            "looked at" => {
                let (stage, did) = text.split_once(": ").unwrap_or_default();
                match stage {
                    // Whether there was something left to do is up to chance.
                    "confirm what was hidden" | "stories" => format!("looked at  {stage}: ..."),
                    _ => format!("looked at  {stage}: {}", without_numbers(did)),
                }
            }
            // Whether anything of this is there is up to chance.
            "unclear" | "likely" => continue,
            _ if line.starts_with("warning:") => continue,
            _ if ends_races(line) => {
                let (found, rest) = line.split_once(" in ").unwrap_or((line, ""));
                let some = match found {
                    "no race found" => found,
                    _ => "races found",
                };
                // How they ended stands with what came of the races.
                let (runs, rest) = rest.split_once(" (").unwrap_or((rest, ""));
                let (_, rest) = rest.split_once(')').unwrap_or_default();
                format!("{some} in {}", without_numbers(&format!("{runs}{rest}")))
            }
            _ => without_numbers(line),
        };
        // Several of the same say nothing new.
        if said.insert(line.clone()) || line.is_empty() {
            out += &format!("{line}\n");
        }
    }
    out
}

/// Every number becomes `N`, and what is counted the plural.
fn without_numbers(text: &str) -> String {
    let digit = |c: char| c.is_ascii_digit() || c == '.';
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let counted = words.last().is_some_and(|last| last.ends_with('N'));
        if bare.starts_with(|c: char| c.is_ascii_digit()) && bare.chars().all(digit) {
            words.push(word.replace(bare, "N"));
        } else if counted && ["run", "trial", "pair", "race"].contains(&bare) {
            words.push(word.replace(bare, &format!("{bare}s")));
        } else {
            words.push(word.to_owned());
        }
    }
    words.join(" ").replace("further race ", "further races ")
}
