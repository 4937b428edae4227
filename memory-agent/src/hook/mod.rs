//! Hooks: external code that runs before and after tool calls, and on events.

mod runner;
mod shell;

use std::fmt::Debug;

use memory_core::ToolError;
use serde_json::{Value, json};

pub(crate) use runner::run_hook;
pub use shell::ShellHook;

use crate::event::Event;

/// Code that runs before or after a tool call, or on an event.
///
/// If it panics or does not return within [`PATIENCE`], only that call fails.
pub trait Hook: Debug + Send + Sync {
    /// Returns the name of the hook for messages.
    fn name(&self) -> String;

    /// Runs the hook.
    ///
    /// The valid results depend on the occasion; after an [`HookEvent::Event`] the result is ignored.
    ///
    /// # Errors
    /// The reason of the failure, as a statement.
    fn run(&self, occasion: &HookEvent) -> Result<HookOutcome, String>;
}

/// Maximum run time of a hook.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// The points at which a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HookPoint {
    /// Before a tool call: the hook may block the call or change its parameters.
    BeforeToolCall,
    /// After a successful tool call: the hook may change the result.
    AfterToolCall,
    /// On an event; the result of the hook is ignored.
    OnEvent,
}

impl HookPoint {
    /// All points.
    pub const ALL: [Self; 3] = [Self::BeforeToolCall, Self::AfterToolCall, Self::OnEvent];

    /// Returns the name used in the settings and in the JSON for hooks.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BeforeToolCall => "before_tool_call",
            Self::AfterToolCall => "after_tool_call",
            Self::OnEvent => "on_event",
        }
    }
}

/// The input of a hook.
#[derive(Debug, Clone, PartialEq)]
pub enum HookEvent {
    /// A tool is about to be called.
    Before(ToolCall),
    /// A tool was called and returned this value.
    After(ToolCall, Value),
    /// An event occurred.
    Event(Event),
}

impl HookEvent {
    /// Returns the JSON for shell hooks: `{hook, agent, tool, parameters, result?}`; for an event, that of
    /// [`Event::json`].
    pub fn json(&self) -> Value {
        match self {
            Self::Before(call) => call.json(HookPoint::BeforeToolCall),
            Self::After(call, result) => {
                let mut shape = call.json(HookPoint::AfterToolCall);
                shape["result"] = result.clone();
                shape
            }
            Self::Event(event) => event.json(),
        }
    }
}

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The name of the calling agent; empty if unknown.
    pub agent: String,
    /// The name of the tool.
    pub tool: String,
    /// The parameters.
    pub parameters: Value,
}

impl ToolCall {
    fn json(&self, point: HookPoint) -> Value {
        json!({ "hook": point.as_str(), "agent": self.agent, "tool": self.tool, "parameters": self.parameters })
    }
}

/// The result of a hook.
#[derive(Debug, Clone, PartialEq)]
pub enum HookOutcome {
    /// Continue without a change.
    Go,
    /// Block the call, for this reason.
    Block(String),
    /// Replace the parameters of the call.
    Parameters(Value),
    /// Replace the result of the call.
    Result(Value),
}

/// Runs the hooks before a call, in order; returns the call with the parameters that they set.
pub(crate) fn run_before_hooks(
    hooks: &[std::sync::Arc<dyn Hook>],
    mut call: ToolCall,
) -> Result<ToolCall, ToolError> {
    for hook in hooks {
        match run_hook(hook, HookEvent::Before(call.clone()), PATIENCE)? {
            HookOutcome::Block(reason) => return Err(runner::blocked_error(&hook.name(), &reason)),
            HookOutcome::Parameters(parameters) => call.parameters = parameters,
            HookOutcome::Go => {}
            HookOutcome::Result(_) => {
                return Err(runner::failed_error(
                    &hook.name(),
                    "returned a result before the call",
                ));
            }
        }
    }
    Ok(call)
}

/// Runs the hooks after a call, in order; returns the result that they set.
pub(crate) fn run_after_hooks(
    hooks: &[std::sync::Arc<dyn Hook>],
    call: &ToolCall,
    mut result: Value,
) -> Result<Value, ToolError> {
    for hook in hooks {
        match run_hook(
            hook,
            HookEvent::After(call.clone(), result.clone()),
            PATIENCE,
        )? {
            HookOutcome::Result(changed) => result = changed,
            HookOutcome::Go => {}
            HookOutcome::Block(reason) => return Err(runner::blocked_error(&hook.name(), &reason)),
            HookOutcome::Parameters(_) => {
                return Err(runner::failed_error(
                    &hook.name(),
                    "returned parameters after the call",
                ));
            }
        }
    }
    Ok(result)
}
