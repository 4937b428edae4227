//! Vectors as whole numbers of 8 bits.

use memory_core::StoreError;
use simsimd::SpatialSimilarity;

/// The largest code.
const LARGEST_CODE: f64 = 127.0;

/// The direction of a vector, rounded to codes. Multiplied by `scale`, the codes have length 1.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QuantizedVector {
    /// 0 for a zero vector.
    pub(super) scale: f32,
    pub(super) codes: Vec<i8>,
}

impl QuantizedVector {
    /// Quantizes `vector`, which is described by `whose` in errors. Only its direction is used.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if the vector has another number of dimensions, contains a number that is not finite, or is zero.
    pub(super) fn of(whose: &str, vector: &[f32], dimensions: usize) -> Result<Self, StoreError> {
        let quantized = Self::of_any_length(whose, vector, dimensions)?;
        if quantized.scale == 0.0 {
            return Err(refused(whose, "is zero and has no direction"));
        }
        Ok(quantized)
    }

    /// Quantizes a vector for storage. It may be zero, and is then similar to no other vector.
    ///
    /// # Errors
    /// The same as of [`Self::of`], except for a zero vector.
    pub(super) fn of_any_length(
        whose: &str,
        vector: &[f32],
        dimensions: usize,
    ) -> Result<Self, StoreError> {
        if vector.len() != dimensions {
            let why = format!(
                "has {} dimensions, but this model has {dimensions}",
                vector.len()
            );
            return Err(refused(whose, &why));
        }
        if let Some(place) = vector.iter().position(|number| !number.is_finite()) {
            let why = format!("contains {} at index {place}", vector[place]);
            return Err(refused(whose, &why));
        }
        let largest = vector
            .iter()
            .fold(0.0_f32, |largest, number| largest.max(number.abs()));
        if largest == 0.0 {
            return Ok(Self {
                scale: 0.0,
                codes: vec![0; dimensions],
            });
        }
        // In `f64` no quotient of two `f32` overflows or underflows.
        let step = LARGEST_CODE / f64::from(largest);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it is a whole number of at most 127"
        )]
        let codes: Vec<i8> = vector
            .iter()
            .map(|number| (f64::from(*number) * step).round() as i8)
            .collect();
        let squares: i64 = codes.iter().map(|code| i64::from(*code).pow(2)).sum();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            reason = "the sum is far below 2^53, and its root is rounded to the nearest f32"
        )]
        let scale = (1.0 / (squares as f64).sqrt()) as f32;
        Ok(Self { scale, codes })
    }
}

/// Returns the cosine of two vectors of the same length; `None` if one of them is zero.
pub(super) fn cosine(one: (f32, &[i8]), other: (f32, &[i8])) -> Option<f32> {
    let is_direction = one.0 != 0.0 && other.0 != 0.0;
    is_direction.then(|| (dot_product(one.1, other.1) * (one.0 * other.0)).clamp(-1.0, 1.0))
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

fn refused(whose: &str, why: &str) -> StoreError {
    StoreError::Invalid {
        why: format!("the vector of {whose} {why}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_direction_is_refused_by_name() {
        let why = |vector: &[f32]| {
            QuantizedVector::of("document 7", vector, 2)
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
        let zero = QuantizedVector::of_any_length("it", &[0.0, -0.0], 2).unwrap();
        assert_eq!((zero.scale, &zero.codes[..]), (0.0, &[0, 0][..]));
        let other = QuantizedVector::of_any_length("it", &[0.0, 2.0], 2).unwrap();
        assert_eq!(other.codes, [0, 127]);
        assert_eq!(
            cosine((zero.scale, &zero.codes), (other.scale, &other.codes)),
            None
        );
        assert!(QuantizedVector::of_any_length("it", &[0.0], 2).is_err());
    }

    #[test]
    fn the_longest_and_the_shortest_vectors_have_directions() {
        for size in [f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1)] {
            let unit = QuantizedVector::of("it", &[size, size, 0.0], 3).unwrap();
            assert_eq!(unit.codes, [127, 127, 0]);
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
        fn codes_have_the_direction_of_the_vector(vector in prop::collection::vec(-1.0_f32..1.0, 1..50)) {
            prop_assume!(vector.iter().any(|number| *number != 0.0));
            let unit = QuantizedVector::of("it", &vector, vector.len()).unwrap();
            let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
            for (number, code) in vector.iter().zip(&unit.codes) {
                prop_assert!((number / largest * 127.0 - f32::from(*code)).abs() <= 0.501);
            }
            let own = (unit.scale, &unit.codes[..]);
            prop_assert!(cosine(own, own).is_some_and(|cosine| (cosine - 1.0).abs() < 1e-6));
        }
    }
}
