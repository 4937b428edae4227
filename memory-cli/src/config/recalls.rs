//! Settings of the recall ledger.

use std::time::Duration;

use memory_core::ParseError;
use serde_json::Value;

use super::banks::{format_size, parse_size};
use super::document::{SettingsDocument, parse_bool};
use super::setting::{show, show_span};
use super::{ConfigError, Setting};
use crate::datetime;

/// Settings of the recall ledger.
#[derive(Debug, Clone)]
pub(crate) struct RecallSettings {
    /// Whether recalls are recorded.
    pub enabled: Setting<bool>,
    /// Retention time of the records; `None` means unlimited.
    pub retention: Setting<Option<Duration>>,
    /// Maximum size of all records, in bytes.
    pub max_size: Setting<usize>,
}

/// The default retention time of records and of the trash.
pub(super) const RETENTION: Duration = Duration::from_hours(90 * 24);

const MEGABYTE: usize = 1024 * 1024;

impl RecallSettings {
    /// Takes these settings from the document.
    pub(super) fn take(document: &mut SettingsDocument) -> Result<Self, ConfigError> {
        Ok(Self {
            enabled: document.read("recalls.enabled", parse_bool, true, show)?,
            retention: document.read(
                "recalls.retention",
                parse_retention,
                Some(RETENTION),
                show_retention,
            )?,
            max_size: document.read(
                "recalls.max_size",
                parse_max_size,
                64 * MEGABYTE,
                |bytes| format_size(*bytes).into(),
            )?,
        })
    }
}

/// Parses a retention time: a duration, or `never`.
pub(super) fn parse_retention(text: &str) -> Result<Option<Duration>, ParseError> {
    if text.trim() == "never" {
        return Ok(None);
    }
    datetime::parse_duration(text)
        .map(Some)
        .map_err(|_| ParseError::new(text, "a duration such as 90d, or never"))
}

/// Shows a retention time, in days if that is exact.
#[expect(
    clippy::ref_option,
    reason = "the functions that show settings take their values by reference"
)]
pub(super) fn show_retention(span: &Option<Duration>) -> Value {
    const DAY: u64 = 24 * 3600;
    match span {
        None => "never".into(),
        Some(span) if span.as_secs() != 0 && span.as_secs() % DAY == 0 => {
            format!("{}d", span.as_secs() / DAY).into()
        }
        Some(span) => show_span(span),
    }
}

fn parse_max_size(text: &str) -> Result<usize, ParseError> {
    let size = parse_size(text)?;
    if size < MEGABYTE {
        Err(ParseError::new(text, "at least 1MB"))
    } else {
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maximum_size_has_a_minimum() {
        assert_eq!(parse_max_size("64MB").unwrap(), 64 * MEGABYTE);
        assert_eq!(
            parse_max_size("1023KB").unwrap_err().to_string(),
            "\"1023KB\" is not at least 1MB"
        );
        assert!(parse_max_size("never").is_err());
    }
}
