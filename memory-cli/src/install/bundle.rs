//! A ZIP archive with the same bytes for the same content.
//!
//! Format: <https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT>.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;

/// A file for an archive.
#[derive(Debug)]
pub(super) struct ArchiveMember<'a> {
    /// The path in the archive, with `/`.
    pub path: &'a str,
    /// The content; at most 4 GB.
    pub bytes: &'a [u8],
    /// Whether the file is a program.
    pub is_program: bool,
}

/// Version 2.0 of the format, on Unix, so that the permissions are read.
const MADE_BY: u16 = (3 << 8) | NEEDED_VERSION;
const NEEDED_VERSION: u16 = 20;

/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;

const METHOD_DEFLATE: u16 = 8;

/// 1980-01-01 00:00, the first time of the format; a real time would change the bytes.
const TIME: u16 = 0;
const DATE: u16 = (1 << 5) | 1;

/// Returns an archive with these members.
///
/// # Errors
/// If a member or the archive is larger than 4 GB.
pub(super) fn archive(members: &[ArchiveMember<'_>]) -> io::Result<Vec<u8>> {
    let size = |length: usize| {
        u32::try_from(length).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))
    };
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for member in members {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(member.bytes)?;
        let compressed = encoder.finish()?;
        let mut header = Vec::new();
        header.extend(
            [NEEDED_VERSION, FLAGS, METHOD_DEFLATE, TIME, DATE]
                .map(u16::to_le_bytes)
                .concat(),
        );
        header.extend(crc32fast::hash(member.bytes).to_le_bytes());
        header.extend(size(compressed.len())?.to_le_bytes());
        header.extend(size(member.bytes.len())?.to_le_bytes());
        header
            .extend(u32::from(u16::try_from(member.path.len()).unwrap_or(u16::MAX)).to_le_bytes());
        let offset = size(archive.len())?;
        archive.extend(*b"PK\x03\x04");
        archive.extend(&header);
        archive.extend(member.path.as_bytes());
        archive.extend(&compressed);
        let mode: u32 = if member.is_program {
            0o100_755
        } else {
            0o100_644
        };
        directory.extend(*b"PK\x01\x02");
        directory.extend(MADE_BY.to_le_bytes());
        directory.extend(&header);
        // No comment, the first disk, no internal attributes.
        directory.extend([0; 6]);
        directory.extend((mode << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(member.path.as_bytes());
    }
    let (start, count) = (
        size(archive.len())?,
        u16::try_from(members.len()).unwrap_or(u16::MAX),
    );
    let length = size(directory.len())?;
    archive.extend(&directory);
    archive.extend(*b"PK\x05\x06\0\0\0\0");
    archive.extend([count.to_le_bytes(), count.to_le_bytes()].concat());
    archive.extend([length.to_le_bytes(), start.to_le_bytes()].concat());
    archive.extend([0; 2]);
    Ok(archive)
}
