//! Parses and writes JSON without rounding any number, and without refusing half a surrogate pair.
//!
//! A [`Value`] holds machine numbers: `12345678901234567890123` is rounded and `1e400` is not representable. This
//! module stores such a number as a string that starts with a random mark of this process, followed by the digits. The
//! string passes unchanged through hooks, schemas and the MCP SDK, and the schema check rejects it by name where a
//! number of the machine is required. [`to_text`] and [`unmark`] turn it back into a number.
//!
//! Half a surrogate pair (`"\ud83d"`) is no character. It is read as U+FFFD, because a program that cuts a text sends it.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::sync::LazyLock;

use memory_core::json::{JsonText, JsonTokenKind, JsonTokens, is_exact_number};
use serde_json::Value;

/// The prefix of a marked number.
///
/// It is random for each process, so no client can send a text that is mistaken for a number.
static MARK: LazyLock<String> = LazyLock::new(|| {
    let state = RandomState::new();
    format!(
        "\u{e0f1}{:016x}{:016x}:",
        state.hash_one(1),
        state.hash_one(2)
    )
});

/// Parses one JSON value.
///
/// # Errors
/// If `bytes` is not JSON.
pub fn from_slice(bytes: &[u8]) -> serde_json::Result<Value> {
    match std::str::from_utf8(bytes) {
        Ok(text) => serde_json::from_str(&mark(text)),
        Err(_) => serde_json::from_slice(bytes),
    }
}

/// Converts a JSON text into a value.
pub fn to_value(text: &JsonText) -> Value {
    let marked = mark(text.as_str());
    // `serde_json` rejects a value of great depth.
    serde_json::from_str(&marked).unwrap_or_else(|_| {
        marked
            .parse::<JsonText>()
            .map_or_else(|_| text.to_value(), |text| text.to_value())
    })
}

/// Serializes a value as JSON.
pub fn to_text(value: &Value) -> String {
    let text = value.to_string();
    match unmark(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(text) => text,
    }
}

/// Serializes a value as a [`JsonText`].
pub fn to_json_text(value: &Value) -> JsonText {
    to_text(value)
        .parse()
        .unwrap_or_else(|_| JsonText::from(value))
}

/// Returns the digits of a marked number, or `None` if `value` is something else.
pub(crate) fn as_number(value: &Value) -> Option<&str> {
    value.as_str()?.strip_prefix(MARK.as_str())
}

/// Marks all numbers of a JSON text that a machine number would round, and replaces lone surrogates.
///
/// Text that is not JSON is returned unchanged.
pub(crate) fn mark(text: &str) -> Cow<'_, str> {
    let mut marked = String::new();
    let mut end = 0;
    for token in JsonTokens::of(text) {
        let Ok(token) = token else {
            return Cow::Borrowed(text);
        };
        let part = &text[token.range.clone()];
        match token.kind {
            JsonTokenKind::Number if !is_exact_number(part) => {
                marked.extend([&text[end..token.range.start], "\"", &MARK, part, "\""]);
            }
            JsonTokenKind::Key | JsonTokenKind::String => {
                let Cow::Owned(whole) = replace_lone_surrogates(part) else {
                    continue;
                };
                marked.extend([&text[end..token.range.start], &whole]);
            }
            _ => continue,
        }
        end = token.range.end;
    }
    if end == 0 {
        return Cow::Borrowed(text);
    }
    marked.push_str(&text[end..]);
    Cow::Owned(marked)
}

/// Replaces each `\u` escape of a lone surrogate in JSON by U+FFFD.
pub(crate) fn replace_lone_surrogates(text: &str) -> Cow<'_, str> {
    let mut whole = String::new();
    let (mut end, mut at) = (0, 0);
    while let Some(found) = text[at..].find('\\') {
        at += found;
        let rest = &text[at..];
        at += match (surrogate_at(rest), rest.get(6..).and_then(surrogate_at)) {
            (Some(SurrogateHalf::First), Some(SurrogateHalf::Second)) => 12,
            (Some(_), _) => {
                whole.extend([&text[end..at], "\u{fffd}"]);
                end = at + 6;
                6
            }
            // The second character of an escape such as `\\` does not start another one.
            (None, _) => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    if end == 0 {
        return Cow::Borrowed(text);
    }
    whole.push_str(&text[end..]);
    Cow::Owned(whole)
}

enum SurrogateHalf {
    First,
    Second,
}

/// Returns which half of a surrogate pair is escaped at the start of `text`, if any.
fn surrogate_at(text: &str) -> Option<SurrogateHalf> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(SurrogateHalf::First),
        0xdc00..=0xdfff => Some(SurrogateHalf::Second),
        _ => None,
    }
}

/// Turns marked numbers back into numbers, in JSON and in JSON that is nested in its strings.
pub fn unmark(text: &str) -> Cow<'_, str> {
    if !text.contains(MARK.as_str()) {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(MARK.as_str());
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part
            .find(|letter: char| !matches!(letter, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'))
            .unwrap_or(part.len());
        let (number, mut rest) = part.split_at(digits);
        // Removes the quotes around the number. Both are escaped by the same number of backslashes; other quotes belong
        // to an enclosing string.
        let before = plain
            .strip_suffix('"')
            .map(|before| before.trim_end_matches('\\').len());
        let behind = rest.trim_start_matches('\\');
        if let (Some(before), Some(behind)) = (before, behind.strip_prefix('"'))
            && plain.len() - 1 - before == rest.len() - 1 - behind.len()
        {
            plain.truncate(before);
            rest = behind;
        }
        plain.push_str(number);
        plain.push_str(rest);
    }
    Cow::Owned(plain)
}

/// Returns a JSON text for a client: without marks, and with escapes for the line separators of Unicode, which some clients take for
/// the end of a message.
#[cfg(feature = "server")]
pub(crate) fn to_wire(text: &str) -> Cow<'_, str> {
    let plain = unmark(text);
    if !plain.contains(['\u{2028}', '\u{2029}']) {
        return plain;
    }
    // In JSON they occur only within strings.
    let escaped = plain.replace('\u{2028}', "\\u2028");
    Cow::Owned(escaped.replace('\u{2029}', "\\u2029"))
}

/// Returns whether a value contains a marked number.
pub(crate) fn contains_marked_number(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(contains_marked_number),
        Value::Object(members) => members.values().any(contains_marked_number),
        value => as_number(value).is_some(),
    }
}

/// Returns the value with each marked number replaced by a machine number that is not an integer.
pub(crate) fn with_rounded_numbers(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(with_rounded_numbers).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| (key.clone(), with_rounded_numbers(value)))
            .collect(),
        value if as_number(value).is_some() => Value::from(0.5),
        value => value.clone(),
    }
}

/// A reader of JSON values that marks the numbers which a machine number would round.
#[derive(Debug)]
pub struct ExactNumberReader<R> {
    input: R,
    ready: VecDeque<u8>,
    /// The digits of an unfinished number, which may continue in the next chunk.
    number: String,
    place: JsonScanState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonScanState {
    Outside,
    String,
    Escape,
}

impl<R: Read> ExactNumberReader<R> {
    /// Creates a reader of `input`.
    pub fn new(input: R) -> Self {
        Self {
            input,
            ready: VecDeque::new(),
            number: String::new(),
            place: JsonScanState::Outside,
        }
    }

    fn push_byte(&mut self, byte: u8) {
        if self.place == JsonScanState::Outside
            && matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
        {
            // `true` and `false` contain the letter `e`, too; as they are not numbers, `mark` leaves them unchanged.
            self.number.push(char::from(byte));
            return;
        }
        self.end_number();
        self.ready.push_back(byte);
        self.place = match (self.place, byte) {
            // JSON strings contain no bare line break, so a string that is open here belongs to a line that is not
            // JSON.
            (JsonScanState::String, b'"') | (_, b'\n') => JsonScanState::Outside,
            (JsonScanState::Outside, b'"') | (JsonScanState::Escape, _) => JsonScanState::String,
            (JsonScanState::String, b'\\') => JsonScanState::Escape,
            (place, _) => place,
        };
    }

    fn end_number(&mut self) {
        self.ready.extend(mark(&self.number).bytes());
        self.number.clear();
    }
}

impl<R: Read> Read for ExactNumberReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.is_empty() {
            let mut piece = [0; 8192];
            let length = self.input.read(&mut piece)?;
            piece[..length]
                .iter()
                .for_each(|byte| self.push_byte(*byte));
            if length == 0 {
                self.end_number();
                break;
            }
        }
        self.ready.read(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_separators_are_escaped_for_clients() {
        let text = to_text(&Value::from("a\u{2028}b\u{2029} \\u2028"));
        let wire = to_wire(&text);
        assert_eq!(wire, r#""a\u2028b\u2029 \\u2028""#);
        assert_eq!(
            from_slice(wire.as_bytes()).unwrap(),
            from_slice(text.as_bytes()).unwrap()
        );
        assert!(matches!(to_wire("[1]"), Cow::Borrowed(_)));
    }

    #[test]
    fn every_digit_comes_back() {
        for number in [
            "1e400",
            "-1E-400",
            "12345678901234567890123",
            "0.1234567890123456789",
            "1e1000",
            "9007199254740993",
            "0.10",
        ] {
            for text in [
                number.to_string(),
                format!("[{number},{{\"a\":{number}}}]"),
                format!("{{\"a\\\"\":\"{number}\",\"b\":{number}}}"),
            ] {
                let value = from_slice(text.as_bytes()).unwrap();
                let exact: JsonText = to_text(&value).parse().unwrap();
                assert!(exact.as_str() == text || number == "0.10", "{exact} {text}");
                assert_eq!(
                    to_json_text(&value),
                    to_json_text(&to_value(&text.parse().unwrap()))
                );
            }
        }
    }

    #[test]
    fn numbers_within_strings_of_json_are_written_as_numbers_too() {
        let inner = from_slice(b"{\"n\":1e400}").unwrap();
        let outer = serde_json::json!({ "text": inner.to_string(), "again": serde_json::json!({ "text": inner.to_string() }).to_string() });
        assert_eq!(
            to_text(&outer),
            r#"{"text":"{\"n\":1e400}","again":"{\"text\":\"{\\\"n\\\":1e400}\"}"}"#
        );
    }

    #[test]
    fn a_number_within_a_message_leaves_the_quotes_around_the_message() {
        let number = from_slice(b"1e400").unwrap();
        let number = number.as_str().unwrap();
        for (message, plain) in [
            (
                format!("no tool is named {number}"),
                "no tool is named 1e400",
            ),
            (format!("{number} is no tool"), "1e400 is no tool"),
            (format!("\"{number}\" is no tool"), "1e400 is no tool"),
            (format!("{number}\" is no tool"), "1e400\" is no tool"),
            (format!("no tool is \"{number}"), "no tool is \"1e400"),
        ] {
            let nested = serde_json::json!([message]).to_string();
            let text = to_text(&serde_json::json!({ "message": message, "nested": nested }));
            let answer: Value =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(answer["message"], plain);
            assert_eq!(answer["nested"], serde_json::json!([plain]).to_string());
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_read_as_no_character() {
        for (text, expected) in [
            (
                r#"{"a":"lone \ud83d surrogate"}"#,
                "lone \u{fffd} surrogate",
            ),
            (
                r#"{"a":"\ud83d\ude00 \uDE00\ud83d"}"#,
                "😀 \u{fffd}\u{fffd}",
            ),
            (r#"{"a":"\ud83d\ud83d\ude00"}"#, "\u{fffd}😀"),
            (r#"{"a":"\\ud83d é\u4e16 \ud800"}"#, "\\ud83d é世 \u{fffd}"),
        ] {
            assert_eq!(from_slice(text.as_bytes()).unwrap()["a"], expected);
            assert_eq!(to_value(&text.parse().unwrap())["a"], expected);
        }
        let key = from_slice(br#"{"\ud83d":12345678901234567890123}"#).unwrap();
        assert_eq!(to_text(&key), "{\"\u{fffd}\":12345678901234567890123}");
    }

    #[test]
    fn what_is_exact_or_no_json_is_left_alone() {
        for text in ["{\"a\":1.5}", "[1,2", "1e400 x", "", "\"1e400\""] {
            assert_eq!(mark(text), text);
        }
        assert!(from_slice(b"\xff").is_err() && from_slice(b"[1e400").is_err());
    }

    #[test]
    fn a_stream_is_marked_wherever_it_is_cut() {
        let text = "{\"1e400 \\\" 1e400\": [1e400, true, false, null, -5, 12345678901234567890123]} 1e400 ";
        for length in 1..text.len() {
            let pieces = text.as_bytes().chunks(length).map(io::Cursor::new);
            let stream = pieces.fold(Box::new(io::empty()) as Box<dyn Read>, |before, piece| {
                Box::new(before.chain(piece))
            });
            let mut marked = String::new();
            ExactNumberReader::new(stream)
                .read_to_string(&mut marked)
                .unwrap();
            assert_eq!(unmark(&marked), text, "{length}");
            assert_eq!(marked.matches(MARK.as_str()).count(), 3, "{length}");
        }
    }
}
