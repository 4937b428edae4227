//! BM25, on a scale that does not grow with the store.
//!
//! The formula is that of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
//! Lucene's inverse document frequency, which is never negative.

/// How soon further occurrences of a term stop to count: at 0 the first one says all.
pub const K1: f32 = 1.2;

/// How much a long text is held against its matches: 0 is not at all, 1 is in full proportion.
pub const B: f32 = 0.5;

/// Returns how much a term tells that `with_term` of `documents` documents contain: `ln(1 + (N − n + 0.5) / (n + 0.5))`.
///
/// Never negative, and the larger the rarer the term is. More documents with the term than there are documents, as
/// statistics gathered at two moments may have it, count as all of them.
pub fn idf(documents: u64, with_term: u64) -> f32 {
    let with_term = with_term.min(documents);
    let odds_against = (real(documents - with_term) + 0.5) / (real(with_term) + 0.5);
    (1.0 + odds_against).ln()
}

/// Returns [`idf()`] as a share of that of a term that stands in one document only: 1 for it and for a term that nobody
/// uses, whatever the number of documents.
pub fn idf_share(documents: u64, with_term: u64) -> f32 {
    let most = idf(documents, 1);
    if most <= 0.0 { 1.0 } else { (idf(documents, with_term) / most).min(1.0) }
}

/// Returns how strongly a term is matched: `(k1 + 1) · f / (f + k1 · (1 − b + b · length / average))`.
///
/// `frequency` is how often the term stands in the text, `length` and `average_length` are in tokens. 0 is not at all, 1
/// once in a text of average length, and it never exceeds `k1 + 1`. Where no average is known, or it is not positive, every
/// length is average.
pub fn saturation(frequency: u32, length: u32, average_length: f32) -> f32 {
    let long = if 0.0 < average_length { B * real(length.into()) / average_length } else { B };
    let norm = K1 * (1.0 - B + long);
    let frequency = real(frequency.into());
    (1.0 + K1) * (frequency / (frequency + norm))
}

#[expect(clippy::cast_precision_loss, reason = "counts beyond seven digits are as good as those rounded to them")]
fn real(count: u64) -> f32 {
    count as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn once_in_a_text_of_average_length_is_one() {
        assert!((saturation(1, 20, 20.0) - 1.0).abs() < 1e-6);
        assert_eq!(saturation(0, 20, 20.0).to_bits(), 0.0_f32.to_bits());
    }

    #[test]
    fn an_unknown_average_makes_every_length_average() {
        let average = saturation(3, 20, 20.0).to_bits();
        assert_eq!(saturation(3, 7, 0.0).to_bits(), average);
        assert_eq!(saturation(3, 7, f32::NAN).to_bits(), average);
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
            prop_assert!(saturation(rare, short, average_length) <= saturation(often, short, average_length));
            prop_assert!(saturation(often, long, average_length) <= saturation(often, short, average_length));
            prop_assert!(0.0 <= saturation(rare, long, average_length));
        }

        #[test]
        fn a_rarer_term_tells_more(documents in any::<u64>(), one in any::<u64>(), other in any::<u64>()) {
            prop_assert!(idf(documents, one.max(other)) <= idf(documents, one.min(other)));
            prop_assert!(0.0 <= idf(documents, one));
        }
    }
}
