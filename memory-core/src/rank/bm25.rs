//! BM25 term weights, scaled independently of the number of documents.
//!
//! The formula is that of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
//! Lucene's inverse document frequency, which is never negative.

/// Saturation of term frequency: at 0, only the first occurrence counts.
pub const K1: f32 = 1.2;

/// The usual length normalisation: 0 ignores the length, 1 divides in full proportion to it.
pub const B: f32 = 0.5;

/// Returns the inverse document frequency of a term: `ln(1 + (N − n + 0.5) / (n + 0.5))`.
///
/// `N` is `documents`, `n` is `with_term`. The result is never negative and grows with the rarity of the term. A `with_term`
/// above `documents`, possible in statistics gathered at two moments, counts as `documents`.
pub fn idf(documents: u64, with_term: u64) -> f32 {
    let with_term = with_term.min(documents);
    let odds_against = (real(documents - with_term) + 0.5) / (real(with_term) + 0.5);
    (1.0 + odds_against).ln()
}

/// Returns [`idf()`] divided by that of a term in a single document.
///
/// The result is 1 for such a term and for an unused term, independent of the number of documents.
pub fn idf_share(documents: u64, with_term: u64) -> f32 {
    let most = idf(documents, 1);
    if most <= 0.0 {
        1.0
    } else {
        (idf(documents, with_term) / most).min(1.0)
    }
}

/// Returns the strength of a match: `(k1 + 1) · f / (f + k1 · (1 − b + b · length / average))`.
///
/// `frequency` is the number of occurrences, `length` and `average_length` are in tokens. One occurrence in a text of average
/// length yields 1; the result never exceeds `k1 + 1`. Without a positive average, every length counts as average.
pub fn saturation(frequency: u32, length: u32, average_length: f32, b: f32) -> f32 {
    let long = if 0.0 < average_length {
        b * real(length.into()) / average_length
    } else {
        b
    };
    let norm = K1 * (1.0 - b + long);
    let frequency = real(frequency.into());
    (1.0 + K1) * (frequency / (frequency + norm))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts beyond seven digits are as good as those rounded to them"
)]
fn real(count: u64) -> f32 {
    count as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn once_in_a_text_of_average_length_is_one() {
        assert!((saturation(1, 20, 20.0, B) - 1.0).abs() < 1e-6);
        assert_eq!(saturation(0, 20, 20.0, B).to_bits(), 0.0_f32.to_bits());
    }

    #[test]
    fn an_unknown_average_makes_every_length_average() {
        let average = saturation(3, 20, 20.0, B).to_bits();
        assert_eq!(saturation(3, 7, 0.0, B).to_bits(), average);
        assert_eq!(saturation(3, 7, f32::NAN, B).to_bits(), average);
    }

    #[test]
    fn a_rare_term_is_worth_the_same_in_every_store() {
        for documents in [1, 10, 1_000_000] {
            let shares = [idf_share(documents, 0), idf_share(documents, 1)];
            assert_eq!(shares.map(f32::to_bits), [1.0_f32, 1.0].map(f32::to_bits));
        }
        assert!(idf_share(1_000, 900) < 0.02);
        assert_eq!(idf_share(0, 0).to_bits(), 1.0_f32.to_bits());
    }

    proptest! {
        #[test]
        fn it_grows_with_frequency_and_falls_with_length(
            (rare, often) in (any::<u32>(), any::<u32>()).prop_map(|(one, other)| (one.min(other), one.max(other))),
            (short, long) in (any::<u32>(), any::<u32>()).prop_map(|(one, other)| (one.min(other), one.max(other))),
            average_length in any::<f32>(),
        ) {
            prop_assert!(saturation(rare, short, average_length, B) <= saturation(often, short, average_length, B));
            prop_assert!(saturation(often, long, average_length, B) <= saturation(often, short, average_length, B));
            prop_assert!(0.0 <= saturation(rare, long, average_length, B));
        }

        #[test]
        fn a_rarer_term_tells_more(documents in any::<u64>(), one in any::<u64>(), other in any::<u64>()) {
            prop_assert!(idf(documents, one.max(other)) <= idf(documents, one.min(other)));
            prop_assert!(0.0 <= idf(documents, one));
        }
    }
}
