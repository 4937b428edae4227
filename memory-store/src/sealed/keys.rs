//! The files of the master key.

use std::os::unix::fs::PermissionsExt;

use memory_core::instance::InstanceError;
use zeroize::Zeroizing;

use super::MasterKey;
use crate::disk::{Disk, LateDisk};
use crate::history::{no_folder, refused};

/// The file of the current key.
const FILE: &str = "master.key";

/// The file of the next key, which replaces the current one once all values are sealed under it.
const NEXT: &str = "master.key.next";

/// The temporary file of a key.
const WAITING: &str = ".master.key.tmp";

/// Returns the keys that may have sealed a value, the current one first.
pub(super) fn known(folder: &LateDisk) -> Result<Vec<MasterKey>, InstanceError> {
    let Some(disk) = folder.if_there().map_err(no_folder(folder.root()))? else { return Ok(Vec::new()) };
    let keys = [read(folder, disk, FILE)?, read(folder, disk, NEXT)?];
    Ok(keys.into_iter().flatten().collect())
}

/// Returns the current key, and creates it if it does not exist. The caller holds the lock.
pub(super) fn made(folder: &LateDisk) -> Result<MasterKey, InstanceError> {
    made_as(folder, FILE)
}

/// Returns the next key, and whether this call created it. The caller holds the lock.
pub(super) fn next(folder: &LateDisk) -> Result<(MasterKey, bool), InstanceError> {
    let disk = folder.made().map_err(no_folder(folder.root()))?;
    let is_new = read(folder, disk, NEXT)?.is_none();
    Ok((made_as(folder, NEXT)?, is_new))
}

/// Deletes the next key.
pub(super) fn forget_next(folder: &LateDisk) -> Result<(), InstanceError> {
    let disk = folder.made().map_err(no_folder(folder.root()))?;
    disk.remove(NEXT).and_then(|()| disk.sync_folder("")).map_err(|error| refused(NEXT, error))
}

/// Replaces the current key with the next one.
pub(super) fn turn(folder: &LateDisk) -> Result<(), InstanceError> {
    let disk = folder.made().map_err(no_folder(folder.root()))?;
    disk.rename(NEXT, FILE).and_then(|()| disk.sync_folder("")).map_err(|error| refused(FILE, error))
}

fn made_as(folder: &LateDisk, path: &str) -> Result<MasterKey, InstanceError> {
    let disk = folder.made().map_err(no_folder(folder.root()))?;
    if let Some(key) = read(folder, disk, path)? {
        return Ok(key);
    }
    let told = |error| refused(path, error);
    let key = MasterKey::random().map_err(told)?;
    let text = Zeroizing::new(format!("{}\n", *key.text()));
    disk.write(WAITING, text.as_bytes()).and_then(|()| disk.sync_file(WAITING)).map_err(told)?;
    disk.rename(WAITING, path).and_then(|()| disk.sync_folder("")).map_err(told)?;
    Ok(key)
}

fn read(folder: &LateDisk, disk: &dyn Disk, path: &str) -> Result<Option<MasterKey>, InstanceError> {
    let place = folder.root().join(path);
    let Some((bytes, _)) = disk.read(path).map_err(|error| refused(path, error))? else { return Ok(None) };
    let bytes = Zeroizing::new(bytes);
    if place.metadata().is_ok_and(|found| found.permissions().mode() & 0o077 != 0) {
        let why = format!("{} is readable by other users, who can decrypt all sealed values", place.display());
        return Err(InstanceError::invalid(why, format!("run `chmod 600 {}`", place.display())));
    }
    let damaged = || InstanceError::Damaged { place: place.display().to_string(), what: "it is not 32 bytes in Base64".into() };
    let text = str::from_utf8(&bytes).map_err(|_| damaged())?;
    text.parse().map(Some).map_err(|_| damaged())
}
