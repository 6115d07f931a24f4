//! Schedulers compared on one program, as the tables and curves of the DrFinder
//! paper (Tables 3 and 4, Figures 6 and 7).
//!
//! A race is a location with two source lines, as in reports; how many locations
//! that makes is said too. A race is *new* if only this scheduler found it, and
//! *missed* if others did and this one did not.

mod curves;
mod table;

pub use curves::svg;
pub use table::{by_depth, by_scheduler};

#[cfg(test)]
pub(crate) fn sample() -> findings::compare::Comparison {
    use findings::compare::{Comparison, Found, Row, Subject};
    use findings::result::{Hidden, RunEnd};
    let found = |n: u32| Found {
        location: format!("A.f{}", n / 2),
        lines: [format!("A.java:{n}"), "B.java:1".to_owned()],
    };
    let row = |scheduler: &str, run: u32, seconds: f64, races: &[u32]| Row {
        subject: Subject::new(scheduler),
        run,
        seconds,
        ended: RunEnd::Exit,
        races: races.iter().map(|n| found(*n)).collect(),
        hidden: (scheduler == "drfinder").then(|| Hidden {
            suspended: 8,
            thrashed: 2,
            ..Hidden::default()
        }),
    };
    Comparison {
        rows: vec![
            row("alone", 1, 0.5, &[]),
            row("native", 1, 1.0, &[1]),
            row("native", 2, 1.0, &[1]),
            row("phase-1", 1, 0.7, &[]),
            row("drfinder", 1, 1.5, &[2]),
            row("drfinder", 2, 2.5, &[1, 2, 3]),
        ],
    }
}
