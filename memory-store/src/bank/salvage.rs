//! Recovers the readable parts of a damaged bank.

mod entry_sequence;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use memory_core::json::{JsonTokenKind, JsonTokens};
use regex::Regex;

use self::entry_sequence::{
    BankEndFinder, EntrySequence, ITEM, SequenceEnd, is_truncated, next_intact_entry,
};
pub(super) use self::entry_sequence::{SalvagedEntry, intact_value_message, repair_entry};
use super::edit;
use super::layout::parse_layout;

/// The recovered parts of a damaged bank.
#[derive(Debug, Default)]
pub(super) struct SalvagedBank {
    /// The text before the first entry, up to the opening brace of the entries, if it is well-formed.
    head: Option<String>,
    /// The intact members of `_meta`, if there is no `head`.
    meta: Vec<String>,
    /// The intact entries, in order.
    pub items: Vec<SalvagedEntry>,
    /// The text after the last entry, from the closing brace of the entries, if it is well-formed.
    tail: Option<String>,
    /// The defects, with the key if it can be determined.
    pub faults: Vec<(Option<String>, String)>,
}

static ENTRIES: LazyLock<Regex> = LazyLock::new(|| compile_pattern(r#""entries"\s*:\s*\{"#));
static META: LazyLock<Regex> = LazyLock::new(|| compile_pattern(r#""_meta"\s*:\s*"#));
fn compile_pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is one")
}

/// The character in place of missing bytes and bytes that are not UTF-8.
const GAP: char = '\0';

/// Recovers the readable parts of a bank with [`super::gzip::GAP`] in place of missing parts.
///
/// After each damaged part the search for entries resumes. Objects within values may look like entries. A sequence of them is
/// accepted as entries of the bank if it ends at the end of the bank, starts at the start of a gzip member, has at least two
/// entries, or is followed by a comma and a damaged part.
pub(super) fn salvage(bytes: &[u8], written_at: DateTime<Utc>) -> SalvagedBank {
    let text = &decode_lossy(bytes);
    let mut salvage = SalvagedBank::default();
    let (mut at, mut is_in_entries) = match find_entries(text) {
        EntriesStart::At(begin) => {
            salvage.head = Some(
                text[..begin]
                    .trim_start_matches('\u{feff}')
                    .trim_start()
                    .to_owned(),
            );
            (begin, true)
        }
        EntriesStart::Behind(begin) => (begin, true),
        EntriesStart::Missing(begin) => (begin, false),
    };
    if salvage.head.is_none() {
        salvage.meta = intact_meta_members(text);
    }
    let (mut seen, mut endings) = (HashSet::new(), BankEndFinder::of(text));
    loop {
        if !is_in_entries {
            let Some(next) = next_intact_entry(text, at, written_at) else {
                break;
            };
            at = next;
        }
        let row = EntrySequence::read(text, at, written_at);
        let is_believed = is_in_entries || row.belongs_to_bank(text, at, &mut endings);
        if is_believed {
            for (item, fault) in row.items {
                if seen.insert(item.key.clone()) {
                    salvage
                        .faults
                        .extend(fault.map(|fault| (Some(item.key.clone()), fault)));
                    salvage.items.push(item);
                } else {
                    let fault = format!("duplicate key '{}'; the first entry is used", item.key);
                    salvage.faults.push((Some(item.key), fault));
                }
            }
            salvage.faults.extend(row.faults);
        }
        is_in_entries = false;
        at = match row.end {
            SequenceEnd::Closed(end) if is_believed && endings.is_bank_end(text, end) => {
                salvage.tail = Some(text[end..].trim_end_matches(GAP).to_owned());
                break;
            }
            SequenceEnd::OfText => break,
            // The rest of the text is part of the truncated entry.
            SequenceEnd::Broken(start) if is_truncated(&text[start..]) => break,
            SequenceEnd::Closed(end) | SequenceEnd::Broken(end) => end + 1,
        };
        while !text.is_char_boundary(at) {
            at += 1;
        }
    }
    if salvage.items.is_empty() && salvage.faults.is_empty() && salvage.tail.is_none() {
        salvage.faults.push((None, "no entries were found".into()));
    }
    salvage
}

impl SalvagedBank {
    /// Returns the text of a bank with the recovered parts.
    ///
    /// Well-formed text before and after the entries is unchanged.
    pub(super) fn into_text(self, written_at: DateTime<Utc>) -> String {
        let Self {
            head,
            meta,
            items,
            tail,
            ..
        } = self;
        let is_pretty = head.as_ref().is_none_or(|head| head.contains('\n'));
        let gap = if is_pretty { "\n    " } else { "" };
        let entries: Vec<_> = items
            .iter()
            .map(|item| format!("{gap}{}", item.text))
            .collect();
        let entries = entries.join(",");
        let end = if is_pretty && !items.is_empty() {
            "\n  "
        } else {
            ""
        };
        let plain_end = if is_pretty { "}\n}\n" } else { "}}" };
        let fresh = |members: &[String]| {
            let has = |name: &str| members.iter().any(|member| member.starts_with(name));
            let missing = [("\"version\":", "1"), ("\"schema\":", "null")]
                .into_iter()
                .filter(|(name, _)| !has(name));
            let missing = missing.map(|(name, value)| format!("{name} {value}"));
            let meta = members
                .iter()
                .cloned()
                .chain(missing)
                .collect::<Vec<_>>()
                .join(", ");
            let text =
                format!("{{\n  \"_meta\": {{{meta}}},\n  \"entries\": {{{entries}{end}{plain_end}");
            repair_meta(&text, written_at)
        };
        let whole = head.map(|head| {
            format!(
                "{head}{entries}{end}{}",
                tail.as_deref().unwrap_or(plain_end)
            )
        });
        let kept = whole.and_then(|text| repair_meta(&text, written_at));
        // The recovered head may contain duplicate keys.
        kept.or_else(|| fresh(&meta))
            .or_else(|| fresh(&[]))
            .expect("whole entries make a bank")
    }
}

/// Returns the bank with a repaired `_meta`, or `None` if the text is not a bank.
fn repair_meta(text: &str, written_at: DateTime<Utc>) -> Option<String> {
    let known = parse_layout(text).ok()?;
    let mended = edit::apply_edits(
        text,
        &edit::sort_edits(edit::repair_meta(text, &known, written_at)),
    );
    parse_layout(&mended).is_ok().then_some(mended)
}

/// The position of the entries of a bank.
enum EntriesStart {
    /// The start of the entries, if the text before it is well-formed.
    At(usize),
    /// The start of the entries, if the text before it is damaged.
    Behind(usize),
    /// The start of a damaged part that includes the start of the entries.
    Missing(usize),
}

/// Finds the start of the entries.
///
/// It is after the key `entries` of the document, as far as that can be determined.
fn find_entries(text: &str) -> EntriesStart {
    let mut readable_to = 0;
    let find = |from: usize| ENTRIES.find_at(text, from);
    for token in JsonTokens::of(text) {
        let Ok(token) = token else { break };
        if token.depth == 1
            && token.kind == JsonTokenKind::Key
            && &text[token.range.clone()] == "\"entries\""
        {
            return match find(token.range.start).filter(|found| found.start() == token.range.start)
            {
                Some(found) => EntriesStart::At(found.end()),
                None => EntriesStart::Missing(token.range.end),
            };
        }
        readable_to = token.range.end;
    }
    // After the first entry, the key would belong to a value.
    let first_item = ITEM
        .find_at(text, readable_to)
        .map_or(text.len(), |found| found.start());
    match find(readable_to).filter(|found| found.start() < first_item) {
        Some(found) => EntriesStart::Behind(found.end()),
        None => EntriesStart::Missing(readable_to),
    }
}

/// Returns the intact members of `_meta`, each as text.
fn intact_meta_members(text: &str) -> Vec<String> {
    let Some(begin) = META.find(text) else {
        return Vec::new();
    };
    let rest = &text[begin.end()..];
    let mut members: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    let (mut key, mut start): (Option<Range<usize>>, _) = (None, 0);
    for token in JsonTokens::of(rest)
        .map_while(Result::ok)
        .skip(1)
        .take_while(|token| token.depth != 0)
    {
        if token.depth != 1 {
            continue;
        }
        match token.kind {
            JsonTokenKind::Key => {
                key = Some(token.range);
                continue;
            }
            JsonTokenKind::ObjectBegins | JsonTokenKind::ArrayBegins => {
                start = token.range.start;
                continue;
            }
            JsonTokenKind::ObjectEnds | JsonTokenKind::ArrayEnds => {}
            // A number at the end of the text may be truncated.
            JsonTokenKind::Number if rest[token.range.end..].trim_start().is_empty() => continue,
            JsonTokenKind::String | JsonTokenKind::Number | JsonTokenKind::Literal => {
                start = token.range.start;
            }
        }
        let Some(key) = key.take() else { break };
        if seen.insert(&rest[key.clone()]) {
            members.push(format!("{}: {}", &rest[key], &rest[start..token.range.end]));
        }
    }
    members
}

/// Decodes bytes.
///
/// Invalid UTF-8 becomes a character that is invalid in JSON, so that no entry with it counts as intact.
fn decode_lossy(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(GAP);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::decode;
    use super::*;

    const WHOLE: &str = r#"{"_meta":{"version":1,"created_at":"2024-01-15T10:30:00Z","schema":{"type":"object"}},
        "entries":{"a":{"value":{"n":1e1000}},"b":{"value":{"x":"}"},"note":1},"c":{"value":{"entries":{"z":{"value":1}}}}}}"#;

    fn salvaged_keys(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
        let found = salvage(bytes, DateTime::UNIX_EPOCH);
        (
            found.items.into_iter().map(|item| item.key).collect(),
            found.faults.into_iter().map(|(_, what)| what).collect(),
        )
    }

    #[test]
    fn whatever_is_cut_off_the_entries_before_are_whole() {
        let ends: Vec<_> = ["\"b\":{\"value\"", "\"c\":{\"value\"", "}}}}}}"]
            .iter()
            .map(|mark| WHOLE.find(mark).unwrap())
            .collect();
        for cut in 0..WHOLE.len() {
            let (keys, _) = salvaged_keys(&WHOLE.as_bytes()[..cut]);
            let expected = ends.iter().filter(|&&end| end < cut).count();
            assert!(
                keys.len() <= 3 && expected.saturating_sub(1) <= keys.len(),
                "{cut}: {keys:?}"
            );
            assert!(
                ["a", "b", "c"]
                    .iter()
                    .zip(&keys)
                    .all(|(one, other)| one == other),
                "{cut}: {keys:?}"
            );
        }
    }

    #[test]
    fn a_damaged_entry_is_named_and_those_around_it_are_kept() {
        let broken = WHOLE.replace(r#""x":"}""#, r#""x":"#);
        let (keys, lost) = salvaged_keys(broken.as_bytes());
        assert_eq!(
            (keys, lost),
            (
                vec!["a".to_owned(), "c".to_owned()],
                vec!["the entry 'b' is incomplete".to_owned()]
            )
        );
        let mut bytes = WHOLE.as_bytes().to_vec();
        let place = WHOLE.find(r#""x":"}""#).unwrap() + 5;
        bytes[place] = 0xff;
        let (keys, lost) = salvaged_keys(&bytes);
        assert_eq!(
            (keys, lost.len()),
            (vec!["a".to_owned(), "c".to_owned()], 1)
        );
    }

    /// Returns the bank that is recovered from `bytes`.
    fn bank(bytes: &[u8]) -> memory_core::bank::Bank {
        let text = salvage(bytes, DateTime::UNIX_EPOCH).into_text(DateTime::UNIX_EPOCH);
        decode::parse_bank(&"session".parse().unwrap(), &text, DateTime::UNIX_EPOCH).unwrap()
    }

    #[test]
    fn what_stands_around_the_entries_is_kept_byte_for_byte() {
        let broken = WHOLE
            .replace(r#""x":"}""#, r#""x":"#)
            .replace("\"version\":1", "\"owner\":{\"n\":[1]},\"version\":1");
        let text = salvage(broken.as_bytes(), DateTime::UNIX_EPOCH).into_text(DateTime::UNIX_EPOCH);
        let (before, _) = broken.split_once("\"created_at\"").unwrap();
        assert!(
            text.contains(before.strip_prefix("{\"_meta\":{").unwrap()),
            "{text}"
        );
        let bank = bank(broken.as_bytes());
        assert_eq!(
            (bank.meta.schema.unwrap().as_str(), bank.entries.len()),
            (r#"{"type":"object"}"#, 2)
        );
        assert_eq!(
            bank.meta.created_at.to_rfc3339(),
            "2024-01-15T10:30:00+00:00"
        );
    }

    #[test]
    fn whole_members_of_a_damaged_meta_are_kept() {
        let broken = WHOLE.replace(r#""version":1,"#, r#""mine":{"a":[1,2]},"version":1,"x":,"#);
        let found = salvage(broken.as_bytes(), DateTime::UNIX_EPOCH);
        assert_eq!(found.meta, [r#""mine": {"a":[1,2]}"#, r#""version": 1"#]);
        assert!(
            found
                .into_text(DateTime::UNIX_EPOCH)
                .contains(r#""mine": {"a":[1,2]}"#)
        );
        assert_eq!(bank(broken.as_bytes()).entries.len(), 3);
    }

    #[test]
    fn an_entry_whose_times_are_none_keeps_its_value() {
        let times = r#""b":{"value":{"x":"}"},"created_at":"soon","updated_at":"2024-01-15T10:30:00Z","ttl":-1,"#;
        // Without the last brace, the bank is also damaged at its end.
        let text = WHOLE.replace(r#""b":{"value":{"x":"}"},"#, times);
        let (keys, lost) = salvaged_keys(&text.as_bytes()[..text.len() - 1]);
        assert_eq!(keys, ["a", "b", "c"]);
        assert_eq!(
            lost,
            ["the entry 'b' has an invalid created_at; its value is intact"]
        );
        let entry = bank(text.as_bytes()).entries.remove(1).1;
        assert_eq!(
            (entry.created_at.to_rfc3339().as_str(), entry.ttl),
            ("2024-01-15T10:30:00+00:00", None)
        );
    }

    #[test]
    fn entries_are_found_behind_what_is_missing_wherever_that_is() {
        for (from, to, expected) in [
            // The head and the first entry are missing.
            ("{\"_meta\"", "\"b\":", vec!["b", "c"]),
            ("\"schema\"", "\"a\":", vec!["a", "b", "c"]),
            ("1e1000", "\"b\":", vec!["b", "c"]),
            ("\"b\":", "\"c\":", vec!["a", "c"]),
            ("{\"x\"", "\"c\":", vec!["a", "c"]),
        ] {
            let (from, to) = (WHOLE.find(from).unwrap(), WHOLE.find(to).unwrap());
            let missing = [&WHOLE.as_bytes()[..from], b"\0", &WHOLE.as_bytes()[to..]].concat();
            assert_eq!(salvaged_keys(&missing).0, expected, "{from}..{to}");
            let mut zeroed = WHOLE.as_bytes().to_vec();
            zeroed[from..to].fill(0);
            assert_eq!(salvaged_keys(&zeroed).0, expected, "{from}..{to}");
            assert_eq!(bank(&zeroed).entries.len(), expected.len(), "{from}..{to}");
        }
    }

    #[test]
    fn every_intact_entry_is_kept_wherever_the_others_are_damaged() {
        type EntryDamageFn = fn(&str) -> Vec<u8>;
        let damages: [(&str, EntryDamageFn); 4] = [
            ("bytes in the value", |entry| {
                let (before, after) = entry.split_once("x\"").unwrap();
                [before.as_bytes(), b"\xff\xff\"", after.as_bytes()].concat()
            }),
            ("bytes in the key", |entry| {
                [b"\"\xff".as_slice(), &entry.as_bytes()[2..]].concat()
            }),
            ("zeros at the beginning", |entry| {
                [&[0; 9], &entry.as_bytes()[9..]].concat()
            }),
            ("no end of a text", |entry| {
                entry.replacen("x\"", "x", 1).into_bytes()
            }),
        ];
        let entries: Vec<_> = (0..8)
            .map(|n| format!(r#""k{n}":{{"value":"x{n}x","created_at":"2024-01-15T10:30:00Z"}}"#))
            .collect();
        for (case, damage) in damages {
            for pretty in [false, true] {
                for damaged in 1_u32..=255 {
                    let is_damaged = |n: usize| damaged & (1 << n) != 0;
                    let parts = entries.iter().enumerate().map(|(n, entry)| {
                        let entry = if pretty {
                            entry.replace(':', ": ").replace('{', "{\n")
                        } else {
                            entry.clone()
                        };
                        if is_damaged(n) {
                            damage(&entry)
                        } else {
                            entry.into_bytes()
                        }
                    });
                    let text = [
                        b"{\"entries\":{".as_slice(),
                        &parts.collect::<Vec<_>>().join(b",\n".as_slice()),
                        b"}}",
                    ]
                    .concat();
                    let (keys, _) = salvaged_keys(&text);
                    let expected: Vec<_> = (0..8)
                        .filter(|n| !is_damaged(*n))
                        .map(|n| format!("k{n}"))
                        .collect();
                    assert_eq!(keys, expected, "{case}, {damaged:b}");
                }
            }
        }
    }

    #[test]
    fn an_entry_that_a_missing_brace_makes_part_of_another_is_named() {
        let text = r#"{"entries":{"a":{"value":{"b":{"value":1}},"note":{"n":1},"b":{"value":2},"c":{"value":3,"d":{"value":4}}}}"#;
        let (keys, faults) = salvaged_keys(text.as_bytes());
        let inside = |key: &str| {
            format!("the entry '{key}' is inside the entry 'a', which may lack its closing brace")
        };
        assert_eq!(
            (keys, faults),
            (vec!["a".to_owned()], ["b", "c", "d"].map(inside).to_vec())
        );
    }

    #[test]
    fn the_end_of_a_bank_is_found_among_braces_of_values() {
        let inner = (0..50)
            .map(|n| format!(r#""x{n}":{{"k":{{"value":{n}}}}}"#))
            .collect::<Vec<_>>()
            .join(",");
        let text = format!(
            r#"{{"entries":{{"a":{{"note":{{{inner}}},"value":}},"b":{{"value":1}}}},"mine":{{"x":{{}}}}}}"#
        );
        assert_eq!(salvaged_keys(text.as_bytes()).0, ["b"]);
        let mended = salvage(text.as_bytes(), DateTime::UNIX_EPOCH).into_text(DateTime::UNIX_EPOCH);
        assert!(mended.ends_with(r#"},"mine":{"x":{}}}"#), "{mended}");
    }

    #[test]
    fn a_bank_of_nothing_says_its_version() {
        for text in ["", "{}", "{\"_meta\":{}}"] {
            let mended =
                salvage(text.as_bytes(), DateTime::UNIX_EPOCH).into_text(DateTime::UNIX_EPOCH);
            assert!(
                mended.contains("\"version\": 1") && mended.contains("\"schema\": null"),
                "{mended}"
            );
        }
    }

    #[test]
    fn what_looks_like_an_entry_within_a_damaged_value_is_none() {
        let text = r#"{"entries":{"a":{"value":{"k":{"value":1},"l":{"value":2}},"note":0},"b":{"value":3}}}"#;
        let at = text.find("\"a\"").unwrap();
        let broken = [&text[..at], "\0", &text[at + 5..]].concat();
        assert_eq!(salvaged_keys(broken.as_bytes()).0, ["b"]);
    }
}
