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
use super::state::{RemoteAccess, WebServerConfig, WebState, limits};
use super::{app_shell, assets, events, guard, pages, sign_in, undo};
use crate::http::serve_routes;

/// Serves the page to browsers of this machine until `shutdown` completes, then finishes running requests.
///
/// # Errors
/// If the listener fails, or is not bound to a loopback address.
pub async fn serve_web(
    listener: TcpListener,
    config: WebServerConfig,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    serve(listener, WebState::new(config, None), shutdown).await
}

/// Serves the page to other devices, which are paired first, until `shutdown` completes.
///
/// # Errors
/// If the listener fails, or is not bound to a loopback address although there is no certificate.
pub async fn serve_web_to_devices(
    listener: TcpListener,
    config: WebServerConfig,
    remote: RemoteAccess,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    serve(listener, WebState::new(config, Some(remote)), shutdown).await
}

async fn serve(
    listener: TcpListener,
    web: WebState,
    shutdown: impl Future<Output = ()> + Send,
) -> io::Result<()> {
    let (limits, web) = (limits(), Arc::new(web));
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
        .merge(app_shell::routes())
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
