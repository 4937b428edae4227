//! Files that may be deleted at any time.

use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

/// Writes a file that may be deleted at any time, in one step: whoever reads it sees what was there before, or this. A power cut
/// may lose it. Only its owner may read it, and the folder it lies in, which is made if it is not there.
pub(crate) fn write(place: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = place.parent().unwrap_or(place);
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let mut file = tempfile::Builder::new().prefix(".derived-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.persist(place)?;
    Ok(())
}
