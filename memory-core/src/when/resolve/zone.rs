//! From the clock on the wall to a moment, and back.

use chrono::{DateTime, FixedOffset, LocalResult, NaiveDateTime, Offset, TimeDelta, TimeZone};

/// Where the clocks hang.
pub(in crate::when) trait Zone {
    /// Returns what the clock shows at a moment.
    fn shown(&self, utc: NaiveDateTime) -> Option<DateTime<FixedOffset>>;

    /// Returns when the clock shows `local`; a time that it skips is as much later as the clock jumps.
    fn moment(&self, local: NaiveDateTime) -> Option<Placed>;
}

/// When the clock shows a time.
#[derive(Debug, Clone, Copy)]
pub(in crate::when) struct Placed {
    pub(in crate::when) at: DateTime<FixedOffset>,
    pub(in crate::when) change: Change,
}

/// What the change of the clocks does to a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::when) enum Change {
    None,
    /// It is skipped.
    Skipped,
    /// It comes twice, and the first is meant.
    Twice,
}

/// A zone of the calendar library.
pub(in crate::when) struct Of<Tz>(pub(in crate::when) Tz);

impl<Tz: TimeZone> Zone for Of<Tz> {
    fn shown(&self, utc: NaiveDateTime) -> Option<DateTime<FixedOffset>> {
        let offset = self.0.offset_from_utc_datetime(&utc).fix();
        utc.checked_add_offset(offset)?;
        Some(DateTime::from_naive_utc_and_offset(utc, offset))
    }

    fn moment(&self, local: NaiveDateTime) -> Option<Placed> {
        let placed = |offset: FixedOffset, change| {
            let utc = local.checked_sub_offset(offset)?;
            Some(Placed { at: self.shown(utc)?, change })
        };
        match self.0.offset_from_local_datetime(&local) {
            LocalResult::Single(offset) => placed(offset.fix(), Change::None),
            LocalResult::Ambiguous(first, second) => {
                // The first of two is the one with the greater offset.
                let (first, second) = (first.fix(), second.fix());
                let is_first = second.local_minus_utc() <= first.local_minus_utc();
                placed(if is_first { first } else { second }, Change::Twice)
            }
            // The offset that held before the gap leads as far behind it as the time is within.
            LocalResult::None => [3, 30].into_iter().find_map(|hours| {
                let earlier = local.checked_sub_signed(TimeDelta::try_hours(hours)?)?;
                let offset = self.0.offset_from_local_datetime(&earlier).latest()?;
                placed(offset.fix(), Change::Skipped)
            }),
        }
    }
}
