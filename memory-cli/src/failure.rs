//! The error type of the library and of commands.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use memory_core::bank::{BankError, BankErrorKind, BankName, BankScope, Key};
use memory_core::instance::InstanceError;
use memory_core::topic::TopicError;
use memory_core::{
    Code, IngestError, LogError, NotifyError, ParseError, SourceError, StoreError, ToolError,
    io_hint,
};

use crate::config::ConfigError;

/// The error of this library.
///
/// Its source is the cause, such as a [`StoreError`] or an [`io::Error`].
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ProgramError(#[from] Failure);

impl ProgramError {
    /// Returns the permanent code of the error, such as `CONFLICT`.
    pub fn code(&self) -> &'static str {
        self.0.code()
    }

    /// Returns the suggested next step, if there is one.
    pub fn hint(&self) -> Option<String> {
        self.0.hint()
    }
}

impl From<ProgramError> for Failure {
    fn from(error: ProgramError) -> Self {
        error.0
    }
}

/// The error of a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The memories could not be read or changed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A bank could not be read or changed.
    #[error(transparent)]
    Bank(BankError),
    /// A command on banks failed for a reason outside the banks.
    #[error("{failure}")]
    InScope {
        /// The scope of the command.
        scope: BankScope,
        /// The error.
        failure: Box<Failure>,
    },
    /// An instance could not be created, read or changed.
    #[error(transparent)]
    Instance(InstanceError),
    /// A tool call failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A topic could not be read or changed.
    #[error(transparent)]
    Topic(TopicError),
    /// The rest of a partially printed result could not be read.
    #[error("the output is incomplete")]
    BrokenOff {
        /// The cause.
        source: ToolError,
    },
    /// A source of notes could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The settings are invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The arguments are invalid.
    #[error("{why}")]
    Usage {
        /// The problem with the arguments.
        why: String,
        /// The suggested arguments.
        hint: Option<String>,
    },
    /// A file or stream could not be used.
    #[error("cannot {action}")]
    File {
        /// The attempted operation and its object.
        action: String,
        /// The cause.
        source: io::Error,
    },
    /// A folder of conversations does not exist.
    #[error("cannot read the conversations in {}", folder.display())]
    NoConversations {
        /// The folder.
        folder: PathBuf,
        /// An error of kind `NotFound`.
        source: io::Error,
    },
    /// A server could not listen.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The flag for another address.
        hint: Option<String>,
        /// The cause.
        source: io::Error,
    },
    /// Standard output could not be written.
    #[error("cannot write to the standard output")]
    Output(#[from] io::Error),
    /// The editor failed.
    #[error("the editor {command:?} {why}")]
    Editor {
        /// The command line of the editor.
        command: String,
        /// The predicate of the error message.
        why: String,
        /// File with the edited text, if it exists.
        draft: Option<PathBuf>,
    },
    /// An edited text could not be stored.
    #[error("cannot save the edited text")]
    Draft {
        /// File with the edited text.
        draft: PathBuf,
        /// The cause.
        source: StoreError,
    },
    /// Some parts of a command failed, and each failure was reported before.
    #[error("{why}")]
    Reported {
        /// What failed.
        why: String,
        /// The suggested next step.
        hint: &'static str,
        /// The error code.
        code: Code,
    },
    /// A filter failed; the error was already printed in the format of jq.
    #[error("the filter failed")]
    Filter {
        /// The exit code of jq for this error.
        code: u8,
    },
    /// Some memories could not be read; each was reported as a warning.
    #[error("{count} {} could not be read", if *count == 1 { "memory" } else { "memories" })]
    Unreadable {
        /// Number of these memories.
        count: u64,
    },
    /// A command of the tour failed.
    #[error("the tour stopped: `{command}` failed")]
    Tour {
        /// The command.
        command: String,
    },
    /// Reminders could not be shown.
    #[error("{count} {} not shown", if *count == 1 { "reminder was" } else { "reminders were" })]
    NotShown {
        /// Number of these reminders.
        count: u64,
        /// The cause for the first of them.
        source: NotifyError,
    },
    /// A client's configuration file has an entry of another program under our key.
    #[error("{place}: {key} {}: {content}", if key.contains('.') { "belongs to another program" } else { "has another value" })]
    Taken {
        /// The file and line.
        place: String,
        /// The key, in dotted form.
        key: String,
        /// The command or address in the entry, without credentials.
        content: String,
    },
    /// A file for a plugin exists, and another program wrote or changed it.
    #[error("{path} exists and was not written by `memory plugin`, or was changed since")]
    ForeignFile {
        /// The path of the file.
        path: String,
    },
    /// The service manager of the system failed.
    #[error("cannot {action}: {why}")]
    ServiceManager {
        /// The attempted operation.
        action: String,
        /// The output of the service manager.
        why: String,
    },
}

impl Failure {
    /// Returns a function that creates an error for the failed operation `action`.
    pub(crate) fn file(action: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let action = action.into();
        move |source| Self::File { action, source }
    }

    /// Fails if the number of failures that were reported before is not 0.
    pub(crate) fn unless_none(
        count: u64,
        why: String,
        hint: &'static str,
        code: Code,
    ) -> Result<(), Self> {
        if count == 0 {
            Ok(())
        } else {
            Err(Self::Reported { why, hint, code })
        }
    }

    /// Fails if some of several parts of a command failed: calls, chores or clients. `first` is the code of the first failure.
    pub(crate) fn unless_all_done(
        part: &str,
        count: u64,
        total: u64,
        first: Code,
    ) -> Result<(), Self> {
        let why = if total == 1 {
            format!("the {part} failed")
        } else {
            format!("{count} of {total} {part}s failed")
        };
        let hint = if count < total {
            "all others succeeded; see the reported errors"
        } else {
            "see the reported errors"
        };
        Self::unless_none(count, why, hint, first)
    }

    /// Creates an error for invalid arguments.
    pub(crate) fn usage(why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage {
            why: why.into(),
            hint: Some(hint.into()),
        }
    }

    /// Adds the bank and the key to a bank error.
    pub(crate) fn with_bank(self, bank: &BankName, key: Option<&Key>) -> Self {
        match self {
            Self::Bank(error) => {
                let error = error.with_bank(bank.as_str(), None);
                Self::Bank(if let Some(key) = key {
                    error.with_key(key.as_str())
                } else {
                    error
                })
            }
            other => other,
        }
    }

    /// Adds the scope of a command on banks.
    pub(crate) fn with_scope(self, scope: BankScope) -> Self {
        match self {
            Self::Bank(error) => Self::Bank(error.with_scope(scope)),
            other => Self::InScope {
                scope,
                failure: Box::new(other),
            },
        }
    }

    /// Returns the permanent error code.
    pub(crate) fn code(&self) -> &'static str {
        if matches!(self, Self::Usage { .. }) {
            "USAGE"
        } else {
            self.core_code().as_str()
        }
    }

    /// Returns the code of the error in the core.
    pub(crate) fn core_code(&self) -> Code {
        match self {
            Self::Store(error) | Self::Draft { source: error, .. } => error.code(),
            Self::Bank(error) => error.code(),
            Self::InScope { failure, .. } => failure.core_code(),
            Self::Instance(error) => error.code(),
            Self::Topic(error) => error.code(),
            Self::Tool(error) | Self::BrokenOff { source: error } => error.code,
            Self::Source(error) => error.code(),
            Self::Config(ConfigError::Unreadable { .. })
            | Self::Editor { .. }
            | Self::ServiceManager { .. } => Code::Io,
            Self::Config(ConfigError::Foreign(_)) => Code::PathRefused,
            Self::Config(_) => Code::ConfigInvalid,
            Self::Usage { .. } => Code::InvalidInput,
            Self::Filter { .. } => Code::FilterError,
            Self::File { source, .. } | Self::Listen { source, .. } | Self::Output(source) => {
                match source.kind() {
                    io::ErrorKind::NotFound => Code::PathNotFound,
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Code::DiskFull,
                    _ => Code::Io,
                }
            }
            Self::NotShown { .. } => Code::NotifyFailed,
            Self::NoConversations { .. } => Code::PathNotFound,
            Self::Taken { .. } | Self::ForeignFile { .. } => Code::Conflict,
            Self::Reported { code, .. } => *code,
            Self::Tour { .. } => Code::Internal,
            Self::Unreadable { .. } => Code::FileDamaged,
        }
    }

    /// Returns the suggested next step, if there is one.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.hint(),
            Self::Bank(error) => error.hint(),
            Self::InScope { failure, .. } => failure.hint(),
            Self::Instance(error) => error.hint(),
            Self::Topic(error) => error.hint(),
            Self::Tool(error) | Self::BrokenOff { source: error } => error.hint.clone(),
            Self::Source(error) => error.hint(),
            Self::Config(error) => error.hint(),
            Self::Usage { hint, .. } | Self::Listen { hint, .. } => hint.clone(),
            Self::Editor { draft: Some(draft), .. } => Some(format!("the text is in {}", draft.display())),
            Self::Draft { draft, source } => Some(draft_hint(draft, source)),
            Self::Reported { hint, .. } => Some((*hint).into()),
            Self::Unreadable { .. } => Some("all other memories were exported; run `memory doctor` for details".into()),
            Self::NoConversations { .. } => {
                Some("specify the folder that `memory proxy` or `memory conversations add` used as --memory-path".into())
            }
            Self::ForeignFile { .. } => {
                Some("nothing was written; move the file away, or choose another folder with --output".into())
            }
            Self::Taken { key, .. } if !key.contains('.') => Some("nothing was written; use --replace to replace it".into()),
            Self::Taken { .. } => Some(
                "nothing was written; use --replace to replace that entry, or --name NAME to add an entry with another name"
                    .into(),
            ),
            Self::NotShown { .. } => {
                Some("the next `memory notify` tries again; notification.method: file works without a desktop".into())
            }
            Self::ServiceManager { .. } => {
                Some("see `journalctl --user -u memory`; without a service manager, start `memory daemon run` when you log in".into())
            }
            Self::Output(_) => Some("the operation may have completed; check before you repeat a change".into()),
            Self::File { source, .. } => io_hint(source).map(str::to_owned),
            Self::Filter { .. } | Self::Editor { draft: None, .. } | Self::Tour { .. } => None,
        }
    }

    /// Returns whether the printed JSON result already contains this error.
    pub(crate) fn is_in_output(&self) -> bool {
        matches!(self, Self::Reported { .. } | Self::NotShown { .. })
    }

    /// Returns whether the error was already printed.
    pub(crate) fn is_printed(&self) -> bool {
        matches!(self, Self::Filter { .. })
    }

    /// Returns whether the reader of standard output has closed it, such as `head`.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(source) if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<BankError> for Failure {
    fn from(error: BankError) -> Self {
        match error {
            // Without a bank this is a plain store error.
            BankError {
                bank: None,
                scope: None,
                trouble: BankErrorKind::Store(error),
                ..
            } => Self::Store(*error),
            error => Self::Bank(error),
        }
    }
}

impl From<InstanceError> for Failure {
    fn from(error: InstanceError) -> Self {
        match error {
            InstanceError::Store(error) => Self::Store(*error),
            error => Self::Instance(error),
        }
    }
}

impl From<IngestError> for Failure {
    fn from(error: IngestError) -> Self {
        match error {
            IngestError::Store(error) => error.into(),
            IngestError::Sessions(error) => error.into(),
        }
    }
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        match error {
            LogError::Bank(error) => error.into(),
            LogError::Instance(error) => error.into(),
            LogError::Topic(error) => error.into(),
        }
    }
}

impl From<TopicError> for Failure {
    fn from(error: TopicError) -> Self {
        match error {
            TopicError::Store(error) => Self::Store(*error),
            error => Self::Topic(error),
        }
    }
}

impl From<ParseError> for Failure {
    fn from(error: ParseError) -> Self {
        Self::Store(error.into())
    }
}

fn draft_hint(draft: &Path, source: &StoreError) -> String {
    let draft = draft.display();
    match source {
        StoreError::Conflict { .. } => {
            format!("your text is in {draft}; read the memory again and merge the two texts")
        }
        StoreError::Secret { .. } => {
            format!("your text is in {draft}; use --allow-secret to save it unchanged")
        }
        _ => format!("your text is in {draft}"),
    }
}
