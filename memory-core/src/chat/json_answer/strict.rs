//! A JSON parser that rejects duplicate keys and deep nesting.

use serde_json::Value;

use super::group::skip_string;

/// The maximum number of levels of a value.
const MAX_DEPTH: usize = 32;

/// Parses JSON without duplicate keys and with a limited depth.
///
/// # Errors
/// The defect of the text.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut keys = 0;
    if MAX_DEPTH < count_levels(&value, &mut keys) {
        return Err(format!("it has more than {MAX_DEPTH} levels"));
    }
    // Of two values for one key, the parser retains the last; the count of colons reveals the duplicate.
    if keys < count_colons(text) { Err("an object in it has a duplicate key".into()) } else { Ok(value) }
}

/// Returns the number of levels of a value, and counts its keys.
///
/// The recursion limit of the parser bounds the depth.
fn count_levels(value: &Value, keys: &mut usize) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(|inner| count_levels(inner, keys)).max().unwrap_or_default(),
        Value::Object(object) => {
            *keys += object.len();
            1 + object.values().map(|inner| count_levels(inner, keys)).max().unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Counts the colons outside of strings. JSON has exactly one per key.
fn count_colons(json: &str) -> usize {
    let mut characters = json.char_indices();
    let mut count = 0;
    while let Some((_, character)) = characters.next() {
        match character {
            '"' => skip_string(&mut characters),
            ':' => count += 1,
            _ => {}
        }
    }
    count
}
