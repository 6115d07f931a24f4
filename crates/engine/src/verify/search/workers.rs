//! Executions in JVMs that make one after the other, a hundred times as fast as a
//! JVM an execution. How far they are trusted is in [`crate::executions::Reuse`].
//!
//! The first execution of a round, made in a JVM of its own, must be the same twice in
//! a worker before workers are used. And a worker is believed as long as it says
//! nothing new: an execution that shows something that was not seen before, that
//! does not go as it was told, or over which workers die, is made again in a JVM of
//! its own, and that is what counts.

use super::bounded::Bounds;
use super::mishaps::{is_killed, is_signal, same, step};
use super::{Branches, Gap, Samples, Search};
use crate::error::Error;
use crate::executions::{Reuse, keys, reuse};
use crate::launch::{Plan, RunDir};
use driver::options::Mode;
use driver::pool::Next;
use driver::process::Output;
use driver::run::{Request, RunError, RunResult};
use explore::{Execution, Job, Task};
use findings::finding::Findings;
use protocol::execution::{self, Answer, Ask, WorkerRun};
use protocol::{RunEnd, files};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Executions in JVMs of their own before a worker is worth its start: a tiny program has no
/// more. Once a worker was of use, the next round needs the first execution only.
const WORTH_IT: u32 = 4;
/// How often a worker makes the first execution before it is trusted.
const TRIALS: u32 = 2;
/// Workers that may die over one execution.
const DEATHS: u32 = 2;

/// How far workers are trusted in this round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trust {
    Untried,
    /// Trials that are still to come, one of them under way.
    Trying(u32),
    Trusted,
}

/// What a worker was asked for.
#[derive(Debug)]
pub(super) enum Given {
    /// The first execution of this round.
    Trial(u32),
    Task(Task),
    /// No part of the exploration.
    Sample(Task),
    /// Part of another one, within a bound.
    Bounded(Task),
}

impl Given {
    fn task(&self) -> Option<&Task> {
        match self {
            Given::Trial(_) => None,
            Given::Task(task) | Given::Sample(task) | Given::Bounded(task) => Some(task),
        }
    }
}

/// Why an execution of a worker is made again.
#[derive(Debug)]
pub(super) enum Doubt {
    /// It showed this.
    Showed(Vec<String>),
    /// It did not go as it was told.
    Diverged,
    Other,
}

#[derive(Debug)]
pub(super) struct Workers {
    /// Executions in JVMs of their own before a worker.
    worth_it: u32,
    pub reuse: Reuse,
    round: u32,
    trust: Trust,
    /// The first execution of the round.
    root: Option<(Task, Execution)>,
    alone: u32,
    /// The run that makes the first execution once more.
    reference: Option<usize>,
    given: BTreeMap<usize, Given>,
    /// To be made in JVMs of their own.
    again: VecDeque<(Task, Doubt)>,
    pub(super) doubts: BTreeMap<usize, Doubt>,
    deaths: BTreeMap<u64, u32>,
    /// Of runs whose results nobody wants.
    stale: Vec<RunDir>,
}

/// What is known of workers that were trusted, for the next search with them.
#[derive(Debug)]
pub(super) struct Known {
    reuse: Reuse,
    root: (Task, Execution),
}

impl Workers {
    /// `known`: workers of an earlier search, which need no trial.
    pub fn new(isolate: bool, portion: Option<&Branches>, known: Option<Known>) -> Workers {
        let (reuse, root) = match known {
            Some(Known { reuse, root }) => (reuse, Some(root)),
            None => (Reuse::new(isolate), None),
        };
        Workers {
            // What branches off somewhere is of a larger exploration.
            worth_it: match portion.is_some_and(|portion| !portion.is_root()) {
                true => 0,
                false => WORTH_IT,
            },
            trust: match root.is_some() {
                true => Trust::Trusted,
                false => Trust::Untried,
            },
            reuse,
            round: 0,
            root,
            alone: 0,
            reference: None,
            given: BTreeMap::new(),
            again: VecDeque::new(),
            doubts: BTreeMap::new(),
            deaths: BTreeMap::new(),
            stale: Vec::new(),
        }
    }

    /// After a search of one round whose workers were trusted to its end.
    pub fn known(&mut self) -> Option<Known> {
        let is_over = self.given.is_empty() && self.again.is_empty() && self.doubts.is_empty();
        let is_trusted = self.trust == Trust::Trusted && self.reuse.is_on() && self.round == 0;
        let root = self.root.clone().filter(|_| is_over && is_trusted)?;
        Some(Known {
            reuse: self.reuse.hand_on(),
            root,
        })
    }

    /// An execution in a JVM of its own is about to be taken in.
    pub fn follow(&mut self, task: &Task, execution: &Execution) {
        if task.round == self.round {
            self.alone += 1;
            if task.job.beginning.is_empty() {
                self.root = Some((task.clone(), execution.clone()));
            }
        }
    }

    fn is_worth_it(&self) -> bool {
        let needed = if self.reuse.made() > 0 { 1 } else { WORTH_IT };
        self.alone >= needed.min(self.worth_it)
    }

    /// A trial of an earlier round says nothing of this one, whose first execution is another.
    fn is_trying(&self) -> bool {
        let mut given = self.given.values();
        given.any(|given| matches!(given, Given::Trial(round) if *round == self.round))
    }

    /// Points have changed: workers know other classes now.
    fn enter(&mut self, round: u32) {
        if round != self.round {
            self.round = round;
            self.trust = Trust::Untried;
            self.root = None;
            self.reference = None;
            self.alone = 0;
            self.deaths.clear();
            self.again.clear();
        }
    }
}

impl<'a> Search<'a> {
    /// Something for a worker to do.
    pub(super) fn ask(&mut self, number: usize) -> Option<Next<'a>> {
        let round = self.campaign.round();
        self.workers.enter(round);
        let workers = &mut self.workers;
        if !workers.reuse.is_on() {
            return None;
        }
        let (given, job) = match workers.trust {
            Trust::Trusted if workers.again.is_empty() => {
                let given = match self.next_beside() {
                    Some(beside) => beside,
                    None => Given::Task(self.campaign.next()?),
                };
                let job = given.task()?.job.clone();
                (given, job)
            }
            Trust::Untried if workers.is_worth_it() => {
                let job = workers.root.as_ref()?.0.job.clone();
                workers.trust = Trust::Trying(TRIALS);
                (Given::Trial(round), job)
            }
            Trust::Trying(_) if !workers.is_trying() => {
                (Given::Trial(round), workers.root.as_ref()?.0.job.clone())
            }
            _ => return None,
        };
        self.workers.given.insert(number, given);
        let kind = u64::from(round) << 1 | self.workers.reuse.kind();
        Some(Next::Ask(kind, Box::new(Ask::Job(job))))
    }

    /// An execution that is to have a JVM of its own.
    pub(super) fn next_alone(&mut self, number: usize) -> Option<Task> {
        if self.needs_root() {
            // It was made by somebody else, who was interrupted.
            self.workers.reference = Some(number);
            let round = self.campaign.round();
            let config = self.asked.config;
            let job = Job {
                id: 0,
                beginning: Vec::new(),
                order: config.order,
                preemptions: config.preemptions,
                sample: None,
            };
            return Some(Task { round, job });
        }
        match self.workers.again.pop_front() {
            Some((task, doubt)) => {
                self.workers.doubts.insert(number, doubt);
                Some(task)
            }
            None => self.campaign.next(),
        }
    }

    fn needs_root(&self) -> bool {
        let workers = &self.workers;
        workers.trust == Trust::Untried
            && workers.is_worth_it()
            && workers.root.is_none()
            && workers.reference.is_none()
            && workers.reuse.is_on()
            && !self.campaign.exhausted()
    }

    /// What the first execution of the round is, if it was not taken in here.
    fn refer(&mut self, task: Task, dir: &RunDir) {
        let told = std::fs::read(dir.file(files::EXECUTION)).ok();
        let told = told.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        match told {
            Some(execution::Execution::Made(execution)) => {
                self.workers.root = Some((task, execution))
            }
            _ => self
                .workers
                .reuse
                .give_up("the first could not be made again"),
        }
    }

    /// Nothing is left to do, and nobody waits for anything but trials.
    pub(super) fn is_idle(&self) -> bool {
        let trials = self.workers.given.values();
        !self.workers.given.is_empty()
            && trials
                .into_iter()
                .all(|given| matches!(given, Given::Trial(_)))
            && self.given.is_empty()
            && self.workers.again.is_empty()
            && self.campaign.progress().complete
    }

    pub(super) fn new_worker(&mut self) -> Result<Request<'a>, Error> {
        let plan = Plan {
            control: Some(self.control(None)),
            repairs: self.asked.repairs.clone(),
            input: self.asked.input.clone(),
            ..Plan::new(Mode::FASTTRACK, Output::Capture)
        };
        self.workers.reuse.hire(self.launcher, plan)
    }

    /// A JVM has made the one execution that it was for.
    pub(super) fn alone(
        &mut self,
        number: usize,
        result: Result<RunResult, RunError>,
    ) -> Result<(), Error> {
        let Some((task, dir)) = self.given.remove(&number) else {
            return Ok(());
        };
        let doubt = self.workers.doubts.remove(&number);
        let run = result?;
        if self.workers.reference == Some(number) {
            match is_killed(&run) {
                true => self.workers.reference = None,
                false => self.refer(task, &dir),
            }
            return Ok(());
        }
        if task.job.sample.is_some() {
            return self.sampled_alone(&dir, &run);
        }
        let seen: BTreeSet<String> = keys(&run.findings).into_iter().collect();
        let (lost, missing) = (self.campaign.progress().lost, self.missing.len());
        self.result(&task, &dir, run)?;
        let went = self.campaign.progress().lost == lost;
        match doubt {
            Some(Doubt::Showed(all)) if !all.iter().all(|key| seen.contains(key)) => {
                self.workers.reuse.was_wrong();
            }
            Some(Doubt::Diverged) if went => self.workers.reuse.was_wrong(),
            _ => {}
        }
        // A worker may have led the exploration astray.
        if self.workers.reuse.made() > 0 && !went && self.missing.len() > missing {
            self.start_again();
        }
        Ok(())
    }

    /// Everything from the start, without workers. What was found was found.
    fn start_again(&mut self) {
        self.workers.reuse.give_up(reuse::NOT_THE_SAME);
        self.workers.reuse.forget();
        self.workers.given.clear();
        self.workers.again.clear();
        self.workers.doubts.clear();
        let given = std::mem::take(&mut self.given);
        let dirs = given.into_values().map(|(_, dir)| dir);
        self.workers.stale.extend(dirs);
        self.tries.clear();
        self.set_aside.clear();
        let diverged = |gap: &Gap| matches!(gap, Gap::Diverged { .. });
        self.missing.retain(|gap| !diverged(gap));
        self.campaign = self.asked.campaign();
        self.bounds = Bounds::new(self.asked.config);
        self.samples = Samples::default();
    }

    pub(super) fn answered(&mut self, number: usize, answer: Answer) -> Result<(), Error> {
        let Some(given) = self.workers.given.remove(&number) else {
            return Ok(());
        };
        if matches!(given, Given::Trial(round) if round != self.workers.round) {
            return Ok(());
        }
        self.workers.reuse.told(answer.reloads.clone());
        if let Some(why) = &answer.unfit {
            self.workers.reuse.give_up(why);
            self.doubt(given, Doubt::Other);
            return Ok(());
        }
        let Some(run) = answer.made.into_iter().next() else {
            self.doubt(given, Doubt::Other);
            return Ok(());
        };
        match given {
            Given::Trial(_) => self.tried(&run),
            Given::Task(task) => return self.made(task, run),
            Given::Sample(task) => self.sampled(task, run),
            Given::Bounded(task) => self.made_within(task, run),
        }
        Ok(())
    }

    fn tried(&mut self, run: &WorkerRun) {
        let differs = match (&run.execution, &self.workers.root) {
            (Some(execution::Execution::Made(now)), Some((_, then))) => difference(then, now),
            (Some(execution::Execution::Diverged(_)), _) => {
                Some("it could not be made as it was told".into())
            }
            _ => Some("it was not told of".into()),
        };
        if let Some(how) = differs {
            let why = format!("the first was not the same in a JVM that is used again: {how}");
            if self.workers.reuse.gives_up_classes(&why) {
                self.workers.trust = Trust::Untried;
                return;
            }
            self.workers.reuse.give_up(&why);
        }
        self.workers.trust = match self.workers.trust {
            Trust::Trying(left) if left > 1 => Trust::Trying(left - 1),
            _ => Trust::Trusted,
        };
    }

    /// Takes in an execution of a worker, if there is nothing new about it.
    fn made(&mut self, task: Task, run: WorkerRun) -> Result<(), Error> {
        let found = Findings::from_lines(run.findings);
        if found.uncontrolled.iter().any(is_signal) {
            return self.killed(task);
        }
        if self.is_mishap(&task, &found) {
            return Ok(self.campaign.give_back(&task)?);
        }
        let shown = keys(&found);
        if shown.iter().any(|key| !self.seen.contains(key)) {
            self.doubt(Given::Task(task), Doubt::Showed(shown));
            return Ok(());
        }
        let ended = matches!(run.outcome, RunEnd::Exit | RunEnd::Deadlock);
        let execution = match run.execution {
            Some(execution::Execution::Made(execution)) if ended => execution,
            // No point to make it again: a race that is no point yet explains it.
            Some(execution::Execution::Diverged(_)) if self.campaign.is_outdated() => {
                return Ok(self.campaign.diverged(&task, [])?);
            }
            Some(execution::Execution::Diverged(_)) => {
                self.doubt(Given::Task(task), Doubt::Diverged);
                return Ok(());
            }
            _ => {
                self.doubt(Given::Task(task), Doubt::Other);
                return Ok(());
            }
        };
        let racing = self.racing(&found);
        if !racing.iter().all(|&s| self.campaign.knows(s)) {
            self.doubt(Given::Task(task), Doubt::Other);
            return Ok(());
        }
        self.out_of_hand(&found);
        let races = u64::from(!found.races.is_empty());
        match self.campaign.finish(&task, &execution, races, []) {
            Ok(()) => self.workers.reuse.count(),
            Err(_) => self.doubt(Given::Task(task), Doubt::Diverged),
        }
        Ok(())
    }

    /// A worker died, or could not be had.
    pub(super) fn died(&mut self, number: usize) -> Result<(), Error> {
        let Some(given) = self.workers.given.remove(&number) else {
            return Ok(());
        };
        let task = match given {
            Given::Task(task) => task,
            Given::Sample(_) => return Ok(()),
            Given::Bounded(task) => {
                self.lost_within(&task);
                return Ok(());
            }
            Given::Trial(round) => {
                if round == self.workers.round {
                    self.workers.reuse.trial_failed(reuse::ENDED);
                }
                return Ok(());
            }
        };
        let deadline = self.asked.deadline;
        if deadline.is_some_and(|at| at <= std::time::Instant::now()) {
            self.out_of_time = true;
            return Ok(self.campaign.give_back(&task)?);
        }
        self.killed(task)
    }

    /// A worker came to its end over an execution: another one makes it, or, after some, a JVM of
    /// its own.
    fn killed(&mut self, task: Task) -> Result<(), Error> {
        let deaths = self.workers.deaths.entry(same(&task)).or_default();
        *deaths += 1;
        match *deaths < DEATHS {
            true => Ok(self.campaign.give_back(&task)?),
            false => {
                self.doubt(Given::Task(task), Doubt::Other);
                Ok(())
            }
        }
    }

    /// An execution of this round is made again in a JVM of its own.
    pub(super) fn doubt(&mut self, given: Given, doubt: Doubt) {
        if let Given::Bounded(task) = &given {
            self.lost_within(task);
        }
        if let Given::Task(task) | Given::Sample(task) = given
            && task.round == self.campaign.round()
        {
            self.workers.again.push_back((task, doubt));
        }
    }
}

/// Where an execution that is made again leaves the one that was.
fn difference(then: &Execution, now: &Execution) -> Option<String> {
    if then == now {
        return None;
    }
    let word = |execution: &Execution, at: usize| match execution.steps.get(at) {
        Some(made) => step(&made.label),
        None => "the end".into(),
    };
    let most = then.steps.len().max(now.steps.len());
    let at = (0..most).find(|at| then.steps.get(*at) != now.steps.get(*at));
    Some(match at.map(|at| (at, word(then, at), word(now, at))) {
        Some((at, was, is)) if was == is => format!("step {at}, {was}, differs"),
        Some((at, was, is)) => format!("step {at} was {was} and is {is}"),
        None => "it ends in another way".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use explore::{Label, Op, Step};

    fn execution(ops: &[Op]) -> Execution {
        let step = |op: &Op| Step {
            label: Label::new(0, *op),
            picks: 1,
            done: true,
            cleared: false,
            woken: None,
        };
        Execution {
            steps: ops.iter().map(step).collect(),
            ..Execution::default()
        }
    }

    #[test]
    fn a_trial_of_an_earlier_round_says_nothing_of_this_one() {
        let mut workers = Workers::new(false, None, None);
        workers.given.insert(0, Given::Trial(0));
        workers.trust = Trust::Trying(TRIALS);
        assert!(workers.is_trying());
        workers.enter(1);
        assert!(!workers.is_trying());
        assert_eq!(workers.trust, Trust::Untried);
    }

    #[test]
    fn workers_that_were_trusted_need_no_trial_in_the_next_search() {
        let mut workers = Workers::new(false, None, None);
        let job = Job {
            id: 0,
            beginning: Vec::new(),
            order: explore::Order::default(),
            preemptions: None,
            sample: None,
        };
        workers.root = Some((Task { round: 0, job }, execution(&[Op::End])));
        assert!(workers.known().is_none(), "they were not tried");
        workers.trust = Trust::Trusted;
        workers.reuse.count();
        let known = workers.known();
        assert!(known.is_some());
        // What they made is counted where they made it.
        assert_eq!(workers.reuse.made(), 1);
        let mut next = Workers::new(false, None, known);
        assert_eq!((next.trust, next.reuse.made()), (Trust::Trusted, 0));
        next.enter(0);
        assert_eq!(next.trust, Trust::Trusted);
        // In another round classes are other ones.
        next.enter(1);
        assert!(next.known().is_none());
        let mut off = Workers::new(false, None, None);
        off.trust = Trust::Trusted;
        off.root = workers.root.clone();
        off.reuse.give_up("they were wrong");
        assert!(off.known().is_none());
    }

    #[test]
    fn the_first_difference_is_told() {
        let told = |then: &[Op], now: &[Op]| difference(&execution(then), &execution(now));
        let (one, two) = (Op::Release(1), Op::Release(2));
        assert_eq!(told(&[one], &[one]), None);
        let says = |then: &[Op], now: &[Op], what: &str| {
            assert_eq!(told(then, now).as_deref(), Some(what));
        };
        says(&[one], &[two], "step 0, Release of thread 0, differs");
        says(
            &[one, two],
            &[one, Op::End],
            "step 1 was Release of thread 0 and is End of thread 0",
        );
        says(
            &[one, Op::Start(1)],
            &[one],
            "step 1 was Start of thread 0 and is the end",
        );
    }
}
