//! The part of the page about races that are known already: suppressed ones,
//! and the comparison with an earlier result.

use super::{Page, Style};
use findings::result::Report;
use findings::text::{clean, counted};
use std::io;

impl Page<'_> {
    pub(super) fn suppressed(&mut self, report: &Report) -> io::Result<()> {
        let list = &report.suppressed;
        if list.is_empty() {
            return Ok(());
        }
        if !self.options.verbose {
            let races = counted(list.len() as u64, "race is", "races are");
            return writeln!(self.out, "{races} suppressed (-v names them)");
        }
        for hidden in list {
            let (location, status) = (clean(&hidden.race.location), hidden.race.status.word());
            let reason = clean(&hidden.reason);
            writeln!(self.out, "suppressed: {location}, {status} ({reason})")?;
        }
        Ok(())
    }

    pub(super) fn baseline(&mut self, report: &Report) -> io::Result<()> {
        let Some(found) = &report.baseline else {
            return Ok(());
        };
        let head = format!("compared with {}:", clean(&found.with));
        writeln!(
            self.out,
            "{} {} new, {} known, {} not found this time",
            self.paint(Style::Bold, &head),
            found.new.len(),
            found.known.len(),
            found.gone.len()
        )?;
        if !found.new.is_empty() {
            let new: Vec<String> = found.new.iter().map(|id| clean(id)).collect();
            writeln!(self.out, "  new: {}", new.join(", "))?;
        }
        for race in &found.gone {
            let (location, status) = (clean(&race.location), race.status.word());
            writeln!(self.out, "  not found this time: {location} (was {status})")?;
        }
        Ok(())
    }
}
