//! Settings of the recall ledger.

use std::time::Duration;

use memory_core::ParseError;
use serde_json::Value;

use super::banks::{format_size, parse_size};
use super::document::{SettingsDocument, parser_for};
use super::setting::or_default;
use super::settings::{parse_retention, retention_text};
use super::{ConfigError, Setting, SettingsLayer};

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

const RETENTION: Duration = Duration::from_hours(90 * 24);

const MEGABYTE: usize = 1024 * 1024;

impl RecallSettings {
    /// Takes these settings from the document.
    pub(super) fn take(document: &mut SettingsDocument) -> Result<Self, ConfigError> {
        Ok(Self {
            enabled: or_default(
                document.take("recalls.enabled", parser_for("true or false"))?,
                true,
            ),
            retention: or_default(
                document.take("recalls.retention", parse_retention)?,
                Some(RETENTION),
            ),
            max_size: or_default(
                document.take("recalls.max_size", parse_max_size)?,
                64 * MEGABYTE,
            ),
        })
    }

    /// Returns every key with its value and layer, in file order.
    pub(super) fn all(&self) -> [(&'static str, (Value, SettingsLayer)); 3] {
        let Self {
            enabled,
            retention,
            max_size,
        } = self;
        [
            ("recalls.enabled", enabled.display(|yes| (*yes).into())),
            (
                "recalls.retention",
                retention.display(|span| retention_text(*span).into()),
            ),
            (
                "recalls.max_size",
                max_size.display(|bytes| format_size(*bytes).into()),
            ),
        ]
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
