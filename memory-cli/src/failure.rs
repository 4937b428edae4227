//! Why a command could not do what it was asked to.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use memory_core::bank::{BankError, BankName, BankScope, Key, Trouble};
use memory_core::instance::InstanceError;
use memory_core::topic::TopicError;
use memory_core::{Code, LogError, NotifyError, ParseError, SourceError, StoreError, ToolError};

use crate::config::ConfigError;
use crate::exit_code::ExitCode;

/// Why a command could not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The memories could not be read or changed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A bank could not be read or changed.
    #[error(transparent)]
    Bank(BankError),
    /// A command on banks failed outside of a bank.
    #[error("{failure}")]
    InScope {
        /// The scope in which the command works.
        scope: BankScope,
        /// Why it failed.
        failure: Box<Failure>,
    },
    /// An instance could not be made, read or changed.
    #[error(transparent)]
    Instance(InstanceError),
    /// An action was not done.
    #[error(transparent)]
    Tool(#[from] ToolError),
    /// A topic could not be read or changed.
    #[error(transparent)]
    Topic(TopicError),
    /// An answer of which some was printed already cannot be read to its end.
    #[error("the answer breaks off")]
    BrokenOff {
        /// Why.
        source: ToolError,
    },
    /// A place to take notes in from cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The settings cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// What was typed cannot be meant so.
    #[error("{why}")]
    Usage {
        /// What is wrong with it.
        why: String,
        /// What to type instead.
        hint: Option<String>,
    },
    /// A file or stream could not be used.
    #[error("cannot {action}")]
    File {
        /// What was tried, to what.
        action: String,
        /// Why it failed.
        source: io::Error,
    },
    /// A folder of conversations that was named is not there.
    #[error("cannot read the conversations in {}", folder.display())]
    NoConversations {
        /// The folder.
        folder: PathBuf,
        /// That it is not there.
        source: io::Error,
    },
    /// A server cannot listen.
    #[error("cannot listen on {address}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Which flag names another address.
        hint: Option<String>,
        /// Why.
        source: io::Error,
    },
    /// The answer could not be written to the standard output.
    #[error("cannot write to the standard output")]
    Output(#[from] io::Error),
    /// The editor did not end well.
    #[error("the editor {command:?} {why}")]
    Editor {
        /// The editor.
        command: String,
        /// What it did.
        why: String,
        /// The text as it was left.
        draft: Option<PathBuf>,
    },
    /// A text was edited and could not be kept.
    #[error("the edited text was not kept")]
    Draft {
        /// Where the text is now.
        draft: PathBuf,
        /// Why.
        source: StoreError,
    },
    /// A check found something wrong; the report that was printed says what.
    #[error("{count} {} wrong", if *count == 1 { "thing is" } else { "things are" })]
    CheckFailed {
        /// How many findings were not repaired.
        count: u64,
        /// Whether that was tried.
        tried: bool,
    },
    /// Something is wrong with banks; the report that was printed says what.
    #[error("{count} {} wrong with the banks", if *count == 1 { "thing is" } else { "things are" })]
    BanksDamaged {
        /// How many findings were not repaired.
        count: u64,
        /// Whether that was tried.
        tried: bool,
    },
    /// A filter failed, which was told as jq tells it.
    #[error("the filter failed")]
    Filter {
        /// The code with which jq ends.
        code: u8,
    },
    /// Some memories could not be read; each was named already.
    #[error("{count} {} could not be read", if *count == 1 { "memory" } else { "memories" })]
    Unreadable {
        /// How many.
        count: u64,
    },
    /// A command of the tour did not do what the tour was to show.
    #[error("the tour cannot go on: `{command}` failed")]
    Tour {
        /// The command.
        command: String,
    },
    /// Reminders could not be shown.
    #[error("{count} {} not shown", if *count == 1 { "reminder was" } else { "reminders were" })]
    NotShown {
        /// How many.
        count: u64,
        /// Why the first was not.
        source: NotifyError,
    },
    /// Some chores failed; the report that was printed says why.
    #[error("{count} {} failed", if *count == 1 { "chore has" } else { "chores have" })]
    Undone {
        /// How many.
        count: u64,
        /// Why the first one did.
        code: Code,
    },
    /// The place of our entry in a client's file is another program's.
    #[error("{place}: {key} is another program's")]
    Taken {
        /// The file and line.
        place: String,
        /// The key, with dots.
        key: String,
    },
    /// Some lines of the standard input were not understood; the answer to each says why.
    #[error("{count} {} not understood", if *count == 1 { "line was" } else { "lines were" })]
    NotUnderstood {
        /// How many.
        count: u64,
    },
    /// Some calls of tools were not done; the answer to each says why.
    #[error("{count} {} failed", if *count == 1 { "call" } else { "calls" })]
    CallsFailed {
        /// How many.
        count: u64,
    },
    /// Some lines of an export were not taken; the report that was printed says which.
    #[error("{count} {} not taken", if *count == 1 { "line was" } else { "lines were" })]
    NotTaken {
        /// How many.
        count: u64,
    },
}

impl Failure {
    /// Says that `action` failed because the system refused.
    pub(crate) fn file(action: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let action = action.into();
        move |source| Self::File { action, source }
    }

    /// Says that what was typed cannot be meant so.
    pub(crate) fn usage(why: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { why: why.into(), hint: Some(hint.into()) }
    }

    /// Says which bank and key it is about.
    pub(crate) fn in_bank(self, bank: &BankName, key: Option<&Key>) -> Self {
        match self {
            Self::Bank(error) => {
                let error = error.about(bank.as_str(), None);
                Self::Bank(if let Some(key) = key { error.of_key(key) } else { error })
            }
            other => other,
        }
    }

    /// Adds the scope in which a command on banks works.
    pub(crate) fn in_scope(self, scope: BankScope) -> Self {
        match self {
            Self::Bank(error) => Self::Bank(error.in_scope(scope)),
            other => Self::InScope { scope, failure: Box::new(other) },
        }
    }

    /// Returns the permanent name.
    pub(crate) fn code(&self) -> &'static str {
        if matches!(self, Self::Usage { .. }) { "USAGE" } else { self.core_code().as_str() }
    }

    fn core_code(&self) -> Code {
        match self {
            Self::Store(error) | Self::Draft { source: error, .. } => error.code(),
            Self::Bank(error) => error.code(),
            Self::InScope { failure, .. } => failure.core_code(),
            Self::Instance(error) => error.code(),
            Self::Topic(error) => error.code(),
            Self::Tool(error) | Self::BrokenOff { source: error } => error.code,
            Self::Source(error) => error.code(),
            Self::Config(_) => Code::ConfigInvalid,
            Self::Usage { .. } | Self::NotUnderstood { .. } => Code::InvalidInput,
            Self::Filter { .. } => Code::FilterError,
            Self::CallsFailed { .. } => Code::CallFailed,
            Self::File { source, .. } | Self::Listen { source, .. } | Self::Output(source) => match source.kind() {
                io::ErrorKind::NotFound => Code::PathNotFound,
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Code::DiskFull,
                _ => Code::Io,
            },
            Self::Editor { .. } => Code::Io,
            Self::NotShown { .. } => Code::NotifyFailed,
            Self::NoConversations { .. } => Code::PathNotFound,
            Self::Taken { .. } => Code::Conflict,
            Self::Undone { code, .. } => *code,
            Self::Tour { .. } => Code::Internal,
            Self::CheckFailed { .. } | Self::BanksDamaged { .. } => Code::CheckFailed,
            Self::Unreadable { .. } | Self::NotTaken { .. } => Code::FileDamaged,
        }
    }

    /// Returns what to do next, if there is something to be said.
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
            Self::Draft { draft, source } => Some(kept_at(draft, source)),
            Self::CheckFailed { tried: false, .. } => Some("`memory doctor --fix` repairs what can be repaired".into()),
            Self::Unreadable { .. } => Some("all others were written; `memory doctor` says more".into()),
            Self::NoConversations { .. } => {
                Some("name the folder that `memory proxy` or `memory add` was given with --memory-path".into())
            }
            Self::Undone { .. } | Self::CallsFailed { .. } => {
                Some("all others were done; the answers to these say what is wrong".into())
            }
            Self::Taken { .. } => Some("nothing was written; give that entry another name, or remove it, and repeat".into()),
            Self::NotTaken { .. } => Some("all others were kept; mend these lines and import them again".into()),
            Self::BanksDamaged { tried: false, .. } => {
                Some("`memory bank repair` keeps what can be read, and sets the rest aside".into())
            }
            Self::CheckFailed { tried: true, .. } | Self::BanksDamaged { tried: true, .. } => {
                Some("what is left must be mended by hand".into())
            }
            Self::NotShown { .. } => {
                Some("the next `memory notify` tries again; notification.method: file needs no desktop".into())
            }
            Self::NotUnderstood { .. } => Some("all others were answered; the answers to these say what is wrong".into()),
            Self::Output(_) => {
                Some("what was asked for may have been done all the same; look before you ask for a change again".into())
            }
            Self::File { .. } | Self::Filter { .. } | Self::Editor { draft: None, .. } | Self::Tour { .. } => None,
        }
    }

    /// Returns the number with which the program ends.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Filter { code } => ExitCode::Asked(*code),
            _ => self.core_code().fault().into(),
        }
    }

    /// Tells whether the answer that was printed as JSON says it already.
    pub(crate) fn is_in_the_answer(&self) -> bool {
        matches!(
            self,
            Self::CheckFailed { .. }
                | Self::BanksDamaged { .. }
                | Self::Undone { .. }
                | Self::NotTaken { .. }
                | Self::NotUnderstood { .. }
                | Self::CallsFailed { .. }
                | Self::NotShown { .. }
        )
    }

    /// Tells whether all was told already.
    pub(crate) fn is_told(&self) -> bool {
        matches!(self, Self::Filter { .. })
    }

    /// Tells whether nobody wants to read the answer any more, as when it is piped into `head`.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(source) if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<BankError> for Failure {
    fn from(error: BankError) -> Self {
        match error {
            // About no bank: as with notes.
            BankError { bank: None, scope: None, trouble: Trouble::Store(error), .. } => Self::Store(*error),
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

fn kept_at(draft: &Path, source: &StoreError) -> String {
    let draft = draft.display();
    match source {
        StoreError::Conflict { .. } => format!("your text is in {draft}; read the memory again and put the two together"),
        StoreError::Secret { .. } => format!("your text is in {draft}; keep it as it is with --allow-secret"),
        _ => format!("your text is in {draft}"),
    }
}
