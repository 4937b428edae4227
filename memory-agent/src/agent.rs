//! Runs tool calls for all frontends, together with hooks, validation and events.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use chrono::{DateTime, FixedOffset};
use memory_core::{Code, Effect, LocalTime, LocalZone, Services, Tool, ToolContext, ToolError};
use serde_json::Value;

use crate::event::{Event, EventKind, Events, Listener};
use crate::hook::{self, Call, Hook, Occasion, Point};
use crate::instance::OpenInstances;
use crate::session::Session;
use crate::tools::{self, Offer, There, not_found};
use crate::validation::Schema;

/// The tool registry that all frontends share, with the hooks and events around each call.
pub struct Agent {
    services: Services,
    local_time: LocalTime,
    offered: Vec<Offered>,
    before: Vec<Arc<dyn Hook>>,
    after: Vec<Arc<dyn Hook>>,
    events: Arc<Events>,
    /// Disconnects when every pending event has been delivered to the event hooks.
    told: Option<Mutex<Receiver<()>>>,
    /// Called after each successful call of a tool that may write, before the result is returned.
    after_changes: Option<Box<AfterChanges>>,
}

/// Callback that runs after a call that may have changed something.
pub type AfterChanges = dyn Fn() + Send + Sync;

/// A tool with its registration data.
struct Offered {
    tool: Arc<dyn Tool>,
    /// The name of the tool before any renaming by the configuration.
    own_name: String,
    is_listed: bool,
    schema: OnceLock<Schema>,
}

/// Hooks, each with the point of the call at which it runs.
pub type Hooks = Vec<(Point, Arc<dyn Hook>)>;

/// Time that event hooks get at shutdown to process pending events.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl Agent {
    /// Creates an agent for `services`, and for `instances` if there are any.
    ///
    /// # Errors
    /// If two tools of `offer` would have the same name.
    pub fn new(
        services: Services,
        local_time: LocalTime,
        offer: &Offer,
        hooks: Hooks,
        instances: Option<&Arc<OpenInstances>>,
    ) -> Result<Self, ToolError> {
        let there = There { banks: services.banks.is_some(), topics: services.topics.is_some() };
        let offered = tools::offered(offer, there, instances)?;
        let offered =
            offered.into_iter().map(|(tool, is_listed, own_name)| Offered { tool, own_name, is_listed, schema: OnceLock::new() });
        let (mut before, mut after, mut on_event) = (Vec::new(), Vec::new(), Vec::new());
        for (point, hook) in hooks {
            match point {
                Point::BeforeToolCall => before.push(hook),
                Point::AfterToolCall => after.push(hook),
                Point::OnEvent => on_event.push(hook),
            }
        }
        let events = Arc::new(Events::default());
        let told = (!on_event.is_empty()).then(|| Mutex::new(tell(&events, on_event)));
        Ok(Self { services, local_time, offered: offered.collect(), before, after, events, told, after_changes: None })
    }

    /// Registers `run` as a callback after each successful call of a tool that may write.
    ///
    /// It runs before the result is returned.
    #[must_use]
    pub fn after_changes(mut self, run: Box<AfterChanges>) -> Self {
        self.after_changes = Some(run);
        self
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
    pub fn listed(&self) -> impl Iterator<Item = &dyn Tool> {
        self.offered.iter().filter(|offered| offered.is_listed).map(|offered| offered.tool.as_ref())
    }

    /// Iterates over all tools that may be called, listed or not.
    pub fn offered(&self) -> impl Iterator<Item = &dyn Tool> {
        self.offered.iter().map(|offered| offered.tool.as_ref())
    }

    /// Returns a receiver of all events from now on.
    pub fn subscribe(&self) -> Listener {
        self.events.subscribe()
    }

    /// Calls a tool for `session`: hooks before the call, schema check, tool, hooks after the call.
    ///
    /// # Errors
    /// [`Code::ToolNotFound`], [`Code::CallBlocked`], [`Code::HookFailed`], [`Code::InvalidInput`], or the error of the
    /// tool.
    pub fn call(&self, session: &Session, tool: &str, parameters: Value) -> Result<Value, ToolError> {
        let agent = session.name().to_owned();
        let tell = |kind| self.events.tell(|| Event { agent: agent.clone(), kind });
        tell(EventKind::ToolStart { tool: tool.to_owned(), parameters: parameters.clone() });
        let call = Call { agent: agent.clone(), tool: tool.to_owned(), parameters };
        let mut done = self.surrounded(session, call);
        if let (Ok(_), Some(run)) = (&done, &self.after_changes)
            && self.offered().any(|offered| offered.name() == tool && offered.effect() != Effect::Reads)
        {
            run();
        }
        if !session.is_of_the_person() {
            self.advise(tool, &mut done);
        }
        tell(match &done {
            Ok(_) => EventKind::ToolEnd { tool: tool.to_owned() },
            Err(error) => EventKind::Error { tool: tool.to_owned(), error: error.clone() },
        });
        done
    }

    /// Rewrites a result or an error so that it uses the offered tool names and mentions no CLI commands.
    fn advise(&self, tool: &str, done: &mut Result<Value, ToolError>) {
        let offered = |own: &str| {
            let found = self.offered.iter().find(|offered| offered.own_name == own);
            found.map(|offered| offered.tool.name().to_owned())
        };
        match done {
            Err(error) if error.code == Code::ToolNotFound => {
                let names: Vec<&str> = self.offered().map(Tool::name).collect();
                error.hint = Some(format!("available tools: {}", names.join(", ")));
            }
            Err(error) => tools::rewrite(error, self.own_name(tool), offered),
            Ok(answer) => tools::rewrite_answer(answer, self.own_name(tool), &offered),
        }
    }

    /// Returns the name of a tool before renaming.
    fn own_name<'a>(&'a self, tool: &'a str) -> &'a str {
        let called = self.offered.iter().find(|offered| offered.tool.name() == tool);
        called.map_or(tool, |called| called.own_name.as_str())
    }

    fn surrounded(&self, session: &Session, call: Call) -> Result<Value, ToolError> {
        let offered = self.offered.iter().find(|offered| offered.tool.name() == call.tool);
        let Offered { tool, schema, .. } = offered.ok_or_else(|| not_found(&call.tool))?;
        let call = hook::before(&self.before, call)?;
        schema.get_or_init(|| Schema::of(&tool.parameters())).check(tool.as_ref(), &call.parameters)?;
        let context = session.context(self.now(), LocalZone::new(Arc::clone(&self.local_time)));
        let result = execute(tool.as_ref(), &context, &call.parameters)?;
        hook::after(&self.after, &call, result)
    }

    /// Emits an event for `agent`.
    pub(crate) fn tell(&self, agent: &str, kind: EventKind) {
        self.events.tell(|| Event { agent: agent.to_owned(), kind });
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.events.end();
        if let Some(told) = self.told.take().and_then(|told| told.into_inner().ok()) {
            // Dropping the agent ends the event hooks; one that needs longer than the timeout is abandoned.
            let _ = told.recv_timeout(LAST_WORDS);
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

/// Starts the thread that delivers events to `hooks`.
///
/// The returned receiver disconnects when the thread ends.
fn tell(events: &Events, hooks: Vec<Arc<dyn Hook>>) -> Receiver<()> {
    let heard = events.subscribe();
    let (end, ended) = channel();
    let work = move || {
        for event in heard {
            for hook in &hooks {
                // The result or failure of an event hook must not affect the call.
                let _ = hook::ask(hook, Occasion::Event(Event::clone(&event)), hook::PATIENCE);
            }
        }
        drop(end);
    };
    // If no thread can be started, events are not delivered, and calls still work.
    let _ = thread::Builder::new().name("event hooks".into()).spawn(work);
    ended
}
