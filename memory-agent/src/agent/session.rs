//! A client session that calls tools.
//!
//! A session remembers the memories that it gave as context. Between the processes that the hooks of a client
//! start, the folder `index/sessions` stores this.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use memory_core::text::token_count;
use memory_core::{
    AnswerDetail, Code, CollectedRecall, Context, Effect, LocalZone, RecallCollector,
    RecallInterface, RecallRecord, RecalledId, Scope, Services, ShownMemories, StoreError, Tool,
    ToolContext, ToolError, View,
};
use serde_json::Value;

use super::{Agent, ProjectWrites, RegisteredTool, caller_name};
use crate::event::EventKind;
use crate::exact_json;
use crate::hook::{self, ToolCall};
use crate::instance::{ActionCaller, ToolCaller};
use crate::json;
use crate::tools::{normalize_parameters, not_found, with_ids};
use crate::validation;

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
    /// The view; `None` for the person, who sees everything.
    view: Option<View>,
    name: String,
    given: Arc<ShownMemories>,
    detail: AnswerDetail,
    origin: SessionOrigin,
    /// The id of the session in the recall ledger, if the client has none.
    generated_id: OnceLock<String>,
}

/// The interface of a session, and its id in the recall ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionOrigin {
    interface: RecallInterface,
    id: Option<String>,
    /// Whether a session without an id gets one.
    is_connection: bool,
}

impl SessionOrigin {
    /// Returns the origin of a session that lasts as long as a connection, with a generated id.
    pub fn connection(interface: RecallInterface) -> Self {
        Self {
            interface,
            id: None,
            is_connection: true,
        }
    }

    /// Returns the origin of a session for single requests, with the id that the client uses for them, if any.
    pub fn request(interface: RecallInterface, id: Option<String>) -> Self {
        Self {
            interface,
            id,
            is_connection: false,
        }
    }
}

impl Session {
    /// Opens a session for the agent and project of `view`.
    pub fn begin(agent: &Arc<Agent>, view: &View) -> Self {
        let name = caller_name(view);
        agent.emit(&name, EventKind::AgentStart);
        Self {
            agent: Arc::clone(agent),
            view: Some(view.clone()),
            name,
            given: Arc::default(),
            detail: AnswerDetail::Full,
            origin: SessionOrigin::connection(RecallInterface::Program),
            generated_id: OnceLock::new(),
        }
    }

    /// Sets the interface and the id that the recall ledger records; a program that embeds the crates by default.
    #[must_use]
    pub fn with_origin(mut self, origin: SessionOrigin) -> Self {
        self.origin = origin;
        self
    }

    /// Opens a session for the person at the command line, who sees everything.
    pub fn for_person(agent: &Arc<Agent>) -> Self {
        agent.emit("", EventKind::AgentStart);
        Self {
            agent: Arc::clone(agent),
            name: String::new(),
            given: Arc::default(),
            view: None,
            detail: AnswerDetail::Full,
            origin: SessionOrigin::connection(RecallInterface::Program),
            generated_id: OnceLock::new(),
        }
    }

    /// Returns the session with another detail of the results; [`AnswerDetail::Full`] by default.
    #[must_use]
    pub fn with_detail(mut self, detail: AnswerDetail) -> Self {
        self.detail = detail;
        self
    }

    /// Returns the scope of memories that the caller writes without a scope.
    fn write_scope(&self) -> Scope {
        let services = self.services();
        match (
            self.agent.project_writes,
            services.project.clone().filter(|_| self.view.is_some()),
        ) {
            (ProjectWrites::Project, Some(project)) => Scope::Project(project),
            (ProjectWrites::Global, _) | (ProjectWrites::Project, None) => services.default_scope(),
        }
    }

    /// Returns the name of the agent; empty if unknown.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the agent, which holds the tools, hooks and events.
    pub fn agent(&self) -> &Agent {
        &self.agent
    }

    /// Returns new services, restricted to the current view of this session. They collect proposals of their own.
    pub fn services(&self) -> Services {
        match &self.view {
            Some(view) => self.agent.services_for(view),
            None => Services {
                actor: PERSON_ACTOR.into(),
                ..self.agent.services().clone()
            },
        }
    }

    /// Returns the view; `None` for the person, who sees everything.
    #[cfg(feature = "server")]
    pub(crate) fn view(&self) -> Option<&View> {
        self.view.as_ref()
    }

    /// Calls a tool: hooks before the call, schema check, tool, hooks after the call.
    ///
    /// # Errors
    /// [`Code::ToolNotFound`], [`Code::CallBlocked`], [`Code::HookFailed`], [`Code::InvalidInput`], or the error of the
    /// tool.
    pub fn call(&self, tool: &str, parameters: Value) -> Result<Value, ToolError> {
        let agent = &self.agent;
        agent.emit(
            &self.name,
            EventKind::ToolStart {
                tool: tool.to_owned(),
                parameters: parameters.clone(),
            },
        );
        let call = ToolCall {
            agent: self.name.clone(),
            tool: tool.to_owned(),
            parameters,
        };
        let recalled = Arc::default();
        let mut done = self.call_with_hooks(call, &recalled);
        if let (Ok(_), Some(run)) = (&done, &agent.after_changes)
            && agent
                .find_tool(tool)
                .is_some_and(|offered| offered.tool.effect() != Effect::Reads)
        {
            run();
        }
        if self.view.is_some() {
            agent.rewrite_hints(tool, &mut done);
        }
        if let (AnswerDetail::Brief, Err(error)) = (self.detail, &mut done) {
            error.message = with_ids(&error.message);
        }
        if let Ok(answer) = &done {
            self.record_answer(tool, recalled.take(), answer);
        }
        agent.emit(
            &self.name,
            match &done {
                Ok(_) => EventKind::ToolEnd {
                    tool: tool.to_owned(),
                },
                Err(error) => EventKind::Error {
                    tool: tool.to_owned(),
                    error: error.clone(),
                },
            },
        );
        done
    }

    fn call_with_hooks(
        &self,
        call: ToolCall,
        recalled: &Arc<RecallCollector>,
    ) -> Result<Value, ToolError> {
        let agent = &self.agent;
        let RegisteredTool {
            tool,
            schema,
            custom,
            own_name,
            ..
        } = agent
            .find_tool(&call.tool)
            .ok_or_else(|| not_found(&call.tool))?;
        let mut call = hook::run_before_hooks(&agent.before, call)?;
        let schema = schema.get_or_init(|| tool.parameters());
        call.parameters = normalize_parameters(own_name, schema, call.parameters);
        let faults = match custom {
            None => validation::faults(schema, &call.parameters),
            Some(custom) => custom.fault(&call.parameters),
        };
        if let Some(faults) = faults {
            return Err(validation::refuse(tool.name(), schema, faults));
        }
        let context = ToolContext {
            services: self.services(),
            speaker: self.name.clone(),
            now: agent.now(),
            zone: LocalZone::new(Arc::clone(&agent.local_time)),
            given: Arc::clone(&self.given),
            recalled: Arc::clone(recalled),
            caller: self.view.clone().unwrap_or_default(),
            write_scope: self.write_scope(),
            detail: self.detail,
        };
        let mut result = execute(tool.as_ref(), &context, &call.parameters)?;
        let proposals = context.services.proposals.take();
        if !proposals.is_empty() {
            let place = agent.review_place.as_ref().and_then(|place| place());
            json::add_proposals(&mut result, &proposals, place.as_deref());
        }
        if let Value::Object(fields) = &mut result
            && tool.effect() != Effect::Reads
            && let Some(notice) = agent.write_notice.as_ref().and_then(|notice| notice())
        {
            fields.insert("notice".to_owned(), notice.into());
        }
        hook::run_after_hooks(&agent.after, &call, result)
    }

    /// Collects context for `prompt` in at most `budget` tokens.
    ///
    /// Memories that this session already received are left out.
    ///
    /// # Errors
    /// If the memories cannot be read.
    pub fn inject_context(&self, prompt: &str, budget: usize) -> Result<Context, StoreError> {
        let context = memory_core::build_context(
            &self.services(),
            prompt,
            budget,
            &self.given,
            &self.agent.now(),
        )?;
        self.record_recall("prompt", Some(prompt), context.recalled(), context.tokens);
        Ok(context)
    }

    /// Records that this session received `memories` in an answer of `tokens` tokens: as accesses, and in the recall ledger if
    /// there is one.
    ///
    /// [`Self::call`] and [`Self::inject_context`] record theirs. The ledger has no records of the person, and a failure only
    /// loses the record.
    pub fn record_recall(
        &self,
        tool: &str,
        query: Option<&str>,
        memories: Vec<RecalledId>,
        tokens: usize,
    ) {
        let Some(view) = &self.view else {
            memory_core::count_received(&self.agent.services, &memories);
            return;
        };
        if memories.is_empty() {
            return;
        }
        let SessionOrigin {
            interface,
            id,
            is_connection,
        } = &self.origin;
        let generate = || {
            self.generated_id
                .get_or_init(|| self.agent.services.ids.operation_id().as_str().to_owned())
                .clone()
        };
        let record = RecallRecord {
            at: self.agent.services.clock.now(),
            agent: self.name.clone(),
            session: id.clone().or_else(|| is_connection.then(generate)),
            project: view.project.clone(),
            interface: interface.as_str().to_owned(),
            tool: tool.to_owned(),
            query: query
                .filter(|query| !query.trim().is_empty())
                .map(str::to_owned),
            memories,
            tokens: tokens as u64,
        };
        self.agent.record(record);
    }

    /// Records the memories that a call of a tool returned.
    fn record_answer(&self, tool: &str, recalled: CollectedRecall, answer: &Value) {
        let CollectedRecall { query, memories } = recalled;
        if memories.is_empty() {
            return;
        }
        let tokens = answer
            .as_str()
            .map_or_else(|| token_count(&exact_json::to_text(answer)), token_count);
        self.record_recall(
            self.agent.own_name(tool),
            query.as_deref(),
            memories,
            tokens,
        );
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.agent.emit(&self.name, EventKind::AgentEnd);
    }
}

impl ToolCaller for Agent {
    fn call_tool(
        self: Arc<Self>,
        caller: &ActionCaller,
        tool: &str,
        parameters: Value,
    ) -> Result<Value, ToolError> {
        let session = match caller {
            ActionCaller::Person => Session::for_person(&self),
            ActionCaller::Agent { view, .. } => Session::begin(&self, view)
                .with_origin(SessionOrigin::request(RecallInterface::Http, None)),
        };
        session.call(tool, parameters)
    }
}

/// Runs a tool and converts a panic of it into an internal error.
fn execute(tool: &dyn Tool, context: &ToolContext, parameters: &Value) -> Result<Value, ToolError> {
    catch_unwind(AssertUnwindSafe(|| tool.execute(context, parameters))).unwrap_or_else(|_| {
        let message = format!(
            "{} failed with an internal error; changes that it made before are in the log",
            tool.name()
        );
        Err(ToolError::new(
            Code::Internal,
            message,
            Some("try a different call; the user can check the store with `memory doctor`".into()),
        ))
    })
}
