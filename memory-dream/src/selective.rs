//! Refinements that a person accepts one by one.

use std::collections::HashSet;
use std::fmt::{Debug, Write};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{TimeDelta, TimeZone};
use memory_core::{
    AppliedRefinement, Category, ContentHash, ExpiringMemory, Memory, MemoryId, PlannedAction,
    PlannedRefinement, RecallLedger, Refinement, RefinementPlanner, Services, StoreError, Verb,
};

use crate::apply::apply;
use crate::classify::choose_category;
use crate::dream::{DreamError, ProgressCallback};
use crate::expiring::expiring;
use crate::lifecycle::LifecycleAction;
use crate::plan::{
    AgeRemoval, CancelledReminder, DreamPlan, Filing, FilingReason, Merge, NewReminder, plan_dream,
};
use crate::similar::group_repeats;
use crate::{DreamRequest, DreamRules, DreamTask};

/// Plans the changes of one round of a dream, and makes those that a person accepts.
///
/// The language model is not called. Changes of later rounds, such as the merge of a memory that was just filed, are in the next
/// plan.
#[derive(Debug, Clone)]
pub struct SelectiveDream<Tz> {
    /// The services.
    pub services: Services,
    /// The tasks to plan.
    pub tasks: Vec<DreamTask>,
    /// The thresholds to apply.
    pub rules: DreamRules,
    /// The time zone for dates and times in the texts.
    pub zone: Tz,
    /// The memories that agents received.
    pub recalls: Option<Arc<dyn RecallLedger>>,
    /// The plan that was made last. Its changes are made without another plan, which takes seconds in a large home.
    pub last: LastPlan,
}

/// The last plan of several [`SelectiveDream`]s.
#[derive(Debug, Clone, Default)]
pub struct LastPlan(Arc<Mutex<Option<DreamPlan>>>);

impl<Tz: TimeZone + Debug + Send + Sync> RefinementPlanner for SelectiveDream<Tz>
where
    Tz::Offset: Send + Sync,
{
    fn plan(&self) -> Result<Vec<PlannedRefinement>, StoreError> {
        let plan = self.plan_round()?;
        *self.last.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(plan.clone());
        let headline = |id: &MemoryId| match self.services.store.get(id) {
            Ok(stored) => Ok(stored.memory.headline().to_owned()),
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => Ok(String::new()),
            Err(error) => Err(error),
        };
        let mut rows = Vec::with_capacity(plan.len());
        let mut push = |key: String, memory: MemoryId, headline: String, action: PlannedAction| {
            rows.push(PlannedRefinement {
                key,
                memory,
                headline,
                action,
            });
        };
        for filing in &plan.filings {
            let action = PlannedAction::File {
                category: filing.category,
                reason: describe_filing(filing.why),
            };
            push(filing_key(filing), filing.id, headline(&filing.id)?, action);
        }
        for merge in &plan.merges {
            let duplicates = merge
                .gone
                .iter()
                .copied()
                .zip(merge.headlines.iter().cloned())
                .collect();
            let action = PlannedAction::Merge {
                duplicates,
                added: merge.added.clone(),
                content: merge.content.clone(),
            };
            push(merge_key(merge), merge.kept, headline(&merge.kept)?, action);
        }
        for parting in &plan.partings {
            let action = PlannedAction::Remove {
                reason: describe_removal(parting.fate),
            };
            push(
                removal_key(parting),
                parting.id,
                parting.headline.clone(),
                action,
            );
        }
        for reminding in &plan.reminders {
            let action = PlannedAction::Remind {
                at: reminding.at,
                text: reminding.said.clone(),
            };
            push(
                reminder_key(reminding),
                reminding.of,
                headline(&reminding.of)?,
                action,
            );
        }
        for cancelled in &plan.withdrawn {
            let action = PlannedAction::CancelReminder {
                at: cancelled.at,
                text: cancelled.said.clone(),
            };
            push(
                cancellation_key(cancelled),
                cancelled.of,
                headline(&cancelled.of)?,
                action,
            );
        }
        Ok(rows)
    }

    fn apply(&self, keys: &[String]) -> Result<AppliedRefinement, StoreError> {
        self.services.history.recover()?;
        let keys: HashSet<&str> = keys.iter().map(String::as_str).collect();
        let accepted = |mut plan: DreamPlan| {
            plan.filings
                .retain(|filing| keys.contains(filing_key(filing).as_str()));
            plan.merges
                .retain(|merge| keys.contains(merge_key(merge).as_str()));
            plan.partings
                .retain(|parting| keys.contains(removal_key(parting).as_str()));
            plan.reminders
                .retain(|reminding| keys.contains(reminder_key(reminding).as_str()));
            plan.withdrawn
                .retain(|cancelled| keys.contains(cancellation_key(cancelled).as_str()));
            plan
        };
        let last = self
            .last
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let plan = match last.map(accepted).filter(|plan| plan.len() == keys.len()) {
            Some(plan) => plan,
            None => accepted(self.plan_round()?),
        };
        let mut refinement = Refinement::new(&self.services, Verb::Dream);
        let mut skipped = Vec::new();
        never_cancelled(|pace| apply(&self.services, &plan, &mut refinement, &mut skipped, pace))?;
        let applied = plan.len().saturating_sub(skipped.len());
        let operation = refinement.has_changed().then(|| refinement.id().clone());
        Ok(AppliedRefinement {
            operation,
            applied: applied as u64,
            skipped: keys.len().saturating_sub(applied) as u64,
        })
    }

    fn suggest_category(&self, memory: &Memory) -> Option<Category> {
        choose_category(memory).suggestion
    }

    fn group_repeats(&self, texts: &[&str]) -> Vec<Vec<usize>> {
        group_repeats(texts)
    }

    fn expiring(&self, time: TimeDelta) -> Result<Vec<ExpiringMemory>, StoreError> {
        expiring(&self.services, &self.request(), time)
    }
}

impl<Tz: TimeZone> SelectiveDream<Tz> {
    fn request(&self) -> DreamRequest<'_, Tz> {
        DreamRequest {
            verb: Verb::Dream,
            tasks: &self.tasks,
            rules: self.rules,
            is_rehearsal: true,
            zone: &self.zone,
            recalls: self.recalls.as_deref(),
        }
    }

    fn plan_round(&self) -> Result<DreamPlan, StoreError> {
        never_cancelled(|pace| plan_dream(&self.services, &self.request(), pace))
    }
}

/// Runs a function whose progress is not reported.
fn never_cancelled<T>(
    run: impl FnOnce(&mut ProgressCallback<'_>) -> Result<T, DreamError>,
) -> Result<T, StoreError> {
    let mut step = |_| ControlFlow::Continue(());
    run(&mut ProgressCallback::new(&mut step)).map_err(|error| match error {
        DreamError::Store(error) => error,
        DreamError::Asked => unreachable!("the callback never cancels"),
    })
}

/// Returns a short hash of an action and of what it depends on.
fn key(action: &str, ids: &[MemoryId], basis: &[String]) -> String {
    let mut text = action.to_owned();
    for id in ids {
        write!(text, " {id}").expect("a text grows");
    }
    for part in basis {
        write!(text, "\n{part}").expect("a text grows");
    }
    ContentHash::of(&text)
        .to_string()
        .chars()
        .take(KEY_LENGTH)
        .collect()
}

/// Length of a key in hexadecimal digits.
const KEY_LENGTH: usize = 24;

fn filing_key(filing: &Filing) -> String {
    key(
        "file",
        &[filing.id],
        &[filing.text.to_string(), filing.category.to_string()],
    )
}

fn merge_key(merge: &Merge) -> String {
    let ids: Vec<MemoryId> = std::iter::once(merge.kept)
        .chain(merge.gone.iter().copied())
        .collect();
    key(
        "merge",
        &ids,
        &merge
            .texts
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
    )
}

fn removal_key(parting: &AgeRemoval) -> String {
    key("remove", &[parting.id], &[parting.stamp.0.to_string()])
}

fn reminder_key(reminding: &NewReminder) -> String {
    key(
        "remind",
        &[reminding.of],
        &[
            reminding.text.to_string(),
            reminding.at.to_rfc3339(),
            reminding.said.clone(),
        ],
    )
}

fn cancellation_key(cancelled: &CancelledReminder) -> String {
    key(
        "cancel",
        &[cancelled.id, cancelled.of],
        &[cancelled.stamp.0.to_string(), cancelled.text.to_string()],
    )
}

fn describe_filing(reason: FilingReason) -> String {
    match reason {
        FilingReason::Suggested => "the file suggests it".to_owned(),
        FilingReason::Sure(probability) => format!(
            "it is {:.0} % probable by its words",
            f64::from(probability) * 100.0
        ),
        FilingReason::Read(1) => "it was read once".to_owned(),
        FilingReason::Read(times) => format!("it was read {times} times"),
        FilingReason::Asked => "a language model chose it".to_owned(),
    }
}

fn describe_removal(action: LifecycleAction) -> String {
    match action {
        LifecycleAction::Over => "its end date has passed".to_owned(),
        LifecycleAction::Expired(since) => format!(
            "it is in the inbox, unchanged since {}",
            since.format("%Y-%m-%d")
        ),
        LifecycleAction::Decayed(since) => format!(
            "it was never read and is unchanged since {}",
            since.format("%Y-%m-%d")
        ),
        LifecycleAction::Filed(times) => format!("it was read {times} times"),
    }
}

#[cfg(test)]
mod tests {
    use chrono::Utc;
    use memory_core::testing::services;
    use memory_core::{Category, Draft, MemStore, Phase, SecretPolicy, update, write};

    use super::*;

    fn planner() -> SelectiveDream<Utc> {
        let services = services(Arc::new(MemStore::default()));
        let tasks = vec![DreamTask::Classify, DreamTask::Merge];
        SelectiveDream {
            services,
            tasks,
            rules: DreamRules::default(),
            zone: Utc,
            recalls: None,
            last: LastPlan::default(),
        }
    }

    fn suggest(planner: &SelectiveDream<Utc>, text: &str) -> MemoryId {
        let draft = Draft {
            phase: Some(Phase::Inbox),
            ..Draft::new(text).category(Category::Decisions)
        };
        write(&planner.services, draft, SecretPolicy::Refuse)
            .expect("it is written")
            .id
    }

    #[test]
    fn only_accepted_changes_are_made_and_one_undo_reverts_them() {
        let planner = planner();
        let texts = [
            "We decided to use Postgres",
            "We decided to drop Redis",
            "We decided to move to Berlin",
        ];
        let ids: Vec<MemoryId> = texts.iter().map(|text| suggest(&planner, text)).collect();
        let rows = planner.plan().expect("it is planned");
        assert_eq!(rows.len(), 3, "{rows:?}");
        assert_eq!(
            planner.plan().expect("it is planned"),
            rows,
            "a plan changes nothing"
        );
        let row = |id: &MemoryId| rows.iter().find(|row| row.memory == *id).expect("a row");
        let result = planner.apply(&[
            row(&ids[0]).key.clone(),
            row(&ids[1]).key.clone(),
            "unknown".into(),
        ]);
        let result = result.expect("it is applied");
        assert_eq!((result.applied, result.skipped), (2, 1));
        let phase = |id: &MemoryId| {
            planner
                .services
                .store
                .get(id)
                .expect("it is there")
                .memory
                .phase
        };
        assert_eq!(
            ids.iter().map(phase).collect::<Vec<_>>(),
            [Phase::Organized, Phase::Organized, Phase::Inbox]
        );
        let operation = result.operation.expect("an operation").to_string();
        memory_core::undo(&planner.services, Some(&operation)).expect("it is undone");
        assert!(ids.iter().all(|id| phase(id) == Phase::Inbox));
    }

    #[test]
    fn a_row_of_a_memory_that_changed_since_is_not_applied() {
        let planner = planner();
        let id = suggest(&planner, "We decided to use Postgres");
        let row = planner.plan().expect("it is planned").remove(0);
        let patch = memory_core::Patch {
            content: Some("We decided to use SQLite".into()),
            ..memory_core::Patch::default()
        };
        update(
            &planner.services,
            &id.to_string(),
            &patch,
            None,
            SecretPolicy::Refuse,
        )
        .expect("it is changed");
        let result = planner.apply(&[row.key]).expect("nothing is applied");
        assert_eq!(
            result,
            AppliedRefinement {
                operation: None,
                applied: 0,
                skipped: 1
            }
        );
    }
}
