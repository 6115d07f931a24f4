//! Tables 2 to 4 of DrFinder and its figures 6 to 8, by `photofinish compare`. Seconds are wall-clock time: what is
//! measured is how long threads are held back.

use super::rows::DrFinderRow;
use super::workshop::{Answer, Program, Subject, Workshop};
use super::{both, head, line};
use anyhow::Result;
use serde_json::Value;
use std::collections::BTreeSet;

const SUBJECTS: [&str; 6] = [
    "program",
    "KB of jars / lines",
    "locks / threads",
    "methods (that lock) / pairs of the relation",
    "HB edges / requests of locks",
    "where it differs",
];
const FOUND: [&str; 9] = [
    "program",
    "FT",
    "CT",
    "PCT",
    "DR",
    "new by DR",
    "in all",
    "seconds alone, FT, CT, PCT, phase I, phase II",
    "thrashing",
];
const SCHEDULERS: [&str; 4] = ["native", "contest", "pct", "drfinder"];
const DEPTHS: [u64; 10] = [2, 4, 6, 8, 10, 12, 14, 16, 18, 20];

pub fn tables(rows: &[DrFinderRow], shop: &Workshop<'_>, tell: &dyn Fn(&str)) -> Result<String> {
    let depths: Vec<String> = DEPTHS.iter().map(u64::to_string).collect();
    let names: Vec<&str> = ["program"]
        .into_iter()
        .chain(depths.iter().map(String::as_str))
        .collect();
    let mut parts = [head(&SUBJECTS), head(&FOUND), head(&names)];
    let mut curves = String::new();
    for row in rows {
        tell(&row.origin.name);
        let lines = match shop.subject(&row.origin)? {
            Subject::Not(why) => absent(row, why),
            Subject::Program(program) => {
                let (lines, pictures) = measure(row, &program, shop)?;
                curves += &pictures;
                lines
            }
        };
        for (part, made) in parts.iter_mut().zip(lines) {
            tell(&made);
            *part += &made;
        }
    }
    let [subjects, found, depths] = parts;
    Ok(format!(
        "Table 2:\n\n{subjects}\nTable 3 (10 runs; pairs of lines on a location):\n\n{found}\n\
         Table 4 (depths, races and in parentheses new ones):\n\n{depths}\n{curves}"
    ))
}

fn absent(row: &DrFinderRow, why: String) -> [String; 3] {
    let none = |cells: &[String]| -> Vec<String> { cells.iter().map(|c| both(c, "-")).collect() };
    let name = || [row.origin.name.clone()].into_iter();
    let seconds = both(&row.seconds.join(", "), "-");
    let found = none(&row.races)
        .into_iter()
        .chain([seconds, both(&row.thrashing, "-")]);
    [
        line(
            &name()
                .chain(none(&row.size))
                .chain([why])
                .collect::<Vec<_>>(),
        ),
        line(&name().chain(found).collect::<Vec<_>>()),
        line(&name().chain(none(&row.depths)).collect::<Vec<_>>()),
    ]
}

fn measure(
    row: &DrFinderRow,
    program: &Program,
    shop: &Workshop<'_>,
) -> Result<([String; 3], String)> {
    let runs = if shop.quick { "2" } else { "10" };
    let schedulers = SCHEDULERS.join(",");
    let name = &row.origin.name;
    let mut words = vec!["compare", "--schedulers", &schedulers, "--runs", runs];
    if !shop.quick {
        words.extend(["--depths", "2..20"]);
    }
    let (answer, mut pictures) = compare(name, "", &words, program, shop)?;
    let all = Runs(&answer.report);
    if row.hundred && !shop.quick {
        let words = [
            "compare",
            "--schedulers",
            "native,contest,pct",
            "--runs",
            "100",
        ];
        let (answer, picture) = compare(name, "-100", &words, program, shop)?;
        let hundred = Runs(&answer.report);
        let ours = all.races(&|run| is(run, "drfinder"));
        let met = ["native", "contest", "pct"].map(|scheduler| {
            let races = hundred.races(&|run| is(run, scheduler));
            format!("{scheduler} {}", races.intersection(&ours).count())
        });
        pictures += &format!(
            "Figure 8, {name}: of the {} races that DR found in 10 runs the others found in 100: {}.\n\n{picture}",
            ours.len(),
            met.join(", ")
        );
    }
    Ok((lines(row, program, &all), pictures))
}

/// Runs a comparison; the picture of its curves, if there is a place for it.
fn compare(
    name: &str,
    kind: &str,
    words: &[&str],
    program: &Program,
    shop: &Workshop<'_>,
) -> Result<(Answer, String)> {
    let file = format!("papers-drfinder-{name}{kind}.svg");
    let Some(path) = shop.docs.map(|docs| docs.join(&file)) else {
        return Ok((shop.ask(words, program)?, String::new()));
    };
    let path = path.to_string_lossy().into_owned();
    let words = [words, &["--svg", &path]].concat();
    let picture = format!("![Races of {name} known after each run]({file})\n\n");
    Ok((shop.ask(&words, program)?, picture))
}

/// The runs of a comparison.
struct Runs<'a>(&'a Value);

/// A race as compare tells it.
type Race = String;

fn is(run: &Value, scheduler: &str) -> bool {
    run["scheduler"] == scheduler && run["depth"].is_null()
}

impl Runs<'_> {
    fn of(&self, wanted: &dyn Fn(&Value) -> bool) -> Vec<&Value> {
        let runs = self.0["runs"].as_array();
        runs.map(|runs| runs.iter().filter(|run| wanted(run)).collect())
            .unwrap_or_default()
    }

    fn races(&self, wanted: &dyn Fn(&Value) -> bool) -> BTreeSet<Race> {
        let races = self
            .of(wanted)
            .into_iter()
            .filter_map(|run| run["races"].as_array());
        races.flatten().map(Value::to_string).collect()
    }

    /// The mean.
    fn seconds(&self, scheduler: &str) -> String {
        let runs = self.of(&|run| is(run, scheduler));
        let all: f64 = runs.iter().filter_map(|run| run["seconds"].as_f64()).sum();
        match runs.len() {
            0 => "-".to_owned(),
            n => format!("{:.1}", all / n as f64),
        }
    }

    /// What the runs with DrFinder counted.
    fn hidden(&self, member: &str) -> u64 {
        let runs = self.of(&|run| is(run, "drfinder"));
        runs.iter()
            .filter_map(|run| run["hidden"][member].as_u64())
            .sum()
    }
}

fn lines(row: &DrFinderRow, program: &Program, all: &Runs<'_>) -> [String; 3] {
    let name = || [row.origin.name.clone()].into_iter();
    let found = SCHEDULERS.map(|scheduler| all.races(&|run| is(run, scheduler)));
    let [native, contest, pct, drfinder] = &found;
    let others: BTreeSet<&Race> = native.iter().chain(contest).chain(pct).collect();
    let new = |races: &BTreeSet<Race>| races.iter().filter(|race| !others.contains(race)).count();
    let total: BTreeSet<&Race> = found.iter().flatten().collect();
    let counts = found
        .iter()
        .map(BTreeSet::len)
        .chain([new(drfinder), total.len()]);
    let counts = row
        .races
        .iter()
        .zip(counts)
        .map(|(theirs, ours)| both(theirs, &ours.to_string()));
    let names = ["alone", "native", "contest", "pct", "phase-1", "drfinder"];
    let seconds = both(
        &row.seconds.join(", "),
        &names.map(|s| all.seconds(s)).join(", "),
    );
    let turns = all.hidden("suspended") + all.hidden("thrashed");
    let rate = match turns {
        0 => "0 %".to_owned(),
        n => format!("{:.1} %", 100.0 * all.hidden("thrashed") as f64 / n as f64),
    };
    let runs = all.of(&|run| is(run, "drfinder")).len().max(1) as u64;
    let sizes = [
        program.lines.to_string(),
        "-".to_owned(),
        (all.hidden("relation") / runs).to_string(),
        (all.hidden("requests") / runs).to_string(),
    ];
    let sizes = row
        .size
        .iter()
        .zip(sizes)
        .map(|(theirs, ours)| both(theirs, &ours));
    let depths = DEPTHS.iter().zip(&row.depths).map(|(depth, theirs)| {
        let races = all.races(&|run| run["depth"] == *depth);
        let made = !all.of(&|run| run["depth"] == *depth).is_empty();
        let ours = format!("{} ({})", races.len(), new(&races));
        both(theirs, if made { &ours } else { "-" })
    });
    let note = row.origin.differs.clone().unwrap_or_default();
    let rest = [seconds, both(&row.thrashing, &rate)];
    [
        line(&name().chain(sizes).chain([note]).collect::<Vec<_>>()),
        line(&name().chain(counts).chain(rest).collect::<Vec<_>>()),
        line(&name().chain(depths).collect::<Vec<_>>()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn new_races_are_those_that_nobody_else_found() {
        let run = |scheduler: &str, depth: Option<u64>, races: &[&str]| {
            let races: Vec<Value> = races.iter().map(|r| json!({ "location": r })).collect();
            json!({ "scheduler": scheduler, "depth": depth, "seconds": 2.0, "races": races,
                "hidden": { "suspended": 3, "thrashed": 1, "relation": 5, "requests": 9 } })
        };
        let report = json!({ "runs": [
            run("native", None, &["a"]), run("pct", None, &["b"]),
            run("drfinder", None, &["a", "c"]), run("drfinder", Some(2), &["d"]),
        ]});
        let all = Runs(&report);
        assert_eq!(all.races(&|run| is(run, "drfinder")).len(), 2);
        assert_eq!(all.seconds("native"), "2.0");
        assert_eq!(all.seconds("contest"), "-");
        let rows = crate::papers::rows::Paper::load(
            &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs"),
            "drfinder",
        );
        let crate::papers::rows::Paper::DrFinder(rows) = rows.unwrap() else {
            panic!()
        };
        let program = Program {
            args: Vec::new(),
            lines: 7,
        };
        let [_, found, depths] = lines(&rows[0], &program, &all);
        assert!(found.contains("| 13 / 1 | 31 / 3 |"), "{found}");
        assert!(found.contains("45.1 % / 25.0 %"), "{found}");
        assert!(
            depths.contains("| 28 (16) / 1 (1) | 31 (15) / - |"),
            "{depths}"
        );
    }
}
