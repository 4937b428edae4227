//! The schemas of parameters, and the validation of parameters against them.

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use memory_core::text::to_one_line;
use memory_core::{Code, Tool, ToolError};
use serde_json::{Value, json};

use crate::exact_json;

/// The compiled schema of the parameters of a tool, and their names.
#[derive(Debug)]
pub(crate) struct ParameterSchema(Validator, Vec<String>);

/// Maximum number of faults in one message.
const MAX_VIOLATIONS: usize = 3;

/// Maximum length of a fault, which may quote input.
const MAX_VIOLATION: usize = 200;

/// Maximum length of a quoted value.
const MAX_VALUE: usize = 80;

impl ParameterSchema {
    /// Compiles a schema of this crate.
    pub(crate) fn of(schema: &Value) -> Self {
        Self::compile(schema).expect("the schemas of our tools are schemas")
    }

    /// Compiles a schema of an embedding program, or returns the reason why it is invalid.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        let names = schema["properties"]
            .as_object()
            .into_iter()
            .flat_map(|fields| fields.keys().cloned())
            .collect();
        jsonschema::draft202012::new(schema)
            .map(|validator| Self(validator, names))
            .map_err(|error| error.to_string())
    }

    /// Returns an error that names the invalid fields of `parameters`, if there are any.
    pub(crate) fn check(&self, tool: &dyn Tool, parameters: &Value) -> Result<(), ToolError> {
        let Some(faults) = self.violations(parameters) else {
            return Ok(());
        };
        Err(ToolError::new(
            Code::InvalidInput,
            faults,
            Some(fields_hint(tool)),
        ))
    }

    /// Returns a description of the invalid fields of `parameters`, if there are any.
    pub(crate) fn violations(&self, parameters: &Value) -> Option<String> {
        // A number that would be rounded is a marked string here. A field must accept it neither as a string nor as a
        // machine number.
        self.violations_of(parameters, parameters).or_else(|| {
            let holds_number = exact_json::contains_marked_number(parameters);
            holds_number
                .then(|| {
                    self.violations_of(&exact_json::with_rounded_numbers(parameters), parameters)
                })
                .flatten()
        })
    }

    /// Returns the faults of `parameters`, and quotes the values of `given` at the same paths.
    fn violations_of(&self, parameters: &Value, given: &Value) -> Option<String> {
        let faults = self
            .0
            .iter_errors(parameters)
            .take(MAX_VIOLATIONS)
            .map(|error| {
                let path = error.instance_path().as_str();
                let field = to_one_line(&path.trim_start_matches('/').replace('/', "."), MAX_VALUE);
                let value = exact_json::to_text(given.pointer(path).unwrap_or(error.instance()));
                let what = match error.kind() {
                    ValidationErrorKind::AdditionalProperties { unexpected } => {
                        let unknown = to_one_line(
                            &format!("unknown field {}", unexpected.join(", ")),
                            MAX_VIOLATION,
                        );
                        let nearest = unexpected
                            .iter()
                            .find_map(|name| nearest_name(name, &self.1));
                        nearest.map_or(unknown.clone(), |name| {
                            format!("{unknown}, did you mean {name}?")
                        })
                    }
                    ValidationErrorKind::Required { property } => {
                        format!(
                            "the field {} is missing",
                            property.as_str().unwrap_or_default()
                        )
                    }
                    ValidationErrorKind::Enum { options } => {
                        let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
                        let allowed: Vec<String> = options.iter().map(Value::to_string).collect();
                        let names: Vec<String> = options
                            .iter()
                            .filter_map(Value::as_str)
                            .map(str::to_owned)
                            .collect();
                        let nearest = error
                            .instance()
                            .as_str()
                            .and_then(|given| nearest_name(given, &names));
                        let nearest = nearest
                            .map(|name| format!("did you mean \"{name}\"? "))
                            .unwrap_or_default();
                        let value = to_one_line(&value, MAX_VALUE);
                        format!(
                            "{value} is not allowed; {nearest}the allowed values are {}",
                            allowed.join(", ")
                        )
                    }
                    _ => to_one_line(&error.masked_with(value).to_string(), MAX_VIOLATION),
                };
                if field.is_empty() {
                    what
                } else {
                    format!("{field}: {what}")
                }
            });
        let faults: Vec<String> = faults.collect();
        (!faults.is_empty()).then(|| faults.join("; "))
    }
}

/// Returns the name that differs least from `unknown`, if it differs little.
fn nearest_name<'a>(unknown: &str, names: &'a [String]) -> Option<&'a str> {
    let nearest = names
        .iter()
        .map(|name| (edit_distance(unknown, name), name))
        .min()?;
    let (distance, name) = nearest;
    (distance <= 2 && distance < name.len() / 2 + 1).then_some(name)
}

/// Returns the number of bytes to insert, remove or replace between two short texts.
fn edit_distance(one: &str, other: &str) -> usize {
    if MAX_VALUE < one.len() {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, from) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, to) in other.bytes().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

/// Returns the schema of an object with these properties and no others.
pub(crate) fn object_schema(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Returns a hint that lists the fields of a tool.
fn fields_hint(tool: &dyn Tool) -> String {
    let schema = tool.parameters();
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let names: Vec<&str> = schema["properties"]
        .as_object()
        .into_iter()
        .flat_map(|fields| fields.keys())
        .map(String::as_str)
        .collect();
    let others: Vec<&str> = names
        .into_iter()
        .filter(|name| !required.contains(name))
        .collect();
    match (required.is_empty(), others.is_empty()) {
        (true, true) => format!("{} takes no fields", tool.name()),
        (true, false) => format!("{} takes {}", tool.name(), others.join(", ")),
        (false, true) => format!("{} needs {}", tool.name(), required.join(", ")),
        (false, false) => format!(
            "{} needs {}, and takes {}",
            tool.name(),
            required.join(", "),
            others.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_the_field() {
        let tools = crate::tools::all();
        let tool = tools
            .iter()
            .find(|tool| tool.name() == "memory_list")
            .expect("it is one")
            .as_ref();
        let schema = ParameterSchema::of(&tool.parameters());
        let fault = |parameters: Value| {
            schema
                .check(tool, &parameters)
                .expect_err("a fault")
                .message
        };
        assert_eq!(
            fault(json!({ "limit": "ten" })),
            "limit: \"ten\" is not of type \"integer\""
        );
        assert_eq!(
            fault(json!({ "limits": 1 })),
            "unknown field limits, did you mean limit?"
        );
        assert_eq!(fault(json!({ "colour": 1 })), "unknown field colour");
        assert_eq!(
            fault(json!({ "tags": ["a", 1] })),
            "tags.1: 1 is not of type \"string\""
        );
        assert_eq!(fault(json!([])), "[] is not of type \"object\"");
        let huge = exact_json::from_slice(b"{\"limit\": 1e400}").expect("JSON");
        assert_eq!(fault(huge), "limit: 1e400 is not of type \"integer\"");
        assert!(schema.check(tool, &json!({})).is_ok());
    }

    #[test]
    fn a_number_that_the_machine_would_round_is_no_text() {
        let mut checked = 0;
        for tool in crate::tools::all() {
            let parameters = tool.parameters();
            let properties = parameters["properties"]
                .as_object()
                .cloned()
                .unwrap_or_default();
            for (field, property) in properties
                .iter()
                .filter(|(_, property)| property["type"] == "string")
            {
                let schema = ParameterSchema::of(
                    &json!({ "type": "object", "properties": { &**field: property } }),
                );
                let given = exact_json::from_slice(
                    format!("{{\"{field}\": 12345678901234567890123}}").as_bytes(),
                )
                .expect("JSON");
                let faults = schema
                    .violations(&given)
                    .unwrap_or_else(|| panic!("{} takes {field}", tool.name()));
                assert!(
                    faults.starts_with(&format!("{field}: 12345678901234567890123 is not")),
                    "{faults}"
                );
                checked += 1;
            }
        }
        assert!(checked > 20);
        let any = ParameterSchema::of(&json!({ "type": "object", "properties": { "value": {} } }));
        assert_eq!(
            any.violations(&exact_json::from_slice(b"{\"value\": [1e400]}").expect("JSON")),
            None
        );
    }

    #[test]
    fn a_refused_value_of_an_enum_lists_every_allowed_one() {
        for tool in crate::tools::all() {
            let parameters = tool.parameters();
            let properties = parameters["properties"]
                .as_object()
                .cloned()
                .unwrap_or_default();
            for (field, property) in properties {
                let Some(allowed) = property["enum"].as_array() else {
                    continue;
                };
                let faults = ParameterSchema::of(
                    &json!({ "type": "object", "properties": { &*field: property } }),
                )
                .violations(&json!({ &*field: "no such value" }))
                .expect("it is refused");
                let list = allowed
                    .iter()
                    .map(Value::to_string)
                    .collect::<Vec<_>>()
                    .join(", ");
                let expected = format!(
                    "{field}: \"no such value\" is not allowed; the allowed values are {list}"
                );
                assert_eq!(faults, expected, "{}", tool.name());
            }
        }
    }
}
