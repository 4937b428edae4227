//! Converts the text of a bank to a [`Bank`].

use chrono::{DateTime, Utc};

use memory_core::bank::{Bank, BankEntry, BankError, BankErrorKind, BankMeta, BankName, Key};
use memory_core::json::{JsonText, unquote};
use memory_core::parse_rfc3339;

use super::layout::{BankLayout, EntryLayout, parse_layout};

/// Parses a bank; missing times become `fallback`.
pub(super) fn decode(
    name: &BankName,
    text: &str,
    layout: &BankLayout,
    fallback: DateTime<Utc>,
) -> Bank {
    let part = |range: &Option<std::ops::Range<usize>>| range.clone().map(|range| &text[range]);
    let meta = layout.meta.as_ref();
    let updated_at = meta
        .and_then(|meta| parse_time(part(&meta.updated_at)?))
        .unwrap_or(fallback);
    let created_at = meta
        .and_then(|meta| parse_time(part(&meta.created_at)?))
        .unwrap_or(updated_at);
    let version = meta
        .and_then(|meta| part(&meta.version)?.parse().ok())
        .unwrap_or(1);
    let schema = meta
        .and_then(|meta| part(&meta.schema)?.parse::<JsonText>().ok())
        .filter(|schema| schema.as_str() != "null");
    let (mut entries, mut damaged) = (Vec::with_capacity(layout.items.len()), Vec::new());
    for item in &layout.items {
        let key = item
            .key
            .parse::<Key>()
            .map_err(|_| "has an invalid key".to_owned());
        match key.and_then(|key| Ok((key, decode_entry(text, item, updated_at)?))) {
            Ok(read) => entries.push(read),
            Err(why) => damaged.push((item.key.clone(), why)),
        }
    }
    Bank {
        name: name.clone(),
        meta: BankMeta {
            version,
            created_at,
            updated_at,
            schema,
        },
        entries,
        damaged,
    }
}

/// Parses an entry; missing times become `fallback`.
///
/// # Errors
/// The defect, as the end of a sentence.
pub(super) fn decode_entry(
    text: &str,
    item: &EntryLayout,
    fallback: DateTime<Utc>,
) -> Result<BankEntry, String> {
    let part = |range: &Option<std::ops::Range<usize>>| range.clone().map(|range| &text[range]);
    let value = part(&item.value).ok_or("has no value")?;
    let value = value
        .parse::<JsonText>()
        .map_err(|error| format!("has an invalid value: {error}"))?;
    let time = |what: &str, range| match part(range) {
        None | Some("null") => Ok(None),
        Some(text) => parse_time(text)
            .map(Some)
            .ok_or(format!("has an invalid {what}")),
    };
    let updated_at = time("updated_at", &item.updated_at)?;
    let created_at = time("created_at", &item.created_at)?;
    let ttl = match part(&item.ttl) {
        None | Some("null") => None,
        Some(text) => Some(
            text.parse::<u64>()
                .map_err(|_| "has a ttl that is not a number of seconds".to_owned())?,
        ),
    };
    let updated_at = updated_at.or(created_at).unwrap_or(fallback);
    Ok(BankEntry {
        value,
        created_at: created_at.unwrap_or(updated_at),
        updated_at,
        ttl,
    })
}

pub(super) fn parse_time(json: &str) -> Option<DateTime<Utc>> {
    parse_rfc3339(&unquote(json)?)
}

/// Parses the text of a bank that is not in a folder, such as an export; missing times become `now`.
///
/// # Errors
/// [`BankErrorKind::InvalidDocument`] if the text is not a bank.
pub fn parse_bank(name: &BankName, text: &str, now: DateTime<Utc>) -> Result<Bank, BankError> {
    let layout = parse_layout(text).map_err(|why| {
        BankError::new(BankErrorKind::InvalidDocument {
            why: why.to_string(),
        })
        .with_bank(name.as_str(), None)
    })?;
    Ok(decode(name, text, &layout, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Bank {
        parse_bank(&"session".parse().unwrap(), text, DateTime::UNIX_EPOCH).unwrap()
    }

    #[test]
    fn a_bank_of_another_program_is_read_as_it_is() {
        let bank = read(
            r#"{"_meta":{"version":1,"created_at":"2024-01-15T10:30:00.123456789+01:00","updated_at":"2024-01-15T14:45:00Z"},
                "entries":{"context":{"value":{"b":1e1000,"a":0.10},"description":"d","size":9,
                "created_at":"2024-01-15T10:30:00Z","updated_at":"2024-01-15T14:45:00Z"}}}"#,
        );
        let (key, entry) = &bank.entries[0];
        assert_eq!(
            (key.as_str(), entry.value.as_str(), entry.ttl),
            ("context", r#"{"b":1e1000,"a":0.10}"#, None)
        );
        assert_eq!(
            bank.meta.created_at.to_rfc3339(),
            "2024-01-15T09:30:00.123456789+00:00"
        );
        assert_eq!((bank.meta.schema, bank.damaged.len()), (None, 0));
    }

    #[test]
    fn times_that_are_missing_are_those_of_the_bank() {
        let bank =
            read(r#"{"_meta":{"updated_at":"2024-01-15T14:45:00Z"},"entries":{"a":{"value":1}}}"#);
        assert_eq!(bank.entries[0].1.created_at, bank.meta.updated_at);
        assert_eq!(
            read(r#"{"entries":{"a":{"value":1}}}"#).entries[0]
                .1
                .updated_at,
            DateTime::UNIX_EPOCH
        );
    }

    #[test]
    fn one_damaged_entry_leaves_the_others_whole_and_is_named_with_the_reason() {
        let bank = read(
            r#"{"entries":{"a":7,"b":{"value":1},"c":{"ttl":1},"d":{"value":{"x":1,"x":2}},"e":{"value":1,"ttl":-1},
                "f":{"value":1,"updated_at":"soon"},"":{"value":1}}}"#,
        );
        assert_eq!(bank.entries.len(), 1);
        let told: Vec<_> = bank
            .damaged
            .iter()
            .map(|(key, why)| format!("{key}: {why}"))
            .collect();
        assert_eq!(
            told,
            [
                "a: has no value",
                "c: has no value",
                "d: has an invalid value: duplicate key \"x\" in an object",
                "e: has a ttl that is not a number of seconds",
                "f: has an invalid updated_at",
                ": has an invalid key",
            ]
        );
    }
}
