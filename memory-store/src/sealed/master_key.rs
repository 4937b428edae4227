//! The key that seals credentials, and its files.

use std::fmt;
use std::io;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use memory_core::instance::InstanceError;
use zeroize::Zeroizing;

use crate::disk::{Disk, LazyDisk, replace_file};
use crate::history::{file_error, folder_error};
use crate::system::is_accessible_to_others;

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
        let wrong = || {
            InstanceError::invalid(
                "the master key is not 32 bytes in Base64",
                "generate one with `openssl rand -base64 32`",
            )
        };
        let bytes = Zeroizing::new(STANDARD.decode(text.trim()).map_err(|_| wrong())?);
        let mut key = Zeroizing::new([0; LENGTH]);
        if bytes.len() != LENGTH {
            return Err(wrong());
        }
        key.copy_from_slice(&bytes);
        Ok(Self(key))
    }
}

/// The file of the current key.
const FILE: &str = "master.key";

/// The file of the next key, which replaces the current one once all values are sealed under it.
const NEXT: &str = "master.key.next";

/// The temporary file of a key.
const TEMP_FILE: &str = ".master.key.tmp";

/// Returns the keys that may have sealed a value, the current one first.
pub(super) fn read_keys(folder: &LazyDisk) -> Result<Vec<MasterKey>, InstanceError> {
    let Some(disk) = folder.get().map_err(folder_error(folder.root()))? else {
        return Ok(Vec::new());
    };
    let keys = [read_key(folder, disk, FILE)?, read_key(folder, disk, NEXT)?];
    Ok(keys.into_iter().flatten().collect())
}

/// Returns the current key, and creates it if it does not exist. The caller holds the lock.
pub(super) fn load_or_create(folder: &LazyDisk) -> Result<MasterKey, InstanceError> {
    load_or_create_at(folder, FILE)
}

/// Returns the next key, and whether this call created it. The caller holds the lock.
pub(super) fn next(folder: &LazyDisk) -> Result<(MasterKey, bool), InstanceError> {
    let disk = folder
        .get_or_create()
        .map_err(folder_error(folder.root()))?;
    let is_new = read_key(folder, disk, NEXT)?.is_none();
    Ok((load_or_create_at(folder, NEXT)?, is_new))
}

/// Deletes the next key.
pub(super) fn delete_next(folder: &LazyDisk) -> Result<(), InstanceError> {
    let disk = folder
        .get_or_create()
        .map_err(folder_error(folder.root()))?;
    disk.remove(NEXT)
        .and_then(|()| disk.sync_folder(""))
        .map_err(file_error(NEXT))
}

/// Replaces the current key with the next one.
pub(super) fn replace_current(folder: &LazyDisk) -> Result<(), InstanceError> {
    let disk = folder
        .get_or_create()
        .map_err(folder_error(folder.root()))?;
    disk.rename(NEXT, FILE)
        .and_then(|()| disk.sync_folder(""))
        .map_err(file_error(FILE))
}

fn load_or_create_at(folder: &LazyDisk, path: &str) -> Result<MasterKey, InstanceError> {
    let disk = folder
        .get_or_create()
        .map_err(folder_error(folder.root()))?;
    if let Some(key) = read_key(folder, disk, path)? {
        return Ok(key);
    }
    let told = file_error(path);
    let key = MasterKey::random().map_err(told)?;
    let text = Zeroizing::new(format!("{}\n", *key.to_base64()));
    replace_file(disk, TEMP_FILE, path, text.as_bytes()).map_err(told)?;
    Ok(key)
}

fn read_key(
    folder: &LazyDisk,
    disk: &dyn Disk,
    path: &str,
) -> Result<Option<MasterKey>, InstanceError> {
    let place = folder.root().join(path);
    let Some((bytes, _)) = disk.read(path).map_err(file_error(path))? else {
        return Ok(None);
    };
    let bytes = Zeroizing::new(bytes);
    if place
        .metadata()
        .is_ok_and(|found| is_accessible_to_others(&found))
    {
        let why = format!(
            "{} is readable by other users, who can decrypt all sealed values",
            place.display()
        );
        return Err(InstanceError::invalid(
            why,
            format!("run `chmod 600 {}`", place.display()),
        ));
    }
    let damaged = || InstanceError::Damaged {
        place: place.display().to_string(),
        what: "it is not 32 bytes in Base64".into(),
    };
    let text = str::from_utf8(&bytes).map_err(|_| damaged())?;
    text.parse().map(Some).map_err(|_| damaged())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_32_bytes_in_base64_and_shows_nothing() {
        let key = MasterKey::random().unwrap();
        assert_eq!(
            format!("{}\n", *key.to_base64())
                .parse::<MasterKey>()
                .unwrap(),
            key
        );
        assert!(key != MasterKey::random().unwrap());
        assert_eq!(format!("{key:?}"), "MasterKey(…)");
        for wrong in ["", "AAAA", "not base64", &"A".repeat(44)] {
            let error = wrong.parse::<MasterKey>().unwrap_err();
            assert_eq!(error.code(), memory_core::Code::InvalidInput);
            assert!(wrong.is_empty() || !error.to_string().contains(wrong));
        }
    }
}
