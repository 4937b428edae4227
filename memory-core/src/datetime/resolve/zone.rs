//! Converts between local time and UTC.

use chrono::{DateTime, FixedOffset, LocalResult, NaiveDateTime, Offset, TimeDelta, TimeZone};

/// A time zone.
pub(in crate::datetime) trait DynTimeZone {
    /// Returns the local time at a point in time.
    fn local_time_at(&self, utc: NaiveDateTime) -> Option<DateTime<FixedOffset>>;

    /// Returns the point in time of a local time; a skipped time is moved forward by the length of the gap.
    fn resolve_local(&self, local: NaiveDateTime) -> Option<ZonedTime>;
}

/// The point in time of a local time.
#[derive(Debug, Clone, Copy)]
pub(in crate::datetime) struct ZonedTime {
    pub(in crate::datetime) at: DateTime<FixedOffset>,
    pub(in crate::datetime) change: ClockChange,
}

/// The effect of a clock change on a local time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::datetime) enum ClockChange {
    None,
    /// The local time does not exist.
    Skipped,
    /// The local time occurs twice; the first occurrence is used.
    Twice,
}

/// Adapter for the time zones of chrono.
pub(in crate::datetime) struct ChronoZone<Tz>(pub(in crate::datetime) Tz);

impl<Tz: TimeZone> DynTimeZone for ChronoZone<Tz> {
    fn local_time_at(&self, utc: NaiveDateTime) -> Option<DateTime<FixedOffset>> {
        let offset = self.0.offset_from_utc_datetime(&utc).fix();
        utc.checked_add_offset(offset)?;
        Some(DateTime::from_naive_utc_and_offset(utc, offset))
    }

    fn resolve_local(&self, local: NaiveDateTime) -> Option<ZonedTime> {
        let placed = |offset: FixedOffset, change| {
            let utc = local.checked_sub_offset(offset)?;
            Some(ZonedTime { at: self.local_time_at(utc)?, change })
        };
        match self.0.offset_from_local_datetime(&local) {
            LocalResult::Single(offset) => placed(offset.fix(), ClockChange::None),
            LocalResult::Ambiguous(first, second) => {
                // The first occurrence has the greater offset.
                let (first, second) = (first.fix(), second.fix());
                let is_first = second.local_minus_utc() <= first.local_minus_utc();
                placed(if is_first { first } else { second }, ClockChange::Twice)
            }
            // With the offset before the gap, the result is as far after the gap as the local time is inside it.
            LocalResult::None => [3, 30].into_iter().find_map(|hours| {
                let earlier = local.checked_sub_signed(TimeDelta::try_hours(hours)?)?;
                let offset = self.0.offset_from_local_datetime(&earlier).latest()?;
                placed(offset.fix(), ClockChange::Skipped)
            }),
        }
    }
}
