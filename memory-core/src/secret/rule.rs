//! The detection rules for each kind of credential.

use std::ops::{Range, RangeInclusive};
use std::sync::OnceLock;

use regex::Regex;

use super::assigned::find_assigned_value;
use super::placeholder::{alternates, has_long_random_piece, is_monotonous, is_placeholder};

/// A detection rule for one kind of credential.
pub(super) struct SecretRule {
    /// The display name of the kind.
    pub(super) kind: &'static str,
    /// The literals that trigger the rule, each of at least three bytes.
    pub(super) literals: &'static [&'static str],
    /// Whether case is ignored; the literals are then in lower case.
    pub(super) any_case: bool,
    shape: SecretMatcher,
}

enum SecretMatcher {
    /// A token of the literal and so many characters of an alphabet that pass a check.
    Prefix {
        alphabet: fn(u8) -> bool,
        lengths: RangeInclusive<usize>,
        check: fn(&str) -> bool,
    },
    /// A token that starts with the literal and matches the pattern.
    ///
    /// If the pattern has a group, the group is the credential.
    Token {
        pattern: &'static str,
        compiled: OnceLock<Regex>,
        check: fn(&str) -> bool,
    },
    /// The result of a function of the text and the range of the literal.
    Function(fn(&str, Range<usize>) -> Option<Range<usize>>),
    /// A value that is assigned to a name that contains the literal.
    Assignment,
}

impl SecretRule {
    /// Returns the position of the rule in the list, to compare it with others.
    pub(super) fn order(&self) -> *const Self {
        std::ptr::from_ref(self)
    }

    /// Returns whether the rule detects an assigned value.
    pub(super) fn is_assignment(&self) -> bool {
        matches!(self.shape, SecretMatcher::Assignment)
    }

    /// Returns whether `bytes` starts with `literal`, which is one of the literals of the rule.
    pub(super) fn matches_literal(&self, literal: &str, bytes: &[u8]) -> bool {
        bytes.get(..literal.len()).is_some_and(|start| {
            if self.any_case {
                start.eq_ignore_ascii_case(literal.as_bytes())
            } else {
                start == literal.as_bytes()
            }
        })
    }
}

impl SecretRule {
    /// Returns the credential of this kind at `hit`, the position of one of the rule's literals.
    pub(super) fn find_span(&self, text: &str, hit: Range<usize>) -> Option<Range<usize>> {
        match &self.shape {
            SecretMatcher::Prefix {
                alphabet,
                lengths,
                check,
            } => {
                // A token inside a longer one is not read, so that the search takes linear time.
                if !can_start_token(text, hit.start) {
                    return None;
                }
                let most = lengths.end().saturating_add(1);
                let body = &text.as_bytes()[hit.end..];
                let length = body
                    .iter()
                    .take(most)
                    .take_while(|&&byte| alphabet(byte))
                    .count();
                let body = text.get(hit.end..hit.end + length)?;
                let real = lengths.contains(&length)
                    && check(body)
                    && !is_placeholder(body)
                    && !is_monotonous(body);
                real.then(|| hit.start..hit.end + length)
            }
            SecretMatcher::Function(function) => function(text, hit),
            SecretMatcher::Assignment => find_assigned_value(text, self.kind, hit),
            SecretMatcher::Token {
                pattern,
                compiled,
                check,
            } => {
                if !self.any_case && !can_start_token(text, hit.start) {
                    return None;
                }
                let compile = || {
                    Regex::new(&format!(r"\A(?:{pattern})")).expect("a test compiles every pattern")
                };
                let captures = compiled.get_or_init(compile).captures(&text[hit.start..])?;
                let found = captures.get(1).or_else(|| captures.get(0))?;
                let token = found.as_str();
                let real = check(token) && !is_placeholder(token) && !is_monotonous(token);
                real.then(|| hit.start + found.start()..hit.start + found.end())
            }
        }
    }
}

pub(super) const fn prefix(
    kind: &'static str,
    literals: &'static [&'static str],
    alphabet: fn(u8) -> bool,
    lengths: RangeInclusive<usize>,
    check: fn(&str) -> bool,
) -> SecretRule {
    SecretRule {
        kind,
        literals,
        any_case: false,
        shape: SecretMatcher::Prefix {
            alphabet,
            lengths,
            check,
        },
    }
}

pub(super) const fn token_rule(
    kind: &'static str,
    literals: &'static [&'static str],
    pattern: &'static str,
    check: fn(&str) -> bool,
) -> SecretRule {
    SecretRule {
        kind,
        literals,
        any_case: false,
        shape: SecretMatcher::Token {
            pattern,
            compiled: OnceLock::new(),
            check,
        },
    }
}

pub(super) const fn any_case_token_rule(
    kind: &'static str,
    literals: &'static [&'static str],
    pattern: &'static str,
    check: fn(&str) -> bool,
) -> SecretRule {
    SecretRule {
        kind,
        literals,
        any_case: true,
        shape: SecretMatcher::Token {
            pattern,
            compiled: OnceLock::new(),
            check,
        },
    }
}

pub(super) const fn function_rule(
    kind: &'static str,
    literals: &'static [&'static str],
    function: fn(&str, Range<usize>) -> Option<Range<usize>>,
) -> SecretRule {
    SecretRule {
        kind,
        literals,
        any_case: false,
        shape: SecretMatcher::Function(function),
    }
}

pub(super) const fn assignment_rule(
    kind: &'static str,
    literals: &'static [&'static str],
) -> SecretRule {
    SecretRule {
        kind,
        literals,
        any_case: true,
        shape: SecretMatcher::Assignment,
    }
}

/// Returns whether a token may start at `start`, which is not inside a longer one.
///
/// Every token ends before the next possible start, so the search takes linear time.
fn can_start_token(text: &str, start: usize) -> bool {
    let before = &text[..start];
    // In JSON inside a text, a line break is a backslash followed by a letter.
    if ["\\n", "\\r", "\\t"]
        .iter()
        .any(|escape| before.ends_with(escape))
    {
        return true;
    }
    // Underscores are also emphasis in Markdown, and hyphens begin a flag or an item.
    let before_emphasis = before.trim_end_matches(['_', '-']);
    let is_emphasis = (1..=3).contains(&(before.len() - before_emphasis.len()));
    let before = if is_emphasis { before_emphasis } else { before };
    !before.ends_with(|character: char| {
        character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
    })
}

pub(super) fn has_digit(token: &str) -> bool {
    token.contains(|character: char| character.is_ascii_digit())
}

/// Returns the token around `middle`: characters of an alphabet before it, and base64 behind it.
pub(super) fn find_around(
    text: &str,
    middle: Range<usize>,
    before: RangeInclusive<usize>,
    alphabet: fn(u8) -> bool,
    after: RangeInclusive<usize>,
) -> Option<Range<usize>> {
    let count = |bytes: &mut dyn Iterator<Item = u8>, alphabet: fn(u8) -> bool, most: usize| {
        bytes
            .take(most + 1)
            .take_while(|&byte| alphabet(byte))
            .count()
    };
    let head = count(
        &mut text[..middle.start].bytes().rev(),
        alphabet,
        *before.end(),
    );
    let tail = count(&mut text[middle.end..].bytes(), base64_url, *after.end());
    let found = middle.start.checked_sub(head)?..middle.end + tail;
    let real =
        before.contains(&head) && after.contains(&tail) && !is_placeholder(&text[found.clone()]);
    real.then_some(found)
}

pub(super) fn any(_: &str) -> bool {
    true
}

pub(super) fn hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

pub(super) fn digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

pub(super) fn lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

pub(super) fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

pub(super) fn alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

pub(super) fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

pub(super) fn dotted(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'.'
}

pub(super) fn dotted_upper(byte: u8) -> bool {
    upper(byte) || byte == b'.'
}

pub(super) fn base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-')
}

pub(super) fn base64_url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

pub(super) fn base64_url_or_equals(byte: u8) -> bool {
    base64_url(byte) || byte == b'='
}

/// Returns whether an id is in base32, which has no digits of recent years, and has a digit.
pub(super) fn is_base32(id: &str) -> bool {
    has_digit(id) && !id.contains(['0', '1', '8', '9'])
}

/// Returns whether a key has a long random piece without words before it, except for those of providers.
pub(super) fn is_model_key(key: &str) -> bool {
    const WORDS: [&str; 8] = [
        "proj", "svcacct", "admin", "service", "live", "test", "user", "None",
    ];
    let is_random = |piece: &str| has_long_random_piece(piece) && alternates(piece);
    let is_word = |piece: &str| {
        4 <= piece.len()
            && piece.bytes().all(|byte| byte.is_ascii_lowercase())
            && !WORDS.contains(&piece)
    };
    key.split(['-', '_'])
        .find(|piece| is_word(piece) || is_random(piece))
        .is_some_and(is_random)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::rules::RULES;

    #[test]
    fn every_pattern_compiles() {
        for rule in &RULES {
            if let SecretMatcher::Token { pattern, .. } = &rule.shape {
                assert!(Regex::new(pattern).is_ok(), "{pattern}");
            }
        }
    }
}
