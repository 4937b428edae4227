//! Taking records away.

use memory_core::instance::history::{Filter, Purged};
use memory_core::instance::{InstanceError, InstanceOperation};

use super::file::{SessionFile, record, refused};
use super::lines::{Forward, Line};
use crate::disk::Disk;

/// Where the lines that stay wait until they may take the place of the file. There is one writer at a time.
const WAITING: &str = ".next.tmp";

/// So many bytes are written at once.
const CHUNK: usize = 4 * 1024 * 1024;

/// Returns the folder in which an operation keeps what was before.
pub(super) fn trash_folder(operation: &InstanceOperation) -> String {
    format!(".trash/{}/{}", operation.at.format("%Y-%m"), operation.id)
}

/// Removes the records that fit `filter`. Whoever does holds the lock.
pub(super) fn purge(
    disk: &dyn Disk,
    path: &str,
    filter: &Filter,
    operation: &InstanceOperation,
) -> Result<Purged, InstanceError> {
    let told = |error| refused(path, error);
    let fits = |line: &Line| matches!(record(path, line), Some(Ok(record)) if filter.fits(&record));
    let mut done = Purged::default();
    for line in lines(disk, path)? {
        let line = line.map_err(told)?;
        match record(path, &line) {
            Some(Ok(record)) if filter.fits(&record) => done.purged += 1,
            Some(Ok(_)) => done.kept += 1,
            Some(Err(_)) | None => {}
        }
    }
    if done.purged == 0 {
        return Ok(done);
    }
    let staying = lines(disk, path)?.filter(|line| !line.as_ref().is_ok_and(fits));
    let placed = write(disk, staying).and_then(|()| {
        let folder = trash_folder(operation);
        disk.keep(path, &format!("{folder}/{path}"))?;
        disk.sync_folder(&folder)?;
        disk.rename(WAITING, path)
    });
    if let Err(error) = placed {
        // If this fails too, the next purge writes over it.
        let _ = disk.remove(WAITING);
        return Err(refused(path, error));
    }
    disk.sync_folder("").map_err(told)?;
    Ok(done)
}

fn lines(disk: &dyn Disk, path: &str) -> Result<Forward, InstanceError> {
    let opened = SessionFile::open(disk, path, || ())?;
    let Some(SessionFile { file, end }) = opened else {
        return Err(refused(path, std::io::ErrorKind::NotFound.into()));
    };
    Ok(Forward::new(file, end))
}

fn write(disk: &dyn Disk, lines: impl Iterator<Item = std::io::Result<Line>>) -> std::io::Result<()> {
    disk.write(WAITING, b"")?;
    let mut bytes = Vec::new();
    for line in lines {
        let line = line?;
        bytes.extend_from_slice(&line.bytes);
        if line.is_whole {
            bytes.push(b'\n');
        }
        if CHUNK <= bytes.len() {
            disk.append(WAITING, &bytes)?;
            bytes.clear();
        }
    }
    if bytes.is_empty() { disk.sync_file(WAITING) } else { disk.append(WAITING, &bytes) }
}

/// Moves a session to trash, and returns how many records it had. Whoever does holds the lock.
pub(super) fn delete(disk: &dyn Disk, path: &str, operation: &InstanceOperation) -> Result<usize, InstanceError> {
    let told = |error| refused(path, error);
    let mut records = 0;
    for line in lines(disk, path)? {
        records += usize::from(matches!(record(path, &line.map_err(told)?), Some(Ok(_))));
    }
    let folder = trash_folder(operation);
    disk.rename(path, &format!("{folder}/{path}")).map_err(told)?;
    // That it is in the trash is durable before that it is no longer here.
    disk.sync_folder(&folder).and_then(|()| disk.sync_folder("")).map_err(told)?;
    Ok(records)
}
