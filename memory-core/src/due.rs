//! The time at which a reminder is due, parsed from text.

use chrono::{DateTime, Days, NaiveTime, TimeDelta, TimeZone, Timelike, Utc};

use crate::StoreError;
use crate::datetime::{DateMention, DatePrecision, TimeRelation, find_date};

/// The time at which a reminder is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueTime {
    /// The time.
    pub at: DateTime<Utc>,
    /// The words that name the time, with their interpretation.
    pub reading: DateMention,
    /// The assumptions that were made where the text is ambiguous, as sentences.
    pub assumed: Option<String>,
}

/// The hour at which reminders for a day without a time of day are due.
const MORNING_HOUR: u32 = 9;

/// Returns the time at which a text wants a reminder, relative to `now` and in its time zone.
///
/// A day without a time of day means 9:00, or the next full hour if that is past today.
///
/// ```
/// use chrono::DateTime;
/// use memory_core::due;
///
/// let now = DateTime::parse_from_rfc3339("2025-06-11T10:20:00+02:00").unwrap();
/// let at = |text: &str| due(text, &now).map(|due| due.at.with_timezone(&now.timezone()).to_rfc3339()).ok();
/// assert_eq!(at("call Anna tomorrow at 3pm").as_deref(), Some("2025-06-12T15:00:00+02:00"));
/// assert_eq!(at("pay rent on Friday").as_deref(), Some("2025-06-13T09:00:00+02:00"));
/// assert_eq!(at("water the plants today").as_deref(), Some("2025-06-11T11:00:00+02:00"));
/// assert_eq!(at("Anna called yesterday"), None);
/// ```
///
/// # Errors
/// [`StoreError::NoTime`] if the text names no time, [`StoreError::Over`] if the time that it names is past.
pub fn due<Tz: TimeZone>(text: &str, now: &DateTime<Tz>) -> Result<DueTime, StoreError> {
    let reading = find_date(text, now).ok_or(StoreError::NoTime)?;
    if reading.relation == TimeRelation::Past {
        return Err(StoreError::Over { at: reading.at });
    }
    let mut assumed: Vec<String> = reading.assumed.iter().cloned().collect();
    let at = match reading.kind {
        DatePrecision::Time | DatePrecision::DateTime => reading.at.to_utc(),
        DatePrecision::Date => {
            let at = default_time(&reading, now).unwrap_or_else(|| reading.at.to_utc());
            let shown = at.with_timezone(&now.timezone()).time();
            assumed.push(format!("No time of day is given; {} is assumed.", shown.format("%H:%M")));
            at
        }
    };
    if reading.repeats {
        assumed.push("The time recurs; only the next occurrence is used.".into());
    }
    Ok(DueTime { at, reading, assumed: (!assumed.is_empty()).then(|| assumed.join(" ")) })
}

/// Returns the due time that `text` states: a time in RFC 3339 or words, with the assumption that was made to resolve the words.
///
/// Unlike [`due()`], the whole text is the time.
///
/// ```
/// use chrono::DateTime;
/// use memory_core::{Code, parse_due_time};
///
/// let now = DateTime::parse_from_rfc3339("2025-06-11T10:20:00Z").unwrap();
/// let at = |text: &str| parse_due_time(text, &now).map(|(at, _)| at.to_rfc3339());
/// assert_eq!(at("2025-06-12T15:00:00+02:00").unwrap(), "2025-06-12T13:00:00+00:00");
/// assert_eq!(at("tomorrow at 3pm").unwrap(), "2025-06-12T15:00:00+00:00");
/// assert_eq!(at("soonish").unwrap_err().code(), Code::InvalidInput);
/// ```
///
/// # Errors
/// [`StoreError::Invalid`] if the text is not a time, [`StoreError::Over`] if words state a time in the past.
pub fn parse_due_time<Tz: TimeZone>(text: &str, now: &DateTime<Tz>) -> Result<(DateTime<Utc>, Option<String>), StoreError> {
    if let Ok(at) = DateTime::parse_from_rfc3339(text.trim()) {
        return Ok((at.to_utc(), None));
    }
    match due(text, now) {
        Ok(due) => Ok((due.at, due.assumed)),
        Err(StoreError::NoTime) => {
            let why = format!("{text:?} is not a time; use words such as \"tomorrow at 3pm\" or a time in RFC 3339");
            Err(StoreError::Invalid { why })
        }
        Err(error) => Err(error),
    }
}

fn default_time<Tz: TimeZone>(day: &DateMention, now: &DateTime<Tz>) -> Option<DateTime<Utc>> {
    let morning = day.at.date_naive().and_time(NaiveTime::from_hms_opt(MORNING_HOUR, 0, 0)?);
    let morning = now.timezone().from_local_datetime(&morning).earliest()?.to_utc();
    if now.to_utc() < morning { Some(morning) } else { next_hour(now) }
}

fn next_hour<Tz: TimeZone>(now: &DateTime<Tz>) -> Option<DateTime<Utc>> {
    let shown = now.naive_local();
    let next = match shown.hour() {
        23 => shown.date().checked_add_days(Days::new(1))?.and_time(NaiveTime::MIN),
        hour => shown.date().and_hms_opt(hour + 1, 0, 0)?,
    };
    now.timezone().from_local_datetime(&next).earliest().map(|next| next.to_utc()).or(Some(now.to_utc() + TimeDelta::hours(1)))
}
