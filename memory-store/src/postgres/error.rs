//! The errors of the database.

use std::error::Error;
use std::io;
use std::time::Duration;

use memory_core::instance::InstanceError;
use memory_core::{Code, StoreError};
use tokio_postgres::error::{DbError, SqlState};

/// The reason why a call of the database failed.
#[derive(Debug)]
pub(super) enum DatabaseError {
    /// An error of the server or of the connection.
    Postgres(tokio_postgres::Error),
    /// The file with the certificate authorities cannot be used.
    Authorities(String),
    /// The server did not respond within this time.
    Silent(Duration),
    /// The server stopped responding on a connection, and accepted no other one within this time.
    Unresponsive(Duration),
    /// All connections were in use for this time.
    Busy(Duration),
    /// The call exceeded its time limit.
    Slow {
        /// The time limit.
        limit: Duration,
        /// Whether it is certain that nothing was changed.
        is_undone: bool,
    },
    /// Another error, which a retry does not resolve.
    Other(InstanceError),
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

impl From<InstanceError> for DatabaseError {
    fn from(error: InstanceError) -> Self {
        Self::Other(error)
    }
}

/// The action that may resolve an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetryAction {
    /// No action.
    None,
    /// Reconnect, if the server was reached before.
    Reconnect,
    /// Reconnect, if the server was alive a moment ago and so may be restarting.
    AwaitRestart,
    /// Retry after a wait.
    Repeat,
}

/// The kind of an error of the server or of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DatabaseErrorKind {
    Lost,
    Starting,
    Crowded,
    Contended,
    Cancelled,
    NotTrusted,
    NoTls,
    NotLetIn,
    NotAllowed,
    ReadOnly,
    Full,
    NoDatabase,
    NoTable,
    NoCharacter,
    Else,
}

impl DatabaseError {
    /// Returns the action that may resolve the error.
    pub(super) fn retry_action(&self) -> RetryAction {
        match self {
            Self::Postgres(error) => match error_kind(error) {
                // A pooler may report this on behalf of a server that is restarting.
                DatabaseErrorKind::Lost if error.as_db_error().is_some() => RetryAction::Reconnect,
                DatabaseErrorKind::Lost => RetryAction::AwaitRestart,
                DatabaseErrorKind::Starting
                | DatabaseErrorKind::Crowded
                | DatabaseErrorKind::Contended => RetryAction::Repeat,
                _ => RetryAction::None,
            },
            Self::Silent(_) => RetryAction::AwaitRestart,
            Self::Authorities(_)
            | Self::Unresponsive(_)
            | Self::Busy(_)
            | Self::Slow { .. }
            | Self::Other(_) => RetryAction::None,
        }
    }

    /// Returns whether the connection is unusable after the error.
    pub(super) fn ends_connection(&self) -> bool {
        match self {
            // An error of a statement leaves the connection usable. If the server is read-only, a new connection may
            // reach another server.
            Self::Postgres(error) => {
                let is_fatal = |error: &DbError| matches!(error.severity(), "FATAL" | "PANIC");
                error.as_db_error().is_none_or(is_fatal)
                    || error_kind(error) == DatabaseErrorKind::ReadOnly
            }
            Self::Slow { .. } | Self::Unresponsive(_) => true,
            Self::Authorities(_) | Self::Silent(_) | Self::Busy(_) | Self::Other(_) => false,
        }
    }

    /// Returns whether the machine of the server could not be reached at all.
    pub(super) fn is_unreachable(&self) -> bool {
        let Self::Postgres(error) = self else {
            return matches!(self, Self::Silent(_));
        };
        let source = error
            .source()
            .and_then(|source| source.downcast_ref::<io::Error>());
        let kinds = [
            io::ErrorKind::HostUnreachable,
            io::ErrorKind::NetworkUnreachable,
            io::ErrorKind::TimedOut,
        ];
        source.is_some_and(|source| kinds.contains(&source.kind()))
    }

    /// Returns whether a statement was cancelled on request.
    pub(super) fn is_cancelled(&self) -> bool {
        matches!(self, Self::Postgres(error) if error_kind(error) == DatabaseErrorKind::Cancelled)
    }

    /// Returns whether the row exists already, according to the unique constraint of this name.
    pub(super) fn is_duplicate(error: &tokio_postgres::Error, constraint: &str) -> bool {
        let is_own = |error: &DbError| {
            *error.code() == SqlState::UNIQUE_VIOLATION && error.constraint() == Some(constraint)
        };
        error.as_db_error().is_some_and(is_own)
    }

    /// Returns the error for the caller, whose address has this owner.
    pub(super) fn into_instance_error(self, owner: AddressOwner) -> InstanceError {
        match self {
            Self::Other(error) => error,
            Self::Authorities(why) => {
                let hint = "set sslrootcert to a file with PEM certificates";
                database_error(
                    "the certificate authorities of the database address cannot be read",
                    Code::ConfigInvalid,
                    hint,
                    Some(why),
                )
            }
            Self::Silent(limit) => {
                let what = format!(
                    "the database did not respond within {} s",
                    limit.as_secs_f32()
                );
                database_error(
                    what,
                    Code::DatabaseUnreachable,
                    owner.unreachable_hint(),
                    None,
                )
            }
            Self::Unresponsive(limit) => {
                let what = format!(
                    "the database stopped responding for {} s",
                    limit.as_secs_f32()
                );
                let hint =
                    "check that it is running, and whether the change took effect before you retry";
                database_error(what, Code::DatabaseUnreachable, hint, None)
            }
            Self::Busy(limit) => {
                let what = format!(
                    "all connections to the database were in use for {} s",
                    limit.as_secs_f32()
                );
                database_error(
                    what,
                    Code::DatabaseTimeout,
                    "try again when fewer calls are running",
                    None,
                )
            }
            Self::Slow { limit, is_undone } => {
                let hint = if is_undone {
                    "nothing was changed; try again"
                } else {
                    "check whether it took effect before you retry"
                };
                database_error(
                    format!("the database took longer than {} s", limit.as_secs_f32()),
                    Code::DatabaseTimeout,
                    hint,
                    None,
                )
            }
            Self::Postgres(error) => postgres_error(&error, owner),
        }
    }
}

/// What the address of a database belongs to, which determines how the user changes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressOwner {
    /// An instance.
    Instance,
    /// A home that shares its memories.
    Home,
}

impl AddressOwner {
    fn unreachable_hint(self) -> &'static str {
        match self {
            Self::Instance => {
                "check that it is running and that the address is correct; `memory instance connect` sets another address"
            }
            Self::Home => {
                "check that it is running and that the address is correct; `memory shared init --store ADDRESS` sets another address"
            }
        }
    }

    /// Returns the code of a rejected login. Users of a role can change its password, so a home then works as without the database.
    fn login_code(self) -> Code {
        match self {
            Self::Instance => Code::PermissionDenied,
            Self::Home => Code::DatabaseUnreachable,
        }
    }

    fn login_hint(self) -> &'static str {
        match self {
            Self::Instance => "`memory instance connect` sets another user and password",
            Self::Home => {
                "`memory shared init --store ADDRESS` sets an address with another user and password"
            }
        }
    }

    fn permission_hint(self) -> &'static str {
        match self {
            Self::Instance => {
                "grant CREATE on the schema for the first use, and SELECT, INSERT, UPDATE and DELETE on the tables memory_*"
            }
            Self::Home => {
                "the owner of the database needs CREATE on the schema; other users need a token: `memory shared principal add` grants the tables \
                 to their role, and `memory shared init --store ADDRESS --token TOKEN` sets the token"
            }
        }
    }
}

fn postgres_error(error: &tokio_postgres::Error, owner: AddressOwner) -> InstanceError {
    let (what, code, hint) = match error_kind(error) {
        DatabaseErrorKind::Lost => (
            "the database cannot be reached",
            Code::DatabaseUnreachable,
            owner.unreachable_hint(),
        ),
        DatabaseErrorKind::Starting => (
            "the database is not ready",
            Code::DatabaseUnreachable,
            "try again in a moment",
        ),
        DatabaseErrorKind::Crowded => (
            "the database accepts no more connections",
            Code::DatabaseUnreachable,
            "raise max_connections of the server or CONNECTION LIMIT of the role, or put a pooler such as pgbouncer in front of it",
        ),
        DatabaseErrorKind::Contended => (
            "the database is locked by concurrent changes",
            Code::Locked,
            "try again in a moment",
        ),
        DatabaseErrorKind::Cancelled => (
            "the database cancelled the statement",
            Code::DatabaseTimeout,
            "nothing was changed; try again",
        ),
        DatabaseErrorKind::NotTrusted => (
            "the identity of the database server cannot be verified",
            Code::DatabaseUnreachable,
            "set sslrootcert to the file of its certificate authority; sslmode=verify-full also checks the host name",
        ),
        DatabaseErrorKind::NoTls => (
            "the address requires TLS, which the database server does not offer",
            Code::DatabaseUnreachable,
            "set ssl = on in its postgresql.conf, or sslmode=disable in the address if the network is trusted",
        ),
        DatabaseErrorKind::NotLetIn => (
            "the database rejected the login",
            owner.login_code(),
            owner.login_hint(),
        ),
        DatabaseErrorKind::NotAllowed => (
            "the database user lacks a permission",
            Code::PermissionDenied,
            owner.permission_hint(),
        ),
        DatabaseErrorKind::ReadOnly => (
            "the database is read-only",
            Code::PermissionDenied,
            "it may be a replica: use the address of the primary, or several hosts with target_session_attrs=read-write",
        ),
        DatabaseErrorKind::Full => (
            "the disk of the database is full",
            Code::DiskFull,
            "free some space and try again; nothing was changed",
        ),
        DatabaseErrorKind::NoDatabase => (
            "the database does not exist",
            Code::DatabaseUnreachable,
            "create it with createdb",
        ),
        DatabaseErrorKind::NoTable => (
            "tables of the database are missing or changed",
            Code::FileDamaged,
            "restore the tables memory_* from a backup; without memory_schema, missing tables are created empty on the next use",
        ),
        DatabaseErrorKind::NoCharacter => (
            "the database cannot store these characters",
            Code::InvalidInput,
            "its encoding must be UTF8",
        ),
        DatabaseErrorKind::Else => (
            "the database returned an error",
            Code::Io,
            "see the log of the database",
        ),
    };
    database_error(what, code, hint, Some(server_message(error)))
}

pub(super) fn database_error(
    what: impl Into<String>,
    code: Code,
    hint: &'static str,
    cause: Option<String>,
) -> InstanceError {
    let source = cause.map(Into::into);
    StoreError::Database {
        what: what.into(),
        code,
        hint,
        source,
    }
    .into()
}

/// Returns the message of the server without the detail, which may contain any data.
fn server_message(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(error), _) => format!("{} ({})", error.message(), error.code().code()),
        (None, Some(source)) => source.to_string(),
        (None, None) => error.to_string(),
    }
}

fn error_kind(error: &tokio_postgres::Error) -> DatabaseErrorKind {
    let Some(server_error) = error.as_db_error() else {
        return connection_error_kind(error);
    };
    match server_error.code().code() {
        "57P03" => DatabaseErrorKind::Starting,
        "53300" => DatabaseErrorKind::Crowded,
        "40001" | "40P01" => DatabaseErrorKind::Contended,
        "57014" => DatabaseErrorKind::Cancelled,
        "28P01" | "28000" => DatabaseErrorKind::NotLetIn,
        "42501" => DatabaseErrorKind::NotAllowed,
        "25006" => DatabaseErrorKind::ReadOnly,
        "53100" => DatabaseErrorKind::Full,
        "3D000" => DatabaseErrorKind::NoDatabase,
        "42P01" | "42703" => DatabaseErrorKind::NoTable,
        "22021" | "22P05" => DatabaseErrorKind::NoCharacter,
        "57P01" | "57P02" | "57P05" | "25P03" => DatabaseErrorKind::Lost,
        other if other.starts_with("08") => DatabaseErrorKind::Lost,
        _ => DatabaseErrorKind::Else,
    }
}

fn connection_error_kind(error: &tokio_postgres::Error) -> DatabaseErrorKind {
    let source = error
        .source()
        .and_then(|source| source.downcast_ref::<io::Error>());
    let inner = source.and_then(io::Error::get_ref);
    let of_client = error.to_string();
    if error
        .source()
        .is_some_and(|source| source.to_string().contains("does not support TLS"))
    {
        DatabaseErrorKind::NoTls
    } else if inner.is_some_and(<dyn Error + Send + Sync>::is::<rustls::Error>)
        || of_client.contains("TLS")
    {
        DatabaseErrorKind::NotTrusted
    } else if of_client.contains("authentication") || of_client.contains("configuration") {
        // The server requires a password that is not given, or a method that is not supported.
        DatabaseErrorKind::NotLetIn
    } else if error.is_closed() || source.is_some() || of_client.contains("timeout") {
        DatabaseErrorKind::Lost
    } else {
        DatabaseErrorKind::Else
    }
}
