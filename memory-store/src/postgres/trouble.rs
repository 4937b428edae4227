//! What went wrong, in our words.

use std::error::Error;
use std::io;
use std::time::Duration;

use memory_core::instance::InstanceError;
use memory_core::{Code, StoreError};
use tokio_postgres::error::{DbError, SqlState};

/// Why the database did not do something.
#[derive(Debug)]
pub(super) enum Trouble {
    /// As the server says, or the connection to it.
    Told(tokio_postgres::Error),
    /// The file with the authorities cannot be used.
    Authorities(String),
    /// Nobody answered in time.
    Silent(Duration),
    /// The server stopped answering on a connection, and accepted no other one either; it was given so long.
    Unresponsive(Duration),
    /// All connections were in use for so long.
    Busy(Duration),
    /// It took longer than it may.
    Slow {
        /// How long it may take.
        limit: Duration,
        /// Whether it is known that nothing was changed.
        is_undone: bool,
    },
    /// Something else, which will not be otherwise next time.
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

/// What may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cure {
    /// Nothing.
    None,
    /// Another connection, if the server was there before.
    Reconnect,
    /// Another connection, if the server was there a moment ago and so may be restarting.
    AwaitRestart,
    /// To try again a little later.
    Repeat,
}

/// What a connection may tell.
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
    /// Returns what may help.
    pub(super) fn cure(&self) -> Cure {
        match self {
            Self::Told(error) => match kind(error) {
                // A pooler may speak for a server that is restarting.
                Kind::Lost if error.as_db_error().is_some() => Cure::Reconnect,
                Kind::Lost => Cure::AwaitRestart,
                Kind::Starting | Kind::Crowded | Kind::Contended => Cure::Repeat,
                _ => Cure::None,
            },
            Self::Silent(_) => Cure::AwaitRestart,
            Self::Authorities(_) | Self::Unresponsive(_) | Self::Busy(_) | Self::Slow { .. } | Self::Other(_) => Cure::None,
        }
    }

    /// Tells whether the connection is of no more use.
    pub(super) fn ends_connection(&self) -> bool {
        match self {
            // What the server says of a statement leaves the connection as it is; who is told that the server only reads may find
            // another one next time.
            Self::Told(error) => {
                let is_fatal = |told: &DbError| matches!(told.severity(), "FATAL" | "PANIC");
                error.as_db_error().is_none_or(is_fatal) || kind(error) == Kind::ReadOnly
            }
            Self::Slow { .. } | Self::Unresponsive(_) => true,
            Self::Authorities(_) | Self::Silent(_) | Self::Busy(_) | Self::Other(_) => false,
        }
    }

    /// Tells whether the machine of the server could not be reached at all.
    pub(super) fn is_unreachable(&self) -> bool {
        let Self::Told(error) = self else { return matches!(self, Self::Silent(_)) };
        let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        let kinds = [io::ErrorKind::HostUnreachable, io::ErrorKind::NetworkUnreachable, io::ErrorKind::TimedOut];
        source.is_some_and(|source| kinds.contains(&source.kind()))
    }

    /// Tells whether a statement was stopped because somebody asked for that.
    pub(super) fn is_cancelled(&self) -> bool {
        matches!(self, Self::Told(error) if kind(error) == Kind::Cancelled)
    }

    /// Tells whether the server refused to write what is there already, by the constraint of this name.
    pub(super) fn is_repeated(error: &tokio_postgres::Error, constraint: &str) -> bool {
        let is_own = |told: &DbError| *told.code() == SqlState::UNIQUE_VIOLATION && told.constraint() == Some(constraint);
        error.as_db_error().is_some_and(is_own)
    }

    /// Returns what whoever asked is told.
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

/// Returns what was said, without what a statement was about: that may be anything.
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
        // They want a password, and there is none; or in a way that is not known.
        Kind::NotLetIn
    } else if error.is_closed() || source.is_some() || of_client.contains("timeout") {
        Kind::Lost
    } else {
        Kind::Else
    }
}
