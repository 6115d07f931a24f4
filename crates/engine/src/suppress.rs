//! Suppressions: the file of races that nobody wants to hear about.

use crate::error::Error;
use findings::suppress::Suppressions;
use std::path::Path;

/// Reads the file, before anything is run.
pub fn load(path: &Path) -> Result<Suppressions, Error> {
    let text = crate::input::read_text(path).map_err(|e| e.to_string());
    let parsed = text.and_then(|text| Suppressions::parse(&text));
    parsed.map_err(|why| Error::usage(format!("cannot use {}: {why}", path.display())))
}
