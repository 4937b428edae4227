//! A fast parser for the simplest YAML.
//!
//! Nearly all front matter consists of lines of `key: value`, with lists or maps of such values at most one level deep. This
//! parser needs a fortieth of the time of the full parser, which matters because every search parses every file. It returns
//! `None` for all input that is not certainly simple. For all other input it returns the same result as the full parser, which a
//! property test checks.

use super::YamlNode;

/// Parses a text, with numbers and booleans as spelled; `None` if the text is not certainly simple.
pub(super) fn parse(text: &str) -> Option<YamlNode> {
    if !text.ends_with('\n') || text.contains('\r') {
        return None;
    }
    let mut lines = text.lines().peekable();
    let mut entries = Vec::new();
    while let Some(line) = lines.next() {
        let (key, rest) = line.split_once(':')?;
        let key = plain_key(key)?;
        let value = match rest.strip_prefix(' ') {
            Some(value) => scalar(value)?,
            None if rest.is_empty() => block(&mut lines)?,
            None => return None,
        };
        entries.push((key, value));
    }
    (!entries.is_empty()).then_some(YamlNode::Map(entries))
}

/// Parses the list or map below a key with an empty line.
fn block<'t>(lines: &mut std::iter::Peekable<impl Iterator<Item = &'t str>>) -> Option<YamlNode> {
    let Some(first) = lines.peek().filter(|line| line.starts_with("  ")) else {
        // A list without indentation, or any other continuation, is left to the full parser.
        return lines
            .peek()
            .is_none_or(|next| next.starts_with(|letter: char| letter.is_ascii_alphabetic()))
            .then_some(YamlNode::Null);
    };
    let is_list = first.starts_with("  - ");
    let (mut items, mut entries) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next_if(|line| line.starts_with(' ')) {
        let line = line.strip_prefix("  ")?;
        if is_list {
            items.push(scalar(line.strip_prefix("- ")?)?);
        } else {
            let (key, value) = line.split_once(": ")?;
            entries.push((plain_key(key)?, scalar(value)?));
        }
    }
    Some(if is_list {
        YamlNode::List(items)
    } else {
        YamlNode::Map(entries)
    })
}

fn plain_key(key: &str) -> Option<YamlNode> {
    let is_plain = key.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        && word(key).is_none();
    is_plain.then(|| YamlNode::Text(key.to_owned()))
}

fn scalar(value: &str) -> Option<YamlNode> {
    match value.as_bytes() {
        b"[]" => return Some(YamlNode::List(Vec::new())),
        [b'"', inner @ .., b'"'] if !inner.contains(&b'"') && !inner.contains(&b'\\') => {
            return text(&value[1..value.len() - 1]);
        }
        [b'\'', inner @ .., b'\''] if !inner.contains(&b'\'') => {
            return text(&value[1..value.len() - 1]);
        }
        _ => {}
    }
    if value.contains(": ") || value.contains(" #") || value.ends_with([' ', ':']) {
        return None;
    }
    let first = value.chars().next()?;
    if first.is_ascii_digit() {
        return number(value);
    }
    if !first.is_alphanumeric() && first != '/' {
        return None;
    }
    word(value).map_or_else(|| text(value), Some)
}

/// Returns a text node if YAML treats all characters as ordinary ones.
fn text(value: &str) -> Option<YamlNode> {
    let is_letter = |letter: char| match letter {
        // ASCII, CJK punctuation, and typographic quotes and dashes.
        ' '..='~' | '\u{3001}'..='\u{3011}' | '\u{ff01}'..='\u{ff5e}' | '\u{2010}'..='\u{2027}' => {
            true
        }
        _ => letter.is_alphanumeric(),
    };
    value
        .chars()
        .all(is_letter)
        .then(|| YamlNode::Text(value.to_owned()))
}

/// Parses a value that starts with a digit; `None` unless it is certainly a number or certainly a text.
fn number(value: &str) -> Option<YamlNode> {
    let is_short = value.len() < 19 && value.bytes().all(|byte| byte.is_ascii_digit());
    if is_short && (value == "0" || !value.starts_with('0')) {
        return Some(YamlNode::Literal(value.to_owned()));
    }
    // A number has at most one `-` and one `:`, and no letters from the third character on except `e`. Other values are dates,
    // ids or hashes.
    let signs = |sign| value.bytes().filter(|byte| *byte == sign).count();
    let mut letters = value.bytes().skip(2).filter(u8::is_ascii_alphabetic);
    let is_text = 2 <= signs(b'-')
        || 2 <= signs(b':')
        || letters.any(|letter| !matches!(letter, b'e' | b'E'));
    let has_base = ["0x", "0o", "0b"]
        .iter()
        .any(|base| value.starts_with(base));
    if is_text && !has_base {
        text(value)
    } else {
        None
    }
}

/// Returns the node of a reserved word such as `null` or `true`.
fn word(value: &str) -> Option<YamlNode> {
    match value {
        "null" | "Null" | "NULL" => Some(YamlNode::Null),
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => {
            Some(YamlNode::Literal(value.to_owned()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::parse_fully;
    use super::*;

    #[test]
    fn what_a_memory_is_written_as_is_plain() {
        let file = "id: 550e8400-e29b-41d4-a716-446655440000\ncontent_hash: 73d50be2e3ab95\nphase: inbox\ntags:\n  - rust\n  - \"#a\"\n\
                    source: \"\"\ncreated_at: 1970-01-01T00:00:00Z\nexpires_at: null\naccess_count: 12\nlinks: []\n\
                    origin:\n  source: obsidian\n  root: /home/anna/notes\n  path: 001/b.md\nnothing:\n";
        assert_eq!(parse(file), Some(parse_fully(file).unwrap()));
        assert!(parse(file).is_some());
    }

    #[test]
    fn what_is_not_certainly_plain_is_left_to_the_parser() {
        for text in [
            "",
            "a",
            "a:b\n",
            "a: b # c\n",
            "a: b: c\n",
            "a: &b c\n",
            "a: |\n  b\n",
            "a: b\n  c\n",
            "a:\n- b\n",
            "a:\n  - b: c\n",
            "a: 0x1f\n",
            "a: 1e5\n",
            "a: 1.5\n",
            "a: 007\n",
            "a: \"b\\n\"\n",
            "a: 'it''s'\n",
            "---\n",
            "a: b\r\n",
            "# a\na: b\n",
            "true: a\n",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("a: "),
            Just("key:"),
            Just("b-c: "),
            Just("\n"),
            Just("  - "),
            Just("  "),
            Just("- "),
            Just("null"),
            Just("true"),
            Just("12"),
            Just("2025-01-02T03:04:05Z"),
            Just("1e5"),
            Just("0x1F"),
            Just(":"),
            Just(" #"),
            Just("#"),
            Just("\""),
            Just("'"),
            Just("[]"),
            Just("{}"),
            Just("笔记"),
            Just("é"),
            Just("word"),
            Just("~"),
            Just("No"),
            Just("-"),
            Just("1-2-3"),
            Just("1:2:3"),
            Just("inf"),
            Just("1_000"),
            Just("，"),
            Just("—"),
            Just("\u{85}"),
            Just("\\"),
            Just("%"),
            Just("@"),
            Just("!t "),
        ];
        proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat() + "\n")
    }

    proptest! {
        #[test]
        fn what_is_plain_is_what_the_parser_reads(text in pieces()) {
            if let Some(plain) = parse(&text) {
                prop_assert_eq!(Some(plain), parse_fully(&text).ok(), "{:?}", text);
            }
        }

        #[test]
        fn any_line_that_is_plain_is_what_the_parser_reads(key in "[a-zA-Z][a-z_]{0,6}", value in "\\PC{0,12}") {
            let text = format!("{key}: {value}\nnext:\n  - {value}\n");
            if let Some(plain) = parse(&text) {
                prop_assert_eq!(Some(plain), parse_fully(&text).ok(), "{:?}", text);
            }
        }
    }
}
