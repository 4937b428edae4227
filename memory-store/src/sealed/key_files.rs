//! The files of the master key.

use std::os::unix::fs::PermissionsExt;

use memory_core::instance::InstanceError;
use zeroize::Zeroizing;

use super::MasterKey;
use crate::disk::{Disk, LazyDisk};
use crate::history::{file_error, folder_error};

/// The file of the current key.
const FILE: &str = "master.key";

/// The file of the next key, which replaces the current one once all values are sealed under it.
const NEXT: &str = "master.key.next";

/// The temporary file of a key.
const TEMP_FILE: &str = ".master.key.tmp";

/// Returns the keys that may have sealed a value, the current one first.
pub(super) fn read_keys(folder: &LazyDisk) -> Result<Vec<MasterKey>, InstanceError> {
    let Some(disk) = folder.get().map_err(folder_error(folder.root()))? else { return Ok(Vec::new()) };
    let keys = [read_key(folder, disk, FILE)?, read_key(folder, disk, NEXT)?];
    Ok(keys.into_iter().flatten().collect())
}

/// Returns the current key, and creates it if it does not exist. The caller holds the lock.
pub(super) fn load_or_create(folder: &LazyDisk) -> Result<MasterKey, InstanceError> {
    load_or_create_at(folder, FILE)
}

/// Returns the next key, and whether this call created it. The caller holds the lock.
pub(super) fn next(folder: &LazyDisk) -> Result<(MasterKey, bool), InstanceError> {
    let disk = folder.get_or_create().map_err(folder_error(folder.root()))?;
    let is_new = read_key(folder, disk, NEXT)?.is_none();
    Ok((load_or_create_at(folder, NEXT)?, is_new))
}

/// Deletes the next key.
pub(super) fn delete_next(folder: &LazyDisk) -> Result<(), InstanceError> {
    let disk = folder.get_or_create().map_err(folder_error(folder.root()))?;
    disk.remove(NEXT).and_then(|()| disk.sync_folder("")).map_err(|error| file_error(NEXT, error))
}

/// Replaces the current key with the next one.
pub(super) fn replace_current(folder: &LazyDisk) -> Result<(), InstanceError> {
    let disk = folder.get_or_create().map_err(folder_error(folder.root()))?;
    disk.rename(NEXT, FILE).and_then(|()| disk.sync_folder("")).map_err(|error| file_error(FILE, error))
}

fn load_or_create_at(folder: &LazyDisk, path: &str) -> Result<MasterKey, InstanceError> {
    let disk = folder.get_or_create().map_err(folder_error(folder.root()))?;
    if let Some(key) = read_key(folder, disk, path)? {
        return Ok(key);
    }
    let told = |error| file_error(path, error);
    let key = MasterKey::random().map_err(told)?;
    let text = Zeroizing::new(format!("{}\n", *key.to_base64()));
    disk.write(TEMP_FILE, text.as_bytes()).and_then(|()| disk.sync_file(TEMP_FILE)).map_err(told)?;
    disk.rename(TEMP_FILE, path).and_then(|()| disk.sync_folder("")).map_err(told)?;
    Ok(key)
}

fn read_key(folder: &LazyDisk, disk: &dyn Disk, path: &str) -> Result<Option<MasterKey>, InstanceError> {
    let place = folder.root().join(path);
    let Some((bytes, _)) = disk.read(path).map_err(|error| file_error(path, error))? else { return Ok(None) };
    let bytes = Zeroizing::new(bytes);
    if place.metadata().is_ok_and(|found| found.permissions().mode() & 0o077 != 0) {
        let why = format!("{} is readable by other users, who can decrypt all sealed values", place.display());
        return Err(InstanceError::invalid(why, format!("run `chmod 600 {}`", place.display())));
    }
    let damaged = || InstanceError::Damaged { place: place.display().to_string(), what: "it is not 32 bytes in Base64".into() };
    let text = str::from_utf8(&bytes).map_err(|_| damaged())?;
    text.parse().map(Some).map_err(|_| damaged())
}
