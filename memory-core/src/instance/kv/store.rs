//! Where values are kept.

use chrono::{DateTime, Utc};

use super::{Prefix, ValueKey};
use crate::instance::{InstanceError, InstanceOperation, Operations};

/// The values of one instance. Every implementation passes `testing::key_value_suite`.
///
/// All methods may be called from any thread and from many processes at once; of several who set one key, each sees one of the values
/// whole. Once a change has returned, neither a crash nor a power cut loses it; one that fails, or is cut off, has happened whole or
/// not at all. What a value was before is kept, and [`Operations`] tells of each that was set to another, or removed.
pub trait KeyValueStore: Operations {
    /// Sets the value of a key, and tells whether the key is new.
    ///
    /// # Errors
    /// [`InstanceError::KeyTaken`] where something else is in the place of the key; or when the store refuses.
    fn set(&self, key: &ValueKey, value: &str, operation: &InstanceOperation) -> Result<bool, InstanceError>;

    /// Returns the value of a key, if it has one.
    ///
    /// # Errors
    /// [`InstanceError::Damaged`] if it is no text; or when the store refuses.
    fn get(&self, key: &ValueKey) -> Result<Option<Value>, InstanceError>;

    /// Removes a key, and tells whether it was there.
    ///
    /// # Errors
    /// When the store refuses.
    fn delete(&self, key: &ValueKey, operation: &InstanceOperation) -> Result<bool, InstanceError>;

    /// Returns the keys that begin with `prefix`, sorted by their bytes.
    ///
    /// # Errors
    /// When the store refuses.
    fn list(&self, prefix: &Prefix) -> Result<Vec<KeySummary>, InstanceError>;
}

/// The value of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// What it is.
    pub text: String,
    /// When it was set.
    pub updated_at: DateTime<Utc>,
}

/// A key, without its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySummary {
    /// The key.
    pub key: ValueKey,
    /// The length of its value in bytes.
    pub size_bytes: u64,
    /// When it was set.
    pub updated_at: DateTime<Utc>,
}
