//! Somebody who calls tools.

use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use memory_core::{Context, Given, LocalZone, Services, StoreError, ToolContext, ToolError, View};
use serde_json::Value;

use crate::agent::Agent;
use crate::event::EventKind;

/// How many tokens a context has unless somebody says.
pub const CONTEXT_BUDGET: usize = 2_000;

/// What the journal calls the person at the command line.
const PERSON: &str = "cli";

/// Somebody who calls tools: one agent, in one project, from coming to going. It sees what it may see and no more, and is not
/// given the same memory twice.
#[derive(Debug)]
pub struct Session {
    agent: Arc<Agent>,
    services: Services,
    name: String,
    given: Arc<Given>,
    is_of_the_person: bool,
}

impl Session {
    /// Begins a session of whoever `view` describes.
    pub fn begin(agent: &Arc<Agent>, view: &View) -> Self {
        let services = agent.services().seen_by(view.clone());
        let name = view.agent.as_ref().map(ToString::to_string).unwrap_or_default();
        agent.tell(&name, EventKind::AgentStart);
        Self { agent: Arc::clone(agent), services, name, given: Arc::default(), is_of_the_person: false }
    }

    /// Begins a session of the person, who sees everything, at the command line.
    pub fn of_the_person(agent: &Arc<Agent>) -> Self {
        agent.tell("", EventKind::AgentStart);
        Self {
            services: Services { actor: PERSON.into(), ..agent.services().clone() },
            agent: Arc::clone(agent),
            name: String::new(),
            given: Arc::default(),
            is_of_the_person: true,
        }
    }

    /// Tells whether it is the person at the command line who calls.
    pub(crate) fn is_of_the_person(&self) -> bool {
        self.is_of_the_person
    }

    /// Returns the agent's name; empty when nobody said.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the tools, the hooks and the events.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Returns the memories as this session may see them.
    pub fn services(&self) -> &Services {
        &self.services
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// As [`Agent::call`].
    pub fn call(&self, tool: &str, parameters: Value) -> Result<Value, ToolError> {
        self.agent.call(self, tool, parameters)
    }

    /// Gathers what is remembered about `prompt` in at most `budget` tokens, without what this session was given before.
    ///
    /// # Errors
    /// When the memories cannot be read.
    pub fn inject_context(&self, prompt: &str, budget: usize) -> Result<Context, StoreError> {
        memory_core::context(&self.services, prompt, budget, &self.given, &self.agent.now())
    }

    pub(crate) fn context(&self, now: DateTime<FixedOffset>, zone: LocalZone) -> ToolContext {
        ToolContext { services: self.services.clone(), speaker: self.name.clone(), now, zone, given: Arc::clone(&self.given) }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.agent.tell(&self.name, EventKind::AgentEnd);
    }
}
