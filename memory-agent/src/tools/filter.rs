//! Filter parameters that several tools share, and schema helpers.

use memory_core::{Filter, Lifetime, Scope, ToolContext, ToolError};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::input::{invalid, parse_bound, parse_end, parse_field, parse_start};

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
        let start = |text: &str| {
            parse_bound(
                context,
                text,
                |text| parse_start("from", text, zone),
                |named| named.from,
            )
        };
        let end = |text: &str| {
            parse_bound(
                context,
                text,
                |text| parse_end("to", text, zone),
                |named| named.until,
            )
        };
        Ok(Filter {
            phase: parse_field("phase", self.phase.as_deref())?,
            category: parse_field("category", self.category.as_deref())?,
            scope: parse_scope(context, self.scope.as_deref())?,
            source: self.source.clone(),
            tags: self.tags.iter().collect(),
            from: self.from.as_deref().map(start).transpose()?,
            until: self.to.as_deref().map(end).transpose()?,
            standing: None,
            lifetime: Lifetime::Current,
            ..Filter::default()
        })
    }
}

/// Parses a scope; `agent` and `project` denote those of the caller.
pub(super) fn parse_scope(
    context: &ToolContext,
    text: Option<&str>,
) -> Result<Option<Scope>, ToolError> {
    let missing = |what: &str| {
        invalid(format!("scope: the caller has no {what}")).with_hint("use global, or omit scope")
    };
    match text.map(|text| text.trim().to_lowercase()).as_deref() {
        Some("agent") => match &context.caller.agent {
            Some(agent) => Ok(Some(Scope::Agent(agent.as_str().to_owned()))),
            None => Err(missing("name")),
        },
        Some("project") => match &context.caller.project {
            Some(project) => Ok(Some(Scope::Project(project.clone()))),
            None => Err(missing("project")),
        },
        _ => parse_field("scope", text)
            .map_err(|error| error.with_hint("use global, project or agent")),
    }
}

/// Returns the schema of the parameters `own` followed by the filter parameters.
pub(super) fn schema_with_filter(own: Value, required: &[&str]) -> Value {
    let mut properties: Map<String, Value> = match own {
        Value::Object(own) => own,
        _ => Map::new(),
    };
    let filter = json!({
        "tags": { "type": "array", "items": { "type": "string" } },
        "category": { "type": "string", "description": "as in memory_write" },
        "scope": scope_schema(),
        "phase": { "type": "string", "enum": ["inbox", "organized"], "description": "inbox: new, unsorted" },
        "source": { "type": "string", "description": "program that wrote it" },
        "from": { "type": "string", "description": "YYYY-MM-DD" },
        "to": { "type": "string" }
    });
    if let Value::Object(filter) = filter {
        properties.extend(filter);
    }
    object_schema(&Value::Object(properties), required)
}

/// Returns the schema of an object with these properties and no others.
pub(super) fn object_schema(properties: &Value, required: &[&str]) -> Value {
    let mut schema =
        json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

/// Returns the schema of a category, with the meanings that the names do not show.
pub(super) fn category_schema() -> Value {
    let names: Vec<&str> = memory_core::Category::ALL
        .iter()
        .map(|category| category.as_str())
        .collect();
    let meanings = "soul: identity, values; character: traits, style; date: schedules; knowledge: technical facts; feedback: \
                    suggestions; lessons: gotchas; habits: routines; inbox, the default: unsorted, expires";
    json!({ "type": "string", "enum": names, "description": meanings })
}

/// Returns the schema of a scope.
pub(super) fn scope_schema() -> Value {
    json!({ "type": "string", "description": "global, project or agent" })
}

/// Returns the schema of an id.
pub(super) fn id_schema() -> Value {
    json!({ "type": "string" })
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

/// Returns the schema of the size of an answer.
pub(super) fn budget_schema() -> Value {
    json!({ "type": "integer", "description": "tokens, 200-8000" })
}

/// Returns the schema of the cursor of an earlier answer.
pub(super) fn cursor_schema() -> Value {
    json!({ "type": "string" })
}

/// Returns the schema of a result limit.
pub(super) fn limit_schema(default: usize) -> Value {
    json!({ "type": "integer", "minimum": 1, "default": default })
}

/// Maximum number of results per call; a larger limit counts as this one.
pub(super) const MAX_RESULTS: usize = 1_000;
