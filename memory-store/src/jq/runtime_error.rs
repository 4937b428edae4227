//! The runtime errors of a filter, with the messages of jq.

use super::value::Val;
use super::write::excerpt;

/// A runtime error, as `try … catch` sees it: any value.
pub(crate) type JqRuntimeError = jaq_core::Error<Val>;

/// The result of an operation that may fail.
pub(crate) type JqEvalResult<T = Val> = Result<T, JqRuntimeError>;

pub(crate) fn runtime_error(message: impl Into<String>) -> JqRuntimeError {
    JqRuntimeError::new(Val::str(message))
}

/// Returns an error such as `string ("a") cannot be negated`.
pub(crate) fn type_error(value: &Val, why: &str) -> JqRuntimeError {
    runtime_error(format!("{} {why}", describe(value)))
}

/// Returns an error such as `null (null) and number (1) cannot be added`.
pub(crate) fn pair_error(left: &Val, right: &Val, why: &str) -> JqRuntimeError {
    runtime_error(format!("{} and {} {why}", describe(left), describe(right)))
}

pub(crate) fn cannot_index(value: &Val, key: &Val) -> JqRuntimeError {
    runtime_error(format!("Cannot index {} with {}", value.kind(), describe(key)))
}

pub(crate) fn cannot_iterate(value: &Val) -> JqRuntimeError {
    runtime_error(format!("Cannot iterate over {}", describe(value)))
}

/// Returns the type and an excerpt of a value, such as `string ("a")`.
pub(crate) fn describe(value: &Val) -> String {
    format!("{} ({})", value.kind(), excerpt(value))
}
