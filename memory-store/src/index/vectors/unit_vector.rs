//! Normalized vectors, exact and quantized.

use memory_core::StoreError;
use simsimd::SpatialSimilarity;

/// A vector of length 1 or 0, with the dimensions of its model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UnitVector(Vec<f32>);

/// A normalized vector quantized to whole multiples of `scale`, at most 127 in absolute value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QuantizedVector {
    pub(super) scale: f32,
    pub(super) codes: Vec<i8>,
}

impl UnitVector {
    /// Returns the normalized `vector`; `whose` describes its origin in errors.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if the vector has another number of dimensions, contains a number that is not finite, or is zero.
    pub(super) fn of(whose: &str, vector: &[f32], dimensions: usize) -> Result<Self, StoreError> {
        let refused = |why: String| {
            Err(StoreError::Invalid {
                why: format!("the vector of {whose} {why}"),
            })
        };
        if vector.len() != dimensions {
            return refused(format!(
                "has {} dimensions, but this model has {dimensions}",
                vector.len()
            ));
        }
        if let Some(place) = vector.iter().position(|number| !number.is_finite()) {
            return refused(format!("contains {} at index {place}", vector[place]));
        }
        // In `f64` no square of an `f32` overflows or underflows.
        let length = vector
            .iter()
            .map(|&number| f64::from(number) * f64::from(number))
            .sum::<f64>()
            .sqrt();
        if length == 0.0 {
            return refused("is zero and has no direction".to_owned());
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "rounding to the nearest f32 is what is meant"
        )]
        let unit = vector
            .iter()
            .map(|&number| (f64::from(number) / length) as f32)
            .collect();
        Ok(Self(unit))
    }

    /// Returns the normalized vector for storage. It may be zero, and is then similar to no other vector.
    ///
    /// # Errors
    /// The same as of [`UnitVector::of`], except for a zero vector.
    pub(super) fn normalize_or_zero(
        whose: &str,
        vector: &[f32],
        dimensions: usize,
    ) -> Result<Self, StoreError> {
        let is_zero = vector.len() == dimensions && vector.iter().all(|number| *number == 0.0);
        if is_zero {
            Ok(Self(vec![0.0; dimensions]))
        } else {
            Self::of(whose, vector, dimensions)
        }
    }

    pub(super) fn numbers(&self) -> &[f32] {
        &self.0
    }

    /// Quantizes the vector; the codes of a zero vector are 0.
    pub(super) fn quantize(&self) -> QuantizedVector {
        let largest = self
            .0
            .iter()
            .fold(0.0_f32, |largest, number| largest.max(number.abs()));
        let scale = largest / 127.0;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is a whole number of at most 127"
        )]
        let codes = self
            .0
            .iter()
            .map(|number| (number / scale).round() as i8)
            .collect();
        QuantizedVector { scale, codes }
    }

    /// Returns the cosine similarity to another normalized vector with the same number of dimensions.
    pub(super) fn cosine(&self, other: &[f32]) -> f32 {
        #[expect(clippy::cast_possible_truncation, reason = "it was computed from f32")]
        let cosine =
            f32::dot(&self.0, other).expect("both have the dimensions of the model") as f32;
        cosine.clamp(-1.0, 1.0)
    }
}

/// Returns the dot product of two codes of the same length.
#[inline]
pub(super) fn dot_product(one: &[i8], other: &[i8]) -> f32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "24 bits are far finer than the codes"
    )]
    let product = i8::dot(one, other).expect("both have the dimensions of the model") as f32;
    product
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_direction_is_refused_by_name() {
        let why = |vector: &[f32]| {
            UnitVector::of("document 7", vector, 2)
                .unwrap_err()
                .to_string()
        };
        insta::assert_snapshot!(why(&[1.0]), @"the vector of document 7 has 1 dimensions, but this model has 2");
        insta::assert_snapshot!(why(&[1.0, f32::NAN]), @"the vector of document 7 contains NaN at index 1");
        insta::assert_snapshot!(why(&[f32::NEG_INFINITY, 0.0]), @"the vector of document 7 contains -inf at index 0");
        insta::assert_snapshot!(why(&[0.0, -0.0]), @"the vector of document 7 is zero and has no direction");
    }

    #[test]
    fn a_zero_vector_may_be_kept() {
        let zero = UnitVector::normalize_or_zero("it", &[0.0, -0.0], 2).unwrap();
        assert_eq!(
            (zero.numbers(), zero.quantize()),
            (
                &[0.0, 0.0][..],
                QuantizedVector {
                    scale: 0.0,
                    codes: vec![0, 0]
                }
            )
        );
        assert_eq!(
            UnitVector::normalize_or_zero("it", &[0.0, 2.0], 2)
                .unwrap()
                .numbers(),
            [0.0, 1.0]
        );
        assert!(UnitVector::normalize_or_zero("it", &[0.0], 2).is_err());
    }

    #[test]
    fn the_longest_and_the_shortest_vectors_have_directions() {
        for size in [f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1)] {
            let unit = UnitVector::of("it", &[size, size, 0.0], 3).unwrap();
            let half = std::f32::consts::FRAC_1_SQRT_2;
            assert_eq!(unit.numbers(), [half, half, 0.0]);
            assert_eq!(unit.quantize().codes, [127, 127, 0]);
        }
    }

    proptest! {
        #[test]
        fn products_are_the_sum_of_products(pairs in prop::collection::vec((-127_i8..=127, -127_i8..=127), 1..900)) {
            let (one, other): (Vec<i8>, Vec<i8>) = pairs.iter().copied().unzip();
            let expected: i32 = pairs.iter().map(|&(one, other)| i32::from(one) * i32::from(other)).sum();
            prop_assert!((f64::from(dot_product(&one, &other)) - f64::from(expected)).abs() < 0.5);
        }

        #[test]
        fn codes_are_off_by_half_a_step_at_most(vector in prop::collection::vec(-1.0_f32..1.0, 1..50)) {
            prop_assume!(vector.iter().any(|number| *number != 0.0));
            let unit = UnitVector::of("it", &vector, vector.len()).unwrap();
            let QuantizedVector { scale, codes } = unit.quantize();
            for (number, code) in unit.numbers().iter().zip(codes) {
                prop_assert!((number - f32::from(code) * scale).abs() <= 0.501 * scale);
            }
            prop_assert!((unit.cosine(unit.numbers()) - 1.0).abs() < 1e-6);
        }
    }
}
