//! Plans the changes of a dream.

use std::collections::HashSet;

use chrono::TimeZone;
use memory_core::{Category, MemoryId, MemorySummary, Phase, Scope, Services};

use super::analysis::AnalysedMemories;
use super::{DreamPlan, filings, merges, reminder_changes, removals};
use crate::lifecycle::{LifecycleAction, lifecycle_action};
use crate::progress::{DreamError, ProgressCallback};
use crate::{DreamRequest, DreamTask};

/// Plans the changes of a dream; changes no memory, but saves the analyses of texts.
///
/// # Errors
/// Any error of the store, or [`DreamError::Asked`].
pub fn plan_dream<Tz: TimeZone>(
    services: &Services,
    dream: &DreamRequest<'_, Tz>,
    pace: &mut ProgressCallback<'_>,
) -> Result<DreamPlan, DreamError> {
    plan_with_analysis(services, dream, pace).map(|(plan, _)| plan)
}

/// Plans as [`plan`] does; also returns the analysed memories.
pub(crate) fn plan_with_analysis<Tz: TimeZone>(
    services: &Services,
    dream: &DreamRequest<'_, Tz>,
    pace: &mut ProgressCallback<'_>,
) -> Result<(DreamPlan, AnalysedMemories), DreamError> {
    let DreamRequest { rules, tasks, zone, .. } = dream;
    services.store.refresh()?;
    let now = services.clock.now();
    let does = |task: DreamTask| tasks.contains(&task);
    let outlines = services.store.summaries()?;
    let fates: Vec<Option<LifecycleAction>> =
        outlines.iter().map(|outline| lifecycle_action(outline, rules, tasks, now)).collect();
    let compares = [DreamTask::Merge, DreamTask::Link, DreamTask::Remind, DreamTask::Compress].into_iter().any(does);
    // A memory is classified before it can expire.
    let classifies = [DreamTask::Classify, DreamTask::Upgrade, DreamTask::Expire].into_iter().any(does);
    let is_waiting = |outline: &MemorySummary| outline.phase == Phase::Inbox && classifies;
    let matters = |outline: &MemorySummary| is_refinable(outline) && (compares || is_waiting(outline));
    let looked = AnalysedMemories::analyse(services, outlines, &matters, pace)?;

    let mut plan = DreamPlan::default();
    let mut leaving = HashSet::new();
    for (place, (outline, fate)) in looked.outlines.iter().zip(&fates).enumerate() {
        let Some(fate @ (LifecycleAction::Over | LifecycleAction::Expired(_) | LifecycleAction::Decayed(_))) = fate else {
            continue;
        };
        // A memory in the inbox expires only after its text was classified: a memory with a category is filed instead, and one with an
        // unreadable text remains.
        let is_unread = is_refinable(outline) && looked.glances[place].is_none();
        if matches!(fate, LifecycleAction::Expired(_)) && (is_unread || filings::has_category(&looked, place)) {
            continue;
        }
        removals::plan_removal(services, &outline.id, *fate, now, &mut plan)?;
    }
    leaving.extend(plan.partings.iter().map(|parting| parting.id));
    let stays = |place: &usize| !leaving.contains(&looked.outlines[*place].id);
    let mut ours: Vec<usize> = (0..looked.outlines.len())
        .filter(|place| is_refinable(&looked.outlines[*place]) && looked.glances[*place].is_some())
        .filter(stays)
        .collect();
    // Reports list the oldest memories first.
    ours.sort_by_key(|place| (looked.outlines[*place].created_at, looked.outlines[*place].id));
    if does(DreamTask::Merge) {
        merges::plan_merges(services, &looked, &ours, now, &mut plan)?;
    }
    // The text of a merged memory changes, so it is analysed in the next round.
    let joined = plan.merges.iter().flat_map(|merge| merge.gone.iter().chain([&merge.kept]));
    let joined: HashSet<MemoryId> = joined.copied().collect();
    let is_filed_instead =
        |place: usize| matches!(fates[place], Some(LifecycleAction::Expired(_))) && filings::has_category(&looked, place);
    for place in ours.iter().copied().filter(|place| !joined.contains(&looked.outlines[*place].id)) {
        match fates[place].and_then(filings::filing_accesses) {
            Some(accesses) => filings::plan_read_filing(&looked, place, accesses, &mut plan),
            None if does(DreamTask::Classify) || is_filed_instead(place) => filings::file(&looked, place, &mut plan),
            None => {}
        }
        if does(DreamTask::Link) && looked.glances[place].as_ref().is_some_and(|glance| !glance.is_linked) {
            plan.followed.push(looked.outlines[place].id);
        }
    }
    if does(DreamTask::Remind) {
        let stay: Vec<usize> = ours.into_iter().filter(|place| !joined.contains(&looked.outlines[*place].id)).collect();
        reminder_changes::plan_reminders(services, &looked, &stay, *zone, now, &mut plan)?;
    }
    plan.damaged = looked.outlines.iter().filter(|outline| outline.is_damaged).count();
    looked.check_plan(&plan)?;
    Ok((plan, looked))
}

/// Returns whether a memory may be refined.
///
/// It must be intact and not superseded, and neither a filed reminder nor part of a conversation.
fn is_refinable(outline: &MemorySummary) -> bool {
    let is_reminder = outline.phase == Phase::Organized && outline.category == Category::Reminders;
    !outline.is_damaged && !outline.is_superseded && !is_reminder && !matches!(outline.scope, Scope::Conversation(_))
}
