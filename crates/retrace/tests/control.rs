//! Control dependence against its definition: paths, one by one.

use proptest::prelude::*;
use retrace::control::{Control, Graph};

/// Whether some maximal path from `from` avoids `node`: one that ends where
/// nothing follows, or one that comes to a node again and so may go on for
/// ever.
fn avoids(edges: &[Vec<u32>], from: u32, node: u32, path: &mut Vec<u32>) -> bool {
    if from == node {
        return false;
    }
    if path.contains(&from) || edges[from as usize].is_empty() {
        return true;
    }
    path.push(from);
    let found = edges[from as usize]
        .iter()
        .any(|to| avoids(edges, *to, node, path));
    path.pop();
    found
}

fn graph(edges: &[Vec<u32>]) -> Graph {
    let mut graph = Graph::default();
    for to in edges {
        graph.node(to.iter().copied());
    }
    graph
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn dependence_is_as_defined_by_paths(
        edges in (1u32..8).prop_flat_map(|n| {
            let node = proptest::collection::vec(0..n, 0..4);
            proptest::collection::vec(node, n as usize)
        })
    ) {
        let control = Control::from_graph(&graph(&edges));
        let n = edges.len() as u32;
        for node in 0..n {
            for from in 0..n {
                let inevitable = !avoids(&edges, from, node, &mut Vec::new());
                prop_assert_eq!(control.inevitable(from, node), inevitable, "{} {}", from, node);
                let sure = |to: &u32| !avoids(&edges, *to, node, &mut Vec::new());
                let some = edges[from as usize].iter().any(sure);
                let all = edges[from as usize].iter().all(sure);
                prop_assert_eq!(control.depends(node, from), some && !all, "{} on {}", node, from);
            }
        }
    }

    /// The claim that following a run rests on: behind the latest decision that
    /// a node depends on, it was inevitable.
    #[test]
    fn behind_the_latest_decision_the_node_is_inevitable(
        edges in (2u32..8).prop_flat_map(|n| {
            let node = proptest::collection::vec(0..n, 1..3);
            proptest::collection::vec(node, n as usize)
        }),
        choices in proptest::collection::vec(any::<usize>(), 1..20),
    ) {
        let control = Control::from_graph(&graph(&edges));
        let mut run = vec![0u32];
        for choice in choices {
            let to = &edges[run[run.len() - 1] as usize];
            run.push(to[choice % to.len()]);
        }
        let node = run[run.len() - 1];
        let before = &run[..run.len() - 1];
        let latest = before.iter().rposition(|on| control.depends(node, *on));
        let from = latest.map_or(0, |at| at + 1);
        for at in from..run.len() {
            prop_assert!(control.inevitable(run[at], node), "{:?} at {}", run, at);
        }
    }
}

/// 0: the condition, 1: the side, 2: what follows.
#[test]
fn an_if_does_not_control_what_follows_it_a_loop_does() {
    let branch = graph(&[vec![1, 2], vec![2], vec![]]);
    let control = Control::from_graph(&branch);
    assert!(control.depends(1, 0) && !control.depends(2, 0));
    assert_eq!(control.side(&branch, 0, 1), [1]);
    assert_eq!(control.side(&branch, 0, 2), [0; 0]);

    let looped = Control::from_graph(&graph(&[vec![1, 2], vec![0], vec![]]));
    assert!(looped.depends(1, 0) && looped.depends(2, 0) && looped.depends(0, 0));
}

/// 3: an exception leaves the method from the side.
#[test]
fn a_side_that_may_leave_makes_the_decision_control_what_follows() {
    let control = Control::from_graph(&graph(&[vec![1, 2], vec![2, 3], vec![], vec![]]));
    assert!(control.depends(2, 0) && control.depends(2, 1));
}

#[test]
fn a_graph_beyond_the_limit_depends_on_everything() {
    let edges: Vec<Vec<u32>> = (0..6000).map(|n| vec![(n + 1) % 6000]).collect();
    let control = Control::from_graph(&graph(&edges));
    assert!(control.is_coarse() && control.depends(5, 3) && !control.inevitable(0, 1));
}
