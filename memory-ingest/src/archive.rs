//! The files of an export: a folder, one ZIP archive, a folder of ZIP archives, or a single file.
//!
//! Files are read as streams. An entry of an archive that is not safe to read is reported as a problem and left out.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use chrono::{DateTime, NaiveDate, Utc};
use flate2::read::DeflateDecoder;
use memory_core::SourceError;
use zip::read::ZipFileEntry;
use zip::{CompressionMethod, ZipArchive};

use crate::folder::{FolderEntry, SourceFolder, has_extension, is_of_system};
use crate::program_folder::list;
use crate::source_text::recorded_time;

/// Maximum ratio of the unpacked size to the packed size. Texts have ratios below 30.
const MAX_RATIO: u64 = 200;

/// Maximum unpacked size, in total, of entries beyond [`MAX_RATIO`].
const MAX_DENSE_BYTES: u64 = 64 << 20;

/// Size of the fixed part of the header before the data of an entry.
const LOCAL_HEADER_BYTES: usize = 30;

/// Returns the archives in a folder that a source recognizes, unless it recognizes the folder itself.
pub(crate) fn parts_in(folder: &Path, recognizes: fn(&Path) -> bool) -> Vec<PathBuf> {
    if !folder.is_dir() || recognizes(folder) {
        return Vec::new();
    }
    let mut items = list(folder);
    items.retain(|item| is_zip(item).unwrap_or(false) && recognizes(item));
    items
}

/// Returns whether archives are parts of one export: none has a file of notes with the name of one in another.
pub(crate) fn are_parts(archives: &[PathBuf], is_content: &dyn Fn(&str) -> bool) -> bool {
    let mut names = HashSet::new();
    1 < archives.len()
        && archives.iter().all(|path| {
            Archive::open(path, is_content).is_ok_and(|archive| {
                archive
                    .files
                    .into_iter()
                    .all(|file| names.insert(file.name))
            })
        })
}

/// The files of an export.
#[derive(Debug)]
pub(crate) struct Archive {
    /// The selected files, ordered by name.
    pub(crate) files: Vec<ArchiveFile>,
    /// The entries that must not be read: the path, and the reason.
    pub(crate) problems: Vec<(String, String)>,
}

/// A file of an export.
#[derive(Debug)]
pub(crate) struct ArchiveFile {
    /// The path in the folder or archive, with `/` between its parts.
    pub(crate) name: String,
    /// The archive, if the export is a folder of archives.
    container: Option<String>,
    /// The time of its last change that an archive states, in an unknown time zone.
    pub(crate) modified_at: Option<DateTime<Utc>>,
    location: FileLocation,
}

/// The location of the bytes of a file.
#[derive(Debug)]
enum FileLocation {
    Disk(PathBuf),
    Zip {
        archive: PathBuf,
        header_start: u64,
        packed: u64,
        unpacked: u64,
        crc: u32,
        is_deflated: bool,
    },
}

impl Archive {
    /// Opens the export at `path`, and selects the files whose names `is_selected`.
    ///
    /// The archives in a folder are opened only if no file of the folder itself is selected, since an export may contain
    /// archives that a person uploaded. A single file that is no archive is selected under any name.
    pub(crate) fn open(
        path: &Path,
        is_selected: &dyn Fn(&str) -> bool,
    ) -> Result<Self, SourceError> {
        let shown = || path.display().to_string();
        let unreadable = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => SourceError::Missing { path: shown() },
            _ => SourceError::Unreadable {
                path: shown(),
                source,
            },
        };
        let mut archive = Self {
            files: Vec::new(),
            problems: Vec::new(),
        };
        let kind = fs::metadata(path).map_err(unreadable)?;
        if kind.is_dir() {
            archive.add_folder(&SourceFolder::open_export(path)?, is_selected);
        } else if is_zip(path).map_err(unreadable)? {
            archive
                .add_zip(path, None, is_selected)
                .map_err(unreadable)?;
        } else {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            archive.files.push(ArchiveFile {
                name,
                container: None,
                modified_at: None,
                location: FileLocation::Disk(path.to_owned()),
            });
        }
        archive.sort();
        Ok(archive)
    }

    /// Opens the archives in a folder that a source recognizes as one export, or else the export at `path`.
    pub(crate) fn open_parts(
        path: &Path,
        recognizes: fn(&Path) -> bool,
        is_selected: &dyn Fn(&str) -> bool,
    ) -> Result<Self, SourceError> {
        let parts = parts_in(path, recognizes);
        if parts.is_empty() {
            Self::open(path, is_selected)
        } else {
            Ok(Self::of_parts(&parts, is_selected))
        }
    }

    /// Opens the archives `parts` as one export.
    fn of_parts(parts: &[PathBuf], is_selected: &dyn Fn(&str) -> bool) -> Self {
        let mut archive = Self {
            files: Vec::new(),
            problems: Vec::new(),
        };
        for part in parts {
            let name = part.file_name().unwrap_or_default().to_string_lossy();
            archive.add_part(&name, part, is_selected);
        }
        archive.sort();
        archive
    }

    fn add_part(&mut self, name: &str, path: &Path, is_selected: &dyn Fn(&str) -> bool) {
        if let Err(error) = self.add_zip(path, Some(name), is_selected) {
            let reason = format!("cannot be read: {error}");
            self.problems.push((name.to_owned(), reason));
        }
    }

    fn sort(&mut self) {
        self.files.sort_by(|left, right| {
            (&left.name, &left.container).cmp(&(&right.name, &right.container))
        });
    }

    fn add_folder(&mut self, folder: &SourceFolder, is_selected: &dyn Fn(&str) -> bool) {
        let entries = folder.files("");
        for FolderEntry { path, place } in entries.iter().filter(|entry| is_selected(&entry.path)) {
            match place {
                Ok(place) => self.files.push(ArchiveFile {
                    name: path.clone(),
                    container: None,
                    modified_at: None,
                    location: FileLocation::Disk(place.clone()),
                }),
                Err(reason) => self.problems.push((path.clone(), reason.clone())),
            }
        }
        if !self.files.is_empty() {
            return;
        }
        for FolderEntry { path, place } in entries
            .iter()
            .filter(|entry| has_extension(&entry.path, &["zip"]))
        {
            if let Ok(place) = place {
                self.add_part(path, place, is_selected);
            }
        }
    }

    fn add_zip(
        &mut self,
        path: &Path,
        container: Option<&str>,
        is_selected: &dyn Fn(&str) -> bool,
    ) -> io::Result<()> {
        let zip = ZipArchive::new(BufReader::new(File::open(path)?))?;
        let shown = |name: &str| {
            container.map_or_else(
                || name.to_owned(),
                |container| format!("{container}/{name}"),
            )
        };
        if zip.has_duplicate_names() {
            let reason = "contains several files with the same name; one of each is read";
            self.problems
                .push((shown("").trim_end_matches('/').to_owned(), reason.into()));
        }
        let mut entries = (0..zip.len())
            .map(|index| zip.by_index_data(index))
            .collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(ZipFileEntry::header_start);
        let (mut end, mut dense_bytes) = (0, 0);
        for entry in &entries {
            let overlaps = entry.header_start() < end;
            let data_start = entry
                .header_start()
                .saturating_add(LOCAL_HEADER_BYTES as u64);
            end = end.max(data_start.saturating_add(entry.compressed_size()));
            let name = entry
                .name()
                .map(|name| normalize_separators(&name))
                .unwrap_or_default();
            if entry.is_dir() {
                continue;
            }
            let problem = match unsafe_name(&name) {
                Some(reason) => Some(reason.to_owned()),
                None if !is_selected(&name) || is_of_system(&name) => continue,
                None if overlaps => Some("overlaps another entry of the archive".into()),
                None => unreadable_entry(entry, &mut dense_bytes),
            };
            if let Some(reason) = problem {
                self.problems.push((shown(&name), reason));
                continue;
            }
            let location = FileLocation::Zip {
                archive: path.to_owned(),
                header_start: entry.header_start(),
                packed: entry.compressed_size(),
                unpacked: entry.size(),
                crc: entry.crc32(),
                is_deflated: entry.compression() == CompressionMethod::Deflated,
            };
            self.files.push(ArchiveFile {
                name,
                container: container.map(str::to_owned),
                modified_at: entry.last_modified().and_then(time_of),
                location,
            });
        }
        Ok(())
    }
}

impl ArchiveFile {
    /// Returns the path for reports.
    pub(crate) fn path(&self) -> String {
        self.container.as_ref().map_or_else(
            || self.name.clone(),
            |container| format!("{container}/{}", self.name),
        )
    }

    /// Returns the last part of the name.
    pub(crate) fn file_name(&self) -> &str {
        file_name(&self.name)
    }

    /// Opens the file as a stream, or returns the reason of the failure.
    pub(crate) fn open(&self) -> Result<Box<dyn Read>, String> {
        self.reader()
            .map_err(|error| format!("cannot be read: {error}"))
    }

    fn reader(&self) -> io::Result<Box<dyn Read>> {
        let (archive, header_start, packed, unpacked, crc, is_deflated) = match &self.location {
            FileLocation::Disk(path) => return Ok(Box::new(File::open(path)?)),
            FileLocation::Zip {
                archive,
                header_start,
                packed,
                unpacked,
                crc,
                is_deflated,
            } => (
                archive,
                *header_start,
                *packed,
                *unpacked,
                *crc,
                *is_deflated,
            ),
        };
        let mut file = File::open(archive)?;
        file.seek(SeekFrom::Start(header_start))?;
        let mut header = [0; LOCAL_HEADER_BYTES];
        file.read_exact(&mut header)?;
        if !header.starts_with(b"PK\x03\x04") {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the archive has no header for the entry",
            ));
        }
        // The lengths of the name and of the additional fields, which precede the data.
        let length = |at: usize| i64::from(u16::from_le_bytes([header[at], header[at + 1]]));
        file.seek_relative(length(26) + length(28))?;
        let data = BufReader::with_capacity(1 << 16, file.take(packed));
        let data: Box<dyn Read> = if is_deflated {
            Box::new(DeflateDecoder::new(data))
        } else {
            Box::new(data)
        };
        Ok(Box::new(EntryReader {
            data,
            left: unpacked,
            hasher: crc32fast::Hasher::new(),
            crc,
        }))
    }
}

/// The data of an entry of an archive, which must have the size and the checksum in the directory of the archive.
struct EntryReader {
    data: Box<dyn Read>,
    left: u64,
    hasher: crc32fast::Hasher,
    crc: u32,
}

impl Read for EntryReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let invalid = |reason: &str| Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        let count = self.data.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        match self.left.checked_sub(count as u64) {
            None => invalid("the entry is larger than the archive states"),
            Some(left) if count == 0 && !buffer.is_empty() && 0 < left => {
                invalid("the entry is smaller than the archive states")
            }
            Some(0)
                if count == 0
                    && !buffer.is_empty()
                    && self.hasher.clone().finalize() != self.crc =>
            {
                invalid("the checksum of the entry is wrong")
            }
            Some(left) => {
                self.left = left;
                Ok(count)
            }
        }
    }
}

/// Returns a time in an archive as if it were in UTC.
fn time_of(time: zip::DateTime) -> Option<DateTime<Utc>> {
    let day = NaiveDate::from_ymd_opt(time.year().into(), time.month().into(), time.day().into())?;
    let time = day.and_hms_opt(
        time.hour().into(),
        time.minute().into(),
        time.second().into(),
    )?;
    recorded_time(time.and_utc())
}

/// Returns the last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// Returns whether a file is a ZIP archive, whatever its name is.
pub(crate) fn is_zip(path: &Path) -> io::Result<bool> {
    let mut magic = Vec::new();
    File::open(path)?.take(4).read_to_end(&mut magic)?;
    Ok(magic == b"PK\x03\x04" || magic == b"PK\x05\x06")
}

/// Some programs write `\` between the parts of a name.
fn normalize_separators(name: &str) -> String {
    if name.contains('/') {
        name.to_owned()
    } else {
        name.replace('\\', "/")
    }
}

/// Returns the reason why a file of this name must not be read.
fn unsafe_name(name: &str) -> Option<&'static str> {
    let has_drive = name.as_bytes().get(1) == Some(&b':');
    if name.is_empty() || name.contains(char::is_control) {
        Some("has an invalid name")
    } else if name.starts_with('/') || has_drive {
        Some("has an absolute path")
    } else if name.split(['/', '\\']).any(|part| part == "..") {
        Some("has a path with `..`")
    } else {
        None
    }
}

/// Returns the reason why an entry cannot be read.
fn unreadable_entry(entry: &ZipFileEntry<'_>, dense_bytes: &mut u64) -> Option<String> {
    if entry.is_symlink() {
        return Some("is a symlink".into());
    }
    if entry.encrypted() {
        return Some("is encrypted".into());
    }
    if !matches!(
        entry.compression(),
        CompressionMethod::Stored | CompressionMethod::Deflated
    ) {
        return Some(format!(
            "has the compression method {}, which is not supported",
            entry.compression()
        ));
    }
    if entry.compressed_size().saturating_mul(MAX_RATIO) < entry.size() {
        *dense_bytes = dense_bytes.saturating_add(entry.size());
        if MAX_DENSE_BYTES < *dense_bytes {
            return Some(format!("unpacks to more than {MAX_RATIO} times its size"));
        }
    }
    None
}
