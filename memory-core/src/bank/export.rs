//! Exports a bank as one JSON document.

use std::fmt::Write;

use chrono::{DateTime, SecondsFormat, Utc};

use super::{Bank, BankError, BankName, BankScope, Banks, ScopeChoice};
use crate::json::JsonText;

/// Returns a bank as one JSON document with the content of its file.
///
/// Expired and damaged entries are included.
///
/// # Errors
/// [`super::BankErrorKind::BankNotFound`], or if the bank cannot be read.
pub fn export(banks: &Banks, bank: &BankName, choice: ScopeChoice) -> Result<(BankScope, String), BankError> {
    // No entry has expired at the earliest representable time.
    let (holders, text) = super::query::read_document(banks, bank, choice, DateTime::<Utc>::MIN_UTC)?;
    Ok((holders.scope, text))
}

/// Returns a bank as a JSON document.
///
/// The form is `{_meta, entries: {KEY: {value, created_at, updated_at, ttl}}}`.
pub fn render_document(bank: &Bank) -> String {
    let meta = &bank.meta;
    let mut text = format!(
        r#"{{"_meta":{{"version":{},"created_at":"{}","updated_at":"{}","schema":{}}},"entries":{{"#,
        meta.version,
        format_time(meta.created_at),
        format_time(meta.updated_at),
        meta.schema.as_ref().map_or("null", JsonText::as_str),
    );
    for (index, (key, entry)) in bank.entries.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        let (key, value) = (JsonText::string(key.as_str()), &entry.value);
        let (created, updated) = (format_time(entry.created_at), format_time(entry.updated_at));
        let ttl = entry.ttl.map_or_else(|| "null".to_owned(), |seconds| seconds.to_string());
        write!(text, r#"{comma}{key}:{{"value":{value},"created_at":"{created}","updated_at":"{updated}","ttl":{ttl}}}"#)
            .expect("a string takes all that is written to it");
    }
    text.push_str("}}");
    text
}

fn format_time(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}
