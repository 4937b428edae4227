//! A streaming JSON tokenizer.

use std::borrow::Cow;
use std::ops::Range;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonTokenKind {
    /// The token `{`.
    ObjectBegins,
    /// The token `}`.
    ObjectEnds,
    /// The token `[`.
    ArrayBegins,
    /// The token `]`.
    ArrayEnds,
    /// The key of an object member, including its quotes.
    Key,
    /// A string, including its quotes.
    String,
    /// A number.
    Number,
    /// `true`, `false` or `null`.
    Literal,
}

/// A token and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct JsonToken {
    /// The kind.
    pub kind: JsonTokenKind,
    /// The byte range in the text.
    pub range: Range<usize>,
    /// The number of enclosing objects and arrays. A bracket is not inside its own object or array.
    pub depth: usize,
}

/// An iterator over the tokens of one JSON value.
///
/// Commas, colons and whitespace are checked, but are not tokens. It does not recurse, so that nesting cannot overflow the stack.
///
/// ```
/// use memory_core::json::{JsonTokenKind, JsonTokens};
///
/// let text = r#"{"count": 1e1000}"#;
/// let numbers = JsonTokens::of(text).filter_map(Result::ok).filter(|token| token.kind == JsonTokenKind::Number);
/// assert_eq!(numbers.map(|number| &text[number.range]).collect::<Vec<_>>(), ["1e1000"]);
/// ```
#[derive(Debug, Clone)]
pub struct JsonTokens<'a> {
    text: &'a [u8],
    at: usize,
    /// Whether each enclosing bracket belongs to an object, outermost first.
    open: Vec<bool>,
    next: ExpectedJsonToken,
}

/// The tokens that may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExpectedJsonToken {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    CommaOrEnd,
    Nothing,
    /// The text was invalid, and the error was returned.
    Failed,
}

impl<'a> JsonTokens<'a> {
    /// Returns the tokens of `text`, which should be a single value.
    pub fn of(text: &'a str) -> Self {
        // A byte-order mark is ignored.
        let at = if text.starts_with('\u{feff}') {
            '\u{feff}'.len_utf8()
        } else {
            0
        };
        Self {
            text: text.as_bytes(),
            at,
            open: Vec::new(),
            next: ExpectedJsonToken::Value,
        }
    }

    /// Returns the tokens of `text`, which follows the opening braces of `objects` nested objects.
    ///
    /// Each object is the last member of the enclosing one. The first token is the key of a member, or the end of the
    /// innermost object.
    ///
    /// ```
    /// use memory_core::json::JsonTokens;
    ///
    /// assert!(JsonTokens::within_objects("\"a\": 1}}", 2).all(|token| token.is_ok()));
    /// ```
    pub fn within_objects(text: &'a str, objects: usize) -> Self {
        let next = if objects == 0 {
            ExpectedJsonToken::Value
        } else {
            ExpectedJsonToken::KeyOrEnd
        };
        Self {
            text: text.as_bytes(),
            at: 0,
            open: vec![true; objects],
            next,
        }
    }

    /// Returns the byte offset of the first unread byte.
    pub fn offset(&self) -> usize {
        self.at
    }

    fn read_token(&mut self) -> Result<Option<JsonToken>, JsonError> {
        loop {
            self.skip_spaces();
            let Some(&byte) = self.text.get(self.at) else {
                return if self.next == ExpectedJsonToken::Nothing {
                    Ok(None)
                } else {
                    Err(self.syntax_error("unexpected end of text"))
                };
            };
            match (self.next, byte) {
                (ExpectedJsonToken::CommaOrEnd, b',') => {
                    self.at += 1;
                    self.next = if self.open.last() == Some(&true) {
                        ExpectedJsonToken::Key
                    } else {
                        ExpectedJsonToken::Value
                    };
                }
                (ExpectedJsonToken::CommaOrEnd | ExpectedJsonToken::KeyOrEnd, b'}')
                    if self.open.last() == Some(&true) =>
                {
                    return Ok(Some(self.read_end()));
                }
                (ExpectedJsonToken::CommaOrEnd | ExpectedJsonToken::ValueOrEnd, b']')
                    if self.open.last() == Some(&false) =>
                {
                    return Ok(Some(self.read_end()));
                }
                (ExpectedJsonToken::Key | ExpectedJsonToken::KeyOrEnd, b'"') => {
                    return self.key().map(Some);
                }
                (ExpectedJsonToken::Value | ExpectedJsonToken::ValueOrEnd, _) => {
                    return self.value(byte).map(Some);
                }
                (ExpectedJsonToken::Nothing, _) => {
                    return Err(self.syntax_error("unexpected text after the value"));
                }
                (ExpectedJsonToken::Key | ExpectedJsonToken::KeyOrEnd, _) => {
                    return Err(self.syntax_error("expected a quoted key"));
                }
                (ExpectedJsonToken::CommaOrEnd, _) => {
                    return Err(self.syntax_error("expected a comma or a closing bracket"));
                }
                (ExpectedJsonToken::Failed, _) => return Ok(None),
            }
        }
    }

    fn value(&mut self, byte: u8) -> Result<JsonToken, JsonError> {
        let (start, depth) = (self.at, self.open.len());
        let kind = match byte {
            b'{' | b'[' => {
                let is_object = byte == b'{';
                self.at += 1;
                self.open.push(is_object);
                self.next = if is_object {
                    ExpectedJsonToken::KeyOrEnd
                } else {
                    ExpectedJsonToken::ValueOrEnd
                };
                let kind = if is_object {
                    JsonTokenKind::ObjectBegins
                } else {
                    JsonTokenKind::ArrayBegins
                };
                return Ok(JsonToken {
                    kind,
                    range: start..self.at,
                    depth,
                });
            }
            b'"' => {
                self.skip_string()?;
                JsonTokenKind::String
            }
            b'-' | b'0'..=b'9' => {
                self.skip_number()?;
                JsonTokenKind::Number
            }
            _ => {
                let rest = &self.text[start..];
                let Some(word) = ["true", "false", "null"]
                    .into_iter()
                    .find(|word| rest.starts_with(word.as_bytes()))
                else {
                    return Err(self.syntax_error("expected a value"));
                };
                self.at += word.len();
                JsonTokenKind::Literal
            }
        };
        self.next = if depth == 0 {
            ExpectedJsonToken::Nothing
        } else {
            ExpectedJsonToken::CommaOrEnd
        };
        Ok(JsonToken {
            kind,
            range: start..self.at,
            depth,
        })
    }

    fn key(&mut self) -> Result<JsonToken, JsonError> {
        let start = self.at;
        self.skip_string()?;
        let range = start..self.at;
        self.skip_spaces();
        if self.text.get(self.at) != Some(&b':') {
            return Err(self.syntax_error("expected a colon"));
        }
        self.at += 1;
        self.next = ExpectedJsonToken::Value;
        Ok(JsonToken {
            kind: JsonTokenKind::Key,
            range,
            depth: self.open.len(),
        })
    }

    fn read_end(&mut self) -> JsonToken {
        let kind = if self.open.pop() == Some(true) {
            JsonTokenKind::ObjectEnds
        } else {
            JsonTokenKind::ArrayEnds
        };
        self.at += 1;
        self.next = if self.open.is_empty() {
            ExpectedJsonToken::Nothing
        } else {
            ExpectedJsonToken::CommaOrEnd
        };
        JsonToken {
            kind,
            range: self.at - 1..self.at,
            depth: self.open.len(),
        }
    }

    fn skip_string(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        self.at += 1;
        loop {
            // Most bytes of a string need no handling.
            self.at += self.text[self.at..]
                .iter()
                .take_while(|byte| !SPECIAL_BYTES[usize::from(**byte)])
                .count();
            match self.text.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.skip_escape()?,
                Some(_) => {
                    return Err(
                        self.syntax_error("a string contains an unescaped control character")
                    );
                }
                None => {
                    self.at = start;
                    return Err(self.syntax_error("unterminated string"));
                }
            }
        }
    }

    fn skip_escape(&mut self) -> Result<(), JsonError> {
        let length = match self.text.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 2,
            Some(b'u') => {
                let digits = self.text.get(self.at + 2..self.at + 6);
                if !digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
                    return Err(self.syntax_error("\\u is not followed by four hexadecimal digits"));
                }
                6
            }
            _ => return Err(self.syntax_error("invalid escape sequence")),
        };
        self.at += length;
        Ok(())
    }

    fn skip_number(&mut self) -> Result<(), JsonError> {
        if self.text[self.at] == b'-' {
            self.at += 1;
        }
        if self.text.get(self.at) == Some(&b'0') {
            self.at += 1;
        } else {
            self.skip_digits()?;
        }
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            self.skip_digits()?;
        }
        if matches!(self.text.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.text.get(self.at), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.skip_digits()?;
        }
        Ok(())
    }

    fn skip_digits(&mut self) -> Result<(), JsonError> {
        let count = self.text[self.at..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if count == 0 {
            return Err(self.syntax_error("expected a digit"));
        }
        self.at += count;
        Ok(())
    }

    fn skip_spaces(&mut self) {
        self.at += self.text[self.at..]
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
            .count();
    }

    fn syntax_error(&self, what: &'static str) -> JsonError {
        JsonError::Syntax { at: self.at, what }
    }
}

impl Iterator for JsonTokens<'_> {
    type Item = Result<JsonToken, JsonError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == ExpectedJsonToken::Failed {
            return None;
        }
        let token = self.read_token();
        if token.is_err() {
            self.next = ExpectedJsonToken::Failed;
        }
        token.transpose()
    }
}

/// The bytes that need handling within a string.
const SPECIAL_BYTES: [bool; 256] = {
    let mut stops = [false; 256];
    let mut control = 0;
    while control < 0x20 {
        stops[control] = true;
        control += 1;
    }
    stops[b'"' as usize] = true;
    stops[b'\\' as usize] = true;
    stops
};

/// Returns the content of a quoted JSON string, or `None` if it contains a lone surrogate.
pub fn unquote(quoted: &str) -> Option<Cow<'_, str>> {
    let inner = quoted.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        serde_json::from_str(quoted).ok().map(Cow::Owned)
    } else {
        Some(Cow::Borrowed(inner))
    }
}

/// The error that a text is not a valid [`JsonText`](super::JsonText).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// The text violates the JSON grammar.
    #[error("{what} (byte {at})")]
    Syntax {
        /// The byte offset, counted from 0.
        at: usize,
        /// The violation.
        what: &'static str,
    },
    /// An object has a duplicate key.
    #[error("duplicate key {key:?} in an object")]
    DuplicateKey {
        /// The key.
        key: String,
    },
    /// The nesting depth exceeds the limit.
    #[error("objects and arrays are nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
}

/// Maximum nesting depth of objects and arrays.
pub const MAX_DEPTH: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Result<Vec<(JsonTokenKind, &str, usize)>, JsonError> {
        JsonTokens::of(text)
            .map(|token| token.map(|token| (token.kind, &text[token.range], token.depth)))
            .collect()
    }

    #[test]
    fn every_token_is_told_with_its_text_and_depth() {
        use JsonTokenKind::{
            ArrayBegins, ArrayEnds, Key, Literal, Number, ObjectBegins, ObjectEnds, String,
        };
        let told = kinds(" { \"a\" : [ 1.50e+3 , null ] , \"b\\u0022\" : \"c\" } ").unwrap();
        let expected = [
            (ObjectBegins, "{", 0),
            (Key, "\"a\"", 1),
            (ArrayBegins, "[", 1),
            (Number, "1.50e+3", 2),
            (Literal, "null", 2),
            (ArrayEnds, "]", 1),
            (Key, "\"b\\u0022\"", 1),
            (String, "\"c\"", 1),
            (ObjectEnds, "}", 0),
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn what_is_no_json_is_refused_where_it_goes_wrong() {
        let cases = [
            ("", 0),
            ("{", 1),
            ("[1,]", 3),
            ("{\"a\"}", 4),
            ("{\"a\":1,}", 7),
            ("[1 2]", 3),
            ("01", 1),
            ("-", 1),
            ("1.", 2),
            ("1e", 2),
            ("+1", 0),
            ("nul", 0),
            ("NaN", 0),
            ("\"\\x\"", 1),
            ("\"\\u12g4\"", 1),
            ("\"a\nb\"", 2),
            ("\"open", 0),
            ("{a:1}", 1),
            ("[1}", 2),
            ("1 1", 2),
            ("'a'", 0),
        ];
        for (text, place) in cases {
            let error = kinds(text).unwrap_err();
            assert!(
                matches!(error, JsonError::Syntax { at, .. } if at == place),
                "{text}: {error:?}"
            );
        }
    }

    #[test]
    fn reading_may_begin_within_objects() {
        let place = |error: Option<JsonError>| match error {
            Some(JsonError::Syntax { at, what }) => Some((at, what)),
            Some(other) => panic!("{other}"),
            None => None,
        };
        for (opening, rest) in [
            ("{\"a\":{", "}}"),
            ("{\"a\":{", "\"b\":[1]}, \"c\":2}"),
            ("{\"a\":{", "}}}"),
            ("{", "}"),
            ("{", "\"b\":1"),
            ("{", "\"b\":}"),
        ] {
            let expected = place(JsonTokens::of(&format!("{opening}{rest}")).find_map(Result::err));
            let found = place(
                JsonTokens::within_objects(rest, opening.matches('{').count())
                    .find_map(Result::err),
            );
            assert_eq!(
                found.map(|(at, what)| (at + opening.len(), what)),
                expected,
                "{rest}"
            );
        }
    }

    #[test]
    fn nothing_is_told_behind_an_error() {
        let mut tokens = JsonTokens::of("[1 2]");
        assert!(
            tokens
                .by_ref()
                .take(3)
                .last()
                .is_some_and(|token| token.is_err())
        );
        assert_eq!(tokens.next(), None);
    }

    #[test]
    fn a_key_of_half_a_character_has_no_text() {
        assert_eq!(unquote("\"\\ud83d\\ude00\""), Some("😀".into()));
        assert_eq!(unquote("\"\\ud83d\""), None);
    }
}
