use proptest::prelude::*;
use serde_json::{Value, json};

use super::{JsonRecordFile, MAX_RECORD_BYTES, parse_record};
use crate::record::SourceRecord;
use crate::record_file::{RecordFile, RecordPosition};

/// Returns each record with the name of its list, or the reason why it cannot be read.
fn records(text: &str) -> Vec<(&'static str, Result<Value, String>)> {
    let file =
        JsonRecordFile::from_bytes("x", text.as_bytes(), &["a", "b"], MAX_RECORD_BYTES).unwrap();
    let mut found = Vec::new();
    file.reader().unwrap().scan(
        &mut |position: RecordPosition, record: Result<SourceRecord, String>| {
            found.push((position.list, record.map(|record| Value::Object(record.0))));
            true
        },
    );
    found
}

fn values(text: &str) -> Vec<Value> {
    records(text)
        .into_iter()
        .filter_map(|(_, record)| record.ok())
        .collect()
}

#[test]
fn every_form_of_a_file_has_the_same_records() {
    let expected = [json!({"x": 1}), json!({"y": "},]\n\"{"})];
    let (one, two) = (r#"{"x": 1}"#, r#"{"y":"},]\n\"{"}"#);
    for text in [
        format!("[{one},{two}]"),
        format!("\u{feff}[\n {one} ,\n\n{two}\r\n]\n"),
        format!("{one}\n{two}\n"),
        format!("\n{one}\r\n\n{two}"),
        format!(r#"{{"a":[{one},{two}]}}"#),
        format!(r#"{{"other":[1,{{"a":[2]}}],"a":[{one}],"n":null,"b":[{two}]}}"#),
        format!("{{\n \"a\" : [ {one} ]\n}}\n{{ \"b\": [{two}] }}"),
        format!(r#"[{{"a":[{one}],"next":"u"}},{{"a":[{two}]}}]"#),
        format!("{{\"a\":[{one}]}}\n{two}"),
    ] {
        assert_eq!(values(&text), expected, "{text}");
    }
    assert_eq!(
        records(r#"{"a":[{"x":1}],"b":[{"x":2}]}"#)
            .iter()
            .map(|(list, _)| *list)
            .collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_eq!(
        values(r#"{"A":[{"x":1}],"a":{"b":[]}}"#),
        [json!({"A": [{"x": 1}], "a": {"b": []}})]
    );
}

#[test]
fn a_broken_record_is_reported_and_the_rest_is_read() {
    let found = records("{\"x\":1}\n{\"broken\n[1]\n7\n{\"x\":2}\n{\"cut\":");
    assert_eq!(found.iter().filter(|(_, record)| record.is_ok()).count(), 2);
    assert_eq!(found.len(), 6);
    let found = records("[{\"x\":1},{\"x\" 2},\"text\",null,{\"x\":3}]");
    assert_eq!(
        found
            .iter()
            .map(|(_, record)| record.is_ok())
            .collect::<Vec<_>>(),
        [true, false, false, false, true]
    );
    let found = records("{\"a\":[{\"x\":1},{\"x\":2}");
    assert_eq!(
        found
            .iter()
            .map(|(_, record)| record.is_ok())
            .collect::<Vec<_>>(),
        [true, true, false]
    );
    assert!(records("").is_empty());
}

#[test]
fn a_damaged_record_costs_neither_those_in_its_line_nor_those_after_it() {
    for (text, found, lost) in [
        ("{\"x\":1}{\"x\":2}\n{\"x\":3}", vec![1, 2, 3], 0),
        (
            "{\"x\":1}\n{\"x\":\"cut{\"x\":2}\n{\"x\":3}",
            vec![1, 2, 3],
            1,
        ),
        ("{\"x\":0,\"y\":[1}{\"x\":2} {\"x\":3}\n", vec![2, 3], 1),
        ("[{\"x\":0,\"y\":[1},{\"x\":2},{\"x\":3}]", vec![2, 3], 2),
        (
            "{\"a\":[{\"x\":0,\"y\":\"1},{\"x\":2},{\"x\":3}]}",
            vec![2, 3],
            2,
        ),
    ] {
        let values: Vec<_> = values(text)
            .iter()
            .map(|value| value["x"].clone())
            .collect();
        assert_eq!(values, found, "{text}");
        let losses = records(text)
            .iter()
            .filter(|(_, record)| record.is_err())
            .count();
        assert_eq!(losses, lost, "{text}");
    }
}

#[test]
fn halves_of_surrogate_pairs_are_replaced() {
    let read = |text: &str| Value::Object(parse_record(text.as_bytes().to_vec()).unwrap().0);
    assert_eq!(
        read(r#"{"a":"\ud83d x \ud83d\ude00 \ude00 \\ud83d é"}"#),
        json!({"a": "\u{fffd} x 😀 \u{fffd} \\ud83d é"})
    );
    assert_eq!(read(r#"{"a":"\ud83d"}"#), json!({"a": "\u{fffd}"}));
}

#[test]
fn no_record_takes_more_memory_than_its_size_permits() {
    let file =
        JsonRecordFile::from_bytes("x", br#"[{"x":"0123456789"},{"x":1}]"#, &[], 10).unwrap();
    assert_eq!(file.first_records(5).len(), 1);
    let wide = format!("{{\"x\":[{}0]}}", "0,".repeat(1_000_000));
    assert_eq!(
        parse_record(wide.into_bytes()),
        Err("has too many values".into())
    );
    let deep = format!("{{\"x\":{}", "[".repeat(50_000));
    assert!(parse_record(deep.into_bytes()).is_err());
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from)
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        let key = prop_oneof!["[ab]", any::<String>()];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(key, inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// An object without a list of records.
fn any_object() -> impl Strategy<Value = Value> {
    prop::collection::vec(("[c-z\"\\\\é]{0,3}", any_json()), 0..4)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

proptest! {
    #[test]
    fn arrays_lines_and_lists_are_split_like_a_parser_does(objects in prop::collection::vec(any_object(), 1..5), pretty in any::<bool>()) {
        let array = Value::from(objects.clone());
        let list = json!({"c": {"a": [1]}, "a": objects});
        let write = |value: &Value| if pretty { format!("{value:#}") } else { value.to_string() };
        prop_assert_eq!(values(&write(&array)), objects.clone());
        prop_assert_eq!(values(&write(&list)), objects.clone());
        let lines: Vec<_> = objects.iter().map(ToString::to_string).collect();
        prop_assert_eq!(values(&lines.join("\n")), objects);
    }

    #[test]
    fn no_text_makes_it_panic(text in "([\\[\\]{}:,\"\\\\\n x1]|\"a\":|\\\\ud8){0,40}") {
        records(&text);
    }
}
