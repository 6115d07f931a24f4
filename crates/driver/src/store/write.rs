//! Adding a result.

use super::{FILE, KEPT, MOST_LOGS, Program, Schedule, StoreError, database};
use findings::result::Report;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::path::{Path, PathBuf};

/// A result that is being made.
#[derive(Debug)]
pub struct Writer {
    pub(super) dir: PathBuf,
    pub(super) db: Connection,
    pub(super) result: i64,
}

impl Writer {
    /// Makes the directory if there is none, and room for a result. Nobody
    /// sees it before it is saved.
    pub fn create(dir: &Path) -> Result<Writer, StoreError> {
        let failed = |error: std::io::Error| StoreError::Write {
            path: dir.to_owned(),
            why: error.to_string(),
        };
        let new = !dir.exists();
        std::fs::create_dir_all(dir).map_err(failed)?;
        if new {
            // Of no use in somebody's repository. A directory that was there
            // already is not ours to hide.
            std::fs::write(dir.join(".gitignore"), "*\n").map_err(failed)?;
        }
        let path = dir.join(FILE);
        let db = database::create(&path)?;
        db.execute("INSERT INTO result DEFAULT VALUES", [])
            .map_err(|error| database::failure(&path, error, true))?;
        Ok(Writer {
            dir: dir.to_owned(),
            result: db.last_insert_rowid(),
            db,
        })
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The number of the result.
    pub fn number(&self) -> i64 {
        self.result
    }

    /// Keeps a schedule, in place of one of the same name.
    pub fn add(&mut self, schedule: Schedule, log: &[u8]) -> Result<(), StoreError> {
        let json = text(&schedule);
        self.db
            .execute(
                "INSERT OR REPLACE INTO schedule (result, name, json, log) VALUES (?, ?, ?, ?)",
                params![self.result, schedule.name, json, log],
            )
            .map(|_| ())
            .map_err(|error| self.failure(error))
    }

    /// Puts a schedule in place of the one of its name, which stays where it is among the others.
    pub fn replace(&mut self, schedule: &Schedule, log: &[u8]) -> Result<(), StoreError> {
        let json = text(schedule);
        self.db
            .execute(
                "UPDATE schedule SET json = ?, log = ? WHERE result = ? AND name = ?",
                params![json, log, self.result, schedule.name],
            )
            .map(|_| ())
            .map_err(|error| self.failure(error))
    }

    /// A schedule that was kept, with its log, if there is one of this name.
    pub fn schedule(&self, name: &str) -> Result<Option<(Schedule, Vec<u8>)>, StoreError> {
        let query = "SELECT json, log FROM schedule WHERE result = ? AND name = ?";
        let row: Option<(String, Vec<u8>)> = self
            .db
            .query_row(query, params![self.result, name], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()
            .map_err(|error| self.failure(error))?;
        let parsed = row.and_then(|(json, log)| Some((serde_json::from_str(&json).ok()?, log)));
        Ok(parsed)
    }

    /// Saves what is known so far, in place of what was saved before.
    pub fn save(&mut self, program: &Program, report: &Report) -> Result<(), StoreError> {
        let result = self.result;
        let saved = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|change| {
                write(&change, result, program, report)?;
                prune(&change, result)?;
                change.commit()
            });
        saved.map_err(|error| self.failure(error))
    }

    /// Saves it for the last time.
    pub fn finish(mut self, program: Program, report: &Report) -> Result<(), StoreError> {
        self.save(&program, report)
    }

    pub(super) fn failure(&self, error: rusqlite::Error) -> StoreError {
        database::failure(&self.dir.join(FILE), error, true)
    }
}

pub(super) fn write(
    change: &Transaction<'_>,
    result: i64,
    program: &Program,
    report: &Report,
) -> rusqlite::Result<()> {
    for table in ["run", "race", "witness"] {
        change.execute(&format!("DELETE FROM {table} WHERE result = ?"), [result])?;
    }
    let mut rest = report.clone();
    for (number, run) in rest.runs.drain(..).enumerate() {
        change.execute(
            "INSERT INTO run (result, number, json) VALUES (?, ?, ?)",
            params![result, number as i64 + 1, text(&run)],
        )?;
    }
    for (place, mut race) in rest.races.drain(..).enumerate() {
        if let Some(witness) = race.witness.take() {
            change.execute(
                "INSERT OR REPLACE INTO witness (result, race, json) VALUES (?, ?, ?)",
                params![result, race.id, text(&witness)],
            )?;
        }
        change.execute(
            "INSERT INTO race (result, place, id, fingerprint, status, json)
             VALUES (?, ?, ?, ?, ?, ?)",
            params![
                result,
                place as i64,
                race.id,
                race.fingerprint,
                race.status.word(),
                text(&race)
            ],
        )?;
    }
    let changed = change.execute(
        "UPDATE result SET program = ?, report = ? WHERE id = ?",
        params![text(program), text(&rest), result],
    )?;
    match changed {
        // Others made so many results meanwhile that this one was dropped.
        0 => Err(rusqlite::Error::QueryReturnedNoRows),
        _ => Ok(()),
    }
}

/// Drops the oldest results when there are too many, or their logs too big.
pub(super) fn prune(change: &Transaction<'_>, result: i64) -> rusqlite::Result<()> {
    let mut logs = 0;
    let mut list = change.prepare(
        "SELECT id, (SELECT coalesce(sum(length(log)), 0) FROM schedule WHERE result = r.id)
         FROM result r WHERE id <> ? ORDER BY id DESC",
    )?;
    let rows = list.query_map([result], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let rows: Vec<(i64, i64)> = rows.collect::<rusqlite::Result<_>>()?;
    for (older, (id, bytes)) in (1..).zip(rows) {
        logs += u64::try_from(bytes).unwrap_or(0);
        if older >= KEPT || logs > MOST_LOGS {
            change.execute("DELETE FROM result WHERE id = ?", [id])?;
        }
    }
    Ok(())
}

/// Types of ours, with names as keys: that cannot fail.
fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
