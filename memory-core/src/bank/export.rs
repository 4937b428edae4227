//! Exports a bank as one JSON document, and imports such a document.

use std::collections::HashSet;
use std::fmt::Write;

use chrono::{DateTime, SecondsFormat, Utc};

use super::write::{check, check_names};
use super::{
    Bank, BankChange, BankEntry, BankEntryChange, BankError, BankErrorKind, BankName, BankScope,
    Banks, ScopeChoice,
};
use crate::json::JsonText;
use crate::secret::Checked;
use crate::{MIN_TIME, SecretPolicy, Verb};

/// Returns a bank as one JSON document with the content of its file.
///
/// Expired and damaged entries are included.
///
/// # Errors
/// [`super::BankErrorKind::BankNotFound`], or if the bank cannot be read.
pub fn export(
    banks: &Banks,
    bank: &BankName,
    choice: ScopeChoice,
) -> Result<(BankScope, String), BankError> {
    // No entry has expired at the earliest representable time.
    let (holders, text) = super::query::read_document(banks, bank, choice, MIN_TIME)?;
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
        let ttl = entry
            .ttl
            .map_or_else(|| "null".to_owned(), |seconds| seconds.to_string());
        write!(text, r#"{comma}{key}:{{"value":{value},"created_at":"{created}","updated_at":"{updated}","ttl":{ttl}}}"#)
            .expect("a string takes all that is written to it");
    }
    text.push_str("}}");
    text
}

fn format_time(moment: DateTime<Utc>) -> String {
    moment.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankImportReport {
    /// The scope of the bank.
    pub scope: BankScope,
    /// The number of new keys.
    pub created: usize,
    /// The number of replaced values.
    pub updated: usize,
    /// The number of entries that were already equal.
    pub unchanged: usize,
}

/// Imports the entries of `incoming` into the bank of the same name, all of them in one change.
///
/// If an entry is refused, the bank remains unchanged. Keys that `incoming` does not contain remain unchanged. The schema of `incoming`, if
/// it has one, replaces the schema of the bank.
///
/// # Errors
/// Those of [`super::write()`], with the key of the first refused entry.
pub fn import(
    banks: &Banks,
    incoming: &Bank,
    choice: ScopeChoice,
    secrets: SecretPolicy,
) -> Result<BankImportReport, BankError> {
    let name = &incoming.name;
    check_names(
        banks,
        name,
        incoming.entries.iter().map(|(key, _)| key),
        choice,
        secrets,
    )?;
    let (scope, store) = banks
        .store_to_write(name, choice)
        .map_err(|error| error.with_bank(name.as_str(), None))?;
    let place = |error: BankError| error.with_bank(name.as_str(), Some(scope));
    if let Some((key, why)) = incoming.damaged.first() {
        let error = BankError::new(BankErrorKind::InvalidDocument {
            why: format!("the entry '{key}' {why}"),
        });
        return Err(place(BankError {
            key: Some(key.clone()),
            ..error
        }));
    }
    if let Some(schema) = &incoming.meta.schema {
        let checked = banks.schemas.check_schema(schema);
        checked.map_err(|why| place(BankError::new(BankErrorKind::InvalidSchema { why })))?;
    }
    let operation = banks.operation(Verb::Import);
    let mut report = BankImportReport {
        scope,
        created: 0,
        updated: 0,
        unchanged: 0,
    };
    let mut decide = |seen: Option<&Bank>| {
        let known: std::collections::HashMap<_, _> = seen
            .iter()
            .flat_map(|seen| &seen.entries)
            .map(|(key, entry)| (key, entry))
            .collect();
        report = BankImportReport {
            scope,
            created: 0,
            updated: 0,
            unchanged: 0,
        };
        let mut changes = Vec::new();
        for (key, entry) in &incoming.entries {
            match known.get(key) {
                Some(former) if *former == entry => {
                    report.unchanged += 1;
                    continue;
                }
                Some(_) => report.updated += 1,
                None => report.created += 1,
            }
            let schema = incoming
                .meta
                .schema
                .as_ref()
                .or(seen.and_then(|seen| seen.meta.schema.as_ref()));
            let value = check(banks, schema, key, &entry.value, secrets)
                .map_err(|error| error.with_key(key.as_str()))?;
            changes.push(BankEntryChange::Put(
                key.clone(),
                value.map(|value| BankEntry {
                    value,
                    ..entry.clone()
                }),
            ));
        }
        let new_schema = incoming
            .meta
            .schema
            .as_ref()
            .filter(|schema| seen.and_then(|seen| seen.meta.schema.as_ref()) != Some(*schema));
        match new_schema {
            Some(schema) => {
                check_remaining_entries(banks, seen, incoming, schema)?;
                Ok(BankChange::EntriesAndSchema(
                    changes,
                    Checked::new(schema.clone(), [], secrets)?,
                ))
            }
            None if changes.is_empty() && seen.is_some() => Ok(BankChange::Nothing),
            None => Ok(BankChange::Entries(changes)),
        }
    };
    store.change(name, &operation, &mut decide).map_err(place)?;
    Ok(report)
}

/// Checks that the remaining entries of the bank satisfy the new schema.
fn check_remaining_entries(
    banks: &Banks,
    seen: Option<&Bank>,
    incoming: &Bank,
    schema: &JsonText,
) -> Result<(), BankError> {
    let replaced: HashSet<_> = incoming.entries.iter().map(|(key, _)| key).collect();
    for (key, entry) in seen
        .into_iter()
        .flat_map(|seen| seen.unexpired_entries(banks.clock.now()))
    {
        if !replaced.contains(key) {
            let checked = banks.schemas.check(schema, &entry.value);
            checked.map_err(|why| {
                BankError::new(BankErrorKind::SchemaViolation { why }).with_key(key.as_str())
            })?;
        }
    }
    Ok(())
}
