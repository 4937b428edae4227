//! The file of a bank.

use std::io;

use chrono::{DateTime, Utc};
use memory_core::StoreError;
use memory_core::bank::{Bank, BankError, BankErrorKind, BankName};

use super::decode::decode;
use super::gzip::{self, GzipMember};
use super::layout::{BankLayout, parse_layout};
use crate::disk::{Disk, FileStat};
use crate::error;

/// The maximum size of a file, in bytes.
pub(super) const MAX_FILE: usize = 64 * 1024 * 1024;

/// The file format of a bank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BankFileFormat {
    Plain,
    Packed,
}

impl BankFileFormat {
    pub(super) fn path(self, name: &str) -> String {
        match self {
            Self::Plain => format!("{name}.json"),
            Self::Packed => format!("{name}.json.gz"),
        }
    }

    /// Returns the bank name and the format of the file at `path`, if its name is that of a bank file.
    pub(super) fn parse_path(path: &str) -> Option<(&str, Self)> {
        let plain = path.strip_suffix(".json").map(|name| (name, Self::Plain));
        plain.or_else(|| {
            path.strip_suffix(".json.gz")
                .map(|name| (name, Self::Packed))
        })
    }
}

/// A bank file as read from the disk.
#[derive(Debug, Clone)]
pub(super) struct BankFile {
    pub path: String,
    pub signature: FileStat,
    pub text: String,
    /// The bytes of the file, if they are compressed.
    pub packed: Option<Vec<u8>>,
    /// The members of a compressed file.
    pub members: Vec<GzipMember>,
}

impl BankFile {
    /// Returns a file that is only compared by its bytes, because it may not be valid text.
    pub(super) fn from_bytes(path: String, signature: FileStat, bytes: Vec<u8>) -> Self {
        Self {
            path,
            signature,
            text: String::new(),
            packed: Some(bytes),
            members: Vec::new(),
        }
    }

    /// Returns the bytes of the file.
    pub(super) fn bytes(&self) -> &[u8] {
        self.packed.as_deref().unwrap_or(self.text.as_bytes())
    }

    /// Returns the modification time of the file, which replaces missing times.
    pub(super) fn modified_at(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_nanos(self.signature.modified_ns)
    }

    /// Finds the parts of the bank in the text.
    pub(super) fn parse_layout(&self) -> Result<BankLayout, BankError> {
        parse_layout(&self.text).map_err(|why| damaged_error(&self.path, &why.to_string()))
    }

    /// Converts the file to a bank.
    pub(super) fn to_bank(&self, name: &BankName, layout: &BankLayout) -> Bank {
        decode(name, &self.text, layout, self.modified_at())
    }
}

/// Finds the file of a bank.
///
/// If there is a plain and a compressed one, the one with the later change time is the bank.
pub(super) fn find(disk: &dyn Disk, name: &str) -> Result<Option<(String, FileStat)>, BankError> {
    let signature = |kind: BankFileFormat| {
        let path = kind.path(name);
        let found = disk.stat(&path).map_err(read_error(&path))?;
        Ok::<_, BankError>(found.map(|found| (path, found)))
    };
    let found = match (
        signature(BankFileFormat::Plain)?,
        signature(BankFileFormat::Packed)?,
    ) {
        (Some(plain), Some(packed)) if plain.1.changed_ns < packed.1.changed_ns => Some(packed),
        (Some(plain), _) => Some(plain),
        (None, packed) => packed,
    };
    match found {
        Some((path, signature)) if signature.is_folder => {
            Err(damaged_error(&path, "it is a folder"))
        }
        found => Ok(found),
    }
}

/// Reads the bytes of a file; empty if the file does not exist.
pub(super) fn read_bytes(disk: &dyn Disk, path: &str) -> Result<Vec<u8>, BankError> {
    disk.read_part(path, 0, MAX_FILE + 1)
        .map_err(read_error(path))
}

/// Reads the file of a bank, or returns `None` if it does not exist.
pub(super) fn read(disk: &dyn Disk, name: &str) -> Result<Option<BankFile>, BankError> {
    let Some((path, signature)) = find(disk, name)? else {
        // A symlink counts as absent, but its presence must be reported as an error.
        for path in [BankFileFormat::Plain, BankFileFormat::Packed].map(|kind| kind.path(name)) {
            disk.read_part(&path, 0, 1).map_err(read_error(&path))?;
        }
        return Ok(None);
    };
    let bytes = read_bytes(disk, &path)?;
    if MAX_FILE < bytes.len() {
        return Err(damaged_error(
            &path,
            &format!("it has more than {MAX_FILE} bytes"),
        ));
    }
    if bytes.is_empty() && signature.size != 0 {
        // The file was deleted since.
        return Ok(None);
    }
    let (unpacked, members, packed) = if gzip::is_gzip(&bytes) {
        let unpacked = gzip::decompress(&bytes);
        let (text, members) = unpacked.map_err(|error| {
            damaged_error(&path, &format!("it cannot be decompressed: {error}"))
        })?;
        (text, members, Some(bytes))
    } else {
        (bytes, Vec::new(), None)
    };
    let text = String::from_utf8(unpacked).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        damaged_error(&path, &format!("it is not UTF-8 (byte {at})"))
    })?;
    Ok(Some(BankFile {
        path,
        signature,
        text,
        packed,
        members,
    }))
}

pub(super) fn damaged_error(path: &str, why: &str) -> BankError {
    let name = path.rsplit('/').next().unwrap_or(path);
    BankError::new(BankErrorKind::Damaged {
        what: format!("{name} is damaged: {why}"),
    })
}

/// Returns the error for a file that could not be read.
pub(super) fn read_error(path: &str) -> impl Fn(io::Error) -> BankError + Copy {
    move |error| error::read_error(path)(error).into()
}

/// Returns the error for a file that could not be written.
pub(super) fn write_error(place: &str, error: StoreError) -> BankError {
    if error::is_permission_denied(&error) {
        BankError::new(BankErrorKind::PermissionDenied {
            place: place.to_owned(),
        })
    } else {
        error.into()
    }
}
