//! The key-value use cases and their dependencies.

use std::sync::Arc;

use super::{KeyPrefix, KeySummary, KeyValueStore, StoredValue, ValueKey};
use crate::instance::{self, InstanceError, InstanceRecord, InstanceUndoReport};
use crate::secret::Checked;
use crate::{Clock, IdSource, Operation, SecretPolicy, StoreError, Verb};

/// The values of one instance, with the clock and the id source of its operations.
#[derive(Debug, Clone)]
pub struct KeyValues {
    /// The storage of the values.
    pub store: Arc<dyn KeyValueStore>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Generates operation ids.
    pub ids: Arc<dyn IdSource>,
}

impl KeyValues {
    pub(super) fn operation(&self, verb: Verb) -> Operation {
        Operation::new(verb, "", self.clock.as_ref(), self.ids.as_ref())
    }
}

/// Returns the value of a key.
///
/// # Errors
/// [`InstanceError::KeyNotFound`], or an error of the store.
pub fn get(values: &KeyValues, key: &ValueKey) -> Result<StoredValue, InstanceError> {
    values.store.get(key)?.ok_or_else(|| key_not_found(key))
}

/// Maximum size of a value in bytes.
pub const MAX_VALUE: usize = 8 * 1024 * 1024;

/// Sets the value of a key, and returns whether the key is new.
///
/// # Errors
/// If the value is too large, or contains a credential and `secrets` refuses them; or an error of the store.
pub fn set(
    values: &KeyValues,
    key: &ValueKey,
    value: &str,
    secrets: SecretPolicy,
) -> Result<bool, InstanceError> {
    values.store.set(
        key,
        check(key, value, secrets)?,
        &values.operation(Verb::Set),
    )
}

/// Sets the value of a key if its value is still `expected`; `None` means that the key is not set.
///
/// # Errors
/// [`StoreError::Conflict`] if the key has another value; those of [`set()`].
pub fn replace(
    values: &KeyValues,
    key: &ValueKey,
    expected: Option<&str>,
    value: &str,
    secrets: SecretPolicy,
) -> Result<(), InstanceError> {
    let value = check(key, value, secrets)?;
    if values
        .store
        .replace(key, expected, value, &values.operation(Verb::Set))?
    {
        Ok(())
    } else {
        Err(StoreError::Conflict {
            what: format!("the key {key}"),
        }
        .into())
    }
}

fn check<'v>(
    key: &ValueKey,
    value: &'v str,
    secrets: SecretPolicy,
) -> Result<Checked<&'v str>, InstanceError> {
    if MAX_VALUE < value.len() {
        let what = format!(
            "the value has {} bytes; the maximum is {MAX_VALUE}",
            value.len()
        );
        return Err(InstanceError::TooLarge { what });
    }
    Ok(Checked::new(value, [key.as_str()], secrets)?)
}

/// Deletes a key.
///
/// # Errors
/// [`InstanceError::KeyNotFound`], or an error of the store.
pub fn delete(values: &KeyValues, key: &ValueKey) -> Result<(), InstanceError> {
    if values.store.delete(key, &values.operation(Verb::Delete))? {
        Ok(())
    } else {
        Err(key_not_found(key))
    }
}

/// Returns the keys that start with `prefix`, sorted.
///
/// # Errors
/// An error of the store.
pub fn list(values: &KeyValues, prefix: &KeyPrefix) -> Result<Vec<KeySummary>, InstanceError> {
    values.store.list(prefix)
}

/// Returns the last `limit` operations on the values, newest first, including those that were undone.
///
/// # Errors
/// An error of the store.
pub fn operations(values: &KeyValues, limit: usize) -> Result<Vec<InstanceRecord>, InstanceError> {
    instance::operations(values.store.as_ref(), limit)
}

/// Undoes the operation with an id that starts with `reference`, or the last one that is not undone.
///
/// # Errors
/// See [`instance::undo()`].
pub fn undo(
    values: &KeyValues,
    reference: Option<&str>,
) -> Result<InstanceUndoReport, InstanceError> {
    instance::undo(
        values.store.as_ref(),
        reference,
        values.clock.as_ref(),
        values.ids.as_ref(),
    )
}

fn key_not_found(key: &ValueKey) -> InstanceError {
    InstanceError::KeyNotFound {
        key: key.to_string(),
    }
}
