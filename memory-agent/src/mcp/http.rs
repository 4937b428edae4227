//! Serves the Model Context Protocol over HTTP.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::caller::ClientIdentity;
use super::invalid_message::{INVALID_REQUEST, check_message, complete_message, error_response};
use super::server::McpServer;
use super::subscriptions::ListenLimit;
use crate::agent::Agent;
use crate::exact_json;
use crate::http::{BodyBudget, HttpLimits, RequestCaller, status};
use crate::rpc::{LONGEST_LINE, MessageIdScanner};

/// The header that identifies the session of a client that begins with `initialize`.
const SESSION_HEADER: &str = "mcp-session-id";

/// The answer for an unknown session, or one of another caller.
const MISSING_SESSION: &str = "the MCP session does not exist\n";

/// Maximum size of a request, in bytes; the same as on the socket.
const MAX_REQUEST: usize = LONGEST_LINE;

/// Maximum total size of the requests that are handled at the same time, in bytes; others wait.
const MAX_TOTAL: usize = 2 * MAX_REQUEST;

/// Maximum number of sessions of all callers. A caller may begin one while it has fewer than are free, so one caller has at most half.
const MAX_SESSIONS: usize = 256;

/// Returns the router that serves `/mcp` until `end` is cancelled. Access control happens before it.
pub(crate) fn mcp_router(
    agent: &Arc<Agent>,
    identity: &ClientIdentity,
    limits: HttpLimits,
    end: &CancellationToken,
) -> Router {
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        // The size of each request is checked before.
        .with_max_request_body_bytes(usize::MAX)
        .with_cancellation_token(end.clone());
    let room = McpLimits {
        bodies: BodyBudget::new(HttpLimits {
            body: MAX_REQUEST,
            bodies: MAX_TOTAL,
            ..limits
        }),
        sessions: Arc::new(LocalSessionManager::default()),
        owners: SessionOwners::default(),
    };
    let sessions = Arc::clone(&room.sessions);
    let (agent, identity, end) = (Arc::clone(agent), identity.clone(), end.clone());
    let listens = ListenLimit::default();
    let create = move || Ok(McpServer::new(&agent, &identity, &listens, &end));
    let service = StreamableHttpService::new(create, sessions, config);
    Router::new()
        .route_service("/mcp", service)
        .layer(from_fn_with_state(room, enforce_limits))
}

/// Shared limits of all clients.
#[derive(Debug, Clone)]
struct McpLimits {
    bodies: BodyBudget,
    sessions: Arc<LocalSessionManager>,
    owners: SessionOwners,
}

impl McpLimits {
    /// Returns the ids of the open sessions.
    async fn open_sessions(&self) -> Vec<String> {
        let sessions = self.sessions.sessions.read().await;
        sessions.keys().map(ToString::to_string).collect()
    }
}

/// The principals who began sessions, by the id of the session.
#[derive(Debug, Clone, Default)]
struct SessionOwners(Arc<Mutex<HashMap<String, String>>>);

impl SessionOwners {
    /// Returns whether a request belongs to the caller who began its session, or to no session.
    fn permits(&self, request: &Request) -> bool {
        let Some(id) = request.headers().get(SESSION_HEADER) else {
            return true;
        };
        let owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = id.to_str().ok().and_then(|id| owners.get(id));
        owner == RequestCaller::of(request.extensions()).map(|principal| &principal.name)
    }

    /// Returns whether a caller may begin another session while those in `open` are open.
    fn has_room(&self, caller: Option<&String>, open: &[String]) -> bool {
        let owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = open.iter().filter(|id| owners.get(*id) == caller).count();
        own < MAX_SESSIONS.saturating_sub(open.len())
    }

    /// Records that a principal began a session, and forgets the sessions that are not `open`.
    fn record(&self, response: &Response, principal: String, open: &[String]) {
        let Some(id) = response
            .headers()
            .get(SESSION_HEADER)
            .and_then(|id| id.to_str().ok())
        else {
            return;
        };
        let mut owners = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        owners.retain(|own, _| open.contains(own));
        owners.insert(id.to_owned(), principal);
    }
}

/// Rejects requests that exceed a limit.
async fn enforce_limits(State(room): State<McpLimits>, request: Request, next: Next) -> Response {
    if !room.owners.permits(&request) {
        return (StatusCode::NOT_FOUND, MISSING_SESSION).into_response();
    }
    if request.method() == Method::DELETE {
        return end_session(&room.sessions, request, next).await;
    }
    let principal = RequestCaller::of(request.extensions()).map(|principal| principal.name.clone());
    let (parts, body) = request.into_parts();
    match room.bodies.read(body, MAX_REQUEST).await {
        Ok(whole) => {
            let body = whole.bytes;
            let message = exact_json::from_slice(&body);
            let refusal = match &message {
                Ok(Value::Object(message)) => check_message(message),
                Ok(other) if parts.method == Method::POST => {
                    let why = if other.is_array() {
                        "batches are not supported over HTTP; send each message in a request of its own"
                    } else {
                        "the message is not an object"
                    };
                    Some(error_response(&Value::Null, INVALID_REQUEST, why))
                }
                Err(error) if parts.method == Method::POST => {
                    let id = MessageIdScanner::find_id(&body).unwrap_or_default();
                    let why = format!("the body is not JSON: {error}");
                    Some(error_response(&id, -32700, &why))
                }
                Ok(_) | Err(_) => None,
            };
            if let Some(answer) = refusal {
                let answer = exact_json::to_text(&answer);
                return (
                    StatusCode::BAD_REQUEST,
                    [(CONTENT_TYPE, "application/json")],
                    answer,
                )
                    .into_response();
            }
            let message = message.ok();
            let message = message.as_ref().and_then(Value::as_object);
            // Only `initialize` opens a session.
            let is_new = message
                .and_then(|message| message.get("method"))
                .is_some_and(|method| method == "initialize");
            if is_new
                && !room
                    .owners
                    .has_room(principal.as_ref(), &room.open_sessions().await)
            {
                return (
                    StatusCode::SERVICE_UNAVAILABLE,
                    "too many MCP sessions are open\n",
                )
                    .into_response();
            }
            let completed = message.and_then(complete_message);
            let body = completed.map_or(body, Bytes::from);
            let response = next.run(mark_request(parts, body)).await;
            if let Some(principal) = principal.filter(|_| is_new) {
                let open = room.open_sessions().await;
                room.owners.record(&response, principal, &open);
            }
            unmark_response(response)
        }
        Err(error) => (status(error.0.code), format!("{}\n", error.0.message)).into_response(),
    }
}

/// Ends a session at the request of its client.
///
/// The SDK reports success also for an unknown session, and with the status 202, which some clients take for a failure.
async fn end_session(sessions: &LocalSessionManager, request: Request, next: Next) -> Response {
    if let Some(id) = request
        .headers()
        .get(SESSION_HEADER)
        .and_then(|id| id.to_str().ok())
        && !sessions.sessions.read().await.contains_key(id)
    {
        return (StatusCode::NOT_FOUND, MISSING_SESSION).into_response();
    }
    let response = next.run(request).await;
    if response.status() == StatusCode::ACCEPTED {
        StatusCode::NO_CONTENT.into_response()
    } else {
        response
    }
}

/// Marks long numbers in a request, so that they keep every digit on their way through the SDK.
fn mark_request(mut parts: Parts, body: Bytes) -> Request {
    let marked = std::str::from_utf8(&body).map_or(Cow::Borrowed(""), exact_json::mark);
    let body = match marked {
        Cow::Owned(marked) => Bytes::from(marked),
        Cow::Borrowed(_) => body,
    };
    if let Some(length) = parts.headers.get_mut(CONTENT_LENGTH) {
        *length = body.len().into();
    }
    Request::from_parts(parts, body.into())
}

/// Turns marked numbers of a response back into numbers. The SDK sends each message as a single frame.
fn unmark_response(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    let plain = |piece: Bytes| match std::str::from_utf8(&piece)
        .map_or(Cow::Borrowed(""), exact_json::to_wire)
    {
        Cow::Owned(plain) => Bytes::from(plain),
        Cow::Borrowed(_) => piece,
    };
    Response::from_parts(
        parts,
        Body::new(body.map_frame(move |frame| frame.map_data(plain))),
    )
}
