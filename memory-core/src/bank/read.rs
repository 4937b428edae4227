//! Reads an entry or a whole bank.

use std::sync::Arc;

use super::{
    Bank, BankEntry, BankError, BankErrorKind, BankLookup, BankName, BankScope, BankStore, Banks,
    Key, ScopeChoice,
};

/// The result of a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BankReadResult {
    /// The scope of the bank.
    pub scope: BankScope,
    /// The entry.
    pub entry: BankEntry,
    /// The folders that contain the bank.
    pub holders: BankFolders,
}

/// The folders that contain a bank of the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BankFolders {
    /// The scope of the folder in use.
    pub scope: BankScope,
    /// The folder in use.
    pub used: String,
    /// The other folders, each with its scope.
    pub others: Vec<(BankScope, String)>,
    /// Whether another of the folders has priority, unless the caller names a scope.
    pub is_hidden: bool,
}

impl BankFolders {
    /// Returns the folders that contain the bank.
    ///
    /// `store` is the one in use, and `choice` defines the read order.
    pub(super) fn of(
        banks: &Banks,
        bank: &BankName,
        choice: ScopeChoice,
        (scope, store): (BankScope, &Arc<dyn BankStore>),
    ) -> Self {
        let others = banks.other_folders(bank, store);
        let mut earlier = banks
            .stores(choice)
            .into_iter()
            .map(|(_, other)| other)
            .take_while(|other| !Arc::ptr_eq(other, store));
        let is_hidden =
            !others.is_empty() && earlier.any(|other| matches!(other.has(bank), Ok(true)));
        Self {
            scope,
            used: store.folder(),
            others,
            is_hidden,
        }
    }
}

/// Returns the folder from which a whole bank is read, and the others with a bank of that name.
///
/// # Errors
/// [`BankErrorKind::BankNotFound`], or if a folder cannot be read.
pub fn find_folders(
    banks: &Banks,
    bank: &BankName,
    choice: ScopeChoice,
) -> Result<BankFolders, BankError> {
    for (scope, store) in banks.stores(choice) {
        if store
            .has(bank)
            .map_err(|error| error.with_bank(bank.as_str(), Some(scope)))?
        {
            return Ok(BankFolders::of(banks, bank, choice, (scope, store)));
        }
    }
    Err(BankError::bank_not_found(
        bank.as_str(),
        Some(banks.effective_scope(choice)),
    ))
}

/// Returns the entry under `key`: that of the project if it exists, otherwise that of the user.
///
/// An expired entry in one folder does not prevent a read from the next.
///
/// # Errors
/// [`BankErrorKind::BankNotFound`], [`BankErrorKind::KeyNotFound`], [`BankErrorKind::Expired`], or if the bank cannot be read.
pub fn read(
    banks: &Banks,
    bank: &BankName,
    key: &Key,
    choice: ScopeChoice,
) -> Result<BankReadResult, BankError> {
    let now = banks.clock.now();
    let mut refusal: Option<BankError> = None;
    for (scope, store) in banks.stores(choice) {
        let found = store.entry(bank, key).map_err(|error| {
            error
                .with_bank(bank.as_str(), Some(scope))
                .with_key(key.as_str())
        })?;
        let trouble = match found {
            BankLookup::Entry(entry) if !entry.is_expired(now) => {
                let holders = BankFolders::of(banks, bank, choice, (scope, store));
                return Ok(BankReadResult {
                    scope,
                    entry: *entry,
                    holders,
                });
            }
            BankLookup::Entry(_) => BankErrorKind::Expired,
            BankLookup::NoKey => BankErrorKind::KeyNotFound,
            BankLookup::NoBank => continue,
        };
        // The error of an expired entry is more helpful than that of a missing key in the other scope.
        if refusal
            .as_ref()
            .is_none_or(|known| matches!(known.trouble, BankErrorKind::KeyNotFound))
        {
            refusal = Some(
                BankError::new(trouble)
                    .with_bank(bank.as_str(), Some(scope))
                    .with_key(key.as_str()),
            );
        }
    }
    Err(refusal.unwrap_or_else(|| {
        BankError::bank_not_found(bank.as_str(), Some(banks.effective_scope(choice)))
            .with_key(key.as_str())
    }))
}

/// Returns a whole bank without expired entries.
///
/// The bank of the project is used if it exists, otherwise that of the user.
///
/// # Errors
/// [`BankErrorKind::BankNotFound`], or if the bank cannot be read.
pub fn read_bank(
    banks: &Banks,
    bank: &BankName,
    choice: ScopeChoice,
) -> Result<(BankScope, Bank), BankError> {
    let now = banks.clock.now();
    let (scope, _, mut found) = banks.find_bank(bank, choice)?;
    found.entries.retain(|(_, entry)| !entry.is_expired(now));
    Ok((scope, found))
}
