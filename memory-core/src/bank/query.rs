//! Asking a bank with jq.

use chrono::{DateTime, Utc};

use super::{BankError, BankName, Banks, Holders, Key, ScopeChoice, read};
use crate::json::JsonText;

/// What a filter is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    /// The value under this key.
    Key(&'a Key),
    /// The whole bank as it is exported, without what has expired.
    Bank,
}

/// The results of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queried {
    /// The values that the filter put out.
    pub results: Vec<JsonText>,
    /// Where the bank is.
    pub holders: Holders,
}

/// Returns what `filter` puts out for an entry or a bank: the project's, or else the user's.
///
/// # Errors
/// As [`super::read()`], and when the filter fails; then nothing of what it put out counts.
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

/// Returns the text of a bank without what has expired at `now`, and where the bank is.
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
