//! Reading what is under a key.

use std::sync::Arc;

use super::{Bank, BankError, BankName, BankScope, BankStore, Banks, Entry, Found, Key, ScopeChoice, Trouble};

/// What was read, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Whose bank.
    pub scope: BankScope,
    /// The entry.
    pub entry: Entry,
    /// Where the bank is.
    pub holders: Holders,
}

/// The folders that have a bank of one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holders {
    /// The scope of the folder that was used.
    pub scope: BankScope,
    /// The folder that was used.
    pub used: String,
    /// The others, each with its scope.
    pub others: Vec<(BankScope, String)>,
    /// Whether one of the others is read before this one, unless a scope is named.
    pub is_hidden: bool,
}

impl Holders {
    /// Returns the folders that have the bank, where `store` is used and the folders of `choice` are read in their order.
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

/// Returns which folder is used where a whole bank is read, and which others have one of that name.
///
/// # Errors
/// [`Trouble::BankNotFound`]; or when a folder cannot be read.
pub fn holders(banks: &Banks, bank: &BankName, choice: ScopeChoice) -> Result<Holders, BankError> {
    for (scope, store) in banks.places(choice) {
        if store.has(bank).map_err(|error| error.about(bank.as_str(), Some(scope)))? {
            return Ok(Holders::of(banks, bank, choice, (scope, store)));
        }
    }
    Err(BankError::no_bank(bank, Some(banks.scope_of(choice))))
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
            Found::Entry(entry) if !entry.is_expired(now) => {
                let holders = Holders::of(banks, bank, choice, (scope, store));
                return Ok(Reading { scope, entry: *entry, holders });
            }
            Found::Entry(_) => Trouble::Expired,
            Found::NoKey => Trouble::KeyNotFound,
            Found::NoBank => continue,
        };
        // That it has expired says more than that the other scope does not have it.
        if refusal.as_ref().is_none_or(|known| matches!(known.trouble, Trouble::KeyNotFound)) {
            refusal = Some(BankError::new(trouble).about(bank.as_str(), Some(scope)).of_key(key));
        }
    }
    Err(refusal.unwrap_or_else(|| BankError::no_bank(bank, Some(banks.scope_of(choice))).of_key(key)))
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
