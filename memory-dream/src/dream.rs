//! Tidying memories.

use std::collections::HashSet;

use chrono::TimeZone;
use memory_core::{
    Filter, LinksResolved, MemoryId, OperationId, Order, Refinement, Services, Slice, StoreError, Verb, resolve_links_in,
    resolve_links_of,
};

use crate::apply::apply;
use crate::glance::Glance;
use crate::lifecycle::Spared;
use crate::pace::{Halt, Pace};
use crate::plan::{Filing, Looked, Merge, Parting, Plan, Reminding, Unsure, Withdrawal, decide, renewed};
use crate::review::{Contradiction, Review, Supersession};
use crate::{Rules, Task, asking, reviewing};

/// So many times at most is looked again at what has become of memories, until nothing is left to do.
const ROUNDS: usize = 8;

/// What a dream is to do.
#[derive(Debug, Clone, Copy)]
pub struct Dream<'d, Tz> {
    /// What the journal calls it.
    pub verb: Verb,
    /// What is done.
    pub tasks: &'d [Task],
    /// By which rules.
    pub rules: Rules,
    /// Whether it only tells what the first round would do.
    pub is_rehearsal: bool,
    /// The time zone in which memories mean times.
    pub zone: &'d Tz,
}

/// What became of memories, or would.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dreamt {
    /// What the journal calls it; nothing if nothing was changed.
    pub operation: Option<OperationId>,
    /// What left the inbox.
    pub filed: Vec<Filing>,
    /// What stays in the inbox, because nothing says surely enough what it is about.
    pub unsure: Vec<Unsure>,
    /// What became one.
    pub merged: Vec<Merge>,
    /// What says the same and stays apart, because each was taken in from a note of its own.
    pub alike: Vec<(MemoryId, MemoryId)>,
    /// What went to trash because of its age.
    pub parted: Vec<Parting>,
    /// What stays though its time has come, and why.
    pub spared: Vec<(MemoryId, Spared)>,
    /// What somebody is to be reminded of.
    pub reminders: Vec<Reminding>,
    /// Which reminders went to trash, since what they were made of names their time no longer.
    pub withdrawn: Vec<Withdrawal>,
    /// What following wikilinks led to.
    pub links: LinksResolved,
    /// What was seen when all memories were looked at together.
    pub review: Option<Review>,
    /// What holds no longer, since a later memory says so.
    pub superseded: Vec<Supersession>,
    /// What was summarised.
    pub compressed: Vec<MemoryId>,
    /// How many files could not be understood, and so were left alone.
    pub damaged: usize,
    /// What made it less than it could be: a language model that failed, files that cannot be read.
    pub troubles: Vec<String>,
    /// What was left alone, though it was meant.
    pub skipped: Vec<Skipped>,
    /// Whether it was stopped before the end.
    pub is_cut: bool,
}

/// A memory that was left alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The memory.
    pub id: MemoryId,
    /// Why.
    pub reason: String,
}

/// Does what a dream is to do, as one operation that one `undo` takes back; a rehearsal only tells what the first round would do.
///
/// Each round decides first, sees to it that every memory is accounted for, and changes then what nobody else has changed in the
/// meantime. Rounds follow until there is nothing left to do, so that the next dream, when nothing else happens, changes nothing.
/// Whoever is killed in between leaves what was done whole, and the next dream does the rest.
///
/// # Errors
/// Whatever the store says; a language model that fails is told of in what is returned.
pub fn dream<Tz: TimeZone>(services: &Services, dream: &Dream<'_, Tz>, pace: &mut Pace<'_>) -> Result<Dreamt, StoreError> {
    let mut dreamt = Dreamt::default();
    let mut refinement = Refinement::new(services, dream.verb);
    let done = if dream.is_rehearsal {
        rehearse(services, dream, &mut dreamt, pace)
    } else {
        rounds(services, dream, &mut refinement, &mut dreamt, pace)
    };
    match done {
        Ok(()) => {}
        Err(Halt::Asked) => dreamt.is_cut = true,
        Err(Halt::Store(error)) => return Err(error),
    }
    let none = Slice { order: Order::Created, offset: 0, limit: Some(0) };
    let now = services.clock.now();
    dreamt.troubles.extend(services.store.list(&Filter::everything(), &none, now)?.degraded);
    dreamt.troubles.extend(match dreamt.damaged {
        0 => None,
        1 => Some("1 file cannot be understood and was left alone, and `memory doctor` names it".to_owned()),
        several => Some(format!("{several} files cannot be understood and were left alone, and `memory doctor` names them")),
    });
    dreamt.operation = refinement.has_changed().then(|| refinement.id().clone());
    Ok(dreamt)
}

fn rehearse<Tz: TimeZone>(
    services: &Services,
    dream: &Dream<'_, Tz>,
    dreamt: &mut Dreamt,
    pace: &mut Pace<'_>,
) -> Result<(), Halt> {
    let (plan, looked) = decide(services, dream, pace)?;
    dreamt.links = follow(services, &plan, &looked, None)?;
    dreamt.take(plan, &[]);
    if dream.tasks.contains(&Task::Review) {
        let review = reviewing::review(services)?;
        dreamt.superseded = review.contradictions.first.iter().filter_map(Contradiction::supersession).collect();
        dreamt.review = Some(review);
    }
    Ok(())
}

fn rounds<'s, Tz: TimeZone>(
    services: &'s Services,
    dream: &Dream<'_, Tz>,
    refinement: &mut Refinement<'s>,
    dreamt: &mut Dreamt,
    pace: &mut Pace<'_>,
) -> Result<(), Halt> {
    let does = |task: Task| dream.tasks.contains(&task);
    // What was interrupted in the middle is taken back before anything is decided on it.
    services.history.recover()?;
    for round in 0..ROUNDS {
        // What nothing leads to any more because of this dream has its time before it, as the rehearsal says.
        let later: Vec<Task> = dream.tasks.iter().copied().filter(|task| ![Task::Expire, Task::Decay].contains(task)).collect();
        let tasks = if round == 0 { dream.tasks } else { &later };
        let (mut plan, mut looked) = decide(services, &Dream { tasks, ..*dream }, pace)?;
        if does(Task::Classify) && round == 0 {
            dreamt.troubles.extend(asking::classify(services, &mut looked, &mut plan)?);
            looked.check(&plan)?;
        }
        // A summary is not summarised again.
        looked.mark_summarised(&dreamt.compressed);
        let mut skipped = Vec::new();
        apply(services, &plan, refinement, &mut skipped, pace)?;
        let links = follow(services, &plan, &looked, Some(refinement))?;
        if does(Task::Compress) && round == 0 {
            let summaries = asking::compress(services, &mut looked, refinement, &mut dreamt.skipped)?;
            dreamt.compressed = summaries.done;
            dreamt.troubles.extend(summaries.trouble);
        }
        remember(services, &plan, &skipped, &mut looked, dream.tasks);
        let is_done = (plan.is_empty() || skipped.len() == plan.len()) && (0 < round || dreamt.compressed.is_empty());
        dreamt.add_links(&links);
        dreamt.take(plan, &skipped);
        dreamt.skipped.extend(skipped);
        if is_done {
            break;
        }
    }
    if does(Task::Review) {
        // A review lists so many at most, and what it leads to may leave others.
        for _ in 0..ROUNDS {
            let review = reviewing::review(services)?;
            let superseded = reviewing::supersede(services, &review, refinement, &mut dreamt.skipped)?;
            let is_done = superseded.is_empty();
            dreamt.superseded.extend(superseded);
            // What is told is what there was to see before anything was written down.
            dreamt.review.get_or_insert(review);
            if is_done {
                break;
            }
        }
    }
    Ok(())
}

/// When at least one of so many is to be followed, the wikilinks of all are.
const SHARE: usize = 4;

/// Follows the wikilinks that are to be.
fn follow(
    services: &Services,
    plan: &Plan,
    looked: &Looked,
    refinement: Option<&mut Refinement<'_>>,
) -> Result<LinksResolved, StoreError> {
    if plan.followed.len() * SHARE < looked.outlines.len() {
        return resolve_links_of(services, &plan.followed, refinement);
    }
    let has_links = |glance: &Option<Glance>| glance.as_ref().is_some_and(|glance| glance.has_links);
    let all = looked.outlines.iter().zip(&looked.glances).filter(|(_, glance)| has_links(glance));
    let all: Vec<MemoryId> = all.map(|(outline, _)| outline.id).collect();
    resolve_links_in(services, &all, refinement)
}

/// Writes down what need not be looked at again.
fn remember(services: &Services, plan: &Plan, skipped: &[Skipped], looked: &mut Looked, tasks: &[Task]) {
    let skipped: HashSet<MemoryId> = skipped.iter().map(|skipped| skipped.id).collect();
    // Those are compared again.
    let apart = plan.merges.iter().filter(|merge| skipped.contains(&merge.kept));
    let apart: HashSet<MemoryId> = apart.flat_map(|merge| merge.gone.iter().chain([&merge.kept])).copied().collect();
    let followed: HashSet<MemoryId> = plan.followed.iter().copied().collect();
    let heard: HashSet<MemoryId> = plan.heard.iter().copied().collect();
    let compares = tasks.contains(&Task::Merge);
    let mut impressions = Vec::new();
    for (outline, glance) in looked.outlines.iter().zip(&mut looked.glances) {
        let Some(glance) = glance else { continue };
        let before = (glance.is_compared, glance.is_linked, glance.is_heard);
        glance.is_compared |= compares && !apart.contains(&outline.id);
        glance.is_linked |= followed.contains(&outline.id);
        glance.is_heard |= heard.contains(&outline.id);
        let is_model_asked = glance.is_asked || glance.is_summarised;
        if before != (glance.is_compared, glance.is_linked, glance.is_heard) || is_model_asked {
            impressions.push(renewed(outline, glance));
        }
    }
    // They can be had again.
    let _ = services.store.keep_impressions(&impressions);
}

impl Dreamt {
    /// Takes over what a plan said, but for what was left alone.
    fn take(&mut self, plan: Plan, skipped: &[Skipped]) {
        let left: HashSet<MemoryId> = skipped.iter().map(|skipped| skipped.id).collect();
        self.filed.extend(plan.filings.into_iter().filter(|filing| !left.contains(&filing.id)));
        self.merged.extend(plan.merges.into_iter().filter(|merge| !left.contains(&merge.kept)));
        self.parted.extend(plan.partings.into_iter().filter(|parting| !left.contains(&parting.id)));
        self.reminders.extend(plan.reminders.into_iter().filter(|reminding| !left.contains(&reminding.of)));
        self.withdrawn.extend(plan.withdrawn.into_iter().filter(|withdrawal| !left.contains(&withdrawal.of)));
        self.alike.extend(plan.alike);
        self.alike.sort_unstable();
        self.alike.dedup();
        // What the last round says of those that stay is what holds.
        (self.unsure, self.damaged) = (plan.unsure, plan.damaged);
        self.spared.extend(plan.spared);
    }

    fn add_links(&mut self, links: &LinksResolved) {
        // Later rounds follow some of them again.
        self.links.resolved = self.links.resolved.max(links.resolved);
        self.links.unresolved = self.links.unresolved.max(links.unresolved);
        self.links.updated += links.updated;
    }

    /// Tells whether nothing was changed, nor would be.
    pub fn is_empty(&self) -> bool {
        let has_moved = !(self.filed.is_empty() && self.merged.is_empty() && self.parted.is_empty());
        let has_written =
            !(self.reminders.is_empty() && self.withdrawn.is_empty() && self.superseded.is_empty() && self.compressed.is_empty());
        !has_moved && !has_written && self.links.updated == 0
    }
}
