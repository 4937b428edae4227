//! The pages for signing in and out, and the cookie of a session.

use std::sync::Arc;
use std::time::Instant;

use askama::Template;
use axum::Router;
use axum::extract::{Extension, Request, State};
use axum::http::header::{HOST, SET_COOKIE, USER_AGENT};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use memory_core::{Code, PRINCIPAL_TOKEN_PREFIX, ToolError};
use tokio::task::spawn_blocking;

use super::devices;
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
///
/// A browser stores a cookie with the prefix `__Host-` only if this host alone has set it, over HTTPS.
pub(super) fn cookie_name(headers: &HeaderMap, is_remote: bool) -> String {
    let host = headers
        .get(HOST)
        .and_then(|host| host.to_str().ok())
        .and_then(|host| host.parse::<Authority>().ok());
    let port = host.and_then(|host| host.port_u16());
    if is_remote {
        format!("__Host-memory_device_{}", port.unwrap_or(443))
    } else {
        format!("memory_session_{}", port.unwrap_or(80))
    }
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
    /// Whether the form pairs a device.
    is_remote: bool,
}

impl SignInPage {
    fn new(next: &str, is_wrong: bool, web: &WebState) -> Self {
        Self {
            layout: Layout::signed_out("Sign in"),
            next: local_path(next).to_owned(),
            is_wrong,
            unsent: None,
            is_remote: web.remote.is_some(),
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
pub(super) fn sign_in_to_send(unsent: Option<UnsentForm>, web: &WebState) -> Response {
    let page = SignInPage {
        unsent,
        ..SignInPage::new("/", false, web)
    };
    (StatusCode::UNAUTHORIZED, render(&page)).into_response()
}

/// Returns the error for a sign-in with the token of a principal: the page shows all scopes of its home.
pub(super) fn principal_error() -> PageError {
    PageError::new(
        Code::Forbidden,
        "this page shows everything in its home, so it does not accept the token of a principal",
        "set up a home of your own with `memory shared init --store @ADDRESS --token @TOKEN`, and run `memory ui` there",
    )
}

async fn show(State(web): State<Arc<WebState>>, request: Request) -> Response {
    let query = Fields::parse(request.uri().query().unwrap_or_default());
    if request.extensions().get::<Arc<WebSession>>().is_some() {
        return Redirect::to(local_path(query.get("next"))).into_response();
    }
    render(&SignInPage::new(query.get("next"), false, &web))
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
            ..SignInPage::new(form.get("next"), true, &web)
        };
        return (StatusCode::FORBIDDEN, render(&page)).into_response();
    }
    let session = if web.remote.is_some() {
        pair_device(&web, &headers).await
    } else {
        web.sessions.begin(now)
    };
    let session = match session {
        Ok(session) => session,
        Err(error) => return PageError::from(error).into_response(),
    };
    let mut response = Redirect::to(local_path(form.get("next"))).into_response();
    response
        .headers_mut()
        .insert(SET_COOKIE, cookie_header(&headers, session.token(), &web));
    let unsent = UnsentForm::in_sign_in(&form);
    response
        .extensions_mut()
        .insert(SignedIn { session, unsent });
    response
}

/// Pairs the device that sent a valid code.
async fn pair_device(
    web: &Arc<WebState>,
    headers: &HeaderMap,
) -> Result<Arc<WebSession>, ToolError> {
    let agent = headers
        .get(USER_AGENT)
        .and_then(|agent| agent.to_str().ok());
    let name = devices::name_of_browser(agent.unwrap_or_default());
    let web = Arc::clone(web);
    spawn_blocking(move || devices::pair(web.config.host.as_ref(), name, web.now()))
        .await
        .unwrap_or_else(|error| {
            let message = format!("the device cannot be paired: {error}");
            Err(ToolError::new(Code::Internal, message, None))
        })
}

async fn sign_out(
    State(web): State<Arc<WebState>>,
    Extension(session): Extension<Arc<WebSession>>,
    headers: HeaderMap,
) -> Response {
    let own = Arc::clone(&web);
    let ended = spawn_blocking(move || own.end_session(&session)).await;
    if let Ok(Err(error)) = ended {
        return PageError::from(error).into_response();
    }
    let mut response = Redirect::to(PATH).into_response();
    response
        .headers_mut()
        .insert(SET_COOKIE, cookie_header(&headers, "", &web));
    response
}

/// Returns the header that sets the cookie of a session, or deletes it if the token is empty.
fn cookie_header(headers: &HeaderMap, token: &str, web: &WebState) -> HeaderValue {
    let is_remote = web.remote.is_some();
    let age = match (token.is_empty(), is_remote) {
        (true, _) => "; Max-Age=0".to_owned(),
        (false, true) => format!("; Max-Age={}", devices::LIFETIME.num_seconds()),
        (false, false) => String::new(),
    };
    let secure = if is_remote { "; Secure" } else { "" };
    let cookie = format!(
        "{}={token}; Path=/; HttpOnly; SameSite=Strict{secure}{age}",
        cookie_name(headers, is_remote)
    );
    cookie
        .parse()
        .expect("a cookie of digits and letters is a header value")
}
