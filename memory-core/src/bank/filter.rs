//! What banks need of others: jq, and JSON Schema.

use std::fmt::Debug;
use std::time::Duration;

use crate::json::JsonText;

/// Runs jq filters, within bounds of time and memory.
pub trait JsonFilter: Debug + Send + Sync {
    /// Runs `filter` on `input`, a JSON text, and returns what it puts out, in order.
    ///
    /// # Errors
    /// As [`FilterTrouble`] says; then nothing of what it put out counts.
    fn run(&self, filter: &str, input: &str) -> Result<Vec<JsonText>, FilterTrouble>;

    /// As [`JsonFilter::run`], and stopped after `time` if that is less than a filter may take.
    ///
    /// # Errors
    /// As [`JsonFilter::run`].
    fn run_within(&self, filter: &str, input: &str, time: Duration) -> Result<Vec<JsonText>, FilterTrouble>;
}

/// Why a filter gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilterTrouble {
    /// It is no filter, or it failed on this input.
    #[error("{message}")]
    Failed {
        /// jq's own message.
        message: String,
    },
    /// It took too long.
    #[error("the filter was stopped after {seconds} s")]
    Timeout {
        /// How long it may take.
        seconds: u64,
    },
    /// It needed too much memory, or put out too much.
    #[error("the filter needs more memory than the {megabytes} MB it may have")]
    TooLarge {
        /// How much it may have.
        megabytes: u64,
    },
    /// It could not be run at all.
    #[error("the filter could not be run: {why}")]
    NotRun {
        /// Why.
        why: String,
    },
}

/// Checks values against JSON Schemas.
pub trait SchemaCheck: Debug + Send + Sync {
    /// Tells what is wrong with `schema` as a schema.
    ///
    /// # Errors
    /// What is wrong, as a statement.
    fn check_schema(&self, schema: &JsonText) -> Result<(), String>;

    /// Tells what of `value` does not fit `schema`.
    ///
    /// # Errors
    /// What does not fit, as a statement that names the place.
    fn check(&self, schema: &JsonText, value: &JsonText) -> Result<(), String>;
}
