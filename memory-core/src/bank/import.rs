//! Taking entries in from an export.

use std::collections::HashSet;

use super::write::check;
use super::{Bank, BankChange, BankError, BankScope, BankVerb, Banks, Changed, EntryChange, ScopeChoice, Trouble};
use crate::Secrets;

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportReport {
    /// Whose bank.
    pub scope: BankScope,
    /// How many keys are new.
    pub created: usize,
    /// How many values were replaced.
    pub updated: usize,
    /// How many were there already as they are.
    pub unchanged: usize,
}

/// Takes the entries of `incoming` into the bank of its name, all or none. Keys that it does not have stay as they are; a schema that
/// it has takes the place of the bank's own.
///
/// # Errors
/// As [`super::write()`]; the first entry that is refused is named.
pub fn import(banks: &Banks, incoming: &Bank, choice: ScopeChoice, secrets: Secrets) -> Result<ImportReport, BankError> {
    let name = &incoming.name;
    let (scope, store) = banks.place_to_write(choice).map_err(|error| error.about(name.as_str(), None))?;
    let place = |error: BankError| error.about(name.as_str(), Some(scope));
    if let Some((key, why)) = incoming.damaged.first() {
        let error = BankError::new(Trouble::Damaged { what: format!("The entry '{key}' {why}") });
        return Err(place(BankError { key: Some(key.clone()), ..error }));
    }
    if let Some(schema) = &incoming.meta.schema {
        super::set_schema(banks, name, Some(schema), ScopeChoice::Only(scope), super::schema::Absent::Make)?;
    }
    let operation = banks.operation(BankVerb::Import);
    let mut report = ImportReport { scope, created: 0, updated: 0, unchanged: 0 };
    let mut decide = |seen: Option<&Bank>| {
        let known: std::collections::HashMap<_, _> =
            seen.iter().flat_map(|seen| &seen.entries).map(|(key, entry)| (key, entry)).collect();
        report = ImportReport { scope, created: 0, updated: 0, unchanged: 0 };
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
            check(banks, seen, &entry.value, secrets).map_err(|error| error.of_key(key))?;
            changes.push(EntryChange::Put(key.clone(), entry.clone()));
        }
        Ok(if changes.is_empty() && seen.is_some() { BankChange::Nothing } else { BankChange::Entries(changes) })
    };
    let _: Changed = store.change(name, &operation, &mut decide).map_err(place)?;
    debug_assert_eq!(incoming.entries.iter().map(|(key, _)| key).collect::<HashSet<_>>().len(), incoming.entries.len());
    Ok(report)
}
