//! The request to run a filter, and its limits.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The input values of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JqInputMode {
    /// Each value of the input.
    #[default]
    Each,
    /// One `null`; `input` and `inputs` read the input.
    Null,
}

/// The output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum JqOutputFormat {
    /// Compact: `jq -c`.
    #[default]
    Compact,
    /// Indented by two spaces: `jq`.
    Pretty,
    /// Strings without quotes, other values compact: `jq -c -r`.
    Raw,
    /// Strings without quotes, other values indented: `jq -r`.
    RawPretty,
}

/// A request to run a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JqRequest<'q> {
    /// The program.
    pub filter: &'q str,
    /// Concatenated JSON values.
    pub input: &'q str,
    /// The input values of the filter.
    pub on: JqInputMode,
    /// The output format.
    pub form: JqOutputFormat,
}

/// The limits of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JqLimits {
    /// The time limit.
    pub time: Duration,
    /// The memory limit in bytes, including the stack. It also limits the total length of the outputs.
    pub memory: u64,
}

impl Default for JqLimits {
    /// Returns 5 s and 512 MiB, which suffice for any single-pass filter on a bank of 10 MB.
    fn default() -> Self {
        Self { time: Duration::from_secs(5), memory: 512 << 20 }
    }
}

/// The command that starts a process that calls [`serve_child`](super::serve_child).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JqChildCommand {
    /// The program, usually the current executable.
    pub program: PathBuf,
    /// The arguments that make the program serve a request.
    pub arguments: Vec<OsString>,
}
