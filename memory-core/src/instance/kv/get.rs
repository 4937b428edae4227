//! Returns the value of a key.

use super::{KeyValues, StoredValue, ValueKey};
use crate::instance::InstanceError;

/// Returns the value of a key.
///
/// # Errors
/// [`InstanceError::KeyNotFound`], or an error of the store.
pub fn get(values: &KeyValues, key: &ValueKey) -> Result<StoredValue, InstanceError> {
    values.store.get(key)?.ok_or_else(|| InstanceError::key_not_found(key))
}
