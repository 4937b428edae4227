//! The actions of instances, and the opened instances that they run on.

use std::fmt::{self, Debug};
use std::sync::Arc;

use memory_core::instance::history::Messages;
use memory_core::instance::kv::KeyValues;
use memory_core::json::JsonText;
use memory_core::{Effect, SecretPolicy, ToolError, View};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ActionResult;
use crate::parameters::{parse, schema_of};

/// An action of a type of instances.
#[derive(Debug, Clone)]
pub struct Action {
    /// The name.
    pub name: &'static str,
    /// The description.
    pub description: &'static str,
    /// The JSON Schema of its parameters, an object without additional properties.
    pub parameters: Value,
    /// The effect on the contents of the instance.
    pub effect: Effect,
    pub(super) run: ActionHandler,
}

/// The implementation of an action.
#[derive(Clone)]
pub(super) enum ActionHandler {
    /// A function of this crate.
    Own(Arc<OwnAction>),
    /// The tool of this name.
    Tool(&'static str),
}

/// A function that runs an action with parameters that fit its schema.
type OwnAction =
    dyn Fn(&InstanceHandle, &JsonText) -> Result<ActionResult, ToolError> + Send + Sync;

impl Debug for ActionHandler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(_) => formatter.write_str("Own"),
            Self::Tool(name) => formatter.debug_tuple("Tool").field(name).finish(),
        }
    }
}

impl Action {
    /// Returns an action of this crate, with the schema of its parameters `I`.
    pub(super) fn own<I: DeserializeOwned + JsonSchema + 'static>(
        name: &'static str,
        description: &'static str,
        effect: Effect,
        run: fn(&InstanceHandle, I) -> Result<ActionResult, ToolError>,
    ) -> Self {
        Self {
            name,
            description,
            parameters: schema_of::<I>(),
            effect,
            run: ActionHandler::Own(Arc::new(move |holding, given| run(holding, parse(given)?))),
        }
    }
}

/// The caller of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActionCaller {
    /// The person, who sees everything.
    Person,
    /// An agent.
    Agent {
        /// Its view.
        view: View,
        /// Whether it may store credentials.
        secrets: SecretPolicy,
    },
}

/// An opened instance.
#[derive(Debug, Clone)]
pub enum InstanceHandle {
    /// A message history.
    History(Messages),
    /// A key-value store.
    Kv(KeyValues),
    /// The tools of notes, banks or topics.
    Tools(Arc<dyn ToolCaller>),
}

/// Calls tools by name, for the actions that are tools.
pub trait ToolCaller: Debug + Send + Sync {
    /// Calls a tool for `caller`.
    ///
    /// # Errors
    /// Those of the tool, of its hooks, or if no tool has this name.
    fn call_tool(
        self: Arc<Self>,
        caller: &ActionCaller,
        tool: &str,
        parameters: Value,
    ) -> Result<Value, ToolError>;
}

impl InstanceHandle {
    pub(super) fn history(&self) -> &Messages {
        match self {
            Self::History(messages) => messages,
            Self::Kv(_) | Self::Tools(_) => {
                unreachable!("actions of history are asked of a history")
            }
        }
    }

    pub(super) fn tools(&self) -> &Arc<dyn ToolCaller> {
        match self {
            Self::Tools(tools) => tools,
            Self::History(_) | Self::Kv(_) => {
                unreachable!("actions of tools are asked of what tools reach")
            }
        }
    }

    pub(super) fn kv(&self) -> &KeyValues {
        match self {
            Self::Kv(values) => values,
            Self::History(_) | Self::Tools(_) => unreachable!("actions of kv are asked of a kv"),
        }
    }
}
