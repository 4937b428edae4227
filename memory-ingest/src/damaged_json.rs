//! Finding the whole objects in JSON that is not one value.

use std::ops::Range;

use serde::de::IgnoredAny;
use serde_json::Deserializer;

/// Maximum number of places in a damaged text where an object is looked for.
const MAX_STARTS: usize = 100;

/// Splits the text of a line, or of a part of a list, into whole objects and the damaged parts between them, in order. A text that
/// contains no whole object is one part.
///
/// An object that was cut off, and to which another one was added, costs only itself. Objects within a damaged one are not taken for
/// records.
pub fn split_objects(text: &[u8]) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut damaged = skip_separators(text, 0);
    let (whole, end) = read_objects(text, damaged);
    parts.extend(whole);
    if is_end(text, end) {
        return parts;
    }
    damaged = end;
    let first_key = key_at(text, damaged);
    let is_record = |start: &usize| match text[damaged..*start].trim_ascii_end().last() {
        None | Some(b':' | b'[') => false,
        // The records of a file begin with the same key.
        Some(b',') => key_at(text, *start) == first_key,
        Some(_) => true,
    };
    let starts = memchr::memmem::find_iter(&text[damaged..], b"{\"").map(|at| damaged + at);
    for start in starts.filter(is_record).take(MAX_STARTS) {
        let (whole, end) = read_objects(text, start);
        if !whole.is_empty() && is_end(text, end) {
            parts.push(damaged..start);
            parts.extend(whole);
            return parts;
        }
    }
    parts.push(damaged..text.len());
    parts
}

/// Returns the objects that follow each other from `start`, and where they end.
fn read_objects(text: &[u8], start: usize) -> (Vec<Range<usize>>, usize) {
    let (mut objects, mut at) = (Vec::new(), start);
    while text.get(at) == Some(&b'{') {
        let mut values = Deserializer::from_slice(&text[at..]).into_iter::<IgnoredAny>();
        let Some(Ok(_)) = values.next() else { break };
        let end = at + values.byte_offset();
        objects.push(at..end);
        at = skip_separators(text, end);
    }
    (objects, at)
}

/// Returns whether a text has only brackets from `at` on, which close a list around its objects.
fn is_end(text: &[u8], at: usize) -> bool {
    text[at..]
        .iter()
        .all(|byte| byte.is_ascii_whitespace() || matches!(byte, b']' | b'}'))
}

fn skip_separators(text: &[u8], at: usize) -> usize {
    let rest = text[at..].iter();
    let length = rest.take_while(|byte| byte.is_ascii_whitespace() || **byte == b',');
    at + length.count()
}

/// Returns the name of the first member of the object at `at`, as written.
fn key_at(text: &[u8], at: usize) -> Option<&[u8]> {
    let rest = text[at..].strip_prefix(b"{")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"")?;
    Some(&rest[..memchr::memchr(b'"', rest)?])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::split_objects;

    fn parts(text: &str) -> Vec<&str> {
        let parts = split_objects(text.as_bytes()).into_iter();
        parts.map(|part| &text[part]).collect()
    }

    #[test]
    fn whole_objects_are_found_beside_damaged_ones() {
        for (text, expected) in [
            (
                r#"{"a":1}{"b":{"a":2}}"#,
                vec![r#"{"a":1}"#, r#"{"b":{"a":2}}"#],
            ),
            (r#" {"a":1} , {"b":2} "#, vec![r#"{"a":1}"#, r#"{"b":2}"#]),
            (r#"{"a":1}{"b":"#, vec![r#"{"a":1}"#, r#"{"b":"#]),
            (r#"{"a":"x{"b":2}"#, vec![r#"{"a":"x"#, r#"{"b":2}"#]),
            (
                r#"{"a":[1}{"b":2}{"c":3}"#,
                vec![r#"{"a":[1}"#, r#"{"b":2}"#, r#"{"c":3}"#],
            ),
            (
                r#"{"a":["x"},{"a":2},{"a":3}]"#,
                vec![r#"{"a":["x"},"#, r#"{"a":2}"#, r#"{"a":3}"#],
            ),
            (
                r#"{"a":{"a":1}}}{"a":2}"#,
                vec![r#"{"a":{"a":1}}"#, "}", r#"{"a":2}"#],
            ),
            // An object within a damaged one is no record.
            (r#"{"a":[{"b":1},{"b":2}"#, vec![r#"{"a":[{"b":1},{"b":2}"#]),
            (r#"{"a":{"b":1}"#, vec![r#"{"a":{"b":1}"#]),
            ("nonsense", vec!["nonsense"]),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
    }

    #[test]
    fn many_starts_take_no_time() {
        let text = "{\"a\":[1,".repeat(100_000);
        assert_eq!(parts(&text), [text.as_str()]);
    }

    proptest! {
        #[test]
        fn parts_are_in_order_and_leave_out_only_separators(text in "([\\[\\]{}:,\"\\\\ x1]|\\{\"a\":|\\{\"b\":1\\}){0,30}") {
            let mut end = 0;
            for part in split_objects(text.as_bytes()) {
                prop_assert!(end <= part.start && part.start < part.end);
                prop_assert!(text[end..part.start].chars().all(|character| " ,".contains(character)), "{text}");
                end = part.end;
            }
            prop_assert!(text[end..].chars().all(|character| " ,]}".contains(character)), "{text}");
        }
    }
}
