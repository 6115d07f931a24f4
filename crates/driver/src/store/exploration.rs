//! Explorations that were begun and can be gone on with: how far each is stands
//! beside its result, saved in the same transaction. A process that is killed, or finds
//! the disk full, leaves what was saved last.

use super::{FILE, Program, StoreError, Writer, database, write};
use findings::result::Report;
use rusqlite::{OptionalExtension, TransactionBehavior, params};
use std::path::Path;

/// How far an exploration is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// What it is an exploration of: only with the same can one go on.
    pub of: String,
    /// Where it stands, in the words of the explorer.
    pub state: String,
}

impl Writer {
    /// Goes on with a result that was begun earlier.
    pub fn reopen(dir: &Path, result: i64) -> Result<Writer, StoreError> {
        let path = dir.join(FILE);
        let db = database::create(&path)?;
        let known: Option<i64> = db
            .query_row("SELECT id FROM result WHERE id = ?", [result], |r| r.get(0))
            .optional()
            .map_err(|error| database::failure(&path, error, true))?;
        match known {
            Some(_) => Ok(Writer {
                dir: dir.to_owned(),
                db,
                result,
            }),
            None => Err(StoreError::Nothing {
                path: dir.to_owned(),
            }),
        }
    }

    /// Saves what is known so far, and how far the exploration is.
    pub fn save_exploration(
        &mut self,
        program: &Program,
        report: &Report,
        exploration: &Exploration,
    ) -> Result<(), StoreError> {
        let result = self.result;
        let saved = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .and_then(|change| {
                write::write(&change, result, program, report)?;
                write::prune(&change, result)?;
                change.execute(
                    "INSERT OR REPLACE INTO exploration (result, whose, state) VALUES (?, ?, ?)",
                    params![result, exploration.of, exploration.state],
                )?;
                change.commit()
            });
        saved.map_err(|error| self.failure(error))
    }
}

/// The explorations in a directory of results, with the numbers of these, the
/// latest first.
pub fn explorations(dir: &Path) -> Result<Vec<(i64, Exploration)>, StoreError> {
    let path = dir.join(FILE);
    let db = database::open(&path)?;
    let read = || {
        // An older version made the file.
        let tables: i64 = db.query_row(
            "SELECT count(*) FROM sqlite_schema WHERE name = 'exploration'",
            [],
            |row| row.get(0),
        )?;
        if tables == 0 {
            return Ok(Vec::new());
        }
        let mut query =
            db.prepare("SELECT result, whose, state FROM exploration ORDER BY result DESC")?;
        let rows = query.query_map([], |row| {
            let (of, state) = (row.get(1)?, row.get(2)?);
            Ok((row.get(0)?, Exploration { of, state }))
        })?;
        rows.collect()
    };
    read().map_err(|error| database::failure(&path, error, false))
}
