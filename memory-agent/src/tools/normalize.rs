//! Converts the parameters of a call to the names and types of the schema: former names and other forms of values are accepted.

use memory_core::Category;
use serde_json::Value;

use crate::exact_json;
use crate::parameters::allowed_types;

/// The tools with other names of parameters, former and usual ones: tool, other name, current name.
const RENAMED: [(&str, &str, &str); 19] = [
    ("memory_context", "prompt", "query"),
    ("memory_search", "prompt", "query"),
    ("memory_smart_search", "prompt", "query"),
    ("memory_update", "text", "content"),
    ("memory_list", "offset", "cursor"),
    ("memory_list", "until", "to"),
    ("memory_search", "until", "to"),
    ("memory_remind", "text", "content"),
    ("memory_remind", "of", "id"),
    ("memory_link", "source", "id"),
    ("memory_undo", "operation", "id"),
    ("memory_write", "text", "content"),
    ("memory_search", "q", "query"),
    ("memory_search", "max_results", "limit"),
    ("memory_tag", "tags", "add"),
    ("memory_remind", "due", "at"),
    ("memory_remind", "when", "at"),
    ("memory_read", "memory_id", "id"),
    ("memory_delete", "memory_id", "id"),
];

/// Returns the parameters of the tool `called`, its original name, in the form of its `schema`.
///
/// Other types of values are converted, see [`fit_types`]. For tools of memories, an id may be in brackets, as in the text form of a
/// result, a cursor may be a number, and a category may be in capitals or in the singular.
/// A parameter that is also set under its current name stays, so that the check of the schema reports it.
pub(crate) fn normalize_parameters(called: &str, schema: &Value, mut parameters: Value) -> Value {
    let Some(fields) = parameters.as_object_mut() else {
        return parameters;
    };
    for (_, former, current) in RENAMED.into_iter().filter(|(tool, ..)| *tool == called) {
        if fields.contains_key(current) {
            continue;
        }
        if let Some(value) = fields.shift_remove(former) {
            fields.insert(current.to_owned(), value);
        }
    }
    if called.starts_with("memory_") {
        if let Some(Value::String(id)) = fields.get_mut("id")
            && let Some(bare) = id.strip_prefix('[').and_then(|id| id.strip_suffix(']'))
        {
            *id = bare.to_owned();
        }
        if let Some(cursor @ Value::Number(_)) = fields.get_mut("cursor") {
            *cursor = cursor.to_string().into();
        }
        if let Some(Value::String(category)) = fields.get_mut("category")
            && let Some(known) = nearest_category(category)
        {
            known.clone_into(category);
        }
    }
    fit_types(schema, &mut parameters);
    parameters
}

/// Converts values to the types that `schema` allows, and returns whether there was one to convert.
///
/// Where it allows no text, a text may be a list as JSON, or its items with commas between them, in brackets or not; or a number, `true`
/// or `false`. A member that is null is left out if it is optional. A value that is none of them stays.
pub(crate) fn fit_types(schema: &Value, value: &mut Value) -> bool {
    let kinds = allowed_types(schema);
    let is_number = exact_json::as_number(value).is_some();
    match value {
        Value::String(text) if !kinds.contains(&"string") && !is_number => {
            if kinds.contains(&"array") {
                let Some(list) = parse_list(text, &schema["items"]) else {
                    return false;
                };
                *value = Value::Array(list);
                fit_types(schema, value);
                return true;
            }
            let is_numeric = kinds.contains(&"integer") || kinds.contains(&"number");
            let parsed = match exact_json::from_slice(text.trim().as_bytes()) {
                Ok(number @ Value::Number(_)) if is_numeric => number,
                Ok(flag @ Value::Bool(_)) if kinds.contains(&"boolean") => flag,
                _ => return false,
            };
            *value = parsed;
            true
        }
        Value::Array(items) => {
            let mut found = false;
            for item in items {
                found |= fit_types(&schema["items"], item);
            }
            found
        }
        Value::Object(members) => {
            let count = members.len();
            let required = schema["required"].as_array();
            members.retain(|name, member| {
                let kinds = allowed_types(&schema["properties"][&**name]);
                let is_required =
                    || required.is_some_and(|names| names.contains(&(&**name).into()));
                !member.is_null() || kinds.is_empty() || kinds.contains(&"null") || is_required()
            });
            let mut found = members.len() < count;
            for (name, member) in members {
                found |= fit_types(&schema["properties"][name], member);
            }
            found
        }
        _ => false,
    }
}

/// Parses a list of values with the schema `items`.
fn parse_list(text: &str, items: &Value) -> Option<Vec<Value>> {
    let kinds = allowed_types(items);
    match exact_json::from_slice(text.as_bytes()) {
        Ok(Value::Array(list)) => return Some(list),
        Ok(object @ Value::Object(_)) if kinds.contains(&"object") => return Some(vec![object]),
        _ => {}
    }
    let text = text.trim();
    let in_brackets = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    // A damaged list is no text that is an item.
    let has_odd_quotes = |part: &str| part.matches('"').count() % 2 == 1;
    if text.matches('[').count() != text.matches(']').count()
        || in_brackets.is_some_and(|items| items.split(',').any(has_odd_quotes))
    {
        return None;
    }
    let parts = in_brackets
        .unwrap_or(text)
        .split([',', '，', '、'])
        .map(|part| match in_brackets {
            Some(_) => part.trim().trim_matches(['"', '\'']),
            None => part.trim(),
        })
        .filter(|part| !part.is_empty());
    if kinds.contains(&"string") {
        return Some(parts.map(Value::from).collect());
    }
    parts
        .map(|part| exact_json::from_slice(part.as_bytes()).ok())
        .collect()
}

/// Returns the category that `text` names in other capitals, or with or without the ending of the plural.
fn nearest_category(text: &str) -> Option<&'static str> {
    let text = text.trim().to_lowercase();
    let is_same = |name: &str| {
        name == text
            || name.strip_suffix('s') == Some(&text)
            || text.strip_suffix('s') == Some(name)
    };
    Category::ALL
        .iter()
        .map(|category| category.as_str())
        .find(|name| is_same(name))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_former_name_denotes_the_current_parameter() {
        let schema = json!({ "properties": { "limit": { "type": "integer" } } });
        let normalize = |called, parameters| normalize_parameters(called, &schema, parameters);
        assert_eq!(
            normalize("memory_list", json!({ "offset": 20 })),
            json!({ "cursor": "20" })
        );
        assert_eq!(
            normalize("memory_remind", json!({ "of": "ab" })),
            json!({ "id": "ab" })
        );
        let both = json!({ "source": "a", "id": "b" });
        assert_eq!(normalize("memory_link", both.clone()), both);
        let forms = json!({ "id": "[2ac0ddf0]", "add": "tea" });
        assert_eq!(
            normalize("memory_tag", forms.clone()),
            json!({ "id": "2ac0ddf0", "add": "tea" })
        );
        assert_eq!(normalize("bank_write", forms.clone()), forms);
        let forms = json!({ "cursor": 20, "limit": "5", "category": "Preference" });
        let expected = json!({ "cursor": "20", "limit": 5, "category": "preferences" });
        assert_eq!(normalize("memory_list", forms), expected);
        let other = json!({ "source": "obsidian" });
        assert_eq!(normalize("memory_list", other.clone()), other);
    }

    #[test]
    fn a_list_of_every_tool_may_be_a_text() {
        let mut checked = 0;
        for tool in crate::tools::all() {
            let schema = tool.parameters();
            let properties = schema["properties"].as_object().into_iter().flatten();
            for (field, property) in properties.filter(|(_, property)| property["type"] == "array")
            {
                let is_text = property["items"]["type"] == "string";
                let (items, expected) = if is_text {
                    (["red", "dark blue"], json!(["red", "dark blue"]))
                } else {
                    (["1", "-1"], json!([1, -1]))
                };
                for text in [
                    items.join(","),
                    format!(" [{}] ", items.join(" , ")),
                    expected.to_string(),
                ] {
                    let given = json!({ &**field: text });
                    let parsed = normalize_parameters(tool.name(), &schema, given);
                    assert_eq!(parsed[field], expected, "{} {field} {text}", tool.name());
                }
                checked += 1;
            }
        }
        assert!(checked > 6);
    }

    #[test]
    fn numbers_and_flags_may_be_texts_and_optional_fields_null() {
        let inner = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
        let schema = json!({ "properties": {
            "ttl": { "type": "integer" }, "share": { "type": "number" }, "flag": { "type": "boolean" }, "any": {},
            "text": { "type": "string" }, "inner": inner, "maybe": { "type": ["integer", "null"] }, "id": { "type": "string" }
        }, "required": ["id"] });
        for (given, expected) in [
            (
                json!({ "ttl": " 60 ", "share": "0.5", "flag": "true" }),
                json!({ "ttl": 60, "share": 0.5, "flag": true }),
            ),
            (
                json!({ "ttl": "-1", "inner": { "n": "2" } }),
                json!({ "ttl": -1, "inner": { "n": 2 } }),
            ),
            (
                json!({ "ttl": null, "flag": null, "text": null, "inner": null }),
                json!({}),
            ),
            (
                json!({ "any": null, "maybe": null, "id": null, "inner": { "n": null }, "other": null }),
                json!({ "any": null, "maybe": null, "id": null, "inner": { "n": null }, "other": null }),
            ),
            (
                json!({ "ttl": "1h", "share": "", "flag": "yes", "text": "5", "any": "5" }),
                json!({ "ttl": "1h", "share": "", "flag": "yes", "text": "5", "any": "5" }),
            ),
        ] {
            let mut fitted = given.clone();
            fit_types(&schema, &mut fitted);
            assert_eq!(fitted, expected, "{given}");
        }
        for tool in crate::tools::all() {
            let schema = tool.parameters();
            let properties = schema["properties"].as_object().into_iter().flatten();
            for (field, property) in
                properties.filter(|(_, property)| property["type"] == "integer")
            {
                let given = json!({ &**field: "60" });
                let parsed = normalize_parameters(tool.name(), &schema, given);
                assert_eq!(parsed[field], 60, "{} {field} {property}", tool.name());
            }
        }
    }

    #[test]
    fn a_text_becomes_a_list_only_where_the_schema_has_one() {
        let texts = json!({ "type": "array", "items": { "type": "string" } });
        let objects = json!({ "type": "array", "items": { "type": "object", "properties": { "tags": texts } } });
        let schema = json!({ "properties": {
            "tags": texts, "messages": objects, "text": { "type": "string" }, "any": {},
            "either": { "type": ["array", "string"] }, "optional": { "type": ["array", "null"], "items": { "type": "string" } },
        } });
        let given = json!({
            "tags": "['a', \"b\"]", "messages": r#"[{"tags":"x，y"},{"tags":[]}]"#, "text": "a, b", "any": "[1]",
            "either": "a, b", "optional": "", "unknown": "a, b"
        });
        let mut parsed = given.clone();
        assert!(fit_types(&schema, &mut parsed));
        assert_eq!(
            parsed,
            json!({
                "tags": ["a", "b"], "messages": [{ "tags": ["x", "y"] }, { "tags": [] }], "text": "a, b", "any": "[1]",
                "either": "a, b", "optional": [], "unknown": "a, b"
            })
        );
        let mut parsed = json!({ "messages": r#"{"tags":["x"]}"# });
        fit_types(&schema, &mut parsed);
        assert_eq!(parsed, json!({ "messages": [{ "tags": ["x"] }] }));
        for stays in [
            r#"{"messages":"hello"}"#,
            r#"{"tags":"[\"a\", "}"#,
            r#"{"tags":"a\", \"b\"]"}"#,
            r#"{"tags":"[\"a\", \"b]"}"#,
            r#"{"tags":"[\"a\", [\"b\"]"}"#,
            r#"{"tags":12345678901234567890123}"#,
            r#"{"tags":5}"#,
        ] {
            let mut parsed = exact_json::from_slice(stays.as_bytes()).unwrap();
            assert!(!fit_types(&schema, &mut parsed));
            assert_eq!(exact_json::to_text(&parsed), stays);
        }
    }
}
