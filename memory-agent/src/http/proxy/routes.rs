//! Which requests come to a proxy.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use serde_json::json;

use super::complete::complete;
use super::desk::ChatProxy;
use super::forward::forward;
use crate::http::answer::value;

/// Returns the routes of a proxy that stands alone.
pub(in crate::http) fn alone(proxy: &Arc<ChatProxy>) -> Router {
    Router::new()
        .route("/health", any(health))
        .route("/v1/chat/completions", any(chat))
        .route("/chat/completions", any(chat))
        .fallback(forward)
        .with_state(Arc::clone(proxy))
}

/// Returns the routes of a proxy that stands beside others.
pub(in crate::http) fn beside(proxy: &Arc<ChatProxy>) -> Router {
    Router::new().route("/v1/chat/completions", any(chat)).route("/v1/{*rest}", any(forward)).with_state(Arc::clone(proxy))
}

/// What is no chat is not ours, and so is what may be asked instead.
async fn chat(proxy: State<Arc<ChatProxy>>, request: Request) -> Response {
    if request.method() == Method::POST { complete(proxy, request).await.into_response() } else { forward(proxy, request).await }
}

async fn health(State(proxy): State<Arc<ChatProxy>>, request: Request) -> Response {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return forward(State(proxy), request).await;
    }
    value(&json!({
        "status": "ok",
        "memory_store": proxy.conversations.store.place(),
        "openai_base_url": proxy.upstream.place(),
        "default_top_k": proxy.rules.recall.top_k,
    }))
}
