//! Parameters as types: their schemas, and their values.

use memory_core::json::JsonText;
use memory_core::{Code, ToolError};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Returns the JSON Schema of parameters, without keywords that only cost tokens.
///
/// An unsigned integer has a minimum of 0, unless its field is described `with` a signed type to save tokens.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = T::json_schema(&mut settings.into_generator());
    // It describes the type for readers of the code.
    schema.remove("description");
    // Some clients refuse an object without this key.
    let fields = schema.ensure_object();
    fields
        .entry("properties")
        .or_insert(Value::Object(Map::new()));
    RecursiveTransform(shorten).transform(&mut schema);
    schema.to_value()
}

/// Removes formats, empty defaults, and the type `null` of an optional field, which is left out instead.
fn shorten(schema: &mut Schema) {
    let Some(fields) = schema.as_object_mut() else {
        return;
    };
    fields.shift_remove("format");
    if let Some(kind) = fields.get_mut("type")
        && let Some([first, null]) = kind.as_array().map(Vec::as_slice)
        && null == "null"
    {
        *kind = first.clone();
    }
    let default = fields.get("default").map(Value::to_string);
    if let Some("null" | "false" | "[]" | "\"\"") = default.as_deref() {
        fields.shift_remove("default");
    }
}

/// Deserializes parameters that fit the schema of `T`.
///
/// # Errors
/// If a number is out of the range of its field, or a text contains a lone surrogate.
pub(crate) fn parse<T: DeserializeOwned + JsonSchema>(
    parameters: &JsonText,
) -> Result<T, ToolError> {
    if let Ok(parsed) = serde_json::from_str(parameters.as_str()) {
        return Ok(parsed);
    }
    let schema = schema_of::<T>();
    let whole = with_whole_numbers(parameters, &schema);
    serde_json::from_str(whole.as_str()).map_err(|error: serde_json::Error| {
        let message = unfit_field(parameters, &whole, &schema).unwrap_or_else(|| error.to_string());
        ToolError::new(Code::InvalidInput, message, None)
    })
}

/// Largest integer up to which all integers are exact in a float.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns whether a float is an integer in JSON Schema, such as 5.0.
pub(crate) fn is_whole(number: f64) -> bool {
    number.fract() == 0.0 && number.abs() <= EXACT
}

/// Converts 5.0 to 5 in fields that are integers, or lists of them.
fn with_whole_numbers(parameters: &JsonText, schema: &Value) -> JsonText {
    let mut members = parameters.members().unwrap_or_default();
    for (name, value) in &mut members {
        let property = &schema["properties"][&*name];
        if property["type"] == "integer" || property["items"]["type"] == "integer" {
            *value = JsonText::from(&to_integers(value.to_value()));
        }
    }
    JsonText::object(members.iter().map(|(name, value)| (name.as_str(), value)))
}

fn to_integers(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(to_integers).collect(),
        Value::Number(number) => match number.as_f64().filter(|number| is_whole(*number)) {
            // An integral float is printed without a fraction.
            Some(whole) if number.is_f64() => format!("{whole:.0}")
                .parse::<i64>()
                .map_or(Value::Number(number), Value::from),
            _ => Value::Number(number),
        },
        value => value,
    }
}

/// Describes the field whose value fits the schema, but not the type. `whole` are the parameters with whole numbers.
fn unfit_field(parameters: &JsonText, whole: &JsonText, schema: &Value) -> Option<String> {
    let given = parameters.members()?.into_iter();
    given
        .zip(whole.members()?)
        .find_map(|((name, value), (_, whole))| match whole.as_str() {
            text if text.starts_with('"') && whole.as_string().is_none() => {
                Some(format!("the field {name} is not a valid text"))
            }
            number
                if schema["properties"][&*name]["type"] == "integer"
                    && (number.starts_with('-') || number.parse::<i64>().is_err()) =>
            {
                Some(format!("{name}: {} is out of range", value.as_str()))
            }
            _ => None,
        })
}

/// Deserializes a value of any JSON, also `null`, with every digit.
pub(crate) fn any_json<'de, D: Deserializer<'de>, T: From<JsonText>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value = Box::<RawValue>::deserialize(deserializer)?;
    let text: JsonText = value.get().parse().map_err(D::Error::custom)?;
    Ok(text.into())
}

/// Returns the types that a schema allows; empty if it allows all.
pub(crate) fn allowed_types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct SampleInput {
        query: Option<String>,
        limit: Option<usize>,
        share: Option<f64>,
        range: Option<[i64; 2]>,
        #[serde(default, deserialize_with = "any_json")]
        #[schemars(with = "Option<Value>")]
        value: Option<JsonText>,
    }

    fn parsed(parameters: &str) -> Result<SampleInput, String> {
        parse(&parameters.parse().unwrap()).map_err(|error| error.message)
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_fraction_of_nothing() {
        let given = r#"{"query":"5.0","limit":5.0,"share":1.0,"range":[1.0,-1],"value":5.0}"#;
        let expected = SampleInput {
            query: Some("5.0".into()),
            limit: Some(5),
            share: Some(1.0),
            range: Some([1, -1]),
            value: Some("5.0".parse().unwrap()),
        };
        assert_eq!(parsed(given).unwrap(), expected);
        assert_eq!(parsed(r#"{"limit":-0.0}"#).unwrap().limit, Some(0));
        for limit in ["5.5", "-5.0", "1e300", "\"5\""] {
            parsed(&format!(r#"{{"limit":{limit}}}"#)).unwrap_err();
        }
    }

    #[test]
    fn any_json_keeps_its_text() {
        for value in ["null", "0.10", "1e1000", r#"[1.0,"\ud800"]"#] {
            let input = parsed(&format!(r#"{{"value":{value}}}"#)).unwrap();
            assert_eq!(input.value.unwrap().as_str(), value);
        }
    }

    #[test]
    fn a_value_that_its_type_cannot_hold_is_named() {
        let fault = |parameters| parsed(parameters).unwrap_err();
        assert_eq!(
            fault(r#"{"share":-0.5,"range":[5.0,1],"limit":-5.0}"#),
            "limit: -5.0 is out of range"
        );
        assert_eq!(
            fault(r#"{"limit":18446744073709551616}"#),
            "limit: 18446744073709551616 is out of range"
        );
        assert_eq!(
            fault(r#"{"query":"\ud800"}"#),
            "the field query is not a valid text"
        );
    }

    #[test]
    fn the_schema_of_an_optional_field_has_neither_null_nor_a_format() {
        insta::assert_snapshot!(schema_of::<SampleInput>(), @r#"{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer","minimum":0},"share":{"type":"number"},"range":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2},"value":true}}"#);
    }
}
