//! The `.gitignore` beside derived and private files in a folder of a project.

use crate::disk::Disk;

/// The file in which git looks for what it is to ignore.
const FILE: &str = ".gitignore";

/// Names the derived and private files that topics and banks keep in their folders.
const TEXT: &str = "\
# Written once by memory, and yours to change from now on.
# Derived files, locks, and former texts, which may hold what was deleted on purpose.
.derived-*
.index.json
.index.json.tmp
.index.tmp
.lock
.locks/
.next-*.tmp
.next.tmp
.next/
.trash/
.uses.json
_index.json
";

/// Where it waits until it may take its place.
const WAITING: &str = ".index.tmp";

/// Writes the `.gitignore` of a folder, unless there is something of that name. Nothing of ours depends on it, so a failure is no error. The
/// caller holds the lock.
pub(crate) fn write(disk: &dyn Disk) {
    let is_free = disk.read_part(FILE, 0, 1).is_ok() && matches!(disk.signature(FILE), Ok(None));
    if is_free && disk.write(WAITING, TEXT.as_bytes()).and_then(|()| disk.sync_file(WAITING)).is_ok() {
        let _ = disk.rename(WAITING, FILE);
    }
}
