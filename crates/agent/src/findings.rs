//! What was found, written as it is found, so that nothing is lost when the
//! program is killed ([`protocol::finding`]).

use protocol::finding::Line;
use protocol::{Summary, files};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

#[derive(Debug)]
pub struct Findings {
    file: Mutex<Option<File>>,
    out: PathBuf,
    /// Of a worker, which tells them itself.
    kept: Option<Mutex<Vec<Line>>>,
}

impl Findings {
    /// `keep`: not into the file.
    pub fn create(out: &Path, keep: bool) -> std::io::Result<Findings> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(out.join(files::FINDINGS))?;
        Ok(Findings {
            file: Mutex::new(Some(file)),
            out: out.to_owned(),
            kept: keep.then(Mutex::default),
        })
    }

    pub fn write(&self, line: Line) {
        if let Some(kept) = &self.kept {
            kept.lock().unwrap_or_else(|e| e.into_inner()).push(line);
            return;
        }
        let Ok(mut text) = serde_json::to_vec(&line) else {
            return; // a map with keys that are no texts; there is none
        };
        text.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(|e| e.into_inner());
        // One write a line: whole or not at all. A full disk must not hurt the
        // program; it is said once, on stderr, and writing stops.
        if let Some(f) = file.as_mut()
            && let Err(e) = f.write_all(&text)
        {
            crate::complain!("cannot write findings: {e}; what follows is not kept");
            *file = None;
        }
    }

    /// What was kept since this was last asked.
    pub fn take(&self) -> Vec<Line> {
        let kept = self.kept.as_ref();
        kept.map(|kept| std::mem::take(&mut *kept.lock().unwrap_or_else(|e| e.into_inner())))
            .unwrap_or_default()
    }

    pub fn warn(&self, text: impl Into<String>) {
        self.write(Line::Warning { text: text.into() });
    }

    pub fn summary(&self, summary: &Summary) {
        let path = self.out.join(files::SUMMARY);
        let temporary = path.with_extension("new");
        let written = serde_json::to_vec(summary)
            .map_err(std::io::Error::from)
            .and_then(|text| std::fs::write(&temporary, text))
            .and_then(|()| std::fs::rename(&temporary, &path));
        if let Err(e) = written {
            crate::complain!("cannot write {}: {e}", path.display());
        }
    }
}
