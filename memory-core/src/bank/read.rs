//! Reads an entry or a whole bank.

use std::sync::Arc;

use super::{Bank, BankError, BankName, BankScope, BankStore, Banks, Entry, Found, Key, ScopeChoice, Trouble};

/// The result of a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The scope of the bank.
    pub scope: BankScope,
    /// The entry.
    pub entry: Entry,
    /// The folders that contain the bank.
    pub holders: Holders,
}

/// The folders that contain a bank of the same name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holders {
    /// The scope of the folder in use.
    pub scope: BankScope,
    /// The folder in use.
    pub used: String,
    /// The other folders, each with its scope.
    pub others: Vec<(BankScope, String)>,
    /// Whether another of the folders has priority, unless the caller names a scope.
    pub is_hidden: bool,
}

impl Holders {
    /// Returns the folders that contain the bank.
    ///
    /// `store` is the one in use, and `choice` defines the read order.
    pub(super) fn of(
        banks: &Banks,
        bank: &BankName,
        choice: ScopeChoice,
        (scope, store): (BankScope, &Arc<dyn BankStore>),
    ) -> Self {
        let others = banks.others_with(bank, store);
        let mut earlier = banks.places(choice).into_iter().map(|(_, other)| other).take_while(|other| !Arc::ptr_eq(other, store));
        let is_hidden = !others.is_empty() && earlier.any(|other| matches!(other.has(bank), Ok(true)));
        Self { scope, used: store.folder(), others, is_hidden }
    }
}

/// Returns the folder from which a whole bank is read, and the others with a bank of that name.
///
/// # Errors
/// [`Trouble::BankNotFound`], or if a folder cannot be read.
pub fn holders(banks: &Banks, bank: &BankName, choice: ScopeChoice) -> Result<Holders, BankError> {
    for (scope, store) in banks.places(choice) {
        if store.has(bank).map_err(|error| error.about(bank.as_str(), Some(scope)))? {
            return Ok(Holders::of(banks, bank, choice, (scope, store)));
        }
    }
    Err(BankError::no_bank(bank, Some(banks.scope_of(choice))))
}

/// Returns the entry under `key`: that of the project if it exists, otherwise that of the user.
///
/// An expired entry in one folder does not prevent a read from the next.
///
/// # Errors
/// [`Trouble::BankNotFound`], [`Trouble::KeyNotFound`], [`Trouble::Expired`], or if the bank cannot be read.
pub fn read(banks: &Banks, bank: &BankName, key: &Key, choice: ScopeChoice) -> Result<Reading, BankError> {
    let now = banks.clock.now();
    let mut refusal: Option<BankError> = None;
    for (scope, store) in banks.places(choice) {
        let found = store.entry(bank, key).map_err(|error| error.about(bank.as_str(), Some(scope)).of_key(key))?;
        let trouble = match found {
            Found::Entry(entry) if !entry.is_expired(now) => {
                let holders = Holders::of(banks, bank, choice, (scope, store));
                return Ok(Reading { scope, entry: *entry, holders });
            }
            Found::Entry(_) => Trouble::Expired,
            Found::NoKey => Trouble::KeyNotFound,
            Found::NoBank => continue,
        };
        // The error of an expired entry is more helpful than that of a missing key in the other scope.
        if refusal.as_ref().is_none_or(|known| matches!(known.trouble, Trouble::KeyNotFound)) {
            refusal = Some(BankError::new(trouble).about(bank.as_str(), Some(scope)).of_key(key));
        }
    }
    Err(refusal.unwrap_or_else(|| BankError::no_bank(bank, Some(banks.scope_of(choice))).of_key(key)))
}

/// Returns a whole bank without expired entries.
///
/// The bank of the project is used if it exists, otherwise that of the user.
///
/// # Errors
/// [`Trouble::BankNotFound`], or if the bank cannot be read.
pub fn read_bank(banks: &Banks, bank: &BankName, choice: ScopeChoice) -> Result<(BankScope, Bank), BankError> {
    let now = banks.clock.now();
    let (scope, _, mut found) = banks.place_of(bank, choice)?;
    found.entries.retain(|(_, entry)| !entry.is_expired(now));
    Ok((scope, found))
}
