//! What banks there are, and what keys they have.

use chrono::{DateTime, Utc};

use super::{BankError, BankName, BankScope, Banks, Entry, Key, ScopeChoice};

/// One bank in a list.
#[derive(Debug)]
pub struct Listing {
    /// Its name.
    pub name: BankName,
    /// Whose it is.
    pub scope: BankScope,
    /// The size of its file in bytes, as it lies on the disk.
    pub size_bytes: u64,
    /// How many keys it has and when it was last changed; or why that cannot be told.
    pub state: Result<(usize, DateTime<Utc>), BankError>,
}

/// Returns the banks, those of the project first, by name.
///
/// # Errors
/// When a folder cannot be read. A bank that cannot be read is in the list and says so.
pub fn list(banks: &Banks, choice: ScopeChoice) -> Result<Vec<Listing>, BankError> {
    let now = banks.clock.now();
    let mut listings = Vec::new();
    for (scope, store) in banks.places(choice) {
        for summary in store.banks().map_err(|error| BankError { scope: Some(scope), ..error })? {
            let state = match store.bank(&summary.name) {
                Ok(Some(bank)) => Ok((bank.living(now).count(), bank.meta.updated_at)),
                // It was deleted in the meantime.
                Ok(None) => continue,
                Err(error) => Err(error.about(summary.name.as_str(), Some(scope))),
            };
            listings.push(Listing { name: summary.name, scope, size_bytes: summary.size_bytes, state });
        }
    }
    Ok(listings)
}

/// The keys of a bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyListing {
    /// Whose bank it is.
    pub scope: BankScope,
    /// Its keys with their entries, in the order of the file.
    pub entries: Vec<(Key, Entry)>,
    /// The keys of entries that cannot be read, with what is wrong with each.
    pub damaged: Vec<(String, String)>,
}

/// Returns the keys of a bank: the project's, or else the user's.
///
/// # Errors
/// [`super::Trouble::BankNotFound`]; or when it cannot be read.
pub fn keys(banks: &Banks, bank: &BankName, choice: ScopeChoice) -> Result<KeyListing, BankError> {
    let (scope, found) = super::read_bank(banks, bank, choice)?;
    Ok(KeyListing { scope, entries: found.entries, damaged: found.damaged })
}
