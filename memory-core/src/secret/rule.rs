//! The detection rules for each kind of credential.

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

use super::placeholder::{has_long_random_piece, is_monotonous, is_placeholder, looks_random};

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

/// All rules. If multiple rules match the same text, the first one determines the kind.
pub(super) static RULES: [SecretRule; 25] = [
    function_rule("private key", &["-----BEGIN "], find_private_key),
    token_rule(
        "AWS access key",
        &["AKIA", "ASIA"],
        "[A-Z0-9]{20,}",
        |token| token.len() == 20,
    ),
    any_case_token_rule(
        "AWS secret key",
        &["secret_access_key", "secretaccesskey"],
        r#"(?i:secret_?access_?key)["']?\s{0,3}[:=]\s{0,3}["']?([A-Za-z0-9/+]{40,})"#,
        |key| key.len() == 40,
    ),
    token_rule("Google API key", &["AIza"], "[A-Za-z0-9_-]{39,}", |token| {
        token.len() == 39
    }),
    token_rule(
        "GitHub token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        "gh._[A-Za-z0-9]{36,255}",
        |_| true,
    ),
    token_rule(
        "GitHub token",
        &["github_pat_"],
        "github_pat_[A-Za-z0-9_]{40,255}",
        |_| true,
    ),
    token_rule(
        "GitLab token",
        &["glpat-", "gldt-", "glrt-"],
        r"gl[a-z]+-[A-Za-z0-9_-]{20,}(?:\.[a-z0-9]{2}\.[a-z0-9]{9})?",
        |_| true,
    ),
    token_rule(
        "Anthropic key",
        &["sk-ant-"],
        "sk-ant-[A-Za-z0-9_-]{20,}",
        has_long_random_piece,
    ),
    token_rule(
        "OpenAI key",
        &["sk-"],
        "sk-[A-Za-z0-9_-]{20,}",
        has_long_random_piece,
    ),
    token_rule(
        "Slack token",
        &["xox", "xapp-"],
        "(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}",
        has_digit,
    ),
    token_rule(
        "Slack webhook",
        &["hooks.slack.com/"],
        r"hooks\.slack\.com/[a-z]+/[A-Za-z0-9/]{20,}",
        |_| true,
    ),
    token_rule(
        "Stripe key",
        &["sk_live_", "rk_live_"],
        "[rs]k_live_[A-Za-z0-9]{16,}",
        |_| true,
    ),
    token_rule("npm token", &["npm_"], "npm_[A-Za-z0-9]{36,}", |_| true),
    token_rule(
        "PyPI token",
        &["pypi-AgE"],
        "pypi-AgE[A-Za-z0-9_-]{50,}",
        |_| true,
    ),
    token_rule(
        "Hugging Face token",
        &["hf_"],
        "hf_[A-Za-z0-9]{30,}",
        |_| true,
    ),
    function_rule("Telegram token", &[":AA"], find_telegram_token),
    token_rule(
        "SendGrid key",
        &["SG."],
        r"SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}",
        |_| true,
    ),
    token_rule(
        "Azure storage key",
        &["AccountKey="],
        "AccountKey=([A-Za-z0-9+/]{40,}={0,2})",
        |_| true,
    ),
    token_rule(
        "JSON web token",
        &["eyJ"],
        r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}",
        |_| true,
    ),
    token_rule(
        "bearer token",
        &["Bearer ", "bearer "],
        "[Bb]earer ([A-Za-z0-9+/._~-]{20,}=*)",
        has_long_random_piece,
    ),
    function_rule("password in a URL", &["://"], find_password),
    assignment_rule("password", &["password", "passwd"]),
    assignment_rule("API key", &["api_key", "api-key", "apikey"]),
    assignment_rule("secret", &["secret"]),
    assignment_rule("token", &["token"]),
];

impl SecretRule {
    /// Returns the index of the rule.
    pub(super) fn index(&self) -> usize {
        RULES
            .iter()
            .position(|rule| std::ptr::eq(rule, self))
            .unwrap_or(RULES.len())
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
            SecretMatcher::Function(function) => function(text, hit),
            SecretMatcher::Assignment => find_assigned_value(text, hit),
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

const fn token_rule(
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

const fn any_case_token_rule(
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

const fn function_rule(
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

const fn assignment_rule(kind: &'static str, literals: &'static [&'static str]) -> SecretRule {
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

fn has_digit(token: &str) -> bool {
    token.contains(|character: char| character.is_ascii_digit())
}

/// Returns the Telegram bot token `<8 to 10 digits>:AA<33 more>` around its middle.
fn find_telegram_token(text: &str, middle: Range<usize>) -> Option<Range<usize>> {
    let digits = text[..middle.start]
        .bytes()
        .rev()
        .take(11)
        .take_while(u8::is_ascii_digit)
        .count();
    let tail = text[middle.end..]
        .bytes()
        .take(34)
        .take_while(|&byte| is_base64_url(byte))
        .count();
    let found = middle.start - digits..middle.end + tail;
    let real = (8..=10).contains(&digits) && tail == 33 && !is_placeholder(&text[found.clone()]);
    real.then_some(found)
}

fn is_base64_url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// Minimum length of a credential in bytes.
const MIN_LENGTH: usize = 16;

/// Maximum number of bytes of a value to examine; they suffice for the decision.
const MAX_EXAMINED: usize = 256;

/// Returns the value that is assigned to a name with `keyword`: `DB_PASSWORD="…"`, `**api_key**: …`, `--password …`, or in a table.
fn find_assigned_value(text: &str, keyword: Range<usize>) -> Option<Range<usize>> {
    let is_flag = text[..keyword.start].ends_with("--");
    let rest = skip_name(&text[keyword.end..])?;
    let after_blanks = skip_blanks(rest);
    let rest = after_blanks
        .strip_prefix(":=")
        .or_else(|| after_blanks.strip_prefix("=>"))
        .or_else(|| after_blanks.strip_prefix([':', '=', '|']))
        .or_else(|| (is_flag && after_blanks.len() < rest.len()).then_some(after_blanks))?;
    let rest = skip_blanks(skip_quote(skip_blanks(rest)));

    let start = text.len() - rest.len();
    let looked_at = value_length(rest.bytes().take(MAX_EXAMINED));
    let value = &rest[..looked_at];
    if value.len() < MIN_LENGTH
        || !looks_random(value)
        || is_reference(value)
        || is_placeholder(value)
    {
        return None;
    }
    Some(start..start + value_length(rest.bytes()))
}

/// Skips the rest of a name, such as `_base` after `secret`, and its closing quote.
fn skip_name(rest: &str) -> Option<&str> {
    let name = rest
        .bytes()
        .take(25)
        .take_while(|&byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
        .count();
    let rest = (name < 25).then(|| &rest[name..])?;
    Some(skip_quote(rest))
}

/// Skips a quote, also within a text in JSON, or the marks of emphasis in Markdown.
fn skip_quote(rest: &str) -> &str {
    let marks = rest
        .bytes()
        .take(3)
        .take_while(|&byte| byte == b'*')
        .count();
    let rest = &rest[marks..];
    let unescaped = rest.strip_prefix('\\').unwrap_or(rest);
    unescaped.strip_prefix(is_quote).unwrap_or(rest)
}

/// Skips up to three spaces or tabs around an assignment sign.
fn skip_blanks(rest: &str) -> &str {
    let blanks = rest
        .bytes()
        .take(3)
        .take_while(|&byte| byte == b' ' || byte == b'\t')
        .count();
    &rest[blanks..]
}

fn is_quote(character: char) -> bool {
    matches!(character, '"' | '\'' | '`')
}

/// Returns the length of a value: printable ASCII except quotes, brackets and separators of lists.
fn value_length(bytes: impl Iterator<Item = u8>) -> usize {
    let in_value = |byte: &u8| byte.is_ascii_graphic() && !b"\"'`,;<>(){}[]|\\".contains(byte);
    bytes.take_while(in_value).count()
}

/// Returns whether `value` is a path, a URL or another reference rather than a credential.
fn is_reference(value: &str) -> bool {
    value.contains("://") || value.contains("::") || value.starts_with(['/', '.', '~', '@'])
}

/// Minimum length of an uninterrupted run of characters in a key. Ordinary words and `...` are shorter.
const MIN_RUN: usize = 16;

/// Returns the private key that starts with `-----BEGIN … PRIVATE KEY-----`.
///
/// `begin` is the range of `-----BEGIN `.
///
/// The block extends to its last line, or else to the next block, or else to the end of the text.
fn find_private_key(text: &str, begin: Range<usize>) -> Option<Range<usize>> {
    let label = &text[begin.end..];
    let label = &label[..label
        .bytes()
        .take(64)
        .position(|byte| !is_label_byte(byte))?];
    let body = begin.end
        + label.len()
        + text[begin.end + label.len()..]
            .strip_prefix("-----")
            .map(|_| 5)?;
    if !(label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK")) {
        return None;
    }
    let rest = &text[body..];
    let next = rest.find("-----BEGIN ").unwrap_or(rest.len());
    let end = match rest[..next].find("-----END ") {
        Some(last_line) => {
            let closing = format!("-----END {label}-----");
            last_line
                + if rest[last_line..].starts_with(&closing) {
                    closing.len()
                } else {
                    0
                }
        }
        None => next,
    };
    has_encoded_data(&rest[..end]).then(|| begin.start..body + end)
}

fn is_label_byte(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b' '
}

/// Returns whether `body` contains encoded data rather than only prose.
fn has_encoded_data(body: &str) -> bool {
    body.split(|character: char| {
        !(character.is_ascii_alphanumeric() || matches!(character, '+' | '/'))
    })
    .any(|run| {
        MIN_RUN <= run.len()
            && run.bytes().any(|byte| byte.is_ascii_uppercase())
            && run.bytes().any(|byte| byte.is_ascii_lowercase())
            && run.bytes().any(|byte| !byte.is_ascii_alphabetic())
    })
}

/// Maximum length of user and password in bytes; it bounds the scan of each URL.
const MAX_AUTHORITY: usize = 512;

/// Returns the password in `scheme://user:password@host`, where `separator` is `://`.
fn find_password(text: &str, separator: Range<usize>) -> Option<Range<usize>> {
    let has_scheme =
        text[..separator.start].ends_with(|character: char| character.is_ascii_alphanumeric());
    let rest = &text[separator.end..];
    let authority = rest
        .bytes()
        .take(MAX_AUTHORITY)
        .take_while(|&byte| is_authority_byte(byte))
        .count();
    // The last `@` ends the password, since people may not escape an `@` in it.
    let at = rest.as_bytes()[..authority]
        .iter()
        .rposition(|&byte| byte == b'@')?;
    let colon = rest.as_bytes()[..at]
        .iter()
        .position(|&byte| byte == b':')?;
    let password = &rest[colon + 1..at];

    let real = has_scheme
        && !password.is_empty()
        && !is_generic_word(password)
        && !is_placeholder(password);
    real.then(|| separator.end + colon + 1..separator.end + at)
}

fn is_authority_byte(byte: u8) -> bool {
    0x80 <= byte || (byte.is_ascii_graphic() && !b"/?#\"'`\\[]()<>".contains(&byte))
}

/// Returns whether `password` is only a generic word or a mask.
fn is_generic_word(password: &str) -> bool {
    ["password", "passwd", "secret", "token", "..."]
        .iter()
        .any(|word| password.eq_ignore_ascii_case(word))
        || password
            .bytes()
            .all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for rule in &RULES {
            if let SecretMatcher::Token { pattern, .. } = &rule.shape {
                assert!(Regex::new(pattern).is_ok(), "{pattern}");
            }
        }
    }
}
