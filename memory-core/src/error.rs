//! What can go wrong when memories are kept.

use std::error::Error;
use std::fmt;

use chrono::{DateTime, FixedOffset};

use crate::{Code, EmbedError, ParseError, Scope};

/// Something that could not be done to the memories.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No memory is called so.
    #[error("no memory is called {reference}")]
    NotFound {
        /// What was asked for.
        reference: String,
    },
    /// More than one memory is called so.
    #[error("{reference} is the name of {} memories or more: {}", candidates.len(), candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        reference: String,
        /// Some of what it may mean.
        candidates: Vec<String>,
    },
    /// No operation is called so, or none is left to take back.
    #[error("{wanted}")]
    OperationNotFound {
        /// What was asked for, as a statement.
        wanted: String,
    },
    /// Nothing in the trash is called so.
    #[error("nothing in the trash is called {reference}")]
    TrashNotFound {
        /// What was asked for.
        reference: String,
    },
    /// No conversation is called so.
    #[error("there is no conversation {conversation} in {place}")]
    ConversationNotFound {
        /// What was asked for.
        conversation: String,
        /// The folder or folders that were searched.
        place: String,
    },
    /// A file was changed by somebody else in the meantime.
    #[error("{what} was changed in the meantime")]
    Conflict {
        /// The memory or file.
        what: String,
    },
    /// Another process holds the lock.
    #[error("another process has been writing to {home} for {seconds} s")]
    Locked {
        /// The home folder.
        home: String,
        /// How long we waited.
        seconds: u64,
    },
    /// A daemon is running already.
    #[error("a daemon is looking after {home} already{}", pid.map_or_else(String::new, |pid| format!(" (process {pid})")))]
    DaemonRunning {
        /// The home folder.
        home: String,
        /// Its process, if that can be told.
        pid: Option<u32>,
    },
    /// A value is not what it should be.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The request asks for something that cannot be.
    #[error("{why}")]
    Invalid {
        /// What, and why not.
        why: String,
    },
    /// The text names no time.
    #[error("the text names no time")]
    NoTime,
    /// The time that is named has passed.
    #[error("that time is over: {}", at.format("%Y-%m-%d %H:%M %:z"))]
    Over {
        /// The time, in the zone in which it is meant.
        at: DateTime<FixedOffset>,
    },
    /// The text holds a credential.
    #[error("the text holds what looks like {}", kinds.join(" and "))]
    Secret {
        /// The kinds of credentials found.
        kinds: Vec<&'static str>,
    },
    /// There is no embedding model.
    #[error("no embedding model is configured")]
    NoModel,
    /// The embedding model gave no vectors.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// A file cannot be read as what it should be, or must not be changed.
    #[error("{0}")]
    Damaged(Problem),
    /// A path leaves the home, by name or by symlink.
    #[error("{path} leads out of the home folder")]
    Outside {
        /// The path.
        path: String,
    },
    /// An agent would keep something where it does not see it.
    #[error("{scope} is out of this agent's reach")]
    ScopeRefused {
        /// The scope.
        scope: Scope,
    },
    /// The disk, the index or the system refused.
    #[error("cannot {action}")]
    Backend {
        /// What was tried, to what.
        action: String,
        /// [`Code::Io`], [`Code::DiskFull`] or [`Code::Internal`].
        code: Code,
        /// Why it failed.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A database refused, or did not answer.
    #[error("{what}")]
    Database {
        /// What it did, as a statement. Nothing of its address.
        what: String,
        /// [`Code::DatabaseUnreachable`], [`Code::DatabaseTimeout`], or what says it better.
        code: Code,
        /// What to do about it.
        hint: &'static str,
        /// What it said.
        source: Option<Box<dyn Error + Send + Sync>>,
    },
}

impl StoreError {
    /// Returns the permanent name.
    pub fn code(&self) -> Code {
        match self {
            Self::NotFound { .. } => Code::MemoryNotFound,
            Self::Ambiguous { .. } => Code::MemoryAmbiguous,
            Self::OperationNotFound { .. } => Code::OperationNotFound,
            Self::TrashNotFound { .. } => Code::TrashNotFound,
            Self::ConversationNotFound { .. } => Code::ConversationNotFound,
            Self::Conflict { .. } => Code::Conflict,
            Self::Locked { .. } => Code::Locked,
            Self::DaemonRunning { .. } => Code::DaemonRunning,
            Self::Parse(_) | Self::Invalid { .. } | Self::NoTime | Self::Over { .. } => Code::InvalidInput,
            Self::Secret { .. } => Code::SecretFound,
            Self::Damaged(problem) => problem.code,
            Self::Outside { .. } => Code::PathRefused,
            Self::ScopeRefused { .. } => Code::ScopeRefused,
            Self::NoModel => Code::ConfigInvalid,
            Self::Embed(_) => Code::ModelFailed,
            Self::Backend { code, .. } | Self::Database { code, .. } => *code,
        }
    }

    /// Returns what to do about it, if there is something to be said.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { .. } => Some("`memory list` shows what there is; an id may be shortened to 4 digits".into()),
            Self::Ambiguous { .. } => Some("give more digits of the id".into()),
            Self::OperationNotFound { .. } => Some("`memory log` shows the operations".into()),
            Self::TrashNotFound { .. } => Some("`memory trash list` shows what is there".into()),
            Self::ConversationNotFound { .. } => {
                Some("`memory conversations` lists them; --memory-path names another folder".into())
            }
            Self::Conflict { .. } => Some("read it again and repeat the change".into()),
            Self::Locked { .. } => Some("try again in a moment".into()),
            Self::DaemonRunning { .. } => Some("`memory status` says what it does; SIGTERM ends it".into()),
            Self::NoTime => Some("name one, as in \"call Anna tomorrow at 3pm\" or 明天下午三点, or give it with --at".into()),
            Self::Over { .. } => Some("name a time that is still to come".into()),
            Self::Secret { .. } => Some("leave it out, or keep it with --allow-secret".into()),
            Self::NoModel => Some(
                "name the folder of a sentence-transformer as embedding.model in config.yaml; `memory embed --help` says more"
                    .into(),
            ),
            Self::Embed(error) => error.hint.clone(),
            Self::Damaged(problem) => problem.hint.map(str::to_owned),
            Self::Outside { .. } => Some("files and folders of the home must lie in it, not behind a symlink".into()),
            Self::ScopeRefused { .. } => Some(
                "an agent reaches global, agent:<its name> and project:<its project>; it is told its name with --agent NAME"
                    .into(),
            ),
            Self::Backend { code: Code::DiskFull, .. } => Some("free some space and repeat; nothing was changed".into()),
            Self::Database { hint, .. } => Some((*hint).into()),
            Self::Parse(_) | Self::Invalid { .. } | Self::Backend { .. } => None,
        }
    }
}

/// What is wrong with one file. The file is left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// [`Code::FileDamaged`] or [`Code::FileTooLarge`].
    pub code: Code,
    /// The file.
    pub path: String,
    /// The line, counted from 1, if it can be told.
    pub line: Option<usize>,
    /// What is wrong, as a statement.
    pub what: String,
    /// What to do about it.
    pub hint: Option<&'static str>,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "{}:{line}: {}", self.path, self.what),
            None => write!(formatter, "{}: {}", self.path, self.what),
        }
    }
}
