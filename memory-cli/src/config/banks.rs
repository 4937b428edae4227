//! Settings of banks and filters.

use std::time::Duration;

use memory_core::ParseError;

use super::document::SettingsDocument;
use super::setting::show_span;
use super::{ConfigError, Setting};
use crate::datetime;

const MEGABYTE: usize = 1024 * 1024;

/// Settings of banks and filters.
#[derive(Debug, Clone)]
pub(crate) struct BankSettings {
    /// Size in bytes above which a bank is compressed; `None` disables compression.
    pub compress_above: Setting<Option<usize>>,
    /// Timeout of a filter.
    pub filter_timeout: Setting<Duration>,
    /// Memory limit of a filter, in megabytes.
    pub filter_memory: Setting<usize>,
    /// Memory limit of all filters that run at the same time, in megabytes.
    pub filter_total_memory: Setting<usize>,
}

impl BankSettings {
    /// Takes these settings from the document.
    pub(super) fn take(document: &mut SettingsDocument) -> Result<Self, ConfigError> {
        let megabytes = |megabytes: &usize| format!("{megabytes}MB").into();
        Ok(Self {
            compress_above: document.read(
                "banks.compress_above",
                parse_size_or_never,
                Some(MEGABYTE),
                |bytes| bytes.map_or_else(|| "never".to_owned(), format_size).into(),
            )?,
            filter_timeout: document.read(
                "banks.filter_timeout",
                datetime::parse_timeout,
                Duration::from_secs(5),
                show_span,
            )?,
            filter_memory: document.read("banks.filter_memory", parse_megabytes, 512, megabytes)?,
            filter_total_memory: document.read(
                "banks.filter_total_memory",
                parse_megabytes,
                2048,
                megabytes,
            )?,
        })
    }
}

fn parse_size_or_never(text: &str) -> Result<Option<usize>, ParseError> {
    if text.trim() == "never" {
        Ok(None)
    } else {
        parse_size(text).map(Some)
    }
}

/// Parses a size such as `64KB` or `1MB` to bytes.
pub(super) fn parse_size(text: &str) -> Result<usize, ParseError> {
    let wrong = || ParseError::new(text, "a size such as 64KB or 1MB");
    let trimmed = text.trim();
    let digits = trimmed
        .trim_end_matches(|character: char| character.is_ascii_alphabetic() || character == ' ');
    let unit = match trimmed[digits.len()..].trim() {
        "" | "B" => 1,
        "KB" | "KiB" | "K" => 1024,
        "MB" | "MiB" | "M" => MEGABYTE,
        _ => return Err(wrong()),
    };
    digits
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_mul(unit))
        .ok_or_else(wrong)
}

/// Formats a size in bytes with the largest unit that needs no fraction.
pub(super) fn format_size(bytes: usize) -> String {
    match bytes {
        _ if bytes.is_multiple_of(MEGABYTE) => format!("{}MB", bytes / MEGABYTE),
        _ if bytes.is_multiple_of(1024) => format!("{}KB", bytes / 1024),
        _ => format!("{bytes}B"),
    }
}

fn parse_megabytes(text: &str) -> Result<usize, ParseError> {
    let most = parse_size(text)? / MEGABYTE;
    if most < 16 {
        Err(ParseError::new(text, "at least 16MB"))
    } else {
        Ok(most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_they_are_shown() {
        for (text, bytes) in [
            ("0", 0),
            ("17B", 17),
            ("64KB", 65_536),
            ("3 MB", 3 * MEGABYTE),
            ("1MiB", MEGABYTE),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
            assert_eq!(parse_size(&format_size(bytes)), Ok(bytes), "{text}");
        }
        for wrong in ["", "MB", "-1", "1.5MB", "1GB", "99999999999999999999"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
        assert!(parse_megabytes("1MB").is_err() && parse_megabytes("256MB") == Ok(256));
    }
}
