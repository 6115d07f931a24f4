//! The exploration as its users see it: ask for a job, run it, tell how it went.

use crate::bounded::Bounded;
use crate::history::History;
use crate::op::{Execution, Label, Touching};
use crate::parts::Part;
use crate::races::{other_picks, reversals};
use crate::sample::Sample;
use crate::search::{Divergence, Guide, Order};
use crate::tree::{NodeId, ROOT, State, Tree};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// What to explore and when to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Config {
    pub order: Order,
    /// At most so many preemptions; none: everything.
    pub preemptions: Option<u32>,
    pub max_executions: Option<u64>,
    /// Stop when this many findings (races on a path) were told.
    pub threshold: Option<u64>,
}

/// An execution to be made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Job {
    pub id: u64,
    /// The steps to begin with.
    pub beginning: Vec<Label>,
    pub order: Order,
    pub preemptions: Option<u32>,
    /// Behind the beginning the schedule is drawn. Such an execution is nobody's part of the
    /// exploration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
}

impl Job {
    pub fn guide(&self) -> Guide {
        let guide = Guide::new(self.beginning.clone(), self.order, self.preemptions);
        guide.sampling(self.sample)
    }
}

/// Why an exploration that is not complete goes no further.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Stop {
    Executions,
    Threshold,
}

/// How far it is.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Progress {
    /// Everything was explored: every class of equivalent executions, or every
    /// one within the bound on preemptions. Never true if something was lost.
    pub complete: bool,
    /// Why not, if it will not go on.
    pub stopped: Option<Stop>,
    pub executions: u64,
    pub findings: u64,
    /// Executions in which threads were left that could not go on.
    pub blocked: u64,
    pub max_depth: usize,
    /// Jobs that are being done.
    pub outstanding: usize,
    /// Executions that could not be made as asked for; what lay behind them
    /// is not explored.
    pub lost: u64,
    /// Executions that may have repeated others. None, unless objects have
    /// other names in equivalent executions.
    pub redundant: u64,
    /// About how many executions there are in all: those made, divided by the
    /// share of the tree they stand for if every node's branches were alike.
    /// Branches that nobody knows of yet are not in it, so it is more often
    /// too low than too high. None with a bound on preemptions.
    pub estimate: Option<f64>,
}

/// What was told does not fit the job.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    #[error("there is no job {0}, or it was finished before")]
    UnknownJob(u64),
    #[error("execution of job {job} differs from what was asked for at step {step}")]
    NotFollowed { job: u64, step: usize },
    #[error("job {0} is a subtree, of which the whole is to be told")]
    Lent(u64),
    #[error("what was told of the subtree of job {0} does not fit into the exploration")]
    DoesNotFit(u64),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Engine {
    Optimal(Tree),
    Bounded(Bounded),
}

/// Where a job's given steps end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Target {
    Node(NodeId),
    Beginning(Vec<Label>),
    /// All that is below the node is explored elsewhere.
    Below(NodeId),
}

impl Target {
    /// To be handed out again, as a single execution.
    fn alone(self) -> Target {
        match self {
            Target::Below(node) => Target::Node(node),
            other => other,
        }
    }
}

/// The state of an exploration. It can be stored at any time: a job that was
/// handed out and not finished is handed out again after
/// [`requeue`](Explorer::requeue).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct Explorer {
    pub(crate) config: Config,
    pub(crate) engine: Engine,
    pub(crate) outstanding: BTreeMap<u64, Target>,
    pub(crate) again: VecDeque<Target>,
    pub(crate) next_job: u64,
    pub(crate) executions: u64,
    pub(crate) findings: u64,
    pub(crate) blocked: u64,
    pub(crate) max_depth: usize,
    pub(crate) lost: u64,
    pub(crate) redundant: u64,
    pub(crate) part: Part,
}

/// An exploration as it was read.
#[derive(Deserialize)]
struct Stored {
    config: Config,
    engine: Engine,
    outstanding: BTreeMap<u64, Target>,
    again: VecDeque<Target>,
    next_job: u64,
    executions: u64,
    findings: u64,
    blocked: u64,
    max_depth: usize,
    lost: u64,
    redundant: u64,
    #[serde(default)]
    part: Part,
}

impl TryFrom<Stored> for Explorer {
    type Error = &'static str;

    fn try_from(s: Stored) -> Result<Explorer, &'static str> {
        let fits = |target: &Target| match (target, &s.engine) {
            (Target::Node(node) | Target::Below(node), Engine::Optimal(tree)) => tree.has(*node),
            (Target::Beginning(_), Engine::Bounded(_)) => true,
            _ => false,
        };
        if !s.outstanding.values().chain(&s.again).all(fits) {
            return Err("a job does not belong to the exploration");
        }
        Ok(Explorer {
            config: s.config,
            engine: s.engine,
            outstanding: s.outstanding,
            again: s.again,
            next_job: s.next_job,
            executions: s.executions,
            findings: s.findings,
            blocked: s.blocked,
            max_depth: s.max_depth,
            lost: s.lost,
            redundant: s.redundant,
            part: s.part,
        })
    }
}

impl Explorer {
    pub fn new(config: Config) -> Explorer {
        let (engine, again) = match config.preemptions {
            None => (Engine::Optimal(Tree::new()), Some(Target::Node(ROOT))),
            Some(bound) => (Engine::Bounded(Bounded::new(bound)), None),
        };
        Explorer {
            config,
            engine,
            outstanding: BTreeMap::new(),
            again: again.into_iter().collect(),
            next_job: 0,
            executions: 0,
            findings: 0,
            blocked: 0,
            max_depth: 0,
            lost: 0,
            redundant: 0,
            part: Part::default(),
        }
    }

    pub fn config(&self) -> Config {
        self.config
    }

    /// An execution to make, if there is one to be made now. Several may be
    /// under way at once. None does not mean that it is over while others are:
    /// see [`progress`](Explorer::progress).
    #[expect(clippy::should_implement_trait, reason = "an iterator that is fed")]
    pub fn next(&mut self) -> Option<Job> {
        if self.stopped().is_some() {
            return None;
        }
        let target = match self.again.pop_front() {
            Some(target) => target,
            None if self.is_common() => self.next_common()?,
            None => match &mut self.engine {
                Engine::Optimal(tree) => Target::Node(tree.next()?),
                Engine::Bounded(search) => Target::Beginning(search.open.pop()?),
            },
        };
        if let (Target::Node(node), Engine::Optimal(tree)) = (&target, &mut self.engine) {
            let node = tree.node_mut(*node);
            node.wanted = true;
            // All that was asleep on the way must have been woken by it.
            self.redundant += u64::from(!node.sleep.is_empty());
        }
        let beginning = self.given(&target);
        let id = self.next_job;
        self.next_job += 1;
        self.outstanding.insert(id, target);
        Some(Job {
            id,
            beginning,
            order: self.config.order,
            preemptions: self.config.preemptions,
            sample: None,
        })
    }

    /// Takes in an execution that was made for a job, with the number of
    /// findings in it.
    pub fn finish(&mut self, job: u64, run: &Execution, findings: u64) -> Result<(), Error> {
        let target = self.outstanding.get(&job).ok_or(Error::UnknownJob(job))?;
        if let Target::Below(_) = target {
            return Err(Error::Lent(job));
        }
        let given = self.given(target);
        let made = |at: usize| run.steps.get(at).map(|s| &s.label);
        if let Some(step) = (0..given.len()).find(|at| made(*at) != Some(&given[*at])) {
            return Err(Error::NotFollowed { job, step });
        }
        let target = self.outstanding.remove(&job);
        self.executions += 1;
        self.findings += findings;
        self.blocked += u64::from(!run.blocked.is_empty());
        self.max_depth = self.max_depth.max(run.steps.len());
        self.part.saw(run);
        match (&mut self.engine, target) {
            (Engine::Bounded(search), _) => search.finish(given.len(), run),
            (Engine::Optimal(_), Some(Target::Node(node))) => self.grow(node, given.len(), run),
            (Engine::Optimal(_), _) => {}
        }
        Ok(())
    }

    /// Hangs an execution on the tree, and everything that is to be tried
    /// because of it.
    fn grow(&mut self, mut node: NodeId, given: usize, run: &Execution) {
        let Engine::Optimal(tree) = &mut self.engine else {
            return;
        };
        let part = &mut self.part;
        let trunk = part.trunk.len();
        tree.node_mut(node).wanted = false;
        let later = std::mem::take(&mut tree.node_mut(node).later);
        let last_given = node;
        for step in &run.steps[given..] {
            node = tree.extend(node, step.label.clone());
        }
        for steps in &later {
            let steps: Vec<_> = steps.iter().map(Touching::new).collect();
            tree.insert(last_given, steps.iter().collect());
        }
        let way = tree.ancestry(node);
        let history = History::new(run);
        let others = other_picks(run);
        reversals(run, &history, &others, |at, instead| {
            match at.checked_sub(trunk) {
                Some(below) => tree.insert(way[below], instead),
                None => part.reaches_above(at, &instead),
            }
        });
        tree.done(node);
    }

    /// The job's execution did not go as asked for: the program does not
    /// depend on the schedule alone. What lies behind is given up, which
    /// [`Progress::lost`] says.
    pub fn diverged(&mut self, job: u64) -> Result<(), Error> {
        let target = self.outstanding.remove(&job);
        let target = target.ok_or(Error::UnknownJob(job))?;
        self.lost += 1;
        if let (Target::Node(node) | Target::Below(node), Engine::Optimal(tree)) =
            (target, &mut self.engine)
        {
            tree.node_mut(node).wanted = false;
            tree.done(node);
        }
        Ok(())
    }

    /// The job will not be done by the worker that has it: it is handed out again.
    pub fn give_back(&mut self, job: u64) -> Result<(), Error> {
        let target = self.outstanding.remove(&job);
        self.again
            .push_back(target.ok_or(Error::UnknownJob(job))?.alone());
        Ok(())
    }

    /// The steps that a job begins with.
    fn given(&self, target: &Target) -> Vec<Label> {
        match (target, &self.engine) {
            (Target::Node(node) | Target::Below(node), Engine::Optimal(tree)) => {
                let mut labels = self.part.trunk.clone();
                labels.extend(tree.path(*node));
                labels
            }
            (Target::Beginning(labels), _) => labels.clone(),
            (_, Engine::Bounded(_)) => Vec::new(),
        }
    }

    /// All jobs under way will be handed out again: after loading a stored
    /// state, when those who had them are gone.
    pub fn requeue(&mut self) {
        let all = std::mem::take(&mut self.outstanding);
        self.again.extend(all.into_values().map(Target::alone));
    }

    fn stopped(&self) -> Option<Stop> {
        let reached = |limit: Option<u64>, n: u64| limit.is_some_and(|limit| n >= limit);
        if reached(self.config.threshold, self.findings) {
            Some(Stop::Threshold)
        } else if reached(
            self.config.max_executions,
            self.executions + self.outstanding.len() as u64,
        ) {
            Some(Stop::Executions)
        } else {
            None
        }
    }

    /// Goes on, after a stop, with other limits.
    pub fn limit(&mut self, max_executions: Option<u64>, threshold: Option<u64>) {
        self.config.max_executions = max_executions;
        self.config.threshold = threshold;
    }

    /// Nothing is left to explore here.
    pub fn exhausted(&self) -> bool {
        let explored = match &self.engine {
            Engine::Optimal(tree) => tree.node(ROOT).state == State::Done,
            Engine::Bounded(search) => search.open.is_empty(),
        };
        explored && self.outstanding.is_empty() && self.again.is_empty()
    }

    pub fn progress(&self) -> Progress {
        let exhausted = self.exhausted();
        let estimate = match &self.engine {
            Engine::Optimal(_) if exhausted => Some(self.executions as f64),
            Engine::Optimal(tree) if self.executions > 0 => {
                Some(self.executions as f64 / tree.share_done())
            }
            _ => None,
        };
        Progress {
            complete: exhausted && self.lost == 0,
            stopped: if exhausted { None } else { self.stopped() },
            executions: self.executions,
            findings: self.findings,
            blocked: self.blocked,
            max_depth: self.max_depth,
            outstanding: self.outstanding.len(),
            lost: self.lost,
            redundant: self.redundant,
            estimate,
        }
    }

    /// How many nodes of the tree, or beginnings to try, are in memory.
    pub fn size(&self) -> usize {
        match &self.engine {
            Engine::Optimal(tree) => tree.len(),
            Engine::Bounded(search) => search.open.len(),
        }
    }
}

/// Explores with the given runner until there is nothing left or a limit is
/// reached. The runner makes the execution that the guide leads, and says how
/// many findings were in it.
pub fn explore<F>(explorer: &mut Explorer, mut run: F) -> Progress
where
    F: FnMut(Guide) -> Result<(Execution, u64), Box<Divergence>>,
{
    while let Some(job) = explorer.next() {
        let followed = match run(job.guide()) {
            Ok((execution, findings)) => explorer.finish(job.id, &execution, findings).is_ok(),
            Err(_) => false,
        };
        if !followed {
            // It is counted as lost, and the verdict will say so.
            let _known = explorer.diverged(job.id);
        }
    }
    explorer.progress()
}
