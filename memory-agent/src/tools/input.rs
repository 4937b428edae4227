//! Parses the texts in parameters of tools.

use chrono::{DateTime, Days, NaiveTime, TimeZone, Utc};
use memory_core::datetime::DatePrecision;
use memory_core::{
    Code, LocalZone, MAX_TIME, MIN_TIME, MemoryId, MemoryStoreExt, ParseError, ToolContext,
    ToolError, parse_day, parse_rfc3339,
};

/// Parses the text of `field`, if there is one.
pub(super) fn parse_field<T: std::str::FromStr<Err = ParseError>>(
    field: &str,
    text: Option<&str>,
) -> Result<Option<T>, ToolError> {
    text.map(str::parse)
        .transpose()
        .map_err(|error| invalid(format!("{field}: {error}")))
}

/// Returns the memories that `references` name.
pub(super) fn find_all(
    context: &ToolContext,
    references: &[String],
) -> Result<Vec<MemoryId>, ToolError> {
    let found = references.iter().map(|reference| {
        context
            .services
            .store
            .find(reference.trim_matches(['[', ']']))
    });
    Ok(found.collect::<Result<_, _>>()?)
}

/// Returns the error for invalid input.
pub(super) fn invalid(message: String) -> ToolError {
    ToolError::new(Code::InvalidInput, message, None)
}

/// Returns the current time in the time zone of the user, whose offset depends on the season.
pub(super) fn local_now(context: &ToolContext) -> DateTime<LocalZone> {
    context.now.with_timezone(&context.zone)
}

/// Parses the time at which a memory expires: the end of a day, a time, or words such as "next Friday".
///
/// # Errors
/// If it is none of these, or in the past.
pub(super) fn parse_expiry(context: &ToolContext, text: &str) -> Result<DateTime<Utc>, ToolError> {
    let end = parse_end("expires", text, &context.zone).or_else(|error| {
        let due = memory_core::due(text, &local_now(context)).map_err(|_| error)?;
        // A day without a time of day is the last one.
        let day = due
            .at
            .with_timezone(&context.zone)
            .date_naive()
            .format("%Y-%m-%d")
            .to_string();
        let is_day = due
            .reading
            .is_some_and(|reading| reading.kind == DatePrecision::Date);
        if is_day {
            parse_end("expires", &day, &context.zone)
        } else {
            Ok(due.at)
        }
    })?;
    if end <= context.now {
        return Err(invalid("expires: the time is in the past".into()));
    }
    Ok(end)
}

/// Parses the start and the end of a period: a day, a time, or words such as "last Monday".
pub(super) fn parse_period(
    context: &ToolContext,
    field: &str,
    text: &str,
) -> Result<(DateTime<Utc>, DateTime<Utc>), ToolError> {
    memory_core::query_parser::parse_period(text, &local_now(context))
        .ok_or_else(|| invalid(format!("{field}: {text:?} is not a time")).with_hint(PERIOD_HINT))
}

const PERIOD_HINT: &str = "use YYYY-MM-DD or words such as \"last Monday\"";

/// Parses the end of a day, which is the start of the next one, or a time (RFC 3339).
fn parse_end(field: &str, text: &str, zone: &LocalZone) -> Result<DateTime<Utc>, ToolError> {
    if let Some(moment) = parse_rfc3339(text.trim()) {
        return Ok(moment);
    }
    let wrong = || {
        invalid(format!(
            "{field}: {text:?} is neither a day (YYYY-MM-DD) nor a time (RFC 3339)"
        ))
    };
    let day = parse_day(text.trim()).ok_or_else(wrong)?;
    let day = day.checked_add_days(Days::new(1)).ok_or_else(wrong)?;
    let start = zone
        .from_local_datetime(&day.and_time(NaiveTime::MIN))
        .earliest();
    start
        .map(|start| start.to_utc().clamp(MIN_TIME, MAX_TIME))
        .ok_or_else(wrong)
}
