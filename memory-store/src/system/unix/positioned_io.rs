//! Reads and writes at an offset of a file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Fills `buffer` from `offset` on.
///
/// # Errors
/// [`io::ErrorKind::UnexpectedEof`] if the file ends before; or on an I/O error.
pub fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    file.read_exact_at(buffer, offset)
}

/// Writes all bytes from `offset` on.
///
/// # Errors
/// On an I/O error.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(bytes, offset)
}
