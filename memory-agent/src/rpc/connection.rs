//! The state of a JSON-RPC connection, and the execution of its requests.

use std::sync::Arc;

use memory_core::{RecallInterface, StoreError, Tool, ToolError, View};
use serde_json::{Value, json};

use super::request::{RpcLine, RpcRequest};
use super::{RpcError, RpcMethod, parse_line};
use crate::agent::{Agent, OpenedPage, Session, SessionOrigin};
use crate::exact_json;

/// A JSON-RPC connection, which turns lines into executable work for its current session.
#[derive(Debug)]
pub struct RpcConnection {
    agent: Arc<Agent>,
    view: View,
    interface: RecallInterface,
    /// Whether `session/open` is refused.
    is_bound: bool,
    /// Opened by the first request that needs it.
    session: Option<Arc<Session>>,
}

/// The parsed requests of a line with their sessions; can be executed on any thread.
#[derive(Debug)]
pub struct RpcWork {
    requests: Vec<(Arc<Session>, RpcRequest)>,
    is_batch: bool,
    /// Whether `session/open` is refused.
    is_bound: bool,
}

/// Maximum size of the responses to a list, in bytes; later requests of the list are refused.
const MAX_RESPONSES: usize = 8 << 20;

impl RpcConnection {
    /// Starts with the given `view`, which `session/open` may change.
    pub fn begin(agent: &Arc<Agent>, view: View) -> Self {
        Self {
            agent: Arc::clone(agent),
            view,
            interface: RecallInterface::Program,
            is_bound: false,
            session: None,
        }
    }

    /// Sets the interface that the recall ledger records; a program that embeds the crates by default.
    #[must_use]
    pub fn with_interface(self, interface: RecallInterface) -> Self {
        Self { interface, ..self }
    }

    /// Starts with the given `view` and refuses `session/open`.
    pub fn with_fixed_view(agent: &Arc<Agent>, view: View) -> Self {
        Self {
            is_bound: true,
            ..Self::begin(agent, view)
        }
    }

    /// Parses a line without its line break; `None` if it is blank.
    ///
    /// `session/open` takes effect immediately for the following lines; all other requests run when the work is
    /// executed.
    pub fn parse_line(&mut self, line: &[u8]) -> Option<RpcWork> {
        let (requests, is_batch) = match parse_line(line) {
            RpcLine::Blank => return None,
            RpcLine::One(request) => (vec![request], false),
            RpcLine::Batch(requests) => (requests, true),
        };
        let requests = requests.into_iter().map(|mut request| {
            if self.is_bound && matches!(request.ask, Ok(RpcMethod::Open(_))) {
                request.ask = Err(RpcError::invalid_request(
                    "session/open: the agent of this connection is fixed",
                ));
            }
            // The page shows all memories, and this connection may not.
            if self.is_bound && matches!(request.ask, Ok(RpcMethod::OpenPage { .. })) {
                request.ask = Err(RpcError::method_not_found("ui/open"));
            }
            if let Ok(RpcMethod::Open(view)) = &request.ask {
                self.view = view.clone();
                self.session = None;
            }
            (self.session(), request)
        });
        Some(RpcWork {
            requests: requests.collect(),
            is_batch,
            is_bound: self.is_bound,
        })
    }

    fn session(&mut self) -> Arc<Session> {
        let begin = || {
            let session = Session::begin(&self.agent, &self.view);
            Arc::new(session.with_origin(SessionOrigin::connection(self.interface)))
        };
        Arc::clone(self.session.get_or_insert_with(begin))
    }
}

impl RpcWork {
    /// Executes the requests and returns the response line, without a line break.
    ///
    /// Returns `None` if no response is wanted.
    pub fn execute(self) -> Option<String> {
        if !self.is_batch {
            let (session, request) = self.requests.into_iter().next()?;
            return execute_one(&session, request, self.is_bound)
                .map(|answer| exact_json::to_text(&answer));
        }
        let mut answers = String::new();
        for (session, request) in self.requests {
            let answer = if answers.len() < MAX_RESPONSES {
                execute_one(&session, request, self.is_bound)
            } else {
                skipped_response(request)
            };
            if let Some(answer) = answer {
                answers.push(if answers.is_empty() { '[' } else { ',' });
                answers.push_str(&exact_json::to_text(&answer));
            }
        }
        if answers.is_empty() {
            return None;
        }
        answers.push(']');
        Some(answers)
    }
}

fn execute_one(session: &Session, request: RpcRequest, is_bound: bool) -> Option<Value> {
    let RpcRequest { id, ask } = request;
    let mut done = ask.and_then(|ask| execute_request(session, ask));
    if let Err(fault) = &mut done
        && !is_bound
        && session.agent().services().principal.is_none()
    {
        fault.name_session_method();
    }
    let id = id?;
    Some(match done {
        Ok(result) => serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(fault) => fault.to_response(&id),
    })
}

fn skipped_response(request: RpcRequest) -> Option<Value> {
    let why = format!("skipped: the earlier responses of this list exceed {MAX_RESPONSES} bytes");
    request
        .id
        .map(|id| RpcError::invalid_request(why).to_response(&id))
}

/// Executes a request for `session`.
fn execute_request(session: &Session, ask: RpcMethod) -> Result<Value, RpcError> {
    match ask {
        RpcMethod::Ping => Ok(json!({})),
        RpcMethod::Tools { all } => Ok(list_tools(session.agent(), all)),
        RpcMethod::Call { tool, parameters } => Ok(session.call(&tool, parameters)?),
        RpcMethod::Open(view) => Ok(view_json(&view)),
        RpcMethod::Embed(texts) => embed_texts(session, &texts),
        RpcMethod::OpenPage { port } => open_page(session, port),
    }
}

/// Lists the tools as JSON: the listed ones, or all callable ones.
///
/// The shape is `{tools: [{name, description, parameters}]}`.
pub fn list_tools(agent: &Agent, all: bool) -> Value {
    let tools: Vec<Value> = if all {
        agent.callable_tools().map(describe_tool).collect()
    } else {
        agent.listed_tools().map(describe_tool).collect()
    };
    json!({ "tools": tools })
}

/// Describes a tool as JSON: `{name, description, parameters}`.
pub fn describe_tool(tool: &dyn Tool) -> Value {
    json!({ "name": tool.name(), "description": tool.description(), "parameters": tool.parameters() })
}

/// Embeds texts: `{identity, vectors}`. An empty list returns only the identity of the model.
fn embed_texts(session: &Session, texts: &[String]) -> Result<Value, RpcError> {
    let embedder = session.services().embedder;
    let embedder = embedder.ok_or_else(|| ToolError::from(StoreError::NoModel))?;
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = if texts.is_empty() {
        Ok(Vec::new())
    } else {
        embedder.embed(&texts)
    };
    let vectors = vectors.map_err(|error| ToolError::from(StoreError::from(error)))?;
    Ok(json!({ "identity": embedder.identity(), "vectors": vectors }))
}

/// Opens the web page: `{address, code}`.
fn open_page(session: &Session, port: Option<u16>) -> Result<Value, RpcError> {
    let page = session
        .agent()
        .page()
        .ok_or_else(|| RpcError::method_not_found("ui/open"))?;
    let OpenedPage { address, code } = page.open_page(port)?;
    Ok(json!({ "address": address.to_string(), "code": code }))
}

fn view_json(view: &View) -> Value {
    let scopes: Vec<String> = view.scopes().iter().map(ToString::to_string).collect();
    json!({ "agent": view.agent.as_ref().map(ToString::to_string), "project": view.project, "scopes": scopes })
}
