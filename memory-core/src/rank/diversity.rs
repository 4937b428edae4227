//! What repeats a better one.

/// Returns the numbers of the best `limit` candidates by maximal marginal relevance, best first (Carbonell and Goldstein,
/// "The Use of MMR", 1998): each next one is the one with the largest `lambda · relevance − (1 − lambda) · similarity`, the
/// similarity to the most similar one taken before. Relevance and similarity lie between 0 and 1. With a `lambda` of 1 it is
/// the order of the relevance alone. Ties go to the one that comes first.
pub fn diverse(relevance: &[f32], lambda: f32, limit: usize, similarity: &dyn Fn(usize, usize) -> f32) -> Vec<usize> {
    let mut nearest = vec![0.0_f32; relevance.len()];
    let mut left: Vec<usize> = (0..relevance.len()).collect();
    let mut taken = Vec::with_capacity(limit.min(left.len()));
    while taken.len() < limit && !left.is_empty() {
        let gain = |number: usize| lambda * relevance[number] - (1.0 - lambda) * nearest[number];
        let mut best = 0;
        for place in 1..left.len() {
            if gain(left[best]) < gain(left[place]) {
                best = place;
            }
        }
        let next = left.remove(best);
        taken.push(next);
        if lambda < 1.0 {
            for other in &left {
                nearest[*other] = nearest[*other].max(similarity(*other, next));
            }
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::diverse;

    #[test]
    fn what_repeats_a_better_one_comes_later() {
        let alike = |one: usize, other: usize| if (one, other) == (1, 0) { 1.0 } else { 0.0 };
        assert_eq!(diverse(&[0.9, 0.89, 0.5], 0.7, 3, &alike), [0, 2, 1]);
        assert_eq!(diverse(&[0.9, 0.89, 0.5], 1.0, 2, &alike), [0, 1]);
    }

    proptest! {
        #[test]
        fn nothing_is_taken_twice_and_the_best_comes_first(relevance in proptest::collection::vec(0.0_f32..1.0, 1..20), lambda in 0.1_f32..1.0) {
            let taken = diverse(&relevance, lambda, 20, &|_, _| 0.5);
            let mut sorted = taken.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..relevance.len()).collect::<Vec<_>>());
            prop_assert!(relevance.iter().all(|other| *other <= relevance[taken[0]]));
        }
    }
}
