//! Refines memories in rounds: decides, applies, and repeats until nothing changes.
//!
//! Conversations, reminders and files that must not be changed are never touched. Two memories that were both
//! ingested from notes are not merged, since the next ingest would separate them again.

use std::collections::HashSet;
use std::ops::ControlFlow;

use chrono::TimeZone;
use memory_core::{
    Filter, LinkReport, ListOrder, MemoryId, OperationId, PageRequest, Progress, Refinement,
    Services, StoreError, resolve_links_both_ways, resolve_own_links,
};

use crate::apply::{SkippedChange, apply};
use crate::lifecycle::Exemption;
use crate::plan::{
    AgeRemoval, AnalysedMemories, CancelledReminder, DreamPlan, Filing, Merge, NewReminder,
    UnclassifiedMemory, encode_impression, plan_with_analysis,
};
use crate::review::{Contradiction, Review, Supersession};
use crate::text_analysis::TextAnalysis;
use crate::{DreamRequest, DreamTask, model_tasks, store_review};

/// Maximum number of rounds of a dream, and of reviews within a dream.
const MAX_ROUNDS: usize = 8;

/// The result of a dream or of a dry run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DreamReport {
    /// The operation in the journal; `None` if nothing was changed.
    pub operation: Option<OperationId>,
    /// The memories that left the inbox.
    pub filed: Vec<Filing>,
    /// The memories that remain in the inbox because no category is probable enough.
    pub unsure: Vec<UnclassifiedMemory>,
    /// The memories that were merged.
    pub merged: Vec<Merge>,
    /// Pairs of duplicates that remain separate because both were ingested from notes.
    pub alike: Vec<(MemoryId, MemoryId)>,
    /// Pairs of likely duplicates, which only a person merges.
    pub similar: Vec<(MemoryId, MemoryId)>,
    /// The memories that went to the trash because of their age.
    pub parted: Vec<AgeRemoval>,
    /// The memories that are due for removal but exempt, with the reason.
    pub spared: Vec<(MemoryId, Exemption)>,
    /// The reminders that were created.
    pub reminders: Vec<NewReminder>,
    /// The reminders that went to the trash because their source no longer names their time.
    pub withdrawn: Vec<CancelledReminder>,
    /// The result of resolving wikilinks.
    pub links: LinkReport,
    /// The result of the review of all memories.
    pub review: Option<Review>,
    /// The memories that are superseded because a later memory declares them outdated.
    pub superseded: Vec<Supersession>,
    /// The memories that were summarised.
    pub compressed: Vec<MemoryId>,
    /// Number of files that cannot be parsed and were therefore not changed.
    pub damaged: usize,
    /// Failures that made the result incomplete: an error of a language model, unreadable files.
    pub troubles: Vec<String>,
    /// The memories that a planned change left unchanged.
    pub skipped: Vec<SkippedChange>,
    /// Whether the dream was interrupted before the end.
    pub is_cut: bool,
}

/// A callback that reports the progress of a long operation and can cancel it.
pub struct ProgressCallback<'p>(&'p mut dyn FnMut(Progress) -> ControlFlow<()>);

impl std::fmt::Debug for ProgressCallback<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pace").finish_non_exhaustive()
    }
}

/// The reason why a long operation ended early.
#[derive(Debug, thiserror::Error)]
pub enum DreamError {
    /// The caller cancelled the operation. Each change that was already applied is complete.
    #[error("the operation was cancelled")]
    Asked,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl<'p> ProgressCallback<'p> {
    /// Creates a `ProgressCallback` that calls `step` after each step; `step` returns [`ControlFlow::Break`] to cancel.
    pub fn new(step: &'p mut dyn FnMut(Progress) -> ControlFlow<()>) -> Self {
        Self(step)
    }

    /// Reports the progress.
    ///
    /// # Errors
    /// [`DreamError::Asked`] if the callback cancels the operation.
    pub(crate) fn report(&mut self, progress: Progress) -> Result<(), DreamError> {
        match (self.0)(progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(DreamError::Asked),
        }
    }
}

/// Performs the tasks of a dream as one operation that a single `undo` reverts.
///
/// A dry run only reports the changes of the first round.
///
/// Each round decides first, checks that the plan accounts for every memory, and then applies each change to memories that are unmodified
/// since the decision. Rounds repeat until there is no change left, `MAX_ROUNDS` times at most, so that the next dream changes nothing unless
/// the memories change in between. If the process is killed, each applied change is complete and the next dream performs the others.
///
/// `examples/dream_dry_run.rs` is a complete program.
///
/// # Errors
/// Any error of the store. A failure of a language model is reported in [`DreamReport::troubles`] instead.
pub fn dream<Tz: TimeZone>(
    services: &Services,
    dream: &DreamRequest<'_, Tz>,
    pace: &mut ProgressCallback<'_>,
) -> Result<DreamReport, StoreError> {
    let mut dreamt = DreamReport::default();
    let mut refinement = Refinement::new(services, dream.verb);
    let done = if dream.is_rehearsal {
        run_dry(services, dream, &mut dreamt, pace)
    } else {
        run_rounds(services, dream, &mut refinement, &mut dreamt, pace)
    };
    match done {
        Ok(()) => {}
        Err(DreamError::Asked) => dreamt.is_cut = true,
        Err(DreamError::Store(error)) => return Err(error),
    }
    if !dream.is_rehearsal {
        let counted = services.store.write_access_counts(services.clock.now());
        dreamt.troubles.extend(
            counted
                .err()
                .map(|error| format!("the access counts were not written: {error}")),
        );
    }
    let none = PageRequest {
        order: ListOrder::Created,
        offset: 0,
        limit: Some(0),
    };
    let now = services.clock.now();
    dreamt
        .troubles
        .extend(services.store.list(&Filter::all(), &none, now)?.degraded);
    dreamt.troubles.extend(match dreamt.damaged {
        0 => None,
        1 => Some("1 file cannot be parsed and was not changed; run `memory doctor` to list it".to_owned()),
        several => Some(format!("{several} files cannot be parsed and were not changed; run `memory doctor` to list them")),
    });
    dreamt.operation = refinement.has_changed().then(|| refinement.id().clone());
    Ok(dreamt)
}

fn run_dry<Tz: TimeZone>(
    services: &Services,
    dream: &DreamRequest<'_, Tz>,
    dreamt: &mut DreamReport,
    pace: &mut ProgressCallback<'_>,
) -> Result<(), DreamError> {
    let (plan, looked) = plan_with_analysis(services, dream, pace)?;
    dreamt.links = resolve_links(services, &plan, &looked, None)?;
    dreamt.add_plan(plan, &[]);
    if dream.tasks.contains(&DreamTask::Review) {
        let review = store_review::review_store(services)?;
        dreamt.superseded = review
            .contradictions
            .first
            .iter()
            .filter_map(Contradiction::supersession)
            .collect();
        dreamt.review = Some(review);
    }
    Ok(())
}

fn run_rounds<'s, Tz: TimeZone>(
    services: &'s Services,
    dream: &DreamRequest<'_, Tz>,
    refinement: &mut Refinement<'s>,
    dreamt: &mut DreamReport,
    pace: &mut ProgressCallback<'_>,
) -> Result<(), DreamError> {
    let does = |task: DreamTask| dream.tasks.contains(&task);
    // An operation that was interrupted is rolled back before any decision depends on its changes.
    services.history.recover()?;
    for round in 0..MAX_ROUNDS {
        // A memory that loses its last incoming link in this dream does not expire in the same dream, as in a dry run.
        let later: Vec<DreamTask> = dream
            .tasks
            .iter()
            .copied()
            .filter(|task| ![DreamTask::Expire, DreamTask::Decay].contains(task))
            .collect();
        let tasks = if round == 0 { dream.tasks } else { &later };
        let (mut plan, mut looked) =
            plan_with_analysis(services, &DreamRequest { tasks, ..*dream }, pace)?;
        if does(DreamTask::Classify) && round == 0 {
            dreamt
                .troubles
                .extend(model_tasks::classify(services, &mut looked, &mut plan)?);
            looked.check_plan(&plan)?;
        }
        // A summary is not summarised again.
        looked.mark_summarised(&dreamt.compressed);
        let mut skipped = Vec::new();
        apply(services, &plan, refinement, &mut skipped, pace)?;
        let links = resolve_links(services, &plan, &looked, Some(refinement))?;
        if does(DreamTask::Compress) && round == 0 {
            let summaries =
                model_tasks::compress(services, &mut looked, refinement, &mut dreamt.skipped)?;
            dreamt.compressed = summaries.done;
            dreamt.troubles.extend(summaries.trouble);
        }
        save_analyses(services, &plan, &skipped, &mut looked, dream.tasks);
        let is_done = (plan.is_empty() || skipped.len() == plan.len())
            && (0 < round || dreamt.compressed.is_empty());
        dreamt.add_links(&links);
        dreamt.add_plan(plan, &skipped);
        dreamt.skipped.extend(skipped);
        if is_done {
            break;
        }
    }
    if does(DreamTask::Review) {
        // A review lists a limited number of contradictions, and resolving them can reveal others.
        for _ in 0..MAX_ROUNDS {
            let review = store_review::review_store(services)?;
            let superseded = store_review::write_supersessions(
                services,
                &review,
                refinement,
                &mut dreamt.skipped,
            )?;
            let is_done = superseded.is_empty();
            dreamt.superseded.extend(superseded);
            // The first review, made before any supersession was written, is the one to report.
            dreamt.review.get_or_insert(review);
            if is_done {
                break;
            }
        }
    }
    Ok(())
}

/// If at least one memory in `FULL_SCAN_SHARE` has links to resolve, the wikilinks of all memories are resolved.
const FULL_SCAN_SHARE: usize = 4;

/// Resolves the wikilinks that the plan selects.
fn resolve_links(
    services: &Services,
    plan: &DreamPlan,
    looked: &AnalysedMemories,
    refinement: Option<&mut Refinement<'_>>,
) -> Result<LinkReport, StoreError> {
    if plan.followed.len() * FULL_SCAN_SHARE < looked.outlines.len() {
        return resolve_links_both_ways(services, &plan.followed, refinement);
    }
    let has_links =
        |glance: &Option<TextAnalysis>| glance.as_ref().is_some_and(|glance| glance.has_links);
    let all = looked
        .outlines
        .iter()
        .zip(&looked.glances)
        .filter(|(_, glance)| has_links(glance));
    let all: Vec<MemoryId> = all.map(|(outline, _)| outline.id).collect();
    resolve_own_links(services, &all, refinement)
}

/// Records in the impressions which analyses are complete, so that the next dream skips them.
fn save_analyses(
    services: &Services,
    plan: &DreamPlan,
    skipped: &[SkippedChange],
    looked: &mut AnalysedMemories,
    tasks: &[DreamTask],
) {
    let skipped: HashSet<MemoryId> = skipped.iter().map(|skipped| skipped.id).collect();
    // The memories of skipped merges are compared again, and likely duplicates until a person decides.
    let apart = plan
        .merges
        .iter()
        .filter(|merge| skipped.contains(&merge.kept));
    let apart: HashSet<MemoryId> = apart
        .flat_map(|merge| merge.gone.iter().chain([&merge.kept]))
        .chain(plan.similar.iter().flat_map(|(one, other)| [one, other]))
        .copied()
        .collect();
    let followed: HashSet<MemoryId> = plan.followed.iter().copied().collect();
    let heard: HashSet<MemoryId> = plan.heard.iter().copied().collect();
    let compares = tasks.contains(&DreamTask::Merge);
    let mut impressions = Vec::new();
    for (outline, glance) in looked.outlines.iter().zip(&mut looked.glances) {
        let Some(glance) = glance else { continue };
        let before = (glance.is_compared, glance.is_linked, glance.is_heard);
        glance.is_compared |= compares && !apart.contains(&outline.id);
        glance.is_linked |= followed.contains(&outline.id);
        glance.is_heard |= heard.contains(&outline.id);
        let is_model_asked = glance.is_asked || glance.is_summarised;
        if before != (glance.is_compared, glance.is_linked, glance.is_heard) || is_model_asked {
            impressions.push(encode_impression(outline, glance));
        }
    }
    // A lost impression is recomputed, so an error here is ignored.
    let _ = services.store.store_analyses(&impressions);
}

impl DreamReport {
    /// Adds the content of an applied plan, except for skipped changes.
    fn add_plan(&mut self, plan: DreamPlan, skipped: &[SkippedChange]) {
        let left: HashSet<MemoryId> = skipped.iter().map(|skipped| skipped.id).collect();
        self.filed.extend(
            plan.filings
                .into_iter()
                .filter(|filing| !left.contains(&filing.id)),
        );
        self.merged.extend(
            plan.merges
                .into_iter()
                .filter(|merge| !left.contains(&merge.kept)),
        );
        self.parted.extend(
            plan.partings
                .into_iter()
                .filter(|parting| !left.contains(&parting.id)),
        );
        self.reminders.extend(
            plan.reminders
                .into_iter()
                .filter(|reminding| !left.contains(&reminding.of)),
        );
        self.withdrawn.extend(
            plan.withdrawn
                .into_iter()
                .filter(|withdrawal| !left.contains(&withdrawal.of)),
        );
        self.alike.extend(plan.alike);
        self.alike.sort_unstable();
        self.alike.dedup();
        // The last round determines what remains unsure.
        (self.unsure, self.similar, self.damaged) = (plan.unsure, plan.similar, plan.damaged);
        self.spared.extend(plan.spared);
    }

    fn add_links(&mut self, links: &LinkReport) {
        // Later rounds resolve some of the links again.
        self.links.resolved = self.links.resolved.max(links.resolved);
        self.links.unresolved = self.links.unresolved.max(links.unresolved);
        self.links.updated += links.updated;
    }

    /// Returns whether nothing was changed, or would be changed by a dry run.
    pub fn is_empty(&self) -> bool {
        let has_moved =
            !(self.filed.is_empty() && self.merged.is_empty() && self.parted.is_empty());
        let has_written = !(self.reminders.is_empty()
            && self.withdrawn.is_empty()
            && self.superseded.is_empty()
            && self.compressed.is_empty());
        !has_moved && !has_written && self.links.updated == 0
    }
}
