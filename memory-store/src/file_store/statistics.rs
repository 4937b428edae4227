//! What there is, in numbers.

use std::collections::HashMap;

use memory_core::{Filter, MemoryStore, Place, StoreError, Tags};

use super::FileStore;

/// What a home holds, in numbers. Counts by name come most frequent first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// All memories, also those that are over, without what is part of a conversation.
    pub memories: u64,
    /// Facts and turns of conversations.
    pub entries: u64,
    /// Those that wait in the inbox.
    pub inbox: u64,
    /// Those that are filed.
    pub organized: u64,
    /// By category.
    pub by_category: Vec<(String, u64)>,
    /// By scope.
    pub by_scope: Vec<(String, u64)>,
    /// By source.
    pub by_source: Vec<(String, u64)>,
    /// By tag; case does not matter.
    pub tags: Vec<(String, u64)>,
    /// Links between memories; both ways are one.
    pub links: u64,
    /// Memories whose files cannot be understood whole.
    pub problems: u64,
    /// Bytes of all memories' files.
    pub file_bytes: u64,
    /// Bytes of the index.
    pub index_bytes: u64,
    /// Changes that wait to be merged into the full-text index.
    pub pending: u64,
    /// Files in the trash.
    pub trash_files: u64,
    /// Their bytes.
    pub trash_bytes: u64,
}

impl FileStore {
    /// Counts what there is. Every file is read, for its tags and links.
    ///
    /// # Errors
    /// When the files cannot be read.
    pub fn statistics(&self) -> Result<Statistics, StoreError> {
        self.refresh()?;
        let known = self.index.statistics()?;
        let (trash_files, trash_bytes) = self.trash_size()?;
        let phase = |name: &str| known.phases.get(name).copied().unwrap_or_default();
        let mut statistics = Statistics {
            memories: known.documents.saturating_sub(known.entries),
            entries: known.entries,
            inbox: phase("inbox"),
            organized: phase("organized"),
            by_category: by_count(known.categories.clone()),
            by_scope: by_count(known.scopes.clone()),
            by_source: by_count(known.sources.clone()),
            problems: self.index.problems()?.len() as u64,
            file_bytes: known.bytes,
            index_bytes: known.index_bytes,
            pending: known.pending,
            trash_files,
            trash_bytes,
            ..Statistics::default()
        };
        let notes = Filter { place: Some(Place::Notes), ..Filter::everything() };
        let mut tags = HashMap::<String, (String, u64)>::new();
        for stored in self.memories(&notes, chrono::DateTime::UNIX_EPOCH) {
            let memory = stored?.memory;
            statistics.links += memory.links.len() as u64;
            for tag in &memory.tags {
                tags.entry(Tags::key(tag)).or_insert_with(|| (tag.clone(), 0)).1 += 1;
            }
        }
        // Each link stands at both of its ends.
        statistics.links = statistics.links.div_ceil(2);
        statistics.tags = by_count(tags.into_values());
        Ok(statistics)
    }
}

/// Sorts by count, most frequent first, then by name.
fn by_count(counts: impl IntoIterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    counts
}
