//! Pairs of memories that cannot both hold.

use std::collections::HashSet;

use memory_core::{
    ContentHash, Filter, HomeSection, ListOrder, Memory, MemoryId, NeighbourRelation, PageRequest,
    Services, StoreError, list,
};

/// Number of memories that are compared with the others: those that were changed last.
pub(super) const COMPARED: usize = 30;

/// Two memories that cannot both hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MemoryConflict {
    /// The one that was stated last.
    pub(super) newer: MemoryId,
    pub(super) older: MemoryId,
    /// Whether the newer one says that what the older one states has changed.
    pub(super) is_update: bool,
    /// Identifies the conflict; see [`conflict_key`].
    pub(super) key: String,
}

/// Returns the conflicts of the memories that were changed last.
///
/// # Errors
/// If the memories cannot be read.
pub(super) fn find_conflicts(services: &Services) -> Result<Vec<MemoryConflict>, StoreError> {
    let filter = Filter {
        place: Some(HomeSection::Notes),
        ..Filter::default()
    };
    let last = PageRequest {
        order: ListOrder::Updated,
        offset: 0,
        limit: Some(COMPARED),
    };
    let (mut seen, mut conflicts) = (HashSet::new(), Vec::new());
    for stored in list(services, &filter, &last)?.memories {
        for neighbour in services.neighbours(&stored.memory, None)? {
            let is_update = neighbour.relation == NeighbourRelation::Updates;
            if !is_update && neighbour.relation != NeighbourRelation::Contradicts {
                continue;
            }
            let other = match services.store.get(&neighbour.id) {
                Ok(stored) => stored.memory,
                Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => continue,
                Err(error) => return Err(error),
            };
            if other.superseded_by.is_some() {
                continue;
            }
            let mut pair = [&stored.memory, &other];
            pair.sort_by_key(|memory| (memory.last_stated_at(), memory.id));
            let [older, newer] = pair;
            let key = conflict_key(newer, older);
            if seen.insert(key.clone()) {
                conflicts.push(MemoryConflict {
                    newer: newer.id,
                    older: older.id,
                    is_update,
                    key,
                });
            }
        }
    }
    Ok(conflicts)
}

/// Returns the key of a conflict, which differs after a change of either text.
pub(super) fn conflict_key(newer: &Memory, older: &Memory) -> String {
    let basis = format!(
        "conflict {} {}\n{}\n{}",
        newer.id, older.id, newer.content, older.content
    );
    ContentHash::of(&basis).to_string()
}
