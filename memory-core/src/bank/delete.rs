//! Deletes entries and whole banks, and old entries by the rules of a bank.

use chrono::{DateTime, TimeDelta, Utc};

use super::{
    Bank, BankChange, BankEntry, BankEntryChange, BankError, BankLookup, BankName, BankScope,
    Banks, Key, ScopeChoice,
};
use crate::{Operation, Verb};

/// Deletes the entry under `key`.
///
/// The first folder that contains the key is used: those of the project first, then those of the user. Undo restores the entry.
///
/// # Errors
/// [`super::BankErrorKind::BankNotFound`], [`super::BankErrorKind::KeyNotFound`], or a disk error.
pub fn delete(
    banks: &Banks,
    bank: &BankName,
    key: &Key,
    choice: ScopeChoice,
) -> Result<BankScope, BankError> {
    let mut refusal = None;
    for (scope, store) in banks.stores(choice) {
        let told = |error: BankError| {
            error
                .with_bank(bank.as_str(), Some(scope))
                .with_key(key.as_str())
        };
        match store.entry(bank, key).map_err(told)? {
            BankLookup::NoBank => {}
            BankLookup::NoKey => {
                refusal.get_or_insert_with(|| {
                    BankError::key_not_found(bank.as_str(), key.as_str(), scope)
                });
            }
            BankLookup::Entry(_) => {
                let mut decide = |seen: Option<&Bank>| match seen.and_then(|seen| seen.entry(key)) {
                    Some(_) => Ok(BankChange::Entries(vec![BankEntryChange::Remove(
                        key.clone(),
                    )])),
                    None => Err(BankError::key_not_found(bank.as_str(), key.as_str(), scope)),
                };
                store
                    .change(bank, &banks.operation(Verb::Delete), &mut decide)
                    .map_err(told)?;
                return Ok(scope);
            }
        }
    }
    Err(refusal.unwrap_or_else(|| {
        BankError::bank_not_found(bank.as_str(), Some(banks.effective_scope(choice)))
            .with_key(key.as_str())
    }))
}

/// Deletes a whole bank.
///
/// The first folder that contains the bank is used: those of the project first, then those of the user. The bank file moves to the trash
/// unchanged, and undo restores it.
///
/// # Errors
/// [`super::BankErrorKind::BankNotFound`], or a disk error.
pub fn delete_bank(
    banks: &Banks,
    bank: &BankName,
    choice: ScopeChoice,
) -> Result<BankScope, BankError> {
    for (scope, store) in banks.stores(choice) {
        let told = |error: BankError| error.with_bank(bank.as_str(), Some(scope));
        if store
            .banks()
            .map_err(told)?
            .iter()
            .all(|summary| summary.name != *bank)
        {
            continue;
        }
        let operation = banks.operation(Verb::Delete);
        store
            .change(bank, &operation, &mut |_| Ok(BankChange::Remove))
            .map_err(told)?;
        return Ok(scope);
    }
    Err(BankError::bank_not_found(
        bank.as_str(),
        Some(banks.effective_scope(choice)),
    ))
}

/// An entry that garbage collection deletes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GcEntry {
    /// The bank.
    pub bank: BankName,
    /// The scope of the bank.
    pub scope: BankScope,
    /// The key.
    pub key: Key,
    /// The reason for the deletion.
    pub why: GcReason,
}

/// The reason why an entry is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GcReason {
    /// The time to live has passed.
    Expired,
    /// The last write is older than the requested age.
    Old,
}

/// Deletes the entries that have expired, and those last written longer ago than `older_than`.
///
/// With `dry_run` it only returns those entries. Undo restores them. Banks and entries that cannot be read are returned as errors in the
/// second list and remain unchanged.
///
/// # Errors
/// If a folder cannot be read or a bank cannot be written.
pub fn gc(
    banks: &Banks,
    choice: ScopeChoice,
    older_than: Option<TimeDelta>,
    dry_run: bool,
) -> Result<(Vec<GcEntry>, Vec<BankError>), BankError> {
    let operation = banks.operation(Verb::Gc);
    let horizon = older_than.and_then(|age| operation.at.checked_sub_signed(age));
    let (mut collected, mut unreadable) = (Vec::new(), Vec::new());
    for (scope, store) in banks.stores(choice) {
        for summary in store.banks().map_err(|error| error.with_scope(scope))? {
            let name = summary.name;
            let told = |error: BankError| error.with_bank(name.as_str(), Some(scope));
            let seen = match store.bank(&name) {
                Ok(Some(bank)) => bank,
                Ok(None) => continue,
                Err(error) => {
                    unreadable.push(told(error));
                    continue;
                }
            };
            unreadable.extend(
                seen.damaged
                    .iter()
                    .map(|(key, why)| BankError::damaged_entry(name.as_str(), scope, key, why)),
            );
            let mut going = plan_gc(&seen, operation.at, horizon);
            if !going.is_empty() && !dry_run {
                let mut decide = |seen: Option<&Bank>| {
                    going = seen.map_or_else(Vec::new, |seen| plan_gc(seen, operation.at, horizon));
                    let changes: Vec<_> = going
                        .iter()
                        .map(|(key, _)| BankEntryChange::Remove(key.clone()))
                        .collect();
                    // Another process has already deleted the entries, or the whole bank.
                    Ok(if changes.is_empty() {
                        BankChange::Nothing
                    } else {
                        BankChange::Entries(changes)
                    })
                };
                let operation = Operation {
                    id: banks.ids.operation_id(),
                    ..operation.clone()
                };
                store.change(&name, &operation, &mut decide).map_err(told)?;
            }
            collected.extend(going.into_iter().map(|(key, why)| GcEntry {
                bank: name.clone(),
                scope,
                key,
                why,
            }));
        }
    }
    Ok((collected, unreadable))
}

/// Returns the entries to delete, each with the reason.
fn plan_gc(
    bank: &Bank,
    now: DateTime<Utc>,
    horizon: Option<DateTime<Utc>>,
) -> Vec<(Key, GcReason)> {
    let fate = |entry: &BankEntry| {
        let is_old = horizon.is_some_and(|horizon| entry.updated_at < horizon);
        if entry.is_expired(now) {
            Some(GcReason::Expired)
        } else {
            is_old.then_some(GcReason::Old)
        }
    };
    bank.entries
        .iter()
        .filter_map(|(key, entry)| Some((key.clone(), fate(entry)?)))
        .collect()
}
