//! Executes JSON-RPC requests and builds their results.

use memory_core::{StoreError, Tool, ToolError, View};
use serde_json::{Value, json};

use super::{RpcError, RpcMethod};
use crate::agent::{Agent, Session};

/// Executes a request for `session`.
pub(super) fn execute_request(session: &Session, ask: RpcMethod) -> Result<Value, RpcError> {
    match ask {
        RpcMethod::Ping => Ok(json!({})),
        RpcMethod::Tools { all } => Ok(list_tools(session.agent(), all)),
        RpcMethod::Call { tool, parameters } => Ok(session.call(&tool, parameters)?),
        RpcMethod::Open(view) => Ok(view_json(&view)),
        RpcMethod::Embed(texts) => embed_texts(session, &texts),
    }
}

/// Lists the tools as JSON: the listed ones, or all callable ones.
///
/// The shape is `{tools: [{name, description, parameters}]}`.
pub fn list_tools(agent: &Agent, all: bool) -> Value {
    let tools: Vec<Value> =
        if all { agent.callable_tools().map(describe_tool).collect() } else { agent.listed_tools().map(describe_tool).collect() };
    json!({ "tools": tools })
}

/// Describes a tool as JSON: `{name, description, parameters}`.
pub(crate) fn describe_tool(tool: &dyn Tool) -> Value {
    json!({ "name": tool.name(), "description": tool.description(), "parameters": tool.parameters() })
}

/// Embeds texts: `{identity, vectors}`. An empty list returns only the identity of the model.
fn embed_texts(session: &Session, texts: &[String]) -> Result<Value, RpcError> {
    let embedder = session.services().embedder.as_ref();
    let embedder = embedder.ok_or_else(|| ToolError::from(StoreError::NoModel))?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = if texts.is_empty() { Ok(Vec::new()) } else { embedder.embed(&texts) };
    let vectors = vectors.map_err(|error| ToolError::from(StoreError::from(error)))?;
    Ok(json!({ "identity": embedder.identity(), "vectors": vectors }))
}

fn view_json(view: &View) -> Value {
    let scopes: Vec<String> = view.scopes().iter().map(ToString::to_string).collect();
    json!({ "agent": view.agent.as_ref().map(ToString::to_string), "project": view.project, "scopes": scopes })
}
