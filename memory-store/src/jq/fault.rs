//! What goes wrong in a filter, in jq's words.

use super::value::Val;
use super::write::excerpt;

/// An error as `try … catch` sees it: any value.
pub(crate) type Fault = jaq_core::Error<Val>;

/// What may go wrong.
pub(crate) type Attempt<T = Val> = Result<T, Fault>;

pub(crate) fn fault(message: impl Into<String>) -> Fault {
    Fault::new(Val::str(message))
}

/// `string ("a") cannot be negated`
pub(crate) fn unfit(value: &Val, why: &str) -> Fault {
    fault(format!("{} {why}", described(value)))
}

/// `null (null) and number (1) cannot be added`
pub(crate) fn unfit_pair(left: &Val, right: &Val, why: &str) -> Fault {
    fault(format!("{} and {} {why}", described(left), described(right)))
}

pub(crate) fn cannot_index(value: &Val, key: &Val) -> Fault {
    fault(format!("Cannot index {} with {}", value.kind(), described(key)))
}

pub(crate) fn cannot_iterate(value: &Val) -> Fault {
    fault(format!("Cannot iterate over {}", described(value)))
}

/// `string ("a")`
pub(crate) fn described(value: &Val) -> String {
    format!("{} ({})", value.kind(), excerpt(value))
}
