//! Renders results of tools as compact plain text, for clients that do not read structured results.

use serde_json::{Map, Value};

use crate::exact_json;

/// The keys of a memory that its first line shows.
const HEAD_KEYS: [&str; 6] = ["id", "date", "category", "tags", "title", "text"];

/// Returns a result as text: one line per field, and one line per memory of a list.
///
/// ```
/// use serde_json::json;
///
/// let found = json!({ "hits": [{ "id": "9ccfe379", "date": "2026-11-24", "tags": ["ui"], "text": "dark mode" }], "total": 1 });
/// assert_eq!(memory_agent::answer_text(&found), "hits:\n- [9ccfe379] 2026-11-24 #ui: dark mode\ntotal: 1");
/// ```
pub fn answer_text(result: &Value) -> String {
    match result {
        Value::Object(fields) if is_memory(fields) => whole_memory(fields),
        Value::Object(fields) => lines_of_fields(fields.iter(), ""),
        other => scalar(other, ""),
    }
}

/// Returns whether an object is a memory in the brief form.
fn is_memory(fields: &Map<String, Value>) -> bool {
    ["id", "text"]
        .into_iter()
        .all(|key| fields.get(key).is_some_and(Value::is_string))
}

/// Returns a memory that is the whole result. Its text keeps its line breaks and comes last, so that no line of it looks like a field.
fn whole_memory(fields: &Map<String, Value>) -> String {
    let text = fields
        .get("text")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let separator = if text.contains('\n') { "\n" } else { " " };
    format!("{}:{separator}{text}", memory_head(fields))
}

/// Returns the id, date, category, tags, title and further fields of a memory in one line.
fn memory_head(fields: &Map<String, Value>) -> String {
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let mut head = format!("[{}]", text("id").unwrap_or_default());
    for word in ["date", "category"].into_iter().filter_map(text) {
        head.extend([" ", word]);
    }
    for tag in fields
        .get("tags")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
    {
        head.extend([" #", tag]);
    }
    if let Some(title) = text("title") {
        head.extend([" \"", title, "\""]);
    }
    let is_other = |key: &str| !HEAD_KEYS.contains(&key);
    let others: Vec<String> = fields
        .iter()
        .filter(|(key, _)| is_other(key))
        .map(|(key, value)| match (key.as_str(), value) {
            ("more", count) => format!("{count} more characters"),
            (key, value) => format!("{key}: {}", scalar(value, "")),
        })
        .collect();
    if !others.is_empty() {
        head.extend([" (", &others.join(", "), ")"]);
    }
    head
}

fn lines_of_fields<'a>(
    fields: impl Iterator<Item = (&'a String, &'a Value)>,
    indent: &str,
) -> String {
    let line = |(key, value): (&String, &Value)| match value {
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            let inner = format!("{indent}  ");
            let items: Vec<String> = items
                .iter()
                .map(|item| format!("\n{indent}- {}", list_item(item, &inner)))
                .collect();
            format!("{indent}{key}:{}", items.concat())
        }
        Value::Object(inner) if !inner.is_empty() => {
            format!(
                "{indent}{key}:\n{}",
                lines_of_fields(inner.iter(), &format!("{indent}  "))
            )
        }
        value => format!("{indent}{key}: {}", scalar(value, &format!("{indent}  "))),
    };
    fields.map(line).collect::<Vec<_>>().join("\n")
}

/// Returns an item of a list; `indent` is that of its further lines.
fn list_item(item: &Value, indent: &str) -> String {
    match item {
        Value::Object(fields) if is_memory(fields) => {
            let text = fields
                .get("text")
                .map(|text| scalar(text, indent))
                .unwrap_or_default();
            format!("{}: {text}", memory_head(fields))
        }
        Value::Object(fields) => lines_of_fields(fields.iter(), indent)
            .trim_start()
            .to_owned(),
        other => scalar(other, indent),
    }
}

/// Returns a value without structure. Further lines of a text are indented, so that no text looks like a line of the answer.
fn scalar(value: &Value, indent: &str) -> String {
    match value {
        Value::String(text) => exact_json::as_number(value)
            .unwrap_or(text)
            .replace('\n', &format!("\n{indent}")),
        Value::Array(items) if items.iter().all(Value::is_string) => items
            .iter()
            .map(|item| scalar(item, indent))
            .collect::<Vec<_>>()
            .join(", "),
        other => exact_json::to_text(other),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_text_shows_each_field_once() {
        let found = json!({
            "hits": [
                { "id": "9ccfe379", "date": "2026-11-24", "category": "people", "tags": ["tea", "ui"], "text": "Anna\n- [x] drinks" },
                { "id": "ab", "title": "Wifi", "date": "2026-11-20", "text": "…mountain9…", "more": 4012 }
            ],
            "total": 14, "more": 12, "cursor": "2", "next": "memory_read with an id returns the whole text"
        });
        assert_snapshot!(answer_text(&found), @r#"
        hits:
        - [9ccfe379] 2026-11-24 people #tea #ui: Anna
          - [x] drinks
        - [ab] 2026-11-20 "Wifi" (4012 more characters): …mountain9…
        total: 14
        more: 12
        cursor: 2
        next: memory_read with an id returns the whole text
        "#);
        let read = json!({ "id": "ab", "date": "2026-11-20", "scope": "global", "text": "one\ntwo", "more": 9, "cursor": "7" });
        assert_snapshot!(answer_text(&read), @r"
        [ab] 2026-11-20 (scope: global, 9 more characters, cursor: 7):
        one
        two
        ");
        let bank = json!({ "bank": "a", "value": { "list": [1, 2, { "b": null }], "empty": {} }, "keys": ["x", "y"] });
        assert_snapshot!(answer_text(&bank), @r#"
        bank: a
        value:
          list:
          - 1
          - 2
          - b: null
          empty: {}
        keys: x, y
        "#);
        assert_eq!(answer_text(&json!({})), "");
    }
}
