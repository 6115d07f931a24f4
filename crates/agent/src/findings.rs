//! What was found, one JSON object a line, written as it is found, so that
//! nothing is lost when the program is killed. The driver reads it
//! (crates/driver); the format stands there too.

use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

#[derive(Debug)]
pub struct Findings {
    file: Mutex<Option<File>>,
    out: PathBuf,
    /// Of a worker, which tells them itself.
    kept: Option<Mutex<Vec<Value>>>,
}

impl Findings {
    /// `keep`: not into the file.
    pub fn create(out: &Path, keep: bool) -> std::io::Result<Findings> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(out.join("findings.jsonl"))?;
        Ok(Findings {
            file: Mutex::new(Some(file)),
            out: out.to_owned(),
            kept: keep.then(Mutex::default),
        })
    }

    pub fn write(&self, value: &Value) {
        if let Some(kept) = &self.kept {
            kept.lock()
                .unwrap_or_else(|e| e.into_inner())
                .push(value.clone());
            return;
        }
        let mut line = value.to_string();
        line.push('\n');
        let mut file = self.file.lock().unwrap_or_else(|e| e.into_inner());
        // One write a line: whole or not at all. A full disk must not hurt the
        // program; it is said once, on stderr, and writing stops.
        if let Some(f) = file.as_mut()
            && let Err(e) = f.write_all(line.as_bytes())
        {
            eprintln!("photofinish: cannot write findings: {e}; what follows is not kept");
            *file = None;
        }
    }

    /// What was kept since this was last asked.
    pub fn take(&self) -> Vec<Value> {
        let kept = self.kept.as_ref();
        kept.map(|kept| std::mem::take(&mut *kept.lock().unwrap_or_else(|e| e.into_inner())))
            .unwrap_or_default()
    }

    pub fn warn(&self, text: &str) {
        self.write(&json!({"kind": "warning", "text": text}));
    }

    pub fn summary(&self, value: &Value) {
        let path = self.out.join("summary.json");
        let temporary = self.out.join("summary.json.new");
        let written = std::fs::write(&temporary, value.to_string())
            .and_then(|()| std::fs::rename(&temporary, &path));
        if let Err(e) = written {
            eprintln!("photofinish: cannot write {}: {e}", path.display());
        }
    }
}
