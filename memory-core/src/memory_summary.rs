//! Summaries of memories that are available without reading their files.

use std::fmt::Debug;

use chrono::{DateTime, Utc};

use crate::{Category, ContentHash, MemoryId, Phase, Scope, StoreError};

/// The fields of a memory that are available without reading its file.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Whether the file is damaged and must not be changed.
    pub is_damaged: bool,
    /// Whether the file is in a folder of the user instead of one of a category, so that no automatic work changes it.
    pub is_foreign: bool,
    /// The hash of the text, see [`crate::embedded_text`].
    pub text: ContentHash,
    /// The cached analysis of that text, if any.
    pub impression: Option<Vec<u8>>,
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

/// A provider of outlines and a cache of text analyses.
///
/// Every implementation passes `testing::summaries_suite`.
///
/// Analyses can be recomputed, so a store may lose them. An analysis belongs to one text and is ignored once the text
/// of the memory changes.
pub trait MemorySummaries: Debug + Send + Sync {
    /// Returns the outlines of all memories, ordered by id.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn summaries(&self) -> Result<Vec<MemorySummary>, StoreError>;

    /// Returns the scope of each of `ids`, or `None` for a memory that does not exist.
    ///
    /// # Errors
    /// If the files cannot be read.
    fn scopes(&self, ids: &[MemoryId]) -> Result<Vec<Option<Scope>>, StoreError>;

    /// Stores text analyses, replacing previous ones.
    ///
    /// Analyses of texts that have changed concurrently, and of deleted memories, are skipped.
    ///
    /// # Errors
    /// If they cannot be written.
    fn store_analyses(&self, impressions: &[CachedAnalysis]) -> Result<(), StoreError>;
}
