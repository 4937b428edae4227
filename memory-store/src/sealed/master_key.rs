//! The key that seals credentials.

use std::fmt;
use std::io;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memory_core::instance::InstanceError;
use zeroize::Zeroizing;

/// Length of a key in bytes.
pub(super) const LENGTH: usize = 32;

/// The key that seals credentials: 32 bytes, erased from memory when dropped.
///
/// The `Debug` output does not contain the key.
#[derive(Clone, PartialEq, Eq)]
pub struct MasterKey(Zeroizing<[u8; LENGTH]>);

impl MasterKey {
    /// Generates a key from the random numbers of the system.
    ///
    /// # Errors
    /// An error if the system has no random numbers.
    pub fn random() -> io::Result<Self> {
        let mut bytes = Zeroizing::new([0; LENGTH]);
        getrandom::fill(bytes.as_mut_slice()).map_err(io::Error::other)?;
        Ok(Self(bytes))
    }

    pub(super) fn bytes(&self) -> &[u8; LENGTH] {
        &self.0
    }

    /// Returns the key in Base64, as `master.key` contains it.
    pub(super) fn to_base64(&self) -> Zeroizing<String> {
        Zeroizing::new(STANDARD.encode(self.0.as_slice()))
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("MasterKey(…)")
    }
}

impl FromStr for MasterKey {
    type Err = InstanceError;

    fn from_str(text: &str) -> Result<Self, InstanceError> {
        let wrong =
            || InstanceError::invalid("the master key is not 32 bytes in Base64", "generate one with `openssl rand -base64 32`");
        let bytes = Zeroizing::new(STANDARD.decode(text.trim()).map_err(|_| wrong())?);
        let mut key = Zeroizing::new([0; LENGTH]);
        if bytes.len() != LENGTH {
            return Err(wrong());
        }
        key.copy_from_slice(&bytes);
        Ok(Self(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_32_bytes_in_base64_and_shows_nothing() {
        let key = MasterKey::random().unwrap();
        assert_eq!(format!("{}\n", *key.to_base64()).parse::<MasterKey>().unwrap(), key);
        assert!(key != MasterKey::random().unwrap());
        assert_eq!(format!("{key:?}"), "MasterKey(…)");
        for wrong in ["", "AAAA", "not base64", &"A".repeat(44)] {
            let error = wrong.parse::<MasterKey>().unwrap_err();
            assert_eq!(error.code(), memory_core::Code::InvalidInput);
            assert!(wrong.is_empty() || !error.to_string().contains(wrong));
        }
    }
}
