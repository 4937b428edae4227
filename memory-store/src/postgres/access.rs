//! The access of a node to the memories in a database: all rows, or those of the principal whose token it has.
//!
//! A transaction contains the token. Nodes call functions (`migrations/functions.sql`), which check it, and so do the policies of the
//! tables (`migrations/0004_access.sql`).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use memory_core::{Clock, Code, ContentHash, ContentHasher, SystemClock};
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::conditions::SqlParameter;
use super::connections::{BEGIN, TextSource, end_transaction};
use super::error::{DatabaseError, database_error};

const SET_TOKEN: &str = "SELECT set_config('memory.token', $1, true)";

const FIND_PRINCIPAL: &str = "SELECT principal, scopes, read_only, is_restricted, extract(epoch FROM now())::bigint FROM memory_node_access()";

/// Maximum error of the estimated time of the database in seconds, below the 300 s for which it accepts a proof.
const MAX_TIME_ERROR: i64 = 60;

/// The token of a principal. The database receives a proof of it, because a server may log the parameters of statements.
#[derive(Clone)]
pub(super) struct PrincipalToken {
    hash: Arc<Mutex<ContentHash>>,
    clock_difference: Arc<AtomicI64>,
    /// The principal for whom the database accepted the token.
    principal: Arc<OnceLock<String>>,
    /// Returns the text of the token, which a person may replace while programs run.
    source: Arc<OnceLock<TextSource>>,
}

impl PrincipalToken {
    /// Returns the token with this text. `clock_difference` are the seconds by which the clock of the database is ahead of this machine.
    pub(super) fn new(text: &str, clock_difference: Arc<AtomicI64>) -> Self {
        Self {
            hash: Arc::new(Mutex::new(ContentHash::of(text.trim()))),
            clock_difference,
            principal: Arc::default(),
            source: Arc::default(),
        }
    }

    /// Sets the source of a new token, which is read when the database refuses the present one.
    pub(super) fn follow(&self, source: TextSource) {
        let _ = self.source.set(source);
    }

    fn hash(&self) -> MutexGuard<'_, ContentHash> {
        self.hash.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adopts the token of the source, and returns the former one; `None` if it is the same.
    fn adopt_source(&self) -> Option<ContentHash> {
        let TextSource(read) = self.source.get()?;
        let new = ContentHash::of(read()?.trim());
        let former = std::mem::replace(&mut *self.hash(), new);
        (former != new).then_some(former)
    }

    /// Returns whether a token of this principal may replace the present one: the replica has the memories of one principal.
    fn is_of(&self, principal: &TokenPrincipal) -> bool {
        *self.principal.get_or_init(|| principal.name.clone()) == principal.name
    }

    /// Returns the text by which the database recognizes the token at the present time (`migrations/functions.sql`).
    fn proof(&self) -> String {
        let (hash, time) = (*self.hash(), self.database_time().to_string());
        let mut hasher = ContentHasher::default();
        hasher.update(hash.as_bytes());
        hasher.update(time.as_bytes());
        hasher.update(hash.as_bytes());
        let (prefix, mac) = (&hash.to_string()[..16], hasher.finish());
        format!("proof:{prefix}:{time}:{mac}")
    }

    /// Returns the estimated time of the database in seconds since 1970.
    fn database_time(&self) -> i64 {
        SystemClock.now().timestamp() + self.clock_difference.load(Ordering::Relaxed)
    }

    /// Adopts the time of the database, and returns whether a proof with the estimated time may have been refused.
    fn correct_time(&self, time: i64) -> bool {
        let error = time - self.database_time();
        self.clock_difference.fetch_add(error, Ordering::Relaxed);
        MAX_TIME_ERROR < error.abs()
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
    /// The scopes that it reads.
    pub scopes: Vec<String>,
    /// Those of them that it does not write.
    pub read_only: Vec<String>,
}

impl TokenPrincipal {
    /// Checks that the principal may write these scopes.
    ///
    /// # Errors
    /// [`Code::PermissionDenied`]
    pub(super) fn check_scopes(&self, scopes: &BTreeSet<String>) -> Result<(), DatabaseError> {
        let is_refused =
            |scope: &&String| !self.scopes.contains(scope) || self.read_only.contains(scope);
        let Some(scope) = scopes.iter().find(is_refused) else {
            return Ok(());
        };
        let what = if self.scopes.contains(scope) {
            format!("{} reads {scope}, and may not write it", self.name)
        } else {
            format!("{} has no access to {scope}", self.name)
        };
        Err(denied_error(
            what,
            "the owner of the database grants it with `memory shared principal grant NAME SCOPE`",
        ))
    }
}

/// Runs `work` in a transaction with a token, or as the owner in a transaction without one.
///
/// # Errors
/// [`Code::Unauthorized`] if the token is not valid, or the errors of `work`.
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

/// Begins a transaction and finds the principal of the token, in one round trip unless the clock of the database differs.
pub(super) async fn begin(
    client: &Client,
    token: Option<&PrincipalToken>,
) -> Result<Option<TokenPrincipal>, DatabaseError> {
    let Some(token) = token else {
        client.batch_execute(BEGIN).await?;
        return Ok(None);
    };
    // Each statement is sent when its future is first polled, so they arrive in this order.
    let (begun, found) =
        tokio::join!(biased; client.batch_execute(BEGIN), query_principal(client, token));
    begun?;
    let mut found = found?;
    if found.principal.is_none() && token.correct_time(found.time) {
        found = query_principal(client, token).await?;
    }
    if found.principal.is_none()
        && let Some(former) = token.adopt_source()
    {
        found = query_principal(client, token).await?;
        found.principal = found.principal.filter(|own| token.is_of(own));
        if found.principal.is_none() {
            *token.hash() = former;
        }
    }
    let Some(principal) = found.principal.filter(|own| token.is_of(own)) else {
        // The database has recorded the refusal.
        client.batch_execute("COMMIT").await?;
        let hint = "it was revoked, or is from another database: ask the owner of the database for a new one, and pass it to \
            `memory shared init --token`";
        let what = "the database does not accept the token of this home";
        let refused = database_error(what, Code::Unauthorized, hint, None);
        return Err(DatabaseError::Other(refused));
    };
    if !found.is_restricted {
        let hint = "use a role without the attributes SUPERUSER and BYPASSRLS, such as memory_node";
        return Err(denied_error(
            "the user of the database bypasses the access control of memories".into(),
            hint,
        ));
    }
    Ok(Some(principal))
}

/// Returns the principal of a token, if it is valid, in one transaction and one round trip unless the clock of the database differs.
pub(super) async fn find_principal(
    client: &Client,
    token: &PrincipalToken,
) -> Result<Option<TokenPrincipal>, DatabaseError> {
    loop {
        // Each statement is sent when its future is first polled, so they arrive in this order.
        let (begun, found, ended) = tokio::join!(
            biased;
            client.batch_execute(BEGIN),
            query_principal(client, token),
            client.batch_execute("COMMIT"),
        );
        begun?;
        let found = found?;
        ended?;
        if found.principal.is_some() || !token.correct_time(found.time) {
            return Ok(found.principal);
        }
    }
}

/// The reply of the database to a token.
struct TokenReply {
    principal: Option<TokenPrincipal>,
    is_restricted: bool,
    /// The time of the transaction in seconds since 1970.
    time: i64,
}

/// Sends a token in the current transaction.
async fn query_principal(
    client: &Client,
    token: &PrincipalToken,
) -> Result<TokenReply, tokio_postgres::Error> {
    let proof = token.proof();
    let parameters: [SqlParameter; 1] = [(&proof, Type::TEXT)];
    let (set, found) = tokio::join!(
        biased;
        client.query_typed(SET_TOKEN, &parameters),
        client.query_typed_one(FIND_PRINCIPAL, &[]),
    );
    set?;
    let found = found?;
    let (scopes, read_only) = (found.try_get(1)?, found.try_get(2)?);
    Ok(TokenReply {
        principal: found
            .try_get::<_, Option<String>>(0)?
            .map(|name| TokenPrincipal {
                name,
                scopes,
                read_only,
            }),
        is_restricted: found.try_get(3)?,
        time: found.try_get(4)?,
    })
}

pub(super) fn denied_error(what: String, hint: &'static str) -> DatabaseError {
    DatabaseError::Other(database_error(what, Code::PermissionDenied, hint, None))
}
