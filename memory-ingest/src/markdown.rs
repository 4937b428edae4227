//! Markdown files of any program.

use std::path::Path;

use memory_core::{Source, SourceError, SourceItem};

use crate::folder::has_extension;
use crate::record::map_category;
use crate::text_files::{TextFile, TextFiles};
use crate::yaml::Yaml;

/// The extensions of the files that are notes.
pub(crate) const EXTENSIONS: [&str; 3] = ["markdown", "md", "txt"];

/// A folder of Markdown and text files, or one such file.
///
/// Wikilinks and Markdown links lead to other notes.
#[derive(Debug)]
pub struct Markdown {
    files: TextFiles,
}

impl Markdown {
    /// Opens the folder, ZIP archive or file at `path`.
    ///
    /// # Errors
    /// [`SourceError::Missing`] or [`SourceError::Unreadable`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        Ok(Self {
            files: TextFiles::open(path)?,
        })
    }

    fn finding(&self, file: TextFile<'_>) -> SourceItem {
        if !has_extension(&file.path, &EXTENSIONS) {
            return file.into_attachment();
        }
        let mut note = match file.into_note(self.name(), self.files.root()) {
            Ok(note) => note,
            Err(skipped) => return skipped,
        };
        note.draft.category = note
            .field("category")
            .and_then(Yaml::scalar)
            .and_then(map_category);
        note.into_finding()
    }
}

impl Source for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        Box::new(
            self.files
                .files()
                .into_iter()
                .map(|file| self.finding(file)),
        )
    }
}
