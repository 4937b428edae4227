//! Resolves a time of day to a date, one of its two halves of the day, and a time zone.

use chrono::{
    DateTime, Days, FixedOffset, LocalResult, NaiveDate, NaiveDateTime, NaiveTime, Offset,
    TimeDelta, TimeZone,
};

use super::naive_time;
use crate::datetime::time_of_day::{DayPart, HalfDay, TimeOfDay};

/// A resolved date and time.
#[derive(Debug, Clone, Copy)]
pub(super) struct ResolvedLocalTime {
    pub(super) date: NaiveDate,
    pub(super) time: NaiveTime,
}

impl ResolvedLocalTime {
    fn new(date: NaiveDate, days_later: u64, clock: TimeOfDay) -> Option<Self> {
        // Hour 24 is 00:00 of the next day.
        let days = days_later + u64::from(clock.hour / 24);
        Some(Self {
            date: date.checked_add_days(Days::new(days))?,
            time: naive_time(clock)?,
        })
    }

    fn is_after(self, now: NaiveDateTime) -> bool {
        now < self.date.and_time(self.time)
    }
}

/// Returns the time on `date`, or its next occurrence if there is no date.
pub(super) fn resolve_time(
    clock: TimeOfDay,
    part: Option<DayPart>,
    date: Option<NaiveDate>,
    now: NaiveDateTime,
    assumed: &mut Vec<String>,
) -> Option<ResolvedLocalTime> {
    let today = now.date();
    if let Some(part) = part {
        let clock = within_day_part(clock, part)?;
        let is_of_the_night = part == DayPart::Night && clock.hour < 5;
        let day = date.unwrap_or(today);
        let same_day = ResolvedLocalTime::new(day, 0, clock)?;
        // "Tonight at one" is on the next day, unless it is night already.
        if is_of_the_night && date.is_some() && !(day == today && same_day.is_after(now)) {
            return ResolvedLocalTime::new(day, 1, clock);
        }
        let is_over = date.is_none() && !same_day.is_after(now);
        return if is_over {
            ResolvedLocalTime::new(day, 1, clock)
        } else {
            Some(same_day)
        };
    }
    match date {
        Some(date) if date == today => {
            let over = ResolvedLocalTime::new(date, 0, prefer_afternoon(clock))?;
            Some(next_occurrence(clock, now, assumed).unwrap_or(over))
        }
        Some(date) => ResolvedLocalTime::new(date, 0, at_waking_hour(clock, assumed)),
        None => match next_occurrence(clock, now, assumed) {
            Some(settled) => Some(settled),
            None if clock.is_sure => ResolvedLocalTime::new(today, 1, clock),
            None if is_afternoon_hour(clock) => {
                ResolvedLocalTime::new(today, 1, at_waking_hour(clock, assumed))
            }
            None => {
                let clock = clock.in_half(HalfDay::Before)?;
                record_assumption(clock, "is next", assumed);
                ResolvedLocalTime::new(today, 1, clock)
            }
        },
    }
}

/// Returns the default time of a part of the day.
pub(super) fn resolve_day_part(
    part: DayPart,
    date: NaiveDate,
    now: NaiveDateTime,
    assumed: &mut Vec<String>,
) -> ResolvedLocalTime {
    let hours: &[u32] = match part {
        DayPart::SmallHours => &[3],
        DayPart::Morning => &[9],
        DayPart::Noon => &[12],
        DayPart::Afternoon => &[15],
        DayPart::Evening => &[19, 21],
        DayPart::Night => &[20, 22, 23],
        DayPart::Around(hour) => &[hour],
    };
    let at = |hour: u32| ResolvedLocalTime {
        date,
        time: NaiveTime::from_hms_opt(hour, 0, 0).unwrap_or(NaiveTime::MIN),
    };
    let first = at(hours[0]);
    let settled = hours
        .iter()
        .map(|hour| at(*hour))
        .find(|settled| date != now.date() || settled.is_after(now))
        .unwrap_or(first);
    assumed.push(format!(
        "No hour given; assuming {}.",
        settled.time.format("%H:%M")
    ));
    settled
}

/// Restricts a time to a part of the day; hour 24 is the midnight at its end.
fn within_day_part(clock: TimeOfDay, part: DayPart) -> Option<TimeOfDay> {
    if clock.is_sure {
        // "The morning at 15:00" and "the evening at 6 am" are no times.
        let is_other_half = match part {
            DayPart::Morning | DayPart::SmallHours => (13..24).contains(&clock.hour),
            DayPart::Evening => (1..12).contains(&clock.hour),
            DayPart::Night => (5..12).contains(&clock.hour),
            DayPart::Noon | DayPart::Afternoon | DayPart::Around(_) => false,
        };
        (!is_other_half).then_some(())?;
        let is_next_midnight = matches!(part, DayPart::Evening | DayPart::Night) && clock.hour == 0;
        return Some(if is_next_midnight {
            TimeOfDay { hour: 24, ..clock }
        } else {
            clock
        });
    }
    let sure = |hour| Some(TimeOfDay { hour, ..clock }.sure());
    match (part, clock.hour) {
        (DayPart::SmallHours | DayPart::Morning, _) => clock.in_half(HalfDay::Before),
        (DayPart::Around(around), _) => clock.in_half(if around < 12 {
            HalfDay::Before
        } else {
            HalfDay::After
        }),
        (DayPart::Noon, 5..=12) | (DayPart::Night, 1..=4) => sure(clock.hour),
        (DayPart::Evening | DayPart::Night, 12) => sure(24),
        (DayPart::Noon | DayPart::Afternoon | DayPart::Evening | DayPart::Night, _) => {
            clock.in_half(HalfDay::After)
        }
    }
}

/// Returns the next occurrence today; a time without "am" or "pm" can match in both halves of the day.
fn next_occurrence(
    clock: TimeOfDay,
    now: NaiveDateTime,
    assumed: &mut Vec<String>,
) -> Option<ResolvedLocalTime> {
    let today = now.date();
    if clock.is_sure {
        return ResolvedLocalTime::new(today, 0, clock).filter(|settled| settled.is_after(now));
    }
    // 12 is noon rather than midnight, and hours from 1 to 6 are rarely in the night.
    let first = if clock.hour == 12 || is_afternoon_hour(clock) {
        HalfDay::After
    } else {
        HalfDay::Before
    };
    let faces = [clock.in_half(first)?, clock.in_half(HalfDay::After)?];
    let meant = faces.into_iter().find(|face| {
        ResolvedLocalTime::new(today, 0, *face).is_some_and(|settled| settled.is_after(now))
    })?;
    record_assumption(meant, "is next", assumed);
    ResolvedLocalTime::new(today, 0, meant)
}

/// Returns a time that is over today, in the afternoon if the half of the day is ambiguous.
fn prefer_afternoon(clock: TimeOfDay) -> TimeOfDay {
    if clock.is_sure {
        clock
    } else {
        clock.in_half(HalfDay::After).unwrap_or(clock)
    }
}

/// Returns whether an ambiguous hour belongs to the afternoon: from 1 to 6 the alternative is in the night.
fn is_afternoon_hour(clock: TimeOfDay) -> bool {
    // "A quarter to seven" counts as seven, which is after people get up.
    !clock.is_sure && (1..=6).contains(&clock.hour) && (clock.hour, clock.minute) < (6, 45)
}

/// Resolves an ambiguous time to waking hours.
pub(super) fn at_waking_hour(clock: TimeOfDay, assumed: &mut Vec<String>) -> TimeOfDay {
    if clock.is_sure {
        return clock;
    }
    let settled = TimeOfDay {
        hour: clock.hour + if is_afternoon_hour(clock) { 12 } else { 0 },
        is_sure: true,
        ..clock
    };
    record_assumption(settled, "is assumed", assumed);
    settled
}

/// Records the assumed half of the day and its alternative.
pub(super) fn record_assumption(clock: TimeOfDay, how: &str, assumed: &mut Vec<String>) {
    assumed.push(format!(
        "AM or PM is not given; {} {how}.",
        format_assumed_time(clock)
    ));
}

/// Formats a time together with the alternative 12 hours from it.
pub(super) fn format_assumed_time(clock: TimeOfDay) -> String {
    format!(
        "{:02}:{:02}, not {:02}:{:02},",
        clock.hour,
        clock.minute,
        (clock.hour + 12) % 24,
        clock.minute
    )
}

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
            Some(ZonedTime {
                at: self.local_time_at(utc)?,
                change,
            })
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
