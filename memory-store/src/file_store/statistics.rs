//! Statistics of a home.

use std::collections::HashMap;

use memory_core::{Filter, HomeSection, MemoryStore, StoreError, Tags};

use super::FileStore;

/// Statistics of a home. Counts by name are sorted by count, the highest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HomeStatistics {
    /// Number of memories, including expired ones, without parts of conversations.
    pub memories: u64,
    /// Number of facts and turns of conversations.
    pub entries: u64,
    /// Number of memories in the inbox.
    pub inbox: u64,
    /// Number of organized memories.
    pub organized: u64,
    /// Numbers by category.
    pub by_category: Vec<(String, u64)>,
    /// Numbers by scope.
    pub by_scope: Vec<(String, u64)>,
    /// Numbers by source.
    pub by_source: Vec<(String, u64)>,
    /// Numbers by tag, regardless of case.
    pub tags: Vec<(String, u64)>,
    /// Number of links between memories; a link in both directions counts once.
    pub links: u64,
    /// Number of files with problems.
    pub problems: u64,
    /// Total size of the files of memories, in bytes.
    pub file_bytes: u64,
    /// Size of the index, in bytes.
    pub index_bytes: u64,
    /// Number of changes that are not in the full-text index yet.
    pub pending: u64,
    /// Number of files in the trash.
    pub trash_files: u64,
    /// Size of the trash, in bytes.
    pub trash_bytes: u64,
}

impl FileStore {
    /// Computes the statistics. Reads every file for its tags and links.
    ///
    /// # Errors
    /// If the files cannot be read.
    pub fn statistics(&self) -> Result<HomeStatistics, StoreError> {
        self.refresh()?;
        let known = self.index.statistics()?;
        let (trash_files, trash_bytes) = self.trash_size()?;
        let phase = |name: &str| known.phases.get(name).copied().unwrap_or_default();
        let mut statistics = HomeStatistics {
            memories: known
                .documents
                .saturating_sub(known.entries + known.proposals),
            entries: known.entries,
            inbox: phase("inbox"),
            organized: phase("organized"),
            by_category: sort_by_count(known.categories.clone()),
            by_scope: sort_by_count(known.scopes.clone()),
            by_source: sort_by_count(known.sources.clone()),
            problems: self.index.problems()?.len() as u64,
            file_bytes: known.bytes,
            index_bytes: known.index_bytes,
            pending: known.pending,
            trash_files,
            trash_bytes,
            ..HomeStatistics::default()
        };
        let notes = Filter {
            place: Some(HomeSection::Notes),
            ..Filter::all()
        };
        let mut tags = HashMap::<String, (String, u64)>::new();
        for stored in self.memories(&notes, chrono::DateTime::UNIX_EPOCH) {
            let memory = stored?.memory;
            statistics.links += memory.links.len() as u64;
            for tag in &memory.tags {
                tags.entry(Tags::key(tag))
                    .or_insert_with(|| (tag.clone(), 0))
                    .1 += 1;
            }
        }
        // Each link is stored in both memories.
        statistics.links = statistics.links.div_ceil(2);
        statistics.tags = sort_by_count(tags.into_values());
        Ok(statistics)
    }
}

/// Sorts by count, the highest first, then by name.
fn sort_by_count(counts: impl IntoIterator<Item = (String, u64)>) -> Vec<(String, u64)> {
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    counts
}
