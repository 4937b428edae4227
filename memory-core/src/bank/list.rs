//! Lists the banks and their keys.

use chrono::{DateTime, Utc};

use super::{BankEntry, BankError, BankFolders, BankName, BankScope, Banks, Key, ScopeChoice};

/// A bank in a list.
#[derive(Debug)]
#[non_exhaustive]
pub struct BankListing {
    /// The name.
    pub name: BankName,
    /// The scope.
    pub scope: BankScope,
    /// The size of the file on disk, in bytes.
    pub size_bytes: u64,
    /// The folder that contains the bank, if another bank has the same name.
    pub folder: Option<String>,
    /// Whether a read must name the scope or folder, because another bank of the same name has priority.
    pub is_hidden: bool,
    /// The number of keys and the time of the last change, or the error if the bank cannot be read.
    pub state: Result<(usize, DateTime<Utc>), BankError>,
}

/// Returns the banks of `choice`: those of the project first, then by name.
///
/// # Errors
/// If a folder cannot be read. A bank that cannot be read is in the list, with the error in its `state`.
pub fn list(banks: &Banks, choice: ScopeChoice) -> Result<Vec<BankListing>, BankError> {
    let now = banks.clock.now();
    let mut listings: Vec<BankListing> = Vec::new();
    for (scope, store) in banks.stores(choice) {
        for summary in store.banks().map_err(|error| error.with_scope(scope))? {
            let state = match store.bank(&summary.name) {
                Ok(Some(bank)) => Ok((bank.unexpired_entries(now).count(), bank.meta.updated_at)),
                // Another process has deleted the bank.
                Ok(None) => continue,
                Err(error) => Err(error.with_bank(summary.name.as_str(), Some(scope))),
            };
            let others = banks.other_folders(&summary.name, store);
            let folder = (!others.is_empty()).then(|| store.folder());
            let is_hidden = listings.iter().any(|listing| listing.name == summary.name);
            listings.push(BankListing {
                name: summary.name,
                scope,
                size_bytes: summary.size_bytes,
                folder,
                is_hidden,
                state,
            });
        }
    }
    Ok(listings)
}

/// The keys of a bank.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BankKeyListing {
    /// The scope of the bank.
    pub scope: BankScope,
    /// The keys with their entries, in the order of the file.
    pub entries: Vec<(Key, BankEntry)>,
    /// The keys of entries that cannot be read, each with the reason.
    pub damaged: Vec<(String, String)>,
    /// The folders that contain the bank.
    pub holders: BankFolders,
}

/// Returns the keys of a bank: that of the project if it exists, otherwise that of the user.
///
/// # Errors
/// [`super::BankErrorKind::BankNotFound`], or if the bank cannot be read.
pub fn keys(
    banks: &Banks,
    bank: &BankName,
    choice: ScopeChoice,
) -> Result<BankKeyListing, BankError> {
    let (scope, found) = super::read_bank(banks, bank, choice)?;
    let holders = super::find_folders(banks, bank, choice)?;
    Ok(BankKeyListing {
        scope,
        entries: found.entries,
        damaged: found.damaged,
        holders,
    })
}

/// Returns the keys of a bank in every folder that contains it, those of the project first.
///
/// # Errors
/// Those of [`keys`].
pub fn keys_by_folder(banks: &Banks, bank: &BankName) -> Result<Vec<BankKeyListing>, BankError> {
    let now = banks.clock.now();
    let mut listings = Vec::new();
    for (scope, store) in banks.stores(ScopeChoice::Detected) {
        if let Some(mut found) = store
            .bank(bank)
            .map_err(|error| error.with_bank(bank.as_str(), Some(scope)))?
        {
            found.entries.retain(|(_, entry)| !entry.is_expired(now));
            let holders = BankFolders::of(banks, bank, ScopeChoice::Detected, (scope, store));
            listings.push(BankKeyListing {
                scope,
                entries: found.entries,
                damaged: found.damaged,
                holders,
            });
        }
    }
    if listings.is_empty() {
        return Err(BankError::bank_not_found(
            bank.as_str(),
            Some(banks.effective_scope(ScopeChoice::Detected)),
        ));
    }
    Ok(listings)
}
