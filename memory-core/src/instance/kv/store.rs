//! The storage interface of keys and values.

use chrono::{DateTime, Utc};

use super::{KeyPrefix, ValueKey};
use crate::Operation;
use crate::instance::{InstanceError, InstanceOperations};
use crate::secret::Checked;

/// The storage of the values of one instance. Every implementation passes `testing::key_value_suite`.
///
/// All methods may be called from any thread and from multiple processes concurrently; after concurrent writes of one
/// key, every reader observes one of the values completely. Once a change has returned, it survives a crash and a power
/// loss. A change that fails or is interrupted has happened completely or not at all. Previous values are retained for
/// undo, and [`InstanceOperations`] lists every replaced or deleted value.
pub trait KeyValueStore: InstanceOperations {
    /// Sets the value of a key, and returns whether the key is new.
    ///
    /// # Errors
    /// [`InstanceError::KeyTaken`] if the path of the key is occupied by something else; or an error of the store.
    fn set(
        &self,
        key: &ValueKey,
        value: Checked<&str>,
        operation: &Operation,
    ) -> Result<bool, InstanceError>;

    /// Sets the value of a key if its value is `expected`, and returns whether it was; `None` means that the key is not set.
    ///
    /// No other change happens between the comparison and the write.
    ///
    /// # Errors
    /// Those of [`KeyValueStore::set`].
    fn replace(
        &self,
        key: &ValueKey,
        expected: Option<&str>,
        value: Checked<&str>,
        operation: &Operation,
    ) -> Result<bool, InstanceError>;

    /// Returns the value of a key, or `None` if it is not set.
    ///
    /// # Errors
    /// [`InstanceError::Damaged`] if the value is not valid text; or an error of the store.
    fn get(&self, key: &ValueKey) -> Result<Option<StoredValue>, InstanceError>;

    /// Deletes a key, and returns whether it existed.
    ///
    /// # Errors
    /// An error of the store.
    fn delete(&self, key: &ValueKey, operation: &Operation) -> Result<bool, InstanceError>;

    /// Returns the keys that start with `prefix`, sorted by their bytes.
    ///
    /// # Errors
    /// An error of the store.
    fn list(&self, prefix: &KeyPrefix) -> Result<Vec<KeySummary>, InstanceError>;
}

/// The value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredValue {
    /// The text of the value.
    pub text: String,
    /// The time of the last write.
    pub updated_at: DateTime<Utc>,
}

/// A key, without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySummary {
    /// The key.
    pub key: ValueKey,
    /// The size of the value in bytes.
    pub size_bytes: u64,
    /// The time of the last write.
    pub updated_at: DateTime<Utc>,
}
