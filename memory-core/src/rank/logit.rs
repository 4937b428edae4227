//! Functions that map logits and ages to the range 0 to 1.
//!
//! A cross-encoder returns a logit: an unbounded number, the higher the better. [`sigmoid()`] maps one score to an absolute relevance, so
//! that a threshold can be set; [`min_max()`] maps a list of scores to relative relevance.

use chrono::{DateTime, TimeDelta, Utc};

/// Returns the probability that the text matches the query: `1 / (1 + e^−logit)`, from 0 to 1.
///
/// The function is increasing and one half at 0. NaN remains NaN.
pub fn sigmoid(logit: f32) -> f32 {
    // e^−|logit| does not overflow for any sign of the logit.
    let small = (-logit.abs()).exp();
    if logit < 0.0 {
        small / (1.0 + small)
    } else {
        1.0 / (1.0 + small)
    }
}

/// Maps scores linearly to 0 for the worst and 1 for the best.
///
/// If all finite scores are equal, they become 1. A score that is not finite becomes 0.
pub fn min_max(logits: &[f32]) -> Vec<f32> {
    // The computation uses f64, because the difference of two finite f32 can overflow f32.
    let finite = || {
        logits
            .iter()
            .copied()
            .filter(|logit| logit.is_finite())
            .map(f64::from)
    };
    let worst = finite().fold(f64::INFINITY, f64::min);
    let span = finite().fold(f64::NEG_INFINITY, f64::max) - worst;
    logits
        .iter()
        .map(|&logit| {
            if logit.is_finite() {
                scale_to_unit(f64::from(logit) - worst, span)
            } else {
                0.0
            }
        })
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "between 0 and 1 nothing is lost but digits"
)]
fn scale_to_unit(above_worst: f64, span: f64) -> f32 {
    if 0.0 < span {
        (above_worst / span) as f32
    } else {
        1.0
    }
}

/// Age at which the recency has decayed to 1/e.
pub const FADES_IN: TimeDelta = TimeDelta::days(30);

/// Returns `exp(-age / 30 days)`: 1.0 at age 0, decaying towards 0.
///
/// A creation time in the future counts as age 0.
pub fn recency(created_at: DateTime<Utc>, now: DateTime<Utc>) -> f32 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "a second more or less does not show"
    )]
    let seconds = |span: TimeDelta| span.num_seconds() as f32;
    (-seconds((now - created_at).max(TimeDelta::zero())) / seconds(FADES_IN)).exp()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_sigmoid_is_one_half_at_nothing_and_never_leaves_its_borders() {
        assert_eq!(sigmoid(0.0).to_bits(), 0.5_f32.to_bits());
        assert!(
            (sigmoid(-0.619_039_2) - 0.35).abs() < 1e-6,
            "the usual threshold"
        );
        for logit in [f32::MAX, f32::INFINITY] {
            assert_eq!(
                (sigmoid(logit).to_bits(), sigmoid(-logit).to_bits()),
                (1.0_f32.to_bits(), 0.0_f32.to_bits())
            );
        }
        assert!(sigmoid(f32::NAN).is_nan());
    }

    #[test]
    fn the_worst_is_nothing_and_the_best_is_all() {
        assert_eq!(min_max(&[-3.0, 1.0, -1.0]), [0.0, 1.0, 0.5]);
        assert_eq!(min_max(&[7.0, 7.0]), [1.0, 1.0]);
        assert_eq!(
            min_max(&[f32::NAN, 2.0, f32::INFINITY, 1.0]),
            [0.0, 1.0, 0.0, 0.0]
        );
        assert_eq!(min_max(&[f32::MAX, f32::MIN]), [1.0, 0.0]);
        assert!(min_max(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn neither_changes_the_order(one in any::<f32>(), other in any::<f32>(), third in any::<f32>()) {
            let (low, high) = if one < other { (one, other) } else { (other, one) };
            prop_assert!(sigmoid(low) <= sigmoid(high) || low.is_nan() || high.is_nan());
            let placed = min_max(&[low, high, third]);
            prop_assert!(placed[0] <= placed[1] || !high.is_finite());
            prop_assert!(placed.iter().all(|place| (0.0..=1.0).contains(place)));
        }

        #[test]
        fn a_logit_and_its_opposite_make_one(logit in -80_f32..80.0) {
            prop_assert!((sigmoid(logit) + sigmoid(-logit) - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn it_falls_from_one_to_zero() {
        let now: DateTime<Utc> = "2026-11-21T00:00:00Z".parse().unwrap();
        let day = TimeDelta::days(1);
        let fresh = [recency(now, now), recency(now + day, now)];
        assert_eq!(fresh.map(f32::to_bits), [1.0_f32, 1.0].map(f32::to_bits));
        assert!((recency(now - day * 30, now) - (-1.0_f32).exp()).abs() < 1e-6);
        assert_eq!(
            recency(DateTime::<Utc>::MIN_UTC, now).to_bits(),
            0.0_f32.to_bits()
        );
    }
}
