//! Names of threads that are the same in equivalent executions: a thread is named after
//! its parent and how many children that had.
//!
//! A name is the names of the ancestors in a row, each a number in groups of four bits: three
//! of the number, the highest first, and one that says whether more follow. The first
//! group of a number is never 0, so no two sequences make the same name. Sixteen groups
//! have room for seven children of seven children, eight levels deep with up to 63
//! children each, or a thread with thousands.

/// The name of a thread's child, counted from 1; none if there is no room.
pub(super) fn child(parent: u64, number: u32) -> Option<u64> {
    let groups = (32 - number.leading_zeros()).div_ceil(3);
    (0..groups).rev().try_fold(parent, |name, group| {
        let more = u64::from(group > 0) << 3;
        let bits = u64::from(number >> (3 * group) & 7);
        (name >> 60 == 0).then_some(name << 4 | more | bits)
    })
}

#[cfg(test)]
mod tests {
    use super::child;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_different() {
        let mut names = BTreeSet::from([0]);
        let mut parents = vec![0];
        for (level, children) in [(1, 1_000), (2, 20), (3, 9)] {
            let mut all = Vec::new();
            for parent in parents.into_iter().take(100) {
                for number in 1..=children {
                    let name = child(parent, number).unwrap();
                    assert!(names.insert(name), "level {level}, child {number}");
                    all.push(name);
                }
            }
            parents = all;
        }
    }

    #[test]
    fn elder_siblings_come_first() {
        let names: Vec<u64> = (1..2_000).map(|n| child(5, n).unwrap()).collect();
        assert!(names.is_sorted());
    }

    #[test]
    fn there_is_an_end() {
        let mut name = 0;
        for _ in 0..16 {
            name = child(name, 7).unwrap();
        }
        assert_eq!(child(name, 1), None);
    }
}
