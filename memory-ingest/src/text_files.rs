//! The files of a folder or of an archive, or a single file.

use std::path::{Path, PathBuf};

use memory_core::{SourceError, SourceItem};
use unicode_normalization::UnicodeNormalization;

use crate::archive::{Archive, ArchiveFile, is_zip};
use crate::folder::{FolderEntry, SourceFolder};
use crate::note::SourceNote;
use crate::source_text::{self, SourceText};

/// The files of a folder or of an archive, or a single file.
#[derive(Debug)]
pub(crate) struct TextFiles {
    root: String,
    content: TextFilesContent,
}

#[derive(Debug)]
enum TextFilesContent {
    Folder(SourceFolder),
    File(FolderEntry),
    /// An archive, and the folder in it that contains all files, with `/` at its end; empty if there is none.
    Archive(Archive, String),
}

/// A file of [`TextFiles`].
#[derive(Debug)]
pub(crate) struct TextFile<'a> {
    /// The path below the root: NFC, with `/` between the parts.
    pub(crate) path: String,
    place: Result<TextFilePlace<'a>, String>,
}

#[derive(Debug)]
enum TextFilePlace<'a> {
    Disk(PathBuf),
    Archive(&'a ArchiveFile),
}

impl TextFiles {
    /// Opens the folder, ZIP archive or file at `path`.
    ///
    /// # Errors
    /// [`SourceError::Missing`] or [`SourceError::Unreadable`].
    pub(crate) fn open(path: &Path) -> Result<Self, SourceError> {
        let is_hidden = |name: &str| {
            name.split('/')
                .any(|part| part.starts_with('.') || part == "__MACOSX")
        };
        Self::open_at(path, SourceFolder::open, &is_hidden)
    }

    /// Opens the files of an export, which are named after titles that may begin with a point.
    pub(crate) fn open_export(path: &Path) -> Result<Self, SourceError> {
        Self::open_at(path, SourceFolder::open_export, &|_| false)
    }

    fn open_at(
        path: &Path,
        open_folder: fn(&Path) -> Result<SourceFolder, SourceError>,
        is_hidden: &dyn Fn(&str) -> bool,
    ) -> Result<Self, SourceError> {
        if !path.is_file() {
            let folder = open_folder(path)?;
            return Ok(Self {
                root: folder.name().to_owned(),
                content: TextFilesContent::Folder(folder),
            });
        }
        if is_zip(path).unwrap_or(false) {
            return Self::open_archive(path, is_hidden);
        }
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let folder = SourceFolder::open(parent)?;
        let file = path
            .file_name()
            .and_then(|name| folder.chosen_file(&name.to_string_lossy()));
        let file = file.ok_or_else(|| SourceError::Missing {
            path: path.display().to_string(),
        })?;
        Ok(Self {
            root: folder.name().to_owned(),
            content: TextFilesContent::File(file),
        })
    }

    /// An archive may come under another path each time, so its root is the name of its folder or of itself.
    fn open_archive(path: &Path, is_hidden: &dyn Fn(&str) -> bool) -> Result<Self, SourceError> {
        let archive = Archive::open(path, &|name| !is_hidden(name))?;
        let folder = archive
            .files
            .first()
            .and_then(|file| Some(format!("{}/", file.name.split_once('/')?.0)));
        let folder = folder.filter(|folder| {
            archive
                .files
                .iter()
                .all(|file| file.name.starts_with(folder.as_str()))
        });
        let stem = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let root = folder
            .as_deref()
            .map_or(stem, |folder| folder.trim_end_matches('/').to_owned());
        Ok(Self {
            root,
            content: TextFilesContent::Archive(archive, folder.unwrap_or_default()),
        })
    }

    /// Returns the place that the paths of the files are relative to.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// Returns all files that are read, sorted by path.
    pub(crate) fn files(&self) -> Vec<TextFile<'_>> {
        let (archive, folder) = match &self.content {
            TextFilesContent::File(file) => return vec![TextFile::on_disk(file.clone())],
            TextFilesContent::Folder(folder) => {
                return folder
                    .files("")
                    .into_iter()
                    .map(TextFile::on_disk)
                    .collect();
            }
            TextFilesContent::Archive(archive, folder) => (archive, folder),
        };
        let path = |name: &str| {
            name.strip_prefix(folder.as_str())
                .unwrap_or(name)
                .nfc()
                .collect()
        };
        let readable = archive.files.iter().map(|file| TextFile {
            path: path(&file.name),
            place: Ok(TextFilePlace::Archive(file)),
        });
        let problems = archive.problems.iter().map(|(name, reason)| TextFile {
            path: path(name),
            place: Err(reason.clone()),
        });
        let mut files: Vec<_> = readable.chain(problems).collect();
        files.sort_by(|left, right| left.path.cmp(&right.path));
        for index in 1..files.len() {
            if files[index].path == files[index - 1].path {
                files[index].place = Err("has the path of another file".into());
            }
        }
        files
    }

    /// Returns the file at `path` below the root, if it exists.
    pub(crate) fn file(&self, path: &str) -> Option<TextFile<'_>> {
        match &self.content {
            TextFilesContent::Folder(folder) => folder.file(path).map(TextFile::on_disk),
            TextFilesContent::File(_) | TextFilesContent::Archive(..) => {
                self.files().into_iter().find(|file| file.path == path)
            }
        }
    }
}

impl TextFile<'_> {
    fn on_disk(entry: FolderEntry) -> Self {
        Self {
            path: entry.path,
            place: entry.place.map(TextFilePlace::Disk),
        }
    }

    /// Returns the path on disk, or the reason why the file cannot be read there.
    pub(crate) fn disk_path(&self) -> Result<&Path, String> {
        match &self.place {
            Ok(TextFilePlace::Disk(path)) => Ok(path),
            Ok(TextFilePlace::Archive(_)) => {
                Err("is in an archive, which must be unpacked first".into())
            }
            Err(reason) => Err(reason.clone()),
        }
    }

    /// Reads the file, or returns the finding that it is skipped.
    pub(crate) fn read_text(&self) -> Result<SourceText, SourceItem> {
        let skipped = |reason: String| SourceItem::Skipped {
            path: self.path.clone(),
            reason,
        };
        match &self.place {
            Ok(TextFilePlace::Disk(path)) => source_text::read_file(path).map_err(skipped),
            Ok(TextFilePlace::Archive(file)) => {
                let text = file.open().and_then(source_text::read).map_err(skipped)?;
                Ok(SourceText {
                    modified_at: file.modified_at,
                    ..text
                })
            }
            Err(reason) => Err(skipped(reason.clone())),
        }
    }

    /// Returns the Markdown note in the file with its links to other files, or the finding that it is skipped.
    pub(crate) fn into_note(self, source: &str, root: &str) -> Result<SourceNote, SourceItem> {
        let text = self.read_text()?;
        if text.text.trim().is_empty() {
            return Err(SourceItem::Skipped {
                path: self.path,
                reason: "is empty".into(),
            });
        }
        Ok(SourceNote::new(source, root, &self.path, &text))
    }

    /// Returns the finding for a file that is not a note.
    pub(crate) fn into_attachment(self) -> SourceItem {
        match self.place {
            Ok(_) => SourceItem::Attachment(self.path),
            Err(reason) => SourceItem::Skipped {
                path: self.path,
                reason,
            },
        }
    }
}
