//! Plans which memories leave the inbox.

use memory_core::{Category, MemorySummary, Phase};

use super::analysis::AnalysedMemories;
use super::{DreamPlan, Filing, FilingReason, UnclassifiedMemory};
use crate::lifecycle::LifecycleAction;

/// The category of a memory that has to leave the inbox if its text does not determine one.
pub const DEFAULT_CATEGORY: Category = Category::Knowledge;

/// Adds a filing for one memory in the inbox to `plan`, or lists the memory as unsure.
///
/// A memory without an analysis is skipped.
pub(super) fn file(looked: &AnalysedMemories, place: usize, plan: &mut DreamPlan) {
    let outline = &looked.outlines[place];
    let Some(glance) = looked.glances[place].as_ref().filter(|_| outline.phase == Phase::Inbox) else { return };
    let (category, why) = match (suggested_category(outline), glance.verdict) {
        (Some(category), _) => (category, FilingReason::Suggested),
        (None, Some(category)) => (category, FilingReason::Sure(glance.confidence)),
        (None, None) => return plan.unsure.push(UnclassifiedMemory { id: outline.id, confidence: glance.confidence }),
    };
    plan.filings.push(Filing { id: outline.id, text: outline.text, category, why });
}

/// Returns whether a memory in the inbox is analysed and has a category to be filed in.
pub(super) fn has_category(looked: &AnalysedMemories, place: usize) -> bool {
    let has_verdict = looked.glances[place].as_ref().is_some_and(|glance| glance.verdict.is_some());
    has_verdict || looked.glances[place].is_some() && suggested_category(&looked.outlines[place]).is_some()
}

/// Adds to `plan` a memory that is filed because it is read often.
pub(super) fn plan_read_filing(looked: &AnalysedMemories, place: usize, accesses: u64, plan: &mut DreamPlan) {
    let outline = &looked.outlines[place];
    let verdict = looked.glances[place].as_ref().and_then(|glance| glance.verdict);
    let category = suggested_category(outline).or(verdict).unwrap_or(DEFAULT_CATEGORY);
    plan.filings.push(Filing { id: outline.id, text: outline.text, category, why: FilingReason::Read(accesses) });
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
