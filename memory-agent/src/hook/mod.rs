//! Code of others that is asked before and after a tool is called.

mod guarded;
mod shell;

use std::fmt::Debug;

use memory_core::ToolError;
use serde_json::{Value, json};

pub(crate) use guarded::ask;
pub use shell::ShellHook;

use crate::event::Event;

/// Somebody who is asked before or after a tool is called, or told of what happened.
///
/// One that panics, or does not answer within [`PATIENCE`], fails that call alone.
pub trait Hook: Debug + Send + Sync {
    /// Returns what it is called in messages.
    fn name(&self) -> String;

    /// Answers. What the answer may be depends on the occasion; after an [`Occasion::Event`] it does not matter.
    ///
    /// # Errors
    /// What went wrong, as a statement.
    fn answer(&self, occasion: &Occasion) -> Result<Answer, String>;
}

/// How long a hook is waited for.
pub const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);

/// When a hook is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Point {
    /// Before a tool is called: it may block the call, or change its parameters.
    BeforeToolCall,
    /// After it did what it was asked for: the result may be changed.
    AfterToolCall,
    /// When something happened; the answer does not matter.
    OnEvent,
}

impl Point {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::BeforeToolCall, Self::AfterToolCall, Self::OnEvent];

    /// Returns its name in the settings and in what hooks read.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BeforeToolCall => "before_tool_call",
            Self::AfterToolCall => "after_tool_call",
            Self::OnEvent => "on_event",
        }
    }
}

/// What a hook is asked about.
#[derive(Debug, Clone, PartialEq)]
pub enum Occasion {
    /// A tool is about to be called.
    Before(Call),
    /// A tool was called, and returned this.
    After(Call, Value),
    /// Something happened.
    Event(Event),
}

impl Occasion {
    /// Writes it as shell hooks read it: `{hook, agent, tool, parameters, result?}`; an event as [`Event::json`] says.
    pub fn json(&self) -> Value {
        match self {
            Self::Before(call) => call.json(Point::BeforeToolCall),
            Self::After(call, result) => {
                let mut shape = call.json(Point::AfterToolCall);
                shape["result"] = result.clone();
                shape
            }
            Self::Event(event) => event.json(),
        }
    }
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Who calls; empty when nobody said.
    pub agent: String,
    /// The tool.
    pub tool: String,
    /// What it is given.
    pub parameters: Value,
}

impl Call {
    fn json(&self, point: Point) -> Value {
        json!({ "hook": point.as_str(), "agent": self.agent, "tool": self.tool, "parameters": self.parameters })
    }
}

/// What a hook says.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Nothing against it.
    Go,
    /// The call must not happen, and why.
    Block(String),
    /// It is to be given this instead.
    Parameters(Value),
    /// It is to return this instead.
    Result(Value),
}

/// Asks the hooks that stand before a call, in order; returns what the tool is to be given.
pub(crate) fn before(hooks: &[std::sync::Arc<dyn Hook>], mut call: Call) -> Result<Call, ToolError> {
    for hook in hooks {
        match ask(hook, Occasion::Before(call.clone()), PATIENCE)? {
            Answer::Block(reason) => return Err(guarded::blocked(&hook.name(), &reason)),
            Answer::Parameters(parameters) => call.parameters = parameters,
            Answer::Go => {}
            Answer::Result(_) => return Err(guarded::senseless(&hook.name(), "returns a result before there is one")),
        }
    }
    Ok(call)
}

/// Asks the hooks that stand behind a call, in order; returns what it is to return.
pub(crate) fn after(hooks: &[std::sync::Arc<dyn Hook>], call: &Call, mut result: Value) -> Result<Value, ToolError> {
    for hook in hooks {
        match ask(hook, Occasion::After(call.clone(), result.clone()), PATIENCE)? {
            Answer::Result(changed) => result = changed,
            Answer::Go => {}
            Answer::Block(reason) => return Err(guarded::blocked(&hook.name(), &reason)),
            Answer::Parameters(_) => return Err(guarded::senseless(&hook.name(), "changes parameters after the call")),
        }
    }
    Ok(result)
}
