//! What leaves the inbox.

use memory_core::{Category, Outline, Phase};

use super::look::Looked;
use super::{Filing, Plan, Unsure, Why};
use crate::lifecycle::Fate;

/// Where a memory is filed that has to leave the inbox and whose text decides no category.
pub const DEFAULT_CATEGORY: Category = Category::Knowledge;

/// Adds to `plan` what becomes of one memory in the inbox, whose text was looked at.
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

/// Tells whether a memory in the inbox, if its text was looked at, can be filed.
pub(super) fn is_clear(looked: &Looked, place: usize) -> bool {
    let has_verdict = looked.glances[place].as_ref().is_some_and(|glance| glance.verdict.is_some());
    has_verdict || looked.glances[place].is_some() && suggested(&looked.outlines[place]).is_some()
}

/// Adds to `plan` a memory that is filed because it is read so often.
pub(super) fn file_read(looked: &Looked, place: usize, accesses: u64, plan: &mut Plan) {
    let outline = &looked.outlines[place];
    let verdict = looked.glances[place].as_ref().and_then(|glance| glance.verdict);
    let category = suggested(outline).or(verdict).unwrap_or(DEFAULT_CATEGORY);
    plan.filings.push(Filing { id: outline.id, text: outline.text, category, why: Why::Read(accesses) });
}

/// Tells whether a fate is to be filed, and how often the memory was read.
pub(super) fn accesses(fate: Fate) -> Option<u64> {
    match fate {
        Fate::Filed(accesses) => Some(accesses),
        Fate::Over | Fate::Expired(_) | Fate::Decayed(_) => None,
    }
}

fn suggested(outline: &Outline) -> Option<Category> {
    Some(outline.category).filter(|category| *category != Category::Inbox)
}
