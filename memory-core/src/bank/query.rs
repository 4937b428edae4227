//! Queries a bank with jq.

use chrono::{DateTime, Utc};

use super::{BankError, BankName, Banks, Holders, Key, ScopeChoice, read};
use crate::json::JsonText;

/// The input of a jq query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    /// The value under this key.
    Key(&'a Key),
    /// The whole bank in its export format, without expired entries.
    Bank,
}

/// The result of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queried {
    /// The values that the filter returned.
    pub results: Vec<JsonText>,
    /// The folders that contain the bank.
    pub holders: Holders,
}

/// Runs `filter` on an entry or on a whole bank, and returns its outputs.
///
/// The bank of the project is used if it exists, otherwise that of the user.
///
/// # Errors
/// Those of [`super::read()`], and a failure of the filter; then its outputs are discarded.
pub fn query(
    banks: &Banks,
    bank: &BankName,
    subject: Subject<'_>,
    filter: &str,
    choice: ScopeChoice,
) -> Result<Queried, BankError> {
    let (holders, input) = match subject {
        Subject::Key(key) => {
            let reading = read(banks, bank, key, choice)?;
            (reading.holders, reading.entry.value.as_str().to_owned())
        }
        Subject::Bank => document(banks, bank, choice, banks.clock.now())?,
    };
    let results = banks.filter.run(filter, &input).map_err(|trouble| {
        let error = BankError::from(trouble).about(bank.as_str(), Some(holders.scope));
        if let Subject::Key(key) = subject { error.of_key(key) } else { error }
    })?;
    Ok(Queried { results, holders })
}

/// Returns the JSON document of a bank, and the folders that contain the bank.
///
/// Entries that have expired at `now` are left out.
pub(super) fn document(
    banks: &Banks,
    bank: &BankName,
    choice: ScopeChoice,
    now: DateTime<Utc>,
) -> Result<(Holders, String), BankError> {
    for (scope, store) in banks.places(choice) {
        if let Some(text) = store.document(bank, now).map_err(|error| error.about(bank.as_str(), Some(scope)))? {
            return Ok((Holders::of(banks, bank, choice, (scope, store)), text));
        }
    }
    Err(BankError::no_bank(bank, Some(banks.scope_of(choice))))
}
