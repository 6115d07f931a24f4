//! How the driver wants threads scheduled (control=..., seed=... and so on;
//! crates/driver/src/options.rs writes them).

use instrument::{Control, Statement};
use schedule::may_trigger::Plan;
use schedule::{Guided, Params, Replay, Strategy, log};
use std::path::PathBuf;
use std::sync::Arc;

/// More steps than any program worth waiting for makes.
const MAX_STEPS: u64 = 50_000_000;
const WATCHDOG_SECONDS: u64 = 60;
/// The strategy that follows an exploration.
const EXPLORE: &str = "explore";
/// Name of a parameter in logs.
pub(super) const SPURIOUS: &str = "spurious";

#[derive(Clone, Debug)]
pub struct Settings {
    /// Name of the strategy, or `replay`.
    pub name: String,
    pub seed: u64,
    pub depth: u32,
    pub steps: u64,
    /// Where virtual time begins, in milliseconds since 1970.
    pub clock: u64,
    pub targets: Control,
    /// The same, by sides, and as it was told.
    pair: [Vec<Statement>; 2],
    pub pair_text: String,
    pub log: Option<PathBuf>,
    pub replay: Option<PathBuf>,
    pub max_steps: u64,
    /// One step of so many wakes a thread for no reason; 0: never.
    pub spurious: u64,
    /// Seconds without a sign of life after which the run is ended.
    pub watchdog: u64,
    /// The processor that all program threads share.
    pub cpu: Option<usize>,
    /// A debugger stops threads where it likes: one that sleeps is not taken
    /// to wait for others.
    pub debugger: bool,
    /// Phase I of looking for hidden races: the relation is collected.
    pub collect: bool,
    /// The relation of an earlier run.
    pub relation: Option<PathBuf>,
    /// How many frames of the program a relation looks at.
    pub frames: u32,
    /// The job of an exploration that this run is.
    pub explore: Option<PathBuf>,
    /// It makes many, and is told of them one by one.
    pub worker: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        let params = Params::default();
        Settings {
            name: String::new(),
            seed: params.seed,
            depth: params.depth,
            steps: params.steps,
            clock: 1_600_000_000_000,
            targets: Control::default(),
            pair: [vec![], vec![]],
            pair_text: String::new(),
            log: None,
            replay: None,
            max_steps: MAX_STEPS,
            spurious: 0,
            watchdog: WATCHDOG_SECONDS,
            cpu: None,
            debugger: false,
            collect: false,
            relation: None,
            frames: schedule::may_trigger::DEPTH,
            explore: None,
            worker: false,
        }
    }
}

impl Settings {
    /// Takes one option; false if it is none of ours.
    pub fn option(
        &mut self,
        key: &str,
        value: &str,
        decode: impl Fn(&str) -> String,
    ) -> Result<bool, String> {
        let number = || {
            value
                .parse::<u64>()
                .map_err(|_| format!("`{key}={value}` is not a number"))
        };
        match key {
            "control" => {
                self.name = value.to_owned();
                self.targets.explores = self.is_exploring();
            }
            "seed" => self.seed = number()?,
            "depth" => self.depth = number()? as u32,
            "steps" => self.steps = number()?,
            "clock" => self.clock = number()?,
            "maxsteps" => self.max_steps = number()?,
            "spurious" => self.spurious = number()?,
            "watchdog" => self.watchdog = number()?.max(1),
            "cpu" => self.cpu = Some(number()? as usize),
            "debugger" => self.debugger = number()? != 0,
            "collect" => self.collect = number()? != 0,
            "frames" => self.frames = number()?.clamp(1, 1000) as u32,
            "relation" => self.relation = Some(decode(value).into()),
            "log" => self.log = Some(decode(value).into()),
            "worker" => self.worker = number()? != 0,
            "explore" => self.explore = Some(decode(value).into()),
            "replay" => self.replay = Some(decode(value).into()),
            "pair" => {
                let (first, second) = value.split_once(';').unwrap_or((value, ""));
                self.pair = [statements(first, &decode)?, statements(second, &decode)?];
                self.targets.targets = self.pair.concat();
                self.pair_text = value.to_owned();
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub fn is_exploring(&self) -> bool {
        self.name == EXPLORE
    }

    pub fn is_on(&self) -> bool {
        !self.name.is_empty() && self.name != "contest" && !self.is_hidden_free()
    }

    /// Threads run freely, but are held back before some locks.
    pub fn is_hidden_free(&self) -> bool {
        self.name == "drfinder-free"
    }

    /// Which sides of the pair a statement is on: 1, 2 or both.
    pub fn sides(&self, site: &log::Site) -> u8 {
        let on = |side: &Vec<Statement>| side.iter().any(|s| is(s, site));
        u8::from(on(&self.pair[0])) | u8::from(on(&self.pair[1])) << 1
    }

    /// The strategy. To repeat a run, what else decided it is taken from its log.
    pub fn strategy(&mut self, relation: Option<Arc<Plan>>) -> Result<Box<dyn Strategy>, String> {
        if self.name == "replay" {
            let path = self.replay.as_ref().ok_or("replaying needs replay=FILE")?;
            let bytes = std::fs::read(path)
                .map_err(|e| format!("cannot read the schedule {}: {e}", path.display()))?;
            let log = log::read(&bytes)
                .map_err(|e| format!("{} is not a schedule: {e}", path.display()))?;
            self.seed = log.header.seed;
            self.clock = log.header.clock;
            let spurious = log.header.parameters.iter().find(|(k, _)| k == SPURIOUS);
            self.spurious = spurious.and_then(|(_, v)| v.parse().ok()).unwrap_or(0);
            return Ok(Box::new(Replay::new(log, identity)));
        }
        if self.worker {
            let nothing = explore::Guide::new(vec![], explore::Order::default(), None);
            return Ok(Box::new(Guided::new(nothing)));
        }
        if self.name == EXPLORE {
            let path = self
                .explore
                .as_ref()
                .ok_or("exploring needs explore=FILE")?;
            let bytes = std::fs::read(path)
                .map_err(|e| format!("cannot read the job {}: {e}", path.display()))?;
            let job: explore::Job = serde_json::from_slice(&bytes)
                .map_err(|e| format!("{} is no job: {e}", path.display()))?;
            return Ok(Box::new(Guided::new(job.guide())));
        }
        let params = Params {
            seed: self.seed,
            depth: self.depth,
            steps: self.steps,
            pair: None, // sites get their numbers later; see Strategy::target
            relation,
        };
        schedule::strategy(&self.name, &params)
            .ok_or_else(|| format!("unknown strategy `{}`", self.name))
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
        Statement::Field { .. } | Statement::Elements { .. } => false,
    }
}

/// `class#method#desc#bci`, `File.java:12`, `*#field#name` or `*#elements#I`; several statements of one side of a
/// pair are separated by `|`.
fn statements(text: &str, decode: &impl Fn(&str) -> String) -> Result<Vec<Statement>, String> {
    text.split('|')
        .filter(|s| !s.is_empty())
        .map(|encoded| {
            let text = decode(encoded);
            statement(&text).ok_or_else(|| format!("`{text}` names no statement"))
        })
        .collect()
}

fn statement(text: &str) -> Option<Statement> {
    if let [class, method, desc, bci] = text.split('#').collect::<Vec<_>>()[..] {
        return Some(Statement::Exact {
            class: class.into(),
            method: method.into(),
            desc: desc.into(),
            bci: bci.parse().ok()?,
        });
    }
    match text.split('#').collect::<Vec<_>>()[..] {
        ["*", "field", name] => return Some(Statement::Field { name: name.into() }),
        ["*", "elements", of] if of.len() == 1 => {
            let of = of.chars().next()?;
            return Some(Statement::Elements { of });
        }
        _ => {}
    }
    let (file, line) = text.rsplit_once(':')?;
    Some(Statement::Line {
        file: file.into(),
        line: line.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_both_kinds() {
        let all = statements("A.java:12|p/B#run#()V#7|p/B#run#()V#9", &str::to_owned).unwrap();
        let exact = |bci| Statement::Exact {
            class: "p/B".into(),
            method: "run".into(),
            desc: "()V".into(),
            bci,
        };
        let line = Statement::Line {
            file: "A.java".into(),
            line: 12,
        };
        assert_eq!(all, [line, exact(7), exact(9)]);
        let all = statements("*#field#total|*#elements#J", &str::to_owned).unwrap();
        let field = Statement::Field {
            name: "total".into(),
        };
        assert_eq!(all, [field, Statement::Elements { of: 'J' }]);
        assert!(statements("nothing", &str::to_owned).is_err());
    }
}
