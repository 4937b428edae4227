//! Reading what is under a key.

use super::services::named;
use super::{Bank, BankError, BankName, BankScope, Banks, Entry, Found, Key, ScopeChoice, Trouble};

/// What was read, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Whose bank.
    pub scope: BankScope,
    /// The entry.
    pub entry: Entry,
}

/// Returns the entry under `key`: the project's, or else the user's.
///
/// # Errors
/// [`Trouble::BankNotFound`], [`Trouble::KeyNotFound`], [`Trouble::Expired`]; or when the bank cannot be read.
pub fn read(banks: &Banks, bank: &BankName, key: &Key, choice: ScopeChoice) -> Result<Reading, BankError> {
    let now = banks.clock.now();
    let mut refusal: Option<BankError> = None;
    for (scope, store) in banks.places(choice) {
        let found = store.entry(bank, key).map_err(|error| error.about(bank.as_str(), Some(scope)).of_key(key))?;
        let trouble = match found {
            Found::Entry(entry) if !entry.is_expired(now) => return Ok(Reading { scope, entry: *entry }),
            Found::Entry(_) => Trouble::Expired,
            Found::NoKey => Trouble::KeyNotFound,
            Found::NoBank => continue,
        };
        // That it has expired says more than that the other scope does not have it.
        if refusal.as_ref().is_none_or(|known| matches!(known.trouble, Trouble::KeyNotFound)) {
            refusal = Some(BankError::new(trouble).about(bank.as_str(), Some(scope)).of_key(key));
        }
    }
    Err(refusal.unwrap_or_else(|| BankError::no_bank(bank, named(choice)).of_key(key)))
}

/// Returns a whole bank, without what has expired: the project's, or else the user's.
///
/// # Errors
/// [`Trouble::BankNotFound`]; or when it cannot be read.
pub fn read_bank(banks: &Banks, bank: &BankName, choice: ScopeChoice) -> Result<(BankScope, Bank), BankError> {
    let now = banks.clock.now();
    let (scope, _, mut found) = banks.place_of(bank, choice)?;
    found.entries.retain(|(_, entry)| !entry.is_expired(now));
    Ok((scope, found))
}
