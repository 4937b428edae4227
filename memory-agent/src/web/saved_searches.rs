//! Saved searches: a bank of the user with one query string per name.
//!
//! A bank has the properties that saved searches need: it is a readable file in the home, each change is logged and can be
//! undone, and other interfaces can use it.

use memory_core::SecretPolicy;
use memory_core::bank::{
    self, BankErrorKind, BankName, BankScope, BankWriteCondition, BankWriteRequest, Banks, Key,
    ScopeChoice,
};
use memory_core::json::JsonText;

use super::error::PageError;

/// The name of the bank.
const BANK: &str = "saved-searches";

const USER: ScopeChoice = ScopeChoice::Only(BankScope::User);

/// A saved search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SavedSearch {
    pub(super) name: String,
    /// The query string of the page.
    pub(super) query: String,
}

/// Returns the saved searches, in the order in which they were saved.
pub(super) fn list(banks: &Banks) -> Result<Vec<SavedSearch>, PageError> {
    let found = match bank::read_bank(banks, &bank_name(), USER) {
        Ok((_, found)) => found,
        Err(error) if matches!(error.trouble, BankErrorKind::BankNotFound) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    // Another program may have stored other values in the bank.
    let saved = found.entries.into_iter().filter_map(|(key, entry)| {
        Some(SavedSearch {
            name: key.as_str().to_owned(),
            query: entry.value.as_string()?,
        })
    });
    Ok(saved.collect())
}

/// Saves a search, and replaces the one of the same name.
pub(super) fn save(banks: &Banks, search: &SavedSearch) -> Result<(), PageError> {
    let request = BankWriteRequest {
        bank: bank_name(),
        key: search.name.parse::<Key>()?,
        value: JsonText::string(&search.query),
        ttl: None,
        condition: BankWriteCondition::Any,
        scope: USER,
        secrets: SecretPolicy::Refuse,
    };
    bank::write(banks, &request)?;
    Ok(())
}

/// Deletes a saved search.
pub(super) fn delete(banks: &Banks, name: &str) -> Result<(), PageError> {
    bank::delete(banks, &bank_name(), &name.parse::<Key>()?, USER)?;
    Ok(())
}

fn bank_name() -> BankName {
    BANK.parse().expect("the name of the bank is valid")
}
