//! What is answered.

use memory_core::{Tool, View};
use serde_json::{Value, json};

use super::{Ask, Fault};
use crate::agent::Agent;
use crate::session::Session;

/// Does what `session` asks for.
pub(super) fn result(session: &Session, ask: Ask) -> Result<Value, Fault> {
    match ask {
        Ask::Ping => Ok(json!({})),
        Ask::Tools { all } => Ok(tools(session.agent(), all)),
        Ask::Call { tool, parameters } => Ok(session.call(&tool, parameters)?),
        Ask::Open(view) => Ok(opened(&view)),
    }
}

/// Describes the tools that are listed, or all that may be called: `{tools: [{name, description, parameters}]}`.
pub fn tools(agent: &Agent, all: bool) -> Value {
    let tools: Vec<Value> = if all { agent.offered().map(described).collect() } else { agent.listed().map(described).collect() };
    json!({ "tools": tools })
}

fn described(tool: &dyn Tool) -> Value {
    json!({ "name": tool.name(), "description": tool.description(), "parameters": tool.parameters() })
}

fn opened(view: &View) -> Value {
    let scopes: Vec<String> = view.scopes().iter().map(ToString::to_string).collect();
    json!({ "agent": view.agent.as_ref().map(ToString::to_string), "project": view.project, "scopes": scopes })
}
