//! What may be done with an instance.

use std::sync::Arc;

use memory_core::instance::history::Messages;
use memory_core::instance::kv::Values;
use memory_core::{Effect, ToolError, View};
use serde_json::{Value, json};

use super::{Answer, Parameters};
use crate::agent::Agent;

/// One thing that may be done with an instance.
#[derive(Debug, Clone)]
pub struct Action {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// The JSON Schema of its parameters, an object that allows no others.
    pub parameters: Value,
    /// What it may do to what the instance holds.
    pub effect: Effect,
    pub(super) run: Run,
}

/// How an action is done.
#[derive(Debug, Clone, Copy)]
pub(super) enum Run {
    /// Here.
    Own(fn(&Holding, &Parameters) -> Result<Answer, ToolError>),
    /// By the tool of this name.
    Tool(&'static str),
}

/// Who asks for an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asker {
    /// The person, who sees everything.
    Person,
    /// An agent, which sees what it may.
    Agent(View),
}

/// What an instance holds.
#[derive(Debug, Clone)]
pub enum Holding {
    /// Sessions.
    History(Messages),
    /// Values.
    Kv(Values),
    /// What tools reach.
    Tools(Arc<Agent>),
}

impl Holding {
    pub(super) fn history(&self) -> &Messages {
        match self {
            Self::History(messages) => messages,
            Self::Kv(_) | Self::Tools(_) => unreachable!("actions of history are asked of a history"),
        }
    }

    pub(super) fn tools(&self) -> &Arc<Agent> {
        match self {
            Self::Tools(agent) => agent,
            Self::History(_) | Self::Kv(_) => unreachable!("actions of tools are asked of what tools reach"),
        }
    }

    pub(super) fn kv(&self) -> &Values {
        match self {
            Self::Kv(values) => values,
            Self::History(_) | Self::Tools(_) => unreachable!("actions of kv are asked of a kv"),
        }
    }
}

/// Returns the schema of an object with these properties and no others.
pub(super) fn schema(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}
