//! Returns the value of a key.

use super::{Value, ValueKey, Values};
use crate::instance::InstanceError;

/// Returns the value of a key.
///
/// # Errors
/// [`InstanceError::KeyNotFound`], or an error of the store.
pub fn get(values: &Values, key: &ValueKey) -> Result<Value, InstanceError> {
    values.store.get(key)?.ok_or_else(|| InstanceError::no_key(key))
}
