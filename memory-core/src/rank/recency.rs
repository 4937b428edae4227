//! The recency of a memory.

use chrono::{DateTime, TimeDelta, Utc};

/// Age at which the recency has decayed to 1/e.
pub const FADES_IN: TimeDelta = TimeDelta::days(30);

/// Returns `exp(-age / 30 days)`: 1.0 at age 0, decaying towards 0.
///
/// A creation time in the future counts as age 0.
pub fn recency(created_at: DateTime<Utc>, now: DateTime<Utc>) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a second more or less does not show")]
    let seconds = |span: TimeDelta| span.num_seconds() as f32;
    (-seconds((now - created_at).max(TimeDelta::zero())) / seconds(FADES_IN)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_falls_from_one_to_zero() {
        let now: DateTime<Utc> = "2026-11-21T00:00:00Z".parse().unwrap();
        let day = TimeDelta::days(1);
        let fresh = [recency(now, now), recency(now + day, now)];
        assert_eq!(fresh.map(f32::to_bits), [1.0_f32, 1.0].map(f32::to_bits));
        assert!((recency(now - day * 30, now) - (-1.0_f32).exp()).abs() < 1e-6);
        assert_eq!(recency(DateTime::<Utc>::MIN_UTC, now).to_bits(), 0.0_f32.to_bits());
    }
}
