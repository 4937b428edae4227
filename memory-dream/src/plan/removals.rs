//! Plans which memories go to the trash because of their age.

use chrono::{DateTime, Utc};
use memory_core::{MemoryId, Phase, Services, StoreError, StoredMemory, wikilink};

use super::{AgeRemoval, DreamPlan};
use crate::lifecycle::{LifecycleAction, find_exemption};

/// Adds to `plan` the removal of one memory, or its exemption.
pub(super) fn plan_removal(
    services: &Services,
    id: &MemoryId,
    fate: LifecycleAction,
    now: DateTime<Utc>,
    plan: &mut DreamPlan,
) -> Result<(), StoreError> {
    let stored = match services.store.get(id) {
        Ok(stored) if stored.problem.is_none() => stored,
        // The file was removed since the decision, or must not be changed.
        Ok(_) | Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => return Ok(()),
        Err(error) => return Err(error),
    };
    if let Some(why) = find_exemption(&stored.memory, fate, is_linked(services, &stored)?, now) {
        plan.spared.push((*id, why));
    } else {
        let headline = stored.memory.headline().to_owned();
        plan.partings.push(AgeRemoval { id: *id, stamp: stored.stamp, fate, headline });
    }
    Ok(())
}

/// Returns whether another filed memory links to this one.
fn is_linked(services: &Services, stored: &StoredMemory) -> Result<bool, StoreError> {
    let own = &stored.memory;
    let names = wikilink::memory_keys(own, &stored.path);
    let referring = services.store.referring(&own.id, &names)?;
    Ok(referring.iter().any(|other| other.memory.phase == Phase::Organized && other.memory.id != own.id))
}
