//! Obsidian vaults.

use std::path::Path;

use memory_core::wikilink::Rule;
use memory_core::{Finding, Source, SourceError};

use crate::folder::{Entry, Folder, has_extension};
use crate::note::{self, Note};

/// An Obsidian vault: every Markdown file is a note, and every other file is an attachment.
#[derive(Debug)]
pub struct Obsidian {
    folder: Folder,
}

impl Obsidian {
    /// Opens the vault at `path`.
    ///
    /// # Errors
    /// [`SourceError::Missing`] or [`SourceError::Unreadable`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        Ok(Self { folder: Folder::open(path)? })
    }

    fn finding(&self, entry: Entry) -> Finding {
        if !has_extension(&entry.path, &["md"]) {
            return match entry.place {
                Ok(_) => Finding::Attachment(entry.path),
                Err(reason) => Finding::Skipped { path: entry.path, reason },
            };
        }
        match note::read(&entry) {
            Ok(text) => Note::new(self.name(), &self.folder, &entry.path, &text).into_finding(),
            Err(skipped) => skipped,
        }
    }
}

impl Source for Obsidian {
    fn name(&self) -> &'static str {
        "obsidian"
    }

    fn rule(&self) -> Rule {
        Rule::Paths
    }

    fn findings(&self) -> Box<dyn Iterator<Item = Finding> + '_> {
        Box::new(self.folder.files("").into_iter().map(|entry| self.finding(entry)))
    }
}
