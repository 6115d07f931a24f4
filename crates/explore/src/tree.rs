//! The tree of what was and what is to be explored.
//!
//! A node stands for the state that the steps on the way to it lead to. Its
//! children are, in this order, the steps that were started from there and those
//! that are still to be tried; the latter hang on as whole branches (the *wakeup
//! tree* of optimal DPOR). A node has a *sleep set*: steps that need not be made
//! from there, because all that begins with them is explored elsewhere: what was
//! started earlier at this or a higher node and does not depend on the way down.
//!
//! A sequence is added at a node only if nothing in the sleep set could be its
//! beginning; if a child could be, it is added below that one, and not at all if
//! it turns out to be there. Then no two leaves are ever equivalent, and no
//! execution runs into a state where all that is left is asleep.
//!
//! Leaving out what is asleep is right because, once all below the sleeping step
//! was explored, whatever was missed turns up there as something to be tried
//! here. So when several branches are explored at once, a branch may get work
//! from its elder siblings even after all that was known in it is done: what was
//! explored is forgotten only when no elder sibling, its own or of a node above,
//! is open any more. (Explored one after the other, that is at once.)

use crate::op::{Label, Touching};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

pub(crate) type NodeId = u32;

/// A sequence to be explored. It is taken apart from the front.
pub(crate) type Steps<'t, 'l> = VecDeque<&'t Touching<'l>>;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum State {
    /// Nobody went here yet.
    Pending,
    /// An execution came through here or is on its way.
    Started,
    /// All that is known below it was explored.
    Done,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Node {
    pub parent: Option<NodeId>,
    /// The step that leads here; none for the root.
    pub label: Option<Label>,
    pub children: Vec<NodeId>,
    pub sleep: Vec<Label>,
    pub state: State,
    /// An execution was asked for whose given part ends here.
    pub wanted: bool,
    /// What to add here when that execution is known.
    pub later: Vec<Vec<Label>>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub(crate) struct Tree {
    nodes: Vec<Option<Node>>,
    free: Vec<NodeId>,
}

/// A tree as it was read, which may not be one.
#[derive(Deserialize)]
struct Stored {
    nodes: Vec<Option<Node>>,
    free: Vec<NodeId>,
}

impl TryFrom<Stored> for Tree {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Tree, &'static str> {
        let Stored { nodes, free } = stored;
        let node = |id: &NodeId| nodes.get(*id as usize).and_then(Option::as_ref);
        let is_free = |id: &NodeId| nodes.get(*id as usize).is_some_and(Option::is_none);
        let mut free_ids = free.clone();
        free_ids.sort_unstable();
        free_ids.dedup();
        if free_ids.len() != free.len() || !free.iter().all(is_free) {
            return Err("a node is free twice, or not free");
        }
        // Parents and children agree, and all hangs on the root.
        let Some(root) = node(&ROOT).filter(|root| root.parent.is_none()) else {
            return Err("there is no root");
        };
        let mut open: Vec<(NodeId, &Node)> = vec![(ROOT, root)];
        let mut seen = 0;
        while let Some((id, parent)) = open.pop() {
            seen += 1;
            for child in &parent.children {
                match node(child) {
                    Some(c) if c.parent == Some(id) && c.label.is_some() => open.push((*child, c)),
                    _ => return Err("a node is not below its parent"),
                }
            }
            if seen > nodes.len() {
                return Err("a node is there twice");
            }
        }
        if seen + free.len() != nodes.len() {
            return Err("a node is not in the tree");
        }
        Ok(Tree { nodes, free })
    }
}

pub(crate) const ROOT: NodeId = 0;

impl Tree {
    pub fn new() -> Tree {
        let mut tree = Tree {
            nodes: Vec::new(),
            free: Vec::new(),
        };
        tree.add(None, None, State::Started);
        tree
    }

    pub fn node(&self, id: NodeId) -> &Node {
        self.nodes[id as usize]
            .as_ref()
            .expect("ids of freed nodes are not kept")
    }

    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        self.nodes[id as usize]
            .as_mut()
            .expect("ids of freed nodes are not kept")
    }

    pub fn has(&self, id: NodeId) -> bool {
        self.nodes.get(id as usize).is_some_and(Option::is_some)
    }

    /// How many nodes are in memory.
    pub fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    pub(crate) fn add(
        &mut self,
        parent: Option<NodeId>,
        label: Option<Label>,
        state: State,
    ) -> NodeId {
        let node = Node {
            parent,
            label,
            children: Vec::new(),
            sleep: Vec::new(),
            state,
            wanted: false,
            later: Vec::new(),
        };
        let id = match self.free.pop() {
            Some(id) => {
                self.nodes[id as usize] = Some(node);
                id
            }
            None => {
                self.nodes.push(Some(node));
                (self.nodes.len() - 1) as NodeId
            }
        };
        if let Some(parent) = parent {
            self.node_mut(parent).children.push(id);
        }
        id
    }

    /// Frees what is below a node.
    fn prune(&mut self, id: NodeId) {
        let mut below = std::mem::take(&mut self.node_mut(id).children);
        while let Some(id) = below.pop() {
            if let Some(node) = self.nodes[id as usize].take() {
                below.extend(node.children);
                self.free.push(id);
            }
        }
    }

    fn label(&self, id: NodeId) -> Touching<'_> {
        let label = self.node(id).label.as_ref();
        Touching::new(label.expect("only the root has none"))
    }

    /// The steps from the root to a node.
    pub fn path(&self, mut id: NodeId) -> Vec<Label> {
        let mut path = Vec::new();
        while let (Some(parent), Some(label)) = (self.node(id).parent, &self.node(id).label) {
            path.push(label.clone());
            id = parent;
        }
        path.reverse();
        path
    }

    /// The nodes from the root to this one, both included.
    pub fn ancestry(&self, mut id: NodeId) -> Vec<NodeId> {
        let mut nodes = vec![id];
        while let Some(parent) = self.node(id).parent {
            nodes.push(parent);
            id = parent;
        }
        nodes.reverse();
        nodes
    }

    /// Starts a child, the first one that was not: it gets its sleep set.
    pub fn start(&mut self, child: NodeId) {
        let parent = self.node(child).parent.expect("the root is started");
        let mut sleep = Vec::new();
        {
            let me = self.label(child);
            let parent = self.node(parent);
            let earlier = parent.children.iter().take_while(|c| **c != child);
            let earlier = earlier.filter_map(|c| self.node(*c).label.as_ref());
            for label in parent.sleep.iter().chain(earlier) {
                if !me.depends(&Touching::new(label)) {
                    sleep.push(label.clone());
                }
            }
        }
        let node = self.node_mut(child);
        node.sleep = sleep;
        node.state = State::Started;
    }

    /// Adds a step that an execution made beyond what it was given.
    pub fn extend(&mut self, parent: NodeId, label: Label) -> NodeId {
        let child = self.add(Some(parent), Some(label), State::Pending);
        self.start(child);
        child
    }

    /// Makes sure that `steps`, or what includes them, will be explored from
    /// the node.
    pub fn insert(&mut self, mut at: NodeId, mut steps: Steps<'_, '_>) {
        let asleep = |label: &Label| begins(&Touching::new(label), &steps).is_some();
        if self.node(at).sleep.iter().any(asleep) {
            return;
        }
        let top = at;
        loop {
            let children = self.node(at).children.iter();
            let covering = children
                .copied()
                .find_map(|c| begins(&self.label(c), &steps).map(|first| (c, first)));
            let Some((child, first)) = covering else {
                break;
            };
            if let Beginning::Step(first) = first {
                steps.remove(first);
            }
            let node = self.node_mut(child);
            if node.wanted {
                let steps = steps.iter().map(|s| s.label.clone()).collect();
                node.later.push(steps);
                return;
            }
            // The end of an execution, of which this is a part, or a branch
            // of which all was explored or will be.
            if node.children.is_empty() {
                return;
            }
            at = child;
        }
        self.reopen(at, top);
        for step in steps {
            at = self.add(Some(at), Some(step.label.clone()), State::Pending);
        }
    }

    /// Something was added below nodes that may have been done.
    fn reopen(&mut self, mut id: NodeId, top: NodeId) {
        while id != top {
            let node = self.node_mut(id);
            if node.state == State::Done {
                node.state = State::Started;
            }
            let Some(parent) = node.parent else {
                return;
            };
            id = parent;
        }
    }

    /// The next execution to be made: starts it and returns where the part of
    /// it that is given ends. Depth first, in the newest branch.
    pub fn next(&mut self) -> Option<NodeId> {
        let open = self.deepest_open()?;
        Some(self.descend(open))
    }

    /// Starts the first child that was not, and the first child of each below it; where that
    /// ends.
    pub(crate) fn descend(&mut self, mut at: NodeId) -> NodeId {
        loop {
            let node = self.node(at);
            let Some(child) = node.children.iter().copied().find(|c| self.pending(*c)) else {
                return at;
            };
            self.start(child);
            at = child;
        }
    }

    pub(crate) fn pending(&self, id: NodeId) -> bool {
        self.node(id).state == State::Pending
    }

    /// A started node with a child that was not, as deep as there is one in
    /// the branch that was started last.
    fn deepest_open(&self) -> Option<NodeId> {
        let mut stack = vec![ROOT];
        let mut order = Vec::new();
        while let Some(id) = stack.pop() {
            order.push(id);
            let children = self.node(id).children.iter().copied();
            stack.extend(children.filter(|c| self.node(*c).state == State::Started));
        }
        // `order` has parents before children, the newest branch first.
        let open = |id: &NodeId| self.node(*id).children.iter().any(|c| self.pending(*c));
        let first = order.iter().copied().find(open)?;
        let below = |id: NodeId| {
            let children = self.node(id).children.iter().rev().copied();
            children
                .into_iter()
                .find(|c| self.node(*c).state == State::Started)
        };
        // The deepest along the newest branch below it.
        let (mut best, mut at) = (first, first);
        while let Some(next) = below(at) {
            if open(&next) {
                best = next;
            }
            at = next;
        }
        Some(best)
    }

    /// The node is done if nothing is left below it; so are those above.
    pub fn done(&mut self, mut id: NodeId) {
        loop {
            let open = |c: &NodeId| self.node(*c).state != State::Done;
            if self.node(id).wanted || self.node(id).children.iter().any(open) {
                return;
            }
            self.node_mut(id).state = State::Done;
            let Some(parent) = self.node(id).parent else {
                return self.prune(id);
            };
            if self.eldest_open(parent) {
                self.prune_done(parent);
            }
            id = parent;
        }
    }

    /// Whether neither the node nor one above it has an elder sibling that is
    /// open.
    fn eldest_open(&self, mut id: NodeId) -> bool {
        while let Some(parent) = self.node(id).parent {
            let elder = self.node(parent).children.iter().take_while(|c| **c != id);
            if elder
                .into_iter()
                .any(|c| self.node(*c).state != State::Done)
            {
                return false;
            }
            id = parent;
        }
        true
    }

    /// Forgets what is below the first children that are done.
    fn prune_done(&mut self, parent: NodeId) {
        let children = self.node(parent).children.iter().copied();
        let done: Vec<_> = children
            .take_while(|c| self.node(*c).state == State::Done)
            .collect();
        for child in done {
            self.prune(child);
        }
    }

    /// The share of the tree that is done, if the branches of a node were all
    /// alike and no more of them were to come.
    pub fn share_done(&self) -> f64 {
        let mut share = 0.0;
        let mut stack = vec![(ROOT, 1.0)];
        while let Some((id, weight)) = stack.pop() {
            let node = self.node(id);
            if node.state == State::Done {
                share += weight;
                continue;
            }
            let parts = node.children.len() as f64;
            let children = node.children.iter();
            stack.extend(children.map(|c| (*c, weight / parts)));
        }
        share
    }
}

/// How a step could be the beginning of a sequence.
enum Beginning {
    /// It is in it, there, and nothing before it must come first.
    Step(usize),
    /// It is not, and could be put before all of it.
    Extra,
}

fn begins(first: &Touching<'_>, steps: &Steps<'_, '_>) -> Option<Beginning> {
    for (at, step) in steps.iter().enumerate() {
        if step.label.thread == first.label.thread {
            // The same step, if it is made in the same way.
            return (step.label.pick == first.label.pick).then_some(Beginning::Step(at));
        }
        if step.depends(first) {
            return None;
        }
    }
    Some(Beginning::Extra)
}
