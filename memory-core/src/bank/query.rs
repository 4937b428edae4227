//! Queries a bank with jq.

use chrono::{DateTime, Utc};

use super::{BankError, BankFolders, BankName, Banks, Key, ScopeChoice, read};
use crate::json::JsonText;

/// The input of a jq query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BankQueryTarget<'a> {
    /// The value under this key.
    Key(&'a Key),
    /// The whole bank in its export format, without expired entries.
    Bank,
}

/// The result of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BankQueryResult {
    /// The values that the filter returned.
    pub results: Vec<JsonText>,
    /// The folders that contain the bank.
    pub holders: BankFolders,
}

/// Runs `filter` on an entry or on a whole bank, and returns its outputs.
///
/// The bank of the project is used if it exists, otherwise that of the user. `examples/bank_jq.rs` is a complete program.
///
/// # Errors
/// Those of [`super::read()`], and a failure of the filter; then its outputs are discarded.
pub fn query(
    banks: &Banks,
    bank: &BankName,
    subject: BankQueryTarget<'_>,
    filter: &str,
    choice: ScopeChoice,
) -> Result<BankQueryResult, BankError> {
    let (holders, input) = match subject {
        BankQueryTarget::Key(key) => {
            let reading = read(banks, bank, key, choice)?;
            (reading.holders, reading.entry.value.as_str().to_owned())
        }
        BankQueryTarget::Bank => read_document(banks, bank, choice, banks.clock.now())?,
    };
    let results = banks.filter.run(filter, &input).map_err(|trouble| {
        let error = BankError::from(trouble).with_bank(bank.as_str(), Some(holders.scope));
        if let BankQueryTarget::Key(key) = subject {
            error.with_key(key.as_str())
        } else {
            error
        }
    })?;
    Ok(BankQueryResult { results, holders })
}

/// Returns the JSON document of a bank, and the folders that contain the bank.
///
/// Entries that have expired at `now` are left out.
pub(super) fn read_document(
    banks: &Banks,
    bank: &BankName,
    choice: ScopeChoice,
    now: DateTime<Utc>,
) -> Result<(BankFolders, String), BankError> {
    for (scope, store) in banks.stores(choice) {
        if let Some(text) = store
            .document(bank, now)
            .map_err(|error| error.with_bank(bank.as_str(), Some(scope)))?
        {
            return Ok((BankFolders::of(banks, bank, choice, (scope, store)), text));
        }
    }
    Err(BankError::bank_not_found(
        bank.as_str(),
        Some(banks.effective_scope(choice)),
    ))
}
