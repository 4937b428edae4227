//! Converts the parameters of a call to the names and types of the schema: former names and other forms of values are accepted.

use serde_json::Value;

/// The tools with renamed parameters: tool, former name, current name.
const RENAMED: [(&str, &str, &str); 6] = [
    ("memory_list", "offset", "cursor"),
    ("memory_list", "until", "to"),
    ("memory_search", "until", "to"),
    ("memory_remind", "text", "content"),
    ("memory_remind", "of", "id"),
    ("memory_link", "source", "id"),
];

/// The parameters with a list of texts, for which a single text is accepted.
const LISTS: [&str; 3] = ["tags", "add", "remove"];

/// Returns the parameters of the tool `called`, its original name, in the form of its schema.
///
/// For tools of memories, an id may be in brackets, as in the text form of a result, and a list of one text may be the text.
/// A parameter that is also set under its current name stays, so that the check of the schema reports it.
pub(crate) fn normalize_parameters(called: &str, mut parameters: Value) -> Value {
    let Some(fields) = parameters.as_object_mut() else { return parameters };
    for (_, former, current) in RENAMED.into_iter().filter(|(tool, ..)| *tool == called) {
        if fields.contains_key(current) {
            continue;
        }
        if let Some(value) = fields.shift_remove(former) {
            // A cursor is a text; the former offset was a number.
            let value = if value.is_u64() && current == "cursor" { value.to_string().into() } else { value };
            fields.insert(current.to_owned(), value);
        }
    }
    if called.starts_with("memory_") {
        if let Some(Value::String(id)) = fields.get_mut("id")
            && let Some(bare) = id.strip_prefix('[').and_then(|id| id.strip_suffix(']'))
        {
            *id = bare.to_owned();
        }
        for name in LISTS {
            if let Some(text @ Value::String(_)) = fields.get_mut(name) {
                *text = Value::Array(vec![text.take()]);
            }
        }
    }
    parameters
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_former_name_denotes_the_current_parameter() {
        assert_eq!(normalize_parameters("memory_list", json!({ "offset": 20 })), json!({ "cursor": "20" }));
        assert_eq!(normalize_parameters("memory_remind", json!({ "of": "ab" })), json!({ "id": "ab" }));
        let both = json!({ "source": "a", "id": "b" });
        assert_eq!(normalize_parameters("memory_link", both.clone()), both);
        let forms = json!({ "id": "[2ac0ddf0]", "add": "tea" });
        assert_eq!(normalize_parameters("memory_tag", forms.clone()), json!({ "id": "2ac0ddf0", "add": ["tea"] }));
        assert_eq!(normalize_parameters("bank_write", forms.clone()), forms);
        let other = json!({ "source": "obsidian" });
        assert_eq!(normalize_parameters("memory_list", other.clone()), other);
    }
}
