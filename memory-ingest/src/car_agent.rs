//! The folder of `car-agent`.

use std::path::Path;

use memory_core::wikilink::Rule;
use memory_core::{Finding, Source, SourceError};

use crate::cut;
use crate::folder::{Entry, Folder, has_extension};
use crate::note::{self, Note};

/// The folder of `car-agent`: every Markdown file, cut to its first 5,000 characters.
#[derive(Debug)]
pub struct CarAgent {
    folder: Folder,
}

impl CarAgent {
    /// Opens the folder at `path`.
    ///
    /// # Errors
    /// [`SourceError::Missing`] or [`SourceError::Unreadable`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        Ok(Self { folder: Folder::open(path)? })
    }

    fn finding(&self, entry: &Entry) -> Finding {
        let text = match note::read(entry) {
            Ok(text) => text,
            Err(skipped) => return skipped,
        };
        if text.text.trim().is_empty() {
            return Finding::Skipped { path: entry.path.clone(), reason: "is empty".into() };
        }
        let mut note = Note::new(self.name(), &self.folder, &entry.path, &text);
        let place = self.folder.join(&entry.path);
        if let Some(cut) = cut::first_part(&note.draft.content, &place.to_string_lossy()) {
            note.draft.content = cut;
        }
        note.into_finding()
    }
}

impl Source for CarAgent {
    fn name(&self) -> &'static str {
        "car-agent"
    }

    fn rule(&self) -> Rule {
        Rule::Paths
    }

    fn findings(&self) -> Box<dyn Iterator<Item = Finding> + '_> {
        let is_note = |entry: &Entry| has_extension(&entry.path, &["md"]) || entry.place.is_err();
        Box::new(self.folder.files("").into_iter().filter(is_note).map(|entry| self.finding(&entry)))
    }
}
