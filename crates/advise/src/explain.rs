//! A race on a path, for a reader: what came first, what came second, and how
//! the threads synchronised in between, which was not enough.

use crate::path::Path;
use crate::repair::{Names, Sync};
use trace::Event;

/// One hand-over between threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passing {
    pub release: Event,
    pub acquire: Event,
    /// Through what, if it has a name: the start of a thread has none.
    pub through: Option<Sync>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    pub source: Event,
    pub manifest: Event,
    /// From one thread to another, acquired between the two, oldest first.
    pub between: Vec<Passing>,
    /// How many more there were than are told.
    pub left_out: usize,
}

/// The most that anybody reads.
const MOST: usize = 40;

pub fn explain(path: &Path<'_>, names: &dyn Names, source: usize, manifest: usize) -> Explanation {
    let mut between = Vec::new();
    let mut left_out = 0;
    for edge in path.edges_across(source, manifest) {
        let (release, acquire) = (path.events[edge.release], path.events[edge.acquire]);
        if release.thread == acquire.thread {
            continue;
        }
        if between.len() == MOST {
            left_out += 1;
            continue;
        }
        between.push(Passing {
            release,
            acquire,
            through: path.through(edge, names),
        });
    }
    Explanation {
        source: path.events[source],
        manifest: path.events[manifest],
        between,
        left_out,
    }
}
