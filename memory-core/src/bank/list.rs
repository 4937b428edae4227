//! What banks there are, and what keys they have.

use chrono::{DateTime, Utc};

use super::{BankError, BankName, BankScope, Banks, Entry, Holders, Key, ScopeChoice};

/// One bank in a list.
#[derive(Debug)]
pub struct Listing {
    /// Its name.
    pub name: BankName,
    /// Whose it is.
    pub scope: BankScope,
    /// The size of its file in bytes, as it lies on the disk.
    pub size_bytes: u64,
    /// The folder that it is in, if there is another bank of its name.
    pub folder: Option<String>,
    /// Whether reading it needs its scope or folder to be named, because another bank of its name comes first.
    pub is_hidden: bool,
    /// How many keys it has and when it was last changed; or why that cannot be told.
    pub state: Result<(usize, DateTime<Utc>), BankError>,
}

/// Returns the banks, those of the project first, by name.
///
/// # Errors
/// When a folder cannot be read. A bank that cannot be read is in the list and says so.
pub fn list(banks: &Banks, choice: ScopeChoice) -> Result<Vec<Listing>, BankError> {
    let now = banks.clock.now();
    let mut listings: Vec<Listing> = Vec::new();
    for (scope, store) in banks.places(choice) {
        for summary in store.banks().map_err(|error| error.in_scope(scope))? {
            let state = match store.bank(&summary.name) {
                Ok(Some(bank)) => Ok((bank.living(now).count(), bank.meta.updated_at)),
                // It was deleted in the meantime.
                Ok(None) => continue,
                Err(error) => Err(error.about(summary.name.as_str(), Some(scope))),
            };
            let others = banks.others_with(&summary.name, store);
            let folder = (!others.is_empty()).then(|| store.folder());
            let is_hidden = listings.iter().any(|listing| listing.name == summary.name);
            listings.push(Listing { name: summary.name, scope, size_bytes: summary.size_bytes, folder, is_hidden, state });
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
    /// Where the bank is.
    pub holders: Holders,
}

/// Returns the keys of a bank: the project's, or else the user's.
///
/// # Errors
/// [`super::Trouble::BankNotFound`]; or when it cannot be read.
pub fn keys(banks: &Banks, bank: &BankName, choice: ScopeChoice) -> Result<KeyListing, BankError> {
    let (scope, found) = super::read_bank(banks, bank, choice)?;
    let holders = super::holders(banks, bank, choice)?;
    Ok(KeyListing { scope, entries: found.entries, damaged: found.damaged, holders })
}

/// Returns the keys of a bank in every scope that has it, the project's first.
///
/// # Errors
/// As [`keys`].
pub fn keys_in_all(banks: &Banks, bank: &BankName) -> Result<Vec<KeyListing>, BankError> {
    let now = banks.clock.now();
    let mut listings = Vec::new();
    for (scope, store) in banks.places(ScopeChoice::Detected) {
        if let Some(mut found) = store.bank(bank).map_err(|error| error.about(bank.as_str(), Some(scope)))? {
            found.entries.retain(|(_, entry)| !entry.is_expired(now));
            let holders = Holders::of(banks, bank, ScopeChoice::Detected, (scope, store));
            listings.push(KeyListing { scope, entries: found.entries, damaged: found.damaged, holders });
        }
    }
    if listings.is_empty() {
        return Err(BankError::no_bank(bank, Some(banks.scope_of(ScopeChoice::Detected))));
    }
    Ok(listings)
}
