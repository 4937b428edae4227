//! Plans the changes of a dream: filings, removals by age, merges and reminders.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, TimeDelta, TimeZone, Utc};
use memory_core::{
    Category, Memory, MemoryId, MemorySummary, Phase, RecallFilter, RecallLedger, RecordedChange,
    ReminderQuery, Scope, Services, StoreError, StoredMemory, reminder_id, subtract_time, wikilink,
};

use super::analysis::{AnalysedMemories, read_memories};
use super::{
    AgeRemoval, CancelledReminder, DreamPlan, Filing, FilingReason, NewReminder,
    UnclassifiedMemory, merges,
};
use crate::dream::{DreamError, ProgressCallback};
use crate::lifecycle::{Exemption, LifecycleAction, find_exemption, lifecycle_action};
use crate::reminders::{find_reminders, named_times};
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
    let DreamRequest {
        rules,
        tasks,
        zone,
        recalls,
        ..
    } = dream;
    services.store.refresh()?;
    let now = services.clock.now();
    let does = |task: DreamTask| tasks.contains(&task);
    let outlines = services.store.summaries()?;
    let fates: Vec<Option<LifecycleAction>> = outlines
        .iter()
        .map(|outline| lifecycle_action(outline, rules, tasks, now))
        .collect();
    let compares = [
        DreamTask::Merge,
        DreamTask::Link,
        DreamTask::Remind,
        DreamTask::Compress,
    ]
    .into_iter()
    .any(does);
    // A memory is classified before it can expire.
    let classifies = [DreamTask::Classify, DreamTask::Upgrade, DreamTask::Expire]
        .into_iter()
        .any(does);
    let is_waiting = |outline: &MemorySummary| outline.phase == Phase::Inbox && classifies;
    let matters =
        |outline: &MemorySummary| is_refinable(outline) && (compares || is_waiting(outline));
    let looked = AnalysedMemories::analyse(services, outlines, &matters, pace)?;

    let mut plan = DreamPlan::default();
    let since = subtract_time(now, rules.edit_pause);
    let mut leaving = edited_between(services, &looked.outlines, since, now)?;
    let due = fates.iter().zip(&looked.outlines);
    let due = due.filter(|(fate, _)| fate.is_some_and(is_by_age));
    let due: HashSet<MemoryId> = due.map(|(_, outline)| outline.id).collect();
    let written = last_writes(services, &due)?;
    let received = if due.is_empty() {
        HashSet::new()
    } else {
        received_since(*recalls, now, rules.decay_after)?
    };
    for (place, (outline, fate)) in looked.outlines.iter().zip(&fates).enumerate() {
        let Some(
            fate @ (LifecycleAction::Over
            | LifecycleAction::Expired(_)
            | LifecycleAction::Decayed(_)),
        ) = fate
        else {
            continue;
        };
        if leaving.contains(&outline.id) {
            continue;
        }
        // A memory in the inbox expires only after its text was classified: a memory with a category is filed instead, and one with an
        // unreadable text remains.
        let is_unread = is_refinable(outline) && looked.glances[place].is_none();
        if matches!(fate, LifecycleAction::Expired(_))
            && (is_unread || has_category(&looked, place))
        {
            continue;
        }
        if is_by_age(*fate) {
            let why = match written.get(&outline.id) {
                None => Some(Exemption::Unwritten),
                Some(_) if received.contains(&outline.id.to_string()) => Some(Exemption::Received),
                Some(_) => None,
            };
            if let Some(why) = why {
                plan.spared.push((outline.id, why));
                continue;
            }
            // The times in a file may be those of a copy or an archive.
            let updated_at = written[&outline.id].max(outline.updated_at);
            let seen = MemorySummary {
                updated_at,
                ..outline.clone()
            };
            if lifecycle_action(&seen, rules, tasks, now) != Some(*fate) {
                continue;
            }
        }
        plan_removal(services, &outline.id, *fate, now, &mut plan)?;
    }
    leaving.extend(plan.partings.iter().map(|parting| parting.id));
    let stays = |place: &usize| !leaving.contains(&looked.outlines[*place].id);
    let mut ours: Vec<usize> = (0..looked.outlines.len())
        .filter(|place| is_refinable(&looked.outlines[*place]) && looked.glances[*place].is_some())
        .filter(stays)
        .collect();
    // Reports list the oldest memories first.
    ours.sort_by_key(|place| {
        (
            looked.outlines[*place].created_at,
            looked.outlines[*place].id,
        )
    });
    if does(DreamTask::Merge) {
        let merges_similar = does(DreamTask::MergeSimilar);
        merges::plan_merges(services, &looked, &ours, merges_similar, now, &mut plan)?;
    }
    // The text of a merged memory changes, so it is analysed in the next round.
    let joined = plan
        .merges
        .iter()
        .flat_map(|merge| merge.gone.iter().chain([&merge.kept]));
    let joined: HashSet<MemoryId> = joined.copied().collect();
    let is_filed_instead = |place: usize| {
        matches!(fates[place], Some(LifecycleAction::Expired(_))) && has_category(&looked, place)
    };
    for place in ours
        .iter()
        .copied()
        .filter(|place| !joined.contains(&looked.outlines[*place].id))
    {
        match fates[place].and_then(filing_accesses) {
            Some(accesses) => plan_read_filing(&looked, place, accesses, &mut plan),
            None if does(DreamTask::Classify) || is_filed_instead(place) => {
                file(&looked, place, &mut plan);
            }
            None => {}
        }
        if does(DreamTask::Link)
            && looked.glances[place]
                .as_ref()
                .is_some_and(|glance| !glance.is_linked)
        {
            plan.followed.push(looked.outlines[place].id);
        }
    }
    if does(DreamTask::Remind) {
        let stay: Vec<usize> = ours
            .into_iter()
            .filter(|place| !joined.contains(&looked.outlines[*place].id))
            .collect();
        plan_reminders(services, &looked, &stay, *zone, now, &mut plan)?;
    }
    plan.damaged = looked
        .outlines
        .iter()
        .filter(|outline| outline.is_damaged)
        .count();
    looked.check_plan(&plan)?;
    Ok((plan, looked))
}

/// Returns whether a memory may be refined.
///
/// It must be intact and not superseded, and neither a filed reminder nor part of a conversation.
fn is_refinable(outline: &MemorySummary) -> bool {
    let is_reminder = outline.phase == Phase::Organized && outline.category == Category::Reminders;
    !outline.is_damaged
        && !outline.is_foreign
        && !outline.is_superseded
        && !is_reminder
        && !matches!(outline.scope, Scope::Conversation(_))
}

/// The category of a memory that has to leave the inbox if its text does not determine one.
pub const DEFAULT_CATEGORY: Category = Category::Knowledge;

/// Adds a filing for one memory in the inbox to `plan`, or lists the memory as unsure.
///
/// A memory without an analysis is skipped.
pub(super) fn file(looked: &AnalysedMemories, place: usize, plan: &mut DreamPlan) {
    let outline = &looked.outlines[place];
    let Some(glance) = looked.glances[place]
        .as_ref()
        .filter(|_| outline.phase == Phase::Inbox)
    else {
        return;
    };
    let choice = glance.choice;
    let (category, why) = match (suggested_category(outline), choice.category()) {
        (Some(category), _) => (category, FilingReason::Suggested),
        (None, Some(category)) => (category, FilingReason::Sure(choice.confidence)),
        (None, None) => {
            return plan.unsure.push(UnclassifiedMemory {
                id: outline.id,
                choice,
            });
        }
    };
    plan.filings.push(Filing {
        id: outline.id,
        text: outline.text,
        category,
        why,
    });
}

/// Returns whether a memory in the inbox is analysed and has a category to be filed in.
fn has_category(looked: &AnalysedMemories, place: usize) -> bool {
    let has_verdict = looked.glances[place]
        .as_ref()
        .is_some_and(|glance| glance.choice.category().is_some());
    has_verdict
        || looked.glances[place].is_some() && suggested_category(&looked.outlines[place]).is_some()
}

/// Adds to `plan` a memory that is filed because it is read often.
fn plan_read_filing(looked: &AnalysedMemories, place: usize, accesses: u64, plan: &mut DreamPlan) {
    let outline = &looked.outlines[place];
    let verdict = looked.glances[place]
        .as_ref()
        .and_then(|glance| glance.choice.suggestion);
    let category = suggested_category(outline)
        .or(verdict)
        .unwrap_or(DEFAULT_CATEGORY);
    plan.filings.push(Filing {
        id: outline.id,
        text: outline.text,
        category,
        why: FilingReason::Read(accesses),
    });
}

/// Returns the number of reads if the fate is to be filed because of them.
pub(super) fn filing_accesses(fate: LifecycleAction) -> Option<u64> {
    match fate {
        LifecycleAction::Filed(accesses) => Some(accesses),
        LifecycleAction::Over | LifecycleAction::Expired(_) | LifecycleAction::Decayed(_) => None,
    }
}

fn suggested_category(outline: &MemorySummary) -> Option<Category> {
    Some(outline.category).filter(|category| *category != Category::Inbox)
}

/// Returns whether a memory is removed only because of its age, not because of an end date of its own.
fn is_by_age(fate: LifecycleAction) -> bool {
    matches!(
        fate,
        LifecycleAction::Expired(_) | LifecycleAction::Decayed(_)
    )
}

/// Returns when this program last wrote each of `ids`; a memory that only a person wrote is missing.
fn last_writes(
    services: &Services,
    ids: &HashSet<MemoryId>,
) -> Result<HashMap<MemoryId, DateTime<Utc>>, StoreError> {
    let mut written = HashMap::new();
    let mut changes = services.history.all_changes();
    while written.len() < ids.len()
        && let Some(change) = changes.next().transpose()?
    {
        let RecordedChange { id, after, .. } = change.subject;
        if after.is_some() && ids.contains(&id) {
            written.entry(id).or_insert(change.operation.at);
        }
    }
    Ok(written)
}

/// Returns the ids of the memories that changed after `since` without an operation of this program.
fn edited_between(
    services: &Services,
    outlines: &[MemorySummary],
    since: DateTime<Utc>,
    now: DateTime<Utc>,
) -> Result<HashSet<MemoryId>, StoreError> {
    let changed: HashMap<_, _> = outlines
        .iter()
        .map(|outline| (outline.id, outline.updated_at))
        .filter(|(_, at)| since < *at && *at <= now)
        .collect();
    let mut edited: HashSet<MemoryId> = changed.keys().copied().collect();
    if edited.is_empty() {
        return Ok(edited);
    }
    for change in services.history.all_changes() {
        let change = change?;
        let RecordedChange { id, after, .. } = change.subject;
        let at = change.operation.at;
        if at <= since {
            break;
        }
        // A file that this program wrote has the time of the operation, or an earlier one.
        if after.is_some() && changed.get(&id).is_some_and(|time| *time <= at) {
            edited.remove(&id);
        }
    }
    Ok(edited)
}

/// Returns the ids of the memories that an agent received in the last `time`.
fn received_since(
    recalls: Option<&dyn RecallLedger>,
    now: DateTime<Utc>,
    time: TimeDelta,
) -> Result<HashSet<String>, StoreError> {
    let Some(ledger) = recalls else {
        return Ok(HashSet::new());
    };
    let filter = RecallFilter {
        from: Some(subtract_time(now, time)),
        ..RecallFilter::default()
    };
    let mut received = HashSet::new();
    for recall in ledger.recalls(&filter) {
        received.extend(recall?.memories.into_iter().map(|memory| memory.id));
    }
    Ok(received)
}

/// Adds to `plan` the removal of one memory, or its exemption.
fn plan_removal(
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
        plan.partings.push(AgeRemoval {
            id: *id,
            stamp: stored.stamp,
            fate,
            headline,
        });
    }
    Ok(())
}

/// Returns whether another filed memory links to this one.
fn is_linked(services: &Services, stored: &StoredMemory) -> Result<bool, StoreError> {
    let own = &stored.memory;
    let names = wikilink::memory_keys(own, &stored.path);
    let referring = services.store.referring(&own.id, &names)?;
    Ok(referring
        .iter()
        .any(|other| other.memory.phase == Phase::Organized && other.memory.id != own.id))
}

/// Adds to `plan` the reminders to create for the memories at `places`, and those to remove.
///
/// Memories that an earlier dream processed are skipped until their text changes.
fn plan_reminders<Tz: TimeZone>(
    services: &Services,
    looked: &AnalysedMemories,
    places: &[usize],
    zone: &Tz,
    now: DateTime<Utc>,
    plan: &mut DreamPlan,
) -> Result<(), StoreError> {
    let is_new = |place: &&usize| {
        looked.glances[**place]
            .as_ref()
            .is_some_and(|glance| !glance.is_heard)
    };
    let new: Vec<MemoryId> = places
        .iter()
        .filter(is_new)
        .map(|place| looked.outlines[*place].id)
        .collect();
    let mut made = if new.is_empty() {
        HashMap::new()
    } else {
        open_reminders_by_source(services)?
    };
    for memory in read_memories(services, new, looked.outlines.len()) {
        let memory = memory?;
        let Some(place) = looked.position(&memory.id) else {
            continue;
        };
        let text = looked.outlines[place].text;
        plan.heard.push(memory.id);
        for reminder in made.remove(&memory.id).unwrap_or_default() {
            let gone = reminder
                .memory
                .reminder
                .as_ref()
                .filter(|_| is_obsolete(&memory, &reminder.memory, zone));
            plan.withdrawn.extend(gone.map(|gone| CancelledReminder {
                id: reminder.memory.id,
                stamp: reminder.stamp,
                of: memory.id,
                text,
                at: gone.due,
                said: reminder.memory.headline().to_owned(),
            }));
        }
        for wanted in find_reminders(&memory, zone, now) {
            let id = reminder_id(&memory.id, wanted.at);
            match services.store.get(&id) {
                Err(StoreError::NotFound { .. }) => {}
                // The reminder was created before and remains as it is, open or done.
                Ok(_) | Err(StoreError::Damaged(_)) => continue,
                Err(error) => return Err(error),
            }
            plan.reminders.push(NewReminder {
                of: memory.id,
                text,
                at: wanted.at,
                repeats: wanted.repeats,
                said: wanted.text,
            });
        }
    }
    Ok(())
}

/// Returns the open reminders, by the memories that they were created from.
fn open_reminders_by_source(
    services: &Services,
) -> Result<HashMap<MemoryId, Vec<StoredMemory>>, StoreError> {
    let mut made: HashMap<MemoryId, Vec<StoredMemory>> = HashMap::new();
    for stored in services
        .store
        .reminders(ReminderQuery::Open, None, None)?
        .memories
    {
        if let Some(of) = stored
            .memory
            .reminder
            .as_ref()
            .and_then(|reminder| reminder.of)
            && stored.problem.is_none()
        {
            made.entry(of).or_default().push(stored);
        }
    }
    Ok(made)
}

/// Returns whether a reminder was created from words that are no longer in `source`.
///
/// A reminder remains if its own words do not name the time that it was created for, as when a person chose the time.
fn is_obsolete<Tz: TimeZone>(source: &Memory, reminder: &Memory, zone: &Tz) -> bool {
    let written = source.created_at.with_timezone(zone);
    // The id is derived from the source and the original time, so it does not depend on snoozing.
    let sources = || std::iter::once(&source.id).chain(&source.supersedes);
    let is_made_for = |at: &DateTime<Utc>| sources().any(|of| reminder_id(of, *at) == reminder.id);
    let made_for = named_times(&reminder.content, &written)
        .into_iter()
        .find(is_made_for);
    made_for.is_some_and(|at| {
        named_times(&source.content, &written)
            .binary_search(&at)
            .is_err()
    })
}
