//! The permanent codes of errors.

use strum::{EnumCount, IntoStaticStr, VariantArray};

/// The permanent code of an error. Programs may rely on it, and its meaning never changes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, EnumCount, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
pub enum Code {
    /// No memory matches the reference.
    MemoryNotFound,
    /// More than one memory matches the reference.
    MemoryAmbiguous,
    /// The operation does not exist, or nothing is left to undo.
    OperationNotFound,
    /// Nothing in the trash matches the reference.
    TrashNotFound,
    /// The file or folder does not exist.
    PathNotFound,
    /// Another process changed the file concurrently.
    Conflict,
    /// Another process holds the lock.
    Locked,
    /// A daemon is already running.
    DaemonRunning,
    /// A newer version of the program has written the folder, which this version can only read.
    NewerFormat,
    /// The clock of the machine is before 1970 or after 9999.
    WrongClock,
    /// A value is invalid.
    InvalidInput,
    /// The text contains a credential.
    SecretFound,
    /// A file is malformed.
    FileDamaged,
    /// A file exceeds the size limit for reading.
    FileTooLarge,
    /// A path leads out of the home, by name or by symlink, or a folder belongs to another user.
    PathRefused,
    /// A scope is outside the scopes that the agent may access.
    ScopeRefused,
    /// An agent proposed what a person had rejected.
    ProposalRejected,
    /// The configuration is invalid.
    ConfigInvalid,
    /// A check found a problem.
    CheckFailed,
    /// The model did not respond, or its response is invalid.
    ModelFailed,
    /// The model or its provider refused the request.
    ModelRefused,
    /// The model exceeded the timeout.
    ModelTimeout,
    /// The response of the model is malformed or truncated.
    ModelUnreadable,
    /// The day's budget for the model is exhausted.
    BudgetExhausted,
    /// A notification could not be shown.
    NotifyFailed,
    /// The tool does not exist.
    ToolNotFound,
    /// A tool call failed.
    CallFailed,
    /// A hook refused a tool call.
    CallBlocked,
    /// A hook failed or exceeded the timeout.
    HookFailed,
    /// The bank does not exist.
    BankNotFound,
    /// The bank has no such key.
    KeyNotFound,
    /// The entry of a bank has expired.
    TtlExpired,
    /// The key already exists.
    KeyExists,
    /// The bank name is invalid.
    InvalidBankName,
    /// The key is invalid.
    InvalidKey,
    /// The text is not JSON.
    InvalidJson,
    /// A value, a bank or the number of keys exceeds its limit.
    LimitExceeded,
    /// The folder, file or database is not writable.
    PermissionDenied,
    /// The jq filter is invalid or failed.
    FilterError,
    /// The jq filter exceeded the timeout.
    FilterTimeout,
    /// The jq filter exceeded the memory limit.
    FilterMemory,
    /// The value is not a JSON Schema.
    InvalidSchema,
    /// The value does not match the schema of its bank.
    SchemaViolation,
    /// The instance type does not exist.
    BackendNotFound,
    /// The instance does not exist.
    InstanceNotFound,
    /// The instance type has no such action.
    ActionNotFound,
    /// The instance has no such session.
    SessionNotFound,
    /// The conversation does not exist.
    ConversationNotFound,
    /// A credential cannot be decrypted: the key differs, or the sealed value was modified.
    SealBroken,
    /// The request has no valid credentials.
    Unauthorized,
    /// The client is not allowed to make the request.
    Forbidden,
    /// The path has no route.
    RouteNotFound,
    /// The route does not support the HTTP method.
    MethodRefused,
    /// The request did not complete in time.
    RequestTimeout,
    /// As much work of this kind is in progress as the limits allow.
    Overloaded,
    /// The database is unreachable or refuses the connection.
    DatabaseUnreachable,
    /// The database exceeded the timeout.
    DatabaseTimeout,
    /// The disk is full.
    DiskFull,
    /// The disk or the operating system refused.
    Io,
    /// A defect of this program.
    Internal,
}

/// The party at fault, which determines the remedy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The request is invalid: change the request.
    Caller,
    /// The requested object does not exist.
    Missing,
    /// Another writer was faster: read again and repeat.
    Conflict,
    /// Data on disk is damaged: inspect the file.
    Damaged,
    /// The machine refused: check disk space, permissions and other processes.
    Machine,
}

impl Code {
    /// All codes.
    pub const ALL: [Self; Self::COUNT] = *Self::VARIANTS
        .first_chunk()
        .expect("the derived list has all variants");

    /// Returns the name that programs see.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the party at fault.
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
            | Self::ProposalRejected
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
            Self::FileDamaged | Self::FileTooLarge | Self::CheckFailed | Self::SealBroken => {
                Fault::Damaged
            }
            Self::ModelFailed
            | Self::ModelRefused
            | Self::ModelTimeout
            | Self::ModelUnreadable
            | Self::BudgetExhausted
            | Self::NotifyFailed
            | Self::CallFailed
            | Self::HookFailed
            | Self::Locked
            | Self::NewerFormat
            | Self::WrongClock
            | Self::PermissionDenied
            | Self::FilterTimeout
            | Self::FilterMemory
            | Self::Overloaded
            | Self::DatabaseUnreachable
            | Self::DatabaseTimeout
            | Self::DiskFull
            | Self::Io
            | Self::Internal => Fault::Machine,
        }
    }
}

impl_display!(Code);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_permanent() {
        let names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(
            names.join(" "),
            "MEMORY_NOT_FOUND MEMORY_AMBIGUOUS OPERATION_NOT_FOUND TRASH_NOT_FOUND PATH_NOT_FOUND CONFLICT LOCKED DAEMON_RUNNING \
             NEWER_FORMAT WRONG_CLOCK INVALID_INPUT SECRET_FOUND FILE_DAMAGED FILE_TOO_LARGE PATH_REFUSED SCOPE_REFUSED PROPOSAL_REJECTED CONFIG_INVALID CHECK_FAILED MODEL_FAILED MODEL_REFUSED \
             MODEL_TIMEOUT MODEL_UNREADABLE BUDGET_EXHAUSTED NOTIFY_FAILED TOOL_NOT_FOUND CALL_FAILED CALL_BLOCKED HOOK_FAILED \
             BANK_NOT_FOUND KEY_NOT_FOUND TTL_EXPIRED KEY_EXISTS INVALID_BANK_NAME INVALID_KEY INVALID_JSON LIMIT_EXCEEDED PERMISSION_DENIED \
             FILTER_ERROR FILTER_TIMEOUT FILTER_MEMORY INVALID_SCHEMA SCHEMA_VIOLATION BACKEND_NOT_FOUND INSTANCE_NOT_FOUND ACTION_NOT_FOUND SESSION_NOT_FOUND CONVERSATION_NOT_FOUND SEAL_BROKEN \
             UNAUTHORIZED FORBIDDEN ROUTE_NOT_FOUND METHOD_REFUSED REQUEST_TIMEOUT OVERLOADED DATABASE_UNREACHABLE DATABASE_TIMEOUT \
             DISK_FULL IO INTERNAL"
        );
    }
}
