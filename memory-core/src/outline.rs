//! What is known of every memory without a look at its file.

use std::fmt::Debug;

use chrono::{DateTime, Utc};

use crate::{Category, ContentHash, MemoryId, Phase, Scope, StoreError};

/// What is known of a memory without a look at its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The memory.
    pub id: MemoryId,
    /// Where it stands between "just written" and "filed".
    pub phase: Phase,
    /// What it is about.
    pub category: Category,
    /// Who may see it.
    pub scope: Scope,
    /// When it was first written.
    pub created_at: DateTime<Utc>,
    /// When its file was last changed by us.
    pub updated_at: DateTime<Utc>,
    /// Whether it was superseded.
    pub is_superseded: bool,
    /// From when on it is left out of answers, if ever.
    pub ends_at: Option<DateTime<Utc>>,
    /// How often it has been read.
    pub access_count: u64,
    /// Whether its file must not be changed.
    pub is_damaged: bool,
    /// The hash of its text, see [`crate::embedded_text`].
    pub text: ContentHash,
    /// What was remembered of that text, if anything was.
    pub impression: Option<Vec<u8>>,
}

/// What is remembered of the text of a memory, so that it need not be read again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Impression {
    /// The memory.
    pub id: MemoryId,
    /// The hash of the text, see [`crate::embedded_text`].
    pub text: ContentHash,
    /// Whatever is worth remembering; only whoever keeps it knows what it means.
    pub bytes: Vec<u8>,
}

/// Tells outlines, and keeps impressions of texts. Every implementation passes `testing::outlines_suite`.
///
/// Impressions can be had again, so whoever keeps them may lose them. One is of one text: once the memory says something else
/// it counts as not there.
pub trait Outlines: Debug + Send + Sync {
    /// Returns the outlines of all memories, by their ids.
    ///
    /// # Errors
    /// When the files cannot be read.
    fn outlines(&self) -> Result<Vec<Outline>, StoreError>;

    /// Returns the scope of each of `ids`, as far as it is there.
    ///
    /// # Errors
    /// When the files cannot be read.
    fn scopes(&self, ids: &[MemoryId]) -> Result<Vec<Option<Scope>>, StoreError>;

    /// Keeps impressions, in place of former ones; those of texts that have changed in the meantime, or whose memories are
    /// gone, are left out.
    ///
    /// # Errors
    /// When they cannot be kept.
    fn keep_impressions(&self, impressions: &[Impression]) -> Result<(), StoreError>;
}
