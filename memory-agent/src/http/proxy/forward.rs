//! Forwards requests to the upstream server unchanged.

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Uri};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use memory_core::Code;

use super::chat_proxy::ChatProxy;
use super::upstream::{SendError, response_headers};
use crate::http::client_body::allow_upload;
use crate::http::response::{ErrorResponse, UpstreamStream};

/// Request header with the names of the proxies that a request passed, to detect loops.
pub(super) const HOPS: HeaderName = HeaderName::from_static("memory-hops");

/// Forwards a request and streams the response, both unchanged.
pub(super) async fn forward(proxy: &ChatProxy, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    allow_upload(&parts.extensions);
    if let Err(refusal) = check_loop(proxy, &parts.headers) {
        return refusal.into_response();
    }
    match send_upstream(proxy, &parts, body).await {
        Ok(answer) => stream_response(answer),
        Err(response) => response,
    }
}

/// Rejects a request that this proxy has already forwarded.
pub(super) fn check_loop(proxy: &ChatProxy, headers: &HeaderMap) -> Result<(), ErrorResponse> {
    if headers.get_all(HOPS).iter().any(|hop| *hop == proxy.name) {
        let message = format!(
            "requests to {} loop back to this proxy",
            proxy.upstream.authority()
        );
        return Err(ErrorResponse::new(
            Code::ModelFailed,
            message,
            "set the address of the model server itself",
        ));
    }
    Ok(())
}

/// Sends a request to the upstream server; returns an error response if there is no upstream response.
pub(super) async fn send_upstream(
    proxy: &ChatProxy,
    parts: &Parts,
    body: Body,
) -> Result<Response<Incoming>, Response> {
    let asked = proxy
        .upstream
        .send(
            parts,
            upstream_path(&parts.uri),
            body,
            (&HOPS, &proxy.name),
            !proxy.rules.has_token,
        )
        .await;
    asked.map_err(|why| match why {
        SendError::Unreachable(why) => {
            let message = format!("{} cannot be reached: {why}", proxy.upstream.authority());
            ErrorResponse::new(
                Code::ModelFailed,
                message,
                "check that the model server is running",
            )
            .into_response()
        }
        SendError::Late(late) => ErrorResponse::from(late).into_response(),
        SendError::BrokenOff => {
            let message = format!(
                "{} closed the connection before it answered",
                proxy.upstream.authority()
            );
            ErrorResponse::new(
                Code::ModelFailed,
                message,
                "try again; if it happens again, see the log of the model server",
            )
            .into_response()
        }
    })
}

/// Converts an upstream response into a streamed response.
pub(super) fn stream_response(answer: Response<Incoming>) -> Response {
    let (mut parts, body) = answer.into_parts();
    parts.headers = response_headers(&parts.headers);
    parts.extensions.insert(UpstreamStream);
    Response::from_parts(parts, Body::new(body))
}

/// Returns the path and query to append to the base URL.
///
/// The prefix `/v1` is removed, since the base URL contains it.
fn upstream_path(uri: &Uri) -> &str {
    let whole = uri.path_and_query().map_or("/", |path| path.as_str());
    match whole.strip_prefix("/v1") {
        Some(rest) if rest.is_empty() || rest.starts_with(['/', '?']) => rest,
        _ => whole,
    }
}
