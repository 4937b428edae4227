//! Exit codes of the program.

use memory_core::Fault;

use crate::failure::Failure;

/// The exit code of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// Success.
    Done,
    /// The operation failed.
    Failed,
    /// The arguments or the input are invalid.
    Usage,
    /// A named object does not exist.
    NotFound,
    /// Another process changed the object first.
    Conflict,
    /// Data on disk is damaged.
    Damaged,
    /// The exit code of a filter, as jq defines it.
    Asked(u8),
}

impl From<Fault> for ExitCode {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Caller => Self::Usage,
            Fault::Missing => Self::NotFound,
            Fault::Conflict => Self::Conflict,
            Fault::Damaged => Self::Damaged,
            Fault::Machine => Self::Failed,
        }
    }
}

impl From<&Failure> for ExitCode {
    fn from(failure: &Failure) -> Self {
        match failure {
            Failure::Filter { code } => Self::Asked(*code),
            failure => failure.core_code().fault().into(),
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(match code {
            ExitCode::Done => 0,
            ExitCode::Failed => 1,
            ExitCode::Usage => 2,
            ExitCode::NotFound => 3,
            ExitCode::Conflict => 4,
            ExitCode::Damaged => 5,
            ExitCode::Asked(number) => number,
        })
    }
}
