//! A folder that is read and never written.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memory_core::SourceError;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// The subfolder and the file by which a home of memories is recognized.
const CATEGORIES_FOLDER: &str = "categories";
const INDEX_FILE: &str = "index/documents.db";

/// The parts of a home of memories.
const HOME_PARTS: [&str; 4] = [CATEGORIES_FOLDER, "index", "journal", "trash"];

/// Maximum depth of a folder with files of its own, and maximum number of folders that are listed for them.
const MAX_DEPTH: usize = 8;
const MAX_FOLDERS: usize = 20_000;

/// Folders of other projects in a project.
pub(crate) const DEPENDENCY_FOLDERS: [&str; 3] = ["node_modules", "target", "vendor"];

/// A folder that is read and never written.
#[derive(Debug, Clone)]
pub(crate) struct SourceFolder {
    /// The canonical path, without symlinks.
    root: PathBuf,
    /// The canonical path as text.
    name: String,
    /// Whether the files are named after the titles of notes, which may begin with a point.
    is_export: bool,
}

/// A file or another item in a folder.
#[derive(Debug, Clone)]
pub(crate) struct FolderEntry {
    /// The path below the root: NFC, with `/` between the parts.
    pub(crate) path: String,
    /// The path of the file, or the reason why it must not be read.
    pub(crate) place: Result<PathBuf, String>,
}

impl SourceFolder {
    /// Opens the folder at `path`.
    pub(crate) fn open(path: &Path) -> Result<Self, SourceError> {
        let shown = || path.display().to_string();
        let unreadable = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => SourceError::Missing { path: shown() },
            _ => SourceError::Unreadable {
                path: shown(),
                source,
            },
        };
        let root = path.canonicalize().map_err(unreadable)?;
        fs::read_dir(&root).map_err(unreadable)?;
        Ok(Self {
            name: root.to_string_lossy().into_owned(),
            root,
            is_export: false,
        })
    }

    /// Opens the folder of an export, whose files are named after the titles of notes, at `path`.
    pub(crate) fn open_export(path: &Path) -> Result<Self, SourceError> {
        Ok(Self {
            is_export: true,
            ..Self::open(path)?
        })
    }

    /// Returns the absolute path of the folder as text.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the absolute path of `path`, which has `/` between its parts.
    pub(crate) fn join(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Returns all files below `part`, sorted by path.
    ///
    /// `part` is a path below the root, or empty for the root itself. Hidden files and folders, with a `.` before their
    /// names, and homes of memories are skipped. In an export only files of the system and hidden folders without a space in the name
    /// are hidden.
    pub(crate) fn files(&self, part: &str) -> Vec<FolderEntry> {
        let mut entries = Vec::new();
        let start = self.root.join(part);
        match start.canonicalize() {
            Ok(real) if real.starts_with(&self.root) => self.walk(&start, &mut entries),
            Ok(_) => entries.push(
                self.rejected_entry(&start, "is a symlink to a target outside the folder".into()),
            ),
            Err(_) => {}
        }
        let place = |entry: &FolderEntry| entry.place.clone().ok();
        entries.sort_by(|left, right| {
            left.path
                .cmp(&right.path)
                .then_with(|| place(left).cmp(&place(right)))
        });
        normalise_paths(&mut entries);
        reject_duplicates(&mut entries);
        self.reject_outside_links(&mut entries);
        entries
    }

    /// Returns the file at `path`, if it exists.
    pub(crate) fn file(&self, path: &str) -> Option<FolderEntry> {
        let mut entry = [self.chosen_file(path)?];
        self.reject_outside_links(&mut entry);
        let [entry] = entry;
        Some(entry)
    }

    /// Returns the file at `path` that the user chose, if it exists. It may have further names anywhere.
    pub(crate) fn chosen_file(&self, path: &str) -> Option<FolderEntry> {
        let place = self.root.join(path);
        let kind = place.symlink_metadata().ok()?;
        (kind.is_file() || kind.is_symlink()).then(|| self.symlink_entry(&place))
    }

    /// Returns the folders in `part`, as paths below the root.
    pub(crate) fn folders(&self, part: &str) -> Vec<String> {
        let Ok(listed) = fs::read_dir(self.root.join(part)) else {
            return Vec::new();
        };
        let is_folder = |item: &fs::DirEntry| item.file_type().is_ok_and(|kind| kind.is_dir());
        let folders = listed.filter_map(Result::ok).filter(is_folder);
        let join = |name: &str| {
            if part.is_empty() {
                name.to_owned()
            } else {
                format!("{part}/{name}")
            }
        };
        let mut paths: Vec<_> = folders
            .filter_map(|item| item.file_name().to_str().map(join))
            .collect();
        paths.sort();
        paths
    }

    /// Returns the folders below `part`, as paths below the root, except hidden ones and those of dependencies.
    pub(crate) fn inner_folders(&self, part: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut left = vec![(part.to_owned(), 0)];
        let mut listed = 0;
        while let Some((parent, depth)) = left.pop() {
            listed += 1;
            if MAX_FOLDERS < listed {
                break;
            }
            for folder in self.folders(&parent) {
                let own = folder.rsplit('/').next().unwrap_or_default();
                if own.starts_with('.') || DEPENDENCY_FOLDERS.contains(&own) {
                    continue;
                }
                if depth < MAX_DEPTH {
                    left.push((folder.clone(), depth + 1));
                }
                found.push(folder);
            }
        }
        found
    }

    fn walk(&self, folder: &Path, entries: &mut Vec<FolderEntry>) {
        let listed = match fs::read_dir(folder) {
            Ok(listed) => listed,
            // A part that does not exist has no files.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => {
                return entries
                    .push(self.rejected_entry(folder, format!("cannot be read: {error}")));
            }
        };
        // Memories imported as notes would double with each import.
        let is_home = folder.join(CATEGORIES_FOLDER).is_dir() && folder.join(INDEX_FILE).is_file();
        for item in listed {
            let item =
                match item {
                    Ok(item) => item,
                    Err(error) => {
                        return entries.push(self.rejected_entry(
                            folder,
                            format!("cannot be listed completely: {error}"),
                        ));
                    }
                };
            let is_title = || {
                let name = item.file_name();
                let name = name.to_string_lossy();
                let is_file = || item.file_type().is_ok_and(|kind| kind.is_file());
                self.is_export && !is_of_system(&name) && (name.contains(' ') || is_file())
            };
            if item.file_name().as_encoded_bytes().starts_with(b".") && !is_title() {
                continue;
            }
            let path = item.path();
            if is_home && HOME_PARTS.iter().any(|part| item.file_name() == *part) {
                if item.file_name() == CATEGORIES_FOLDER {
                    entries.push(self.rejected_entry(&path, "contains memories, not notes".into()));
                }
                continue;
            }
            match item.file_type() {
                Ok(kind) if kind.is_dir() => self.walk(&path, entries),
                Ok(kind) if kind.is_file() => entries.push(FolderEntry {
                    path: self.relative_path(&path),
                    place: Ok(path),
                }),
                Ok(kind) if kind.is_symlink() => entries.push(self.symlink_entry(&path)),
                Ok(_) => entries
                    .push(self.rejected_entry(&path, "is neither a file nor a folder".into())),
                Err(error) => {
                    entries.push(self.rejected_entry(&path, format!("cannot be read: {error}")));
                }
            }
        }
    }

    /// Returns the entry of a symlink: the file that it leads to, if that is in this folder.
    ///
    /// Symlinks to folders are not followed, since they may form cycles.
    fn symlink_entry(&self, path: &Path) -> FolderEntry {
        let target = match path.canonicalize() {
            Ok(target) => target,
            Err(error) => {
                return self.rejected_entry(path, format!("is a broken symlink: {error}"));
            }
        };
        if !target.starts_with(&self.root) {
            return self.rejected_entry(path, "is a symlink to a target outside the folder".into());
        }
        if !target.is_file() {
            return self.rejected_entry(path, "is a symlink to a folder".into());
        }
        FolderEntry {
            path: self.relative_path(path),
            place: Ok(target),
        }
    }

    /// Rejects the files with a name outside of this folder.
    ///
    /// Somebody may have given a private file of the user a name in this folder.
    fn reject_outside_links(&self, entries: &mut [FolderEntry]) {
        let linked = |entry: &FolderEntry| {
            let links = file_links(entry.place.as_ref().ok()?)?;
            (1 < links.count).then_some(links)
        };
        let linked: Vec<_> = entries.iter().map(linked).collect();
        if linked.iter().all(Option::is_none) {
            return;
        }
        let mut names: HashMap<_, u64> = linked
            .iter()
            .flatten()
            .map(|links| (links.file, 0))
            .collect();
        count_names(&self.root, &mut names);
        for (entry, links) in entries.iter_mut().zip(linked) {
            if links.is_some_and(|links| names[&links.file] < links.count) {
                entry.place = Err("is a hard link: it has another name outside the folder".into());
            }
        }
    }

    fn rejected_entry(&self, path: &Path, reason: String) -> FolderEntry {
        FolderEntry {
            path: self.relative_path(path),
            place: Err(reason),
        }
    }

    fn relative_path(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        parts.join("/")
    }
}

/// A file and the number of its names.
#[derive(Debug, Clone, Copy)]
struct FileLinks {
    /// The device and the inode.
    file: (u64, u64),
    count: u64,
}

/// Returns the number of names of a file, if it can be read.
#[cfg(unix)]
fn file_links(path: &Path) -> Option<FileLinks> {
    use std::os::unix::fs::MetadataExt;

    let found = path.symlink_metadata().ok()?;
    Some(FileLinks {
        file: (found.dev(), found.ino()),
        count: found.nlink(),
    })
}

/// Returns `None`: the standard library does not report the names of a file on this system.
#[cfg(not(unix))]
fn file_links(_: &Path) -> Option<FileLinks> {
    None
}

/// Counts the names of files below a folder, also in hidden folders.
fn count_names(root: &Path, names: &mut HashMap<(u64, u64), u64>) {
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        // What cannot be listed counts as outside.
        for item in fs::read_dir(folder).into_iter().flatten().flatten() {
            match item.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(item.path()),
                Ok(kind) if kind.is_file() => {
                    if let Some(links) = file_links(&item.path()) {
                        names.entry(links.file).and_modify(|count| *count += 1);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Converts every path to NFC, unless another file has that path.
fn normalise_paths(entries: &mut [FolderEntry]) {
    if entries.iter().all(|entry| is_nfc(&entry.path)) {
        return;
    }
    let mut taken: HashSet<String> = entries.iter().map(|entry| entry.path.clone()).collect();
    for entry in entries.iter_mut().filter(|entry| !is_nfc(&entry.path)) {
        let path: String = entry.path.nfc().collect();
        if taken.insert(path.clone()) {
            entry.path = path;
        }
    }
    entries.sort_by(|left, right| left.path.cmp(&right.path));
}

/// Rejects all but the first of several entries with equal paths.
///
/// Names that are not UTF-8 may become equal, and a path must identify one file.
fn reject_duplicates(entries: &mut [FolderEntry]) {
    for index in 1..entries.len() {
        if entries[index].path == entries[index - 1].path {
            entries[index].place =
                Err("has a name that is not UTF-8 and conflicts with another file".into());
        }
    }
}

/// Returns whether a path in an export is of the system that wrote or packed it.
pub(crate) fn is_of_system(path: &str) -> bool {
    path.split('/')
        .any(|part| part.starts_with("._") || matches!(part, ".DS_Store" | "__MACOSX"))
}

/// Returns whether a path has one of `extensions`, in any case.
pub(crate) fn has_extension(path: &str, extensions: &[&str]) -> bool {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|own| {
        extensions
            .iter()
            .any(|extension| own.eq_ignore_ascii_case(extension))
    })
}
