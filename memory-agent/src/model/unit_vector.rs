//! Normalization of vectors to length 1.

use memory_core::Embedding;

/// Returns the vector scaled to length 1, or `None` if it is zero or not finite.
#[expect(clippy::cast_possible_truncation, reason = "vectors are kept in f32")]
pub(super) fn unit_vector<N: Copy + Into<f64>>(vector: &[N]) -> Option<Embedding> {
    let parts = || vector.iter().map(|part| (*part).into());
    let largest = parts().map(f64::abs).fold(0.0, f64::max);
    // Dividing by the largest component first prevents overflow and underflow of the squares.
    let length = parts()
        .map(|part: f64| (part / largest).powi(2))
        .sum::<f64>()
        .sqrt();
    (length.is_finite() && 0.0 < length).then(|| {
        parts()
            .map(|part| (part / largest / length) as f32)
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_points_nowhere_has_no_length() {
        for vector in [
            &[][..],
            &[0.0, 0.0],
            &[1.0, f64::NAN],
            &[f64::INFINITY, 1.0],
            &[f64::NAN],
        ] {
            assert_eq!(unit_vector(vector), None, "{vector:?}");
        }
        assert_eq!(unit_vector(&[3.0, -4.0]), Some(vec![0.6, -0.8]));
        assert_eq!(unit_vector(&[0.0, 1e-320]), Some(vec![0.0, 1.0]));
    }

    proptest! {
        #[test]
        fn the_length_is_1_and_the_direction_stays(vector in prop::collection::vec(prop::num::f64::NORMAL, 1..20)) {
            let unit = unit_vector(&vector).expect("normal numbers point somewhere");
            let length = unit.iter().map(|part| f64::from(*part).powi(2)).sum::<f64>().sqrt();
            prop_assert!((length - 1.0).abs() < 1e-6, "{}", length);
            for (part, former) in unit.iter().zip(&vector) {
                prop_assert!(0.0 <= f64::from(*part) * former.signum());
            }
        }
    }
}
