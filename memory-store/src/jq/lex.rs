//! The lexer of jq programs.

use super::error::JqSyntaxError;
use super::read::{EscapeError, unescape};

/// A token with its text in the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JqToken<'s> {
    pub(crate) kind: JqTokenKind,
    pub(crate) text: &'s str,
}

/// The type of a token. A string consists of several tokens: quotes, text and interpolations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JqTokenKind {
    /// A name or keyword.
    Name,
    /// `.name`.
    Field,
    /// `$name`.
    Variable,
    /// `@name`.
    Format,
    Number,
    Symbol,
    Quote,
    /// Literal text in a string.
    Text,
    /// An escaped character in a string.
    Char(char),
    /// `\(`.
    Insert,
    /// The `)` that ends an interpolation.
    InsertEnd,
    QuoteEnd,
    /// A character that is not part of the language.
    Invalid,
    End,
}

/// The construct that encloses the current position.
#[derive(Debug, PartialEq, Eq)]
enum Enclosure {
    Bracket(u8),
    String,
    Insertion,
}

const SYMBOLS: [&str; 33] = [
    "?//", "//=", "|=", "+=", "-=", "*=", "/=", "%=", "==", "!=", "<=", ">=", "//", "..", ".", "?",
    "=", ";", ",", ":", "|", "+", "-", "*", "/", "%", "<", ">", "$", "[", "{", "(", "]",
];

/// Returns all tokens of a program; the last one is [`JqTokenKind::End`].
pub(crate) fn tokenize(program: &str) -> Result<Vec<JqToken<'_>>, JqSyntaxError> {
    let mut lexer = Lexer {
        program,
        at: 0,
        inside: Vec::new(),
        tokens: Vec::new(),
    };
    while lexer.at < program.len() {
        if lexer.inside.last() == Some(&Enclosure::String) {
            lexer.string()?;
        } else {
            lexer.token();
        }
    }
    lexer.push(JqTokenKind::End, 0);
    Ok(lexer.tokens)
}

struct Lexer<'s> {
    program: &'s str,
    at: usize,
    inside: Vec<Enclosure>,
    tokens: Vec<JqToken<'s>>,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        &self.program[self.at..]
    }

    fn push(&mut self, kind: JqTokenKind, length: usize) {
        self.tokens.push(JqToken {
            kind,
            text: &self.rest()[..length],
        });
        self.at += length;
    }

    fn token(&mut self) {
        let rest = self.rest();
        let first = rest.as_bytes()[0];
        match first {
            b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
            b'#' => self.at += comment_length(rest),
            b'"' => {
                self.push(JqTokenKind::Quote, 1);
                self.inside.push(Enclosure::String);
            }
            b'[' | b'{' | b'(' => {
                self.inside.push(Enclosure::Bracket(first));
                self.push(JqTokenKind::Symbol, 1);
            }
            b']' | b'}' | b')' => self.close(first),
            b'0'..=b'9' => self.push(JqTokenKind::Number, number_length(rest)),
            b'.' if rest[1..].starts_with(|next: char| next.is_ascii_digit()) => {
                self.push(JqTokenKind::Number, number_length(rest));
            }
            b'.' if 0 < plain_name_length(&rest[1..]) => {
                self.push(JqTokenKind::Field, 1 + plain_name_length(&rest[1..]));
            }
            b'$' if 0 < name_length(&rest[1..]) => {
                self.push(JqTokenKind::Variable, 1 + name_length(&rest[1..]));
            }
            b'@' if 0 < word_length(&rest[1..]) => {
                self.push(JqTokenKind::Format, 1 + word_length(&rest[1..]));
            }
            _ if 0 < name_length(rest) => self.push(JqTokenKind::Name, name_length(rest)),
            _ => match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
                Some(symbol) => self.push(JqTokenKind::Symbol, symbol.len()),
                None => self.push(
                    JqTokenKind::Invalid,
                    rest.chars().next().map_or(0, char::len_utf8),
                ),
            },
        }
    }

    fn close(&mut self, close: u8) {
        let open = match close {
            b']' => b'[',
            b'}' => b'{',
            _ => b'(',
        };
        match self.inside.last() {
            Some(Enclosure::Bracket(opened)) if *opened == open => {
                self.inside.pop();
                self.push(JqTokenKind::Symbol, 1);
            }
            Some(Enclosure::Insertion) if close == b')' => {
                self.inside.pop();
                self.push(JqTokenKind::InsertEnd, 1);
            }
            _ => self.push(JqTokenKind::Invalid, 1),
        }
    }

    fn string(&mut self) -> Result<(), JqSyntaxError> {
        let rest = self.rest();
        match rest.find(['"', '\\']) {
            None => self.push(JqTokenKind::Text, rest.len()),
            Some(0) if rest.starts_with('"') => {
                self.inside.pop();
                self.push(JqTokenKind::QuoteEnd, 1);
            }
            Some(0) if rest.starts_with("\\(") => {
                self.push(JqTokenKind::Insert, 2);
                self.inside.push(Enclosure::Insertion);
            }
            Some(0) => self.escape()?,
            Some(length) => self.push(JqTokenKind::Text, length),
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), JqSyntaxError> {
        let rest = self.rest();
        let (place, message) = match unescape(rest) {
            Ok((character, length)) => {
                self.push(JqTokenKind::Char(character), length);
                return Ok(());
            }
            Err(EscapeError::Digits(at)) => (at - 2..at, EscapeError::DIGITS.to_owned()),
            Err(EscapeError::Unfinished | EscapeError::Unknown) => {
                let escaped = rest[1..].chars().next();
                let length = 1 + escaped.map_or(0, char::len_utf8);
                let column = length + 2;
                let written = &rest[..length];
                let message = format!(
                    "Invalid escape at line 1, column {column} (while parsing '\"{written}\"')"
                );
                (0..length, message)
            }
        };
        let place = self.at + place.start..self.at + place.end;
        Err(JqSyntaxError::at(self.program, place, &message))
    }
}

/// Returns the length of a comment.
///
/// A comment continues on the next line if its line ends with an odd number of backslashes.
fn comment_length(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let line = line.trim_end_matches('\n');
        let line = line.strip_suffix('\r').unwrap_or(line);
        let backslashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
        if backslashes % 2 == 0 {
            break;
        }
    }
    at
}

fn number_length(text: &str) -> usize {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(0);
    if text[end..].starts_with('.') {
        end += 1 + digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let sign = usize::from(text[end + 1..].starts_with(['+', '-']));
        let exponent = digits(end + 1 + sign);
        if 0 < exponent {
            end += 1 + sign + exponent;
        }
    }
    end
}

/// Returns the length of the letters, digits and underscores at the start.
fn word_length(text: &str) -> usize {
    text.bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        .count()
}

/// Returns the length of a word that does not start with a digit.
fn plain_name_length(text: &str) -> usize {
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        0
    } else {
        word_length(text)
    }
}

/// Returns the length of a name, which may contain `::` between words.
fn name_length(text: &str) -> usize {
    let mut end = plain_name_length(text);
    while 0 < end && text[end..].starts_with("::") {
        match plain_name_length(&text[end + 2..]) {
            0 => break,
            length => end += 2 + length,
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(program: &str) -> Vec<&str> {
        tokenize(program)
            .expect("it is sound")
            .iter()
            .map(|token| token.text)
            .collect()
    }

    #[test]
    fn the_longest_token_is_taken() {
        assert_eq!(texts(".a?//.b"), [".a", "?//", ".b", ""]);
        assert_eq!(texts("1.5e3e.e"), ["1.5e3", "e", ".e", ""]);
        assert_eq!(texts("$a::b|@csv"), ["$a::b", "|", "@csv", ""]);
    }

    #[test]
    fn strings_hold_tokens() {
        assert_eq!(
            texts(r#""a\("b")c""#),
            ["\"", "a", "\\(", "\"", "b", "\"", ")", "c", "\"", ""]
        );
    }

    #[test]
    fn halves_of_a_character_become_one() {
        let tokens = tokenize(r#""\ud83d\ude00\ud83d""#).expect("it is sound");
        assert_eq!(
            [tokens[1].kind, tokens[2].kind],
            [JqTokenKind::Char('😀'), JqTokenKind::Char('\u{fffd}')]
        );
    }

    #[test]
    fn a_comment_goes_on_behind_a_backslash() {
        assert_eq!(texts("1 # a \\\n 2\n+ 3"), ["1", "+", "3", ""]);
        assert_eq!(texts("1 # a \\\\\n+ 3"), ["1", "+", "3", ""]);
    }
}
