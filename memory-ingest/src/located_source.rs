//! Sources with ids that are unique in one file only.

use std::path::Path;

use memory_core::wikilink::WikilinkRule;
use memory_core::{Source, SourceError, SourceItem, SourceSessionItem};

/// A source whose ids are unique in its file only, so that the path of the file is the root of its notes.
///
/// Two files of such a source are two sources: neither updates the memories of the other.
#[derive(Debug)]
pub(crate) struct LocatedSource<S> {
    source: S,
    root: String,
}

impl<S: Source> LocatedSource<S> {
    /// Opens the source at `path`.
    ///
    /// # Errors
    /// Those of `open`.
    pub(crate) fn open(
        path: &Path,
        open: fn(&Path) -> Result<S, SourceError>,
    ) -> Result<Self, SourceError> {
        let source = open(path)?;
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Ok(Self {
            source,
            root: path.to_string_lossy().into_owned(),
        })
    }
}

impl<S: Source> Source for LocatedSource<S> {
    fn name(&self) -> &str {
        self.source.name()
    }

    fn rule(&self) -> WikilinkRule {
        self.source.rule()
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        Box::new(self.source.items().map(|mut item| {
            if let SourceItem::Note(note) = &mut item
                && let Some(origin) = &mut note.draft.origin
            {
                origin.root.clone_from(&self.root);
            }
            item
        }))
    }

    fn is_complete(&self) -> bool {
        self.source.is_complete()
    }

    fn sessions(&self) -> Box<dyn Iterator<Item = SourceSessionItem> + '_> {
        self.source.sessions()
    }
}
