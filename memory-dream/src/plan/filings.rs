//! Plans which memories leave the inbox.

use memory_core::{Category, Outline, Phase};

use super::look::Looked;
use super::{Filing, Plan, Unsure, Why};
use crate::lifecycle::Fate;

/// The category of a memory that has to leave the inbox if its text does not determine one.
pub const DEFAULT_CATEGORY: Category = Category::Knowledge;

/// Adds a filing for one memory in the inbox to `plan`, or lists the memory as unsure.
///
/// A memory without an analysis is skipped.
pub(super) fn file(looked: &Looked, place: usize, plan: &mut Plan) {
    let outline = &looked.outlines[place];
    let Some(glance) = looked.glances[place].as_ref().filter(|_| outline.phase == Phase::Inbox) else { return };
    let (category, why) = match (suggested(outline), glance.verdict) {
        (Some(category), _) => (category, Why::Suggested),
        (None, Some(category)) => (category, Why::Sure(glance.confidence)),
        (None, None) => return plan.unsure.push(Unsure { id: outline.id, confidence: glance.confidence }),
    };
    plan.filings.push(Filing { id: outline.id, text: outline.text, category, why });
}

/// Returns whether a memory in the inbox is analysed and has a category to be filed in.
pub(super) fn is_clear(looked: &Looked, place: usize) -> bool {
    let has_verdict = looked.glances[place].as_ref().is_some_and(|glance| glance.verdict.is_some());
    has_verdict || looked.glances[place].is_some() && suggested(&looked.outlines[place]).is_some()
}

/// Adds to `plan` a memory that is filed because it is read often.
pub(super) fn file_read(looked: &Looked, place: usize, accesses: u64, plan: &mut Plan) {
    let outline = &looked.outlines[place];
    let verdict = looked.glances[place].as_ref().and_then(|glance| glance.verdict);
    let category = suggested(outline).or(verdict).unwrap_or(DEFAULT_CATEGORY);
    plan.filings.push(Filing { id: outline.id, text: outline.text, category, why: Why::Read(accesses) });
}

/// Returns the number of reads if the fate is to be filed because of them.
pub(super) fn accesses(fate: Fate) -> Option<u64> {
    match fate {
        Fate::Filed(accesses) => Some(accesses),
        Fate::Over | Fate::Expired(_) | Fate::Decayed(_) => None,
    }
}

fn suggested(outline: &Outline) -> Option<Category> {
    Some(outline.category).filter(|category| *category != Category::Inbox)
}
