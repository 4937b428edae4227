//! A client session that calls tools.
//!
//! A session remembers the memories that it gave as context. Between the processes that the hooks of a client
//! start, the folder `index/sessions` stores this.

use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use memory_core::{Context, LocalZone, Services, ShownMemories, StoreError, ToolContext, ToolError, View};
use serde_json::Value;

use super::Agent;
use crate::event::EventKind;

/// Default maximum number of tokens of an injected context.
pub const CONTEXT_BUDGET: usize = 2_000;

/// The actor that the journal records for the person at the command line.
const PERSON_ACTOR: &str = "cli";

/// A session of one agent in one project, from connect to disconnect.
///
/// It sees only the memories of its view, and never receives the same memory twice as injected context.
#[derive(Debug)]
pub struct Session {
    agent: Arc<Agent>,
    services: Services,
    name: String,
    given: Arc<ShownMemories>,
    is_of_the_person: bool,
}

impl Session {
    /// Opens a session for the agent and project of `view`.
    pub fn begin(agent: &Arc<Agent>, view: &View) -> Self {
        let services = agent.services().restrict_to(view);
        let name = view.agent.as_ref().map(ToString::to_string).unwrap_or_default();
        agent.emit(&name, EventKind::AgentStart);
        Self { agent: Arc::clone(agent), services, name, given: Arc::default(), is_of_the_person: false }
    }

    /// Opens a session for the person at the command line, who sees everything.
    pub fn for_person(agent: &Arc<Agent>) -> Self {
        agent.emit("", EventKind::AgentStart);
        Self {
            services: Services { actor: PERSON_ACTOR.into(), ..agent.services().clone() },
            agent: Arc::clone(agent),
            name: String::new(),
            given: Arc::default(),
            is_of_the_person: true,
        }
    }

    /// Returns whether the caller is the person at the command line.
    pub(crate) fn is_person(&self) -> bool {
        self.is_of_the_person
    }

    /// Returns the name of the agent; empty if unknown.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the agent, which holds the tools, hooks and events.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Returns the services, restricted to the view of this session.
    pub fn services(&self) -> &Services {
        &self.services
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// See [`Agent::call`].
    pub fn call(&self, tool: &str, parameters: Value) -> Result<Value, ToolError> {
        self.agent.call(self, tool, parameters)
    }

    /// Collects context for `prompt` in at most `budget` tokens.
    ///
    /// Memories that this session already received are left out.
    ///
    /// # Errors
    /// If the memories cannot be read.
    pub fn inject_context(&self, prompt: &str, budget: usize) -> Result<Context, StoreError> {
        memory_core::build_context(&self.services, prompt, budget, &self.given, &self.agent.now())
    }

    pub(crate) fn context(&self, now: DateTime<FixedOffset>, zone: LocalZone) -> ToolContext {
        ToolContext { services: self.services.clone(), speaker: self.name.clone(), now, zone, given: Arc::clone(&self.given) }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.agent.emit(&self.name, EventKind::AgentEnd);
    }
}
