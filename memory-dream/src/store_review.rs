//! Reviews all memories in the store and records certain supersessions.

use std::collections::BTreeMap;

use memory_core::{
    Filter, Memory, Refinement, RefinementUnit, Scope, Services, StoreError, StoredMemory,
};

use crate::apply::{SkippedChange, replace};
use crate::review::{ContradictionSide, Review, ReviewRules, Reviewer, Supersession};

/// Reviews all memories, except reminders, memories of conversations and damaged files.
pub(crate) fn review_store(services: &Services) -> Result<Review, StoreError> {
    let now = services.clock.now();
    let mut reviewer = Reviewer::default();
    for stored in services.store.memories(&Filter::all(), now) {
        let stored = stored?;
        let is_said = matches!(stored.memory.scope, Scope::Conversation(_));
        if stored.problem.is_none() && !is_said && stored.memory.reminder.is_none() {
            reviewer.add(&stored.memory, None);
        }
    }
    Ok(reviewer.finish(&ReviewRules::default(), now))
}

/// Marks memories as superseded where a later memory explicitly declares them outdated.
///
/// Returns the supersessions that were written; refused ones go to `skipped`.
pub(crate) fn write_supersessions(
    services: &Services,
    review: &Review,
    refinement: &mut Refinement<'_>,
    skipped: &mut Vec<SkippedChange>,
) -> Result<Vec<Supersession>, StoreError> {
    let mut done = Vec::new();
    for contradiction in &review.contradictions.first {
        let Some(supersession) = contradiction.supersession() else {
            continue;
        };
        let (older, newer) = (
            read_current(services, &contradiction.older)?,
            read_current(services, &contradiction.newer)?,
        );
        let Some((older, newer)) = older.zip(newer) else {
            continue;
        };
        let unit = supersession_unit(services, &supersession, &older, &newer);
        match refinement.commit(vec![unit])?.pop() {
            None => done.push(supersession),
            Some(refused) => skipped.push(SkippedChange {
                id: supersession.of,
                reason: refused.error.to_string(),
            }),
        }
    }
    Ok(done)
}

/// Returns the memory if its text is unchanged since the review and it is not superseded.
fn read_current(
    services: &Services,
    side: &ContradictionSide,
) -> Result<Option<StoredMemory>, StoreError> {
    match services.store.get(&side.id) {
        Ok(stored) if stored.problem.is_none() => Ok(Some(stored).filter(|stored| {
            stored.memory.content == side.text && stored.memory.superseded_by.is_none()
        })),
        Ok(_) | Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn supersession_unit(
    services: &Services,
    supersession: &Supersession,
    older: &StoredMemory,
    newer: &StoredMemory,
) -> RefinementUnit {
    let now = services.clock.now();
    let mut supersedes = newer.memory.supersedes.clone();
    supersedes.push(older.memory.id);
    let (old, new) = (&older.memory, &newer.memory);
    let ended = Memory {
        valid_until: Some(supersession.valid_until),
        superseded_by: Some(new.id),
        version: old.version + 1,
        updated_at: now.max(old.updated_at),
        ..old.clone()
    };
    let taking = Memory {
        supersedes,
        version: new.version + 1,
        updated_at: now.max(new.updated_at),
        ..new.clone()
    };
    let reasons = BTreeMap::from([
        (
            old.id,
            format!("superseded: {} states that it is no longer true", new.id),
        ),
        (new.id, format!("it supersedes {}", old.id)),
    ]);
    RefinementUnit {
        changes: vec![replace(older, ended), replace(newer, taking)],
        reasons,
    }
}
