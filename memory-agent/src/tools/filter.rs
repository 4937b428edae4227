//! Filter parameters that several tools share, and schema helpers.

use memory_core::{Filter, Lifetime, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::input::{parse_end, parse_field, parse_start};

/// The filter parameters of a tool.
#[derive(Debug, Default, Deserialize)]
pub(super) struct FilterInput {
    phase: Option<String>,
    category: Option<String>,
    scope: Option<String>,
    source: Option<String>,
    #[serde(default)]
    tags: Vec<String>,
    from: Option<String>,
    to: Option<String>,
}

impl FilterInput {
    /// Converts the parameters into a filter.
    pub(super) fn to_filter(&self, context: &ToolContext) -> Result<Filter, ToolError> {
        let zone = *context.now.offset();
        Ok(Filter {
            phase: parse_field("phase", self.phase.as_deref())?,
            category: parse_field("category", self.category.as_deref())?,
            scope: parse_field("scope", self.scope.as_deref())?,
            source: self.source.clone(),
            tags: self.tags.iter().collect(),
            from: self.from.as_deref().map(|from| parse_start("from", from, zone)).transpose()?,
            until: self.to.as_deref().map(|to| parse_end("to", to, zone)).transpose()?,
            standing: None,
            lifetime: Lifetime::Current,
            ..Filter::default()
        })
    }
}

/// Returns the schema of the parameters `own` followed by the filter parameters.
pub(super) fn schema_with_filter(own: Value, required: &[&str]) -> Value {
    let mut properties: Map<String, Value> = match own {
        Value::Object(own) => own,
        _ => Map::new(),
    };
    let filter = json!({
        "tags": { "type": "array", "items": { "type": "string" }, "description": "has all of these tags" },
        "category": category_schema(),
        "scope": { "type": "string", "description": "global, agent:NAME or project:NAME" },
        "phase": { "type": "string", "enum": ["inbox", "organized"] },
        "source": { "type": "string", "description": "source program" },
        "from": { "type": "string", "description": "written on or after YYYY-MM-DD" },
        "to": { "type": "string", "description": "written on or before YYYY-MM-DD" }
    });
    if let Value::Object(filter) = filter {
        properties.extend(filter);
    }
    object_schema(&Value::Object(properties), required)
}

/// Returns the schema of an object with these properties and no others.
pub(super) fn object_schema(properties: &Value, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

/// Returns the schema of a category.
pub(super) fn category_schema() -> Value {
    let names: Vec<&str> = memory_core::Category::ALL.iter().map(|category| category.as_str()).collect();
    json!({ "type": "string", "enum": names })
}

/// Returns the schema of an id.
pub(super) fn id_schema() -> Value {
    json!({ "type": "string", "minLength": 1, "description": "id, a prefix of it (4+), or file stem" })
}

/// The parameters of a tool that takes one memory.
#[derive(Debug, Deserialize)]
pub(super) struct IdInput {
    pub(super) id: String,
}

/// Returns the schema of [`IdInput`].
pub(super) fn id_parameters() -> Value {
    object_schema(&json!({ "id": id_schema() }), &["id"])
}

/// Returns the schema of a result limit.
pub(super) fn limit_schema(default: usize) -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": MAX_RESULTS, "default": default })
}

/// Maximum number of results per call.
const MAX_RESULTS: usize = 1_000;
