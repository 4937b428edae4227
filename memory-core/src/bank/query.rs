//! Asking a bank with jq.

use super::{BankError, BankName, Banks, Key, ScopeChoice, read, read_bank};
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
        Subject::Bank => {
            let (scope, found) = read_bank(banks, bank, choice)?;
            (scope, super::export::document(&found))
        }
    };
    banks.filter.run(filter, &input).map_err(|trouble| {
        let error = BankError::from(trouble).about(bank.as_str(), Some(scope));
        if let Subject::Key(key) = subject { error.of_key(key) } else { error }
    })
}
