//! What a filter is asked, and what it may cost.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// What a filter runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum On {
    /// On each value of the input.
    #[default]
    Each,
    /// Once, on `null`; its `input` and `inputs` read the input.
    Null,
}

/// How outputs are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// On one line: `jq -c`.
    #[default]
    Compact,
    /// Indented by two spaces: `jq`.
    Pretty,
    /// Strings as they are, all else on one line: `jq -c -r`.
    Raw,
    /// Strings as they are, all else indented: `jq -r`.
    RawPretty,
}

/// A filter, what it runs on, and how its outputs are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question<'q> {
    /// The program.
    pub filter: &'q str,
    /// JSON, one value after the other.
    pub input: &'q str,
    /// What it runs on.
    pub on: On,
    /// How the outputs are printed.
    pub form: Form,
}

/// What a filter may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// How long it may take.
    pub time: Duration,
    /// How many bytes of memory it may need, stack and all. Its outputs together are not longer than that either.
    pub memory: u64,
}

impl Default for Bounds {
    /// 5 s and 512 MiB, in which any filter of one pass has room for a bank of 10 MB.
    fn default() -> Self {
        Self { time: Duration::from_secs(5), memory: 512 << 20 }
    }
}

/// How a process is started that calls [`serve_child`](super::serve_child).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helper {
    /// The program: ourselves, as a rule.
    pub program: PathBuf,
    /// What tells it to serve.
    pub arguments: Vec<OsString>,
}
