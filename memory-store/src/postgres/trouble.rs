//! The errors of the database.

use std::error::Error;
use std::io;
use std::time::Duration;

use memory_core::instance::InstanceError;
use memory_core::{Code, StoreError};
use tokio_postgres::error::{DbError, SqlState};

/// The reason why a call of the database failed.
#[derive(Debug)]
pub(super) enum Trouble {
    /// An error of the server or of the connection.
    Told(tokio_postgres::Error),
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

impl From<tokio_postgres::Error> for Trouble {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Told(error)
    }
}

impl From<InstanceError> for Trouble {
    fn from(error: InstanceError) -> Self {
        Self::Other(error)
    }
}

/// The action that may resolve an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cure {
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
enum Kind {
    Lost,
    Starting,
    Crowded,
    Contended,
    Cancelled,
    NotTrusted,
    NotLetIn,
    NotAllowed,
    ReadOnly,
    Full,
    NoDatabase,
    NoTable,
    NoCharacter,
    Else,
}

impl Trouble {
    /// Returns the action that may resolve the error.
    pub(super) fn cure(&self) -> Cure {
        match self {
            Self::Told(error) => match kind(error) {
                // A pooler may report this on behalf of a server that is restarting.
                Kind::Lost if error.as_db_error().is_some() => Cure::Reconnect,
                Kind::Lost => Cure::AwaitRestart,
                Kind::Starting | Kind::Crowded | Kind::Contended => Cure::Repeat,
                _ => Cure::None,
            },
            Self::Silent(_) => Cure::AwaitRestart,
            Self::Authorities(_) | Self::Unresponsive(_) | Self::Busy(_) | Self::Slow { .. } | Self::Other(_) => Cure::None,
        }
    }

    /// Returns whether the connection is unusable after the error.
    pub(super) fn ends_connection(&self) -> bool {
        match self {
            // An error of a statement leaves the connection usable. If the server is read-only, a new connection may
            // reach another server.
            Self::Told(error) => {
                let is_fatal = |told: &DbError| matches!(told.severity(), "FATAL" | "PANIC");
                error.as_db_error().is_none_or(is_fatal) || kind(error) == Kind::ReadOnly
            }
            Self::Slow { .. } | Self::Unresponsive(_) => true,
            Self::Authorities(_) | Self::Silent(_) | Self::Busy(_) | Self::Other(_) => false,
        }
    }

    /// Returns whether the machine of the server could not be reached at all.
    pub(super) fn is_unreachable(&self) -> bool {
        let Self::Told(error) = self else { return matches!(self, Self::Silent(_)) };
        let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        let kinds = [io::ErrorKind::HostUnreachable, io::ErrorKind::NetworkUnreachable, io::ErrorKind::TimedOut];
        source.is_some_and(|source| kinds.contains(&source.kind()))
    }

    /// Returns whether a statement was cancelled on request.
    pub(super) fn is_cancelled(&self) -> bool {
        matches!(self, Self::Told(error) if kind(error) == Kind::Cancelled)
    }

    /// Returns whether the row exists already, according to the unique constraint of this name.
    pub(super) fn is_repeated(error: &tokio_postgres::Error, constraint: &str) -> bool {
        let is_own = |told: &DbError| *told.code() == SqlState::UNIQUE_VIOLATION && told.constraint() == Some(constraint);
        error.as_db_error().is_some_and(is_own)
    }

    /// Returns the error for the caller.
    pub(super) fn told(self) -> InstanceError {
        match self {
            Self::Other(error) => error,
            Self::Authorities(why) => {
                let hint = "sslrootcert names a file with certificates in PEM";
                refused(
                    "the authorities that the address of the database names cannot be read",
                    Code::ConfigInvalid,
                    hint,
                    Some(why),
                )
            }
            Self::Silent(limit) => {
                let what = format!("the database did not answer for {} s", limit.as_secs_f32());
                refused(what, Code::DatabaseUnreachable, THERE, None)
            }
            Self::Unresponsive(limit) => {
                let what = format!("the database stopped answering for {} s", limit.as_secs_f32());
                let hint = "check that it runs, and look whether a change was done before you repeat it";
                refused(what, Code::DatabaseUnreachable, hint, None)
            }
            Self::Busy(limit) => {
                let what = format!("all connections to the database were in use for {} s", limit.as_secs_f32());
                refused(what, Code::DatabaseTimeout, "repeat it when there is less to do", None)
            }
            Self::Slow { limit, is_undone } => {
                let hint =
                    if is_undone { "nothing was changed; repeat it" } else { "look whether it was done before you repeat it" };
                refused(format!("the database took longer than {} s", limit.as_secs_f32()), Code::DatabaseTimeout, hint, None)
            }
            Self::Told(error) => told(&error),
        }
    }
}

const THERE: &str = "check that it runs and that the instance has its address; `memory instance connect` gives it another";

fn told(error: &tokio_postgres::Error) -> InstanceError {
    let (what, code, hint) = match kind(error) {
        Kind::Lost => ("the database cannot be reached", Code::DatabaseUnreachable, THERE),
        Kind::Starting => ("the database is not ready", Code::DatabaseUnreachable, "try again in a moment"),
        Kind::Crowded => (
            "the database takes no more connections",
            Code::DatabaseUnreachable,
            "raise its max_connections, or put a pooler such as pgbouncer in front of it",
        ),
        Kind::Contended => ("others are changing the same in the database", Code::Locked, "try again in a moment"),
        Kind::Cancelled => {
            ("the database stopped what it was asked to do", Code::DatabaseTimeout, "nothing was changed; repeat it")
        }
        Kind::NotTrusted => (
            "the database does not prove that it is the one that is meant",
            Code::DatabaseUnreachable,
            "sslrootcert names the file of the authority that vouches for it, and sslmode=verify-full wants the name of its host",
        ),
        Kind::NotLetIn => (
            "the database does not let this user in",
            Code::PermissionDenied,
            "`memory instance connect` gives the instance another user and password",
        ),
        Kind::NotAllowed => (
            "the user of the database may not do that",
            Code::PermissionDenied,
            "at first they need CREATE on the schema, and later SELECT, INSERT, UPDATE and DELETE on the tables memory_*",
        ),
        Kind::ReadOnly => (
            "the database is only read",
            Code::PermissionDenied,
            "it may be a replica: name the primary, or several hosts and target_session_attrs=read-write",
        ),
        Kind::Full => ("the disk of the database is full", Code::DiskFull, "free some space and repeat; nothing was changed"),
        Kind::NoDatabase => ("there is no such database", Code::DatabaseUnreachable, "createdb makes it"),
        Kind::NoTable => (
            "the tables of the database are no longer as they were made",
            Code::FileDamaged,
            "bring back the tables memory_* from a backup; without memory_schema, the next program makes anew what is missing, empty",
        ),
        Kind::NoCharacter => ("the database cannot keep these characters", Code::InvalidInput, "its encoding must be UTF8"),
        Kind::Else => ("the database refused", Code::Io, "its log may say more"),
    };
    refused(what, code, hint, Some(cause(error)))
}

fn refused(what: impl Into<String>, code: Code, hint: &'static str, cause: Option<String>) -> InstanceError {
    let source = cause.map(Into::into);
    StoreError::Database { what: what.into(), code, hint, source }.into()
}

/// Returns the message of the server without the detail, which may contain any data.
fn cause(error: &tokio_postgres::Error) -> String {
    match (error.as_db_error(), error.source()) {
        (Some(told), _) => format!("{} ({})", told.message(), told.code().code()),
        (None, Some(source)) => source.to_string(),
        (None, None) => error.to_string(),
    }
}

fn kind(error: &tokio_postgres::Error) -> Kind {
    let Some(told) = error.as_db_error() else { return kind_of_connection(error) };
    match told.code().code() {
        "57P03" => Kind::Starting,
        "53300" => Kind::Crowded,
        "40001" | "40P01" => Kind::Contended,
        "57014" => Kind::Cancelled,
        "28P01" | "28000" => Kind::NotLetIn,
        "42501" => Kind::NotAllowed,
        "25006" => Kind::ReadOnly,
        "53100" => Kind::Full,
        "3D000" => Kind::NoDatabase,
        "42P01" | "42703" => Kind::NoTable,
        "22021" | "22P05" => Kind::NoCharacter,
        "57P01" | "57P02" | "57P05" | "25P03" => Kind::Lost,
        other if other.starts_with("08") => Kind::Lost,
        _ => Kind::Else,
    }
}

fn kind_of_connection(error: &tokio_postgres::Error) -> Kind {
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    let inner = source.and_then(io::Error::get_ref);
    let of_client = error.to_string();
    if inner.is_some_and(<dyn Error + Send + Sync>::is::<rustls::Error>) || of_client.contains("TLS") {
        Kind::NotTrusted
    } else if of_client.contains("authentication") || of_client.contains("configuration") {
        // The server requires a password that is not given, or a method that is not supported.
        Kind::NotLetIn
    } else if error.is_closed() || source.is_some() || of_client.contains("timeout") {
        Kind::Lost
    } else {
        Kind::Else
    }
}
