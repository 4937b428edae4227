//! Tidying memories.

use std::collections::HashSet;

use memory_core::{
    LinksResolved, MemoryId, OperationId, Refinement, Services, StoreError, Verb, resolve_links_in, resolve_links_of,
};

use crate::apply::apply;
use crate::glance::Glance;
use crate::lifecycle::Spared;
use crate::pace::{Halt, Pace};
use crate::plan::{Filing, Looked, Merge, Parting, Plan, Unsure, decide, renewed};
use crate::{Rules, Task};

/// So many times at most is looked again at what has become of memories, until nothing is left to do.
const ROUNDS: usize = 8;

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
    /// What following wikilinks led to.
    pub links: LinksResolved,
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

/// Does `tasks`, as one operation that one `undo` takes back; with `is_rehearsal`, only tells what the first round would do.
///
/// Each round decides first, sees to it that every memory is accounted for, and changes then what nobody else has changed in the
/// meantime. Rounds follow until there is nothing left to do, so that the next dream, when nothing else happens, changes nothing.
/// Whoever is killed in between leaves what was done whole, and the next dream does the rest.
///
/// # Errors
/// Whatever the store says.
pub fn dream(
    services: &Services,
    rules: &Rules,
    verb: Verb,
    tasks: &[Task],
    is_rehearsal: bool,
    pace: &mut Pace<'_>,
) -> Result<Dreamt, StoreError> {
    let mut dreamt = Dreamt::default();
    let mut refinement = Refinement::new(services, verb);
    let done = if is_rehearsal {
        rehearse(services, rules, tasks, &mut dreamt, pace)
    } else {
        rounds(services, rules, tasks, &mut refinement, &mut dreamt, pace)
    };
    match done {
        Ok(()) => {}
        Err(Halt::Asked) => dreamt.is_cut = true,
        Err(Halt::Store(error)) => return Err(error),
    }
    dreamt.operation = refinement.has_changed().then(|| refinement.id().clone());
    Ok(dreamt)
}

fn rehearse(services: &Services, rules: &Rules, tasks: &[Task], dreamt: &mut Dreamt, pace: &mut Pace<'_>) -> Result<(), Halt> {
    let (plan, looked) = decide(services, rules, tasks, pace)?;
    dreamt.links = follow(services, &plan, &looked, None)?;
    dreamt.take(plan, &[]);
    Ok(())
}

fn rounds<'s>(
    services: &'s Services,
    rules: &Rules,
    tasks: &[Task],
    refinement: &mut Refinement<'s>,
    dreamt: &mut Dreamt,
    pace: &mut Pace<'_>,
) -> Result<(), Halt> {
    for _ in 0..ROUNDS {
        let (plan, mut looked) = decide(services, rules, tasks, pace)?;
        let mut skipped = Vec::new();
        apply(services, &plan, refinement, &mut skipped, pace)?;
        let links = follow(services, &plan, &looked, Some(refinement))?;
        remember(services, &plan, &skipped, &mut looked, tasks);
        let is_done = plan.is_empty() || skipped.len() == plan.len();
        dreamt.add_links(links);
        dreamt.take(plan, &skipped);
        dreamt.skipped.extend(skipped);
        if is_done {
            break;
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
    let compares = tasks.contains(&Task::Merge);
    let mut impressions = Vec::new();
    for (outline, glance) in looked.outlines.iter().zip(&mut looked.glances) {
        let Some(glance) = glance else { continue };
        let before = (glance.is_compared, glance.is_linked);
        glance.is_compared |= compares && !apart.contains(&outline.id);
        glance.is_linked |= followed.contains(&outline.id);
        if before != (glance.is_compared, glance.is_linked) {
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
        self.alike.extend(plan.alike);
        self.alike.sort_unstable();
        self.alike.dedup();
        // What the last round says of those that stay is what holds.
        (self.unsure, self.spared) = (plan.unsure, plan.spared);
    }

    fn add_links(&mut self, links: LinksResolved) {
        self.links.resolved += links.resolved;
        self.links.unresolved += links.unresolved;
        self.links.updated += links.updated;
    }

    /// Tells whether nothing was changed, nor would be.
    pub fn is_empty(&self) -> bool {
        self.filed.is_empty() && self.merged.is_empty() && self.parted.is_empty() && self.links.updated == 0
    }
}
