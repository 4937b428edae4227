//! Converts the parameters of a call to the names and types of the schema: former names and other forms of values are accepted.

use memory_core::Category;
use serde_json::Value;

/// The tools with other names of parameters, former and usual ones: tool, other name, current name.
const RENAMED: [(&str, &str, &str); 15] = [
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

/// The parameters with a list of texts, for which a single text is accepted.
const LISTS: [&str; 3] = ["tags", "add", "remove"];

/// The parameters with a number, for which a text of digits is accepted.
const NUMBERS: [&str; 3] = ["limit", "budget", "version"];

/// Returns the parameters of the tool `called`, its original name, in the form of its schema.
///
/// For tools of memories, an id may be in brackets, as in the text form of a result, a list of one text may be the text, a number
/// may be a text and a cursor a number, and a category may be in capitals or in the singular.
/// A parameter that is also set under its current name stays, so that the check of the schema reports it.
pub(crate) fn normalize_parameters(called: &str, mut parameters: Value) -> Value {
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
        for name in NUMBERS {
            if let Some(value) = fields.get_mut(name)
                && let Some(number) = value
                    .as_str()
                    .and_then(|text| text.trim().parse::<u64>().ok())
            {
                *value = number.into();
            }
        }
        for name in LISTS {
            if let Some(text @ Value::String(_)) = fields.get_mut(name) {
                *text = Value::Array(vec![text.take()]);
            }
        }
    }
    parameters
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
        assert_eq!(
            normalize_parameters("memory_list", json!({ "offset": 20 })),
            json!({ "cursor": "20" })
        );
        assert_eq!(
            normalize_parameters("memory_remind", json!({ "of": "ab" })),
            json!({ "id": "ab" })
        );
        let both = json!({ "source": "a", "id": "b" });
        assert_eq!(normalize_parameters("memory_link", both.clone()), both);
        let forms = json!({ "id": "[2ac0ddf0]", "add": "tea" });
        assert_eq!(
            normalize_parameters("memory_tag", forms.clone()),
            json!({ "id": "2ac0ddf0", "add": ["tea"] })
        );
        assert_eq!(normalize_parameters("bank_write", forms.clone()), forms);
        let forms = json!({ "cursor": 20, "limit": "5", "category": "Preference" });
        let expected = json!({ "cursor": "20", "limit": 5, "category": "preferences" });
        assert_eq!(normalize_parameters("memory_list", forms), expected);
        let other = json!({ "source": "obsidian" });
        assert_eq!(normalize_parameters("memory_list", other.clone()), other);
    }
}
