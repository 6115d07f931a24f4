//! Every strategy, on any program: only enabled threads run (which [`drive`]
//! checks), and the seed says it all.
//!
//! [`drive`]: crate::world::drive

use crate::world::{params, run};
use litmus::random::{Shape, programs};
use proptest::prelude::*;
use schedule::{Params, strategies};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_seed_names_a_run(
        program in programs(Shape { mixed: true, init: true, ..Shape::default() }),
        seed: u64,
        depth in 0u32..6,
        steps in 0u64..40,
        pair: [u32; 2],
    ) {
        let pair = Some(pair.map(|site| vec![site % 40, site % 7]));
        let params = Params { seed, depth, steps, pair, relation: None };
        for name in strategies() {
            let (a, b) = (run(&program, name, &params), run(&program, name, &params));
            prop_assert_eq!(a.decisions, b.decisions);
            prop_assert_eq!(a.hits, b.hits);
            prop_assert_eq!(a.outcome, b.outcome);
        }
    }
}

#[test]
fn seeds_make_a_difference() {
    use litmus::{Program, Var, write};
    let program = Program::parallel(vec![vec![write(Var(0), 1); 6]; 3]);
    for name in strategies() {
        let schedules: std::collections::HashSet<_> = (0..100)
            .map(|seed| format!("{:?}", run(&program, name, &params(seed, None)).decisions))
            .collect();
        assert!(schedules.len() > 5, "{name}: {}", schedules.len());
    }
}
