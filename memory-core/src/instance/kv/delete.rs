//! Removing a key.

use super::{ValueKey, Values};
use crate::instance::InstanceError;

/// Removes a key.
///
/// # Errors
/// [`InstanceError::KeyNotFound`]; or when the store refuses.
pub fn delete(values: &Values, key: &ValueKey) -> Result<(), InstanceError> {
    if values.store.delete(key, &values.operation())? { Ok(()) } else { Err(InstanceError::no_key(key)) }
}
