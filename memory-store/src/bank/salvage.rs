//! Reading what can be read of a damaged bank.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use memory_core::bank::Key;
use memory_core::json::{JsonError, JsonText, TokenKind, Tokens, unquoted};
use regex::Regex;

use super::decode;
use super::layout::item_of;

/// What could be read of a damaged bank.
#[derive(Debug, Default)]
pub(super) struct Salvage {
    /// The entries that are whole: their keys and texts, in order.
    pub items: Vec<(String, String)>,
    /// What the bank says of itself.
    pub meta: Kept,
    /// What could not be read, with the key if it is known.
    pub lost: Vec<(Option<String>, String)>,
}

/// What was kept of `_meta`.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub created_at: Option<DateTime<Utc>>,
    pub updated_at: Option<DateTime<Utc>>,
    pub schema: Option<JsonText>,
}

static ENTRIES: LazyLock<Regex> = LazyLock::new(|| pattern(r#""entries"\s*:\s*\{"#));
static META: LazyLock<Regex> = LazyLock::new(|| pattern(r#""_meta"\s*:\s*"#));
/// Where an entry may begin: a key, and an object that begins as ours do.
static ITEM: LazyLock<Regex> = LazyLock::new(|| pattern(ITEM_BEGINS));
/// The same, at the beginning of a text.
static NEXT_ITEM: LazyLock<Regex> = LazyLock::new(|| pattern(&format!(r"\A\s*{ITEM_BEGINS}")));
const ITEM_BEGINS: &str =
    r#""(?:[^"\\\x00-\x1f]|\\.)*"\s*:\s*\{\s*"(?:value|created_at|updated_at|ttl|description|schema|size)"\s*:"#;

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is one")
}

/// Reads what can be read.
pub(super) fn salvage(bytes: &[u8], written_at: DateTime<Utc>) -> Salvage {
    let text = readable(bytes);
    let mut salvage = Salvage { meta: meta(&text), ..Salvage::default() };
    let Some(begin) = entries(&text) else {
        salvage.lost.push((None, "no entries were found in it".into()));
        return salvage;
    };
    let mut seen = HashSet::new();
    let mut at = begin;
    while let Some(start) = next_item(&text, at) {
        let lost = match whole_item(&text, start, written_at) {
            Ok((key, range)) => {
                at = range.end;
                if seen.insert(key.clone()) {
                    let item = item_of(&text[range.clone()]).expect("it was read just now");
                    salvage.items.push((key, text[range][item.entry].to_owned()));
                    continue;
                }
                (Some(key.clone()), format!("the key '{key}' stands twice; the first was kept"))
            }
            Err((key, why)) => {
                at = match item_end(&text, start) {
                    // It is well-formed, and only says what it must not.
                    Some(end) => end,
                    // All that follows belongs to it.
                    None if ends_early(&text[start..]) => text.len(),
                    // Somewhere behind may be one that is whole.
                    None => next_whole(&text, start + 1, written_at).unwrap_or(text.len()),
                };
                let what = key.as_ref().map_or_else(|| "an entry".to_owned(), |key| format!("the entry '{key}'"));
                (key, format!("{what} {why}"))
            }
        };
        salvage.lost.push(lost);
    }
    salvage
}

/// Returns where the entries begin: behind the key of that name that is the document's own, as far as that can be told.
fn entries(text: &str) -> Option<usize> {
    let mut readable_to = 0;
    for token in Tokens::of(text) {
        let Ok(token) = token else { break };
        if token.depth == 1 && token.kind == TokenKind::Key && &text[token.range.clone()] == "\"entries\"" {
            return ENTRIES
                .find_at(text, token.range.start)
                .filter(|found| found.start() == token.range.start)
                .map(|found| found.end());
        }
        readable_to = token.range.end;
    }
    // What is damaged comes first.
    ENTRIES.find_at(text, readable_to).map(|found| found.end())
}

/// Returns where the next entry that is whole begins, from `at` on. What stands in the value of another is none: behind it comes
/// neither another entry nor the end of the bank.
fn next_whole(text: &str, at: usize, written_at: DateTime<Utc>) -> Option<usize> {
    let mut from = at;
    while let Some(found) = ITEM.find_at(text, from.min(text.len())) {
        let start = found.start();
        if let Ok((_, range)) = whole_item(text, start, written_at) {
            let behind = text[range.end..].trim_start();
            let is_last = behind.split_whitespace().collect::<String>() == "}}";
            let is_followed = behind.strip_prefix(',').is_some_and(|rest| NEXT_ITEM.is_match(rest));
            if is_last || is_followed {
                return Some(start);
            }
        }
        // A key that was torn has a quote too many: the next one may begin within what was taken for one.
        from = start + 1;
    }
    None
}

/// Returns where the entry that begins at `start` ends, if it is well-formed.
fn item_end(text: &str, start: usize) -> Option<usize> {
    let key = start + value_end(&text[start..])?;
    let rest = text[key..].trim_start().strip_prefix(':')?.trim_start();
    Some(text.len() - rest.len() + value_end(rest)?)
}

/// Tells whether an entry is well-formed as far as the text goes.
fn ends_early(text: &str) -> bool {
    let wrapped = format!("{{{text}");
    let error = Tokens::of(&wrapped).find_map(Result::err);
    matches!(error, Some(JsonError::Syntax { at, .. }) if at == wrapped.len())
}

/// Returns where the next entry begins, or `None` at the end of them.
fn next_item(text: &str, at: usize) -> Option<usize> {
    let rest = text[at..].trim_start_matches([' ', '\t', '\n', '\r', ',']);
    if rest.is_empty() || rest.starts_with('}') { None } else { Some(text.len() - rest.len()) }
}

/// Reads the entry that begins at `start`.
fn whole_item(text: &str, start: usize, written_at: DateTime<Utc>) -> Result<(String, Range<usize>), (Option<String>, String)> {
    let key_end = value_end(&text[start..]).ok_or((None, "breaks off in its key".to_owned()))?;
    let key = unquoted(&text[start..start + key_end]).ok_or((None, "has no key".to_owned()))?.into_owned();
    let told = |why: &str| (Some(key.clone()), why.to_owned());
    let rest = text[start + key_end..].trim_start();
    let rest = rest.strip_prefix(':').ok_or_else(|| told("has no value"))?.trim_start();
    let entry = text.len() - rest.len();
    let end = entry + value_end(rest).ok_or_else(|| told("is not whole"))?;
    let range = start..end;
    let item = item_of(&text[range.clone()]).map_err(|why| told(&why.to_string()))?;
    key.parse::<Key>().map_err(|_| told("has a key that is none"))?;
    decode::entry(&text[range.clone()], &item, written_at).map_err(|why| told(&why))?;
    Ok((key, range))
}

/// Returns where the value with which `text` begins ends.
fn value_end(text: &str) -> Option<usize> {
    for token in Tokens::of(text) {
        let token = token.ok()?;
        if token.depth == 0 && !matches!(token.kind, TokenKind::ObjectBegins | TokenKind::ArrayBegins) {
            return Some(token.range.end);
        }
    }
    None
}

fn meta(text: &str) -> Kept {
    let Some(begin) = META.find(text) else { return Kept::default() };
    let rest = &text[begin.end()..];
    let Some(end) = value_end(rest) else { return Kept::default() };
    // As the value of an entry, its parts are found as those of one are.
    let part = |name: &str| {
        let mut tokens = Tokens::of(&rest[..end]).map_while(Result::ok);
        tokens.find(|token| {
            token.depth == 1 && token.kind == TokenKind::Key && rest[token.range.clone()] == format!("\"{name}\"")
        })?;
        let start = tokens.next()?.range.start;
        Some(&rest[start..start + value_end(&rest[start..end])?])
    };
    let moment = |name| DateTime::parse_from_rfc3339(&unquoted(part(name)?)?).ok().map(|moment| moment.to_utc());
    let schema = part("schema").and_then(|schema| schema.parse::<JsonText>().ok()).filter(|schema| schema.as_str() != "null");
    Kept { created_at: moment("created_at"), updated_at: moment("updated_at"), schema }
}

/// Returns bytes as text. What is no UTF-8 becomes a character that may stand nowhere in JSON, so that no entry with it is taken for whole.
fn readable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push('\0');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{"_meta":{"version":1,"created_at":"2024-01-15T10:30:00Z","schema":{"type":"object"}},
        "entries":{"a":{"value":{"n":1e1000}},"b":{"value":{"x":"}"},"note":1},"c":{"value":{"entries":{"z":{"value":1}}}}}}"#;

    fn kept(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
        let found = salvage(bytes, DateTime::UNIX_EPOCH);
        (found.items.into_iter().map(|(key, _)| key).collect(), found.lost.into_iter().map(|(_, what)| what).collect())
    }

    #[test]
    fn whatever_is_cut_off_the_entries_before_are_whole() {
        let ends: Vec<_> =
            ["\"b\":{\"value\"", "\"c\":{\"value\"", "}}}}}}"].iter().map(|mark| WHOLE.find(mark).unwrap()).collect();
        for cut in 0..WHOLE.len() {
            let (keys, _) = kept(&WHOLE.as_bytes()[..cut]);
            let expected = ends.iter().filter(|&&end| end < cut).count();
            assert!(keys.len() <= 3 && expected.saturating_sub(1) <= keys.len(), "{cut}: {keys:?}");
            assert!(["a", "b", "c"].iter().zip(&keys).all(|(one, other)| one == other), "{cut}: {keys:?}");
        }
    }

    #[test]
    fn a_damaged_entry_is_named_and_those_around_it_are_kept() {
        let broken = WHOLE.replace(r#""x":"}""#, r#""x":"#);
        let (keys, lost) = kept(broken.as_bytes());
        assert_eq!((keys, lost), (vec!["a".to_owned(), "c".to_owned()], vec!["the entry 'b' is not whole".to_owned()]));
        let mut bytes = WHOLE.as_bytes().to_vec();
        let place = WHOLE.find(r#""x":"}""#).unwrap() + 5;
        bytes[place] = 0xff;
        let (keys, lost) = kept(&bytes);
        assert_eq!((keys, lost.len()), (vec!["a".to_owned(), "c".to_owned()], 1));
    }

    #[test]
    fn what_the_bank_says_of_itself_is_kept() {
        let found = salvage(WHOLE.as_bytes(), DateTime::UNIX_EPOCH);
        assert_eq!(found.meta.schema.unwrap().as_str(), r#"{"type":"object"}"#);
        assert_eq!(found.meta.created_at.unwrap().to_rfc3339(), "2024-01-15T10:30:00+00:00");
        assert_eq!((found.items[1].1.as_str(), found.lost.len()), (r#"{"value":{"x":"}"},"note":1}"#, 0));
    }
}
