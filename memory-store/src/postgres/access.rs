//! The access of a node to the memories in a database: all rows, or those of the principal whose token it has.
//!
//! A transaction contains the token. Nodes call functions (`migrations/0005_functions.sql`), which check it, and so do the policies of the
//! tables (`migrations/0004_access.sql`).

use std::collections::BTreeSet;
use std::fmt;

use memory_core::Code;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::conditions::SqlParameter;
use super::connections::{BEGIN, end_transaction};
use super::error::{DatabaseError, database_error};

const SET_TOKEN: &str = "SELECT set_config('memory.token', $1, true)";

const FIND_PRINCIPAL: &str = "SELECT principal, scopes, is_restricted FROM memory_node_access()";

/// The token of a principal.
#[derive(Clone)]
pub(super) struct PrincipalToken(String);

impl PrincipalToken {
    /// Returns the token with this text.
    pub(super) fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }
}

impl fmt::Debug for PrincipalToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PrincipalToken(…)")
    }
}

/// The principal of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenPrincipal {
    pub name: String,
    /// The scopes that it reads and writes.
    pub scopes: Vec<String>,
}

impl TokenPrincipal {
    /// Checks that the principal may write these scopes.
    ///
    /// # Errors
    /// [`Code::PermissionDenied`]
    pub(super) fn check_scopes(&self, scopes: &BTreeSet<String>) -> Result<(), DatabaseError> {
        let Some(scope) = scopes.iter().find(|scope| !self.scopes.contains(scope)) else {
            return Ok(());
        };
        let what = format!("{} has no access to {scope}", self.name);
        Err(denied_error(
            what,
            "the owner of the database grants it with `memory shared principal grant NAME SCOPE`",
        ))
    }
}

/// Runs `work` in a transaction with a token, or as the owner in a transaction without one.
///
/// # Errors
/// [`Code::PermissionDenied`] if the token is not valid, or the errors of `work`.
pub(super) async fn run_as<T>(
    client: &Client,
    token: Option<&PrincipalToken>,
    work: impl AsyncFnOnce(Option<&TokenPrincipal>) -> Result<T, DatabaseError>,
) -> Result<T, DatabaseError> {
    let begun = begin(client, token).await;
    let done = match begun {
        Ok(principal) => work(principal.as_ref()).await,
        Err(trouble) => Err(trouble),
    };
    end_transaction(client, done).await
}

/// Begins a transaction and finds the principal of the token, in one round trip.
pub(super) async fn begin(
    client: &Client,
    token: Option<&PrincipalToken>,
) -> Result<Option<TokenPrincipal>, DatabaseError> {
    let begun = client.batch_execute(BEGIN);
    let Some(PrincipalToken(token)) = token else {
        begun.await?;
        return Ok(None);
    };
    let parameters: [SqlParameter; 1] = [(token, Type::TEXT)];
    // Each statement is sent when its future is first polled, so they arrive in this order.
    let (begun, set, found) = tokio::join!(
        biased;
        begun,
        client.query_typed(SET_TOKEN, &parameters),
        client.query_typed_one(FIND_PRINCIPAL, &[]),
    );
    begun?;
    set?;
    let found = found?;
    let (name, scopes, is_restricted): (Option<String>, Vec<String>, bool) =
        (found.try_get(0)?, found.try_get(1)?, found.try_get(2)?);
    let Some(name) = name else {
        let hint = "it was revoked, or is from another database: ask the owner of the database for a new one, and pass it to \
            `memory shared init --token`";
        return Err(denied_error(
            "the database does not accept the token of this home".into(),
            hint,
        ));
    };
    if !is_restricted {
        let hint = "use a role without the attributes SUPERUSER and BYPASSRLS, such as memory_node";
        return Err(denied_error(
            "the user of the database bypasses the access control of memories".into(),
            hint,
        ));
    }
    Ok(Some(TokenPrincipal { name, scopes }))
}

/// Returns the principal of a token, if it is valid, in one transaction and one round trip.
pub(super) async fn find_principal(
    client: &Client,
    PrincipalToken(token): &PrincipalToken,
) -> Result<Option<TokenPrincipal>, DatabaseError> {
    let parameters: [SqlParameter; 1] = [(token, Type::TEXT)];
    // Each statement is sent when its future is first polled, so they arrive in this order.
    let (begun, set, found, ended) = tokio::join!(
        biased;
        client.batch_execute(BEGIN),
        client.query_typed(SET_TOKEN, &parameters),
        client.query_typed_one(FIND_PRINCIPAL, &[]),
        client.batch_execute("ROLLBACK"),
    );
    begun?;
    set?;
    let found = found?;
    ended?;
    let (name, scopes): (Option<String>, Vec<String>) = (found.try_get(0)?, found.try_get(1)?);
    Ok(name.map(|name| TokenPrincipal { name, scopes }))
}

pub(super) fn denied_error(what: String, hint: &'static str) -> DatabaseError {
    DatabaseError::Other(database_error(what, Code::PermissionDenied, hint, None))
}
