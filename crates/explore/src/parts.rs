//! Explorations that several machines share.
//!
//! **Subtrees**, with a coordinator. [`Explorer::lend`] gives a branch that nobody went to as
//! a [`Subtree`]: the steps that lead there. Optimal DPOR begins such a branch with a sequence that
//! has woken all that was asleep on the way, so that nothing above it says anything about what is
//! below: whoever has the steps can explore it to its end. What an execution there shows to be
//! tried instead of a step *above* the root of the subtree (a [`Reversal`]) cannot be tried
//! there; it goes back, and [`Explorer::take_in`] adds it where it belongs if it is new. An
//! exploration of a subtree may stop before its end: the rest of its tree goes back too, is grafted
//! on, and its branches can be lent again. Every class is executed once, by whomever, as if
//! there were one explorer (`tests/parts.rs` has random programs in random pieces).
//!
//! **Shares**, without one ([`Explorer::shared`]). All machines make the same first executions,
//! one after the other; then the branches that nobody went to are dealt out like cards.
//! A machine explores its own, and everything new that its executions show to be tried, wherever
//! that branches off. What the executions of others show, those explore: nothing is missed, but two
//! machines may both find a reversal above their branches and explore what is behind it twice.
//! So the number of classes is that of their digests, counted once over all machines. That the union is complete
//! follows as for one machine: a class that is not below any branch begins with the reversal of
//! a race in some class that is, whose machine has found it and explores it.

use crate::bounded::class_of;
use crate::explorer::{Config, Engine, Error, Explorer, Target};
use crate::op::{Execution, Label, Touching};
use crate::tree::{NodeId, ROOT, State, Steps, Tree};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Branches for each machine, at least, before they are dealt out: they are of different size.
const BRANCHES: usize = 6;
/// Executions in common for each machine, at most, on the way to that.
const MOST_COMMON: u64 = 12;

/// A branch that somebody else explores.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Subtree {
    /// The job under which its result is told.
    pub job: u64,
    /// The steps to its root.
    pub beginning: Vec<Label>,
    pub config: Config,
}

/// What is to be tried instead of a step.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Reversal {
    /// The number of the step in the execution.
    pub at: usize,
    pub instead: Vec<Label>,
}

/// What came of a subtree.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Explored {
    pub executions: u64,
    pub findings: u64,
    pub blocked: u64,
    pub max_depth: usize,
    pub lost: u64,
    pub redundant: u64,
    /// What is to be tried above its root.
    pub above: Vec<Reversal>,
    /// What is left of it, if it was not explored to its end.
    rest: Option<Tree>,
}

/// What one of several machines explores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Share {
    /// From 0.
    pub index: u32,
    pub of: u32,
    /// Executions that all of them make, at least, before the rest is dealt out.
    pub common: u64,
}

/// Of an exploration that is a part of another.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Part {
    /// The steps to the root.
    pub trunk: Vec<Label>,
    above: BTreeSet<Reversal>,
    share: Option<Share>,
    /// The branches were dealt out.
    divided: bool,
    /// Of a share: the classes of its executions.
    classes: BTreeSet<u64>,
}

impl Part {
    pub fn saw(&mut self, run: &Execution) {
        if self.share.is_some() {
            self.classes.insert(class_of(run) as u64);
        }
    }

    pub fn reaches_above(&mut self, at: usize, instead: &Steps<'_, '_>) {
        let instead = instead.iter().map(|step| step.label.clone()).collect();
        self.above.insert(Reversal { at, instead });
    }
}

impl Subtree {
    /// For whoever explores it.
    pub fn explorer(&self) -> Explorer {
        let mut explorer = Explorer::new(Config {
            max_executions: None,
            threshold: None,
            ..self.config
        });
        explorer.part.trunk = self.beginning.clone();
        explorer
    }
}

impl Explorer {
    /// A branch that nobody went to, the one nearest to the root; none if there is none now. It is
    /// told of with [`take_in`](Explorer::take_in), or given back.
    pub fn lend(&mut self) -> Option<Subtree> {
        if self.next_is_limited() || self.is_common() {
            return None;
        }
        // Something that was given back, or the very beginning.
        let again = { self.again.iter() }.position(|t| matches!(t, Target::Node(_)));
        let node = match (again, &mut self.engine) {
            (_, Engine::Bounded(_)) => return None,
            (Some(at), Engine::Optimal(_)) => {
                let Some(Target::Node(node)) = self.again.remove(at) else {
                    return None;
                };
                node
            }
            (None, Engine::Optimal(tree)) => {
                let open = tree.shallowest_open()?;
                tree.descend(open)
            }
        };
        let Engine::Optimal(tree) = &mut self.engine else {
            return None;
        };
        if !tree.node(node).sleep.is_empty() {
            // Names are not the same in equivalent executions: not self-contained.
            self.again.push_front(Target::Node(node));
            return None;
        }
        let root = tree.node_mut(node);
        root.wanted = false;
        // What was to be added there is a part of what is explored there.
        root.later.clear();
        let mut beginning = self.part.trunk.clone();
        beginning.extend(tree.path(node));
        let job = self.next_job;
        self.next_job += 1;
        self.outstanding.insert(job, Target::Below(node));
        Some(Subtree {
            job,
            beginning,
            config: self.config,
        })
    }

    fn next_is_limited(&self) -> bool {
        self.progress().stopped.is_some()
    }

    /// What came of this exploration of a subtree, up to now. Jobs that are under way are
    /// forgotten, and made by whoever goes on.
    pub fn into_explored(mut self) -> Explored {
        let is_over = self.exhausted();
        let open: Vec<Target> = { self.outstanding.values() }
            .chain(&self.again)
            .cloned()
            .collect();
        let rest = match &mut self.engine {
            Engine::Optimal(tree) if !is_over => {
                for target in open {
                    if let Target::Node(node) | Target::Below(node) = target {
                        let node = tree.node_mut(node);
                        (node.state, node.wanted) = (State::Pending, false);
                    }
                }
                Some(tree.clone())
            }
            _ => None,
        };
        Explored {
            executions: self.executions,
            findings: self.findings,
            blocked: self.blocked,
            max_depth: self.max_depth,
            lost: self.lost,
            redundant: self.redundant,
            above: self.part.above.into_iter().collect(),
            rest,
        }
    }

    /// Takes in what came of a subtree.
    pub fn take_in(&mut self, job: u64, explored: Explored) -> Result<(), Error> {
        let Some(Target::Below(node)) = self.outstanding.get(&job).cloned() else {
            return Err(Error::UnknownJob(job));
        };
        let Engine::Optimal(tree) = &mut self.engine else {
            return Err(Error::UnknownJob(job));
        };
        let way = tree.ancestry(node);
        let trunk = self.part.trunk.len();
        let depth = trunk + way.len() - 1;
        if explored
            .above
            .iter()
            .any(|r| r.at >= depth || r.instead.is_empty())
        {
            return Err(Error::DoesNotFit(job));
        }
        self.outstanding.remove(&job);
        self.executions += explored.executions;
        self.findings += explored.findings;
        self.blocked += explored.blocked;
        self.max_depth = self.max_depth.max(explored.max_depth);
        self.lost += explored.lost;
        self.redundant += explored.redundant;
        let untouched = match explored.rest {
            Some(rest) => tree.graft(node, &rest),
            None => false,
        };
        for Reversal { at, instead } in explored.above {
            let steps: Vec<_> = instead.iter().map(Touching::new).collect();
            match at.checked_sub(trunk) {
                Some(below) => tree.insert(way[below], steps.iter().collect()),
                None => self.part.reaches_above(at, &steps.iter().collect()),
            }
        }
        match untouched {
            true => self.again.push_back(Target::Node(node)),
            false => tree.done(node),
        }
        Ok(())
    }

    /// An exploration of which this machine makes its share.
    pub fn shared(config: Config, share: Option<Share>) -> Explorer {
        let mut explorer = Explorer::new(config);
        explorer.part.share = share.filter(|share| share.of > 1);
        explorer
    }

    /// Of a share: the digests of the classes that it has executed.
    pub fn classes(&self) -> &BTreeSet<u64> {
        &self.part.classes
    }

    /// Whether others explore a part of it.
    pub fn is_divided(&self) -> bool {
        self.part.divided
    }

    /// Whether this is what all machines do.
    pub(crate) fn is_common(&self) -> bool {
        self.part.share.is_some() && !self.part.divided
    }

    /// The next execution that all machines make, in the same order; deals the rest out if
    /// there is enough of it.
    pub(crate) fn next_common(&mut self) -> Option<Target> {
        let share = self.part.share?;
        if !self.outstanding.is_empty() {
            return None;
        }
        let wanted = BRANCHES.saturating_mul(share.of as usize);
        let most = share
            .common
            .max(MOST_COMMON.saturating_mul(share.of.into()));
        let is_enough = |branches: usize| {
            self.executions >= share.common && (branches >= wanted || self.executions >= most)
        };
        match &mut self.engine {
            Engine::Optimal(tree) => {
                if is_enough(tree.leaves().len()) {
                    tree.deal_out(share);
                    self.part.divided = true;
                    return Some(Target::Node(tree.next()?));
                }
                let open = tree.shallowest_open()?;
                Some(Target::Node(tree.descend(open)))
            }
            Engine::Bounded(search) => {
                if is_enough(search.open.len()) {
                    let mut number = 0..;
                    let mine = |n: u64| n % u64::from(share.of) == u64::from(share.index);
                    search.open.retain(|_| number.next().is_some_and(mine));
                    self.part.divided = true;
                }
                Some(Target::Beginning(search.open.pop()?))
            }
        }
    }
}

impl Tree {
    /// The started node nearest to the root that has a child that was not.
    fn shallowest_open(&self) -> Option<NodeId> {
        let mut level = vec![ROOT];
        while !level.is_empty() {
            let open = |id: &NodeId| self.node(*id).children.iter().any(|c| self.pending(*c));
            if let Some(found) = level.iter().copied().find(open) {
                return Some(found);
            }
            let below = level
                .iter()
                .flat_map(|id| self.node(*id).children.iter().copied());
            level = below
                .filter(|c| self.node(*c).state == State::Started)
                .collect();
        }
        None
    }

    /// Where the branches end that nobody went to, those nearest to the root first.
    fn leaves(&self) -> Vec<NodeId> {
        let mut level = vec![ROOT];
        let mut leaves = Vec::new();
        while !level.is_empty() {
            let is_leaf = |id: &NodeId| self.pending(*id) && self.node(*id).children.is_empty();
            leaves.extend(level.iter().copied().filter(is_leaf));
            let below = level
                .iter()
                .flat_map(|id| self.node(*id).children.iter().copied());
            level = below
                .filter(|c| self.node(*c).state != State::Done)
                .collect();
        }
        leaves
    }

    /// Takes the branches of others for explored. What is found later may still branch off
    /// on the way to them, and needs to know what is asleep there.
    fn deal_out(&mut self, share: Share) {
        for (leaf, number) in self.leaves().into_iter().zip(0..) {
            if number % u64::from(share.of) == u64::from(share.index) {
                continue;
            }
            for id in self.ancestry(leaf) {
                if self.pending(id) {
                    self.start(id);
                }
            }
            self.node_mut(leaf).state = State::Done;
            let mut at = leaf;
            while let Some(parent) = self.node(at).parent {
                let open = |c: &NodeId| self.node(*c).state != State::Done;
                if self.node(parent).wanted || self.node(parent).children.iter().any(open) {
                    break;
                }
                self.node_mut(parent).state = State::Done;
                at = parent;
            }
        }
    }

    /// Hangs what is left of a subtree's tree on its root; whether nothing of it was explored.
    fn graft(&mut self, at: NodeId, rest: &Tree) -> bool {
        if rest.node(ROOT).children.is_empty() {
            return true;
        }
        let mut open = vec![(ROOT, at)];
        while let Some((theirs, mine)) = open.pop() {
            for child in &rest.node(theirs).children {
                let node = rest.node(*child);
                let copy = self.add(Some(mine), node.label.clone(), node.state);
                let new = self.node_mut(copy);
                new.sleep = node.sleep.clone();
                new.later = node.later.clone();
                open.push((*child, copy));
            }
        }
        false
    }
}
