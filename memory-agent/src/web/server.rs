//! The server of the page and its routes.

use std::future::Future;
use std::io;
use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use memory_core::Code;
use tokio::net::TcpListener;

use super::error::PageError;
use super::request::WebRequest;
use super::state::{WebServerConfig, WebState, limits};
use super::{assets, events, guard, pages, sign_in, undo};
use crate::http::serve_routes;

/// Serves the page until `shutdown` completes, then finishes running requests.
///
/// # Errors
/// If the listener fails, or is not bound to a loopback address.
pub async fn serve_web(
    listener: TcpListener,
    config: WebServerConfig,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let limits = limits();
    let web = Arc::new(WebState::new(config));
    serve_routes(
        listener,
        router(&web),
        &web.gate,
        limits,
        &web.end,
        shutdown,
    )
    .await
}

/// Returns the router of all pages behind the guard.
pub(super) fn router(web: &Arc<WebState>) -> Router {
    let pages = Router::new()
        .route("/", get(|| async { Redirect::to("/today") }))
        .route("/assets/{hash}/{name}", get(assets::show))
        .route("/events", get(events::stream))
        .merge(sign_in::routes())
        .merge(undo::routes())
        .merge(pages::routes())
        .fallback(unknown_page)
        .with_state(Arc::clone(web));
    let guard = guard::Guard {
        web: Arc::clone(web),
        pages: pages.clone(),
    };
    pages.layer(from_fn_with_state(guard, guard::guard))
}

async fn unknown_page(request: WebRequest) -> Response {
    let hint = "Choose a section in the navigation.";
    let error = PageError::new(Code::RouteNotFound, "there is no such page", hint);
    error
        .within(request.layout(""), request.previous.clone(), None)
        .into_response()
}
