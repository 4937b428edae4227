//! JSON Schema validation.

use memory_core::bank::SchemaValidator;
use memory_core::json::JsonText;
use serde_json::Value;

/// The maximum number of violations in an error message.
const MAX_VIOLATIONS: usize = 5;

/// Validates values with the `jsonschema` crate. No schema is fetched from the network.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonSchemaValidator;

impl SchemaValidator for JsonSchemaValidator {
    fn check_schema(&self, schema: &JsonText) -> Result<(), String> {
        compile_schema(&schema.to_value()).map(drop)
    }

    fn check(&self, schema: &JsonText, value: &JsonText) -> Result<(), String> {
        let validator = compile_schema(&schema.to_value())?;
        let value = value.to_value();
        let told: Vec<_> = validator
            .iter_errors(&value)
            .take(MAX_VIOLATIONS)
            .map(|error| match error.instance_path().to_string() {
                place if place.is_empty() => error.to_string(),
                place => format!("{place}: {error}"),
            })
            .collect();
        if told.is_empty() {
            Ok(())
        } else {
            Err(told.join("; "))
        }
    }
}

fn compile_schema(schema: &Value) -> Result<jsonschema::Validator, String> {
    if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
        return Err("a schema must be an object, true or false".to_owned());
    }
    jsonschema::options()
        .build(schema)
        .map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> JsonText {
        text.parse().unwrap()
    }

    #[test]
    fn what_does_not_fit_is_named_with_its_place() {
        let schema = text(
            r#"{"type":"object","properties":{"count":{"type":"integer","minimum":0}},"required":["count"]}"#,
        );
        JsonSchemaValidator
            .check(&schema, &text(r#"{"count":3}"#))
            .unwrap();
        let why = JsonSchemaValidator
            .check(&schema, &text(r#"{"count":-1}"#))
            .unwrap_err();
        assert!(why.starts_with("/count: "), "{why}");
        let why = JsonSchemaValidator.check(&schema, &text("{}")).unwrap_err();
        assert!(why.contains("\"count\""), "{why}");
    }

    #[test]
    fn what_is_no_schema_is_refused_and_nothing_is_fetched() {
        for wrong in [
            "7",
            r#"{"type":"thing"}"#,
            r#"{"$ref":"https://example.com/schema.json"}"#,
            r##"{"$ref":"#/nowhere"}"##,
        ] {
            JsonSchemaValidator.check_schema(&text(wrong)).unwrap_err();
        }
        JsonSchemaValidator.check_schema(&text("true")).unwrap();
    }
}
