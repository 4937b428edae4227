//! Codex's folder: its memories and its sessions.

use std::path::Path;

use memory_core::wikilink::WikilinkRule;
use memory_core::{Source, SourceError, SourceItem, SourceSessionItem};

use crate::codex_memories::{CodexMemories, HANDBOOK, MEMORIES_FOLDER, SUMMARY};
use crate::codex_sessions::CodexSessions;

/// Codex's folder: the handbook of its memories as notes, and its sessions as conversations.
#[derive(Debug)]
pub struct Codex {
    /// The memories, if the folder has some.
    memories: Option<CodexMemories>,
    sessions: CodexSessions,
}

impl Codex {
    /// Opens Codex's folder, its folder of memories or of sessions, or one session.
    ///
    /// # Errors
    /// [`SourceError::Missing`] or [`SourceError::Unreadable`].
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        let sessions = CodexSessions::open(path)?;
        let has_memories = [MEMORIES_FOLDER, HANDBOOK, SUMMARY]
            .iter()
            .any(|part| path.join(part).exists());
        let memories = has_memories
            .then(|| CodexMemories::open(path))
            .transpose()?;
        Ok(Self { memories, sessions })
    }
}

impl Source for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn rule(&self) -> WikilinkRule {
        self.sessions.rule()
    }

    fn items(&self) -> Box<dyn Iterator<Item = SourceItem> + '_> {
        Box::new(self.memories.iter().flat_map(Source::items))
    }

    fn sessions(&self) -> Box<dyn Iterator<Item = SourceSessionItem> + '_> {
        self.sessions.sessions()
    }
}
