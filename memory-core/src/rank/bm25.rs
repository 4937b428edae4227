//! BM25.
//!
//! The formula is that of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
//! Lucene's inverse document frequency, which is never negative. The index computes the same for what it holds; what it
//! does not hold yet is scored here, and both are sorted together. So the two must agree to the last bit, and the order
//! of the operations below is part of the contract: floating-point addition is not associative.

/// How soon further occurrences of a term stop to count: at 0 the first one says all.
pub const K1: f32 = 1.2;

/// How much a long text is held against its matches: 0 is not at all, 1 is in full proportion.
pub const B: f32 = 0.75;

/// Returns how much a term tells that `with_term` of `documents` documents contain: `ln(1 + (N − n + 0.5) / (n + 0.5))`.
///
/// Never negative, and the larger the rarer the term is. More documents with the term than there are documents, as
/// statistics gathered at two moments may have it, count as all of them.
pub fn idf(documents: u64, with_term: u64) -> f32 {
    let with_term = with_term.min(documents);
    let odds_against = (real(documents - with_term) + 0.5) / (real(with_term) + 0.5);
    (1.0 + odds_against).ln()
}

/// Returns what a term adds to the score of a document: `idf · (k1 + 1) · f / (f + k1 · (1 − b + b · length / average))`.
///
/// `frequency` is how often the term occurs in the field, `length` and `average_length` are in tokens. The index keeps a
/// length in one byte; to agree with it, `length` must be what is left of it after that. Where no average is known, or it
/// is not positive, every length is average. For an idf from [`idf()`] the result is never negative and never NaN.
pub fn score(idf: f32, frequency: u32, length: u32, average_length: f32) -> f32 {
    let long = if 0.0 < average_length { B * real(length.into()) / average_length } else { B };
    let norm = K1 * (1.0 - B + long);
    let frequency = real(frequency.into());
    idf * (1.0 + K1) * (frequency / (frequency + norm))
}

#[expect(clippy::cast_precision_loss, reason = "the index rounds here too, and the results must be equal")]
fn real(count: u64) -> f32 {
    count as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn scores_are_those_of_tantivy_to_the_last_bit() {
        // Documents, those with the term, average length, length, frequency; then what tantivy 0.27 makes of them.
        for (documents, with_term, average_length, length, frequency, bits) in [
            (1, 1, 1.0, 1, 1, 0x3e93_4b12),
            (2, 1, 7.5, 3, 2, 0x3f92_c274),
            (10, 0, 4.2, 4, 1, 0x4049_c1cf),
            (100, 37, 61.3, 40, 5, 0x3fec_f467),
            (100_000, 12, 58.771, 56, 3, 0x4164_4535),
            (100_000, 99_999, 58.771, 600, 9, 0x3786_f068),
            (20_000_000, 19_999_999, 33.3, 984, 250, 0x347e_3f94),
            (16_777_217, 3, 0.1, 0, 1, 0x41d0_4251),
            (3, 3, 1e9, 20, 7, 0x3e90_3a85),
            (5_000, 77, 123.456, 104, 4, 0x40e7_fe40),
        ] {
            let ours = score(idf(documents, with_term), frequency, length, average_length);
            // Elsewhere the logarithm may round otherwise, for tantivy as for us.
            let tolerance = if cfg!(target_os = "linux") { 0 } else { 2 };
            assert!(ours.to_bits().abs_diff(bits) <= tolerance, "{with_term} of {documents}: {ours}");
        }
    }

    #[test]
    fn an_unknown_average_makes_every_length_average() {
        let average = score(1.0, 3, 20, 20.0).to_bits();
        assert_eq!(score(1.0, 3, 7, 0.0).to_bits(), average);
        assert_eq!(score(1.0, 3, 7, f32::NAN).to_bits(), average);
    }

    proptest! {
        #[test]
        fn it_grows_with_frequency_and_falls_with_length(
            documents in 0_u64..1_000_000_000,
            with_term in any::<u64>(),
            (rare, often) in (any::<u32>(), any::<u32>()).prop_map(|(one, other)| (one.min(other), one.max(other))),
            (short, long) in (any::<u32>(), any::<u32>()).prop_map(|(one, other)| (one.min(other), one.max(other))),
            average_length in any::<f32>(),
        ) {
            let idf = idf(documents, with_term);
            prop_assert!(0.0 <= idf);
            prop_assert!(score(idf, rare, short, average_length) <= score(idf, often, short, average_length));
            prop_assert!(score(idf, often, long, average_length) <= score(idf, often, short, average_length));
            prop_assert!(0.0 <= score(idf, rare, long, average_length));
            prop_assert_eq!(score(idf, 0, short, average_length).to_bits(), 0.0_f32.to_bits());
        }

        #[test]
        fn a_rarer_term_tells_more(documents in any::<u64>(), one in any::<u64>(), other in any::<u64>()) {
            prop_assert!(idf(documents, one.max(other)) <= idf(documents, one.min(other)));
        }
    }
}
