//! The smallest set of repairs that removes all races: a minimum set cover.
//!
//! Exact, by branching on the race that the fewest repairs remove, while the
//! search stays within a budget; beyond it the answer is the best that was found
//! so far, at worst the greedy one, and says that it may not be the smallest.

/// A choice of repairs, by number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Cover {
    pub chosen: Vec<usize>,
    /// There is no smaller one.
    pub smallest: bool,
}

const BUDGET: u32 = 200_000;

/// `removes[r]` are the numbers, below `races`, of the races that repair `r`
/// removes. Races that nothing removes are left out. Among equally small sets
/// those with the first repairs are preferred.
pub(crate) fn cover(races: usize, removes: &[Vec<usize>]) -> Cover {
    let mut by_race: Vec<Vec<usize>> = vec![Vec::new(); races];
    for (repair, removed) in removes.iter().enumerate() {
        for race in removed {
            by_race[*race].push(repair);
        }
    }
    let mut search = Search {
        removes,
        by_race: &by_race,
        best: greedy(&by_race, removes),
        steps: 0,
    };
    let mut open: Vec<u32> = by_race.iter().map(|r| u32::from(r.is_empty())).collect();
    search.branch(&mut Vec::new(), &mut open);
    let mut chosen = search.best;
    chosen.sort_unstable();
    Cover {
        chosen,
        smallest: search.steps < BUDGET,
    }
}

/// Always the repair that removes the most of what is left.
fn greedy(by_race: &[Vec<usize>], removes: &[Vec<usize>]) -> Vec<usize> {
    let mut left: Vec<bool> = by_race.iter().map(|r| !r.is_empty()).collect();
    let mut chosen = Vec::new();
    loop {
        let gain = |r: &usize| removes[*r].iter().filter(|race| left[**race]).count();
        // The first of the best ones.
        let best = (0..removes.len()).rev().max_by_key(gain);
        match best.filter(|r| gain(r) > 0) {
            Some(repair) => {
                chosen.push(repair);
                removes[repair].iter().for_each(|race| left[*race] = false);
            }
            None => return chosen,
        }
    }
}

struct Search<'a> {
    removes: &'a [Vec<usize>],
    by_race: &'a [Vec<usize>],
    best: Vec<usize>,
    steps: u32,
}

impl Search<'_> {
    /// `covered` counts how often each race is removed by what was chosen.
    fn branch(&mut self, chosen: &mut Vec<usize>, covered: &mut [u32]) {
        self.steps += 1;
        if self.steps >= BUDGET {
            return;
        }
        let open = (0..covered.len()).filter(|race| covered[*race] == 0);
        let Some(race) = open.min_by_key(|race| self.by_race[*race].len()) else {
            if chosen.len() < self.best.len() {
                self.best = chosen.clone();
            }
            return;
        };
        if chosen.len() + 1 >= self.best.len() {
            return;
        }
        for repair in &self.by_race[race] {
            chosen.push(*repair);
            self.removes[*repair].iter().for_each(|r| covered[*r] += 1);
            self.branch(chosen, covered);
            self.removes[*repair].iter().for_each(|r| covered[*r] -= 1);
            chosen.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of the smallest set, trying all of them.
    fn brute_force(races: usize, removes: &[Vec<usize>]) -> usize {
        let removable = |race: &usize| removes.iter().any(|r| r.contains(race));
        let wanted: Vec<usize> = (0..races).filter(removable).collect();
        (0u32..1 << removes.len())
            .filter(|set| {
                let has = |r: usize| set >> r & 1 == 1;
                let removed =
                    |race: &&usize| (0..removes.len()).any(|r| has(r) && removes[r].contains(race));
                wanted.iter().filter(removed).count() == wanted.len()
            })
            .map(u32::count_ones)
            .min()
            .unwrap_or(0) as usize
    }

    proptest::proptest! {
        #[test]
        fn no_set_is_smaller(
            removes in proptest::collection::vec(proptest::collection::vec(0usize..9, 0..4), 0..9)
        ) {
            let found = cover(9, &removes);
            assert!(found.smallest);
            assert_eq!(found.chosen.len(), brute_force(9, &removes));
            for race in removes.iter().flatten() {
                assert!(found.chosen.iter().any(|r| removes[*r].contains(race)));
            }
        }
    }

    #[test]
    fn beyond_the_budget_it_says_so() {
        // Pairs of races in a ring with chords: many equally good choices.
        let races = 120;
        let removes: Vec<Vec<usize>> = (0..races * 3)
            .map(|n| vec![n % races, (n * 7 + 3) % races, (n * 13 + 5) % races])
            .collect();
        let found = cover(races, &removes);
        assert!(!found.smallest);
        for race in 0..races {
            assert!(found.chosen.iter().any(|r| removes[*r].contains(&race)));
        }
    }
}
