//! The state of a JSON-RPC connection: its view and its session.

use std::sync::Arc;

use memory_core::View;
use serde_json::Value;

use super::request::{Line, Request};
use super::{Ask, Fault, answer, read};
use crate::agent::Agent;
use crate::exact;
use crate::session::Session;

/// A JSON-RPC connection, which turns lines into executable work for its current session.
#[derive(Debug)]
pub struct Speech {
    agent: Arc<Agent>,
    view: View,
    /// Whether `session/open` is refused.
    is_bound: bool,
    /// Opened by the first request that needs it.
    session: Option<Arc<Session>>,
}

/// The parsed requests of a line with their sessions; can be executed on any thread.
#[derive(Debug)]
pub struct Work {
    requests: Vec<(Arc<Session>, Request)>,
    is_batch: bool,
}

/// Maximum size of the responses to a list, in bytes; later requests of the list are refused.
const LONGEST: usize = 8 << 20;

impl Speech {
    /// Starts with the given `view`, which `session/open` may change.
    pub fn begin(agent: &Arc<Agent>, view: View) -> Self {
        Self { agent: Arc::clone(agent), view, is_bound: false, session: None }
    }

    /// Starts with the given `view` and refuses `session/open`.
    pub fn bound(agent: &Arc<Agent>, view: View) -> Self {
        Self { is_bound: true, ..Self::begin(agent, view) }
    }

    /// Parses a line without its line break; `None` if it is blank.
    ///
    /// `session/open` takes effect immediately for the following lines; all other requests run when the work is
    /// executed.
    pub fn take(&mut self, line: &[u8]) -> Option<Work> {
        let (requests, is_batch) = match read(line) {
            Line::Blank => return None,
            Line::One(request) => (vec![request], false),
            Line::Batch(requests) => (requests, true),
        };
        let requests = requests.into_iter().map(|mut request| {
            if self.is_bound && matches!(request.ask, Ok(Ask::Open(_))) {
                request.ask = Err(Fault::no_request("session/open: the agent of this connection is fixed"));
            }
            if let Ok(Ask::Open(view)) = &request.ask {
                self.view = view.clone();
                self.session = None;
            }
            (self.session(), request)
        });
        Some(Work { requests: requests.collect(), is_batch })
    }

    fn session(&mut self) -> Arc<Session> {
        let session = self.session.get_or_insert_with(|| Arc::new(Session::begin(&self.agent, &self.view)));
        Arc::clone(session)
    }
}

impl Work {
    /// Executes the requests and returns the response line, without a line break.
    ///
    /// Returns `None` if no response is wanted.
    pub fn answer(self) -> Option<String> {
        if !self.is_batch {
            let (session, request) = self.requests.into_iter().next()?;
            return answered(&session, request).map(|answer| exact::to_text(&answer));
        }
        let mut answers = String::new();
        for (session, request) in self.requests {
            let answer = if answers.len() < LONGEST { answered(&session, request) } else { left_undone(request) };
            if let Some(answer) = answer {
                answers.push(if answers.is_empty() { '[' } else { ',' });
                answers.push_str(&exact::to_text(&answer));
            }
        }
        if answers.is_empty() {
            return None;
        }
        answers.push(']');
        Some(answers)
    }
}

fn answered(session: &Session, request: Request) -> Option<Value> {
    let Request { id, ask } = request;
    let done = ask.and_then(|ask| answer::result(session, ask));
    let id = id?;
    Some(match done {
        Ok(result) => serde_json::json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(fault) => fault.answer(&id),
    })
}

fn left_undone(request: Request) -> Option<Value> {
    let why = format!("skipped: the earlier responses of this list exceed {LONGEST} bytes");
    request.id.map(|id| Fault::no_request(why).answer(&id))
}
