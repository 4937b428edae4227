//! Values as YAML on one line, for front matter.

use std::fmt::Write;

use serde_json::Value;

/// Words that YAML does not read as text.
const SPECIAL: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];

/// Appends `key: value` as a line with this indentation.
pub(super) fn push_line(yaml: &mut String, indent: usize, key: &str, value: &Value) {
    write!(yaml, "{:indent$}", "").expect("a text grows");
    push_text(yaml, key);
    yaml.push_str(": ");
    push_value(yaml, value);
    yaml.push('\n');
}

/// Appends a list with one item per line, or nothing if it is empty.
pub(super) fn push_list(yaml: &mut String, key: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    push_text(yaml, key);
    yaml.push_str(":\n");
    for item in items {
        yaml.push_str("  - ");
        push_text(yaml, item);
        yaml.push('\n');
    }
}

fn push_value(yaml: &mut String, value: &Value) {
    match value {
        Value::String(text) => push_text(yaml, text),
        Value::Array(items) => {
            yaml.push('[');
            for (number, item) in items.iter().enumerate() {
                yaml.push_str(if number == 0 { "" } else { ", " });
                push_value(yaml, item);
            }
            yaml.push(']');
        }
        Value::Object(fields) => {
            yaml.push('{');
            for (number, (key, value)) in fields.iter().enumerate() {
                yaml.push_str(if number == 0 { " " } else { ", " });
                push_text(yaml, key);
                yaml.push_str(": ");
                push_value(yaml, value);
            }
            yaml.push_str(" }");
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => yaml.push_str(&value.to_string()),
    }
}

/// Appends a text, in quotes unless it is a simple word or a time.
fn push_text(yaml: &mut String, text: &str) {
    let is_word = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/'))
        && !SPECIAL.contains(&text.to_ascii_lowercase().as_str());
    if is_word || is_time(text) {
        yaml.push_str(text);
        return;
    }
    yaml.push('"');
    for character in text.chars() {
        match character {
            '"' => yaml.push_str("\\\""),
            '\\' => yaml.push_str("\\\\"),
            '\n' => yaml.push_str("\\n"),
            '\r' => yaml.push_str("\\r"),
            '\t' => yaml.push_str("\\t"),
            '\0'..='\u{1f}'
            | '\u{7f}'..='\u{a0}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                write!(yaml, "\\u{:04x}", u32::from(character)).expect("a text grows");
            }
            other => yaml.push(other),
        }
    }
    yaml.push('"');
}

/// Returns whether a text is a time in UTC.
fn is_time(text: &str) -> bool {
    let is_digits = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b':' | b'.' | b'T'))
    };
    text.len() >= 20 && text.as_bytes()[10] == b'T' && text.strip_suffix('Z').is_some_and(is_digits)
}

#[cfg(test)]
mod tests {
    use memory_core::testing::any_text;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::yaml::{self, Yaml};

    #[test]
    fn simple_values_have_no_quotes() {
        let mut yaml = String::new();
        push_line(
            &mut yaml,
            2,
            "a",
            &json!({ "b": ["word", "two words", "no", "1.10"], "at": "2024-01-02T03:04:05Z", "m": 3 }),
        );
        assert_eq!(
            yaml,
            "  a: { b: [word, \"two words\", \"no\", \"1.10\"], at: 2024-01-02T03:04:05Z, m: 3 }\n"
        );
    }

    proptest! {
        #[test]
        fn every_text_is_read_as_it_was(text in any_text(), key in any_text()) {
            let mut yaml = String::new();
            push_line(&mut yaml, 0, &format!("k{key}"), &json!([text, { "k": text }]));
            push_list(&mut yaml, "list", std::slice::from_ref(&text));
            let item = Yaml::Text(text.clone());
            let both = Yaml::List(vec![item.clone(), Yaml::Map(vec![("k".into(), item.clone())])]);
            let expected = Yaml::Map(vec![(format!("k{key}"), both), ("list".into(), Yaml::List(vec![item]))]);
            prop_assert_eq!(yaml::parse(&yaml), Ok(expected), "{}", yaml);
        }
    }
}
