//! Access control: middleware that checks the token, host, origin and owner of every HTTP request.
//!
//! The token of a request is that of the server, or that of a principal of the shared database. The database checks the latter for each
//! request, so a revoked token is refused at once.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN, REFERER};
use axum::http::uri::Authority;
use axum::http::{Extensions, HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use memory_core::text::to_one_line;
use memory_core::{
    Code, PRINCIPAL_TOKEN_PREFIX, PrincipalAccess, PrincipalSource, PrincipalTokens, ToolError,
};
use rustls::ServerConfig;
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::cors::{self, AllowedOrigins};
use super::metrics::Metrics;
use super::response::ErrorResponse;
use crate::places::Place;

/// The health routes, which need no token.
pub(super) const HEALTH: &str = "/v1/health";
pub(super) const LIVENESS: &str = "/healthz";
pub(super) const READINESS: &str = "/readyz";

/// Request header in which browsers state how the origin of a request relates to its target.
const FETCH_SITE: &str = "sec-fetch-site";

/// The client of a connection.
#[derive(Debug, Clone)]
pub(crate) struct ClientConnection {
    /// Whether the client runs on this machine as the same user or as root, or on a system that reports no owners.
    pub(super) is_same_user: bool,
    /// The place of the connection; `None` if all are taken.
    pub(super) place: Option<Arc<Place>>,
}

/// The access rules of a server.
#[derive(Debug, Clone, Default)]
pub struct AccessRules {
    /// The token that every request must carry.
    ///
    /// Without one, only programs of the same user on this machine are served.
    pub token: Option<AccessToken>,
    /// The principals who may call the server with tokens of their own.
    pub principals: Option<PrincipalRules>,
    /// The origins with web pages that may call the server as well.
    pub origins: AllowedOrigins,
    /// The only address of the server, if clients reach it over HTTPS. It has no token then: the page has sessions.
    pub site: Option<SecureSite>,
    /// How to allow more clients: the flags of the server, as a sentence without its full stop.
    ///
    /// It is the hint of a rejection.
    pub how_to_admit: String,
}

impl AccessRules {
    /// Returns whether programs of other users, and of other machines, may be served.
    pub(super) fn admit_other_users(&self) -> bool {
        self.token.is_some() || self.principals.is_some() || self.tls().is_some()
    }

    /// Returns the TLS of the server itself.
    pub(super) fn tls(&self) -> Option<&Arc<ServerConfig>> {
        self.site.as_ref()?.tls.as_ref()
    }
}

/// The only address at which clients reach a server over HTTPS.
#[derive(Clone)]
pub struct SecureSite {
    /// The host, with the port unless it is 443.
    authority: String,
    /// Without it, a program on this machine receives HTTPS, and forwards the requests.
    tls: Option<Arc<ServerConfig>>,
}

impl SecureSite {
    pub(crate) fn new(authority: String, tls: Option<Arc<ServerConfig>>) -> Self {
        Self { authority, tls }
    }
}

impl fmt::Debug for SecureSite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SecureSite")
            .field("authority", &self.authority)
            .finish_non_exhaustive()
    }
}

/// Maximum number of tokens that are checked at the same time; others wait.
const MAX_TOKEN_CHECKS: usize = 8;

/// The principals of a shared database who may call a server.
#[derive(Debug, Clone)]
pub struct PrincipalRules {
    tokens: Arc<dyn PrincipalTokens>,
    own: Option<Arc<dyn PrincipalSource>>,
    checks: Arc<Semaphore>,
}

impl PrincipalRules {
    /// Admits the principals of `tokens`; with the principal `own` of the node, only that one, because the node has no rows of others.
    pub fn new(tokens: Arc<dyn PrincipalTokens>, own: Option<Arc<dyn PrincipalSource>>) -> Self {
        Self {
            tokens,
            own,
            checks: Arc::new(Semaphore::new(MAX_TOKEN_CHECKS)),
        }
    }

    /// Returns the caller with a token.
    async fn find_caller(&self, token: String) -> Result<RequestCaller, ErrorResponse> {
        let turn = Arc::clone(&self.checks)
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        let tokens = Arc::clone(&self.tokens);
        let check = spawn_blocking(move || {
            let _turn = turn;
            tokens.find_principal(&token)
        });
        let found = check.await.map_err(|error| {
            ErrorResponse::new(
                Code::Internal,
                format!("the token cannot be checked: {error}"),
                "try again",
            )
        })?;
        let Some(principal) = found.map_err(ToolError::from)? else {
            let hint = "it was revoked, or is from another database: ask the owner of the database for a new one";
            return Err(ErrorResponse::new(
                Code::Unauthorized,
                "the database does not accept the token",
                hint,
            ));
        };
        match self.own.as_ref().map(|own| own.principal().name) {
            None => Ok(RequestCaller::Principal(principal)),
            Some(own) if own == principal.name => Ok(RequestCaller::OwnPrincipal),
            Some(own) => {
                let message = format!(
                    "this server serves the principal {own}, and the token is that of {}",
                    principal.name
                );
                let hint =
                    "use a server on a home of your own, or on a home of the owner of the database";
                Err(ErrorResponse::new(Code::Forbidden, message, hint))
            }
        }
    }
}

/// The caller of an admitted request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum RequestCaller {
    /// A caller with the token of the server, or on a server without one.
    #[default]
    Node,
    /// The principal of the node, with its token.
    OwnPrincipal,
    /// A principal who sees only its own scopes.
    Principal(PrincipalAccess),
}

impl RequestCaller {
    /// Returns the principal to whom the view of a request is restricted, if there is one.
    pub(crate) fn of(extensions: &Extensions) -> Option<&PrincipalAccess> {
        match extensions.get::<Self>() {
            Some(Self::Principal(principal)) => Some(principal),
            Some(Self::Node | Self::OwnPrincipal) | None => None,
        }
    }
}

/// Returns the error for a route that is not for principals.
pub(super) fn refuse_principal(extensions: &Extensions, what: &str) -> Result<(), ErrorResponse> {
    RequestCaller::of(extensions).map_or(Ok(()), |_| Err(principal_error(what)))
}

/// Returns the error for a principal who calls `what`.
pub(super) fn principal_error(what: &str) -> ErrorResponse {
    let message = format!("{what} of this server are not available with the token of a principal");
    ErrorResponse::new(
        Code::Forbidden,
        message,
        "use a server on a home of your own, set up with the token",
    )
}

/// Shared state of the middleware.
#[derive(Debug)]
pub(crate) struct AuthState {
    pub rules: AccessRules,
    pub metrics: Metrics,
}

impl AuthState {
    pub(crate) fn new(rules: AccessRules) -> Self {
        Self {
            rules,
            metrics: Metrics::new(),
        }
    }
}

/// Rejects unauthorized requests, responds to preflights of allowed origins, and records metrics.
pub(super) async fn authorize(
    State(gate): State<Arc<AuthState>>,
    mut request: Request,
    next: Next,
) -> Response {
    let begun = Instant::now();
    let method = request.method().clone();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or("none", MatchedPath::as_str)
        .to_owned();
    let _running = gate.metrics.start_request();
    let connection = request
        .extensions_mut()
        .remove::<ClientConnection>()
        .expect("the server says where a request comes from");
    let allowed = gate.rules.origins.find(request.headers()).cloned();
    let preflight = allowed
        .as_ref()
        .filter(|_| cors::is_preflight(&method, request.headers()));
    let response = if let Some(origin) = preflight {
        cors::preflight_response(origin, request.headers())
    } else {
        // The exemption is for the health routes only. A standalone proxy has no such route: its requests are forwarded
        // and need the token.
        let admitted = if gate.rules.token.is_some()
            && [HEALTH, LIVENESS, READINESS].contains(&route.as_str())
        {
            Ok(RequestCaller::Node)
        } else {
            check_access(
                &gate.rules,
                &connection,
                request.uri(),
                request.headers(),
                allowed.is_some(),
            )
            .await
        };
        let mut response = match admitted {
            Ok(caller) => {
                if caller != RequestCaller::Node {
                    // The token must not reach the server of the models.
                    request.headers_mut().remove(AUTHORIZATION);
                }
                request.extensions_mut().insert(caller);
                next.run(request).await
            }
            Err(refusal) => refusal.into_response(),
        };
        gate.rules
            .origins
            .add_headers(allowed.as_ref(), response.headers_mut());
        response
    };
    gate.metrics.record_request(
        &route,
        method.as_str(),
        response.status().as_u16(),
        begun.elapsed(),
    );
    response
}

/// Checks the token, or else the user, the host and the origin of a request, and returns the caller.
///
/// From then on, no other connection takes the place of this one until the response is sent.
pub(crate) async fn check_access(
    rules: &AccessRules,
    connection: &ClientConnection,
    uri: &Uri,
    headers: &HeaderMap,
    is_allowed_page: bool,
) -> Result<RequestCaller, ErrorResponse> {
    let caller = find_caller(rules, connection, uri, headers, is_allowed_page).await?;
    let Some(place) = &connection.place else {
        return Err(ErrorResponse::new(
            Code::Overloaded,
            "too many connections are open at the same time",
            "close unused connections, or try again later",
        ));
    };
    place.set_idle(false);
    Ok(caller)
}

async fn find_caller(
    rules: &AccessRules,
    connection: &ClientConnection,
    uri: &Uri,
    headers: &HeaderMap,
    is_allowed_page: bool,
) -> Result<RequestCaller, ErrorResponse> {
    let is_for_server = rules
        .token
        .as_ref()
        .is_some_and(|token| token.matches(headers));
    if let (Some(principals), Some(token), false) =
        (&rules.principals, principal_token(headers), is_for_server)
    {
        return principals.find_caller(token.to_owned()).await;
    }
    let Some(_) = &rules.token else {
        // A request of a web page is recognised by its headers alone.
        let from_here = check_same_machine(uri, headers, is_allowed_page, rules);
        if !connection.is_same_user && rules.tls().is_none() {
            let message = "the request comes from another user or another machine, and the server has no token";
            return Err(ErrorResponse::new(
                Code::Forbidden,
                message,
                &rules.how_to_admit,
            ));
        }
        return from_here.map(|()| RequestCaller::Node);
    };
    if is_for_server {
        return Ok(RequestCaller::Node);
    }
    let message = if headers.contains_key("authorization") {
        "the token is wrong"
    } else {
        "the token is missing"
    };
    Err(ErrorResponse::new(
        Code::Unauthorized,
        message,
        "send the header Authorization: Bearer TOKEN",
    ))
}

/// Returns the token in a request, if it has the form of a token of a principal.
pub(crate) fn principal_token(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers
        .get(AUTHORIZATION)?
        .to_str()
        .ok()?
        .split_at_checked("Bearer ".len())?;
    (scheme.eq_ignore_ascii_case("Bearer ") && token.starts_with(PRINCIPAL_TOKEN_PREFIX))
        .then_some(token)
}

/// Rejects a request that a web page may have sent, unless its origin is allowed.
///
/// A page reaches this server by a host name of its own (DNS rebinding), or sends its origin.
fn check_same_machine(
    uri: &Uri,
    headers: &HeaderMap,
    is_allowed_page: bool,
    rules: &AccessRules,
) -> Result<(), ErrorResponse> {
    let text = |name| {
        headers
            .get(name)
            .map(|value: &axum::http::HeaderValue| value.to_str().unwrap_or_default())
    };
    let named = uri
        .authority()
        .map(Authority::as_str)
        .or_else(|| text(HOST))
        .unwrap_or_default();
    let is_ours = |authority: &Authority| match &rules.site {
        Some(site) => authority.as_str().eq_ignore_ascii_case(&site.authority),
        None => is_this_machine(authority.host()) && !authority.as_str().contains('@'),
    };
    if 1 < headers.get_all(HOST).iter().count() || !named.parse().as_ref().is_ok_and(is_ours) {
        let message = format!(
            "the request is for another host ({}), and the server has no token",
            to_one_line(named, 80)
        );
        return Err(ErrorResponse::new(
            Code::Forbidden,
            message,
            &rules.how_to_admit,
        ));
    }
    // A browser that finds nothing at one address of a name asks the other one, where a page of another user may have been.
    let is_by_name = named
        .parse()
        .is_ok_and(|own: Authority| own.host().eq_ignore_ascii_case("localhost"));
    if is_by_name && rules.site.is_none() && !is_allowed_page && is_from_browser(headers) {
        return Err(ErrorResponse::new(
            Code::Forbidden,
            "a browser must use the address of this machine and not its name",
            "use 127.0.0.1 in place of localhost",
        ));
    }
    let is_our_page = headers
        .get_all(FETCH_SITE)
        .iter()
        .all(|site| site == "same-origin" || site == "none");
    let mut origins = headers.get_all(ORIGIN).iter();
    let is_of_ours = match (origins.next(), origins.next()) {
        (None, _) => true,
        (Some(origin), None) => named.parse().is_ok_and(|own| {
            origin
                .to_str()
                .is_ok_and(|origin| is_origin(origin, &own, rules.site.is_some()))
        }),
        (Some(_), Some(_)) => false,
    };
    if is_allowed_page || is_our_page && is_of_ours {
        return Ok(());
    }
    let origin = to_one_line(text(ORIGIN).unwrap_or("not named"), 80);
    let message = format!("the request comes from a web page (origin: {origin})");
    Err(ErrorResponse::new(
        Code::Forbidden,
        message,
        rules.origins.add_hint(),
    ))
}

/// Returns whether a browser sent the request: a program sends none of these headers by itself.
fn is_from_browser(headers: &HeaderMap) -> bool {
    [
        FETCH_SITE,
        ORIGIN.as_str(),
        REFERER.as_str(),
        COOKIE.as_str(),
    ]
    .iter()
    .any(|name| headers.contains_key(*name))
}

/// Returns whether `origin` is the server `own`.
///
/// A page of another server on this machine has a different port.
fn is_origin(origin: &str, own: &Authority, is_secure: bool) -> bool {
    let (scheme, usual) = if is_secure {
        ("https://", 443)
    } else {
        ("http://", 80)
    };
    let from = origin
        .strip_prefix(scheme)
        .and_then(|from| from.parse::<Authority>().ok());
    from.is_some_and(|from| {
        from.host().eq_ignore_ascii_case(own.host())
            && !from.as_str().contains('@')
            && from.port_u16().unwrap_or(usual) == own.port_u16().unwrap_or(usual)
    })
}

fn is_this_machine(host: &str) -> bool {
    ["localhost", "127.0.0.1", "[::1]", "::1"]
        .iter()
        .any(|own| host.eq_ignore_ascii_case(own))
}

/// An access token, sent as `Authorization: Bearer TOKEN`. Its debug output is redacted.
#[derive(Clone)]
pub struct AccessToken(String);

impl AccessToken {
    /// Creates a token; `None` unless it consists of visible ASCII characters.
    pub fn new(text: String) -> Option<Self> {
        let is_fine = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        is_fine.then_some(Self(text))
    }

    /// Returns whether a request carries this token, in constant time.
    pub(super) fn matches(&self, headers: &HeaderMap) -> bool {
        let given = headers
            .get(AUTHORIZATION)
            .map(axum::http::HeaderValue::as_bytes)
            .unwrap_or_default();
        let Some((scheme, given)) = given.split_at_checked("Bearer ".len()) else {
            return false;
        };
        scheme.eq_ignore_ascii_case(b"Bearer ") && bool::from(given.ct_eq(self.0.as_bytes()))
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_whole_or_not_at_all() {
        let token = AccessToken::new("s3cret".into()).expect("one");
        let knows = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, text.parse().expect("a header"));
            token.matches(&headers)
        };
        assert!(knows("Bearer s3cret") && knows("bearer s3cret"));
        for wrong in [
            "",
            "s3cret",
            "Bearer",
            "Bearer ",
            "Bearer s3cre",
            "Bearer s3cret1",
            "Bearer S3cret",
            "Basic s3cret",
            "Bearer  s3cret",
        ] {
            assert!(!knows(wrong), "{wrong}");
        }
        assert!(!token.matches(&HeaderMap::new()));
        assert!(
            ["", "a b", "ä", "a\n"]
                .iter()
                .all(|text| AccessToken::new((*text).into()).is_none())
        );
        assert_eq!(format!("{token:?}"), "Token");
    }
}
