//! Termination-sensitive control dependence.
//!
//! # Definition
//! A node is *inevitable* from another if every maximal path from there meets
//! it: every path that ends where nothing follows, and every infinite one. A
//! node depends on a decision if it is inevitable behind one outcome and not
//! behind another (the non-termination sensitive control dependence of
//! Ranganath and others, after Podgurski and Clarke). So what follows a loop
//! depends on the loop's condition, and what follows an `if` does not depend
//! on it, unless one of its sides may leave or not end.
//!
//! # Of one run
//! When control is at node `n`, what made it come there is the latest decision
//! in the run that `n` depends on: behind its outcome `n` was inevitable
//! whatever was decided since. That decision has such a decision in turn.
//!
//! # Algorithm
//! For each node, backwards: a node all of whose successors are inevitably led
//! to it is so itself; those of whose successors some are are what it depends
//! on. Nodes times edges at worst; beyond `MOST` steps nothing is worked out
//! and every node is taken to depend on every decision, which is true enough:
//! the latest decision then stands for all before it.

/// Steps of the analysis, at most. Methods of a thousand lines take a tenth.
const MOST: u64 = 30_000_000;

/// A control-flow graph: for each node where it leads, each node once.
#[derive(Debug, Default)]
pub struct Graph {
    starts: Vec<u32>,
    to: Vec<u32>,
}

impl Graph {
    /// Adds the next node; numbers count up from 0.
    pub fn node(&mut self, successors: impl IntoIterator<Item = u32>) {
        if self.starts.is_empty() {
            self.starts.push(0);
        }
        let from = self.to.len();
        for to in successors {
            if !self.to[from..].contains(&to) {
                self.to.push(to);
            }
        }
        self.starts.push(self.to.len() as u32);
    }

    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn successors(&self, node: u32) -> &[u32] {
        let at = node as usize;
        &self.to[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    fn predecessors(&self) -> Vec<Vec<u32>> {
        let mut all = vec![Vec::new(); self.len()];
        for node in 0..self.len() as u32 {
            for &to in self.successors(node) {
                all[to as usize].push(node);
            }
        }
        all
    }
}

/// Rows of bits.
#[derive(Debug, Default)]
struct Bits {
    words: usize,
    bits: Vec<u64>,
}

impl Bits {
    fn new(n: usize) -> Bits {
        let words = n.div_ceil(64);
        Bits {
            words,
            bits: vec![0; words * n],
        }
    }

    fn set(&mut self, row: u32, column: u32) {
        self.bits[row as usize * self.words + column as usize / 64] |= 1 << (column % 64);
    }

    #[inline]
    fn get(&self, row: u32, column: u32) -> bool {
        self.bits[row as usize * self.words + column as usize / 64] >> (column % 64) & 1 != 0
    }
}

/// What depends on what in a graph.
#[derive(Debug)]
pub struct Control {
    /// By node: the decisions it depends on. Absent: all.
    depends: Option<Bits>,
    /// By node: the nodes that are inevitable from it, itself included.
    inevitable: Bits,
}

impl Control {
    pub fn from_graph(graph: &Graph) -> Control {
        let n = graph.len();
        if (n * n) as u64 > MOST {
            return Control::coarse();
        }
        let predecessors = graph.predecessors();
        let mut depends = Bits::new(n);
        let mut inevitable = Bits::new(n);
        let mut count = vec![0u32; n];
        let mut touched = Vec::new();
        let mut work = Vec::new();
        let mut steps = 0u64;
        for node in 0..n as u32 {
            work.push(node);
            while let Some(at) = work.pop() {
                inevitable.set(at, node);
                for &p in &predecessors[at as usize] {
                    steps += 1;
                    let seen = &mut count[p as usize];
                    if *seen == 0 {
                        touched.push(p);
                    }
                    *seen += 1;
                    if *seen as usize == graph.successors(p).len() && p != node {
                        work.push(p);
                    }
                }
            }
            for p in touched.drain(..) {
                let seen = std::mem::take(&mut count[p as usize]);
                if (seen as usize) < graph.successors(p).len() {
                    depends.set(node, p);
                }
            }
            if steps > MOST {
                return Control::coarse();
            }
        }
        Control {
            depends: Some(depends),
            inevitable,
        }
    }

    fn coarse() -> Control {
        Control {
            depends: None,
            inevitable: Bits::default(),
        }
    }

    /// Nothing was worked out: everything depends on everything.
    pub fn is_coarse(&self) -> bool {
        self.depends.is_none()
    }

    /// Whether `node` depends on the decision at the end of `on`.
    #[inline]
    pub fn depends(&self, node: u32, on: u32) -> bool {
        self.depends.as_ref().is_none_or(|bits| bits.get(node, on))
    }

    /// Whether every way on from `from` comes to `to`.
    pub fn inevitable(&self, from: u32, to: u32) -> bool {
        !self.is_coarse() && self.inevitable.get(from, to)
    }

    /// What may be passed behind one outcome of a decision until its outcomes
    /// are one way again.
    pub fn side(&self, graph: &Graph, decision: u32, outcome: u32) -> Vec<u32> {
        let mut seen = vec![false; graph.len()];
        let mut side = Vec::new();
        let mut work = vec![outcome];
        while let Some(at) = work.pop() {
            if self.inevitable(decision, at) || std::mem::replace(&mut seen[at as usize], true) {
                continue;
            }
            side.push(at);
            work.extend(graph.successors(at));
        }
        side
    }
}
