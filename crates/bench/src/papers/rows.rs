//! What the papers' tables say, from `programs/papers`.

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::Path;

/// The program that stands for a row, or why there is none.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Origin {
    pub name: String,
    /// Main class and arguments.
    pub subject: Option<String>,
    /// The directory of `programs` that has it; `papers` if none is said.
    pub room: Option<String>,
    #[serde(default)]
    pub jars: Vec<String>,
    /// Where it is not the same program.
    pub differs: Option<String>,
    pub absent: Option<String>,
    /// Also measured with `--quick`.
    #[serde(default)]
    pub quick: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub struct RaceFuzzerRow {
    #[serde(flatten)]
    pub origin: Origin,
    pub paper: [String; 10],
    /// Of each pair; 100, as in the paper, if not said.
    pub trials: Option<u32>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct JPredictorRow {
    #[serde(flatten)]
    pub origin: Origin,
    pub paper: [String; 11],
    /// Methods that are meant to be atomic.
    pub units: Option<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct JrfRow {
    #[serde(flatten)]
    pub origin: Origin,
    /// That of the costs; the suggestions are in the next one.
    pub table: u32,
    /// With 1, 10 and 100 traces; fewer if the paper has fewer.
    pub states: Vec<u64>,
    pub jrf: Vec<u64>,
    pub jrfe: Vec<u64>,
    pub memory: Vec<u64>,
    pub suggestions: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
pub struct DrFinderRow {
    #[serde(flatten)]
    pub origin: Origin,
    pub size: [String; 4],
    pub races: [String; 6],
    pub seconds: [String; 6],
    pub thrashing: String,
    pub depths: [String; 10],
    /// Also with 100 runs.
    #[serde(default)]
    pub hundred: bool,
}

#[derive(Clone, Debug)]
pub enum Paper {
    RaceFuzzer(Vec<RaceFuzzerRow>),
    JPredictor(Vec<JPredictorRow>),
    Jrf(Vec<JrfRow>),
    DrFinder(Vec<DrFinderRow>),
}

#[derive(Debug, Deserialize)]
struct Rows<R> {
    row: Vec<R>,
}

impl Paper {
    pub fn load(programs: &Path, name: &str) -> Result<Paper> {
        Ok(match name {
            "racefuzzer" => Paper::RaceFuzzer(read(programs, name)?),
            "jpredictor" => Paper::JPredictor(read(programs, name)?),
            "jrf" => Paper::Jrf(read(programs, name)?),
            "drfinder" => Paper::DrFinder(read(programs, name)?),
            other => bail!("there is no paper {other}"),
        })
    }
}

fn read<R: DeserializeOwned>(programs: &Path, name: &str) -> Result<Vec<R>> {
    let path = programs.join("papers").join(format!("{name}.toml"));
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("cannot read {}", path.display()))?;
    let rows: Rows<R> = toml::from_str(&text).with_context(|| path.display().to_string())?;
    Ok(rows.row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::NAMES;

    fn origins() -> Vec<(&'static str, Origin)> {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
        let all = NAMES.iter().flat_map(|name| {
            let origins: Vec<Origin> = match Paper::load(&programs, name).unwrap() {
                Paper::RaceFuzzer(rows) => rows.into_iter().map(|r| r.origin).collect(),
                Paper::JPredictor(rows) => rows.into_iter().map(|r| r.origin).collect(),
                Paper::Jrf(rows) => rows.into_iter().map(|r| r.origin).collect(),
                Paper::DrFinder(rows) => rows.into_iter().map(|r| r.origin).collect(),
            };
            origins.into_iter().map(move |origin| (*name, origin))
        });
        all.collect()
    }

    /// 14 rows of RaceFuzzer's table, 13 of jPredictor's, 7 of DrFinder's; of JRF-E 19 of the book,
    /// 8 of Amino, 10 barriers and 6 kernels.
    #[test]
    fn every_row_of_the_papers_is_there() {
        let count = |paper| origins().iter().filter(|(name, _)| *name == paper).count();
        assert_eq!(NAMES.map(count), [14, 13, 43, 7]);
    }

    #[test]
    fn each_row_has_a_program_that_is_there_or_a_reason() {
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs");
        for (paper, origin) in origins() {
            let what = format!("{paper}, {}", origin.name);
            let Some(subject) = &origin.subject else {
                assert!(origin.absent.is_some_and(|why| !why.is_empty()), "{what}");
                continue;
            };
            assert!(
                origin.absent.is_none() && origin.differs.is_some(),
                "{what}"
            );
            let class = subject.split(' ').next().unwrap().replace('.', "/");
            let room = origin.room.as_deref().unwrap_or("papers");
            let file = programs.join(format!("{room}/src/{class}.java"));
            assert!(file.is_file(), "{what}: {}", file.display());
        }
    }
}
