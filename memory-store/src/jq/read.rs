//! The JSON parser: concatenated values, and `nan`, as in jq.

use std::rc::Rc;

use super::value::{Map, Val};

/// The maximum nesting of a value.
const MAX_DEPTH: usize = 10_000;

/// A syntax error with its position: lines from 1, columns as jq counts them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonSyntaxError {
    what: String,
    line: usize,
    column: usize,
    at_end: bool,
}

impl std::fmt::Display for JsonSyntaxError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let end = if self.at_end { " at EOF" } else { "" };
        write!(
            formatter,
            "{}{end} at line {}, column {}",
            self.what, self.line, self.column
        )
    }
}

/// Parses the values of a text one by one.
#[derive(Debug)]
pub(crate) struct JsonReader<'t> {
    text: &'t str,
    at: usize,
    broken: bool,
}

/// Parses exactly one value.
pub(crate) fn parse_one(text: &str) -> Result<Val, JsonSyntaxError> {
    let mut reader = JsonReader::new(text);
    let value = reader
        .next()
        .unwrap_or_else(|| Err(reader.error("Expected JSON value")))?;
    match reader.next() {
        None => Ok(value),
        Some(Ok(_)) => Err(reader.error("Unexpected extra JSON values")),
        Some(Err(flaw)) => Err(flaw),
    }
}

impl<'t> JsonReader<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text: text.strip_prefix('\u{feff}').unwrap_or(text),
            at: 0,
            broken: false,
        }
    }

    /// Returns the offset after the last parsed value.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    pub(crate) fn from_offset(text: &'t str, at: usize) -> Self {
        Self {
            text,
            at,
            broken: false,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n' | 0x1e)) {
            self.at += 1;
        }
    }

    fn error(&self, what: &str) -> JsonSyntaxError {
        self.error_at(what, self.at)
    }

    fn error_at(&self, what: &str, at: usize) -> JsonSyntaxError {
        let bytes = self.text.as_bytes();
        let at_end = bytes.len() <= at;
        let read = &bytes[..(at + 1).min(bytes.len())];
        let line = read.split(|byte| *byte == b'\n').count();
        let column = read.iter().rev().take_while(|byte| **byte != b'\n').count();
        JsonSyntaxError {
            what: what.to_owned(),
            line,
            column,
            at_end,
        }
    }

    fn value(&mut self, depth: usize) -> Result<Val, JsonSyntaxError> {
        self.skip_space();
        match self.peek() {
            Some(b'{' | b'[') if MAX_DEPTH <= depth => {
                Err(self.error("Exceeds depth limit for parsing"))
            }
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => Ok(Val::Str(Rc::new(self.string()?))),
            Some(b'\'') => Err(self.error_at(
                "Invalid string literal; expected \", but got '",
                self.token_end(),
            )),
            Some(b']') => Err(self.error("Expected value before ']'")),
            Some(b'}') => Err(self.error("Expected value before '}'")),
            Some(b',') => Err(self.error("Expected value before ','")),
            Some(b':') => Err(self.error("Expected string key before ':'")),
            Some(_) => self.word(),
            None => Err(self.error("Unfinished JSON term")),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Val, JsonSyntaxError> {
        self.at += 1;
        let mut values = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Val::array(values));
        }
        loop {
            values.push(self.value(depth + 1)?);
            self.skip_space();
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.skip_space();
                    if self.peek() == Some(b']') {
                        return Err(self.error("Expected another array element"));
                    }
                }
                Some(b']') => {
                    self.at += 1;
                    return Ok(Val::array(values));
                }
                Some(b'}') => return Err(self.error("Unmatched '}'")),
                Some(b':') => return Err(self.error("':' not as part of an object")),
                Some(_) => return Err(self.error("Expected separator between values")),
                None => return Err(self.error("Unfinished JSON term")),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Val, JsonSyntaxError> {
        self.at += 1;
        let mut map = Map::default();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Val::object(map));
        }
        loop {
            self.skip_space();
            let key = match self.peek() {
                Some(b'"') => self.string()?,
                Some(b'\'') => {
                    return Err(self.error_at(
                        "Invalid string literal; expected \", but got '",
                        self.token_end(),
                    ));
                }
                Some(b'}') => return Err(self.error("Expected another key-value pair")),
                Some(_) => return Err(self.error("Object keys must be strings")),
                None => return Err(self.error("Unfinished JSON term")),
            };
            self.skip_space();
            match self.peek() {
                Some(b':') => self.at += 1,
                Some(_) => return Err(self.error("Objects must consist of key:value pairs")),
                None => return Err(self.error("Unfinished JSON term")),
            }
            let value = self.value(depth + 1)?;
            map.insert(Rc::new(key), value);
            self.skip_space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Val::object(map));
                }
                Some(b']') => return Err(self.error("Unmatched ']' in the middle of an object")),
                Some(_) => return Err(self.error("Expected separator between values")),
                None => return Err(self.error("Unfinished JSON term")),
            }
        }
    }

    fn string(&mut self) -> Result<String, JsonSyntaxError> {
        self.at += 1;
        let mut text = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest
                .bytes()
                .position(|byte| byte == b'"' || byte == b'\\' || byte < 0x20);
            let Some(plain) = plain else {
                self.at = self.text.len();
                return Err(self.error("Unfinished string"));
            };
            text.push_str(&rest[..plain]);
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                _ => {
                    let what = "Invalid string: control characters from U+0000 through U+001F must be escaped";
                    return Err(self.error_at(what, self.token_end()));
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonSyntaxError> {
        match unescape(&self.text[self.at..]) {
            Ok((character, length)) => {
                self.at += length;
                Ok(character)
            }
            Err(EscapeError::Unfinished) => {
                self.at += 1;
                Err(self.error("Expected escape character at end of string"))
            }
            Err(EscapeError::Digits(at)) => {
                self.at += at;
                Err(self.error(EscapeError::DIGITS))
            }
            Err(EscapeError::Unknown) => {
                self.at += 2;
                Err(self.error_at("Invalid escape", self.token_end()))
            }
        }
    }

    /// Parses a number, a JSON literal or `nan`.
    fn word(&mut self) -> Result<Val, JsonSyntaxError> {
        let start = self.at;
        while self
            .peek()
            .is_some_and(|byte| !b" \t\r\n\x1e[]{},:\"".contains(&byte))
        {
            self.at += 1;
        }
        // jq reports an error at the character that ends a word.
        let (word, end) = (&self.text[start..self.at], self.at);
        Ok(match word {
            "null" => Val::Null,
            "true" => Val::Bool(true),
            "false" => Val::Bool(false),
            _ => match word.strip_prefix('-').unwrap_or(word) {
                "nan" | "NaN" => Val::Num(f64::NAN),
                "Infinity" | "infinity" | "inf" if word.starts_with('-') => {
                    Val::Num(f64::NEG_INFINITY)
                }
                "Infinity" | "infinity" | "inf" => Val::Num(f64::INFINITY),
                _ if word.starts_with(['t', 'f', 'n']) => {
                    return Err(self.error_at("Invalid literal", end));
                }
                _ if is_number(word) => Val::parse_number(word)
                    .ok_or_else(|| self.error_at("Invalid numeric literal", end))?,
                _ => return Err(self.error_at("Invalid numeric literal", end)),
            },
        })
    }

    fn token_end(&self) -> usize {
        let rest = self.text.as_bytes().get(self.at + 1..).unwrap_or_default();
        let end = rest
            .iter()
            .position(|byte| b"[]{},:\"".contains(byte))
            .unwrap_or(rest.len());
        self.at + 1 + end
    }
}

impl Iterator for JsonReader<'_> {
    type Item = Result<Val, JsonSyntaxError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.skip_space();
        if self.broken || self.peek().is_none() {
            return None;
        }
        let value = self.value(0);
        self.broken = value.is_err();
        Some(value)
    }
}

/// The reason why an escape has no character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EscapeError {
    /// The text ends after the backslash.
    Unfinished,
    /// There are no four digits at an offset in the escape.
    Digits(usize),
    Unknown,
}

impl EscapeError {
    /// The message for [`EscapeError::Digits`].
    pub(crate) const DIGITS: &'static str = "Invalid characters in \\uXXXX escape";
}

/// Returns the character of the escape at the start of `text`, and the length of the escape.
///
/// Two halves of a character are one escape; one half alone is `\u{fffd}`.
pub(crate) fn unescape(text: &str) -> Result<(char, usize), EscapeError> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 4);
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        unit.ok_or(EscapeError::Digits(at))
    };
    let character = match text.as_bytes().get(1) {
        None => return Err(EscapeError::Unfinished),
        Some(letter @ (b'"' | b'\\' | b'/')) => char::from(*letter),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => {
            let high = unit(2)?;
            let is_pair = (0xd800..0xdc00).contains(&high) && text[6..].starts_with("\\u");
            let (code, length) = match is_pair.then(|| unit(8)).transpose()? {
                Some(low @ 0xdc00..0xe000) => {
                    (0x10000 + ((high - 0xd800) << 10) + low - 0xdc00, 12)
                }
                _ => (high, 6),
            };
            let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            return Ok((character, length));
        }
        Some(_) => return Err(EscapeError::Unknown),
    };
    Ok((character, 2))
}

/// Returns whether a word is a number.
///
/// A number has an optional sign, digits with at most one point, and an optional exponent.
pub(crate) fn is_number(word: &str) -> bool {
    let unsigned = word.strip_prefix(['-', '+']).unwrap_or(word);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let good_mantissa =
        digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    let good_exponent = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    good_mantissa && good_exponent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let values = JsonReader::new(text)
            .map(|value| value.map_or_else(|flaw| flaw.to_string(), |value| value.to_string()));
        values.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn values_follow_each_other() {
        assert_eq!(
            read(" 1[2]\n{\"a\" : 3}\"b\"true"),
            r#"1 [2] {"a":3} "b" true"#
        );
        assert_eq!(read("nan -nan [NaN]"), "null null [null]");
        assert_eq!(read(""), "");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        assert_eq!(
            read("[1,"),
            "Unfinished JSON term at EOF at line 1, column 3"
        );
        assert_eq!(
            read("[1 2]"),
            "Expected separator between values at line 1, column 4"
        );
        assert_eq!(
            read("{\"a\":1,}"),
            "Expected another key-value pair at line 1, column 8"
        );
        assert_eq!(
            read("1 nul"),
            "1 Invalid literal at EOF at line 1, column 5"
        );
        assert_eq!(
            read("\"a\nb\""),
            "Invalid string: control characters from U+0000 through U+001F must be escaped at line 2, column 2"
        );
        assert_eq!(
            read("\n 1x"),
            "Invalid numeric literal at EOF at line 2, column 3"
        );
    }

    #[test]
    fn depth_is_bounded() {
        let look = || {
            let deepest = parse_one(&("[".repeat(10_000) + &"]".repeat(10_000)));
            (deepest.is_ok(), read(&"[".repeat(1_000_000)))
        };
        let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(look);
        let (deepest, deeper) = thread.expect("a thread").join().expect("no panic");
        assert!(deepest);
        assert!(deeper.starts_with("Exceeds depth limit for parsing"));
    }

    #[test]
    fn escapes_become_characters() {
        assert_eq!(
            parse_one(r#""\u00e4\ud83d\ude00\ud83d\n""#),
            Ok(Val::str("ä😀\u{fffd}\n"))
        );
    }
}
