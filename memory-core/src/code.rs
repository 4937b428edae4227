//! The permanent names of everything that can go wrong.

use std::fmt;

/// The permanent name of something that can go wrong. Programs may rely on it; it never changes its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Code {
    /// No memory is called so.
    MemoryNotFound,
    /// More than one memory is called so.
    MemoryAmbiguous,
    /// No operation is called so, or there is nothing to take back.
    OperationNotFound,
    /// Nothing in the trash is called so.
    TrashNotFound,
    /// No file or folder is there.
    PathNotFound,
    /// A file was changed by somebody else in the meantime.
    Conflict,
    /// Another process holds the lock.
    Locked,
    /// A daemon is running already.
    DaemonRunning,
    /// A value is not what it should be.
    InvalidInput,
    /// The text holds a credential.
    SecretFound,
    /// A file cannot be read as what it should be.
    FileDamaged,
    /// A file is larger than we read.
    FileTooLarge,
    /// A path leaves the home, by name or by symlink.
    PathRefused,
    /// A scope is not one that the agent sees.
    ScopeRefused,
    /// The configuration cannot be used.
    ConfigInvalid,
    /// A check found something wrong.
    CheckFailed,
    /// A model did not answer, or not as it should.
    ModelFailed,
    /// A model, or who offers it, refuses to answer.
    ModelRefused,
    /// A model did not answer in time.
    ModelTimeout,
    /// A model's answer is not what was asked for, or breaks off.
    ModelUnreadable,
    /// What asking a model may cost on one day is spent.
    BudgetExhausted,
    /// A message could not be shown.
    NotifyFailed,
    /// No tool is called so.
    ToolNotFound,
    /// A call of a tool was not done.
    CallFailed,
    /// A hook refused a call.
    CallBlocked,
    /// A hook broke down, or did not answer in time.
    HookFailed,
    /// No bank is called so.
    BankNotFound,
    /// A bank has no such key.
    KeyNotFound,
    /// An entry of a bank has expired.
    TtlExpired,
    /// A key is there already.
    KeyExists,
    /// That is no name of a bank.
    InvalidBankName,
    /// That is no key.
    InvalidKey,
    /// That is no JSON.
    InvalidJson,
    /// A value, a bank or the number of keys is beyond its limit.
    LimitExceeded,
    /// A folder, file or database must not be written.
    PermissionDenied,
    /// A jq filter is none, or failed.
    FilterError,
    /// A jq filter took too long.
    FilterTimeout,
    /// A jq filter needed more memory than it may have.
    FilterMemory,
    /// That is no JSON Schema.
    InvalidSchema,
    /// A value does not fit the schema of its bank.
    SchemaViolation,
    /// No type of instances is called so.
    BackendNotFound,
    /// No instance is called so.
    InstanceNotFound,
    /// A type of instances has no such action.
    ActionNotFound,
    /// An instance has no such session.
    SessionNotFound,
    /// No conversation is called so.
    ConversationNotFound,
    /// A credential cannot be opened: the key is another, or what is sealed was changed.
    SealBroken,
    /// A request does not say what whoever asks must know.
    Unauthorized,
    /// Whoever asks is not served here.
    Forbidden,
    /// Nothing is served at that path.
    RouteNotFound,
    /// What is served at that path is not asked for so.
    MethodRefused,
    /// A request did not come to its end in time.
    RequestTimeout,
    /// A database cannot be reached, or takes nobody in.
    DatabaseUnreachable,
    /// A database did not do it in time.
    DatabaseTimeout,
    /// The disk is full.
    DiskFull,
    /// The disk or the system refused.
    Io,
    /// A fault of ours.
    Internal,
}

/// Whose fault it is, and so what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The request asks for something that cannot be: change the request.
    Caller,
    /// What was asked for is not there.
    Missing,
    /// Somebody else was faster: read again and repeat.
    Conflict,
    /// Data on disk is not as it should be: look at the file.
    Damaged,
    /// The machine refused: free disk, permissions, another process.
    Machine,
}

impl Code {
    /// All codes.
    pub const ALL: [Self; 56] = [
        Self::MemoryNotFound,
        Self::MemoryAmbiguous,
        Self::OperationNotFound,
        Self::TrashNotFound,
        Self::PathNotFound,
        Self::Conflict,
        Self::Locked,
        Self::DaemonRunning,
        Self::InvalidInput,
        Self::SecretFound,
        Self::FileDamaged,
        Self::FileTooLarge,
        Self::PathRefused,
        Self::ScopeRefused,
        Self::ConfigInvalid,
        Self::CheckFailed,
        Self::ModelFailed,
        Self::ModelRefused,
        Self::ModelTimeout,
        Self::ModelUnreadable,
        Self::BudgetExhausted,
        Self::NotifyFailed,
        Self::ToolNotFound,
        Self::CallFailed,
        Self::CallBlocked,
        Self::HookFailed,
        Self::BankNotFound,
        Self::KeyNotFound,
        Self::TtlExpired,
        Self::KeyExists,
        Self::InvalidBankName,
        Self::InvalidKey,
        Self::InvalidJson,
        Self::LimitExceeded,
        Self::PermissionDenied,
        Self::FilterError,
        Self::FilterTimeout,
        Self::FilterMemory,
        Self::InvalidSchema,
        Self::SchemaViolation,
        Self::BackendNotFound,
        Self::InstanceNotFound,
        Self::ActionNotFound,
        Self::SessionNotFound,
        Self::ConversationNotFound,
        Self::SealBroken,
        Self::Unauthorized,
        Self::Forbidden,
        Self::RouteNotFound,
        Self::MethodRefused,
        Self::RequestTimeout,
        Self::DatabaseUnreachable,
        Self::DatabaseTimeout,
        Self::DiskFull,
        Self::Io,
        Self::Internal,
    ];

    /// Returns the name as programs see it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MemoryNotFound => "MEMORY_NOT_FOUND",
            Self::MemoryAmbiguous => "MEMORY_AMBIGUOUS",
            Self::OperationNotFound => "OPERATION_NOT_FOUND",
            Self::TrashNotFound => "TRASH_NOT_FOUND",
            Self::PathNotFound => "PATH_NOT_FOUND",
            Self::Conflict => "CONFLICT",
            Self::Locked => "LOCKED",
            Self::DaemonRunning => "DAEMON_RUNNING",
            Self::InvalidInput => "INVALID_INPUT",
            Self::SecretFound => "SECRET_FOUND",
            Self::FileDamaged => "FILE_DAMAGED",
            Self::FileTooLarge => "FILE_TOO_LARGE",
            Self::PathRefused => "PATH_REFUSED",
            Self::ScopeRefused => "SCOPE_REFUSED",
            Self::ConfigInvalid => "CONFIG_INVALID",
            Self::CheckFailed => "CHECK_FAILED",
            Self::ModelFailed => "MODEL_FAILED",
            Self::ModelRefused => "MODEL_REFUSED",
            Self::ModelTimeout => "MODEL_TIMEOUT",
            Self::ModelUnreadable => "MODEL_UNREADABLE",
            Self::BudgetExhausted => "BUDGET_EXHAUSTED",
            Self::NotifyFailed => "NOTIFY_FAILED",
            Self::ToolNotFound => "TOOL_NOT_FOUND",
            Self::CallFailed => "CALL_FAILED",
            Self::CallBlocked => "CALL_BLOCKED",
            Self::HookFailed => "HOOK_FAILED",
            Self::BankNotFound => "BANK_NOT_FOUND",
            Self::KeyNotFound => "KEY_NOT_FOUND",
            Self::TtlExpired => "TTL_EXPIRED",
            Self::KeyExists => "KEY_EXISTS",
            Self::InvalidBankName => "INVALID_BANK_NAME",
            Self::InvalidKey => "INVALID_KEY",
            Self::InvalidJson => "INVALID_JSON",
            Self::LimitExceeded => "LIMIT_EXCEEDED",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::FilterError => "FILTER_ERROR",
            Self::FilterTimeout => "FILTER_TIMEOUT",
            Self::FilterMemory => "FILTER_MEMORY",
            Self::InvalidSchema => "INVALID_SCHEMA",
            Self::SchemaViolation => "SCHEMA_VIOLATION",
            Self::BackendNotFound => "BACKEND_NOT_FOUND",
            Self::InstanceNotFound => "INSTANCE_NOT_FOUND",
            Self::ActionNotFound => "ACTION_NOT_FOUND",
            Self::SessionNotFound => "SESSION_NOT_FOUND",
            Self::ConversationNotFound => "CONVERSATION_NOT_FOUND",
            Self::SealBroken => "SEAL_BROKEN",
            Self::Unauthorized => "UNAUTHORIZED",
            Self::Forbidden => "FORBIDDEN",
            Self::RouteNotFound => "ROUTE_NOT_FOUND",
            Self::MethodRefused => "METHOD_REFUSED",
            Self::RequestTimeout => "REQUEST_TIMEOUT",
            Self::DatabaseUnreachable => "DATABASE_UNREACHABLE",
            Self::DatabaseTimeout => "DATABASE_TIMEOUT",
            Self::DiskFull => "DISK_FULL",
            Self::Io => "IO",
            Self::Internal => "INTERNAL",
        }
    }

    /// Tells whose fault it is.
    pub const fn fault(self) -> Fault {
        match self {
            Self::MemoryNotFound
            | Self::OperationNotFound
            | Self::TrashNotFound
            | Self::PathNotFound
            | Self::ToolNotFound
            | Self::BankNotFound
            | Self::KeyNotFound
            | Self::TtlExpired
            | Self::BackendNotFound
            | Self::InstanceNotFound
            | Self::ActionNotFound
            | Self::SessionNotFound
            | Self::ConversationNotFound
            | Self::RouteNotFound => Fault::Missing,
            Self::Conflict | Self::DaemonRunning | Self::KeyExists => Fault::Conflict,
            Self::MemoryAmbiguous
            | Self::InvalidInput
            | Self::SecretFound
            | Self::PathRefused
            | Self::ScopeRefused
            | Self::ConfigInvalid
            | Self::CallBlocked
            | Self::InvalidBankName
            | Self::InvalidKey
            | Self::InvalidJson
            | Self::LimitExceeded
            | Self::FilterError
            | Self::InvalidSchema
            | Self::SchemaViolation
            | Self::Unauthorized
            | Self::Forbidden
            | Self::MethodRefused
            | Self::RequestTimeout => Fault::Caller,
            Self::FileDamaged | Self::FileTooLarge | Self::CheckFailed | Self::SealBroken => Fault::Damaged,
            Self::ModelFailed
            | Self::ModelRefused
            | Self::ModelTimeout
            | Self::ModelUnreadable
            | Self::BudgetExhausted
            | Self::NotifyFailed
            | Self::CallFailed
            | Self::HookFailed
            | Self::Locked
            | Self::PermissionDenied
            | Self::FilterTimeout
            | Self::FilterMemory
            | Self::DatabaseUnreachable
            | Self::DatabaseTimeout
            | Self::DiskFull
            | Self::Io
            | Self::Internal => Fault::Machine,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_permanent() {
        let names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(
            names.join(" "),
            "MEMORY_NOT_FOUND MEMORY_AMBIGUOUS OPERATION_NOT_FOUND TRASH_NOT_FOUND PATH_NOT_FOUND CONFLICT LOCKED DAEMON_RUNNING \
             INVALID_INPUT SECRET_FOUND FILE_DAMAGED FILE_TOO_LARGE PATH_REFUSED SCOPE_REFUSED CONFIG_INVALID CHECK_FAILED MODEL_FAILED MODEL_REFUSED \
             MODEL_TIMEOUT MODEL_UNREADABLE BUDGET_EXHAUSTED NOTIFY_FAILED TOOL_NOT_FOUND CALL_FAILED CALL_BLOCKED HOOK_FAILED \
             BANK_NOT_FOUND KEY_NOT_FOUND TTL_EXPIRED KEY_EXISTS INVALID_BANK_NAME INVALID_KEY INVALID_JSON LIMIT_EXCEEDED PERMISSION_DENIED \
             FILTER_ERROR FILTER_TIMEOUT FILTER_MEMORY INVALID_SCHEMA SCHEMA_VIOLATION BACKEND_NOT_FOUND INSTANCE_NOT_FOUND ACTION_NOT_FOUND SESSION_NOT_FOUND CONVERSATION_NOT_FOUND SEAL_BROKEN \
             UNAUTHORIZED FORBIDDEN ROUTE_NOT_FOUND METHOD_REFUSED REQUEST_TIMEOUT DATABASE_UNREACHABLE DATABASE_TIMEOUT \
             DISK_FULL IO INTERNAL"
        );
    }
}
