//! The numbers with which the program ends.

use memory_core::Fault;

/// The number with which the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitCode {
    /// What was asked for is done.
    Done = 0,
    /// It failed.
    Failed = 1,
    /// It cannot be asked for.
    Usage = 2,
    /// Something that was named is not there.
    NotFound = 3,
    /// Somebody else was faster.
    Conflict = 4,
    /// Data on disk is not as it should be.
    Damaged = 5,
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
        Self::from(code as u8)
    }
}
