//! The part of the page about races that are known already: suppressed ones,
//! and the comparison with an earlier result.

use super::{Page, Style};
use findings::result::Report;
use findings::text::{clean, counted};
use serde_json::Value;
use std::io;

impl Page<'_> {
    pub(super) fn suppressed(&mut self, report: &Report) -> io::Result<()> {
        let list = list(report.other.get("suppressed"));
        if list.is_empty() {
            return Ok(());
        }
        if !self.options.verbose {
            let races = counted(list.len() as u64, "race is", "races are");
            return writeln!(self.out, "{races} suppressed (-v names them)");
        }
        for race in list {
            let text = |key: &str| clean(race[key].as_str().unwrap_or_default());
            writeln!(
                self.out,
                "suppressed: {}, {} ({})",
                text("location"),
                text("status"),
                text("reason")
            )?;
        }
        Ok(())
    }

    pub(super) fn baseline(&mut self, report: &Report) -> io::Result<()> {
        let Some(found) = report.other.get("baseline") else {
            return Ok(());
        };
        let with = clean(found["with"].as_str().unwrap_or_default());
        let ids = |key: &str| -> Vec<String> {
            let ids = list(found.get(key)).iter().filter_map(Value::as_str);
            ids.map(clean).collect()
        };
        let (new, known, gone) = (ids("new"), ids("known"), list(found.get("gone")));
        let head = format!("compared with {with}:");
        writeln!(
            self.out,
            "{} {} new, {} known, {} not found this time",
            self.paint(Style::Bold, &head),
            new.len(),
            known.len(),
            gone.len()
        )?;
        if !new.is_empty() {
            writeln!(self.out, "  new: {}", new.join(", "))?;
        }
        for race in gone {
            let text = |key: &str| clean(race[key].as_str().unwrap_or_default());
            let (location, status) = (text("location"), text("status"));
            writeln!(self.out, "  not found this time: {location} (was {status})")?;
        }
        Ok(())
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
