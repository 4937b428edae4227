//! Lists keys.

use super::{KeySummary, Prefix, Values};
use crate::instance::InstanceError;

/// Returns the keys that start with `prefix`, sorted.
///
/// # Errors
/// An error of the store.
pub fn list(values: &Values, prefix: &Prefix) -> Result<Vec<KeySummary>, InstanceError> {
    values.store.list(prefix)
}
