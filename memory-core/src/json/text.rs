//! A JSON value that preserves its text: parsing, unescaping and indenting it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::str::FromStr;

use serde_json::Value;

use super::{JsonError, JsonTokenKind, JsonTokens, MAX_DEPTH, unquote};

/// A JSON value as validated text without whitespace between tokens.
///
/// Numbers retain their spelling, and members their order. No object has a duplicate key, and the nesting depth is at
/// most [`MAX_DEPTH`].
///
/// ```
/// use memory_core::json::JsonText;
///
/// let value: JsonText = r#"{ "big": 100000000000000000001, "a": 0.10 }"#.parse()?;
/// assert_eq!(value.as_str(), r#"{"big":100000000000000000001,"a":0.10}"#);
/// # Ok::<(), memory_core::json::JsonError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct JsonText(String);

impl JsonText {
    /// Returns `null`.
    pub fn null() -> Self {
        Self("null".into())
    }

    /// Returns `text` as a JSON string.
    pub fn string(text: &str) -> Self {
        Self(Value::from(text).to_string())
    }

    /// Returns the owned text, for example to erase it from memory.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Returns the content if the value is a string without lone surrogates.
    pub fn as_string(&self) -> Option<String> {
        unquote(&self.0).map(Cow::into_owned)
    }

    /// Returns the members if the value is an object, in order.
    pub fn members(&self) -> Option<Vec<(String, Self)>> {
        let mut members = Vec::new();
        let (mut key, mut start) = (None, 0);
        let mut tokens = JsonTokens::of(&self.0).map_while(Result::ok);
        if tokens.next()?.kind != JsonTokenKind::ObjectBegins {
            return None;
        }
        for token in tokens.filter(|token| token.depth == 1) {
            match token.kind {
                JsonTokenKind::Key => key = unquote(&self.0[token.range]).map(Cow::into_owned),
                JsonTokenKind::ObjectBegins | JsonTokenKind::ArrayBegins => {
                    start = token.range.start;
                }
                JsonTokenKind::ObjectEnds | JsonTokenKind::ArrayEnds => {
                    members.push((key.take()?, Self(self.0[start..token.range.end].to_owned())));
                }
                JsonTokenKind::String | JsonTokenKind::Number | JsonTokenKind::Literal => {
                    members.push((key.take()?, Self(self.0[token.range].to_owned())));
                }
            }
        }
        Some(members)
    }

    /// Returns an object of these members. The caller ensures that the keys are unique.
    pub fn object<'a>(members: impl IntoIterator<Item = (&'a str, &'a Self)>) -> Self {
        let members: Vec<_> = members
            .into_iter()
            .map(|(key, value)| format!("{}:{value}", Self::string(key)))
            .collect();
        Self(format!("{{{}}}", members.join(",")))
    }

    /// Converts to a value with machine numbers.
    ///
    /// A number out of range becomes the nearest representable one.
    pub fn to_value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_else(|_| approximate(&self.0))
    }
}

/// Returns whether a JSON number is exactly representable as a machine number.
pub fn is_exact_number(number: &str) -> bool {
    serde_json::from_str::<Value>(number)
        .is_ok_and(|value| is_same_number(number, &value.to_string()))
}

/// Returns whether two JSON numbers are equal: `1.50` equals `1.5`, and `1e2` equals `100`.
fn is_same_number(one: &str, other: &str) -> bool {
    normalize_number(one) == normalize_number(other)
}

/// Returns the sign, the significant digits and the exponent.
fn normalize_number(number: &str) -> (bool, String, i64) {
    let (is_negative, rest) = number
        .strip_prefix('-')
        .map_or((false, number), |rest| (true, rest));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(i64::MAX);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let kept = digits.trim_end_matches('0');
    let dropped = i64::try_from(digits.len() - kept.len()).unwrap_or(0);
    let places = i64::try_from(fraction.len()).unwrap_or(0);
    let significant = kept.trim_start_matches('0');
    if significant.is_empty() {
        return (false, String::new(), 0);
    }
    (
        is_negative,
        significant.to_owned(),
        exponent.saturating_sub(places).saturating_add(dropped),
    )
}

impl_text_type!(JsonText);

impl FromStr for JsonText {
    type Err = JsonError;

    fn from_str(text: &str) -> Result<Self, JsonError> {
        let mut compact = String::with_capacity(text.len());
        let mut keys: Vec<JsonObjectKeys<'_>> = Vec::new();
        let mut needs_comma = false;
        for token in JsonTokens::of(text) {
            let token = token?;
            let ends = matches!(
                token.kind,
                JsonTokenKind::ObjectEnds | JsonTokenKind::ArrayEnds
            );
            if needs_comma && !ends {
                compact.push(',');
            }
            compact.push_str(&text[token.range.clone()]);
            needs_comma = true;
            match token.kind {
                JsonTokenKind::ObjectBegins | JsonTokenKind::ArrayBegins => {
                    if token.depth == MAX_DEPTH {
                        return Err(JsonError::TooDeep);
                    }
                    keys.push(JsonObjectKeys::default());
                    needs_comma = false;
                }
                JsonTokenKind::ObjectEnds | JsonTokenKind::ArrayEnds => drop(keys.pop()),
                JsonTokenKind::Key => {
                    let key = unquote(&text[token.range.clone()]).ok_or(JsonError::Syntax {
                        at: token.range.start,
                        what: "a key contains a lone surrogate",
                    })?;
                    if let Some(key) = keys.last_mut().and_then(|known| known.insert(key)) {
                        return Err(JsonError::DuplicateKey {
                            key: key.into_owned(),
                        });
                    }
                    compact.push(':');
                    needs_comma = false;
                }
                JsonTokenKind::String | JsonTokenKind::Number | JsonTokenKind::Literal => {}
            }
        }
        Ok(Self(compact))
    }
}

/// The set of keys of one object.
#[derive(Default)]
struct JsonObjectKeys<'a> {
    few: Vec<Cow<'a, str>>,
    many: HashSet<Cow<'a, str>>,
}

/// Maximum number of keys that are compared linearly.
const MAX_LINEAR_KEYS: usize = 16;

impl<'a> JsonObjectKeys<'a> {
    /// Inserts a key, or returns it if it is a duplicate.
    fn insert(&mut self, key: Cow<'a, str>) -> Option<Cow<'a, str>> {
        if self.few.contains(&key) || self.many.contains(&key) {
            return Some(key);
        }
        if self.few.len() < MAX_LINEAR_KEYS {
            self.few.push(key);
        } else {
            self.many.insert(key);
        }
        None
    }
}

impl From<&Value> for JsonText {
    /// Converts a value in memory, which is expected to be at most [`MAX_DEPTH`] deep.
    fn from(value: &Value) -> Self {
        Self(value.to_string())
    }
}

/// Parses a value with numbers out of the machine range, or deeper than the limit of `serde_json`.
fn approximate(text: &str) -> Value {
    let mut open: Vec<(Value, Option<String>)> = Vec::new();
    let mut key = None;
    let mut done = Value::Null;
    for token in JsonTokens::of(text).map_while(Result::ok) {
        let part = &text[token.range.clone()];
        let value = match token.kind {
            JsonTokenKind::Key => {
                key = unquote(part).map(Cow::into_owned);
                continue;
            }
            JsonTokenKind::ObjectBegins | JsonTokenKind::ArrayBegins => {
                let empty = if part == "{" {
                    Value::Object(serde_json::Map::new())
                } else {
                    Value::Array(Vec::new())
                };
                open.push((empty, key.take()));
                continue;
            }
            JsonTokenKind::ObjectEnds | JsonTokenKind::ArrayEnds => {
                let Some((value, own_key)) = open.pop() else {
                    break;
                };
                key = own_key;
                value
            }
            JsonTokenKind::Number => nearest_number(part),
            JsonTokenKind::String | JsonTokenKind::Literal => {
                serde_json::from_str(part).unwrap_or_else(|_| Value::from(part))
            }
        };
        match open.last_mut() {
            Some((Value::Array(items), _)) => items.push(value),
            Some((Value::Object(members), _)) => {
                drop(members.insert(key.take().unwrap_or_default(), value));
            }
            _ => done = value,
        }
    }
    done
}

fn nearest_number(number: &str) -> Value {
    let exact = serde_json::from_str(number);
    exact.unwrap_or_else(|_| {
        Value::from(if number.starts_with('-') {
            f64::MIN
        } else {
            f64::MAX
        })
    })
}

/// Returns a JSON text with unescaped strings, for full-text search. The result may not be valid JSON.
pub fn unescape_strings(json: &str) -> Cow<'_, str> {
    if !json.contains('\\') {
        return Cow::Borrowed(json);
    }
    let mut text = String::with_capacity(json.len());
    let mut end = 0;
    for token in JsonTokens::of(json).map_while(Result::ok) {
        if !matches!(token.kind, JsonTokenKind::Key | JsonTokenKind::String) {
            continue;
        }
        text.push_str(&json[end..token.range.start]);
        match unquote(&json[token.range.clone()]) {
            Some(said) => {
                text.push('"');
                text.push_str(&said);
                text.push('"');
            }
            None => text.push_str(&json[token.range.clone()]),
        }
        end = token.range.end;
    }
    text.push_str(&json[end..]);
    Cow::Owned(text)
}

/// Formats a JSON text with one line per item and two spaces per level, as `jq .` does.
///
/// Text that is not JSON is returned unchanged.
pub fn format_pretty(text: &str) -> String {
    let mut laid_out = String::with_capacity(text.len() * 2);
    // Whether an item precedes the next token in the same bracket, and whether the next token is the value of a key.
    let (mut needs_comma, mut follows_key) = (false, false);
    for token in JsonTokens::of(text) {
        let Ok(token) = token else {
            return text.to_owned();
        };
        let ends = matches!(
            token.kind,
            JsonTokenKind::ObjectEnds | JsonTokenKind::ArrayEnds
        );
        let begins = matches!(
            token.kind,
            JsonTokenKind::ObjectBegins | JsonTokenKind::ArrayBegins
        );
        if !ends && needs_comma {
            laid_out.push(',');
        }
        // Empty brackets contain no line break.
        if token.depth != 0 && !follows_key && !ends || ends && needs_comma {
            laid_out.push('\n');
            laid_out.extend(std::iter::repeat_n("  ", token.depth));
        }
        laid_out.push_str(&text[token.range]);
        follows_key = token.kind == JsonTokenKind::Key;
        if follows_key {
            laid_out.push_str(": ");
        }
        needs_comma = !begins && !follows_key;
    }
    laid_out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_compact(text: &str) -> Result<String, JsonError> {
        text.parse::<JsonText>()
            .map(|text| text.as_str().to_owned())
    }

    #[test]
    fn digits_and_order_are_kept_and_spaces_are_not() {
        for number in [
            "1e1000",
            "0.1",
            "9007199254740993",
            "100000000000000000001",
            "-0",
            "1.50",
            "1E+2",
        ] {
            assert_eq!(
                parse_compact(&format!(
                    "\n[ {number} ,\t{{ \"z\" : {number}, \"a\":{{ }} }} , [ ] ]"
                ))
                .unwrap(),
                { format!("[{number},{{\"z\":{number},\"a\":{{}}}},[]]") }
            );
        }
    }

    #[test]
    fn the_members_of_an_object_are_what_it_was_made_of() {
        let text = r#"{"z":{"a":[1,{"b":2}]},"e":[],"n":1e1000,"s":"}","\u0061":null,"深":{}}"#
            .parse::<JsonText>()
            .unwrap();
        let members = text.members().unwrap();
        let told: Vec<_> = members
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        assert_eq!(
            told,
            [
                r#"z={"a":[1,{"b":2}]}"#,
                "e=[]",
                "n=1e1000",
                r#"s="}""#,
                "a=null",
                "深={}"
            ]
        );
        let again = JsonText::object(members.iter().map(|(key, value)| (key.as_str(), value)));
        assert_eq!(again.as_str(), text.as_str().replace("\\u0061", "a"));
        assert_eq!(
            "{}".parse::<JsonText>().unwrap().members(),
            Some(Vec::new())
        );
        for none in ["[]", "1", "\"a\"", "null", "[{\"a\":1}]"] {
            assert_eq!(none.parse::<JsonText>().unwrap().members(), None);
        }
    }

    #[test]
    fn a_key_that_stands_twice_is_named_however_it_is_spelled() {
        let twice = |key: &str| Err(JsonError::DuplicateKey { key: key.into() });
        assert_eq!(
            parse_compact(r#"{"a":1,"b":{"a":2},"\u0061":3}"#),
            twice("a")
        );
        assert_eq!(
            parse_compact(r#"[{"a":1},{"a":2}]"#).unwrap(),
            r#"[{"a":1},{"a":2}]"#
        );
    }

    #[test]
    fn depth_is_bounded_and_any_depth_is_survived() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        parse_compact(&nested(MAX_DEPTH)).unwrap();
        assert_eq!(
            parse_compact(&nested(MAX_DEPTH + 1)),
            Err(JsonError::TooDeep)
        );
        assert_eq!(parse_compact(&nested(1_000_000)), Err(JsonError::TooDeep));
    }

    #[test]
    fn what_a_machine_number_cannot_say_is_known_and_comes_as_near_as_it_can() {
        let text = |text: &str| text.parse::<JsonText>().unwrap();
        for exact in [
            "1",
            "0.1",
            "1.50",
            "1e2",
            "-0.0",
            "0",
            "9007199254740993",
            "18446744073709551615",
        ] {
            assert!(is_exact_number(exact), "{exact}");
        }
        for inexact in [
            "1e1000",
            "100000000000000000001",
            "0.1000000000000000055511151231257827",
            "1e-400",
        ] {
            assert!(!is_exact_number(inexact), "{inexact}");
        }
        assert_eq!(
            text("{\"a\":[-1e1000,1]}").to_value(),
            serde_json::json!({"a": [f64::MIN, 1]})
        );
        let deep = text(&format!("{}1{}", "[".repeat(300), "]".repeat(300)));
        assert_eq!(JsonText::from(&deep.to_value()), deep);
    }

    #[test]
    fn every_level_is_two_spaces_further_in() {
        let text = r#"{"a":[1,{"b":{}}],"c":[],"d":"x"}"#;
        assert_eq!(
            format_pretty(text),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": {}\n    }\n  ],\n  \"c\": [],\n  \"d\": \"x\"\n}"
        );
        assert_eq!(
            (
                format_pretty("1e1000").as_str(),
                format_pretty("{broken").as_str()
            ),
            ("1e1000", "{broken")
        );
    }
}
