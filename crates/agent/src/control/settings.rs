//! How threads are to be scheduled: what the run is asked, with defaults for what it
//! is not.

use instrument::Statement;
use protocol::{Control, Scheduler, request};
use schedule::may_trigger::Plan;
use schedule::reduce::{Follow, Steered};
use schedule::{Decider, Guided, How, Params, Replay, Strategy, log};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// More steps than any program worth waiting for makes.
const MAX_STEPS: u64 = 50_000_000;
const WATCHDOG_SECONDS: u64 = 60;
/// Where virtual time begins.
const CLOCK: u64 = 1_600_000_000_000;
/// Name of a parameter in logs.
pub(super) const SPURIOUS: &str = "spurious";

#[derive(Clone, Debug)]
pub struct Settings {
    /// None: the operating system.
    pub scheduler: Option<Scheduler>,
    worker: bool,
    /// Executions may have the classes of those before them.
    keeps_classes: bool,
    pub seed: u64,
    pub depth: u32,
    pub steps: u64,
    /// Where virtual time begins, in milliseconds since 1970.
    pub clock: u64,
    pub targets: instrument::Control,
    /// The same, by sides, and as logs have it.
    pair: [Vec<Statement>; 2],
    pub pair_text: String,
    /// Of a worker's executions.
    variants: Vec<Variant>,
    pub log: Option<PathBuf>,
    pub max_steps: u64,
    /// One step of so many wakes a thread for no reason; 0: never.
    pub spurious: u64,
    /// Seconds without a sign of life after which the run is ended.
    pub watchdog: u64,
    /// A debugger stops threads where it likes: one that sleeps is not taken
    /// to wait for others.
    pub debugger: bool,
    /// The relation of an earlier run.
    pub relation: Option<PathBuf>,
    /// How many frames of the program a relation looks at.
    pub frames: u32,
}

/// In what an execution of a worker differs from others.
#[derive(Clone, Debug)]
struct Variant {
    scheduler: String,
    pair: [Vec<Statement>; 2],
}

impl Settings {
    pub fn new(asked: Option<Control>) -> Result<Settings, String> {
        let params = Params::default();
        let scheduler = asked.as_ref().map(|control| control.scheduler.clone());
        let asked = asked.unwrap_or_else(|| Control::new(Scheduler::Collect, params.seed));
        let pair = match &asked.pair {
            Some([a, b]) => [statements(a)?, statements(b)?],
            None => [vec![], vec![]],
        };
        let clock = asked.clock.map(u64::try_from).transpose();
        let variant = |v: &request::Variant| -> Result<Variant, String> {
            Ok(Variant {
                scheduler: v.scheduler.clone(),
                pair: match &v.pair {
                    Some([a, b]) => [statements(a)?, statements(b)?],
                    None => [vec![], vec![]],
                },
            })
        };
        let variants: Result<Vec<Variant>, String> = asked.variants.iter().map(variant).collect();
        let variants = variants?;
        // What is no target of an execution is no point of it.
        let mut targets = pair.concat();
        targets.extend(variants.iter().flat_map(|v| v.pair.concat()));
        // What was written before is kept by the place where it was written.
        let is_weak = targets.iter().any(|target| {
            matches!(
                target,
                Statement::WeakField { .. } | Statement::WeakElements { .. }
            )
        });
        let mut settings = Settings {
            scheduler,
            worker: asked.worker,
            keeps_classes: !asked.new_classes && !is_weak,
            seed: asked.seed,
            depth: asked.depth.unwrap_or(params.depth),
            steps: asked.steps.unwrap_or(params.steps),
            clock: clock.map_err(|_| "time begins in 1970")?.unwrap_or(CLOCK),
            targets: instrument::Control {
                targets,
                ..instrument::Control::default()
            },
            pair,
            variants,
            pair_text: asked
                .pair
                .as_ref()
                .map(request::pair_text)
                .unwrap_or_default(),
            log: asked.log,
            max_steps: asked.max_steps.unwrap_or(MAX_STEPS),
            spurious: asked.spurious.unwrap_or(0),
            watchdog: asked.watchdog.unwrap_or(WATCHDOG_SECONDS).max(1),
            debugger: asked.debugger,
            relation: asked.relation,
            frames: { asked.frames }
                .unwrap_or(schedule::may_trigger::DEPTH)
                .clamp(1, 1000),
        };
        settings.targets.explores = settings.is_exploring();
        Ok(settings)
    }

    /// The scheduler of the registry, if it is one.
    fn registered(&self) -> Option<schedule::Scheduler> {
        match &self.scheduler {
            Some(Scheduler::Named(name)) => schedule::Scheduler::named(name),
            _ => None,
        }
    }

    fn how(&self) -> Option<How> {
        self.registered().map(schedule::Scheduler::how)
    }

    /// How logs and reports call the scheduler.
    pub fn name(&self) -> &str {
        self.scheduler.as_ref().map_or("", Scheduler::name)
    }

    /// The same, of an execution that is this variant.
    pub fn name_of(&self, variant: usize) -> &str {
        let variant = self.variants.get(variant);
        variant.map_or_else(|| self.name(), |v| &v.scheduler)
    }

    pub fn keeps_classes(&self) -> bool {
        self.keeps_classes
    }

    pub fn is_worker(&self) -> bool {
        self.worker
    }

    pub fn is_replaying(&self) -> bool {
        matches!(self.scheduler, Some(Scheduler::Replay(_)))
    }

    pub fn is_exploring(&self) -> bool {
        matches!(self.scheduler, Some(Scheduler::Explore(_)))
    }

    /// The log is to tell a finding: accesses with their values, and who could have gone on.
    pub fn tells(&self) -> bool {
        matches!(
            self.scheduler,
            Some(Scheduler::Steer(_) | Scheduler::Follow(_))
        )
    }

    /// Whether a strategy says who goes on.
    pub fn is_on(&self) -> bool {
        match &self.scheduler {
            None | Some(Scheduler::Collect) => false,
            Some(
                Scheduler::Replay(_)
                | Scheduler::Explore(_)
                | Scheduler::Steer(_)
                | Scheduler::Follow(_),
            ) => true,
            // What is not known is refused when its strategy is made.
            Some(Scheduler::Named(_)) => {
                self.registered().is_none_or(schedule::Scheduler::is_serial)
            }
        }
    }

    /// Threads run freely, and are delayed here and there.
    pub fn is_noise(&self) -> bool {
        matches!(self.how(), Some(How::Noise))
    }

    /// Threads run freely, but are held back before some locks.
    pub fn is_hidden_free(&self) -> bool {
        matches!(self.how(), Some(How::Hold))
    }

    /// The same, under control.
    pub fn is_hidden_serial(&self) -> bool {
        self.registered()
            .is_some_and(|s| s.is_serial() && s.goes_by_relation())
    }

    /// Phase I of looking for hidden races: the relation is collected.
    pub fn collects(&self) -> bool {
        self.scheduler == Some(Scheduler::Collect)
    }

    /// Whether executions differ in more than their seeds.
    pub fn has_variants(&self) -> bool {
        !self.variants.is_empty()
    }

    /// Which sides of the pair a statement is on in an execution that is this variant: 1, 2
    /// or both.
    pub fn sides(&self, variant: usize, site: &log::Site) -> u8 {
        let variant = self.variants.get(variant);
        let [first, second] = variant.map_or(&self.pair, |v| &v.pair);
        let on = |side: &[Statement]| side.iter().any(|s| is(s, site));
        u8::from(on(first)) | u8::from(on(second)) << 1
    }

    /// The strategy. To repeat a run, what else decided it is taken from its log.
    pub fn strategy(&mut self, relation: Option<Arc<Plan>>) -> Result<Decider, String> {
        match self.scheduler.clone() {
            Some(Scheduler::Replay(path)) => self.replay(&path),
            Some(Scheduler::Follow(path)) => {
                let log = self.logged(&path)?;
                let follow: Box<dyn Strategy> = Box::new(Follow::new(&log, identity));
                Ok(follow.into())
            }
            Some(Scheduler::Steer(course)) => {
                let steered: Box<dyn Strategy> = Box::new(Steered::new(course.parse()?));
                Ok(steered.into())
            }
            Some(Scheduler::Explore(None)) => {
                let nothing = explore::Guide::new(vec![], explore::Order::default(), None);
                Ok(Guided::new(nothing).into())
            }
            Some(Scheduler::Explore(Some(path))) => {
                let bytes = std::fs::read(&path)
                    .map_err(|e| format!("cannot read the job {}: {e}", path.display()))?;
                let job: explore::Job = serde_json::from_slice(&bytes)
                    .map_err(|e| format!("{} is no job: {e}", path.display()))?;
                Ok(Guided::new(job.guide()).into())
            }
            Some(Scheduler::Named(name)) => self.named(&name, self.seed, relation),
            Some(Scheduler::Collect) | None => Err("nobody controls this run".into()),
        }
    }

    /// The strategy of an execution that is this variant, with another seed.
    pub fn reseeded(&self, variant: usize, seed: u64) -> Option<Decider> {
        match &self.scheduler {
            Some(Scheduler::Named(_)) => self.named(self.name_of(variant), seed, None).ok(),
            _ => None,
        }
    }

    fn named(&self, name: &str, seed: u64, relation: Option<Arc<Plan>>) -> Result<Decider, String> {
        let params = Params {
            seed,
            depth: self.depth,
            steps: self.steps,
            pair: None, // sites get their numbers later; see Fact::Target
            relation,
        };
        schedule::strategy(name, &params)
            .map(Decider::from)
            .ok_or_else(|| format!("unknown strategy `{name}`"))
    }

    fn replay(&mut self, path: &Path) -> Result<Decider, String> {
        Ok(Replay::new(self.logged(path)?, identity).into())
    }

    /// The log of an earlier run; what else decided that is taken from it.
    fn logged(&mut self, path: &Path) -> Result<log::Log, String> {
        let bytes = std::fs::read(path)
            .map_err(|e| format!("cannot read the schedule {}: {e}", path.display()))?;
        let log =
            log::read(&bytes).map_err(|e| format!("{} is not a schedule: {e}", path.display()))?;
        self.seed = log.header.seed;
        self.clock = log.header.clock;
        let spurious = log.header.parameters.iter().find(|(k, _)| k == SPURIOUS);
        self.spurious = spurious.and_then(|(_, v)| v.parse().ok()).unwrap_or(0);
        Ok(log)
    }
}

/// What a site of this run stands for in every run.
fn identity(site: u32) -> Option<u64> {
    let agent = crate::agent()?;
    super::journal::describe(agent, site).map(|s| s.identity())
}

fn is(statement: &Statement, site: &log::Site) -> bool {
    match statement {
        Statement::Exact {
            class,
            method,
            desc,
            bci,
        } => {
            *class == site.class
                && *method == site.method
                && *desc == site.descriptor
                && u32::from(*bci) == site.bci
        }
        Statement::Line { file, line } => {
            site.file.as_ref() == Some(file) && site.line == Some(u32::from(*line))
        }
        // No pair is made of these.
        Statement::Field { .. }
        | Statement::Elements { .. }
        | Statement::WeakField { .. }
        | Statement::WeakElements { .. } => false,
    }
}

/// Statements as the instrumentation knows them.
fn statements(side: &[protocol::Statement]) -> Result<Vec<Statement>, String> {
    side.iter()
        .map(|s| statement(s).ok_or_else(|| format!("no class file has a statement `{s}`")))
        .collect()
}

/// None if a number is larger than class files have them.
fn statement(asked: &protocol::Statement) -> Option<Statement> {
    use protocol::Statement as Asked;
    Some(match asked.clone() {
        Asked::Exact {
            class,
            method,
            desc,
            bci,
        } => Statement::Exact {
            class,
            method,
            desc,
            bci: bci.try_into().ok()?,
        },
        Asked::Line { file, line } => Statement::Line {
            file,
            line: line.try_into().ok()?,
        },
        Asked::Field { name } => Statement::Field { name },
        Asked::Elements { of } => Statement::Elements { of },
        Asked::WeakField { name } => Statement::WeakField { name },
        Asked::WeakElements { of } => Statement::WeakElements { of },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_asked_is_nothing_controlled() {
        let settings = Settings::new(None).unwrap();
        assert!(!settings.is_on() && !settings.collects());
        let collects = Settings::new(Some(Control::new(Scheduler::Collect, 0))).unwrap();
        assert!(!collects.is_on() && collects.collects());
    }

    #[test]
    fn statements_that_no_class_file_has_are_refused() {
        let line = |line| protocol::Statement::Line {
            file: "A.java".into(),
            line,
        };
        assert!(statements(&[line(12)]).is_ok());
        assert!(statements(&[line(70_000)]).is_err());
    }
}
