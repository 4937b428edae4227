//! Sets a value.

use super::{KeyValues, ValueKey};
use crate::instance::InstanceError;
use crate::secret::Checked;
use crate::{SecretPolicy, Verb};

/// Maximum size of a value in bytes.
pub const MAX_VALUE: usize = 8 * 1024 * 1024;

/// Sets the value of a key, and returns whether the key is new.
///
/// # Errors
/// If the value is too large, or contains a credential and `secrets` refuses them; or an error of the store.
pub fn set(values: &KeyValues, key: &ValueKey, value: &str, secrets: SecretPolicy) -> Result<bool, InstanceError> {
    if MAX_VALUE < value.len() {
        let what = format!("the value has {} bytes; the maximum is {MAX_VALUE}", value.len());
        return Err(InstanceError::TooLarge { what });
    }
    let value = Checked::new(value, [key.as_str()], secrets)?;
    values.store.set(key, value, &values.operation(Verb::Set))
}
