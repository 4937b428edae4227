//! The memories that automatic work will remove by age.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, TimeZone, Utc};
use memory_core::{
    Clock, ExpiringMemory, LocalZone, MemorySummary, Services, StoreError, add_time,
};

use crate::dream::{DreamError, ProgressCallback};
use crate::lifecycle::{LifecycleAction, lifecycle_action};
use crate::plan::plan_dream;
use crate::{DreamRequest, DreamTask};

/// Returns the memories that automatic work would remove within `time`, the first ones first. Nothing is changed.
///
/// The tasks of `dream` are ignored.
///
/// # Errors
/// If the memories cannot be read.
pub(crate) fn expiring<Tz: TimeZone>(
    services: &Services,
    dream: &DreamRequest<'_, Tz>,
    time: TimeDelta,
) -> Result<Vec<ExpiringMemory>, StoreError> {
    let then = Services {
        clock: Arc::new(TimeOfPlan {
            time: add_time(services.clock.now(), time),
            zone: services.clock.zone(),
        }),
        ..services.clone()
    };
    let dream = DreamRequest {
        tasks: &[DreamTask::Expire, DreamTask::Decay],
        is_rehearsal: true,
        ..*dream
    };
    services.store.refresh()?;
    let is_due = |outline: &MemorySummary| {
        lifecycle_action(outline, &dream.rules, dream.tasks, then.clock.now()).is_some()
    };
    // A plan reads the texts of the whole inbox.
    if !services.store.summaries()?.iter().any(is_due) {
        return Ok(Vec::new());
    }
    let plan = match plan_dream(
        &then,
        &dream,
        &mut ProgressCallback::new(&mut |_| std::ops::ControlFlow::Continue(())),
    ) {
        Ok(plan) => plan,
        Err(DreamError::Store(error)) => return Err(error),
        // The callback stops nothing.
        Err(DreamError::Asked) => return Ok(Vec::new()),
    };
    let mut found = Vec::with_capacity(plan.partings.len());
    for removal in plan.partings {
        let (at, why) = match removal.fate {
            LifecycleAction::Over => {
                let memory = services.store.get(&removal.id)?.memory;
                (memory.expires_at, "its own end")
            }
            LifecycleAction::Expired(since) => (
                Some(add_time(since, dream.rules.inbox_ttl.0)),
                "unchanged in the inbox",
            ),
            LifecycleAction::Decayed(since) => (
                Some(add_time(since, dream.rules.decay_after)),
                "neither changed nor received",
            ),
            LifecycleAction::Filed(_) => continue,
        };
        found.push(ExpiringMemory {
            id: removal.id,
            headline: removal.headline,
            at: at.unwrap_or_else(|| then.clock.now()),
            why,
        });
    }
    found.sort_by_key(|own| (own.at, own.id));
    Ok(found)
}

/// The clock of a plan for a later time.
#[derive(Debug)]
struct TimeOfPlan {
    time: DateTime<Utc>,
    zone: LocalZone,
}

impl Clock for TimeOfPlan {
    fn now(&self) -> DateTime<Utc> {
        self.time
    }

    fn zone(&self) -> LocalZone {
        self.zone.clone()
    }
}
