//! Obsidian vaults.

use std::path::Path;

use memory_core::{Source, SourceError, SourceItem};

use crate::folder::{FolderEntry, SourceFolder, has_extension};
use crate::note::{self, SourceNote};

/// An Obsidian vault: every Markdown file is a note, and every other file is an attachment.
#[derive(Debug)]
pub struct Obsidian {
    folder: SourceFolder,
}

impl Obsidian {
    /// Opens the vault at `path`.
    ///
    /// # Errors
    /// [`SourceError::Missing`] or [`SourceError::Unreadable`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        Ok(Self {
            folder: SourceFolder::open(path)?,
        })
    }

    fn finding(&self, entry: FolderEntry) -> SourceItem {
        if !has_extension(&entry.path, &["md"]) {
            return match entry.place {
                Ok(_) => SourceItem::Attachment(entry.path),
                Err(reason) => SourceItem::Skipped {
                    path: entry.path,
                    reason,
                },
            };
        }
        match note::read_text(&entry) {
            Ok(text) => {
                SourceNote::new(self.name(), self.folder.name(), &entry.path, &text).into_finding()
            }
            Err(skipped) => skipped,
        }
    }
}

impl Source for Obsidian {
    fn name(&self) -> &'static str {
        "obsidian"
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        Box::new(
            self.folder
                .files("")
                .into_iter()
                .map(|entry| self.finding(entry)),
        )
    }
}
