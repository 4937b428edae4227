//! The chat of `fingersaver`.

use std::path::Path;

use memory_core::wikilink;
use memory_core::{Draft, NoteItem, Origin, Phase, Source, SourceError, SourceItem};

use crate::folder::{FolderEntry, SourceFolder};
use crate::note::{self, trim_newline};
use crate::truncation;

/// The only file that is read.
const CHAT: &str = "chat.md";

/// The chat of `fingersaver`: one memory with its newest 5,000 characters.
#[derive(Debug)]
pub struct Fingersaver {
    folder: SourceFolder,
}

impl Fingersaver {
    /// Opens the folder at `path`, or the folder of the file `chat.md` at `path`.
    ///
    /// # Errors
    /// [`SourceError::Missing`] or [`SourceError::Unreadable`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let is_chat = path.is_file() && path.file_name().is_some_and(|name| name == CHAT);
        let parent = path.parent().map(|parent| {
            if parent.as_os_str().is_empty() {
                Path::new(".")
            } else {
                parent
            }
        });
        let folder = SourceFolder::open(parent.filter(|_| is_chat).unwrap_or(path))?;
        match folder.join(CHAT) {
            chat if chat.exists() => Ok(Self { folder }),
            chat => Err(SourceError::Missing {
                path: chat.display().to_string(),
            }),
        }
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
        let chat = trim_newline(&text.text);
        let content = truncation::truncate_chat(chat, &self.folder.join(CHAT).to_string_lossy())
            .unwrap_or_else(|| chat.to_owned());
        let origin = Origin {
            source: self.name().into(),
            root: self.folder.name().into(),
            path: CHAT.into(),
            hash: None,
        };
        let prose = wikilink::blank_code(&content);
        let draft = Draft {
            title: Some("chat".into()),
            phase: Some(Phase::Inbox),
            tags: wikilink::prose_tags(&prose).into_iter().collect(),
            source: self.name().into(),
            origin: Some(origin),
            ..Draft::new(&content)
        };
        let links = wikilink::parse_prose_wikilinks(&prose)
            .into_iter()
            .map(|link| link.target)
            .collect();
        let warning = text
            .warning
            .map(|(line, what)| format!("{CHAT}:{line}: {what}"));
        SourceItem::Note(Box::new(NoteItem {
            links,
            warning,
            ..NoteItem::new(draft)
        }))
    }
}

impl Source for Fingersaver {
    fn name(&self) -> &'static str {
        "fingersaver"
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        let chat = self
            .folder
            .files("")
            .into_iter()
            .find(|entry| entry.path == CHAT);
        Box::new(chat.into_iter().map(|entry| self.finding(&entry)))
    }
}
