//! What tools are given.

use chrono::{DateTime, Days, FixedOffset, NaiveDate, NaiveTime, TimeZone, Utc};
use memory_core::{Code, ParseError, ToolError};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads parameters that fit the schema.
///
/// # Errors
/// Where the schema says less than the type does.
pub(super) fn read<T: DeserializeOwned>(parameters: &Value) -> Result<T, ToolError> {
    T::deserialize(parameters).map_err(|error| invalid(error.to_string()))
}

/// Reads the text in `field`, if there is one.
pub(super) fn parsed<T: std::str::FromStr<Err = ParseError>>(field: &str, text: Option<&str>) -> Result<Option<T>, ToolError> {
    text.map(str::parse).transpose().map_err(|error| invalid(format!("{field}: {error}")))
}

/// Says that what was given cannot be meant so.
pub(super) fn invalid(message: String) -> ToolError {
    ToolError::new(Code::InvalidInput, message, None)
}

/// Reads the first moment of what `field` names: a day (YYYY-MM-DD), or a moment (RFC 3339).
pub(super) fn first_moment(field: &str, text: &str, zone: FixedOffset) -> Result<DateTime<Utc>, ToolError> {
    moment(field, text, zone, 0)
}

/// Reads the first moment after what `field` names.
pub(super) fn moment_after(field: &str, text: &str, zone: FixedOffset) -> Result<DateTime<Utc>, ToolError> {
    moment(field, text, zone, 1)
}

fn moment(field: &str, text: &str, zone: FixedOffset, later: u64) -> Result<DateTime<Utc>, ToolError> {
    if let Ok(moment) = DateTime::parse_from_rfc3339(text.trim()) {
        return Ok(moment.to_utc());
    }
    let wrong = || invalid(format!("{field}: {text:?} is neither a day (YYYY-MM-DD) nor a moment (RFC 3339)"));
    let day = NaiveDate::parse_from_str(text.trim(), "%Y-%m-%d").map_err(|_| wrong())?;
    let day = day.checked_add_days(Days::new(later)).ok_or_else(wrong)?;
    let start = zone.from_local_datetime(&day.and_time(NaiveTime::MIN)).earliest();
    start.map(|start| start.to_utc()).ok_or_else(wrong)
}
