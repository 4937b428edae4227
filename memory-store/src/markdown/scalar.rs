//! Formats texts as YAML scalars.

use std::fmt::Write as _;

/// The context of a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScalarContext {
    /// In a block, after a key or a dash.
    Block,
    /// Between brackets or braces.
    Flow,
}

/// Returns the text, quoted if necessary.
pub(super) fn scalar(text: &str, within: ScalarContext) -> String {
    if is_plain(text, within) {
        text.to_owned()
    } else {
        double_quoted(text)
    }
}

/// Returns the text in double quotes.
pub(crate) fn double_quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            letter if is_printable(letter) => quoted.push(letter),
            letter if letter <= '\u{ff}' => {
                write!(quoted, "\\x{:02x}", u32::from(letter)).expect("a string takes everything");
            }
            letter => {
                write!(quoted, "\\u{:04x}", u32::from(letter)).expect("a string takes everything");
            }
        }
    }
    quoted.push('"');
    quoted
}

/// Returns the text in single quotes, or `None` if it contains characters that need an escape.
pub(super) fn single_quoted(text: &str) -> Option<String> {
    text.chars()
        .all(is_printable)
        .then(|| format!("'{}'", text.replace('\'', "''")))
}

fn is_plain(text: &str, within: ScalarContext) -> bool {
    let (Some(first), Some(last)) = (text.chars().next(), text.chars().next_back()) else {
        return false;
    };
    let second = text.chars().nth(1).unwrap_or(' ');
    let starts_well = match first {
        '-' | '?' | ':' => {
            within == ScalarContext::Block && !second.is_whitespace() && !text.starts_with("---")
        }
        '.' => !text.starts_with("..."),
        _ => !",[]{}#&*!|>'\"%@`".contains(first),
    };
    let ends_well = !first.is_whitespace() && !last.is_whitespace() && last != ':';
    let is_one_token = match within {
        ScalarContext::Block => true,
        ScalarContext::Flow => !text.contains([',', '[', ']', '{', '}', '?']),
    };
    starts_well
        && ends_well
        && is_one_token
        && !text.contains(": ")
        && !text.contains(" #")
        && text.chars().all(is_printable)
        && !is_ambiguous(text)
}

/// Returns whether some YAML 1.1 or 1.2 parser reads the text as a number, a date, a boolean or null.
fn is_ambiguous(text: &str) -> bool {
    const WORDS: [&str; 17] = [
        "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", "=", "<<", ".inf",
        "-.inf", "+.inf", ".nan", "-",
    ];
    let starts_like_a_number =
        text.starts_with(|letter: char| letter.is_ascii_digit() || "+-.".contains(letter));
    let is_number = || {
        text.chars()
            .all(|letter| letter.is_ascii_digit() || "_.eE+-:, TtZz".contains(letter))
    };
    let digits = text.trim_start_matches(['+', '-']);
    let is_based = || {
        ["0x", "0o", "0b"]
            .iter()
            .any(|base| digits.starts_with(base))
    };
    WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
        || starts_like_a_number && (is_number() || is_based())
}

/// Returns whether all YAML parsers accept the character unescaped.
fn is_printable(letter: char) -> bool {
    match letter {
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        letter => !letter.is_control(),
    }
}
