//! Which requests come to a proxy.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::json;

use super::complete::complete;
use super::desk::ChatProxy;
use super::forward::forward;
use crate::http::answer::value;

/// Returns the routes of a proxy that stands alone.
pub(in crate::http) fn alone(proxy: &Arc<ChatProxy>) -> Router {
    let chat = || post(complete).fallback(forward);
    Router::new()
        .route("/health", get(health).fallback(forward))
        .route("/v1/chat/completions", chat())
        .route("/chat/completions", chat())
        .fallback(forward)
        .with_state(Arc::clone(proxy))
}

/// Returns the routes of a proxy that stands beside others.
pub(in crate::http) fn beside(proxy: &Arc<ChatProxy>) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(complete).fallback(forward))
        .route("/v1/{*rest}", axum::routing::any(forward))
        .with_state(Arc::clone(proxy))
}

async fn health(State(proxy): State<Arc<ChatProxy>>) -> Response {
    value(&json!({
        "status": "ok",
        "memory_store": proxy.conversations.store.place(),
        "openai_base_url": proxy.upstream.place(),
        "default_top_k": proxy.rules.recall.top_k,
    }))
}
