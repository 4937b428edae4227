//! Asking a bank with jq.

use chrono::{DateTime, Utc};

use super::services::named;
use super::{BankError, BankName, BankScope, Banks, Key, ScopeChoice, read};
use crate::json::JsonText;

/// What a filter is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject<'a> {
    /// The value under this key.
    Key(&'a Key),
    /// The whole bank as it is exported, without what has expired.
    Bank,
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
) -> Result<Vec<JsonText>, BankError> {
    let (scope, input) = match subject {
        Subject::Key(key) => {
            let reading = read(banks, bank, key, choice)?;
            (reading.scope, reading.entry.value.as_str().to_owned())
        }
        Subject::Bank => document(banks, bank, choice, banks.clock.now())?,
    };
    banks.filter.run(filter, &input).map_err(|trouble| {
        let error = BankError::from(trouble).about(bank.as_str(), Some(scope));
        if let Subject::Key(key) = subject { error.of_key(key) } else { error }
    })
}

/// Returns the text of a bank without what has expired at `now`.
pub(super) fn document(
    banks: &Banks,
    bank: &BankName,
    choice: ScopeChoice,
    now: DateTime<Utc>,
) -> Result<(BankScope, String), BankError> {
    for (scope, store) in banks.places(choice) {
        if let Some(text) = store.document(bank, now).map_err(|error| error.about(bank.as_str(), Some(scope)))? {
            return Ok((scope, text));
        }
    }
    Err(BankError::no_bank(bank, named(choice)))
}
