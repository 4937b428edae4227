//! The middleware of all routes: access, session, CSRF token and response headers.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, COOKIE, ETAG, HeaderName};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use memory_core::Code;

use super::error::PageError;
use super::fields::{Fields, path_with_next};
use super::sessions::WebSession;
use super::sign_in;
use super::state::{MAX_FORM, WebState};
use crate::http::{ClientConnection, check_access, principal_token};

/// The media type of forms.
const FORM: &str = "application/x-www-form-urlencoded";

/// Field of every form with the token of the session.
const CSRF: &str = "csrf";

/// The headers of all responses.
///
/// The referrer stays within this server. It cannot be omitted: without it, browsers send `Origin: null` with forms.
const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; \
         frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-frame-options", "DENY"),
];

/// Refuses requests that no signed-in person made, and sets the headers of all responses.
pub(super) async fn guard(
    State(web): State<Arc<WebState>>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match admit(&web, request).await {
        Ok(request) => next.run(request).await,
        Err(response) => *response,
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    if !headers.contains_key(CACHE_CONTROL) && !headers.contains_key(ETAG) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

/// Returns the request with its session and its form, or the response that refuses it.
async fn admit(web: &Arc<WebState>, mut request: Request) -> Result<Request, Box<Response>> {
    let refuse = |error: PageError| Box::new(error.into_response());
    let connection = request
        .extensions_mut()
        .remove::<ClientConnection>()
        .expect("the server adds the connection");
    check_access(
        &web.gate.rules,
        &connection,
        request.uri(),
        request.headers(),
        false,
    )
    .await
    .map(drop)
    .map_err(|error| refuse(error.0.into()))?;
    if principal_token(request.headers()).is_some() {
        return Err(refuse(sign_in::principal_error()));
    }
    let is_safe = matches!(*request.method(), Method::GET | Method::HEAD);
    let path = request.uri().path();
    let is_sign_in = path == sign_in::PATH;
    if is_safe && path.starts_with("/assets/") {
        return Ok(request);
    }
    // Another server of the machine may have set a cookie of the same name.
    let session = cookies(request.headers(), &sign_in::cookie_name(request.headers()))
        .find_map(|token| web.sessions.find(token, Instant::now()));
    if session.is_none() && !is_sign_in {
        let here = request
            .uri()
            .path_and_query()
            .map_or("/", |path| path.as_str());
        if is_safe {
            return Err(Box::new(
                Redirect::to(&path_with_next(sign_in::PATH, here)).into_response(),
            ));
        }
        return Err(refuse(PageError::new(
            Code::Unauthorized,
            "the session has ended, and nothing was changed",
            "sign in again with a new code of `memory ui`",
        )));
    }
    if !is_safe {
        let (parts, body) = request.into_parts();
        let form = match parts
            .headers
            .get(CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
        {
            Some(kind)
                if kind
                    .split(';')
                    .next()
                    .is_some_and(|kind| kind.trim().eq_ignore_ascii_case(FORM)) =>
            {
                let body = web
                    .bodies
                    .read(body, MAX_FORM)
                    .await
                    .map_err(|error| refuse(error.0.into()))?;
                Fields::parse(&String::from_utf8_lossy(&body.bytes))
            }
            _ => {
                return Err(refuse(PageError::new(
                    Code::InvalidInput,
                    "the request is not a form",
                    "use the forms of the page",
                )));
            }
        };
        // The sign-in form has no session yet; its secret is the code.
        if !is_sign_in
            && !session
                .as_ref()
                .is_some_and(|session| session.has_csrf(form.get(CSRF)))
        {
            let message = "the form does not belong to this session, and nothing was changed";
            return Err(refuse(PageError::new(
                Code::Forbidden,
                message,
                "reload the page and try again",
            )));
        }
        request = Request::from_parts(parts, axum::body::Body::empty());
        request.extensions_mut().insert(form);
    }
    if let Some(session) = session {
        request.extensions_mut().insert::<Arc<WebSession>>(session);
    }
    Ok(request)
}

/// Returns the values of all cookies with a name.
fn cookies<'a>(headers: &'a HeaderMap, name: &str) -> impl Iterator<Item = &'a str> {
    let cookies = headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok());
    cookies
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(move |(own, _)| *own == name)
        .map(|(_, value)| value)
}
