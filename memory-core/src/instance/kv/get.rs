//! Getting a value.

use super::{Value, ValueKey, Values};
use crate::instance::InstanceError;

/// Returns the value of a key.
///
/// # Errors
/// [`InstanceError::KeyNotFound`]; or when the store refuses.
pub fn get(values: &Values, key: &ValueKey) -> Result<Value, InstanceError> {
    values.store.get(key)?.ok_or_else(|| InstanceError::no_key(key))
}
