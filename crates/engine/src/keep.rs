//! A result that was made elsewhere, by workers of a campaign, kept here with its schedules: `replay`, `explain`,
//! `report` and `export` take it as one of their own.

use crate::config::{ControlConfig, LaunchConfig};
use crate::controlled_run;
use crate::error::Error;
use crate::verdict::{Answer, Facts};
use driver::java::Java;
use driver::store::{Program, Schedule, Writer};
use findings::result::Report;
use std::path::Path;

/// A result that is being kept.
#[derive(Debug)]
pub struct Keeper {
    writer: Writer,
    /// What it takes to run the program again, on this machine.
    program: Program,
}

impl Keeper {
    /// In this directory; the program is started like this.
    pub fn create(results: &Path, launch: &LaunchConfig) -> Result<Keeper, Error> {
        let java = Java::find(launch.java.as_deref())?;
        Ok(Keeper {
            program: controlled_run::program(&java, launch, None)?,
            writer: controlled_run::store(&ControlConfig {
                results: results.to_owned(),
                ..ControlConfig::default()
            })?,
        })
    }

    /// What replays the schedule of this name.
    pub fn command(&self, name: &str) -> String {
        let config = ControlConfig {
            results: self.writer.dir().to_owned(),
            ..ControlConfig::default()
        };
        controlled_run::replay_command(&config, self.writer.number(), name)
    }

    /// Keeps a schedule; the warning if that fails.
    pub fn add(&mut self, schedule: Schedule, log: &[u8]) -> Result<(), String> {
        let name = schedule.name.clone();
        let added = self.writer.add(schedule, log);
        added.map_err(|error| controlled_run::no_schedule(&name, &error))
    }

    pub fn finish(self, report: Report) -> Answer {
        let facts = Facts::from_saved(&report);
        controlled_run::finish(self.writer, &self.program, report, facts)
    }
}
