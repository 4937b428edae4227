//! Describes tools and converts their results in the format of the protocol.
//!
//! A result is structured JSON, and the same information as compact text for clients that read only the text.

use std::sync::Arc;

use memory_core::secret::without_secrets;
use memory_core::text::{to_one_line, token_count};
use memory_core::{Code, Effect, Tool, ToolError, escape_tags};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, ProtocolVersion, ToolAnnotations};
use serde_json::{Value, json};

use crate::agent::Agent;
use crate::answer_text::answer_text;
use crate::exact_json;
use crate::json as shapes;
use crate::tools::start_of;

/// The form of the results of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerForm {
    /// Structured JSON and text.
    Structured,
    /// Text only, for versions of the protocol without structured results.
    Text,
}

impl AnswerForm {
    /// Returns the form for a version of the protocol.
    pub(super) fn of_version(version: Option<&ProtocolVersion>) -> Self {
        let is_structured = version.is_none_or(|version| ProtocolVersion::V_2025_06_18 <= *version);
        if is_structured {
            Self::Structured
        } else {
            Self::Text
        }
    }
}

/// Maximum number of tokens of a result in each form; the brief results of memories are much smaller.
const MAX_FORM_TOKENS: usize = 4_000;

/// Maximum number of characters of the message of an error, and of its hint.
const MAX_ERROR_CHARACTERS: usize = 500;

/// Tokens of the fields that follow the text of a cut result.
const NOTE_TOKENS: usize = 100;

/// The parameters that programs use, and that a model does not need.
const UNLISTED_PARAMETERS: [&str; 3] = ["source", "version", "phase"];

/// Describes the listed tools.
pub(super) fn describe_tools(agent: &Agent, form: AnswerForm) -> Vec<rmcp::model::Tool> {
    agent
        .model_tools()
        .map(|tool| describe_tool(tool, agent.built_in_name(tool.name()), form))
        .collect()
}

/// Describes a tool; `own_name` is the original name of a tool of this crate.
fn describe_tool(tool: &dyn Tool, own_name: Option<&str>, form: AnswerForm) -> rmcp::model::Tool {
    let mut schema = match tool.parameters() {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    if own_name.is_some() {
        // Each listed token is part of every prompt. The check of a call refuses unknown parameters and names the valid ones.
        schema.shift_remove("additionalProperties");
    }
    if own_name.is_some_and(|name| name.starts_with("memory_"))
        && let Some(Value::Object(properties)) = schema.get_mut("properties")
    {
        properties.retain(|name, _| !UNLISTED_PARAMETERS.contains(&name.as_str()));
    }
    // A tool of this crate changes only the stores of the user; another one may reach anything.
    let annotations = ToolAnnotations::new()
        .read_only(tool.effect() == Effect::Reads)
        .destructive(tool.effect() == Effect::Changes)
        .idempotent(tool.effect() == Effect::Reads)
        .open_world(own_name.is_none());
    let mut described = rmcp::model::Tool::new(
        tool.name().to_owned(),
        tool.description().to_owned(),
        schema,
    );
    described.annotations = Some(annotations);
    match own_name.and_then(output_schema) {
        Some(Value::Object(schema)) if form == AnswerForm::Structured => {
            described.with_raw_output_schema(Arc::new(schema))
        }
        _ => described,
    }
}

/// Returns the schema of the result of a tool of this crate, if it is structured.
///
/// No key is required: clients also check the result of a failed call, which has the key `error`.
fn output_schema(own_name: &str) -> Option<Value> {
    match own_name {
        "memory_search" | "memory_smart_search" => {
            Some(json!({ "type": "object", "properties": { "hits": { "type": "array" } } }))
        }
        "memory_list" | "memory_reminders" | "memory_backlinks" | "memory_link" => {
            Some(json!({ "type": "object", "properties": { "memories": { "type": "array" } } }))
        }
        "memory_read" | "memory_write" | "memory_update" | "memory_tag" | "memory_delete"
        | "memory_remind" | "memory_done" | "memory_undo" => Some(json!({ "type": "object" })),
        _ => None,
    }
}

/// The tools of memories whose results are returned as they are: exact text, which an agent may edit, and text that is escaped already.
const UNESCAPED: [&str; 2] = ["memory_read", "memory_context"];

/// The other tools whose results are lists.
const LISTS: [&str; 3] = ["topic_view", "bank_list", "history_sessions"];

/// The tools whose results contain JSON of the user: in text of another form, `null` would look like `"null"`.
const JSON_TEXTS: [&str; 4] = ["bank_read", "bank_update", "bank_query", "bank_search"];

/// Escapes the tags of clients in each text of a result.
fn escape_texts(result: Value) -> Value {
    match result {
        Value::String(text) => escape_tags(&text).into(),
        Value::Array(items) => items.into_iter().map(escape_texts).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, field)| (escape_tags(&name), escape_texts(field)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other,
    }
}

/// Converts the result of a call of a tool; `own_name` is the original name of a tool of this crate.
///
/// # Errors
/// If there is no such tool: the request cannot be routed.
pub(super) fn tool_result(
    own_name: Option<&str>,
    done: Result<Value, ToolError>,
    form: AnswerForm,
) -> Result<CallToolResult, ErrorData> {
    let done = match own_name {
        Some(name)
            if LISTS.contains(&name)
                || name.starts_with("memory_") && !UNESCAPED.contains(&name) =>
        {
            done.map(escape_texts)
        }
        _ => done,
    };
    match done {
        // A text is returned as it is, unless the schema of the tool requires an object.
        Ok(Value::String(text)) if own_name.and_then(output_schema).is_none() => {
            Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
        }
        // The protocol requires an object; a hook may have returned another value.
        Ok(result) if !result.is_object() => {
            Ok(success(json!({ "result": result }), answer_text, form))
        }
        Ok(result) if own_name.is_some_and(|name| JSON_TEXTS.contains(&name)) => Ok(success(
            bounded(result, exact_json::to_text),
            exact_json::to_text,
            form,
        )),
        Ok(result) if own_name.is_some() => {
            Ok(success(bounded(result, answer_text), answer_text, form))
        }
        Ok(result) => Ok(success(result, answer_text, form)),
        Err(error) if error.is_text => Ok(CallToolResult::error(vec![ContentBlock::text(
            start_of(&without_secrets(&error.message), MAX_FORM_TOKENS),
        )])),
        Err(error) => error_result(&short_error(error), form),
    }
}

fn error_result(error: &ToolError, form: AnswerForm) -> Result<CallToolResult, ErrorData> {
    if error.code == Code::ToolNotFound {
        return Err(ErrorData::invalid_params(error_text(error), None));
    }
    let mut result = CallToolResult::error(vec![ContentBlock::text(error_text(error))]);
    result.structured_content = (form == AnswerForm::Structured).then(|| shapes::tool_error(error));
    Ok(result)
}

/// Shortens an error that repeats a long parameter.
fn short_error(error: ToolError) -> ToolError {
    let short = |text: String| {
        if text.len() <= MAX_ERROR_CHARACTERS {
            text
        } else {
            to_one_line(&text, MAX_ERROR_CHARACTERS)
        }
    };
    let about = error
        .about
        .into_iter()
        .map(|(kind, name)| (kind, short(name)))
        .collect();
    ToolError {
        message: short(error.message),
        hint: error.hint.map(short),
        about,
        ..error
    }
}

fn success(result: Value, write_text: fn(&Value) -> String, form: AnswerForm) -> CallToolResult {
    let mut answer = CallToolResult::success(vec![ContentBlock::text(write_text(&result))]);
    answer.structured_content = (form == AnswerForm::Structured).then_some(result);
    answer
}

/// Returns the message of an error, then its hint.
fn error_text(error: &ToolError) -> String {
    let text = match &error.hint {
        Some(hint) => format!("{}\n{hint}", error.message),
        None => error.message.clone(),
    };
    without_secrets(&text).into_owned()
}

/// Replaces a result that is too large by the start of its text.
fn bounded(result: Value, write_text: fn(&Value) -> String) -> Value {
    if token_count(&exact_json::to_text(&result)) <= MAX_FORM_TOKENS {
        return result;
    }
    let text = write_text(&result);
    let shown = start_of(&text, MAX_FORM_TOKENS - NOTE_TOKENS);
    let more = text.chars().count() - shown.chars().count();
    json!({ "text": shown, "more": more, "next": "the result is too long; request a part of it, such as one key" })
}
