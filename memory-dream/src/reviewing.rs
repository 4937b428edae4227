//! Looking at all memories together, and writing down what is certain.

use std::collections::BTreeMap;

use memory_core::{ContentHash, Filter, Memory, Refinement, Scope, Services, StoreError, Unit, embedded_text};

use crate::apply::{replace, unchanged};
use crate::dream::Skipped;
use crate::review::{Review, Reviewer, Rules, Supersession};

/// Looks at all memories together.
pub(crate) fn review(services: &Services) -> Result<Review, StoreError> {
    let now = services.clock.now();
    let mut reviewer = Reviewer::default();
    for stored in services.store.memories(&Filter::everything(), now) {
        let stored = stored?;
        let is_said = matches!(stored.memory.scope, Scope::Conversation(_));
        if stored.problem.is_none() && !is_said && stored.memory.reminder.is_none() {
            reviewer.add(&stored.memory, None);
        }
    }
    Ok(reviewer.finish(&Rules::default(), now))
}

/// Writes down which memories hold no longer, as far as a later one says so itself; returns those that were written.
pub(crate) fn supersede(
    services: &Services,
    review: &Review,
    refinement: &mut Refinement<'_>,
    skipped: &mut Vec<Skipped>,
) -> Result<Vec<Supersession>, StoreError> {
    let mut done = Vec::new();
    for contradiction in &review.contradictions.first {
        let Some(supersession) = contradiction.supersession() else { continue };
        let Some(unit) = unit(services, &supersession)? else { continue };
        match refinement.commit(vec![unit])?.pop() {
            None => done.push(supersession),
            Some(refused) => skipped.push(Skipped { id: supersession.of, reason: refused.error.to_string() }),
        }
    }
    Ok(done)
}

fn unit(services: &Services, supersession: &Supersession) -> Result<Option<Unit>, StoreError> {
    let now = services.clock.now();
    let there = |id| match services.store.get(id) {
        Ok(stored) => {
            let text = ContentHash::of(&embedded_text(&stored.memory));
            unchanged(services, id, text)
        }
        Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => Ok(None),
        Err(error) => Err(error),
    };
    let (Some(older), Some(newer)) = (there(&supersession.of)?, there(&supersession.superseded_by)?) else { return Ok(None) };
    let mut supersedes = newer.memory.supersedes.clone();
    supersedes.push(older.memory.id);
    let (old, new) = (&older.memory, &newer.memory);
    let ended = Memory {
        valid_until: Some(supersession.valid_until),
        superseded_by: Some(new.id),
        version: old.version + 1,
        updated_at: now,
        ..old.clone()
    };
    let taking = Memory { supersedes, version: new.version + 1, updated_at: now, ..new.clone() };
    let reasons = BTreeMap::from([
        (old.id, format!("{} says that it holds no longer", new.id)),
        (new.id, format!("it says that {} holds no longer", old.id)),
    ]);
    Ok(Some(Unit { changes: vec![replace(&older, ended), replace(&newer, taking)], reasons }))
}
