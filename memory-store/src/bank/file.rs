//! The file of a bank.

use std::io;

use chrono::{DateTime, Utc};
use memory_core::bank::{Bank, BankError, BankName, Trouble};
use memory_core::{Code, StoreError};

use super::decode::decode;
use super::gzip::{self, Member};
use super::layout::{Layout, layout};
use crate::disk::{Disk, Signature};
use crate::error::io_error;

/// The longest file that is read, in bytes.
pub(super) const MAX_FILE: usize = 64 * 1024 * 1024;

/// How a bank is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Packed,
}

impl Kind {
    pub(super) fn path(self, name: &str) -> String {
        match self {
            Self::Plain => format!("{name}.json"),
            Self::Packed => format!("{name}.json.gz"),
        }
    }

    /// Returns the name of the bank that lies at `path`, if one does.
    pub(super) fn name_in(path: &str) -> Option<(&str, Self)> {
        let plain = path.strip_suffix(".json").map(|name| (name, Self::Plain));
        plain.or_else(|| path.strip_suffix(".json.gz").map(|name| (name, Self::Packed)))
    }
}

/// A bank's file as it stands.
#[derive(Debug, Clone)]
pub(super) struct BankFile {
    pub path: String,
    pub signature: Signature,
    pub text: String,
    /// The bytes as they lie on the disk, where they are not those of the text.
    pub packed: Option<Vec<u8>>,
    /// Where the parts of a packed text are.
    pub members: Vec<Member>,
}

impl BankFile {
    /// Returns the bytes as they lie on the disk.
    pub(super) fn bytes(&self) -> &[u8] {
        self.packed.as_deref().unwrap_or(self.text.as_bytes())
    }

    /// Returns when the file was last written, for what it does not say itself.
    pub(super) fn written_at(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_nanos(self.signature.modified_ns)
    }

    /// Finds the parts of the bank.
    pub(super) fn layout(&self) -> Result<Layout, BankError> {
        layout(&self.text).map_err(|why| damaged(&self.path, &why.to_string()))
    }

    /// Returns the bank that it holds.
    pub(super) fn bank(&self, name: &BankName, layout: &Layout) -> Bank {
        decode(name, &self.text, layout, self.written_at())
    }
}

/// Finds the file of a bank. Where there are two, one plain and one packed, it is the one that came there last.
pub(super) fn find(disk: &dyn Disk, name: &str) -> Result<Option<(String, Signature)>, BankError> {
    let signature = |kind: Kind| {
        let path = kind.path(name);
        let found = disk.signature(&path).map_err(|error| refused(&path, error))?;
        Ok::<_, BankError>(found.map(|found| (path, found)))
    };
    let found = match (signature(Kind::Plain)?, signature(Kind::Packed)?) {
        (Some(plain), Some(packed)) if plain.1.changed_ns < packed.1.changed_ns => Some(packed),
        (Some(plain), _) => Some(plain),
        (None, packed) => packed,
    };
    match found {
        Some((path, signature)) if signature.is_folder => Err(damaged(&path, "it is a folder")),
        found => Ok(found),
    }
}

/// Reads the bytes of a file; nothing if there is none.
pub(super) fn bytes(disk: &dyn Disk, path: &str) -> Result<Vec<u8>, BankError> {
    disk.read_part(path, 0, MAX_FILE + 1).map_err(|error| refused(path, error))
}

/// Reads the file of a bank, or returns `None` if there is none.
pub(super) fn read(disk: &dyn Disk, name: &str) -> Result<Option<BankFile>, BankError> {
    let Some((path, signature)) = find(disk, name)? else {
        // A symlink is none of ours; that it is there must be told all the same.
        for path in [Kind::Plain, Kind::Packed].map(|kind| kind.path(name)) {
            disk.read_part(&path, 0, 1).map_err(|error| refused(&path, error))?;
        }
        return Ok(None);
    };
    let bytes = bytes(disk, &path)?;
    if MAX_FILE < bytes.len() {
        return Err(damaged(&path, &format!("it has more than {MAX_FILE} bytes")));
    }
    if bytes.is_empty() && signature.size != 0 {
        // It was deleted in the meantime.
        return Ok(None);
    }
    let (unpacked, members, packed) = if gzip::is_gzip(&bytes) {
        let unpacked = gzip::unpack(&bytes);
        let (text, members) = unpacked.map_err(|error| damaged(&path, &format!("it cannot be unpacked: {error}")))?;
        (text, members, Some(bytes))
    } else {
        (bytes, Vec::new(), None)
    };
    let text = String::from_utf8(unpacked).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        damaged(&path, &format!("it is not UTF-8 (byte {at})"))
    })?;
    Ok(Some(BankFile { path, signature, text, packed, members }))
}

pub(super) fn damaged(path: &str, why: &str) -> BankError {
    let name = path.rsplit('/').next().unwrap_or(path);
    BankError::new(Trouble::Damaged { what: format!("{name} is damaged: {why}") })
}

/// Says that a file could not be read.
pub(super) fn refused(path: &str, error: io::Error) -> BankError {
    // Opening a symlink as if it were none is how the system says that it is one.
    let is_link =
        error.kind() == io::ErrorKind::InvalidInput || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    if is_link { StoreError::Outside { path: path.to_owned() }.into() } else { io_error(format!("read {path}"), error).into() }
}

/// Says that a file could not be written.
pub(super) fn not_written(place: &str, error: StoreError) -> BankError {
    let is_denied =
        |source: &io::Error| matches!(source.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem);
    match &error {
        StoreError::Backend { source, code: Code::Io, .. } if source.downcast_ref::<io::Error>().is_some_and(is_denied) => {
            BankError::new(Trouble::PermissionDenied { place: place.to_owned() })
        }
        _ => error.into(),
    }
}
