//! Combines pairs of duplicates into groups to merge.

use std::collections::{HashSet, VecDeque};

/// Combines the texts in `pairs` into disjoint groups of at least two members.
///
/// The first member of each group is the one to retain; every other was accepted into the group. `order` lists all texts, those to retain
/// first. `accepts` decides whether a group takes another member; its first argument is never empty and starts with the text to retain. A
/// rejected text does not extend the group, and `accepts` is called at most once per group and text.
pub fn group_duplicates(order: &[u32], pairs: &[(u32, u32)], accepts: &mut dyn FnMut(&[u32], u32) -> bool) -> Vec<Vec<u32>> {
    let neighbours = PairIndex::of(pairs);
    let mut free: HashSet<u32> = order.iter().copied().collect();
    let mut groups = Vec::new();
    for first in order {
        if !free.remove(first) {
            continue;
        }
        let mut group = vec![*first];
        let mut asked = HashSet::new();
        let mut waiting = VecDeque::from([*first]);
        while let Some(member) = waiting.pop_front() {
            for next in neighbours.neighbours(member) {
                if free.contains(&next) && asked.insert(next) && accepts(&group, next) {
                    free.remove(&next);
                    group.push(next);
                    waiting.push_back(next);
                }
            }
        }
        if 1 < group.len() {
            groups.push(group);
        }
    }
    groups
}

/// Both directions of each pair, sorted.
struct PairIndex(Vec<(u32, u32)>);

impl PairIndex {
    fn of(pairs: &[(u32, u32)]) -> Self {
        let mut both: Vec<_> = pairs.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]).collect();
        both.sort_unstable();
        Self(both)
    }

    fn neighbours(&self, number: u32) -> impl Iterator<Item = u32> {
        let start = self.0.partition_point(|(one, _)| *one < number);
        self.0[start..].iter().take_while(move |(one, _)| *one == number).map(|(_, other)| *other)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::group_duplicates;

    #[test]
    fn likeness_is_no_chain() {
        let is_near = |group: &[u32], next: u32| group[0].abs_diff(next) < 2;
        assert_eq!(group_duplicates(&[0, 1, 2, 3], &[(0, 1), (1, 2), (2, 3)], &mut { is_near }), [[0, 1], [2, 3]]);
        assert_eq!(group_duplicates(&[1, 0, 2, 3], &[(0, 1), (1, 2), (2, 3)], &mut { is_near }), [[1, 0, 2]]);
    }

    #[test]
    fn one_that_is_no_neighbour_joins_through_one_that_is() {
        assert_eq!(group_duplicates(&[0, 1, 2], &[(0, 1), (1, 2)], &mut |_, _| true), [[0, 1, 2]]);
        assert!(group_duplicates(&[0, 1, 2], &[(0, 1), (1, 2)], &mut |_, _| false).is_empty());
    }

    proptest! {
        #[test]
        fn nobody_is_in_two_groups_and_all_were_accepted(
            pairs in proptest::collection::vec((0..20_u32, 0..20_u32), 0..60),
            like in proptest::collection::vec(any::<bool>(), 400),
        ) {
            let order: Vec<_> = (0..20).collect();
            let mut accepted = Vec::new();
            let found = group_duplicates(&order, &pairs, &mut |group, next| {
                let is_like = like[(group[0] * 20 + next) as usize];
                accepted.extend(is_like.then_some((group[0], next)));
                is_like
            });
            let mut members: Vec<_> = found.concat();
            members.sort_unstable();
            prop_assert!(members.is_sorted_by(|one, other| one < other));
            for group in &found {
                prop_assert!(1 < group.len() && group[1..].iter().all(|member| accepted.contains(&(group[0], *member))));
            }
        }
    }
}
