//! Looking into results.

use super::{FILE, Program, Schedule, StoreError, database};
use findings::result::{Race, Report, Run};
use rusqlite::{Connection, OptionalExtension, params};
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};

/// A result that was kept.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    db: Connection,
    result: i64,
    made: String,
    program: Program,
}

/// One line about a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub number: i64,
    /// When, in UTC: `2026-01-01 00:00:00`.
    pub made: String,
    pub races: u64,
}

impl Store {
    /// The latest result.
    pub fn open(dir: &Path) -> Result<Store, StoreError> {
        Store::open_result(dir, None)
    }

    /// The result with this number, or the latest.
    pub fn open_result(dir: &Path, number: Option<i64>) -> Result<Store, StoreError> {
        let path = dir.join(FILE);
        let db = database::open(&path)?;
        let found: Option<(i64, String, String)> = db
            .query_row(
                "SELECT id, made, program FROM result
                 WHERE report IS NOT NULL AND id = coalesce(?, id) ORDER BY id DESC LIMIT 1",
                [number],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()
            .map_err(|error| database::failure(&path, error, false))?;
        match (found, number) {
            (Some((result, made, program)), _) => Ok(Store {
                program: parse(&path, &program)?,
                path,
                db,
                result,
                made,
            }),
            (None, None) => Err(StoreError::Nothing {
                path: dir.to_owned(),
            }),
            (None, Some(number)) => {
                let known = list(&db).map_err(|error| database::failure(&path, error, false))?;
                let known: Vec<String> = known.iter().map(|k| k.number.to_string()).collect();
                Err(StoreError::NoResult {
                    number,
                    path,
                    known: or_none(known),
                })
            }
        }
    }

    /// All that are kept, the latest first.
    pub fn results(&self) -> Result<Vec<Kept>, StoreError> {
        list(&self.db).map_err(|error| self.failure(error))
    }

    pub fn number(&self) -> i64 {
        self.result
    }

    /// When it was begun, in UTC: `2026-01-01 00:00:00`.
    pub fn made(&self) -> &str {
        &self.made
    }

    pub fn program(&self) -> &Program {
        &self.program
    }

    pub fn report(&self) -> Result<Report, StoreError> {
        let failed = |error| self.failure(error);
        let rest: String = self
            .db
            .query_row(
                "SELECT report FROM result WHERE id = ?",
                [self.result],
                |row| row.get(0),
            )
            .map_err(failed)?;
        let mut report = Report::from_json(rest.as_bytes()).map_err(|why| self.malformed(why))?;
        for json in self.texts("SELECT json FROM run WHERE result = ? ORDER BY number")? {
            report.runs.push(parse::<Run>(&self.path, &json)?);
        }
        for json in self.texts("SELECT json FROM race WHERE result = ? ORDER BY place")? {
            let mut race: Race = parse(&self.path, &json)?;
            let witness: Option<String> = self
                .db
                .query_row(
                    "SELECT json FROM witness WHERE result = ? AND race = ?",
                    params![self.result, race.id],
                    |row| row.get(0),
                )
                .optional()
                .map_err(failed)?;
            if let Some(witness) = witness {
                race.witness = parse(&self.path, &witness)?;
            }
            report.races.push(race);
        }
        Ok(report)
    }

    /// What schedules there are, by name, in the order in which they were kept.
    pub fn schedules(&self) -> Result<Vec<String>, StoreError> {
        self.texts("SELECT name FROM schedule WHERE result = ? ORDER BY rowid")
    }

    /// The schedule of this name and its log. `R1` alone means the first of
    /// its schedules: they are kept with the most telling first.
    pub fn schedule(&self, name: &str) -> Result<(Schedule, Vec<u8>), StoreError> {
        let all = self.schedules()?;
        let belongs = |s: &&String| {
            let rest = s.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let exact = all.iter().find(|s| *s == name);
        let Some(found) = exact.or_else(|| all.iter().find(belongs)) else {
            return Err(StoreError::NoSchedule {
                name: name.to_owned(),
                path: self.path.clone(),
                known: or_none(all),
            });
        };
        let (json, log): (String, Vec<u8>) = self
            .db
            .query_row(
                "SELECT json, log FROM schedule WHERE result = ? AND name = ?",
                params![self.result, found],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .map_err(|error| self.failure(error))?;
        Ok((parse(&self.path, &json)?, log))
    }

    fn texts(&self, query: &str) -> Result<Vec<String>, StoreError> {
        let read = || {
            let mut query = self.db.prepare(query)?;
            let rows = query.query_map([self.result], |row| row.get(0))?;
            rows.collect::<rusqlite::Result<Vec<String>>>()
        };
        read().map_err(|error| self.failure(error))
    }

    fn failure(&self, error: rusqlite::Error) -> StoreError {
        database::failure(&self.path, error, false)
    }

    fn malformed(&self, why: impl std::fmt::Display) -> StoreError {
        StoreError::Malformed {
            path: self.path.clone(),
            why: why.to_string(),
        }
    }
}

fn list(db: &Connection) -> rusqlite::Result<Vec<Kept>> {
    let mut query = db.prepare(
        "SELECT id, made, (SELECT count(*) FROM race WHERE result = r.id)
         FROM result r WHERE report IS NOT NULL ORDER BY id DESC",
    )?;
    let rows = query.query_map([], |row| {
        Ok(Kept {
            number: row.get(0)?,
            made: row.get(1)?,
            races: row.get::<_, i64>(2)?.unsigned_abs(),
        })
    })?;
    rows.collect()
}

fn parse<T: DeserializeOwned>(path: &Path, json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|error| StoreError::Malformed {
        path: path.to_owned(),
        why: error.to_string(),
    })
}

fn or_none(known: Vec<String>) -> String {
    match known.is_empty() {
        true => "none".to_owned(),
        false => known.join(", "),
    }
}
