//! What keys there are.

use super::{KeySummary, Prefix, Values};
use crate::instance::InstanceError;

/// Returns the keys that begin with `prefix`, sorted.
///
/// # Errors
/// When the store refuses.
pub fn list(values: &Values, prefix: &Prefix) -> Result<Vec<KeySummary>, InstanceError> {
    values.store.list(prefix)
}
