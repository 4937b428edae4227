//! Defines the HTTP routes of the daemon and their handlers.

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequestParts, Path, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::http::request;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use memory_core::instance::InstanceName;
use memory_core::{AgentName, Code, RecallInterface, StoreHealth, ToolError, View};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::sync::{Mutex, Semaphore};

use super::auth::{self, AuthState, HEALTH, LIVENESS, READINESS, RequestCaller, refuse_principal};
use super::body_reader::{BodyBudget, HttpLimits};
use super::metrics::MEDIA_TYPE;
use super::openapi::openapi;
use super::response::{ErrorResponse, value};
use crate::agent::{Agent, Session, SessionOrigin};
use crate::instance::{ActionResult, InstanceHandle, OpenInstances, backend, backends};
use crate::rpc::describe_tool;
use crate::{exact_json, json as shapes, tools};

/// The first path segments below `/v1/` of all routes.
pub(super) const OWN: [&str; 5] = ["health", "backends", "instances", "run", "tools"];

/// The shared state of all handlers.
#[derive(Debug)]
pub(super) struct AppState {
    pub agent: Arc<Agent>,
    pub instances: Arc<OpenInstances>,
    pub gate: Arc<AuthState>,
    pub room: BodyBudget,
    /// The health of the memories, if they are in a store that reports it.
    health: Option<Arc<dyn StoreHealth>>,
    /// Held during a check of the health.
    readiness: Arc<Mutex<()>>,
    workers: Arc<Semaphore>,
}

impl AppState {
    pub(super) fn new(
        agent: Arc<Agent>,
        instances: Arc<OpenInstances>,
        gate: Arc<AuthState>,
        health: Option<Arc<dyn StoreHealth>>,
        limits: HttpLimits,
    ) -> Self {
        let workers = Arc::new(Semaphore::new(limits.workers));
        Self {
            agent,
            instances,
            gate,
            room: BodyBudget::new(limits),
            health,
            readiness: Arc::default(),
            workers,
        }
    }

    /// Runs blocking work on one of a limited number of threads.
    ///
    /// It completes even if the client disconnects.
    async fn run_blocking<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, ErrorResponse> + Send + 'static,
    ) -> Result<T, ErrorResponse> {
        let place = Arc::clone(&self.workers)
            .acquire_owned()
            .await
            .expect("the workers are never closed");
        let work = move || {
            let _place = place;
            work(&self)
        };
        tokio::task::spawn_blocking(work)
            .await
            .unwrap_or_else(|error| {
                Err(ErrorResponse::new(
                    Code::Internal,
                    format!("the request failed: {error}"),
                    "check the store with `memory doctor`",
                ))
            })
    }
}

/// Returns the router of all routes, with `others`: those of MCP and of the chat proxy.
pub(super) fn routes(desk: &Arc<AppState>, others: Router) -> Router {
    let only = |methods: MethodRouter<Arc<AppState>>| methods.fallback(method_not_allowed);
    Router::new()
        .route(HEALTH, only(get(health)))
        .route(LIVENESS, only(get(check_alive)))
        .route(READINESS, only(get(check_ready)))
        .route("/v1/backends", only(get(list_backends)))
        .route("/v1/backends/{backend}", only(get(show_backend)))
        .route("/v1/instances", only(get(list_instances)))
        .route("/v1/run/{backend}/{name}/{action}", only(post(run)))
        .route("/v1/tools", only(get(list_tools)))
        .route("/v1/tools/{tool}", only(get(show_tool).post(call_tool)))
        .route("/openapi.json", only(get(show_openapi)))
        .route("/metrics", only(get(show_metrics)))
        .fallback(unknown_route)
        .with_state(Arc::clone(desk))
        .merge(others)
        .layer(from_fn_with_state(Arc::clone(&desk.gate), auth::authorize))
}

async fn health() -> Response {
    let names: Vec<_> = backends().iter().map(|backend| backend.name).collect();
    value(&json!({ "status": "ok", "backends": names }))
}

async fn check_alive() -> Response {
    value(&json!({ "status": "ok" }))
}

/// Responds with status 200 if the memories can be read and written, and with 503 and the code of the reason otherwise.
///
/// The route needs no token, so its response contains nothing else.
async fn check_ready(State(desk): State<Arc<AppState>>) -> Response {
    let Some(health) = desk.health.clone() else {
        return check_alive().await;
    };
    // One check at a time, so that checks of a database that does not respond occupy one thread only.
    let turn = Arc::clone(&desk.readiness).lock_owned().await;
    let checked = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        health.check_ready()
    });
    match checked.await.unwrap_or(Err(Code::Internal)) {
        Ok(()) => check_alive().await,
        Err(code) => (
            StatusCode::SERVICE_UNAVAILABLE,
            value(&json!({ "status": "unavailable", "code": code.as_str() })),
        )
            .into_response(),
    }
}

async fn list_backends() -> Response {
    value(&shapes::backends(backends()))
}

/// The names in a path.
struct PathNames<T>(T);

impl<T: DeserializeOwned + Send> FromRequestParts<Arc<AppState>> for PathNames<T> {
    type Rejection = ErrorResponse;

    async fn from_request_parts(
        parts: &mut request::Parts,
        desk: &Arc<AppState>,
    ) -> Result<Self, ErrorResponse> {
        let named = Path::from_request_parts(parts, desk).await;
        named
            .map(|Path(names)| Self(names))
            .map_err(|_| route_not_found(parts.uri.path()))
    }
}

async fn show_backend(PathNames(name): PathNames<String>) -> Result<Response, ErrorResponse> {
    Ok(value(&shapes::backend(backend(&name)?)))
}

async fn list_instances(
    State(desk): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, ErrorResponse> {
    refuse_principal(request.extensions(), "the instances")?;
    let listed = desk
        .run_blocking(|desk| Ok(desk.instances.definitions().list()?))
        .await?;
    let (named, nameless): (Vec<_>, Vec<_>) =
        listed.into_iter().partition(|one| !one.backend.is_empty());
    let warnings = nameless
        .into_iter()
        .filter_map(|one| one.fields.err())
        .collect();
    Ok(ActionResult {
        warnings,
        ..ActionResult::of(shapes::instances(&named).to_string())
    }
    .into_response())
}

async fn run(
    State(desk): State<Arc<AppState>>,
    PathNames((kind, name, action)): PathNames<(String, String, String)>,
    request: Request,
) -> Result<ActionResult, ErrorResponse> {
    let backend = backend(&kind)?;
    let action = backend.action(&action)?;
    let name: InstanceName = name.parse()?;
    // The memories are those of the caller; all other instances belong to the user of the node.
    let is_own = kind == DEFAULT_NOTES.0 && name.as_str() == DEFAULT_NOTES.1;
    let notes = (is_own && RequestCaller::of(request.extensions()).is_some())
        .then(|| InstanceHandle::Tools(Arc::clone(&desk.agent) as _));
    if !is_own {
        refuse_principal(request.extensions(), "the instances")?;
    }
    let asker = desk.instances.agent_caller(parse_view(&request)?);
    let (parameters, body) = desk.room.read_parameters(request.into_body()).await?;
    let work = move |desk: &AppState| {
        let done = notes.map_or_else(
            || {
                desk.instances
                    .get_or_open(backend, &name)
                    .map_err(ToolError::from)
            },
            Ok,
        );
        let done = done.and_then(|holding| backend.run(action, &holding, &asker, &parameters));
        desk.gate.metrics.record_action(
            backend.name,
            action.name,
            done.as_ref()
                .err()
                .map_or("ok", |error| error.code.as_str()),
        );
        drop(body);
        Ok(done?)
    };
    desk.run_blocking(work).await
}

async fn list_tools(State(desk): State<Arc<AppState>>) -> Response {
    let tools: Vec<_> = desk.agent.callable_tools().map(describe_tool).collect();
    value(&json!({ "tools": tools }))
}

async fn show_tool(
    State(desk): State<Arc<AppState>>,
    PathNames(name): PathNames<String>,
) -> Result<Response, ErrorResponse> {
    let tool = desk.agent.callable_tools().find(|tool| tool.name() == name);
    Ok(value(&describe_tool(
        tool.ok_or_else(|| tools::not_found(&name))?,
    )))
}

async fn call_tool(
    State(desk): State<Arc<AppState>>,
    PathNames(name): PathNames<String>,
    request: Request,
) -> Result<Response, ErrorResponse> {
    let view = parse_view(&request)?;
    let (parameters, body) = desk.room.read_parameters(request.into_body()).await?;
    let work = move |desk: &AppState| {
        let session = Session::begin(&desk.agent, &view)
            .with_origin(SessionOrigin::request(RecallInterface::Http, None));
        let done = session.call(&name, exact_json::to_value(&parameters));
        drop(body);
        Ok(done?)
    };
    desk.run_blocking(work).await.map(|answer| value(&answer))
}

async fn show_openapi(State(desk): State<Arc<AppState>>) -> Response {
    value(&openapi(&desk.agent))
}

async fn show_metrics(
    State(desk): State<Arc<AppState>>,
    request: Request,
) -> Result<Response, ErrorResponse> {
    refuse_principal(request.extensions(), "the metrics")?;
    let replica = desk
        .health
        .as_ref()
        .and_then(|health| health.replica_status());
    Ok((
        [(CONTENT_TYPE, MEDIA_TYPE)],
        desk.gate
            .metrics
            .text(desk.instances.count(), replica.as_ref()),
    )
        .into_response())
}

async fn unknown_route(request: Request) -> ErrorResponse {
    route_not_found(request.uri().path())
}

/// Returns the error for a path without a route.
pub(super) fn route_not_found(path: &str) -> ErrorResponse {
    let path = memory_core::text::to_one_line(path, 80);
    ErrorResponse::new(
        Code::RouteNotFound,
        format!("no route at {path}"),
        "GET /openapi.json lists the routes",
    )
}

async fn method_not_allowed(request: Request) -> ErrorResponse {
    let path = memory_core::text::to_one_line(request.uri().path(), 80);
    let message = format!("{} is not allowed for {path}", request.method());
    ErrorResponse::new(
        Code::MethodRefused,
        message,
        "GET /openapi.json lists the routes",
    )
}

/// The type and the name of the instance with the memories of the server.
const DEFAULT_NOTES: (&str, &str) = ("notes", "default");

/// Returns the view of a request: that of its principal, and otherwise that which its headers name.
fn parse_view(request: &Request) -> Result<View, ErrorResponse> {
    let headers = request.headers();
    let text = |name: &str| {
        let refused = || {
            ErrorResponse::new(
                Code::InvalidInput,
                format!("the header {name} is not ASCII text"),
                "write it in ASCII",
            )
        };
        headers
            .get(name)
            .map(|value| value.to_str().map_err(|_| refused()))
            .transpose()
    };
    let agent = text("memory-agent")?
        .map(str::parse::<AgentName>)
        .transpose();
    let agent = agent.map_err(|error| {
        ErrorResponse::from(ToolError::from(memory_core::StoreError::from(error)))
    })?;
    let principal = RequestCaller::of(request.extensions()).cloned();
    Ok(View {
        agent,
        project: text("memory-project")?.map(str::to_owned),
        principal,
    })
}
