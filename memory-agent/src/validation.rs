//! Whether parameters are what a tool asks for.

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use memory_core::{Code, ToolError};
use serde_json::Value;

/// The schema of a tool's parameters, ready to check them.
#[derive(Debug)]
pub(crate) struct Schema(Validator);

/// So many faults are told at once.
const TOLD: usize = 3;

/// So much of a fault is told: it may quote what was given.
const LONGEST: usize = 200;

impl Schema {
    /// Reads a schema of ours.
    pub(crate) fn of(schema: &Value) -> Self {
        Self(jsonschema::draft202012::new(schema).expect("the schemas of our tools are schemas"))
    }

    /// Says which fields of `parameters` are not as they should be, if any.
    pub(crate) fn check(&self, tool: &str, parameters: &Value) -> Result<(), ToolError> {
        let hint = Some(format!("`memory agent --list-tools` shows the parameters of {tool}"));
        self.faults(parameters).map_or(Ok(()), |faults| Err(ToolError::new(Code::InvalidInput, faults, hint)))
    }

    /// Returns what is not as it should be in `parameters`, if anything is.
    pub(crate) fn faults(&self, parameters: &Value) -> Option<String> {
        let faults = self.0.iter_errors(parameters).take(TOLD).map(|error| {
            let field = error.instance_path().as_str().trim_start_matches('/').replace('/', ".");
            let what = match error.kind() {
                ValidationErrorKind::AdditionalProperties { unexpected } => {
                    format!("there is no field {}", unexpected.join(", "))
                }
                ValidationErrorKind::Required { property } => {
                    format!("the field {} is missing", property.as_str().unwrap_or_default())
                }
                _ => error.to_string(),
            };
            if field.is_empty() { what } else { format!("{field}: {what}") }
        });
        let faults: Vec<String> = faults.map(|fault| memory_core::text::one_line(&fault, LONGEST)).collect();
        (!faults.is_empty()).then(|| faults.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fault_names_the_field() {
        let tools = crate::tools::all();
        let schema = Schema::of(&tools.iter().find(|tool| tool.name() == "memory_list").expect("it is one").parameters());
        let fault = |parameters: Value| schema.check("memory_list", &parameters).expect_err("a fault").message;
        assert_eq!(fault(json!({ "limit": "ten" })), "limit: \"ten\" is not of type \"integer\"");
        assert_eq!(fault(json!({ "limits": 1 })), "there is no field limits");
        assert_eq!(fault(json!({ "tags": ["a", 1] })), "tags.1: 1 is not of type \"string\"");
        assert_eq!(fault(json!([])), "[] is not of type \"object\"");
        assert!(schema.check("memory_list", &json!({})).is_ok());
    }
}
