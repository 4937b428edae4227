//! Reads and writes at an offset of a file.
//!
//! They move the position of the file. A lock orders the calls of this process, because several handles may share a position.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, PoisonError};

/// Held from the change of the position to the end of the read or write.
static POSITION: Mutex<()> = Mutex::new(());

/// Fills `buffer` from `offset` on.
///
/// # Errors
/// [`io::ErrorKind::UnexpectedEof`] if the file ends before; or on an I/O error.
pub fn read_exact_at(mut file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    let _position = POSITION.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(buffer)
}

/// Writes all bytes from `offset` on.
///
/// # Errors
/// On an I/O error.
pub fn write_all_at(mut file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    let _position = POSITION.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(offset))?;
    file.write_all(bytes)
}
