//! Imports entries from an exported bank.

use std::collections::HashSet;

use super::write::{check, check_names};
use super::{Bank, BankChange, BankEntry, BankEntryChange, BankError, BankErrorKind, BankScope, Banks, ScopeChoice};
use crate::json::JsonText;
use crate::{SecretPolicy, Verb};

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
pub fn import(banks: &Banks, incoming: &Bank, choice: ScopeChoice, secrets: SecretPolicy) -> Result<BankImportReport, BankError> {
    let name = &incoming.name;
    check_names(banks, name, incoming.entries.iter().map(|(key, _)| key), choice, secrets)?;
    let (scope, store) = banks.store_to_write(name, choice).map_err(|error| error.with_bank(name.as_str(), None))?;
    let place = |error: BankError| error.with_bank(name.as_str(), Some(scope));
    if let Some((key, why)) = incoming.damaged.first() {
        let error = BankError::new(BankErrorKind::InvalidDocument { why: format!("the entry '{key}' {why}") });
        return Err(place(BankError { key: Some(key.clone()), ..error }));
    }
    if let Some(schema) = &incoming.meta.schema {
        let checked = banks.schemas.check_schema(schema);
        checked.map_err(|why| place(BankError::new(BankErrorKind::InvalidSchema { why })))?;
    }
    let operation = banks.operation(Verb::Import);
    let mut report = BankImportReport { scope, created: 0, updated: 0, unchanged: 0 };
    let mut decide = |seen: Option<&Bank>| {
        let known: std::collections::HashMap<_, _> =
            seen.iter().flat_map(|seen| &seen.entries).map(|(key, entry)| (key, entry)).collect();
        report = BankImportReport { scope, created: 0, updated: 0, unchanged: 0 };
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
            let schema = incoming.meta.schema.as_ref().or(seen.and_then(|seen| seen.meta.schema.as_ref()));
            let value = check(banks, schema, &entry.value, secrets).map_err(|error| error.with_key(key))?;
            changes.push(BankEntryChange::Put(key.clone(), value.map(|value| BankEntry { value, ..entry.clone() })));
        }
        let new_schema =
            incoming.meta.schema.as_ref().filter(|schema| seen.and_then(|seen| seen.meta.schema.as_ref()) != Some(*schema));
        match new_schema {
            Some(schema) => {
                check_remaining_entries(banks, seen, incoming, schema)?;
                Ok(BankChange::EntriesAndSchema(changes, schema.clone()))
            }
            None if changes.is_empty() && seen.is_some() => Ok(BankChange::Nothing),
            None => Ok(BankChange::Entries(changes)),
        }
    };
    store.change(name, &operation, &mut decide).map_err(place)?;
    Ok(report)
}

/// Checks that the remaining entries of the bank satisfy the new schema.
fn check_remaining_entries(banks: &Banks, seen: Option<&Bank>, incoming: &Bank, schema: &JsonText) -> Result<(), BankError> {
    let replaced: HashSet<_> = incoming.entries.iter().map(|(key, _)| key).collect();
    for (key, entry) in seen.into_iter().flat_map(|seen| seen.unexpired_entries(banks.clock.now())) {
        if !replaced.contains(key) {
            let checked = banks.schemas.check(schema, &entry.value);
            checked.map_err(|why| BankError::new(BankErrorKind::SchemaViolation { why }).with_key(key))?;
        }
    }
    Ok(())
}
