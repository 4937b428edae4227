//! A folder that contains an export, and is replaced by the next one.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use memory_core::ContentHash;
use memory_store::system::private_temp_folder;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::failure::Failure;

/// The file that marks a folder as an export. It lists the exported files with the hashes of their bytes.
const MARKER: &str = ".memory-export.json";

/// An export in progress. The files are in a hidden folder until [`ExportFolder::finish`].
pub(super) struct ExportFolder {
    target: PathBuf,
    /// The folder in messages.
    shown: String,
    format: &'static str,
    draft: TempDir,
    former: BTreeMap<String, String>,
    files: BTreeMap<String, String>,
}

impl ExportFolder {
    /// Starts an export into a folder that does not exist, is empty, or contains a previous export in the same format.
    ///
    /// # Errors
    /// If the folder contains other files, or if files of the previous export were changed.
    pub(super) fn open(target: &Path, shown: &str, format: &'static str) -> Result<Self, Failure> {
        let failed = |source: io::Error| Failure::File {
            action: format!("write the folder {shown}"),
            source,
        };
        fs::create_dir_all(target).map_err(failed)?;
        let former = match fs::read(target.join(MARKER)) {
            Ok(marker) => former_files(&marker, target, shown, format)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if fs::read_dir(target).map_err(failed)?.next().is_some() {
                    let why = format!("{shown} contains files that are not an export");
                    return Err(Failure::usage(why, "choose a new or an empty folder"));
                }
                BTreeMap::new()
            }
            Err(error) => return Err(failed(error)),
        };
        let draft = private_temp_folder(target, ".memory-export-").map_err(failed)?;
        let (target, shown) = (target.to_owned(), shown.to_owned());
        Ok(Self {
            target,
            shown,
            format,
            draft,
            former,
            files: BTreeMap::new(),
        })
    }

    /// Writes a file of the export.
    ///
    /// A hidden file is only created if it does not exist, and belongs to the other program from then on.
    pub(super) fn write(&mut self, path: &str, text: &str) -> Result<(), Failure> {
        let is_hidden = path.starts_with('.');
        if is_hidden && self.target.join(path).exists() {
            return Ok(());
        }
        let place = self.draft.path().join(path);
        let written = place
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| fs::write(&place, text));
        written.map_err(|source| self.failed(path, source))?;
        let hash = if is_hidden {
            String::new()
        } else {
            ContentHash::of(text).to_string()
        };
        self.files.insert(path.to_owned(), hash);
        Ok(())
    }

    /// Moves the files to the folder, and deletes those of the previous export.
    pub(super) fn finish(self) -> Result<(), Failure> {
        if let Some(path) = self
            .files
            .keys()
            .find(|path| !self.former.contains_key(*path) && self.target.join(path).exists())
        {
            let why = format!(
                "{} contains {path}, which is not a file of the former export",
                self.shown
            );
            return Err(Failure::usage(
                why,
                "move the file, or choose another folder",
            ));
        }
        // If the following is interrupted, the next export replaces all files of both.
        let both = self
            .former
            .iter()
            .chain(&self.files)
            .map(|(path, hash)| (path.clone(), hash.clone()))
            .collect();
        self.write_marker(&both, false)?;
        for path in self.files.keys() {
            let place = self.target.join(path);
            let moved = self
                .create_parent(path)
                .and_then(|()| fs::rename(self.draft.path().join(path), &place));
            moved.map_err(|source| self.failed(path, source))?;
        }
        for path in self
            .former
            .keys()
            .filter(|path| !self.files.contains_key(*path))
        {
            match fs::remove_file(self.target.join(path)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(self.failed(path, error));
                }
                _ => {}
            }
            // A folder is only removed if it is empty.
            let parent = path
                .rsplit_once('/')
                .map(|(parent, _)| fs::remove_dir(self.target.join(parent)));
            drop(parent);
        }
        let listed = self
            .files
            .iter()
            .filter(|(_, hash)| !hash.is_empty())
            .map(|(path, hash)| (path.clone(), hash.clone()));
        self.write_marker(&listed.collect(), true)
    }

    /// Creates the folder of a file. A symlink in its place must not lead the export elsewhere.
    fn create_parent(&self, path: &str) -> io::Result<()> {
        let Some((parent, _)) = path.rsplit_once('/') else {
            return Ok(());
        };
        let parent = self.target.join(parent);
        match parent.symlink_metadata() {
            Ok(found) if found.is_dir() => Ok(()),
            Ok(_) => Err(io::Error::new(
                io::ErrorKind::NotADirectory,
                "a file has the name of the folder",
            )),
            Err(_) => fs::create_dir_all(&parent),
        }
    }

    fn write_marker(
        &self,
        files: &BTreeMap<String, String>,
        is_complete: bool,
    ) -> Result<(), Failure> {
        let marker = json!({ "format": self.format, "complete": is_complete, "files": files });
        let draft = self.draft.path().join(MARKER);
        let written = fs::write(&draft, format!("{marker}\n"))
            .and_then(|()| fs::rename(&draft, self.target.join(MARKER)));
        written.map_err(|source| self.failed(MARKER, source))
    }

    fn failed(&self, path: &str, source: io::Error) -> Failure {
        Failure::File {
            action: format!("write {path} in {}", self.shown),
            source,
        }
    }
}

/// Returns the files of the previous export in a folder, with their hashes.
fn former_files(
    marker: &[u8],
    target: &Path,
    shown: &str,
    format: &str,
) -> Result<BTreeMap<String, String>, Failure> {
    let other = "choose a new or an empty folder";
    let marker: Value = serde_json::from_slice(marker).unwrap_or_default();
    if marker["format"] != format {
        let former = marker["format"].as_str().unwrap_or("unknown");
        return Err(Failure::usage(
            format!("{shown} contains an export in the format {former}"),
            other,
        ));
    }
    let is_below = |path: &str| {
        path.split('/')
            .all(|part| !part.is_empty() && !part.starts_with('.') && !part.contains('\\'))
    };
    let listed = marker["files"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(path, _)| is_below(path));
    let files: BTreeMap<String, String> = listed
        .map(|(path, hash)| (path.clone(), hash.as_str().unwrap_or_default().to_owned()))
        .collect();
    let is_changed = |(path, hash): &(&String, &String)| {
        let now = fs::read(target.join(path)).ok();
        now.is_some_and(|bytes| ContentHash::from_bytes(&bytes).to_string() != **hash)
    };
    let changed: Vec<_> = files
        .iter()
        .filter(is_changed)
        .map(|(path, _)| path)
        .collect();
    match changed.as_slice() {
        [first, ..] if marker["complete"] == true => {
            let count = changed.len();
            let why = if count == 1 {
                format!("{first} in {shown} was changed since the export")
            } else {
                format!("{count} files in {shown} were changed since the export, such as {first}")
            };
            let hint = format!(
                "to import the changes, run `memory import --source {format} --path {shown}`; or choose another folder"
            );
            Err(Failure::usage(why, hint))
        }
        _ => Ok(files),
    }
}
