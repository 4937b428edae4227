//! Exposes the actions of instances as tools.

use std::sync::Arc;

use memory_core::instance::{InstanceError, InstanceName};
use memory_core::json::JsonText;
use memory_core::{Code, Effect, Tool, ToolContext, ToolError, View};
use serde_json::{Value, json};

use crate::exact_json;
use crate::instance::{Action, Backend, OpenInstances, backend};

/// The types of instances with actions that are tools, such as `history_append` and `kv_get`.
pub(super) const TYPES: [&str; 2] = ["history", "kv"];

/// The instance that is used if the call names none.
const DEFAULT_INSTANCE: &str = "default";

/// An action of a type of instances, as a tool.
#[derive(Debug)]
struct InstanceTool {
    name: String,
    backend: &'static Backend,
    action: &'static Action,
    instances: Arc<OpenInstances>,
}

/// Returns the tools of `instances`.
pub(super) fn instance_tools(instances: &Arc<OpenInstances>) -> Vec<Arc<dyn Tool>> {
    let tool = |(backend, action): (&'static Backend, &'static Action)| -> Arc<dyn Tool> {
        Arc::new(InstanceTool {
            name: name(backend, action),
            backend,
            action,
            instances: Arc::clone(instances),
        })
    };
    actions().map(tool).collect()
}

/// Returns the names of the tools.
pub(super) fn tool_names() -> impl Iterator<Item = String> {
    actions().map(|(backend, action)| name(backend, action))
}

/// Returns whether a tool is an instance tool, by its original name.
pub(super) fn is_instance_tool(tool: &str) -> bool {
    tool_names().any(|name| name == tool)
}

fn actions() -> impl Iterator<Item = (&'static Backend, &'static Action)> {
    TYPES
        .iter()
        .filter_map(|name| backend(name).ok())
        .flat_map(|backend| backend.actions.iter().map(move |action| (backend, action)))
}

fn name(backend: &Backend, action: &Action) -> String {
    format!("{}_{}", backend.name, action.name)
}

impl Tool for InstanceTool {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        self.action.description
    }

    fn parameters(&self) -> Value {
        let mut schema = self.action.parameters.clone();
        let description = format!(
            "The name of the {} instance; default: {DEFAULT_INSTANCE}",
            self.backend.name
        );
        schema["properties"]["instance"] = json!({ "type": "string", "description": description });
        schema
    }

    fn effect(&self) -> Effect {
        self.action.effect
    }

    fn execute(&self, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
        if context.caller.principal.is_some() {
            // They belong to the user of the node.
            let hint = "use a server on a home of your own".to_owned();
            let message = "instances are not available with the token of a principal";
            return Err(ToolError::new(Code::Forbidden, message, Some(hint)));
        }
        let mut parameters = parameters.clone();
        let named = parameters
            .as_object_mut()
            .and_then(|members| members.shift_remove("instance"));
        let name = named
            .as_ref()
            .and_then(Value::as_str)
            .unwrap_or(DEFAULT_INSTANCE);
        let name: InstanceName = name
            .parse()
            .map_err(|error: InstanceError| ToolError::from(error))?;
        let holding = self.instances.get_or_open(self.backend, &name)?;
        let asker = self.instances.agent_caller(View::default());
        let answer = self.backend.run(
            self.action,
            &holding,
            &asker,
            &exact_json::to_json_text(&parameters),
        )?;
        let (json, warnings) = answer.into_whole()?;
        let mut value = exact_json::to_value(
            &json
                .parse::<JsonText>()
                .map_err(|error| result_error(&error))?,
        );
        if !warnings.is_empty() {
            value = json!({ "answer": value, "warnings": warnings });
        }
        Ok(value)
    }
}

fn result_error(error: &memory_core::json::JsonError) -> ToolError {
    ToolError::new(
        memory_core::Code::Internal,
        format!("the result is not JSON: {error}"),
        None,
    )
}
