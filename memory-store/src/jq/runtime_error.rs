//! The runtime errors of a filter, with the messages of jq.

use super::value::Val;
use super::write::excerpt;

/// A runtime error, as `try … catch` sees it: any value.
pub(crate) type JqRuntimeError = jaq_core::Error<Val>;

/// The result of an operation that may fail.
pub(crate) type JqEvalResult<T = Val> = Result<T, JqRuntimeError>;

pub(crate) fn fault(message: impl Into<String>) -> JqRuntimeError {
    JqRuntimeError::new(Val::str(message))
}

/// Returns an error such as `string ("a") cannot be negated`.
pub(crate) fn unfit(value: &Val, why: &str) -> JqRuntimeError {
    fault(format!("{} {why}", described(value)))
}

/// Returns an error such as `null (null) and number (1) cannot be added`.
pub(crate) fn unfit_pair(left: &Val, right: &Val, why: &str) -> JqRuntimeError {
    fault(format!("{} and {} {why}", described(left), described(right)))
}

pub(crate) fn cannot_index(value: &Val, key: &Val) -> JqRuntimeError {
    fault(format!("Cannot index {} with {}", value.kind(), described(key)))
}

pub(crate) fn cannot_iterate(value: &Val) -> JqRuntimeError {
    fault(format!("Cannot iterate over {}", described(value)))
}

/// Returns the type and an excerpt of a value, such as `string ("a")`.
pub(crate) fn described(value: &Val) -> String {
    format!("{} ({})", value.kind(), excerpt(value))
}
