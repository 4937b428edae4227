//! Applies a plan to the store.
//!
//! The plan is applied in units. A unit is made completely, or refused because one of its memories has changed.
//! All units are one operation in the journal, which records the reason of each change.

use std::collections::{BTreeMap, HashMap, HashSet};

use chrono::{DateTime, Utc};
use memory_core::{
    Change, ContentHash, Memory, MemoryId, Patch, Phase, Progress, Recurrence, Refinement,
    RefinementUnit, Reminder, ReminderQuery, Services, StoreError, StoredMemory, embedded_text,
    reminder_memory, wikilink,
};

use crate::dream::{DreamError, ProgressCallback};
use crate::lifecycle::LifecycleAction;
use crate::merge::{check_conserved, check_mergeable, merge_memories};
use crate::plan::{AgeRemoval, CancelledReminder, DreamPlan, Filing, Merge, NewReminder};

/// Number of changed memories at which a batch is committed with one sync.
const BATCH_MEMORIES: usize = 2_000;

/// Applies a plan.
///
/// A change to memories that were modified since the decision is refused and added to `skipped`.
pub(crate) fn apply<'s>(
    services: &'s Services,
    plan: &DreamPlan,
    refinement: &mut Refinement<'s>,
    skipped: &mut Vec<SkippedChange>,
    pace: &mut ProgressCallback<'_>,
) -> Result<(), DreamError> {
    let total = plan.len() as u64;
    let mut work = PlanApplier {
        services,
        refinement,
        skipped,
        pace,
        batch: UnitBatch::default(),
        done: 0,
        total,
    };
    for merge in &plan.merges {
        work.add_unit(merge.kept, |services, now| merge_unit(services, merge, now))?;
    }
    work.flush()?;
    for parting in &plan.partings {
        work.add_unit(parting.id, |_, _| Ok(Ok(removal_unit(parting))))?;
    }
    for filing in &plan.filings {
        work.add_unit(filing.id, |services, now| file(services, filing, now))?;
    }
    work.flush()?;
    for withdrawal in &plan.withdrawn {
        work.add_unit(withdrawal.of, |services, _| {
            cancellation_unit(services, withdrawal)
        })?;
    }
    for reminding in &plan.reminders {
        work.add_unit(reminding.of, |services, now| {
            reminder_unit(services, reminding, now)
        })?;
    }
    work.flush()
}

/// A unit of changes, or the reason why there is no change.
type PlannedUnit = Result<RefinementUnit, String>;

const CHANGED_REASON: &str = "it was changed after the plan was made";

/// Units that are written with one sync.
#[derive(Default)]
struct UnitBatch {
    /// Each unit with the memory that it concerns.
    units: Vec<(MemoryId, RefinementUnit)>,
    touched: HashSet<MemoryId>,
}

struct PlanApplier<'w, 's, 'p> {
    services: &'s Services,
    refinement: &'w mut Refinement<'s>,
    skipped: &'w mut Vec<SkippedChange>,
    pace: &'w mut ProgressCallback<'p>,
    batch: UnitBatch,
    done: u64,
    total: u64,
}

impl PlanApplier<'_, '_, '_> {
    /// Computes a unit from the current state of the store and adds it to the batch.
    fn add_unit(
        &mut self,
        about: MemoryId,
        think: impl Fn(&Services, DateTime<Utc>) -> Result<PlannedUnit, StoreError>,
    ) -> Result<(), DreamError> {
        self.done += 1;
        let now = self.services.clock.now();
        let mut thought = think(self.services, now)?;
        let is_touched = |thought: &PlannedUnit, batch: &UnitBatch| {
            thought.as_ref().is_ok_and(|unit| {
                unit.changes
                    .iter()
                    .any(|change| batch.touched.contains(&change.id()))
            })
        };
        if is_touched(&thought, &self.batch) {
            // The unit is recomputed after the batch that changes one of its memories is written.
            self.flush()?;
            thought = think(self.services, now)?;
        }
        match thought {
            Ok(unit) => {
                self.batch
                    .touched
                    .extend(unit.changes.iter().map(Change::id));
                self.batch.units.push((about, unit));
            }
            Err(reason) => self.skipped.push(SkippedChange { id: about, reason }),
        }
        if BATCH_MEMORIES <= self.batch.touched.len() {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<(), DreamError> {
        let UnitBatch { units, .. } = std::mem::take(&mut self.batch);
        if units.is_empty() {
            return Ok(());
        }
        let (about, units): (Vec<MemoryId>, Vec<RefinementUnit>) = units.into_iter().unzip();
        for refused in self.refinement.commit(units)? {
            self.skipped.push(SkippedChange {
                id: about[refused.unit],
                reason: refused.error.to_string(),
            });
        }
        self.pace.report(Progress {
            done: self.done,
            total: Some(self.total),
        })
    }
}

/// Returns the memory if its text still has the hash `text` and its file may be changed.
pub(crate) fn read_unchanged(
    services: &Services,
    id: &MemoryId,
    text: ContentHash,
) -> Result<Option<StoredMemory>, StoreError> {
    match services.store.get(id) {
        Ok(stored) if stored.problem.is_none() => {
            let own = ContentHash::of(&embedded_text(&stored.memory));
            Ok(Some(stored).filter(|_| own == text))
        }
        Ok(_) | Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn file(
    services: &Services,
    filing: &Filing,
    now: DateTime<Utc>,
) -> Result<PlannedUnit, StoreError> {
    // If the memory was filed since the decision, that category takes precedence.
    let stored = read_unchanged(services, &filing.id, filing.text)?
        .filter(|stored| stored.memory.phase == Phase::Inbox);
    let Some(stored) = stored else {
        return Ok(Err(CHANGED_REASON.into()));
    };
    let patch = Patch {
        category: Some(filing.category),
        ..Patch::default()
    };
    let changes = patch
        .apply(&stored.memory, now)
        .map(|memory| replace(&stored, memory));
    Ok(Ok(RefinementUnit {
        changes: changes.into_iter().collect(),
        reasons: BTreeMap::new(),
    }))
}

fn reminder_unit(
    services: &Services,
    reminding: &NewReminder,
    now: DateTime<Utc>,
) -> Result<PlannedUnit, StoreError> {
    let Some(source) = read_unchanged(services, &reminding.of, reminding.text)? else {
        return Ok(Err(CHANGED_REASON.into()));
    };
    let reminder = Reminder {
        repeats: reminding.repeats.clone().map(Recurrence::new),
        ..Reminder::new(reminding.at)
    };
    let memory = reminder_memory(&source.memory, &reminding.said, reminder, now);
    let reasons = BTreeMap::from([(memory.id, format!("requested by memory {}", reminding.of))]);
    let changes = vec![Change::Create {
        memory: Box::new(memory),
        front_matter: String::new(),
    }];
    Ok(Ok(RefinementUnit { changes, reasons }))
}

fn cancellation_unit(
    services: &Services,
    withdrawal: &CancelledReminder,
) -> Result<PlannedUnit, StoreError> {
    let CancelledReminder {
        id,
        of,
        stamp,
        text,
        ..
    } = withdrawal;
    if read_unchanged(services, of, *text)?.is_none() {
        return Ok(Err(CHANGED_REASON.into()));
    }
    let change = Change::Remove {
        id: *id,
        expected: Some(*stamp),
    };
    Ok(Ok(RefinementUnit {
        changes: vec![change],
        reasons: BTreeMap::from([(*id, format!("memory {of} no longer mentions this time"))]),
    }))
}

fn removal_unit(parting: &AgeRemoval) -> RefinementUnit {
    let day = |moment: DateTime<Utc>| moment.format("%Y-%m-%d");
    let why = match parting.fate {
        LifecycleAction::Over => "it had expired".to_owned(),
        LifecycleAction::Expired(since) => format!("it had been in the inbox since {}", day(since)),
        LifecycleAction::Decayed(since) => format!("it had not been read since {}", day(since)),
        LifecycleAction::Filed(_) => String::new(),
    };
    let change = Change::Remove {
        id: parting.id,
        expected: Some(parting.stamp),
    };
    RefinementUnit {
        changes: vec![change],
        reasons: BTreeMap::from([(parting.id, why)]),
    }
}

/// Computes the unit that merges memories and redirects links and reminders to the result.
fn merge_unit(
    services: &Services,
    merge: &Merge,
    now: DateTime<Utc>,
) -> Result<PlannedUnit, StoreError> {
    let mut sources = Vec::with_capacity(merge.texts.len());
    for (id, text) in std::iter::once(&merge.kept)
        .chain(&merge.gone)
        .zip(&merge.texts)
    {
        let Some(stored) = read_unchanged(services, id, *text)? else {
            return Ok(Err(CHANGED_REASON.into()));
        };
        sources.push(stored);
    }
    let memories: Vec<&Memory> = sources.iter().map(|stored| &stored.memory).collect();
    let may_all = memories.iter().enumerate().all(|(place, one)| {
        memories[place + 1..]
            .iter()
            .all(|other| check_mergeable(one, other, now).is_ok())
    });
    let Some(one) = merge_memories(&memories).filter(|one| may_all && one.memory.id == merge.kept)
    else {
        return Ok(Err(CHANGED_REASON.into()));
    };
    let texts: Vec<&str> = memories
        .iter()
        .map(|memory| memory.content.as_str())
        .collect();
    if let Err(lost) = check_conserved(&texts, &[&one.memory.content]) {
        return Ok(Err(lost.to_string()));
    }
    let kept = one.memory.id;
    let gone: Vec<&StoredMemory> = sources
        .iter()
        .filter(|stored| stored.memory.id != kept)
        .collect();
    let mut others = HashMap::new();
    let mut reminders = Vec::new();
    let mut aliases = one.memory.aliases.clone();
    for source in &gone {
        let id = source.memory.id;
        let names = wikilink::memory_keys(&source.memory, &source.path);
        let mut is_named = false;
        for other in services.store.referring(&id, &names)? {
            is_named |= !wikilink::parse(&other.memory.content).is_empty();
            if other.problem.is_none()
                && other.memory.links.contains(&id)
                && !one.gone.contains(&other.memory.id)
            {
                others.insert(other.memory.id, other);
            }
        }
        // The alias makes wikilinks to the removed file resolve to the merged memory.
        if is_named && let Some(stem) = file_stem(&source.path) {
            aliases.push(stem.to_owned());
        }
        let own = services
            .store
            .reminders(ReminderQuery::Of(id), None, None)?
            .memories;
        reminders.extend(own.into_iter().filter(|stored| stored.problem.is_none()));
    }
    others.remove(&kept);
    let first = sources
        .iter()
        .find(|stored| stored.memory.id == kept)
        .expect("it is one of them");
    let is_new = |place: usize, alias: &String| !aliases[..place].contains(alias);
    let aliases = aliases
        .iter()
        .enumerate()
        .filter(|(place, alias)| is_new(*place, alias))
        .map(|(_, alias)| alias.clone());
    // The clock may have been set back; `updated_at` must not decrease.
    let updated_at = sources
        .iter()
        .map(|stored| stored.memory.updated_at)
        .fold(now, Ord::max);
    let memory = Memory {
        aliases: aliases.collect(),
        version: first.memory.version + 1,
        updated_at,
        ..one.memory.clone()
    };
    let mut changes = vec![replace(first, memory)];
    changes.extend(gone.iter().map(|stored| Change::Remove {
        id: stored.memory.id,
        expected: Some(stored.stamp),
    }));
    let mut others: Vec<StoredMemory> = others.into_values().collect();
    others.sort_by_key(|other| other.memory.id);
    for other in &others {
        let add_links = if other.memory.links.contains(&kept) {
            Vec::new()
        } else {
            vec![kept]
        };
        let patch = Patch {
            remove_links: one.gone.clone(),
            add_links,
            ..Patch::default()
        };
        changes.extend(
            patch
                .apply(&other.memory, now)
                .map(|memory| replace(other, memory)),
        );
    }
    for stored in &reminders {
        let reminder = stored.memory.reminder.clone().map(|reminder| Reminder {
            of: Some(kept),
            ..reminder
        });
        let patch = Patch {
            reminder,
            ..Patch::default()
        };
        changes.extend(
            patch
                .apply(&stored.memory, now)
                .map(|memory| replace(stored, memory)),
        );
    }
    let mut reasons: BTreeMap<MemoryId, String> = one
        .gone
        .iter()
        .map(|id| (*id, format!("merged into the duplicate {kept}")))
        .collect();
    let names: Vec<String> = one.gone.iter().map(ToString::to_string).collect();
    reasons.insert(
        kept,
        format!("merged with the duplicates {}", names.join(", ")),
    );
    Ok(Ok(RefinementUnit { changes, reasons }))
}

pub(crate) fn replace(stored: &StoredMemory, memory: Memory) -> Change {
    Change::Replace {
        expected: stored.stamp,
        memory: Box::new(memory),
    }
}

fn file_stem(path: &str) -> Option<&str> {
    path.rsplit('/').next()?.strip_suffix(".md")
}

/// A memory that a planned change left unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedChange {
    /// The memory.
    pub id: MemoryId,
    /// The reason.
    pub reason: String,
}
