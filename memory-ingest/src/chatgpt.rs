//! Exports of ChatGPT, and lists of its saved memories.

mod conversation;
mod memory_list;

use std::fs::File;
use std::path::{Path, PathBuf};

use memory_core::{Source, SourceError, SourceItem, SourceSessionItem};

use crate::archive::Archive;
use crate::conversation_export::{
    contains_key, conversation_elements, is_conversation_file, is_export,
};
use crate::folder::has_extension;
use crate::json_elements::parse;
use crate::session_builder::{skipped_session, unique_sessions};

/// The name of the source, and the constant root of its items. Exports come under another path each time.
const NAME: &str = "chatgpt";

/// The key that the conversations of this program have, and those of others do not.
const KEY: &str = "\"mapping\"";

/// An export of ChatGPT, whose conversations become sessions; or a text file with saved memories, which become notes.
///
/// An export does not contain the saved memories. A person pastes them from the settings into a file.
#[derive(Debug)]
pub struct ChatGpt(ChatGptInput);

#[derive(Debug)]
enum ChatGptInput {
    Export(Archive),
    MemoryList(PathBuf),
}

impl ChatGpt {
    /// Opens an export (a folder, a ZIP archive, or a file such as `conversations.json`), or a text file with memories.
    ///
    /// # Errors
    /// [`SourceError::Missing`], [`SourceError::Unreadable`] or [`SourceError::NotRecognized`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        if has_extension(&path.to_string_lossy(), &["txt", "md", "markdown"]) && path.is_file() {
            let unreadable = |source| SourceError::Unreadable {
                path: path.display().to_string(),
                source,
            };
            File::open(path).map_err(unreadable)?;
            return Ok(Self(ChatGptInput::MemoryList(path.to_owned())));
        }
        let archive = Archive::open_parts(path, Self::recognizes, &is_conversation_file)?;
        if archive.files.is_empty() && archive.problems.is_empty()
            || contains_key(&archive, KEY) == Some(false)
        {
            let expected = "an export of ChatGPT, which contains `conversations.json`".into();
            return Err(SourceError::NotRecognized {
                path: path.display().to_string(),
                expected,
            });
        }
        Ok(Self(ChatGptInput::Export(archive)))
    }

    /// Returns whether the files at `path` are an export of ChatGPT.
    pub(crate) fn recognizes(path: &Path) -> bool {
        is_export(path, KEY)
    }
}

impl Source for ChatGpt {
    fn name(&self) -> &'static str {
        NAME
    }

    /// A pasted list may be a part of the memories.
    fn is_complete(&self) -> bool {
        false
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        match &self.0 {
            ChatGptInput::Export(_) => Box::new(std::iter::empty()),
            ChatGptInput::MemoryList(path) => Box::new(memory_list::read_items(path).into_iter()),
        }
    }

    fn sessions(&self) -> Box<dyn Iterator<Item = SourceSessionItem> + '_> {
        match &self.0 {
            ChatGptInput::Export(archive) => {
                let elements = conversation_elements(archive, &|_| true);
                Box::new(unique_sessions(elements.flat_map(|(path, bytes)| {
                    match bytes.and_then(parse) {
                        Ok(conversation) => conversation::to_session(&conversation, &path),
                        Err(reason) => vec![skipped_session(path, reason)],
                    }
                })))
            }
            ChatGptInput::MemoryList(_) => Box::new(std::iter::empty()),
        }
    }
}
