//! Exports of Claude.ai.

mod conversation;
mod notes;

use std::path::Path;

use memory_core::{Source, SourceError, SourceItem, SourceSessionItem};

use crate::archive::Archive;
use crate::conversation_export::{
    contains_key, conversation_elements, is_conversation_file, is_export,
};
use crate::json_elements::parse;
use crate::session_builder::{skipped_session, unique_sessions};

/// The name of the source, and the constant root of its items. Exports come under another path each time.
const NAME: &str = "claude-ai";

/// The key that the conversations of this program have, and those of others do not.
const KEY: &str = "\"chat_messages\"";

/// An export of Claude.ai: conversations become sessions; memories and the files of projects become notes.
#[derive(Debug)]
pub struct ClaudeAi(Archive);

/// The content of a file of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExportFileKind {
    Conversations,
    Memories,
    Projects,
}

impl ExportFileKind {
    /// Returns the kind of the file at `path`: `conversations.json`, `memories.json`, `memories/ACCOUNT.json`,
    /// `projects.json` or `projects/ID.json`.
    fn of(path: &str) -> Option<Self> {
        if is_conversation_file(path) {
            return Some(Self::Conversations);
        }
        let stem = path.strip_suffix(".json")?;
        let mut parts = stem.rsplit('/');
        let (name, folder) = (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        );
        match (folder, name) {
            ("memories", _) | (_, "memories") => Some(Self::Memories),
            ("projects", _) | (_, "projects") => Some(Self::Projects),
            _ => None,
        }
    }
}

impl ClaudeAi {
    /// Opens an export: a folder, a ZIP archive, a folder of ZIP archives, or one of its files.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Unreadable`] or [`SourceError::NotRecognized`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let is_known = |path: &str| ExportFileKind::of(path).is_some();
        let archive = Archive::open_parts(path, Self::recognizes, &is_known)?;
        if archive.files.is_empty() && archive.problems.is_empty()
            || contains_key(&archive, KEY) == Some(false)
        {
            let expected = "an export of Claude.ai, which contains `conversations.json`".into();
            return Err(SourceError::NotRecognized {
                path: path.display().to_string(),
                expected,
            });
        }
        Ok(Self(archive))
    }

    /// Returns whether a file of an export has notes.
    pub(crate) fn has_notes(path: &str) -> bool {
        ExportFileKind::of(path).is_some_and(|kind| kind != ExportFileKind::Conversations)
    }

    /// Returns whether the files at `path` are an export of Claude.ai.
    pub(crate) fn recognizes(path: &Path) -> bool {
        is_export(path, KEY)
    }
}

impl Source for ClaudeAi {
    fn name(&self) -> &'static str {
        NAME
    }

    /// An export contains the data of one account.
    fn is_complete(&self) -> bool {
        false
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        Box::new(notes::read_items(&self.0).into_iter())
    }

    fn sessions(&self) -> Box<dyn Iterator<Item = SourceSessionItem> + '_> {
        // A single file may have any name.
        let elements = conversation_elements(&self.0, &|file| {
            matches!(
                ExportFileKind::of(&file.name),
                None | Some(ExportFileKind::Conversations)
            )
        });
        Box::new(unique_sessions(elements.flat_map(
            |(path, bytes)| match bytes.and_then(parse) {
                Ok(conversation) => conversation::to_session(conversation, &path),
                Err(reason) => vec![skipped_session(path, reason)],
            },
        )))
    }
}
