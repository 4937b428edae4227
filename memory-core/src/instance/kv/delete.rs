//! Deletes a key.

use super::{KeyValues, ValueKey};
use crate::Verb;
use crate::instance::InstanceError;

/// Deletes a key.
///
/// # Errors
/// [`InstanceError::KeyNotFound`], or an error of the store.
pub fn delete(values: &KeyValues, key: &ValueKey) -> Result<(), InstanceError> {
    if values.store.delete(key, &values.operation(Verb::Delete))? { Ok(()) } else { Err(InstanceError::key_not_found(key)) }
}
