//! Defines the routes of the chat proxy.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use memory_core::Code;
use percent_encoding::percent_decode_str;
use serde_json::json;

use super::chat_completions::complete_chat;
use super::chat_proxy::ChatProxy;
use super::forward::forward;
use crate::http::auth::{RequestCaller, principal_error};
use crate::http::response::{ErrorResponse, value};
use crate::http::routes::{OWN, route_not_found};

/// Returns the routes of a proxy without daemon routes.
pub(in crate::http) fn standalone_routes(proxy: &Arc<ChatProxy>) -> Router {
    Router::new()
        .route("/health", any(health))
        .route(CHATS, any(chat))
        .route("/chat/completions", any(chat))
        .fallback(forward_all)
        .with_state(Arc::clone(proxy))
}

/// Returns the routes of a proxy that shares the server with the daemon routes.
pub(in crate::http) fn shared_routes(proxy: &Arc<ChatProxy>) -> Router {
    Router::new()
        .route(CHATS, any(chat))
        .route("/v1/{*rest}", any(forward_foreign))
        .with_state(Arc::clone(proxy))
}

/// Forwards a path of a standalone proxy.
async fn forward_all(State(proxy): State<Arc<ChatProxy>>, request: Request) -> Response {
    match proxy_for(&proxy, &request) {
        Ok(proxy) => forward(&proxy, request).await,
        Err(refusal) => refusal.into_response(),
    }
}

/// Forwards a path, unless it is below a daemon route in any spelling.
///
/// A request to a misspelled daemon route may contain data that only the daemon may receive.
async fn forward_foreign(proxy: State<Arc<ChatProxy>>, request: Request) -> Response {
    let path = request.uri().path();
    if is_daemon_route(path) {
        route_not_found(path).into_response()
    } else {
        forward_all(proxy, request).await
    }
}

/// The routes that principals may call.
const CHATS: &str = "/v1/chat/completions";
const MODELS: &str = "/v1/models";

/// Returns the proxy with the conversations of the caller.
fn proxy_for(proxy: &Arc<ChatProxy>, request: &Request) -> Result<Arc<ChatProxy>, ErrorResponse> {
    let Some(principal) = RequestCaller::of(request.extensions()) else {
        return Ok(Arc::clone(proxy));
    };
    let own = proxy
        .for_principal(principal)
        .ok_or_else(|| principal_error("the chats"))?;
    let path = request.uri().path();
    if matches!(
        (request.method(), path),
        (&Method::POST, CHATS) | (&Method::GET, MODELS)
    ) {
        return Ok(own);
    }
    let message = format!(
        "{} {path} of the model server is not available with the token of a principal",
        request.method()
    );
    Err(ErrorResponse::new(
        Code::Forbidden,
        message,
        format!("use POST {CHATS}, or GET {MODELS}"),
    ))
}

/// Returns whether a path is below a route of the daemon.
fn is_daemon_route(path: &str) -> bool {
    let path = percent_decode_str(path).decode_utf8_lossy();
    let mut parts: Vec<&str> = Vec::new();
    for part in path.strip_prefix("/v1").unwrap_or(&path).split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts
        .first()
        .is_some_and(|first| OWN.iter().any(|own| first.eq_ignore_ascii_case(own)))
}

/// Handles `POST` as a chat, and forwards all other methods.
async fn chat(State(proxy): State<Arc<ChatProxy>>, request: Request) -> Response {
    let proxy = match proxy_for(&proxy, &request) {
        Ok(proxy) => proxy,
        Err(refusal) => return refusal.into_response(),
    };
    if request.method() == Method::POST {
        complete_chat(proxy, request).await.into_response()
    } else {
        forward(&proxy, request).await
    }
}

async fn health(State(proxy): State<Arc<ChatProxy>>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return forward_all(State(proxy), request).await;
    }
    value(&json!({
        "status": "ok",
        "memory_store": proxy.conversations.store.location(),
        "openai_base_url": proxy.upstream.base_url(),
        "default_top_k": proxy.rules.recall.top_k,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_a_route_of_the_daemon_is_its_own_however_it_is_spelled() {
        for own in [
            "/v1/run",
            "/v1/run/kv/default",
            "/v1/Run/kv/default/set/",
            "/v1/%72un/kv",
            "/v1//run/kv",
            "/v1/./run",
            "/v1/models/../run/kv",
            "/v1/models/%2e%2e/run/kv",
            "/v1/../run",
            "/v1/instances/kv/default",
            "/v1/backends/kv/more",
            "/v1/tools/memory_write/more",
            "/v1/health/",
        ] {
            assert!(is_daemon_route(own), "{own}");
        }
        for other in [
            "/v1/models",
            "/v1/threads/1/runs",
            "/v1/running",
            "/v1/models/run",
            "/v1/files/tools",
        ] {
            assert!(!is_daemon_route(other), "{other}");
        }
    }
}
