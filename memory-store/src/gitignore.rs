//! The `.gitignore` for derived and private files in a folder of a project.

use crate::disk::Disk;

/// The name of the file.
const FILE: &str = ".gitignore";

/// The content: the derived and private files in the folders of topics and banks.
const TEXT: &str = "\
# Created once by memory; edit it as you like.
# Derived files, locks, and previous versions, which may contain deleted text.
.derived-*
.gitignore.tmp
.index.json
.index.json.tmp
.index.tmp
.lock
.locks/
.next-*.tmp
.next.tmp
.next/
.seen/
.trash/
.uses.json
_index.json
";

/// The temporary file that is renamed to [`FILE`].
///
/// It has its own name, because the writer of a bank index uses `.index.tmp` at the same time, under another lock.
const TEMP_FILE: &str = ".gitignore.tmp";

/// Writes the `.gitignore` of a folder, unless the name is in use.
///
/// Nothing depends on the file, so a failure is not an error. The caller holds the lock.
pub(crate) fn write(disk: &dyn Disk) {
    let is_free = disk.read_part(FILE, 0, 1).is_ok() && matches!(disk.stat(FILE), Ok(None));
    if is_free
        && disk
            .write(TEMP_FILE, TEXT.as_bytes())
            .and_then(|()| disk.sync_file(TEMP_FILE))
            .is_ok()
    {
        let _ = disk.rename(TEMP_FILE, FILE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::RealDisk;

    #[test]
    fn the_temporary_file_of_an_index_is_left_to_its_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".index.tmp");
        std::fs::write(&path, "the next index").unwrap();
        write(&RealDisk::open(folder.path()).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "the next index");
        assert_eq!(
            std::fs::read_to_string(folder.path().join(FILE)).unwrap(),
            TEXT
        );
        assert!(TEXT.lines().any(|line| line == TEMP_FILE));
    }
}
