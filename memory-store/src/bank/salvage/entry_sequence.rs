//! Sequences of entries in a damaged bank.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use memory_core::bank::Key;
use memory_core::json::{JsonError, JsonTokenKind, JsonTokens, unquote};
use regex::Regex;

use super::super::layout::parse_entry_layout;
use super::super::{decode, edit};
use super::{GAP, compile_pattern};

/// A sequence of entries.
pub(super) struct EntrySequence {
    /// The entries, each with a description of its repair, if any.
    pub items: Vec<(SalvagedEntry, Option<String>)>,
    /// The defects: invalid entries, a truncated entry, and keys that look like entries within another one.
    pub faults: Vec<(Option<String>, String)>,
    pub end: SequenceEnd,
}

/// The end of a sequence of entries.
pub(super) enum SequenceEnd {
    /// A closing brace at this position.
    Closed(usize),
    /// A damaged part that starts at this position.
    Broken(usize),
    /// The end of the text.
    OfText,
}

impl EntrySequence {
    /// Reads the sequence of entries that starts at `at`.
    pub(super) fn read(text: &str, mut at: usize, written_at: DateTime<Utc>) -> Self {
        let mut row = Self {
            items: Vec::new(),
            faults: Vec::new(),
            end: SequenceEnd::OfText,
        };
        loop {
            let rest = text[at..].trim_start_matches(SEPARATORS);
            let start = text.len() - rest.len();
            match rest.chars().next() {
                None => return row,
                Some('}') => {
                    return Self {
                        end: SequenceEnd::Closed(start),
                        ..row
                    };
                }
                Some(GAP) => {
                    return Self {
                        end: SequenceEnd::Broken(start),
                        ..row
                    };
                }
                Some(_) => {}
            }
            match parse_intact_entry(text, start, written_at) {
                Ok((item, fault)) => {
                    at = start + item.length;
                    let within = nested_entry_keys(&text[start..at]);
                    row.faults.extend(within.into_iter().map(|inner| {
                        let fault =
                            format!("the entry '{inner}' is inside the entry '{}', which may lack its closing brace", item.key);
                        (Some(inner), fault)
                    }));
                    row.items.push((item, fault));
                }
                Err((key, why)) => {
                    let what = key
                        .as_ref()
                        .map_or_else(|| "an entry".to_owned(), |key| format!("the entry '{key}'"));
                    row.faults.push((key, format!("{what} {why}")));
                    match entry_end(text, start) {
                        // It is well-formed, but its content is invalid.
                        Some(end) => at = end,
                        None => {
                            return Self {
                                end: SequenceEnd::Broken(start),
                                ..row
                            };
                        }
                    }
                }
            }
        }
    }

    /// Returns whether a sequence found after damage, at `start`, belongs to the bank and not to a value.
    pub(super) fn belongs_to_bank(
        &self,
        text: &str,
        start: usize,
        endings: &mut BankEndFinder,
    ) -> bool {
        let is_followed = |end: usize| text[..end].trim_end().ends_with(',');
        let end = match self.end {
            SequenceEnd::Closed(end) => return endings.is_bank_end(text, end),
            SequenceEnd::Broken(end) => end,
            SequenceEnd::OfText => text.len(),
        };
        1 < self.items.len()
            || is_followed(end)
            || text[..start].trim_end_matches(SEPARATORS).ends_with(GAP)
    }
}

/// Finds the end of a bank, without reading a part of the text repeatedly.
#[derive(Debug)]
pub(super) struct BankEndFinder {
    /// The length of the text without missing parts at its end.
    length: usize,
    /// No brace before this position is the end of the entries.
    none_before: usize,
}

impl BankEndFinder {
    pub(super) fn of(text: &str) -> Self {
        Self {
            length: text.trim_end_matches(GAP).len(),
            none_before: 0,
        }
    }

    /// Returns whether the brace at `start` closes the entries and is followed by the end of a bank.
    ///
    /// The positions must be passed in ascending order.
    pub(super) fn is_bank_end(&mut self, text: &str, start: usize) -> bool {
        if start < self.none_before || self.length <= start {
            return false;
        }
        let rest = &text[start..self.length];
        let Some(error) = JsonTokens::within_objects(rest, 2).find_map(Result::err) else {
            return true;
        };
        // A later brace is nested at least as deep, so parsing from there fails at the same position or earlier. Only truncated
        // text may still be the end of a deeper object.
        if let JsonError::Syntax { at, .. } = error
            && at < rest.len()
        {
            self.none_before = start + at;
        }
        false
    }
}

/// An intact entry.
#[derive(Debug)]
pub(in super::super) struct SalvagedEntry {
    pub key: String,
    /// The key, the colon and the value, with invalid times repaired.
    pub text: String,
    /// The length of the entry in the damaged bank.
    pub length: usize,
}

/// Matches the possible start of an entry: a key, and an object with a field of an entry first.
const ENTRY_PATTERN: &str = r#""(?:[^"\\\x00-\x1f]|\\.)*"\s*:\s*\{\s*"(?:value|created_at|updated_at|ttl|description|schema|size)"\s*:"#;
pub(super) static ITEM: LazyLock<Regex> = LazyLock::new(|| compile_pattern(ENTRY_PATTERN));
/// Matches the same at the start of a text.
static ENTRY_START_ANCHORED: LazyLock<Regex> =
    LazyLock::new(|| compile_pattern(&format!("^{ENTRY_PATTERN}")));

/// The characters between entries.
const SEPARATORS: [char; 5] = [' ', '\t', '\n', '\r', ','];

/// Returns the start of the next intact entry at or after `at`.
pub(super) fn next_intact_entry(text: &str, at: usize, written_at: DateTime<Utc>) -> Option<usize> {
    let mut from = at;
    while let Some(found) = ITEM.find_at(text, from.min(text.len())) {
        let start = found.start();
        if parse_intact_entry(text, start, written_at).is_ok() {
            return Some(start);
        }
        // A damaged key has an odd number of quotes, so the next key may start within this match.
        from = start + 1;
    }
    None
}

/// Returns the end of the entry that starts at `start`, if it is well-formed.
fn entry_end(text: &str, start: usize) -> Option<usize> {
    let key = start + value_end(&text[start..])?;
    let rest = text[key..].trim_start().strip_prefix(':')?.trim_start();
    Some(text.len() - rest.len() + value_end(rest)?)
}

/// Returns whether an entry is well-formed up to the end of the text.
pub(super) fn is_truncated(text: &str) -> bool {
    let error = JsonTokens::within_objects(text, 1).find_map(Result::err);
    matches!(error, Some(JsonError::Syntax { at, .. }) if at == text.len())
}

/// Parses the entry that starts at `start`, and returns it with a description of its repair, if any.
fn parse_intact_entry(
    text: &str,
    start: usize,
    written_at: DateTime<Utc>,
) -> Result<(SalvagedEntry, Option<String>), (Option<String>, String)> {
    let key_end = value_end(&text[start..]).ok_or((None, "ends within its key".to_owned()))?;
    let key = unquote(&text[start..start + key_end])
        .ok_or((None, "has no key".to_owned()))?
        .into_owned();
    let told = |why: &str| (Some(key.clone()), why.to_owned());
    let rest = text[start + key_end..].trim_start();
    let rest = rest
        .strip_prefix(':')
        .ok_or_else(|| told("has no value"))?
        .trim_start();
    let entry = text.len() - rest.len();
    let end = entry + value_end(rest).ok_or_else(|| told("is incomplete"))?;
    let text = &text[start..end];
    key.parse::<Key>().map_err(|_| told("has an invalid key"))?;
    let (mended, fault) = repair_entry(text, written_at).map_err(|why| told(&why))?;
    let fault = fault.map(|why| intact_value_message(&key, &why));
    Ok((
        SalvagedEntry {
            key,
            text: mended,
            length: text.len(),
        },
        fault,
    ))
}

/// Returns the keys of members that look like entries within an entry, recursively.
fn nested_entry_keys(item: &str) -> Vec<String> {
    const FIELDS: [&str; 7] = [
        "value",
        "created_at",
        "updated_at",
        "ttl",
        "description",
        "schema",
        "size",
    ];
    let mut keys = Vec::new();
    // The depth of the inspected members.
    let mut depth = 2;
    // The last token is always an error: the text ends within the object around the entry.
    for token in JsonTokens::within_objects(item, 1).map_while(Result::ok) {
        match token.kind {
            JsonTokenKind::Key if token.depth == depth => {
                let key = unquote(&item[token.range.clone()])
                    .filter(|key| !FIELDS.contains(&key.as_ref()));
                if let Some(key) =
                    key.filter(|_| ENTRY_START_ANCHORED.is_match(&item[token.range.start..]))
                {
                    keys.push(key.into_owned());
                    depth += 1;
                }
            }
            JsonTokenKind::ObjectEnds if token.depth + 1 == depth => depth -= 1,
            _ => {}
        }
    }
    keys
}

/// Returns the text of an entry, repaired if necessary, with the defect that was repaired.
///
/// # Errors
/// The defect, if it cannot be repaired.
pub(in super::super) fn repair_entry(
    text: &str,
    written_at: DateTime<Utc>,
) -> Result<(String, Option<String>), String> {
    let item = parse_entry_layout(text).map_err(|why| why.to_string())?;
    let Err(why) = decode::decode_entry(text, &item, written_at) else {
        return Ok((text.to_owned(), None));
    };
    let mended = edit::apply_edits(text, &edit::repair_entry(text, &item, written_at));
    let is_well = parse_entry_layout(&mended)
        .is_ok_and(|item| decode::decode_entry(&mended, &item, written_at).is_ok());
    if is_well {
        Ok((mended, Some(why)))
    } else {
        Err(why)
    }
}

/// Returns the message for an entry with an intact value.
pub(in super::super) fn intact_value_message(key: &str, why: &str) -> String {
    format!("the entry '{key}' {why}; its value is intact")
}

/// Returns the end of the value at the start of `text`.
pub(super) fn value_end(text: &str) -> Option<usize> {
    for token in JsonTokens::of(text) {
        let token = token.ok()?;
        if token.depth == 0
            && !matches!(
                token.kind,
                JsonTokenKind::ObjectBegins | JsonTokenKind::ArrayBegins
            )
        {
            return Some(token.range.end);
        }
    }
    None
}
