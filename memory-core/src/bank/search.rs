//! Searches keys and values by a regular expression.

use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use super::{
    BankEntry, BankError, BankErrorKind, BankFolders, BankName, BankScope, Banks, Key, ScopeChoice,
};
use crate::json::unescape_strings;

/// The maximum size of a compiled pattern, in bytes.
const PATTERN_SIZE: usize = 4 * 1024 * 1024;

/// The fields that a search matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BankSearchFields {
    /// Only keys.
    Keys,
    /// Keys and values.
    Values,
}

/// The matches of a search, and the banks and entries that could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub struct BankMatches {
    /// The matches, ordered by scope, bank and position in the file.
    pub matches: Vec<BankMatch>,
    /// The banks and entries that could not be read.
    pub unreadable: Vec<BankError>,
}

/// An entry that matches the pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct BankMatch {
    /// The bank.
    pub bank: BankName,
    /// The scope of the bank.
    pub scope: BankScope,
    /// The key.
    pub key: Key,
    /// The entry.
    pub entry: BankEntry,
    /// Whether the key matches.
    pub by_key: bool,
    /// The folders that contain the bank.
    pub holders: Arc<BankFolders>,
}

/// Finds the entries with a key or value that matches the regular expression `pattern`.
///
/// A value is matched as one line of JSON. Expired entries are skipped.
///
/// # Errors
/// [`BankErrorKind::InvalidPattern`], or if a folder cannot be read. Unreadable banks and entries are returned in [`BankMatches`].
pub fn search(
    banks: &Banks,
    pattern: &str,
    searched: BankSearchFields,
    choice: ScopeChoice,
) -> Result<BankMatches, BankError> {
    let now = banks.clock.now();
    let pattern = RegexBuilder::new(pattern)
        .size_limit(PATTERN_SIZE)
        .build()
        .map_err(|error| {
            BankError::new(BankErrorKind::InvalidPattern {
                why: error
                    .to_string()
                    .lines()
                    .last()
                    .unwrap_or_default()
                    .trim()
                    .to_owned(),
            })
        })?;
    let mut found = BankMatches {
        matches: Vec::new(),
        unreadable: Vec::new(),
    };
    for (scope, store) in banks.stores(choice) {
        for summary in store.banks().map_err(|error| error.with_scope(scope))? {
            let bank = match store.bank(&summary.name) {
                Ok(Some(bank)) => bank,
                Ok(None) => continue,
                Err(error) => {
                    found
                        .unreadable
                        .push(error.with_bank(summary.name.as_str(), Some(scope)));
                    continue;
                }
            };
            let damaged = bank
                .damaged
                .iter()
                .map(|(key, why)| BankError::damaged_entry(summary.name.as_str(), scope, key, why));
            found.unreadable.extend(damaged);
            let holders = Arc::new(BankFolders::of(
                banks,
                &summary.name,
                choice,
                (scope, store),
            ));
            for (key, entry) in bank.unexpired_entries(now) {
                let by_key = pattern.is_match(key.as_str());
                if by_key
                    || (searched == BankSearchFields::Values
                        && matches_json(&pattern, entry.value.as_str()))
                {
                    let (key, entry) = (key.clone(), entry.clone());
                    let (bank, holders) = (summary.name.clone(), Arc::clone(&holders));
                    found.matches.push(BankMatch {
                        bank,
                        scope,
                        key,
                        entry,
                        by_key,
                        holders,
                    });
                }
            }
        }
    }
    Ok(found)
}

/// Returns whether a pattern matches a JSON text, in its escaped or in its unescaped form.
fn matches_json(pattern: &Regex, json: &str) -> bool {
    pattern.is_match(json) || (json.contains('\\') && pattern.is_match(&unescape_strings(json)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_found_however_it_is_spelled() {
        let pattern = Regex::new("深色|a\"b|refactor.*main").unwrap();
        for json in [
            r#"{"theme":"\u6df1\u8272"}"#,
            r#"{"深色":1}"#,
            r#"["a\"b"]"#,
            r#"{"topic":"refactoring","files":["main.go"]}"#,
        ] {
            assert!(matches_json(&pattern, json), "{json}");
        }
        assert!(!matches_json(&pattern, r#"{"theme":"\u6df1"}"#));
    }
}
