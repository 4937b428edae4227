//! Copies files with their modification times.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Copies a file with its modification time.
///
/// Other code compares the modification time to detect changes.
pub(crate) fn copy_with_time(from: &Path, to: &Path) -> io::Result<()> {
    let written = from.metadata()?.modified()?;
    fs::copy(from, to)?;
    File::options().write(true).open(to)?.set_modified(written)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_copy_is_as_old_as_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        let written = SystemTime::UNIX_EPOCH + Duration::from_micros(1_800_000_000_123_456);
        fs::write(&one, "text").unwrap();
        File::options()
            .write(true)
            .open(&one)
            .unwrap()
            .set_modified(written)
            .unwrap();
        copy_with_time(&one, &other).unwrap();
        assert_eq!(fs::read(&other).unwrap(), b"text");
        assert_eq!(other.metadata().unwrap().modified().unwrap(), written);
    }
}
