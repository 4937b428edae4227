//! The check of parameters against schemas.

use std::cmp::Ordering;

use jsonschema::Validator;
use memory_core::text::to_one_line;
use memory_core::{Code, ToolError};
use serde_json::{Map, Value};

use crate::exact_json;
use crate::parameters::{allowed_types, is_whole};

/// Maximum number of faults in one message.
const MAX_FAULTS: usize = 6;

/// Maximum length of a fault, which may quote input.
const MAX_FAULT: usize = 200;

/// Maximum length of a quoted value.
const MAX_VALUE: usize = 80;

/// The compiled schema of a tool of an embedding program.
#[derive(Debug)]
pub(crate) struct CustomSchema(Validator);

impl CustomSchema {
    /// Compiles a schema, or returns the reason why it is invalid.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        let compiled = jsonschema::draft202012::new(schema);
        compiled.map(Self).map_err(|error| error.to_string())
    }

    /// Returns a description of the first fault of `parameters`, if there is one.
    pub(crate) fn fault(&self, parameters: &Value) -> Option<String> {
        // A number that would be rounded is a marked string here. A field must accept it neither as a string nor as a
        // machine number.
        self.fault_of(parameters, parameters).or_else(|| {
            let is_marked = exact_json::contains_marked_number(parameters);
            is_marked
                .then(|| self.fault_of(&exact_json::with_rounded_numbers(parameters), parameters))
                .flatten()
        })
    }

    /// Returns the first fault of `parameters`, and quotes the value of `given` at the same path.
    fn fault_of(&self, parameters: &Value, given: &Value) -> Option<String> {
        let error = self.0.validate(parameters).err()?;
        let path = error.instance_path().as_str();
        let value = exact_json::to_text(given.pointer(path).unwrap_or(error.instance()));
        let path = path.trim_start_matches('/').replace('/', ".");
        let fault = to_one_line(&error.masked_with(value).to_string(), MAX_FAULT);
        Some(at_path(&path, fault))
    }
}

/// Returns a description of the invalid fields of `parameters`, if there are any.
///
/// Of the keywords of JSON Schema, it knows those of the parameters of this crate.
pub(crate) fn faults(schema: &Value, parameters: &Value) -> Option<String> {
    let mut faults = Vec::new();
    add_faults(schema, parameters, "", &mut faults);
    (!faults.is_empty()).then(|| faults.join("; "))
}

/// Adds the faults of the value at `path`, which is empty or ends with a dot.
fn add_faults(schema: &Value, value: &Value, path: &str, faults: &mut Vec<String>) {
    if MAX_FAULTS <= faults.len() {
        return;
    }
    let shown = || to_one_line(&exact_json::to_text(value), MAX_VALUE);
    let mut add = |fault: String| faults.push(at_path(path, fault));
    let allowed = strings(&schema["enum"]);
    let given = value.as_str().unwrap_or_default();
    if !allowed.is_empty() && !allowed.contains(&given) {
        let nearest = nearest_name(given, &allowed);
        let nearest = nearest.map_or_else(String::new, |name| format!("did you mean {name:?}? "));
        let list = quoted(&allowed);
        return add(format!(
            "{} is not allowed; {nearest}the allowed values are {list}",
            shown()
        ));
    }
    let kinds = allowed_types(schema);
    if !kinds.is_empty() && !has_type(value, &kinds) {
        let noun = if kinds.len() == 1 { "type" } else { "types" };
        return add(format!("{} is not of {noun} {}", shown(), quoted(&kinds)));
    }
    let length = |length: usize| u32::try_from(length).ok().map(f64::from);
    let (size, least, most) = match value {
        Value::Number(number) => (
            number.as_f64(),
            ("minimum", "less than the minimum of"),
            ("maximum", "greater than the maximum of"),
        ),
        Value::String(text) => (
            length(text.chars().count()),
            ("minLength", "shorter than"),
            ("maxLength", "longer than"),
        ),
        Value::Array(items) => (
            length(items.len()),
            ("minItems", "shorter than"),
            ("maxItems", "longer than"),
        ),
        Value::Null | Value::Bool(_) | Value::Object(_) => (None, ("", ""), ("", "")),
    };
    for ((keyword, relation), order) in [(least, Ordering::Less), (most, Ordering::Greater)] {
        let bound = &schema[keyword];
        if let (Some(size), Some(limit)) = (size, bound.as_f64())
            && size.partial_cmp(&limit) == Some(order)
        {
            add(format!("{} is {relation} {bound}", shown()));
        }
    }
    match value {
        Value::Array(items) if schema["items"].is_object() => {
            for (place, item) in items.iter().enumerate() {
                add_faults(&schema["items"], item, &format!("{path}{place}."), faults);
            }
        }
        Value::Object(members) => add_member_faults(schema, members, path, faults),
        _ => {}
    }
}

/// Adds the faults of the members of an object.
fn add_member_faults(
    schema: &Value,
    members: &Map<String, Value>,
    path: &str,
    faults: &mut Vec<String>,
) {
    let known = property_names(schema);
    let is_unknown = |name: &&str| schema["additionalProperties"] == false && !known.contains(name);
    let names = members.keys().map(String::as_str);
    let unknown: Vec<&str> = names.filter(is_unknown).collect();
    if !unknown.is_empty() {
        let nearest = unknown.iter().find_map(|name| nearest_name(name, &known));
        let nearest = nearest.map_or_else(String::new, |name| format!(", did you mean {name}?"));
        let list = to_one_line(&unknown.join(", "), MAX_FAULT);
        faults.push(at_path(path, format!("unknown field {list}{nearest}")));
    }
    for name in strings(&schema["required"]) {
        if faults.len() < MAX_FAULTS && !members.contains_key(name) {
            faults.push(at_path(path, format!("the field {name} is missing")));
        }
    }
    for (name, member) in members {
        add_faults(
            &schema["properties"][name],
            member,
            &format!("{path}{name}."),
            faults,
        );
    }
}

/// Returns whether a value has one of these types of JSON Schema.
fn has_type(value: &Value, kinds: &[&str]) -> bool {
    let is = |kind| kinds.contains(&kind);
    match value {
        Value::Null => is("null"),
        Value::Bool(_) => is("boolean"),
        // A number that a machine number cannot hold is a marked string; it is neither a text nor a machine number.
        Value::String(_) => {
            is("string") && (is("number") || exact_json::as_number(value).is_none())
        }
        Value::Number(number) => {
            is("number")
                || is("integer") && (!number.is_f64() || number.as_f64().is_some_and(is_whole))
        }
        Value::Array(_) => is("array"),
        Value::Object(_) => is("object"),
    }
}

/// Returns a fault with the path of its value.
fn at_path(path: &str, fault: String) -> String {
    match path.trim_end_matches('.') {
        "" => fault,
        path => format!("{}: {fault}", to_one_line(path, MAX_VALUE)),
    }
}

fn property_names(schema: &Value) -> Vec<&str> {
    let properties = schema["properties"].as_object().into_iter();
    properties
        .flat_map(|properties| properties.keys().map(String::as_str))
        .collect()
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

fn quoted(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    names.join(", ")
}

/// Returns the error for parameters of a tool with `faults`, with a hint that lists its fields.
pub(crate) fn refuse(tool: &str, schema: &Value, faults: String) -> ToolError {
    let required = strings(&schema["required"]);
    let mut others = property_names(schema);
    others.retain(|name| !required.contains(name));
    let hint = match (required.join(", "), others.join(", ")) {
        (required, others) if required.is_empty() && others.is_empty() => {
            format!("{tool} takes no fields")
        }
        (required, others) if required.is_empty() => format!("{tool} takes {others}"),
        (required, others) if others.is_empty() => format!("{tool} needs {required}"),
        (required, others) => format!("{tool} needs {required}, and takes {others}"),
    };
    ToolError::new(Code::InvalidInput, faults, Some(hint))
}

/// Returns the name that differs least from `unknown`, if it differs little.
fn nearest_name<'a>(unknown: &str, names: &[&'a str]) -> Option<&'a str> {
    if MAX_VALUE < unknown.len() {
        return None;
    }
    let nearest = names
        .iter()
        .map(|name| (strsim::osa_distance(unknown, name), *name))
        .min()?;
    let (distance, name) = nearest;
    (distance <= 2 && distance < name.len() / 2 + 1).then_some(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_schema_of_every_tool_is_a_schema() {
        for tool in crate::tools::all() {
            let compiled = CustomSchema::compile(&tool.parameters());
            compiled.unwrap_or_else(|error| panic!("{}: {error}", tool.name()));
        }
    }

    #[test]
    fn a_value_of_a_users_schema_that_would_be_rounded_is_quoted_as_it_was_given() {
        let schema = json!({
            "type": "object",
            "properties": { "a": { "anyOf": [{ "type": "string" }, { "type": "null" }] }, "b": { "enum": ["x", null] } },
        });
        let schema = CustomSchema::compile(&schema).unwrap();
        let parse = |text: &str| exact_json::from_slice(text.as_bytes()).unwrap();
        assert_eq!(schema.fault(&parse(r#"{"b":null}"#)), None);
        let fault = schema.fault(&parse(r#"{"a":12345678901234567890123,"b":null}"#));
        assert!(
            fault
                .unwrap()
                .starts_with("a: 12345678901234567890123 is not valid")
        );
    }

    #[test]
    fn a_fault_names_the_field() {
        let tools = crate::tools::all();
        let tool = tools.iter().find(|tool| tool.name() == "memory_list");
        let schema = tool.expect("it is one").parameters();
        let fault = |parameters: Value| faults(&schema, &parameters).expect("a fault");
        assert_eq!(
            fault(json!({ "limit": "ten" })),
            "limit: \"ten\" is not of type \"integer\""
        );
        assert_eq!(
            fault(json!({ "limit": 0 })),
            "limit: 0 is less than the minimum of 1"
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
        assert_eq!(faults(&schema, &json!({ "limit": 5.0 })), None);
    }

    #[test]
    fn a_number_that_the_machine_would_round_is_no_text() {
        let mut checked = 0;
        for tool in crate::tools::all() {
            let parameters = tool.parameters();
            let properties = parameters["properties"].as_object();
            for (field, property) in properties.into_iter().flatten() {
                if property["type"] != "string" {
                    continue;
                }
                let given = format!("{{\"{field}\": 12345678901234567890123}}");
                let given = exact_json::from_slice(given.as_bytes()).expect("JSON");
                let fault = faults(&json!({ "properties": { &**field: property } }), &given)
                    .unwrap_or_else(|| panic!("{} takes {field}", tool.name()));
                assert!(
                    fault.starts_with(&format!("{field}: 12345678901234567890123 is not")),
                    "{fault}"
                );
                checked += 1;
            }
        }
        assert!(checked > 20);
        let any = json!({ "properties": { "value": {} } });
        let given = exact_json::from_slice(b"{\"value\": [1e400]}").expect("JSON");
        assert_eq!(faults(&any, &given), None);
    }

    #[test]
    fn a_refused_value_of_an_enum_lists_every_allowed_one() {
        for tool in crate::tools::all() {
            let parameters = tool.parameters();
            let properties = parameters["properties"].as_object();
            for (field, property) in properties.into_iter().flatten() {
                let allowed = strings(&property["enum"]);
                if allowed.is_empty() {
                    continue;
                }
                let schema = json!({ "properties": { &**field: property } });
                assert_eq!(
                    faults(&schema, &json!({ &**field: "no such value" })),
                    Some(format!(
                        "{field}: \"no such value\" is not allowed; the allowed values are {}",
                        quoted(&allowed)
                    ))
                );
            }
        }
    }

    /// Collects the keywords of a schema.
    fn add_keywords(schema: &Value, keywords: &mut std::collections::BTreeSet<String>) {
        keywords.extend(
            schema
                .as_object()
                .into_iter()
                .flat_map(|schema| schema.keys().cloned()),
        );
        let properties = schema["properties"]
            .as_object()
            .into_iter()
            .flat_map(|fields| fields.values());
        for part in properties.chain(schema.get("items")) {
            add_keywords(part, keywords);
        }
    }

    #[test]
    fn every_keyword_of_our_schemas_is_checked() {
        let mut keywords = std::collections::BTreeSet::new();
        let actions = crate::instance::backends()
            .iter()
            .flat_map(|backend| &backend.actions);
        for action in actions {
            add_keywords(&action.parameters, &mut keywords);
        }
        for tool in crate::tools::all() {
            add_keywords(&tool.parameters(), &mut keywords);
        }
        let keywords: Vec<String> = keywords.into_iter().collect();
        insta::assert_snapshot!(keywords.join(" "), @"additionalProperties default description enum items maxItems maximum minItems minLength minimum properties required type");
    }
}
