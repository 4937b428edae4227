//! Lists keys.

use super::{KeyPrefix, KeySummary, KeyValues};
use crate::instance::InstanceError;

/// Returns the keys that start with `prefix`, sorted.
///
/// # Errors
/// An error of the store.
pub fn list(values: &KeyValues, prefix: &KeyPrefix) -> Result<Vec<KeySummary>, InstanceError> {
    values.store.list(prefix)
}
