//! The session files of agents on this machine, as JSON Lines.

use std::fs::File;
use std::path::Path;

use memory_core::instance::history::RecordRole;
use memory_core::{SourceError, SourceSessionItem, secret};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::folder::{FolderEntry, SourceFolder, has_extension};
use crate::json_elements::{JsonElements, parse};
use crate::note;
use crate::session_builder::{SessionBuilder, skipped_session};

/// A folder with session files, or one session file.
#[derive(Debug)]
pub(crate) struct SessionFiles {
    pub(crate) folder: SourceFolder,
    only: Option<String>,
}

impl SessionFiles {
    /// Opens the folder or the file at `path`.
    pub(crate) fn open(path: &Path) -> Result<Self, SourceError> {
        if !(path.is_file() && has_extension(&path.to_string_lossy(), &["json", "jsonl"])) {
            return Ok(Self {
                folder: SourceFolder::open(path)?,
                only: None,
            });
        }
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let only = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        Ok(Self {
            folder: SourceFolder::open(parent)?,
            only,
        })
    }

    /// Returns the only file, or the files in the first of `parts` that exists whose paths below it `is_session`.
    pub(crate) fn entries(
        &self,
        parts: &[&str],
        is_session: &dyn Fn(&str) -> bool,
    ) -> Vec<FolderEntry> {
        if let Some(name) = &self.only {
            return self.folder.chosen_file(name).into_iter().collect();
        }
        let Some(part) = parts.iter().find(|part| self.folder.join(part).is_dir()) else {
            return Vec::new();
        };
        let below = |path: &str| {
            if part.is_empty() {
                Some(path.to_owned())
            } else {
                Some(path.strip_prefix(part)?.strip_prefix('/')?.to_owned())
            }
        };
        let mut entries = self.folder.files(part);
        entries.retain(|entry| below(&entry.path).is_some_and(|path| is_session(&path)));
        entries
    }

    /// Returns whether the source is one file.
    pub(crate) fn is_single(&self) -> bool {
        self.only.is_some()
    }
}

/// Opens a session file, or returns the reason of the failure.
pub(crate) fn open_entry(entry: &FolderEntry) -> Result<File, SourceSessionItem> {
    let skipped = |reason: String| skipped_session(entry.path.clone(), reason);
    let place = entry
        .place
        .as_ref()
        .map_err(|reason| skipped(reason.clone()))?;
    File::open(place).map_err(|error| skipped(format!("cannot be read: {error}")))
}

/// Iterates over the lines of a session file. A damaged line is reported to `session`.
pub(crate) fn for_each_line<T: DeserializeOwned>(
    file: File,
    session: &mut SessionBuilder,
    use_line: &mut dyn FnMut(&mut SessionBuilder, T),
) {
    for line in JsonElements::of_lines(file) {
        match line.bytes.and_then(parse) {
            Ok(parsed) => use_line(session, parsed),
            Err(reason) => session.skip(&format!("line {} {reason}", line.number)),
        }
    }
}

/// Returns the text of a message: a string, or the parts that `part_text` accepts, one after the other.
pub(crate) fn content_text(
    content: &Value,
    part_text: &dyn Fn(&Value) -> Option<String>,
) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(part_text)
            .collect::<Vec<_>>()
            .join("\n"),
        part => part_text(part).unwrap_or_default(),
    }
}

/// Returns the name of a project: the last part of its path, without credentials.
pub(crate) fn project_name(path: &str) -> Option<String> {
    let separators: &[char] = if path.contains('/') { &['/'] } else { &['\\'] };
    let name = note::one_line(
        path.trim_end()
            .trim_end_matches(separators)
            .rsplit(separators)
            .next()
            .unwrap_or_default(),
    );
    let name = secret::redact(&name).map_or(name, |redacted| redacted.text);
    (!name.is_empty()).then_some(name)
}

/// Returns the role of the person or of the assistant.
pub(crate) fn role(is_user: bool) -> RecordRole {
    if is_user { "user" } else { "assistant" }
        .parse()
        .expect("the words are roles")
}
