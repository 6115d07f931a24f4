//! What each engine predicts of the programs in `programs/predict`, each from one
//! recorded run.

use std::collections::BTreeSet;
use std::sync::OnceLock;
use test_support::programs::{Expected, Program, Section, in_parallel, location, names};
use test_support::trials::{Shared, Trial, trial};

const ENGINES: [&str; 6] = ["hb", "shb", "wcp", "syncp", "osr", "sliced"];

/// Which engines predict the known races of a section.
pub type By = BTreeSet<String>;

struct Sections {
    expected: Expected,
    predicted: Vec<Shared<By>>,
}

impl Sections {
    fn get() -> &'static Sections {
        static ALL: OnceLock<Sections> = OnceLock::new();
        ALL.get_or_init(|| {
            let expected = Expected::load("predict");
            let predicted = expected.sections.iter().map(|_| Shared::new()).collect();
            Sections {
                expected,
                predicted,
            }
        })
    }

    fn predicted(&self, index: usize) -> &By {
        let section = &self.expected.sections[index];
        let program = || self.expected.program("predict", section);
        self.predicted[index].get(|| predict(&program(), section))
    }
}

pub fn trials() -> Vec<Trial> {
    let sections = Sections::get();
    let each = sections.expected.sections.iter().enumerate();
    let each = each.map(|(index, section)| {
        trial(format!("predict::{}", section.name), move || {
            sections.predicted(index);
        })
    });
    let mut all: Vec<Trial> = each.collect();
    all.push(trial("predict::share_of_twenty", share_of_twenty));
    all
}

/// Nothing is predicted that is no race.
pub fn predict(program: &Program, section: &Section) -> By {
    let done = program.reported(&["predict", "--engine", &ENGINES.join(",")]);
    let known = names(&section.races);
    let mut by = By::new();
    for race in done.races() {
        let real = known.contains(location(race).as_str());
        // What happens-before leaves unordered is a race, and WCP may err.
        let sound = race["status"] == "predicted";
        assert!(real || !sound, "{race:#}");
        let engines = race["found_by"].as_array().unwrap();
        let engines = engines.iter().map(|e| e.as_str().unwrap().to_owned());
        by.extend(engines.filter(|_| real));
    }
    by
}

/// Prints the table of docs/predict.md:
/// `cargo test -p photofinish --test sections share_of_twenty`.
fn share_of_twenty() {
    let sections = Sections::get();
    let count = sections.expected.sections.len();
    let indices: Vec<usize> = (0..count).collect();
    in_parallel(&indices, |index| {
        sections.predicted(*index);
    });
    println!("| program | {} |", ENGINES.join(" | "));
    println!("|---|{}", "---|".repeat(ENGINES.len()));
    let mut share = [0; ENGINES.len()];
    for (index, section) in sections.expected.sections.iter().enumerate() {
        let by = sections.predicted(index);
        let cells = ENGINES.map(|e| if by.contains(e) { "yes" } else { "" });
        for (sum, cell) in share.iter_mut().zip(cells) {
            *sum += usize::from(!cell.is_empty());
        }
        println!("| {} | {} |", section.name, cells.join(" | "));
    }
    let percent = share.map(|n| format!("{} %", 100 * n / count));
    println!("| share | {} |", percent.join(" | "));
    let [hb, shb, _, syncp, osr, sliced] = share;
    assert!(
        hb >= 4 && shb <= syncp && syncp <= osr && osr < sliced,
        "{share:?}"
    );
}
