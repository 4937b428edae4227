//! Deletes entries and whole banks.

use super::{Bank, BankChange, BankEntryChange, BankError, BankLookup, BankName, BankScope, Banks, Key, ScopeChoice};
use crate::Verb;

/// Deletes the entry under `key`.
///
/// The first folder that contains the key is used: those of the project first, then those of the user. Undo restores the entry.
///
/// # Errors
/// [`super::BankErrorKind::BankNotFound`], [`super::BankErrorKind::KeyNotFound`], or a disk error.
pub fn delete(banks: &Banks, bank: &BankName, key: &Key, choice: ScopeChoice) -> Result<BankScope, BankError> {
    let mut refusal = None;
    for (scope, store) in banks.stores(choice) {
        let told = |error: BankError| error.with_bank(bank.as_str(), Some(scope)).with_key(key);
        match store.entry(bank, key).map_err(told)? {
            BankLookup::NoBank => {}
            BankLookup::NoKey => {
                refusal.get_or_insert_with(|| BankError::key_not_found(bank, key, scope));
            }
            BankLookup::Entry(_) => {
                let mut decide = |seen: Option<&Bank>| match seen.and_then(|seen| seen.entry(key)) {
                    Some(_) => Ok(BankChange::Entries(vec![BankEntryChange::Remove(key.clone())])),
                    None => Err(BankError::key_not_found(bank, key, scope)),
                };
                store.change(bank, &banks.operation(Verb::Delete), &mut decide).map_err(told)?;
                return Ok(scope);
            }
        }
    }
    Err(refusal.unwrap_or_else(|| BankError::bank_not_found(bank, Some(banks.effective_scope(choice))).with_key(key)))
}

/// Deletes a whole bank.
///
/// The first folder that contains the bank is used: those of the project first, then those of the user. The bank file moves to the trash
/// unchanged, and undo restores it.
///
/// # Errors
/// [`super::BankErrorKind::BankNotFound`], or a disk error.
pub fn delete_bank(banks: &Banks, bank: &BankName, choice: ScopeChoice) -> Result<BankScope, BankError> {
    for (scope, store) in banks.stores(choice) {
        let told = |error: BankError| error.with_bank(bank.as_str(), Some(scope));
        if store.banks().map_err(told)?.iter().all(|summary| summary.name != *bank) {
            continue;
        }
        let operation = banks.operation(Verb::Delete);
        store.change(bank, &operation, &mut |_| Ok(BankChange::Remove)).map_err(told)?;
        return Ok(scope);
    }
    Err(BankError::bank_not_found(bank, Some(banks.effective_scope(choice))))
}
