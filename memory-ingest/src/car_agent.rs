//! The folder of `car-agent`.

use std::path::Path;

use memory_core::{Source, SourceError, SourceItem};

use crate::folder::{FolderEntry, SourceFolder, has_extension};
use crate::note::{self, SourceNote};
use crate::truncation;

/// The folder of `car-agent`: every Markdown file, cut to its first 5,000 characters.
#[derive(Debug)]
pub struct CarAgent {
    folder: SourceFolder,
}

impl CarAgent {
    /// Opens the folder at `path`.
    ///
    /// # Errors
    /// [`SourceError::Missing`] or [`SourceError::Unreadable`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        Ok(Self {
            folder: SourceFolder::open(path)?,
        })
    }

    fn finding(&self, entry: &FolderEntry) -> SourceItem {
        let text = match note::read_text(entry) {
            Ok(text) => text,
            Err(skipped) => return skipped,
        };
        if text.text.trim().is_empty() {
            return SourceItem::Skipped {
                path: entry.path.clone(),
                reason: "is empty".into(),
            };
        }
        let mut note = SourceNote::new(self.name(), self.folder.name(), &entry.path, &text);
        let place = self.folder.join(&entry.path);
        if let Some(cut) = truncation::truncate_text(&note.draft.content, &place.to_string_lossy())
        {
            note.draft.content = cut;
        }
        note.into_finding()
    }
}

impl Source for CarAgent {
    fn name(&self) -> &'static str {
        "car-agent"
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let is_note =
            |entry: &FolderEntry| has_extension(&entry.path, &["md"]) || entry.place.is_err();
        Box::new(
            self.folder
                .files("")
                .into_iter()
                .filter(is_note)
                .map(|entry| self.finding(&entry)),
        )
    }
}
