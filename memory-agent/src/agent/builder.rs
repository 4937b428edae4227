//! Construction of an agent.

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use memory_core::bank::Banks;
use memory_core::text::to_one_line;
use memory_core::{Code, LocalTime, PrincipalAccess, RecallLedger, Services, Tool, ToolError};

use super::{Agent, HookList, PageOpener, ProjectWrites, RegisteredTool};
use crate::event::{Event, EventBus};
use crate::hook::{self, Hook, HookEvent, HookPoint};
use crate::instance::OpenInstances;
use crate::tools::{self, AvailableServices, ToolListing, ToolSelection};
use crate::validation::CustomSchema;

/// The settings of an [`Agent`]; each has a default.
///
/// The agent offers the selected tools of this crate and the custom tools of the embedding program. Every interface serves
/// both in the same way: the parameters are checked against the schema, the services of the call are restricted to the view of
/// the session, and hooks and events apply. `examples/custom_tool.rs` is a complete program.
///
/// ```
/// use std::sync::Arc;
///
/// use memory_agent::{Agent, Session};
/// use memory_core::{Effect, Filter, MemStore, Memories, PageRequest, Tool, ToolContext, ToolError};
/// use serde_json::{Value, json};
///
/// /// Counts the memories that the caller sees.
/// #[derive(Debug)]
/// struct CountTool;
///
/// impl Tool for CountTool {
///     fn name(&self) -> &str {
///         "count"
///     }
///     fn description(&self) -> &str {
///         "Count the memories."
///     }
///     fn parameters(&self) -> Value {
///         json!({ "type": "object", "properties": {}, "additionalProperties": false })
///     }
///     fn effect(&self) -> Effect {
///         Effect::Reads
///     }
///     fn execute(&self, context: &ToolContext, _: &Value) -> Result<Value, ToolError> {
///         Ok(json!({ "count": memory_core::list(&context.services, &Filter::default(), &PageRequest::default())?.total }))
///     }
/// }
///
/// let memories = Memories::builder(MemStore::default()).build();
/// memories.write("The user prefers dark mode")?;
/// let agent = Agent::builder(memories).tool(Arc::new(CountTool)).build()?;
/// assert_eq!(Session::for_person(&agent).call("count", json!({}))?, json!({ "count": 1 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AgentBuilder {
    agent: Agent,
    selection: ToolSelection,
    custom: Vec<Arc<dyn Tool>>,
    on_event: Vec<Arc<dyn Hook>>,
    instances: Option<Arc<OpenInstances>>,
}

impl AgentBuilder {
    pub(super) fn new(services: Services) -> Self {
        let agent = Agent {
            services,
            local_time: Arc::new(|time| time.fixed_offset()),
            recall_ledger: None,
            offered: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            events: Arc::default(),
            told: None,
            after_changes: None,
            write_notice: None,
            review_place: None,
            principal_banks: None,
            project_writes: ProjectWrites::Global,
            page: None,
        };
        Self {
            agent,
            selection: ToolSelection::default(),
            custom: Vec::new(),
            on_event: Vec::new(),
            instances: None,
        }
    }

    /// Adds a custom tool, which is always listed.
    ///
    /// Its name is a letter, followed by letters, digits, `_` and `-`. Interfaces return its results
    /// unchanged; the hints of its errors are adapted to the interface, like those of the other tools.
    #[must_use]
    pub fn tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.custom.push(tool);
        self
    }

    /// Sets which tools of this crate are offered; [`ToolSelection::default_tools`] by default.
    #[must_use]
    pub fn selection(mut self, selection: ToolSelection) -> Self {
        self.selection = selection;
        self
    }

    /// Adds hooks, in the order in which they run.
    #[must_use]
    pub fn hooks(mut self, hooks: HookList) -> Self {
        for (point, hook) in hooks {
            match point {
                HookPoint::BeforeToolCall => self.agent.before.push(hook),
                HookPoint::AfterToolCall => self.agent.after.push(hook),
                HookPoint::OnEvent => self.on_event.push(hook),
            }
        }
        self
    }

    /// Sets the instances with the sessions and values of the tools `history_*` and `kv_*`.
    #[must_use]
    pub fn instances(mut self, instances: Arc<OpenInstances>) -> Self {
        self.instances = Some(instances);
        self
    }

    /// Sets the time zone of dates in parameters and results; UTC by default.
    #[must_use]
    pub fn local_time(mut self, local_time: LocalTime) -> Self {
        self.agent.local_time = local_time;
        self
    }

    /// Sets the ledger that records which memories the sessions receive; none by default.
    #[must_use]
    pub fn recall_ledger(mut self, ledger: Option<Arc<dyn RecallLedger>>) -> Self {
        self.agent.recall_ledger = ledger;
        self
    }

    /// Sets the scope of memories that an agent in a project writes without a scope; [`ProjectWrites::Global`] by default.
    #[must_use]
    pub fn project_writes(mut self, scope: ProjectWrites) -> Self {
        self.agent.project_writes = scope;
        self
    }

    /// Sets what opens the web page for the method `ui/open` of JSON-RPC; without it, the method is unknown.
    #[must_use]
    pub fn page(mut self, page: Arc<dyn PageOpener>) -> Self {
        self.agent.page = Some(page);
        self
    }

    /// Sets a callback after each successful call of a tool that may write, before the result is returned.
    #[must_use]
    pub fn change_callback(mut self, run: impl Fn() + Send + Sync + 'static) -> Self {
        self.agent.after_changes = Some(Box::new(run));
        self
    }

    /// Sets a function that returns a notice for the results of tools that may write, such as that the write is only on this machine.
    #[must_use]
    pub fn write_notice(
        mut self,
        notice: impl Fn() -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.agent.write_notice = Some(Box::new(notice));
        self
    }

    /// Sets a function that returns where the user accepts proposals, such as `with a command`, for the results of changes that wait for
    /// a review.
    #[must_use]
    pub fn review_place(
        mut self,
        place: impl Fn() -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.agent.review_place = Some(Box::new(place));
        self
    }

    /// Sets a function that returns the banks of a principal who calls a server of the node with a token; without it, a principal has no
    /// banks.
    #[must_use]
    pub fn principal_banks(
        mut self,
        open: impl Fn(&PrincipalAccess) -> Banks + Send + Sync + 'static,
    ) -> Self {
        self.agent.principal_banks = Some(Box::new(open));
        self
    }

    /// Returns the agent.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] if two offered tools have the same name, or if the name or the schema of a custom tool is invalid.
    pub fn build(mut self) -> Result<Arc<Agent>, ToolError> {
        let services = &self.agent.services;
        let available = AvailableServices {
            banks: services.banks.is_some(),
            topics: services.topics.is_some(),
        };
        let selected = tools::select_tools(&self.selection, available, self.instances.as_ref())?;
        let register = |(tool, listing, own_name)| RegisteredTool {
            tool,
            own_name,
            listing,
            schema: OnceLock::new(),
            custom: None,
        };
        self.agent.offered = selected.into_iter().map(register).collect();
        for tool in self.custom {
            if self.agent.find_tool(tool.name()).is_some() {
                return Err(tools::duplicate_name(
                    tool.name(),
                    "rename the custom tool, or do not select the other one",
                ));
            }
            self.agent.offered.push(register_custom_tool(tool)?);
        }
        if !self.on_event.is_empty() {
            self.agent.told = Some(Mutex::new(spawn_event_hooks(
                &self.agent.events,
                self.on_event,
            )));
        }
        Ok(Arc::new(self.agent))
    }
}

/// Checks a tool of the embedding program, and compiles its schema.
fn register_custom_tool(tool: Arc<dyn Tool>) -> Result<RegisteredTool, ToolError> {
    let invalid = |message: String, hint: &str| {
        ToolError::new(Code::InvalidInput, message, Some(hint.to_owned()))
    };
    let name = tool.name().to_owned();
    if !tools::is_tool_name(&name) || matches!(name.as_str(), "ping" | "embed") {
        let message = format!("{:?} is not a valid name of a tool", to_one_line(&name, 80));
        return Err(invalid(
            message,
            "use a letter, followed by letters, digits, _ and -; ping and embed are methods of JSON-RPC",
        ));
    }
    let parameters = tool.parameters();
    let schema = match parameters["type"].as_str() {
        Some("object") => CustomSchema::compile(&parameters),
        _ => Err("its type is not \"object\"".to_owned()),
    };
    let schema = schema.map_err(|why| {
        let message = format!(
            "the schema of the parameters of {name} is invalid: {}",
            to_one_line(&why, 200)
        );
        invalid(
            message,
            "the parameters are a JSON Schema (draft 2020-12) of an object",
        )
    })?;
    Ok(RegisteredTool {
        tool,
        own_name: name,
        listing: ToolListing::FULL,
        schema: OnceLock::from(parameters),
        custom: Some(schema),
    })
}

/// Starts the thread that delivers events to `hooks`.
///
/// The returned receiver disconnects when the thread ends.
fn spawn_event_hooks(events: &EventBus, hooks: Vec<Arc<dyn Hook>>) -> Receiver<()> {
    let heard = events.subscribe();
    let (end, ended) = channel();
    let work = move || {
        for event in heard {
            for hook in &hooks {
                // The result or failure of an event hook must not affect the call.
                let _ =
                    hook::run_hook(hook, HookEvent::Event(Event::clone(&event)), hook::PATIENCE);
            }
        }
        drop(end);
    };
    // If no thread can be started, events are not delivered, and calls still work.
    let _ = thread::Builder::new()
        .name("event hooks".into())
        .spawn(work);
    ended
}
