use std::io::{Cursor, Read};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{JsonElements, parse};

/// A reader that returns few bytes at a time.
struct SlowReader(Cursor<Vec<u8>>, usize);

impl Read for SlowReader {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = buffer.len().min(self.1);
        self.0.read(&mut buffer[..length])
    }
}

fn values(elements: JsonElements<impl Read>) -> Vec<Result<Value, String>> {
    elements
        .map(|element| element.bytes.and_then(parse))
        .collect()
}

fn read_list(text: &str) -> Vec<Result<Value, String>> {
    values(JsonElements::of_list(Cursor::new(text.as_bytes().to_vec())))
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
        r#"[\[\]{},:"\\ a]{0,8}"#.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(".{0,4}", inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn the_elements_are_those_of_the_list(
        list in prop::collection::vec(any_json(), 0..8),
        is_pretty: bool,
        step in 1_usize..40,
    ) {
        let format = |value: &Value| if is_pretty { format!("{value:#}") } else { value.to_string() };
        let expected: Vec<_> = list.iter().cloned().map(Ok).collect();
        let slow = |text: String| SlowReader(Cursor::new(text.into_bytes()), step);
        prop_assert_eq!(&values(JsonElements::of_list(slow(format(&json!(list))))), &expected);
        let lines = list.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        prop_assert_eq!(&values(JsonElements::of_lines(slow(lines))), &expected);
        let objects = list.iter().map(|value| format(&json!({ "o": value }))).collect::<Vec<_>>().concat();
        let expected: Vec<_> = list.iter().map(|value| Ok(json!({ "o": value }))).collect();
        prop_assert_eq!(&values(JsonElements::of_list(slow(objects))), &expected);
    }

    #[test]
    fn any_input_comes_to_an_end(bytes in prop::collection::vec(prop::sample::select(&b"[]{},:\"\\a1 \n"[..]), 0..60)) {
        let elements = JsonElements::of_list(Cursor::new(bytes.clone()));
        prop_assert!(elements.count() <= bytes.len() + 1);
        let lines = JsonElements::of_lines(Cursor::new(bytes.clone()));
        prop_assert!(lines.count() <= bytes.len() + 1);
    }
}

#[test]
fn a_broken_element_does_not_hide_those_after_it() {
    let found = read_list(r#"[{"a":1}, {"a":}, nonsense}, {"a":2}"#);
    let is_read: Vec<_> = found.iter().map(Result::is_ok).collect();
    assert_eq!(is_read, [true, false, false, true, false]);
    assert_eq!(found[3], Ok(json!({"a": 2})));
    assert_eq!(found[4], Err("ends in the middle of its content".into()));
    let found = read_list(r#"[{"a":"x"#);
    assert!(
        matches!(found.as_slice(), [Err(reason)] if reason.contains("EOF")),
        "{found:?}"
    );
    assert_eq!(read_list(""), []);
    assert_eq!(read_list("data\n\n{}"), [Err("is not a JSON list".into())]);
    assert_eq!(
        read_list("\u{feff} {\"a\":1}\ntext\nmore"),
        [
            Ok(json!({"a": 1})),
            Err("contains text between objects".into())
        ]
    );
    let lines = values(JsonElements::of_lines(Cursor::new("\u{feff}1\r\n\n{\n2")));
    assert_eq!(
        lines.iter().map(Result::is_ok).collect::<Vec<_>>(),
        [true, false, true]
    );
}

#[test]
fn an_element_beyond_the_limit_is_skipped_alone() {
    let text = r#"["aaaaaaaa", 1, ["bbbbbbbbb"], 2]"#;
    let mut elements = JsonElements::of_list(Cursor::new(text));
    elements.max_element = 4;
    let found: Vec<_> = elements
        .map(|element| (element.number, element.bytes.is_ok()))
        .collect();
    assert_eq!(found, [(1, false), (2, true), (3, false), (4, true)]);
    let mut lines = JsonElements::of_lines(Cursor::new("12345\n1\n"));
    lines.max_element = 4;
    assert_eq!(
        lines
            .map(|line| (line.number, line.bytes.is_ok()))
            .collect::<Vec<_>>(),
        [(1, false), (2, true)]
    );
}

#[test]
fn a_damaged_element_leaves_the_others_in_its_line() {
    let text = "{\"a\":1}{\"a\":2}\n{\"a\":\"cut{\"a\":3}\n4\n";
    let found: Vec<_> = JsonElements::of_lines(Cursor::new(text))
        .map(|line| (line.number, line.bytes.and_then(parse::<serde_json::Value>)))
        .map(|(number, value)| (number, value.ok()))
        .collect();
    let value = |number: u64| Some(json!({ "a": number }));
    assert_eq!(
        found,
        [
            (1, value(1)),
            (1, value(2)),
            (2, None),
            (2, value(3)),
            (3, Some(json!(4)))
        ]
    );
}

#[test]
fn half_characters_are_replaced() {
    let text = r#"["\ud83d\ude00 \ud83d \ude00 \\ud83d \ud83d\n", "\uD83D"]"#;
    let found: Vec<String> = read_list(text)
        .into_iter()
        .map(|value| value.expect("JSON").to_string())
        .collect();
    assert_eq!(found, [r#""😀 � � \\ud83d �\n""#, r#""�""#]);
    assert_eq!(
        parse::<String>(b"\"a\xff\"".to_vec()),
        Ok("a\u{fffd}".into())
    );
}

#[test]
fn an_element_with_millions_of_values_is_refused() {
    let text = format!("[{}1]", "1,".repeat(super::MAX_SEPARATORS));
    assert_eq!(
        parse::<Value>(text.into_bytes()),
        Err("has too many values".into())
    );
}
