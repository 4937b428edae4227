//! The pages for signing in and out, and the cookie of a session.

use std::sync::Arc;
use std::time::Instant;

use askama::Template;
use axum::Router;
use axum::extract::{Extension, Request, State};
use axum::http::header::{HOST, SET_COOKIE};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use memory_core::{Code, PRINCIPAL_TOKEN_PREFIX};

use super::error::{PageError, render};
use super::fields::{Fields, local_path};
use super::layout::Layout;
use super::sessions::WebSession;
use super::state::WebState;
use super::unsent_form::UnsentForm;

/// The path of the form.
pub(super) const PATH: &str = "/sign-in";

/// The path that ends a session.
pub(super) const OUT_PATH: &str = "/sign-out";

/// Returns the name of the cookie. Cookies ignore the port, so its name contains it: several homes may be open at the same time.
pub(super) fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers
        .get(HOST)
        .and_then(|host| host.to_str().ok())
        .and_then(|host| host.parse::<Authority>().ok());
    format!(
        "memory_session_{}",
        host.and_then(|host| host.port_u16()).unwrap_or(80)
    )
}

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route(PATH, get(show).post(sign_in))
        .route(OUT_PATH, post(sign_out))
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    layout: Layout,
    next: String,
    is_wrong: bool,
    /// The form that is sent after the sign-in.
    unsent: Option<UnsentForm>,
}

impl SignInPage {
    fn new(next: &str, is_wrong: bool) -> Self {
        Self {
            layout: Layout::signed_out("Sign in"),
            next: local_path(next).to_owned(),
            is_wrong,
            unsent: None,
        }
    }
}

/// A successful sign-in, as an extension of the response.
#[derive(Debug, Clone)]
pub(super) struct SignedIn {
    pub(super) session: Arc<WebSession>,
    /// The form that was sent after the previous session had ended.
    pub(super) unsent: Option<UnsentForm>,
}

/// Returns the sign-in form for a form that was sent after the session had ended. It shows and contains all fields of that form.
pub(super) fn sign_in_to_send(unsent: Option<UnsentForm>) -> Response {
    let page = SignInPage {
        unsent,
        ..SignInPage::new("/", false)
    };
    (StatusCode::UNAUTHORIZED, render(&page)).into_response()
}

/// Returns the error for a sign-in with the token of a principal: the page shows all scopes of its home.
pub(super) fn principal_error() -> PageError {
    PageError::new(
        Code::Forbidden,
        "this page shows everything in its home, so it does not accept the token of a principal",
        "set up a home of your own with `memory init --store @ADDRESS --token @TOKEN`, and run `memory ui` there",
    )
}

async fn show(request: Request) -> Response {
    let query = Fields::parse(request.uri().query().unwrap_or_default());
    if request.extensions().get::<Arc<WebSession>>().is_some() {
        return Redirect::to(local_path(query.get("next"))).into_response();
    }
    render(&SignInPage::new(query.get("next"), false))
}

async fn sign_in(
    State(web): State<Arc<WebState>>,
    Extension(form): Extension<Fields>,
    headers: HeaderMap,
) -> Response {
    let now = Instant::now();
    if form.get("code").trim().starts_with(PRINCIPAL_TOKEN_PREFIX) {
        return principal_error().into_response();
    }
    if !web.config.codes.redeem(form.get("code"), now) {
        let page = SignInPage {
            unsent: UnsentForm::in_sign_in(&form),
            ..SignInPage::new(form.get("next"), true)
        };
        return (StatusCode::FORBIDDEN, render(&page)).into_response();
    }
    let session = match web.sessions.begin(now) {
        Ok(session) => session,
        Err(error) => return PageError::from(error).into_response(),
    };
    let mut response = Redirect::to(local_path(form.get("next"))).into_response();
    response
        .headers_mut()
        .insert(SET_COOKIE, cookie_header(&headers, session.token(), ""));
    let unsent = UnsentForm::in_sign_in(&form);
    response
        .extensions_mut()
        .insert(SignedIn { session, unsent });
    response
}

async fn sign_out(
    State(web): State<Arc<WebState>>,
    Extension(session): Extension<Arc<WebSession>>,
    headers: HeaderMap,
) -> Response {
    web.sessions.end(&session);
    let mut response = Redirect::to(PATH).into_response();
    response
        .headers_mut()
        .insert(SET_COOKIE, cookie_header(&headers, "", "; Max-Age=0"));
    response
}

fn cookie_header(headers: &HeaderMap, token: &str, end: &str) -> HeaderValue {
    let cookie = format!(
        "{}={token}; Path=/; HttpOnly; SameSite=Strict{end}",
        cookie_name(headers)
    );
    cookie
        .parse()
        .expect("a cookie of digits and letters is a header value")
}
