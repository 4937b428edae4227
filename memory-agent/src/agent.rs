//! The registry of tools that all frontends share, and the sessions that call them.
//!
//! Every frontend opens a session for its client and passes calls to it, so results differ in their encoding
//! only. A hook or tool that panics, or a hook that hangs, fails only its own call. Events are sent through
//! bounded channels and are dropped for a subscriber that does not read them, so a subscriber never delays a
//! call.

mod builder;
mod session;

use std::fmt::{self, Debug};
use std::net::SocketAddr;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

pub use builder::AgentBuilder;
pub use session::{CONTEXT_BUDGET, Session, SessionOrigin};

use chrono::{DateTime, FixedOffset};
use memory_core::bank::Banks;
use memory_core::{
    Code, LocalTime, PrincipalAccess, RecallLedger, RecallRecord, Services, Tool, ToolError, View,
    count_received, record_recall,
};
#[cfg(feature = "server")]
use memory_core::{RecallInterface, RecalledId};
use serde_json::Value;

use crate::event::{Event, EventBus, EventKind, EventReceiver};
use crate::hook::{Hook, HookPoint};
use crate::tools::{self, ToolListing};
use crate::validation::CustomSchema;

/// The tool registry that all frontends share, with the hooks and events around each call.
pub struct Agent {
    services: Services,
    local_time: LocalTime,
    /// Records the memories that sessions receive.
    recall_ledger: Option<Arc<dyn RecallLedger>>,
    offered: Vec<RegisteredTool>,
    before: Vec<Arc<dyn Hook>>,
    after: Vec<Arc<dyn Hook>>,
    events: Arc<EventBus>,
    /// Disconnects when every pending event has been delivered to the event hooks.
    told: Option<Mutex<Receiver<()>>>,
    /// Called after each successful call of a tool that may write, before the result is returned.
    after_changes: Option<Box<ChangeCallback>>,
    /// Returns what the results of tools that may write should state about all writes, if anything.
    write_notice: Option<Box<NoticeSource>>,
    /// Returns where the user accepts the proposals of agents, if it is known.
    review_place: Option<Box<NoticeSource>>,
    /// Returns the banks of a principal who does not use the node itself.
    principal_banks: Option<Box<PrincipalBanks>>,
    project_writes: ProjectWrites,
    /// Opens the web page for clients of the socket.
    page: Option<Arc<dyn PageOpener>>,
}

/// The scope of memories that an agent in a project writes without a scope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProjectWrites {
    /// All agents see them.
    #[default]
    Global,
    /// The agents in the project see them.
    Project,
}

/// Callback that runs after a call that may have changed something.
type ChangeCallback = dyn Fn() + Send + Sync;

/// Returns a notice, if there is one.
type NoticeSource = dyn Fn() -> Option<String> + Send + Sync;

/// Returns the banks of a principal.
type PrincipalBanks = dyn Fn(&PrincipalAccess) -> Banks + Send + Sync;

/// A tool with its registration data.
struct RegisteredTool {
    tool: Arc<dyn Tool>,
    /// The name of the tool before any renaming by the configuration.
    own_name: String,
    listing: ToolListing,
    /// The schema of the parameters, created on the first call.
    schema: OnceLock<Value>,
    /// The compiled schema, if an embedding program supplied the tool.
    custom: Option<CustomSchema>,
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

    /// Returns the services of a caller with this view.
    pub(crate) fn services_for(&self, view: &View) -> Services {
        let services = self.services.restrict_to(view);
        match &view.principal {
            None => services,
            // Those of the services belong to the user of the node.
            Some(principal) => {
                let banks = self.principal_banks.as_ref().map(|open| open(principal));
                Services {
                    banks,
                    topics: None,
                    ..services
                }
            }
        }
    }

    /// Returns the current local time.
    pub fn now(&self) -> DateTime<FixedOffset> {
        (self.local_time)(self.services.clock.now())
    }

    /// Returns what opens the web page, if this process serves one.
    pub(crate) fn page(&self) -> Option<&dyn PageOpener> {
        self.page.as_deref()
    }

    /// Iterates over the tools that are listed for programs.
    pub fn listed_tools(&self) -> impl Iterator<Item = &dyn Tool> {
        self.offered
            .iter()
            .filter(|offered| offered.listing.programs)
            .map(|offered| offered.tool.as_ref())
    }

    /// Iterates over the tools that are listed for models.
    #[cfg(feature = "server")]
    pub(crate) fn model_tools(&self) -> impl Iterator<Item = &dyn Tool> {
        self.offered
            .iter()
            .filter(|offered| offered.listing.models)
            .map(|offered| offered.tool.as_ref())
    }

    /// Returns whether a tool of this crate with such a name is listed for models.
    #[cfg(feature = "server")]
    pub(crate) fn serves_models(&self, prefix: &str) -> bool {
        self.offered.iter().any(|offered| {
            offered.own_name.starts_with(prefix)
                && offered.custom.is_none()
                && offered.listing.models
        })
    }

    /// Returns the offered name of a tool of this crate that models may call and see, by its name before renaming.
    #[cfg(feature = "server")]
    pub(crate) fn name_for_models(&self, own_name: &str) -> Option<&str> {
        let found = self.offered.iter().find(|offered| {
            offered.own_name == own_name && offered.custom.is_none() && offered.listing.models
        });
        found.map(|offered| offered.tool.name())
    }

    /// Iterates over all tools that may be called, listed or not.
    pub fn callable_tools(&self) -> impl Iterator<Item = &dyn Tool> {
        self.offered.iter().map(|offered| offered.tool.as_ref())
    }

    /// Returns a receiver of all events from now on.
    pub fn subscribe(&self) -> EventReceiver {
        self.events.subscribe()
    }

    /// Records in the recall ledger that an agent received `memories` outside of a session, such as in the instructions of a
    /// server.
    #[cfg(feature = "server")]
    pub(crate) fn record_recall(
        &self,
        view: &View,
        interface: RecallInterface,
        tool: &str,
        memories: Vec<RecalledId>,
        tokens: usize,
    ) {
        self.record(RecallRecord {
            at: self.services.clock.now(),
            agent: caller_name(view),
            session: None,
            project: view.project.clone(),
            interface: interface.as_str().to_owned(),
            tool: tool.to_owned(),
            query: None,
            memories,
            tokens: tokens as u64,
        });
    }

    fn record(&self, recall: RecallRecord) {
        count_received(&self.services, &recall.memories);
        if let Some(ledger) = &self.recall_ledger {
            record_recall(ledger.as_ref(), recall);
        }
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
            Ok(_)
                if self
                    .find_tool(tool)
                    .is_some_and(|offered| offered.custom.is_some()) => {}
            Ok(answer) => tools::rewrite_result(answer, self.own_name(tool), &offered),
        }
    }

    /// Returns the name of a tool of this crate before renaming, or `None` for a custom or unknown tool.
    #[cfg(feature = "server")]
    pub(crate) fn built_in_name(&self, tool: &str) -> Option<&str> {
        self.find_tool(tool)
            .filter(|found| found.custom.is_none())
            .map(|found| found.own_name.as_str())
    }

    /// Returns the name of a tool before renaming.
    fn own_name<'a>(&'a self, tool: &'a str) -> &'a str {
        self.find_tool(tool)
            .map_or(tool, |called| called.own_name.as_str())
    }

    fn find_tool(&self, name: &str) -> Option<&RegisteredTool> {
        self.offered
            .iter()
            .find(|offered| offered.tool.name() == name)
    }

    /// Emits an event for `agent`.
    fn emit(&self, agent: &str, kind: EventKind) {
        self.events.emit(|| Event {
            agent: agent.to_owned(),
            kind,
        });
    }
}

/// Returns the name of a caller for events and records: `PRINCIPAL`, `PRINCIPAL/AGENT`, or the agent; empty if unknown.
fn caller_name(view: &View) -> String {
    if view.agent.is_none() && view.principal.is_none() {
        String::new()
    } else {
        view.actor().into_owned()
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
        let names: Vec<&str> = self
            .offered
            .iter()
            .map(|offered| offered.tool.name())
            .collect();
        formatter
            .debug_struct("Agent")
            .field("tools", &names)
            .finish_non_exhaustive()
    }
}

/// Serves the web page on request.
pub trait PageOpener: Debug + Send + Sync {
    /// Serves the page, if it is not served yet, and returns its address with a new sign-in code.
    ///
    /// `port` applies only to the first call; without it, the implementation chooses one.
    ///
    /// # Errors
    /// If no listener can be opened.
    fn open_page(&self, port: Option<u16>) -> Result<OpenedPage, ToolError>;
}

/// The address of the web page, and a code to sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedPage {
    /// The address.
    pub address: SocketAddr,
    /// The code, which is valid once and for 60 seconds.
    pub code: String,
}
