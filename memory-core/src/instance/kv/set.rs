//! Setting a value.

use super::{ValueKey, Values};
use crate::instance::InstanceError;
use crate::{Secrets, secret};

/// The longest value, in bytes.
pub const MAX_VALUE: usize = 8 * 1024 * 1024;

/// Sets the value of a key, whatever it was, and tells whether the key is new.
///
/// # Errors
/// When the value is too large, or holds a credential that `secrets` does not want kept; or when the store refuses.
pub fn set(values: &Values, key: &ValueKey, value: &str, secrets: Secrets) -> Result<bool, InstanceError> {
    if MAX_VALUE < value.len() {
        let what = format!("the value has {} bytes; a value may have {MAX_VALUE}", value.len());
        return Err(InstanceError::TooLarge { what });
    }
    if secrets == Secrets::Refuse {
        secret::refuse([key.as_str(), value])?;
    }
    values.store.set(key, value, &values.operation())
}
