use serde_json::json;

use super::*;

const PATH: [JsoncStep<'static>; 2] = [JsoncStep::Key("servers"), JsoncStep::Key("own")];

fn put(text: &str) -> String {
    super::set_value(text, &PATH, &json!({ "run": ["a"] })).expect("JSON")
}

/// Inserts a server and returns the new text; asserts that its removal restores the old text.
fn shown(text: &str) -> String {
    let shown = put(text);
    let path = if text.contains("servers") {
        &PATH[..]
    } else {
        &PATH[..1]
    };
    assert_eq!(remove(&shown, path).expect("JSON"), text);
    shown
}

#[test]
fn a_new_member_looks_like_the_others() {
    let four = "{\n    \"a\": 1\n}\n";
    assert_eq!(
        shown(four),
        "{\n    \"a\": 1,\n    \"servers\": {\n        \"own\": {\n            \"run\": [\n                \"a\"\n            ]\n        }\n    }\n}\n"
    );
    assert_eq!(
        shown("{\r\n\t\"a\": 1\r\n}"),
        "{\r\n\t\"a\": 1,\r\n\t\"servers\": {\r\n\t\t\"own\": {\r\n\t\t\t\"run\": [\r\n\t\t\t\t\"a\"\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}"
    );
    assert_eq!(
        shown(r#"{"a":1}"#),
        r#"{"a":1,"servers":{"own":{"run":["a"]}}}"#
    );
    assert_eq!(
        shown(r#"{ "a": 1 }"#),
        r#"{ "a": 1, "servers": {"own":{"run":["a"]}} }"#
    );
    assert_eq!(
        shown(r#"{"servers":{"x":{}},"z":[]}"#),
        r#"{"servers":{"x":{},"own":{"run":["a"]}},"z":[]}"#
    );
    assert_eq!(
        shown("{}"),
        "{\n  \"servers\": {\n    \"own\": {\n      \"run\": [\n        \"a\"\n      ]\n    }\n  }\n}"
    );
    assert_eq!(
        put(""),
        "{\n  \"servers\": {\n    \"own\": {\n      \"run\": [\n        \"a\"\n      ]\n    }\n  }\n}\n"
    );
    assert_eq!(put("// mine"), format!("// mine\n{}", put("")));
}

#[test]
fn comments_and_trailing_commas_stay_with_what_they_belong_to() {
    let own =
        "\"servers\": {\n    \"own\": {\n      \"run\": [\n        \"a\"\n      ]\n    }\n  }";
    assert_eq!(
        shown("{\n  \"a\": 1 // one\n}"),
        format!("{{\n  \"a\": 1, // one\n  {own}\n}}")
    );
    assert_eq!(
        shown("{\n  \"a\": 1, // one\n}"),
        format!("{{\n  \"a\": 1, // one\n  {own},\n}}")
    );
    assert_eq!(
        shown("{\n  \"a\": 1 /* , */ // one\n  // last\n}"),
        format!("{{\n  \"a\": 1, /* , */ // one\n  {own}\n  // last\n}}")
    );
    assert_eq!(shown("{ // one\n}"), format!("{{ // one\n  {own}\n}}"));
    assert_eq!(put("{/* one */}"), format!("{{/* one */\n  {own}\n}}"));
    assert_eq!(
        shown("{\"a\":1,}"),
        "{\"a\":1,\"servers\":{\"own\":{\"run\":[\"a\"]}},}"
    );
}

#[test]
fn members_are_taken_out_wherever_they_stand() {
    let key = [JsoncStep::Key("own")];
    for (text, left) in [
        ("{\n  \"own\": 1,\n  \"b\": 2\n}", "{\n  \"b\": 2\n}"),
        ("{\"own\":1,\"b\":2}", "{\"b\":2}"),
        ("{\"a\":1,\"own\":1,\"b\":2}", "{\"a\":1,\"b\":2}"),
        (
            "{\n  // about own\n  \"own\": 1, // more\n  \"b\": 2\n}",
            "{\n  // about own\n   // more\n  \"b\": 2\n}",
        ),
        (
            "{\n  \"a\": 1,\n  // about own\n  \"own\": 1, \"b\": 2\n}",
            "{\n  \"a\": 1,\n  // about own\n   \"b\": 2\n}",
        ),
        ("{ \"own\": 1 }", "{}"),
        ("{\"own\":1,\"b\":2,\"own\":3}", "{\"own\":1,\"b\":2}"),
        ("{\"b\":2}", "{\"b\":2}"),
    ] {
        assert_eq!(remove(text, &key).expect("JSON"), left);
        parse(left).expect("what is left is JSON");
    }
    assert_eq!(
        remove(
            "{\"l\":[1, 2, 3]}",
            &[JsoncStep::Key("l"), JsoncStep::At(2)]
        )
        .expect("JSON"),
        "{\"l\":[1, 2]}"
    );
}

#[test]
fn lists_grow_at_their_end() {
    let path = [JsoncStep::Key("l")];
    assert_eq!(
        append("{\"l\":[1]}", &path, &json!(2)).expect("JSON"),
        "{\"l\":[1,2]}"
    );
    assert_eq!(
        append("{\n  \"l\": [\n    1\n  ]\n}", &path, &json!(2)).expect("JSON"),
        "{\n  \"l\": [\n    1,\n    2\n  ]\n}"
    );
    assert_eq!(
        append("{\n  \"l\": []\n}", &path, &json!(2)).expect("JSON"),
        "{\n  \"l\": [\n    2\n  ]\n}"
    );
    assert_eq!(
        append("{\"l\":{}}", &path, &json!(2))
            .expect_err("no list")
            .line,
        1
    );
}

#[test]
fn what_is_no_json_is_refused_with_its_line() {
    for (text, line) in [
        ("{\n\"a\" 1}", 2),
        ("{\"a\":1\n\"b\":2}", 1),
        ("[1]", 1),
        ("{'a':1}", 1),
        ("{}\n{}", 2),
        ("\n\nnul", 3),
        ("{", 1),
    ] {
        assert_eq!(parse(text).expect_err(text).line, line, "{text}");
    }
    assert_eq!(
        super::set_value("{\n\"servers\":\nnull}", &PATH, &json!(1))
            .expect_err("null")
            .line,
        3
    );
    parse(&format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000))).expect_err("too deep");
}
