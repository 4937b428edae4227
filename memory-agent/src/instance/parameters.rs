//! The parameters of an action, and their parsing from command-line pairs.

use std::str::FromStr;

use memory_core::instance::InstanceError;
use memory_core::json::JsonText;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value;

use crate::parameters::allowed_types;

/// A list of words, or a text of comma-separated words.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
pub(super) enum WordList {
    #[default]
    Empty,
    Text(String),
    Words(Vec<String>),
}

impl WordList {
    /// Returns the schema, as in `#[schemars(schema_with = "WordList::schema")]`.
    pub(super) fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["array", "string"], "items": { "type": "string" } })
    }

    /// Parses the words.
    pub(super) fn parse<T: FromStr>(&self) -> Result<Vec<T>, T::Err> {
        let texts = match self {
            Self::Empty => &[],
            Self::Text(text) => std::slice::from_ref(text),
            Self::Words(words) => words,
        };
        let apart = texts
            .iter()
            .flat_map(|text| text.split(','))
            .map(str::trim)
            .filter(|word| !word.is_empty());
        apart.map(str::parse).collect()
    }
}

/// Builds parameters from an object and from pairs such as `role=user`, which override it.
///
/// The schema determines the type of a value: a string is used as it is, a list is split at commas, numbers and
/// booleans are parsed, and other types are parsed as JSON. A value without a type in the schema is JSON if it can be
/// parsed, otherwise a string. `NAME!=VALUE` means `not_NAME`.
///
/// # Errors
/// [`InstanceError::Invalid`] if a text is not a pair; [`InstanceError::InvalidJson`] if a value is not the required
/// JSON.
pub fn parse_pairs(
    schema: &Value,
    object: Option<&JsonText>,
    pairs: &[String],
) -> Result<JsonText, InstanceError> {
    let mut members = match object {
        None => Vec::new(),
        Some(object) => object.members().ok_or_else(|| {
            InstanceError::invalid(
                "the input is not a JSON object",
                r#"write it as {"field": "value"}"#,
            )
        })?,
    };
    let mut lists: Vec<(String, Vec<String>)> = Vec::new();
    for pair in pairs {
        let (name, value) = pair
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| {
                let shown = memory_core::text::to_one_line(pair, 80);
                InstanceError::invalid(
                    format!("{shown:?} is not a FIELD=VALUE pair"),
                    "write it as -p FIELD=VALUE",
                )
            })?;
        let name = name
            .strip_suffix('!')
            .map_or_else(|| name.to_owned(), |name| format!("not_{name}"));
        let property = &schema["properties"][&name];
        let value = match allowed_types(property).first().copied() {
            Some("array") if is_word_list(property) => {
                let words = value.split(',').map(str::to_owned);
                match lists.iter_mut().find(|(own, _)| *own == name) {
                    Some((_, known)) => known.extend(words),
                    None => lists.push((name, words.collect())),
                }
                continue;
            }
            // The validation reports values that do not parse, and unknown fields.
            Some("integer" | "number" | "boolean") => {
                value.parse().unwrap_or_else(|_| JsonText::string(value))
            }
            Some("array" | "object") => {
                value.parse().map_err(|source| InstanceError::InvalidJson {
                    what: format!("the field {name}"),
                    source,
                })?
            }
            // A value of any type is JSON if it can be parsed.
            None if property.is_object() => {
                value.parse().unwrap_or_else(|_| JsonText::string(value))
            }
            _ => JsonText::string(value),
        };
        set_member(&mut members, name, value);
    }
    for (name, words) in lists {
        let value = JsonText::from(&Value::from(words));
        set_member(&mut members, name, value);
    }
    Ok(JsonText::object(
        members.iter().map(|(name, value)| (name.as_str(), value)),
    ))
}

fn set_member(members: &mut Vec<(String, JsonText)>, name: String, value: JsonText) {
    members.retain(|(own, _)| *own != name);
    members.push((name, value));
}

/// Returns whether a property is a list of strings.
pub(super) fn is_word_list(property: &Value) -> bool {
    property["items"]["type"] == "string"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(action: &str, object: Option<&str>, given: &[&str]) -> Result<String, String> {
        let backend = super::super::backend("history").unwrap();
        let schema = &backend.action(action).unwrap().parameters;
        let given: Vec<String> = given.iter().map(|pair| (*pair).to_owned()).collect();
        let object = object.map(|text| text.parse::<JsonText>().unwrap());
        parse_pairs(schema, object.as_ref(), &given)
            .map(|text| text.to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_schema_says_what_a_pair_is() {
        assert_eq!(
            of("append", None, &["content=2", "name=a=b"]).unwrap(),
            r#"{"content":"2","name":"a=b"}"#
        );
        assert_eq!(
            of("append", None, &[r#"meta={"n": 1e1000}"#]).unwrap(),
            r#"{"meta":{"n":1e1000}}"#
        );
        assert_eq!(
            of("read", None, &["limit=1", "tail=true"]).unwrap(),
            r#"{"limit":1,"tail":true}"#
        );
        assert_eq!(
            of("read", None, &["role=user,tool", "role=fact"]).unwrap(),
            r#"{"role":["user","tool","fact"]}"#
        );
        assert_eq!(
            of("read", None, &["role!=summary"]).unwrap(),
            r#"{"not_role":["summary"]}"#
        );
        assert_eq!(
            of("read", None, &["limit=ten", "x=1"]).unwrap(),
            r#"{"limit":"ten","x":"1"}"#
        );
        let object = r#"{"session":"a","offset":1}"#;
        assert_eq!(
            of("read", Some(object), &["session=b"]).unwrap(),
            r#"{"offset":1,"session":"b"}"#
        );
        assert_eq!(
            of("read", Some("[1]"), &[]).unwrap_err(),
            "the input is not a JSON object"
        );
        assert_eq!(
            of("read", None, &["session"]).unwrap_err(),
            "\"session\" is not a FIELD=VALUE pair"
        );
        assert_eq!(
            of("append", None, &["meta={"]).unwrap_err(),
            "the field meta is not valid JSON"
        );
    }
}
