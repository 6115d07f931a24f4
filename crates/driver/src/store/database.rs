//! The file: its tables, and what is said when it cannot be used.

use super::StoreError;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::path::Path;
use std::time::Duration;

/// The version of the tables.
const FORMAT: i32 = 1;

/// Marks the file as ours: "phof".
const APPLICATION: i32 = 0x7068_6f66;

/// How long to wait for others that write.
const PATIENCE: Duration = Duration::from_secs(20);

const TABLES: &str = "
CREATE TABLE result (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    made TEXT NOT NULL DEFAULT (datetime('now')),
    program TEXT,               -- how to run it again, JSON
    report TEXT                 -- all but runs and races; null until it is saved
);
CREATE TABLE run (
    result INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
    number INTEGER NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (result, number)
);
CREATE TABLE race (
    result INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
    place INTEGER NOT NULL,
    id TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    status TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (result, place)
);
CREATE INDEX race_by_fingerprint ON race (fingerprint);
CREATE TABLE witness (
    result INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
    race TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (result, race)
);
CREATE TABLE schedule (
    result INTEGER NOT NULL REFERENCES result ON DELETE CASCADE,
    name TEXT NOT NULL,
    json TEXT NOT NULL,
    log BLOB NOT NULL,
    UNIQUE (result, name)
);
";

/// Came later: a file of this format may be without it.
const EXPLORATION: &str = "
CREATE TABLE IF NOT EXISTS exploration (
    result INTEGER PRIMARY KEY REFERENCES result ON DELETE CASCADE,
    whose TEXT NOT NULL,        -- what must be the same to go on with it
    state TEXT NOT NULL
);
";

/// Opens the file to write, making it if there is none.
pub(super) fn create(path: &Path) -> Result<Connection, StoreError> {
    let failed = |error: rusqlite::Error| failure(path, error, true);
    let mut db = Connection::open(path).map_err(failed)?;
    prepare(&db).map_err(failed)?;
    // Only in an empty file has this a meaning: what is deleted leaves no hole.
    db.pragma_update(None, "auto_vacuum", "FULL")
        .map_err(failed)?;
    let change = db
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .map_err(failed)?;
    let tables: i64 = change
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(failed)?;
    if tables == 0 {
        change.execute_batch(TABLES).map_err(failed)?;
        change
            .pragma_update(None, "application_id", APPLICATION)
            .and_then(|()| change.pragma_update(None, "user_version", FORMAT))
            .map_err(failed)?;
    }
    change.commit().map_err(failed)?;
    check(&db, path)?;
    db.execute_batch(EXPLORATION).map_err(failed)?;
    Ok(db)
}

/// Opens the file to read, also where nothing can be written.
pub(super) fn open(path: &Path) -> Result<Connection, StoreError> {
    if !path.exists() {
        return Err(StoreError::Nothing {
            path: path.parent().unwrap_or(path).to_owned(),
        });
    }
    let failed = |error: rusqlite::Error| failure(path, error, false);
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(failed)?;
    prepare(&db).map_err(failed)?;
    check(&db, path)?;
    Ok(db)
}

fn prepare(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(PATIENCE)?;
    db.pragma_update(None, "foreign_keys", true)
}

/// Whether the tables are ours, and of this version.
fn check(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let number = |name: &str| -> Result<i32, StoreError> {
        db.pragma_query_value(None, name, |row| row.get(0))
            .map_err(|error| failure(path, error, false))
    };
    let why = match (number("application_id")?, number("user_version")?) {
        (APPLICATION, FORMAT) => return Ok(()),
        (APPLICATION, other) => {
            format!("it has format {other}, this version reads {FORMAT}; move it away")
        }
        _ => "it is the database of another program".to_owned(),
    };
    Err(StoreError::Malformed {
        path: path.to_owned(),
        why,
    })
}

/// An error in words for the user who chose the directory.
pub(super) fn failure(path: &Path, error: rusqlite::Error, writing: bool) -> StoreError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Malformed {
            path,
            why: "the file is damaged or no database; move it away, the next run makes a new one"
                .to_owned(),
        },
        _ if writing => StoreError::Write {
            path,
            why: error.to_string(),
        },
        _ => StoreError::Malformed {
            path,
            why: error.to_string(),
        },
    }
}
