//! Obsidian vaults.

use std::collections::HashSet;
use std::path::Path;

use memory_core::wikilink::fold_link_name;
use memory_core::{Source, SourceError, SourceItem};

use crate::folder::{FolderEntry, SourceFolder, has_extension};
use crate::markdown_links::resolve_path;
use crate::note::{self, OBSIDIAN, SourceNote};

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

    /// Returns the item of a file. `paths` are the folded paths of all files.
    fn finding(&self, entry: FolderEntry, paths: &HashSet<String>) -> SourceItem {
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
                let mut note = SourceNote::new(self.name(), self.folder.name(), &entry.path, &text);
                // The program resolves a path in a Markdown link that is not relative like one in a wikilink.
                for link in &mut note.uncounted_links {
                    if let Some(path) = link.strip_prefix("./")
                        && !is_below(paths, &entry.path, path)
                    {
                        *link = path.to_owned();
                    }
                }
                note.into_finding()
            }
            Err(skipped) => skipped,
        }
    }
}

impl Source for Obsidian {
    fn name(&self) -> &'static str {
        OBSIDIAN
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let entries = self.folder.files("");
        let paths: HashSet<String> = entries
            .iter()
            .map(|entry| fold_link_name(&entry.path))
            .collect();
        Box::new(
            entries
                .into_iter()
                .map(move |entry| self.finding(entry, &paths)),
        )
    }
}

/// Returns whether a file or note exists at `path` relative to the folder of the file at `from`.
fn is_below(paths: &HashSet<String>, from: &str, path: &str) -> bool {
    resolve_path(from, path).is_some_and(|path| {
        let path = fold_link_name(&path);
        paths.contains(&path) || paths.contains(&format!("{path}.md"))
    })
}
