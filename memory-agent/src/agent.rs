//! Runs tool calls for all frontends, together with hooks, validation and events.
//!
//! Every frontend opens a session for its client and passes calls to it, so results differ in their encoding
//! only. A hook or tool that panics, or a hook that hangs, fails only its own call. Events are sent through
//! bounded channels and are dropped for a subscriber that does not read them, so a subscriber never delays a
//! call.

mod builder;
mod session;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

pub use builder::AgentBuilder;
pub use session::{CONTEXT_BUDGET, Session};

use chrono::{DateTime, FixedOffset};
use memory_core::{Code, Effect, LocalTime, LocalZone, Services, Tool, ToolContext, ToolError};
use serde_json::Value;

use crate::event::{Event, EventBus, EventKind, EventReceiver};
use crate::hook::{self, Hook, HookPoint, ToolCall};
use crate::tools::{self, not_found};
use crate::validation::ParameterSchema;

/// The tool registry that all frontends share, with the hooks and events around each call.
pub struct Agent {
    services: Services,
    local_time: LocalTime,
    offered: Vec<RegisteredTool>,
    before: Vec<Arc<dyn Hook>>,
    after: Vec<Arc<dyn Hook>>,
    events: Arc<EventBus>,
    /// Disconnects when every pending event has been delivered to the event hooks.
    told: Option<Mutex<Receiver<()>>>,
    /// Called after each successful call of a tool that may write, before the result is returned.
    after_changes: Option<Box<ChangeCallback>>,
}

/// Callback that runs after a call that may have changed something.
type ChangeCallback = dyn Fn() + Send + Sync;

/// A tool with its registration data.
struct RegisteredTool {
    tool: Arc<dyn Tool>,
    /// The name of the tool before any renaming by the configuration.
    own_name: String,
    is_listed: bool,
    /// Whether an embedding program supplied the tool.
    is_custom: bool,
    schema: OnceLock<ParameterSchema>,
}

/// Hooks, each with the point of the call at which it runs.
pub type HookList = Vec<(HookPoint, Arc<dyn Hook>)>;

/// Time that event hooks get at shutdown to process pending events.
const EVENT_DRAIN_TIME: Duration = Duration::from_secs(1);

impl Agent {
    /// Starts with memories, or with their services; see [`AgentBuilder`].
    ///
    /// The tools of this crate refuse texts with credentials, also if the methods of `memories` store them.
    pub fn builder(memories: impl Into<Services>) -> AgentBuilder {
        AgentBuilder::new(memories.into())
    }

    /// Returns the services of the agent, without any restriction of the view.
    pub fn services(&self) -> &Services {
        &self.services
    }

    /// Returns the current local time.
    pub fn now(&self) -> DateTime<FixedOffset> {
        (self.local_time)(self.services.clock.now())
    }

    /// Iterates over the tools that are listed for clients.
    pub fn listed_tools(&self) -> impl Iterator<Item = &dyn Tool> {
        self.offered.iter().filter(|offered| offered.is_listed).map(|offered| offered.tool.as_ref())
    }

    /// Iterates over all tools that may be called, listed or not.
    pub fn callable_tools(&self) -> impl Iterator<Item = &dyn Tool> {
        self.offered.iter().map(|offered| offered.tool.as_ref())
    }

    /// Returns a receiver of all events from now on.
    pub fn subscribe(&self) -> EventReceiver {
        self.events.subscribe()
    }

    /// Calls a tool for `session`: hooks before the call, schema check, tool, hooks after the call.
    ///
    /// # Errors
    /// [`Code::ToolNotFound`], [`Code::CallBlocked`], [`Code::HookFailed`], [`Code::InvalidInput`], or the error of the
    /// tool.
    pub fn call(&self, session: &Session, tool: &str, parameters: Value) -> Result<Value, ToolError> {
        let agent = session.name().to_owned();
        let tell = |kind| self.events.emit(|| Event { agent: agent.clone(), kind });
        tell(EventKind::ToolStart { tool: tool.to_owned(), parameters: parameters.clone() });
        let call = ToolCall { agent: agent.clone(), tool: tool.to_owned(), parameters };
        let mut done = self.call_with_hooks(session, call);
        if let (Ok(_), Some(run)) = (&done, &self.after_changes)
            && self.find_tool(tool).is_some_and(|offered| offered.tool.effect() != Effect::Reads)
        {
            run();
        }
        if !session.is_person() {
            self.rewrite_hints(tool, &mut done);
        }
        tell(match &done {
            Ok(_) => EventKind::ToolEnd { tool: tool.to_owned() },
            Err(error) => EventKind::Error { tool: tool.to_owned(), error: error.clone() },
        });
        done
    }

    /// Rewrites a result or an error so that it uses the offered tool names and mentions no CLI commands.
    fn rewrite_hints(&self, tool: &str, done: &mut Result<Value, ToolError>) {
        let offered = |own: &str| {
            let found = self.offered.iter().find(|offered| offered.own_name == own);
            found.map(|offered| offered.tool.name().to_owned())
        };
        match done {
            Err(error) if error.code == Code::ToolNotFound => {
                let names: Vec<&str> = self.callable_tools().map(Tool::name).collect();
                error.hint = Some(format!("available tools: {}", names.join(", ")));
            }
            Err(error) => tools::rewrite_hint(error, self.own_name(tool), offered),
            // The result of a custom tool has no known hints.
            Ok(_) if self.find_tool(tool).is_some_and(|offered| offered.is_custom) => {}
            Ok(answer) => tools::rewrite_result(answer, self.own_name(tool), &offered),
        }
    }

    /// Returns the name of a tool before renaming.
    fn own_name<'a>(&'a self, tool: &'a str) -> &'a str {
        self.find_tool(tool).map_or(tool, |called| called.own_name.as_str())
    }

    fn find_tool(&self, name: &str) -> Option<&RegisteredTool> {
        self.offered.iter().find(|offered| offered.tool.name() == name)
    }

    fn call_with_hooks(&self, session: &Session, call: ToolCall) -> Result<Value, ToolError> {
        let RegisteredTool { tool, schema, .. } = self.find_tool(&call.tool).ok_or_else(|| not_found(&call.tool))?;
        let call = hook::run_before_hooks(&self.before, call)?;
        schema.get_or_init(|| ParameterSchema::of(&tool.parameters())).check(tool.as_ref(), &call.parameters)?;
        let context = session.context(self.now(), LocalZone::new(Arc::clone(&self.local_time)));
        let result = execute(tool.as_ref(), &context, &call.parameters)?;
        hook::run_after_hooks(&self.after, &call, result)
    }

    /// Emits an event for `agent`.
    pub(crate) fn emit(&self, agent: &str, kind: EventKind) {
        self.events.emit(|| Event { agent: agent.to_owned(), kind });
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.events.close();
        if let Some(told) = self.told.take().and_then(|told| told.into_inner().ok()) {
            // Dropping the agent ends the event hooks; one that needs longer than the timeout is abandoned.
            let _ = told.recv_timeout(EVENT_DRAIN_TIME);
        }
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.offered.iter().map(|offered| offered.tool.name()).collect();
        formatter.debug_struct("Agent").field("tools", &names).finish_non_exhaustive()
    }
}

/// Runs a tool and converts a panic of it into an internal error.
fn execute(tool: &dyn Tool, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
    catch_unwind(AssertUnwindSafe(|| tool.execute(context, parameters))).unwrap_or_else(|_| {
        let message = format!("{} failed with an internal error; no partial change was stored", tool.name());
        Err(ToolError::new(
            Code::Internal,
            message,
            Some("try a different call; the user can check the store with `memory doctor`".into()),
        ))
    })
}
