//! The use cases of the recall ledger: the recalls of agents, the recalls of one memory, and unused memories.

use std::collections::{BTreeSet, HashSet, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};

use crate::undo::matches_reference;
use crate::{
    HomeSection, MemoryStoreExt, RecallFilter, RecallLedger, RecallRecord, Services, StoreError,
    StoredMemory, subtract_time,
};

/// Recalls of a ledger.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallList {
    /// The recalls, newest first.
    pub recalls: Vec<RecallRecord>,
    /// The number of recalls that the filter selects.
    pub total: u64,
    /// The time since which the ledger has all records, or `None` if nothing was recorded yet.
    pub since: Option<DateTime<Utc>>,
}

/// Returns the newest `limit` recalls that `filter` selects.
///
/// # Errors
/// If the ledger cannot be read.
pub fn recalls(
    ledger: &dyn RecallLedger,
    filter: &RecallFilter,
    limit: usize,
) -> Result<RecallList, StoreError> {
    let (mut newest, mut total) = (VecDeque::new(), 0);
    for recall in ledger.recalls(filter) {
        let recall = recall?;
        total += 1;
        newest.push_back(recall);
        if limit < newest.len() {
            newest.pop_front();
        }
    }
    let mut recalls: Vec<RecallRecord> = newest.into_iter().rev().collect();
    // Records of other processes may be a little out of order.
    recalls.sort_by_key(|recall| std::cmp::Reverse(recall.at));
    Ok(RecallList {
        recalls,
        total,
        since: ledger.complete_since()?,
    })
}

/// The recalls of one memory.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryRecalls {
    /// The id of the memory, or of the entry of a conversation.
    pub id: String,
    /// The memory, if it exists.
    pub stored: Option<StoredMemory>,
    /// The previous path of the memory, if it was deleted and is in the trash.
    pub deleted_path: Option<String>,
    /// Its recalls.
    pub list: RecallList,
}

/// Number of characters of an id that identify a memory in the ledger.
const MIN_PREFIX: usize = 4;

/// Number of candidates that an error names.
const CANDIDATES: usize = 5;

/// Returns the newest `limit` recalls of the memory that `reference` names, which may be deleted.
///
/// # Errors
/// [`StoreError::NotFound`] if no memory, no file in the trash and no recall matches, [`StoreError::Ambiguous`] if several do;
/// or if the ledger cannot be read.
pub fn why(
    services: &Services,
    ledger: &dyn RecallLedger,
    reference: &str,
    limit: usize,
) -> Result<MemoryRecalls, StoreError> {
    services.store.refresh()?;
    let (stored, deleted_path, id) = match services.store.get_by(reference) {
        Ok(stored) => {
            let id = stored.memory.id.to_string();
            (Some(stored), None, id)
        }
        Err(error @ StoreError::NotFound { .. }) => match find_in_trash(services, reference)? {
            Some((id, path)) => (None, Some(path), id),
            None => (None, None, find_in_ledger(ledger, reference)?.ok_or(error)?),
        },
        Err(error) => return Err(error),
    };
    let filter = RecallFilter {
        memory: Some(id.clone()),
        ..RecallFilter::default()
    };
    Ok(MemoryRecalls {
        id,
        stored,
        deleted_path,
        list: recalls(ledger, &filter, limit)?,
    })
}

/// Returns the id and the previous path of the newest deleted memory that `reference` names.
fn find_in_trash(
    services: &Services,
    reference: &str,
) -> Result<Option<(String, String)>, StoreError> {
    let wanted = reference.trim().to_lowercase();
    for trashed in services.history.trashed() {
        let trashed = trashed?;
        if matches_reference(&trashed, &wanted) {
            return Ok(Some((trashed.id.to_string(), trashed.path)));
        }
    }
    Ok(None)
}

/// Returns the id in the ledger that begins with `reference`.
fn find_in_ledger(
    ledger: &dyn RecallLedger,
    reference: &str,
) -> Result<Option<String>, StoreError> {
    let wanted = reference.trim().to_lowercase();
    if wanted.chars().count() < MIN_PREFIX {
        return Ok(None);
    }
    let filter = RecallFilter {
        memory: Some(wanted.clone()),
        ..RecallFilter::default()
    };
    let mut found = BTreeSet::new();
    for recall in ledger.recalls(&filter) {
        found.extend(
            recall?
                .memories
                .into_iter()
                .map(|memory| memory.id)
                .filter(|id| id.starts_with(&wanted)),
        );
    }
    match found.len() {
        0 | 1 => Ok(found.pop_first()),
        _ => {
            let candidates = found.into_iter().take(CANDIDATES).collect();
            Err(StoreError::Ambiguous {
                reference: reference.to_owned(),
                candidates,
            })
        }
    }
}

/// Time without a recall after which a memory is unused.
pub const UNUSED_AFTER: TimeDelta = TimeDelta::days(90);

/// The unused memories of a home.
#[derive(Debug, Clone, PartialEq)]
pub enum UnusedMemories {
    /// The ledger is too young to name any: it has all records since this time, or none.
    Unknown(Option<DateTime<Utc>>),
    /// The memories that no agent received for [`UNUSED_AFTER`].
    Known {
        /// The number of unused memories.
        count: u64,
        /// The oldest of them, oldest first.
        oldest: Vec<StoredMemory>,
    },
}

/// Returns the memories that no agent received in the last [`UNUSED_AFTER`], and of these the oldest `limit`.
///
/// Memories that were written or changed in this time, that were ever read, and reminders are not counted: reads are counted
/// without their times. Conversations are left out.
///
/// # Errors
/// If the ledger or the memories cannot be read.
pub fn unused_memories(
    services: &Services,
    ledger: &dyn RecallLedger,
    limit: usize,
) -> Result<UnusedMemories, StoreError> {
    let now = services.clock.now();
    let from = subtract_time(now, UNUSED_AFTER);
    let since = ledger.complete_since()?;
    if since.is_none_or(|since| from < since) {
        return Ok(UnusedMemories::Unknown(since));
    }
    let mut recalled = HashSet::new();
    for recall in ledger.recalls(&RecallFilter {
        from: Some(from),
        ..RecallFilter::default()
    }) {
        recalled.extend(recall?.memories.into_iter().map(|memory| memory.id));
    }
    let mut unused = services.store.summaries()?;
    unused.retain(|memory| {
        let is_note = memory.place == HomeSection::Notes && !memory.is_reminder;
        let is_current = !memory.is_superseded && memory.ends_at.is_none_or(|end| now < end);
        let is_old = memory.created_at.max(memory.updated_at) < from;
        is_note
            && is_current
            && is_old
            && memory.access_count == 0
            && !recalled.contains(&memory.id.to_string())
    });
    unused.sort_unstable_by_key(|memory| (memory.created_at, memory.id));
    let mut oldest = Vec::new();
    for memory in unused.iter().take(limit) {
        match services.store.get(&memory.id) {
            Ok(stored) => oldest.push(stored),
            // Another process deleted it or is writing it.
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(UnusedMemories::Known {
        count: unused.len() as u64,
        oldest,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::{FakeClock, FakeRecallLedger, services};
    use crate::{Draft, MemStore, RecalledId, SecretPolicy, record_recall, write};

    fn home() -> (Services, Arc<FakeClock>) {
        let clock = Arc::new(FakeClock::default());
        (
            Services {
                clock: clock.clone(),
                ..services(Arc::new(MemStore::default()))
            },
            clock,
        )
    }

    fn write_text(services: &Services, text: &str) -> String {
        write(services, Draft::new(text), SecretPolicy::Refuse)
            .unwrap()
            .id
            .to_string()
    }

    fn recall(at: DateTime<Utc>, ids: &[&str]) -> RecallRecord {
        RecallRecord {
            at,
            agent: "codex".into(),
            session: None,
            project: None,
            interface: "mcp".into(),
            tool: "memory_search".into(),
            query: None,
            memories: ids.iter().map(|id| RecalledId::unranked(*id)).collect(),
            tokens: 1,
        }
    }

    #[test]
    fn the_newest_recalls_come_first_and_the_total_counts_all() {
        let (services, _) = home();
        let ledger = FakeRecallLedger::default();
        let times: Vec<_> = (0..5).map(|_| services.clock.now()).collect();
        for at in &times {
            record_recall(&ledger, recall(*at, &["a"]));
        }
        let list = recalls(&ledger, &RecallFilter::default(), 2).unwrap();
        let newest: Vec<_> = list.recalls.iter().map(|recall| recall.at).collect();
        assert_eq!(
            (newest, list.total, list.since),
            (vec![times[4], times[3]], 5, Some(times[0]))
        );
    }

    #[test]
    fn a_recall_without_memories_is_not_recorded() {
        let (services, _) = home();
        let ledger = FakeRecallLedger::default();
        record_recall(&ledger, recall(services.clock.now(), &[]));
        assert_eq!(
            recalls(&ledger, &RecallFilter::default(), 9).unwrap(),
            RecallList::default()
        );
    }

    #[test]
    fn recalls_of_a_deleted_memory_are_found_by_the_start_of_its_id() {
        let (services, _) = home();
        let ledger = FakeRecallLedger::default();
        let id = write_text(&services, "tea");
        assert_eq!(
            why(&services, &ledger, &id, 9).unwrap().list,
            RecallList::default()
        );
        record_recall(
            &ledger,
            recall(services.clock.now(), &[&id, "aaaa1", "aaaa2"]),
        );
        let found = why(&services, &ledger, &id[..8], 9).unwrap();
        assert_eq!(
            (found.id.as_str(), found.list.total, found.stored.is_some()),
            (id.as_str(), 1, true)
        );
        crate::delete(&services, &id).unwrap();
        let found = why(&services, &ledger, &id[..8], 9).unwrap();
        assert_eq!(
            (found.id.as_str(), found.list.total, found.stored.is_some()),
            (id.as_str(), 1, false)
        );
        assert_eq!(
            why(&services, &ledger, "aaaa1", 9).unwrap().id,
            "aaaa1",
            "and without a file in the trash"
        );
        assert!(matches!(
            why(&services, &ledger, "aaaa", 9),
            Err(StoreError::Ambiguous { .. })
        ));
        assert!(matches!(
            why(&services, &ledger, "bbbb", 9),
            Err(StoreError::NotFound { .. })
        ));
    }

    #[test]
    fn unused_memories_are_counted_once_the_ledger_covers_the_time() {
        let (services, clock) = home();
        let ledger = FakeRecallLedger::default();
        let (old, used, read) = (
            write_text(&services, "old"),
            write_text(&services, "used"),
            write_text(&services, "read"),
        );
        crate::read(&services, &read).unwrap();
        assert_eq!(
            unused_memories(&services, &ledger, 9).unwrap(),
            UnusedMemories::Unknown(None)
        );
        let start = services.clock.now();
        record_recall(&ledger, recall(start, &[&old]));
        clock.advance(UNUSED_AFTER - TimeDelta::minutes(1));
        assert_eq!(
            unused_memories(&services, &ledger, 9).unwrap(),
            UnusedMemories::Unknown(Some(start))
        );
        record_recall(&ledger, recall(services.clock.now(), &[&used]));
        clock.advance(TimeDelta::days(2));
        write_text(&services, "new");
        let UnusedMemories::Known { count, oldest } =
            unused_memories(&services, &ledger, 9).unwrap()
        else {
            panic!("it is known")
        };
        let ids: Vec<_> = oldest
            .iter()
            .map(|stored| stored.memory.id.to_string())
            .collect();
        assert_eq!((count, ids), (1, vec![old]));
    }
}
