//! The numbers with which the program ends.

use memory_core::Fault;

/// The number with which the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// What was asked for is done.
    Done,
    /// It failed.
    Failed,
    /// It cannot be asked for.
    Usage,
    /// Something that was named is not there.
    NotFound,
    /// Somebody else was faster.
    Conflict,
    /// Data on disk is not as it should be.
    Damaged,
    /// What a filter asks for, as jq ends.
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
