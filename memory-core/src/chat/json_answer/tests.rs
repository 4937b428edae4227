use proptest::prelude::*;
use serde_json::json;

use super::*;

fn found(text: &str) -> Option<Value> {
    parse_json_answer(text).ok()
}

fn why(text: &str) -> String {
    parse_json_answer(text).expect_err(text).why
}

#[test]
fn what_stands_around_it_is_taken_away() {
    let value = Some(json!({"a": [1, "]}"]}));
    for text in [
        r#"{"a":[1,"]}"]}"#,
        "\u{feff} \n{\"a\": [1, \"]}\"]}\n",
        "Sure! Here it is:\n\n```json\n{\"a\": [1, \"]}\"]}\n```\nIs there [anything] else {you} need?",
        "```json {\"a\": [1, \"]}\"]} ```",
        "~~~\n{\"a\": [1, \"]}\"]}",
        "<think>Perhaps {\"a\": 2}, or [2</think>{\"a\": [1, \"]}\"]}",
        "As [sic] in [the docs](https://host/{id}): {\"a\": [1, \"]}\"]}. Not {more}.",
        "The example was {\"b\": 1}.\n```\n{\"a\": [1, \"]}\"]}\n```",
        "{\"a\": [1, \"]}\"]}\n\nThe same once more: {\"a\":[1,\"]}\"]}",
        "好的：{\"a\": [1, \"]}\"]}。",
    ] {
        assert_eq!(found(text), value, "{text}");
    }
    assert_eq!(found("[]"), Some(json!([])));
    assert_eq!(
        found(r#"{"summary": "use\n```rust\nfn main() {}\n```"}"#)
            .map(|own| own["summary"].is_string()),
        Some(true)
    );
}

#[test]
fn a_comma_behind_the_last_element_is_left_out_and_no_other() {
    assert_eq!(
        found(r#"{"a": [1, 2 , ], "b": ",]", }"#),
        Some(json!({"a": [1, 2], "b": ",]"}))
    );
    assert_eq!(found("[\"\\\",]\",\n]"), Some(json!(["\",]"])));
    for text in [
        "[\"a\",,]",
        "[{},,]",
        "{\"a\":,}",
        "{\"a\": 1,, \"b\": 2}",
        "[\"a\", , \"b\"]",
    ] {
        assert!(why(text).starts_with("it is not valid JSON ("), "{text}");
    }
    assert_eq!((found("[,]"), found("{,}")), (None, None));
}

#[test]
fn nothing_is_guessed() {
    assert_eq!(why(""), "it contains no JSON object or list");
    assert_eq!(why("people"), "it contains no JSON object or list");
    assert_eq!(why("true"), "it contains no JSON object or list");
    assert_eq!(
        why("I cannot [do] that"),
        "it contains no JSON object or list"
    );
    assert_eq!(
        why("{\"a\": 1} or {\"a\": 2}"),
        "it contains several different JSON values"
    );
    assert_eq!(
        why("```\n[1]\n```\n```\n[2]\n```"),
        "it contains several different JSON values"
    );
    assert_eq!(why("{\"a\": {\"b\": 1}"), "it is truncated");
    assert_eq!(why("{\"a\": \"}"), "it is truncated");
    assert_eq!(why("<think>Perhaps {\"a\": 2}?"), "it is truncated");
    assert_eq!(
        why("{\"a\": 1, \"a\": 2}"),
        "it is not valid JSON (an object in it has a duplicate key)"
    );
    for text in [
        "{'a': 1}",
        "{a: 1}",
        "{\"a\": NaN}",
        "{\"a\": [1}",
        "[\"a\" \"b\"]",
        "{\"a\": 1 // one\n}",
        "{\"a\": \"two\nlines\"}",
    ] {
        assert!(
            why(text).starts_with("it is not valid JSON ("),
            "{text}: {}",
            why(text)
        );
    }
    // Valid JSON after an invalid object may be unrelated to it.
    assert!(why("{\"a\": 1 \"b\": 2} else []").starts_with("it is not valid JSON ("));
}

#[test]
fn neither_length_nor_depth_is_without_end() {
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    assert!(parse_json_answer(&deep(32)).is_ok());
    assert_eq!(
        why(&deep(33)),
        "it is not valid JSON (it has more than 32 levels)"
    );
    assert!(why(&deep(100_000)).starts_with("it is not valid JSON (recursion limit exceeded"));
    assert_eq!(why(&"[{".repeat(500_000)), "it is truncated");
    assert_eq!(
        why(&"x".repeat(MAX_ANSWER_BYTES + 1)),
        "it has 1048577 bytes, more than the limit for JSON"
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "\\PC{0,8}|[\\[\\]{},:\"`\\\\]{0,6}".prop_map(Value::from),
    ];
    let inner = leaf.prop_recursive(4, 24, 4, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from);
        let object = prop::collection::hash_map("[a-z\"\\[:]{0,4}", inner, 0..4);
        prop_oneof![
            list,
            object.prop_map(|own| own.into_iter().collect::<Value>())
        ]
    });
    inner.prop_map(|value| {
        if value.is_array() || value.is_object() {
            value
        } else {
            Value::from(vec![value])
        }
    })
}

proptest! {
    #[test]
    fn every_value_is_found_whatever_is_said_around_it(value in any_json(), before in "[a-z .:\n]{0,12}", after in "[a-z .:\n]{0,12}") {
        for said in [value.to_string(), serde_json::to_string_pretty(&value).expect("it is JSON")] {
            prop_assert_eq!(found(&format!("{before}{said}{after}")), Some(value.clone()));
            prop_assert_eq!(found(&format!("{before}\n```json\n{said}\n```\n{after}")), Some(value.clone()));
        }
    }

    #[test]
    fn no_part_of_an_answer_that_breaks_off_is_taken_for_the_whole(value in any_json(), share in 0.0..1.0_f64) {
        let said = value.to_string();
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "any place will do")]
        let end = said.floor_char_boundary((said.len() as f64 * share) as usize);
        prop_assert_eq!(found(&said[..end]), None);
    }

    #[test]
    fn no_answer_is_too_odd(text in "\\PC{0,60}|[\\[\\]{},:\"`~\\\\a1 \n]{0,60}") {
        let _ = parse_json_answer(&text);
    }
}
