//! The middleware of all routes: access, session, CSRF token and response headers.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_TYPE, COOKIE, ETAG, HeaderName, ORIGIN, REFERER, SET_COOKIE,
};
use axum::http::request::Builder;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Redirect, Response};
use memory_core::{Code, ToolError};
use tokio::task::spawn_blocking;
use tower_service::Service;

use super::app_shell;
use super::error::PageError;
use super::fields::{Fields, local_path, path_with_next};
use super::refused_form::{FORM_PAGE, FormRefusal, fill_in};
use super::request::previous_path;
use super::sessions::WebSession;
use super::sign_in::{self, SignedIn, sign_in_to_send};
use super::state::{MAX_FORM, WebState};
use super::unsent_form::{UnsentForm, confirm};
use super::upload::{UPLOAD_PATH, Upload, UploadSlot};
use crate::http::{ClientConnection, check_access, principal_token};

/// The media type of forms.
const FORM: &str = "application/x-www-form-urlencoded";

/// Field of every form with the token of the session.
pub(super) const CSRF: &str = "csrf";

/// Maximum size of a form that is sent without a session, in bytes.
const MAX_UNSENT: usize = 1 << 20;

/// Maximum number of cookies of a session in one request. A browser sends one.
const MAX_COOKIES: usize = 4;

/// The headers of all responses.
///
/// The referrer stays within this server. It cannot be omitted: without it, browsers send `Origin: null` with forms.
const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; \
         manifest-src 'self'; worker-src 'self'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-frame-options", "DENY"),
];

/// The state of the middleware.
#[derive(Debug, Clone)]
pub(super) struct Guard {
    pub(super) web: Arc<WebState>,
    /// The pages without the middleware, for the page of a refused form and for a form that waited for a sign-in.
    pub(super) pages: Router,
}

/// A form of a signed-in person.
struct SentForm {
    path: String,
    fields: Fields,
    /// The page that contains the form.
    page: Option<String>,
    session: Arc<WebSession>,
}

/// Refuses requests that no signed-in person made, and sets the headers of all responses.
pub(super) async fn guard(State(guard): State<Guard>, request: Request, next: Next) -> Response {
    let mut response = match admit(&guard.web, request).await {
        Ok((request, sent)) => {
            let response = next.run(request).await;
            guard.complete(response, sent).await
        }
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

/// Maximum size of a page that is shown again with the fields of a refused form, in bytes.
const MAX_PAGE: usize = 16 << 20;

impl Guard {
    /// Sends the form that waited for a sign-in, and shows the page of a refused form again.
    async fn complete(&self, mut response: Response, sent: Option<SentForm>) -> Response {
        let Some(SignedIn {
            session,
            unsent: Some(form),
        }) = response.extensions_mut().remove()
        else {
            return self.show_again(response, sent).await;
        };
        let sent = SentForm {
            fields: form.sent_fields(),
            page: page_of(&form.sent_fields(), None),
            path: form.path,
            session,
        };
        let cookie = response.headers_mut().remove(SET_COOKIE);
        let mut request = Request::post(&sent.path);
        if let Some(page) = &sent.page {
            request = request.header(REFERER, page);
        }
        let answer = self
            .call(request, &sent.session, Some(sent.fields.clone()))
            .await;
        let mut answer = self.show_again(answer, Some(sent)).await;
        answer
            .headers_mut()
            .extend(cookie.map(|cookie| (SET_COOKIE, cookie)));
        answer
    }

    /// Returns the page of a refused form with the fields that were sent and the reason, or the response if that page has no such form.
    async fn show_again(&self, mut response: Response, sent: Option<SentForm>) -> Response {
        let refusal = response.extensions_mut().remove::<FormRefusal>();
        let (Some(refusal), Some(sent)) = (refusal, sent) else {
            return response;
        };
        // Some forms are sent to the path of their page.
        let pages = sent.page.iter().chain([&sent.path]);
        for page in pages {
            let shown = self.call(Request::get(page), &sent.session, None).await;
            if shown.status() != StatusCode::OK {
                continue;
            }
            let Ok(body) = to_bytes(shown.into_body(), MAX_PAGE).await else {
                continue;
            };
            let html = fill_in(
                &String::from_utf8_lossy(&body),
                page,
                &sent.path,
                &sent.fields,
                &refusal,
            );
            if let Some(html) = html {
                return (response.status(), Html(html)).into_response();
            }
        }
        response
    }

    /// Calls a page for a signed-in person.
    async fn call(
        &self,
        request: Builder,
        session: &Arc<WebSession>,
        form: Option<Fields>,
    ) -> Response {
        let Ok(mut request) = request.body(Body::empty()) else {
            return StatusCode::NOT_FOUND.into_response();
        };
        request.extensions_mut().insert(Arc::clone(session));
        if let Some(form) = form {
            request.extensions_mut().insert(form);
        }
        match self.pages.clone().call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}

/// Returns the path of the page that contains a form: the one that the form names, or else the one from which it was sent.
fn page_of(form: &Fields, headers: Option<&HeaderMap>) -> Option<String> {
    let named = form.text(FORM_PAGE).map(|path| local_path(path).to_owned());
    named.or_else(|| previous_path(headers?.get(REFERER)?.to_str().ok()?))
}

/// Returns whether a page of this server sent a request. The origins of other pages are refused before.
fn is_from_page(headers: &HeaderMap) -> bool {
    headers.contains_key(ORIGIN)
        || headers
            .get("sec-fetch-site")
            .is_some_and(|site| site == "same-origin")
}

/// Returns the request with its session and its form, or the response that refuses it.
async fn admit(
    web: &Arc<WebState>,
    mut request: Request,
) -> Result<(Request, Option<SentForm>), Box<Response>> {
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
    .map_err(|error| refuse(PageError::shown(error.0)))?;
    if principal_token(request.headers()).is_some() {
        return Err(refuse(sign_in::principal_error()));
    }
    let is_safe = matches!(*request.method(), Method::GET | Method::HEAD);
    let path = request.uri().path();
    let is_sign_in = path == sign_in::PATH;
    if is_safe && app_shell::is_public(path) {
        return Ok((request, None));
    }
    // Another server of the machine may have set a cookie of the same name.
    let name = sign_in::cookie_name(request.headers(), web.remote.is_some());
    let session = find_session(web, cookies(request.headers(), &name))
        .await
        .map_err(|error| refuse(error.into()))?;
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
        // Only a person who sees what is sent may continue it.
        if !is_from_page(request.headers()) || path == sign_in::OUT_PATH {
            return Err(Box::new(sign_in_to_send(None, web)));
        }
    }
    let mut sent = None;
    if !is_safe {
        let path = request.uri().path().to_owned();
        let (mut parts, body) = request.into_parts();
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
                // Without a session, the form is shown to the person, which takes several times its size.
                let longest = if session.is_some() {
                    MAX_FORM
                } else {
                    MAX_UNSENT
                };
                let body = web
                    .bodies
                    .read(body, longest)
                    .await
                    .map_err(|error| refuse(error.0.into()))?;
                Fields::parse(&String::from_utf8_lossy(&body.bytes))
            }
            // Files are not read before the token, which is their first field, and never without a session.
            Some(_) if parts.uri.path() == UPLOAD_PATH => {
                if session.is_none() {
                    return Err(Box::new(sign_in_to_send(None, web)));
                }
                let opened = Upload::open(&parts, body).await.ok_or_else(no_form);
                let (upload, token) = opened.and_then(|opened| opened).map_err(refuse)?;
                parts.extensions.insert(UploadSlot::new(upload));
                Fields::of(CSRF, &token)
            }
            _ => {
                return Err(refuse(no_form()));
            }
        };
        // The sign-in form has no session yet; its secret is the code.
        if !is_sign_in {
            let page = page_of(&form, Some(&parts.headers));
            let unsent = || {
                let fields = page
                    .iter()
                    .map(|page| (FORM_PAGE, page.as_str()))
                    .filter(|_| form.text(FORM_PAGE).is_none());
                // Files are not carried on: the person chooses them again.
                let form = UnsentForm::new(&path, &form.pairs().chain(fields).collect());
                form.filter(|_| path != UPLOAD_PATH)
            };
            let Some(session) = &session else {
                return Err(Box::new(sign_in_to_send(unsent(), web)));
            };
            if !session.has_csrf(form.get(CSRF)) {
                // The page was opened in a session that has ended.
                if let Some(unsent) = unsent().filter(|_| is_from_page(&parts.headers)) {
                    return Err(Box::new(confirm(unsent, session.csrf())));
                }
                let message = "the form does not belong to this session, and nothing was changed";
                return Err(refuse(PageError::new(
                    Code::Forbidden,
                    message,
                    "Reload the page and try again.",
                )));
            }
            sent = Some(SentForm {
                path,
                fields: form.clone(),
                page,
                session: Arc::clone(session),
            });
        }
        request = Request::from_parts(parts, Body::empty());
        request.extensions_mut().insert(form);
    }
    if let Some(session) = session {
        request.extensions_mut().insert::<Arc<WebSession>>(session);
    }
    Ok((request, sent))
}

fn no_form() -> PageError {
    PageError::new(
        Code::InvalidInput,
        "the request is not a form",
        "Use the forms of the page.",
    )
}

/// Returns the session with one of these tokens.
async fn find_session(
    web: &Arc<WebState>,
    tokens: impl Iterator<Item = &str>,
) -> Result<Option<Arc<WebSession>>, ToolError> {
    let tokens: Vec<String> = tokens.take(MAX_COOKIES).map(str::to_owned).collect();
    if web.remote.is_none() || tokens.is_empty() {
        return web.find_session(&tokens);
    }
    let web = Arc::clone(web);
    spawn_blocking(move || web.find_session(&tokens))
        .await
        .unwrap_or_else(|error| {
            let message = format!("the session cannot be checked: {error}");
            Err(ToolError::new(Code::Internal, message, None))
        })
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
