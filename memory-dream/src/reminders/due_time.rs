//! The due times of reminders.

use chrono::{DateTime, NaiveTime, TimeDelta, TimeZone, Timelike, Utc};
use memory_core::datetime::{DateMention, DatePrecision};

/// The hour at which a reminder for a day without a time is due.
const DEFAULT_HOUR: u32 = 9;

/// Returns the due time of the reminder for a reading, and the assumptions made.
///
/// A day without a time is due at nine in the morning or, if that was past at `written`, at the next full hour, as in
/// [`memory_core::due()`].
pub(super) fn due_time<Tz: TimeZone>(reading: &DateMention, written: &DateTime<Tz>) -> (DateTime<Utc>, Option<String>) {
    let (at, mut assumed) = resolve_time(reading, written);
    if reading.repeats {
        let again = "The time recurs; only the next occurrence is used.";
        assumed = Some(assumed.map_or_else(|| again.to_owned(), |assumed| format!("{assumed} {again}")));
    }
    (at, assumed)
}

fn resolve_time<Tz: TimeZone>(reading: &DateMention, written: &DateTime<Tz>) -> (DateTime<Utc>, Option<String>) {
    if reading.kind != DatePrecision::Date {
        return (reading.at.to_utc(), reading.assumed.clone());
    }
    let morning = NaiveTime::from_hms_opt(DEFAULT_HOUR, 0, 0).map(|morning| reading.at.date_naive().and_time(morning));
    let zone = written.timezone();
    let morning = morning.and_then(|morning| zone.from_local_datetime(&morning).earliest()).map(|morning| morning.to_utc());
    let at = morning.unwrap_or_else(|| reading.at.to_utc());
    let at = if written.to_utc() < at { at } else { next_hour(written) };
    let shown = at.with_timezone(&zone).naive_local().time().format("%H:%M");
    let said = format!("No time of day is given; {shown} is assumed.");
    (at, Some(reading.assumed.iter().cloned().chain([said]).collect::<Vec<_>>().join(" ")))
}

fn next_hour<Tz: TimeZone>(written: &DateTime<Tz>) -> DateTime<Utc> {
    let shown = written.naive_local();
    let next = shown.date().and_hms_opt(shown.hour(), 0, 0).map(|hour| hour + TimeDelta::hours(1));
    let next = next.and_then(|next| written.timezone().from_local_datetime(&next).earliest()).map(|next| next.to_utc());
    next.filter(|next| written.to_utc() < *next).unwrap_or_else(|| written.to_utc() + TimeDelta::hours(1))
}
