//! The errors of storing and reading memories.

use std::error::Error;
use std::fmt;
use std::io;

use chrono::{DateTime, FixedOffset};

use crate::text::to_one_line;
use crate::{Code, EmbedError, MemoryId, ParseError, Scope};

/// A process that holds a lock. It is displayed as `process 1234 (git)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockHolder {
    /// The id of the process.
    pub pid: u32,
    /// The name of its program, if the system reports it.
    pub program: Option<String>,
}

impl LockHolder {
    /// Creates the holder with the name that the system reports for its program.
    pub fn new(pid: u32, program: &str) -> Self {
        let program = to_one_line(program.trim_end(), MAX_PROGRAM);
        Self {
            pid,
            program: Some(program).filter(|program| !program.is_empty()),
        }
    }

    /// Returns the next step of a user who waited for a lock of this holder, or of an unknown one.
    pub fn hint(holder: Option<&Self>) -> String {
        match holder {
            Some(holder) => format!(
                "try again when process {} has finished; end it if it hangs",
                holder.pid
            ),
            None => "try again when the other process has finished; end it if it hangs".into(),
        }
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "process {}", self.pid)?;
        match &self.program {
            Some(program) => write!(formatter, " ({program})"),
            None => Ok(()),
        }
    }
}

/// Maximum length of the name of a program, in characters.
const MAX_PROGRAM: usize = 40;

fn name_holder(holder: Option<&LockHolder>) -> String {
    holder.map_or_else(|| "another process".to_owned(), LockHolder::to_string)
}

/// The error that an operation on memories failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No memory matches the reference.
    #[error("no memory matches {reference}")]
    NotFound {
        /// The reference.
        reference: String,
    },
    /// More than one memory matches the reference.
    #[error("{reference} matches at least {} memories: {}", candidates.len(), candidates.join(", "))]
    Ambiguous {
        /// The reference.
        reference: String,
        /// Some of the matching memories.
        candidates: Vec<String>,
    },
    /// The operation does not exist, or nothing is left to undo.
    #[error("{wanted}")]
    OperationNotFound {
        /// The failed request, as a statement.
        wanted: String,
    },
    /// Nothing in the trash matches the reference.
    #[error("{} {reference}", if earlier.is_some() { "the trash has only an earlier version of" } else { "nothing in the trash matches" })]
    TrashNotFound {
        /// The reference.
        reference: String,
        /// The path in the trash of an earlier version of a memory that exists.
        earlier: Option<String>,
    },
    /// The conversation does not exist.
    #[error("there is no conversation {conversation} in {place}")]
    ConversationNotFound {
        /// The requested conversation.
        conversation: String,
        /// The folder or folders that were searched.
        place: String,
    },
    /// Another process changed the file concurrently.
    #[error("{what} was changed in the meantime")]
    Conflict {
        /// The memory or file.
        what: String,
    },
    /// Another process holds the lock.
    #[error("the lock of {home} was not free within {seconds} s: {} holds it", name_holder(holder.as_ref()))]
    Locked {
        /// The home folder, or the file or folder in it.
        home: String,
        /// The duration of the wait in seconds.
        seconds: u64,
        /// The process that holds the lock, if the system reports it.
        holder: Option<LockHolder>,
    },
    /// A daemon is already running.
    #[error("a daemon is already running for {home}{}", pid.map_or_else(String::new, |pid| format!(" (process {pid})")))]
    DaemonRunning {
        /// The home folder.
        home: String,
        /// The id of its process, if available.
        pid: Option<u32>,
    },
    /// A newer version of the program has written the folder, in a format that this version cannot change.
    #[error("{folder} has format {version} of {program}, which this version cannot change")]
    NewerFormat {
        /// The folder.
        folder: String,
        /// The version of the format, as JSON.
        version: String,
        /// The name and version of the program that wrote it.
        program: String,
    },
    /// The clock of the machine is wrong: before 1970, after 9999, or far from that of the database.
    #[error("{why}, so {folder} is not changed")]
    WrongClock {
        /// The reason, as a sentence.
        why: String,
        /// The folder.
        folder: String,
    },
    /// A folder belongs to another user, or others can change it.
    #[error("{folder} {why}")]
    Foreign {
        /// The file or folder.
        folder: String,
        /// The reason, as the predicate of a sentence.
        why: String,
    },
    /// A value is invalid.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The request is invalid.
    #[error("{why}")]
    Invalid {
        /// The invalid part and the reason.
        why: String,
    },
    /// The text names no time.
    #[error("the text contains no time")]
    NoTime,
    /// The time that the text names is past.
    #[error("the time is in the past: {}", at.format("%Y-%m-%d %H:%M %:z"))]
    Over {
        /// The time, in the zone of the request.
        at: DateTime<FixedOffset>,
    },
    /// The text contains a credential.
    #[error("the text seems to contain a credential ({})", kinds.join(", "))]
    Secret {
        /// The kinds of credentials found.
        kinds: Vec<&'static str>,
    },
    /// No embedding model is configured.
    #[error("no embedding model is configured")]
    NoModel,
    /// The embedding model returned no vectors.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// A file is malformed, or must not be changed.
    #[error("{0}")]
    Damaged(Problem),
    /// A path leads out of the home, by name or by symlink.
    #[error("{path} leads out of the home folder")]
    Outside {
        /// The path.
        path: String,
    },
    /// An agent tried to store a memory in a scope that it may not access.
    #[error("this agent may not access {scope}")]
    ScopeRefused {
        /// The scope.
        scope: Scope,
        /// The scopes that a principal may access; an empty list for an agent.
        allowed: Vec<Scope>,
    },
    /// An agent proposed what a person had rejected.
    #[error("the user rejected this proposal before")]
    ProposalRejected,
    /// The memory that a proposal changes has changed since.
    #[error("{path} has changed since it was proposed to change it")]
    StaleProposal {
        /// The proposal.
        proposal: MemoryId,
        /// The path of the memory.
        path: String,
    },
    /// The memory that a proposal changes was deleted.
    #[error("the memory {target} that the proposal changes was deleted")]
    TargetDeleted {
        /// The proposal.
        proposal: MemoryId,
        /// The memory.
        target: MemoryId,
    },
    /// The disk, the index or the operating system refused.
    #[error("cannot {action}")]
    Backend {
        /// The failed action and its object.
        action: String,
        /// [`Code::Io`], [`Code::DiskFull`] or [`Code::Internal`].
        code: Code,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A database refused or did not respond.
    #[error("{what}")]
    Database {
        /// The failed action, as a statement, without the database address.
        what: String,
        /// [`Code::DatabaseUnreachable`], [`Code::DatabaseTimeout`], or a more specific code.
        code: Code,
        /// Advice for the user.
        hint: &'static str,
        /// The error of the database.
        source: Option<Box<dyn Error + Send + Sync>>,
    },
}

impl StoreError {
    /// Returns the permanent code of the error.
    pub fn code(&self) -> Code {
        match self {
            Self::NotFound { .. } | Self::TargetDeleted { .. } => Code::MemoryNotFound,
            Self::Ambiguous { .. } => Code::MemoryAmbiguous,
            Self::OperationNotFound { .. } => Code::OperationNotFound,
            Self::TrashNotFound { .. } => Code::TrashNotFound,
            Self::ConversationNotFound { .. } => Code::ConversationNotFound,
            Self::Conflict { .. } | Self::StaleProposal { .. } => Code::Conflict,
            Self::Locked { .. } => Code::Locked,
            Self::DaemonRunning { .. } => Code::DaemonRunning,
            Self::NewerFormat { .. } => Code::NewerFormat,
            Self::WrongClock { .. } => Code::WrongClock,
            Self::Parse(_) | Self::Invalid { .. } | Self::NoTime | Self::Over { .. } => {
                Code::InvalidInput
            }
            Self::Secret { .. } => Code::SecretFound,
            Self::Damaged(problem) => problem.code,
            Self::Outside { .. } | Self::Foreign { .. } => Code::PathRefused,
            Self::ScopeRefused { .. } => Code::ScopeRefused,
            Self::ProposalRejected => Code::ProposalRejected,
            Self::NoModel => Code::ConfigInvalid,
            Self::Embed(_) => Code::ModelFailed,
            Self::Backend { code, .. } | Self::Database { code, .. } => *code,
        }
    }

    /// Returns advice for the user, if there is any.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotFound { .. } => Some("`memory list` lists the memories; an id may be shortened to 4 digits".into()),
            Self::Ambiguous { .. } => Some("use more digits of the id".into()),
            Self::OperationNotFound { .. } => Some("`memory log` lists the operations".into()),
            Self::TrashNotFound {
                earlier: Some(path), ..
            } => Some(format!("`memory restore {path}` brings that version back")),
            Self::TrashNotFound { .. } => Some("`memory trash list` lists the files in the trash".into()),
            Self::ConversationNotFound { .. } => {
                Some("`memory conversations` lists the conversations; --memory-path selects another folder".into())
            }
            Self::Conflict { .. } => Some("read it again and repeat the change; `memory log ID` lists the later changes, which are undone first".into()),
            Self::Locked { holder, .. } => Some(LockHolder::hint(holder.as_ref())),
            Self::DaemonRunning { .. } => Some("`memory status` shows its state; SIGTERM stops it".into()),
            Self::NewerFormat { .. } => Some("update this program; until then it can only read the folder".into()),
            Self::WrongClock { .. } => Some("set the clock of this machine".into()),
            Self::Foreign { folder, .. } => Some(format!(
                "take away the rights of others (`chmod go-w`), or, if you trust them, add {folder} to MEMORY_TRUSTED_FOLDERS"
            )),
            Self::NoTime => Some("add a time, as in \"call Anna tomorrow at 3pm\" or 明天下午三点, or use --at".into()),
            Self::Over { .. } => Some("use a time in the future".into()),
            Self::Secret { .. } => Some("remove it, or store it anyway with --allow-secret".into()),
            Self::NoModel => Some(
                "run `memory model use built-in`, or see `memory embed --help` for other models".into(),
            ),
            Self::Embed(error) => error.hint.clone(),
            Self::Damaged(problem) => problem.hint.map(str::to_owned),
            Self::Outside { .. } => Some("files and folders of the home must be inside it, not behind a symlink".into()),
            Self::ScopeRefused { allowed, .. } if !allowed.is_empty() => {
                let names: Vec<_> = allowed.iter().map(Scope::to_string).collect();
                Some(format!("the principal may access {}", names.join(", ")))
            }
            Self::ScopeRefused { .. } => {
                Some("an agent may access global, agent:<its name> and project:<its project>; --agent NAME sets its name".into())
            }
            Self::ProposalRejected => Some("nothing was stored; do not propose it again unless the user asks for it".into()),
            Self::StaleProposal { proposal, .. } => {
                let id = proposal.short();
                Some(format!(
                    "`memory inbox edit {id}` adapts it to the current text; `memory inbox accept {id} --overwrite` replaces that text"
                ))
            }
            Self::TargetDeleted { proposal, .. } => Some(format!(
                "`memory inbox reject {}` rejects the proposal; `memory restore` restores the memory",
                proposal.short()
            )),
            Self::Backend { code: Code::DiskFull, .. } => Some("free some space and repeat; nothing was changed".into()),
            Self::Database { hint, .. } => Some((*hint).into()),
            Self::Backend { source, .. } => source.downcast_ref().and_then(io_hint).map(str::to_owned),
            Self::Parse(_) | Self::Invalid { .. } => None,
        }
    }
}

/// Returns advice for an error of the system about a file, if there is any.
pub fn io_hint(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::Unsupported if UnsupportedDrive::is_cause_of(error) => Some(
            "use a folder on a local drive; --root or MEMORY_ROOT names the folder of the memories",
        ),
        io::ErrorKind::PermissionDenied => {
            Some("check the owner and the permissions of the file and of its folder")
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            Some("the file system is read-only; use another folder, or mount it for writing")
        }
        _ => None,
    }
}

/// The drive of a folder lacks a call without which changes would be unsafe.
#[derive(Debug, thiserror::Error)]
#[error("the drive of this folder does not support {what}")]
pub struct UnsupportedDrive {
    what: &'static str,
    source: io::Error,
}

impl UnsupportedDrive {
    /// Returns the error of a call for `what`, which failed with `source`.
    pub fn error(what: &'static str, source: io::Error) -> io::Error {
        io::Error::new(io::ErrorKind::Unsupported, Self { what, source })
    }

    /// Returns whether an error has this reason.
    pub fn is_cause_of(error: &io::Error) -> bool {
        matches!(error.get_ref(), Some(inner) if inner.is::<Self>())
    }
}

/// A defect of one file. The file is not modified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// [`Code::FileDamaged`] or [`Code::FileTooLarge`].
    pub code: Code,
    /// The file.
    pub path: String,
    /// The line, counted from 1, if available.
    pub line: Option<usize>,
    /// The defect, as a statement.
    pub what: String,
    /// Advice for the user.
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
