//! Former names of parameters, which programs may still use.

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

/// Returns the parameters of the tool `called`, its original name, with current names.
///
/// A parameter that is also set under its current name stays, so that the check of the schema reports it.
pub(crate) fn with_current_names(called: &str, mut parameters: Value) -> Value {
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
    parameters
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_former_name_denotes_the_current_parameter() {
        assert_eq!(with_current_names("memory_list", json!({ "offset": 20 })), json!({ "cursor": "20" }));
        assert_eq!(with_current_names("memory_remind", json!({ "of": "ab" })), json!({ "id": "ab" }));
        let both = json!({ "source": "a", "id": "b" });
        assert_eq!(with_current_names("memory_link", both.clone()), both);
        let other = json!({ "source": "obsidian" });
        assert_eq!(with_current_names("memory_list", other.clone()), other);
    }
}
