//! JSON values as readable HTML: objects as lists of fields, lists of objects as tables.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::html::{Label, SafeHtml};

/// Depth from which values are one line of JSON.
const MAX_DEPTH: usize = 4;

/// Maximum number of items of a list.
const MAX_ITEMS: usize = 200;

/// Maximum number of characters of a value.
const MAX_TEXT: usize = 2_000;

/// Returns `value` as HTML.
pub(crate) fn render_json(value: &Value) -> SafeHtml {
    let mut html = String::new();
    push_value(&mut html, value, 0);
    SafeHtml::from_escaped(html)
}

fn push_value(html: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(fields) if fields.is_empty() => {
            html.push_str("<span class=\"muted\">none</span>");
        }
        Value::Array(items) if items.is_empty() => {
            html.push_str("<span class=\"muted\">none</span>");
        }
        Value::Object(fields) if depth < MAX_DEPTH => push_fields(html, fields, depth),
        Value::Array(items) if depth < MAX_DEPTH => push_items(html, items, depth),
        Value::Null => html.push_str("<span class=\"muted\">none</span>"),
        Value::Bool(is_true) => html.push_str(if *is_true { "yes" } else { "no" }),
        Value::String(text) => push_label(html, text),
        other => push_label(html, &other.to_string()),
    }
}

fn push_label(html: &mut String, text: &str) {
    write!(html, "{}", Label::cut(text, MAX_TEXT)).expect("a text grows");
}

fn push_fields(html: &mut String, fields: &Map<String, Value>, depth: usize) {
    html.push_str("<dl class=\"facts\">");
    for (name, value) in fields {
        html.push_str("<dt>");
        push_label(html, &field_name(name));
        html.push_str("</dt><dd>");
        push_value(html, value, depth + 1);
        html.push_str("</dd>");
    }
    html.push_str("</dl>");
}

/// Returns the name of a field as a person writes it, such as `Last run`.
fn field_name(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters
        .next()
        .map(|first| first.to_uppercase().to_string())
        .unwrap_or_default();
    first + &characters.as_str().replace('_', " ")
}

fn push_items(html: &mut String, items: &[Value], depth: usize) {
    if let Some(columns) = shared_fields(items) {
        return push_table(html, &columns, items);
    }
    html.push_str("<ul>");
    for item in items.iter().take(MAX_ITEMS) {
        html.push_str("<li>");
        push_value(html, item, depth + 1);
        html.push_str("</li>");
    }
    if MAX_ITEMS < items.len() {
        write!(html, "<li>and {} more</li>", items.len() - MAX_ITEMS).expect("a text grows");
    }
    html.push_str("</ul>");
}

/// Returns the names of the fields if all of several items are objects with the same fields and simple values.
fn shared_fields(items: &[Value]) -> Option<Vec<&str>> {
    let is_simple = |value: &Value| !value.is_object() && !value.is_array();
    let rows: Vec<&Map<String, Value>> =
        items.iter().map(Value::as_object).collect::<Option<_>>()?;
    let (first, others) = rows
        .split_first()
        .filter(|(_, others)| !others.is_empty())?;
    let is_table = others.iter().all(|row| row.keys().eq(first.keys()))
        && rows.iter().all(|row| row.values().all(is_simple));
    is_table.then(|| first.keys().map(String::as_str).collect())
}

fn push_table(html: &mut String, columns: &[&str], items: &[Value]) {
    html.push_str("<table><thead><tr>");
    for name in columns {
        html.push_str("<th scope=\"col\">");
        push_label(html, &field_name(name));
        html.push_str("</th>");
    }
    html.push_str("</tr></thead><tbody>");
    for item in items.iter().take(MAX_ITEMS) {
        html.push_str("<tr>");
        for name in columns {
            html.push_str("<td>");
            push_value(html, &item[*name], MAX_DEPTH);
            html.push_str("</td>");
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table>");
    if MAX_ITEMS < items.len() {
        write!(
            html,
            "<p class=\"muted\">and {} more</p>",
            items.len() - MAX_ITEMS
        )
        .expect("a text grows");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::web::tests::check_safe;

    #[test]
    fn values_are_readable_and_escaped() {
        let value = json!({ "last_run": null, "ok": true, "files": ["<b>", 1], "deep": { "a": { "b": { "c": { "d": { "e": 1 } } } } } });
        let html = render_json(&value);
        assert!(html.as_str().starts_with(
            "<dl class=\"facts\"><dt><bdi dir=\"auto\">Last run</bdi></dt><dd><span class=\"muted\">none</span></dd>"
        ));
        assert!(html.as_str().contains("<dd>yes</dd>") && html.as_str().contains("&lt;b&gt;"));
        assert!(
            html.as_str().contains("{&quot;d&quot;:"),
            "deep values are JSON: {}",
            html.as_str()
        );
        assert_eq!(check_safe(html.as_str()), Ok(()));
    }

    #[test]
    fn a_list_of_similar_objects_is_a_table() {
        let html =
            render_json(&json!([{ "key": "a.b", "value": null }, { "key": "<c>", "value": 2 }]));
        assert_eq!(html.as_str().matches("<tr>").count(), 3);
        assert!(html.as_str().contains(
            "<td><bdi dir=\"auto\">&lt;c&gt;</bdi></td><td><bdi dir=\"auto\">2</bdi></td>"
        ));
        assert_eq!(check_safe(html.as_str()), Ok(()));
        for list in [
            json!([{ "a": 1 }]),
            json!([{ "a": 1 }, { "b": 1 }]),
            json!([{ "a": [1] }, { "a": [2] }]),
            json!([1, 2]),
        ] {
            assert!(!render_json(&list).as_str().contains("<table>"), "{list}");
        }
    }
}
