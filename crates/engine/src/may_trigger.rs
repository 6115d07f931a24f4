//! Runs that look for hidden races: Phase I collects the may-trigger relation,
//! each run of Phase II uses the relation of the one before it.

use crate::error::{Context, Error};
use crate::launch::{Launcher, Plan, RunDir};
use driver::options::{Control, Mode, Scheduler};
use driver::process::{Input, Output};
use schedule::may_trigger::Relation;
use std::path::Path;
use std::time::Duration;

/// The file that the relation is in, of a run and of results.
const FILE: &str = driver::store::RELATION;

/// What a run is given, in its directory.
const GIVEN: &str = "given-relation.txt";

/// Without a limit of the user's, a run of Phase II may take so many times as
/// long as Phase I did: reversed lock orders may make a program hang.
const TIMES: u32 = 30;
const LEAST: Duration = Duration::from_secs(60);
const UNKNOWN: Duration = Duration::from_secs(600);

#[derive(Debug)]
pub struct Hidden {
    relation: Relation,
    depth: u32,
    limit: Duration,
    pub warnings: Vec<String>,
}

impl Hidden {
    /// Reads the relation, or makes a run that collects it; then also how many
    /// seconds that took.
    pub fn begin(
        launcher: &Launcher<'_>,
        given: Option<&Path>,
        depth: Option<u32>,
        (input, output): (Input, Output),
        time_limit: Option<Duration>,
    ) -> Result<(Hidden, Option<f64>), Error> {
        if let Some(path) = given {
            let bytes = crate::input::read(path, crate::input::RESULT)
                .with_context(|| format!("cannot read the relation {}", path.display()))
                .or_usage()?;
            let relation = Relation::parse(&bytes)
                .map_err(|e| Error::usage(format!("{}: {e}", path.display())))?;
            let hidden = Hidden {
                depth: depth.unwrap_or(relation.depth),
                relation,
                limit: time_limit.unwrap_or(UNKNOWN),
                warnings: Vec::new(),
            };
            return Ok((hidden, None));
        }
        let depth = depth.unwrap_or(schedule::may_trigger::DEPTH);
        let mut control = Control::new(Scheduler::Collect, 0);
        control.frames = Some(depth);
        let dir = launcher.directory("phase-1")?;
        let plan = Plan {
            control: Some(control),
            time_limit,
            input,
            ..Plan::new(Mode::None, output)
        };
        let run = launcher.run_in(&dir, plan)?;
        let elapsed = run.outcome.elapsed;
        let mut hidden = Hidden {
            relation: Relation::new(depth),
            depth,
            limit: time_limit.unwrap_or((elapsed * TIMES).max(LEAST)),
            warnings: Vec::new(),
        };
        if !hidden.learn(&dir) {
            hidden.warnings.push(
                "the run that collects the relation did not come to its end: the next one has none to go by"
                    .to_owned(),
            );
        }
        Ok((hidden, Some(elapsed.as_secs_f64())))
    }

    pub fn limit(&self) -> Duration {
        self.limit
    }

    /// Gives the relation to a run.
    pub fn aim(&self, control: &mut Control, dir: &RunDir) -> Result<(), Error> {
        let path = dir.file(GIVEN);
        self.write(&path)?;
        control.relation = Some(path);
        control.frames = Some(self.depth);
        Ok(())
    }

    /// Takes over the relation of a run that came to its end; false if there is
    /// none.
    pub fn learn(&mut self, dir: &RunDir) -> bool {
        let found = std::fs::read(dir.file(FILE)).ok();
        let found = found.and_then(|bytes| Relation::parse(&bytes).ok());
        match found {
            Some(relation) => {
                self.relation = relation;
                true
            }
            None => false,
        }
    }

    /// Keeps the relation with the result.
    pub fn keep(&self, results: &Path) -> Result<(), Error> {
        self.write(&results.join(FILE))
    }

    pub fn write(&self, path: &Path) -> Result<(), Error> {
        std::fs::write(path, self.relation.to_text())
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(())
    }
}
