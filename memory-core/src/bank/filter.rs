//! The interfaces to jq and JSON Schema.

use std::fmt::Debug;
use std::time::Duration;

use crate::json::JsonText;

/// A jq interpreter with limits on time and memory.
pub trait JsonFilter: Debug + Send + Sync {
    /// Runs `filter` on `input`, a JSON text, and returns its outputs in order.
    ///
    /// # Errors
    /// Any [`JsonFilterError`]; the outputs before the failure are discarded.
    fn run(&self, filter: &str, input: &str) -> Result<Vec<JsonText>, JsonFilterError>;

    /// Runs `filter` like [`JsonFilter::run`], with a timeout of at most `time`, also for a turn among other filters.
    ///
    /// A shorter timeout of the implementation still applies.
    ///
    /// # Errors
    /// As [`JsonFilter::run`].
    fn run_with_timeout(
        &self,
        filter: &str,
        input: &str,
        time: Duration,
    ) -> Result<Vec<JsonText>, JsonFilterError>;
}

/// The reason why a filter returned no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonFilterError {
    /// The filter is not valid, or it failed on this input.
    #[error("{message}")]
    Failed {
        /// The error message of jq.
        message: String,
    },
    /// The filter exceeded the timeout.
    #[error("the filter exceeded the timeout of {seconds} s")]
    Timeout {
        /// The timeout in seconds.
        seconds: u64,
    },
    /// The filter exceeded the limit on memory or on the size of its output.
    #[error("the filter exceeded the memory limit of {megabytes} MB")]
    TooLarge {
        /// The limit in megabytes.
        megabytes: u64,
    },
    /// Other filters run, and the filter got no turn in time.
    #[error("{running} filters run, which is the maximum, and none ended within {seconds} s")]
    Busy {
        /// The number of filters that may run at the same time.
        running: usize,
        /// The time for which the filter waited, in seconds.
        seconds: u64,
    },
    /// The filter could not be started.
    #[error("the filter could not be started: {why}")]
    NotRun {
        /// The reason.
        why: String,
    },
}

/// A validator of values against JSON Schemas.
pub trait SchemaValidator: Debug + Send + Sync {
    /// Checks whether `schema` is a valid JSON Schema.
    ///
    /// # Errors
    /// The defect, as a statement.
    fn check_schema(&self, schema: &JsonText) -> Result<(), String>;

    /// Checks whether `value` satisfies `schema`.
    ///
    /// # Errors
    /// The violation, as a statement that names its location.
    fn check(&self, schema: &JsonText, value: &JsonText) -> Result<(), String>;
}
