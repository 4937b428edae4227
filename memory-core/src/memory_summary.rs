//! Summaries of memories that are available without reading their files.

use chrono::{DateTime, Utc};

use crate::{
    Category, ContentHash, HomeSection, MemoryId, Phase, Scope, StoredMemory, embedded_text,
};

/// The fields of a memory that are available without reading its file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property of its own"
)]
pub struct MemorySummary {
    /// The memory.
    pub id: MemoryId,
    /// The phase.
    pub phase: Phase,
    /// The category.
    pub category: Category,
    /// The scope, which determines the readers.
    pub scope: Scope,
    /// The creation time.
    pub created_at: DateTime<Utc>,
    /// The time of the last change of the file by this program.
    pub updated_at: DateTime<Utc>,
    /// Whether the memory was superseded.
    pub is_superseded: bool,
    /// The time from which the memory is excluded from results, if any.
    pub ends_at: Option<DateTime<Utc>>,
    /// The number of reads.
    pub access_count: u64,
    /// Whether the memory is a reminder.
    pub is_reminder: bool,
    /// The part of the home that contains the file.
    pub place: HomeSection,
    /// Whether the file is damaged and must not be changed.
    pub is_damaged: bool,
    /// Whether the file is in a folder of the user instead of one of a category, so that no automatic work changes it.
    pub is_foreign: bool,
    /// The hash of the text, see [`crate::embedded_text`].
    pub text: ContentHash,
    /// The cached analysis of that text, if any.
    pub impression: Option<Vec<u8>>,
}

impl MemorySummary {
    /// Returns the summary of a memory in a folder of a category, without an analysis.
    pub(crate) fn new(stored: &StoredMemory) -> Self {
        let memory = &stored.memory;
        Self {
            id: memory.id,
            phase: memory.phase,
            category: memory.category,
            scope: memory.scope.clone(),
            created_at: memory.created_at,
            updated_at: memory.updated_at,
            is_superseded: memory.superseded_by.is_some(),
            ends_at: memory.ends_at().filter(|_| memory.superseded_by.is_none()),
            access_count: memory.access_count,
            is_reminder: memory.reminder.is_some(),
            place: HomeSection::of(&stored.path),
            is_damaged: stored.problem.is_some(),
            is_foreign: false,
            text: ContentHash::of(&embedded_text(memory)),
            impression: None,
        }
    }
}

/// A cached analysis of the text of a memory, which saves reading the text again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedAnalysis {
    /// The memory.
    pub id: MemoryId,
    /// The hash of the text, see [`crate::embedded_text`].
    pub text: ContentHash,
    /// The serialized analysis. Its format is private to the writer.
    pub bytes: Vec<u8>,
}
