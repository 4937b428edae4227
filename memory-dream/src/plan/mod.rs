//! The planned changes of a dream, as data.
//!
//! [`plan_dream()`] decides without changing a memory, and [`DreamPlan::check`] verifies that the plan accounts for every memory.
//!
//! It decides on the summary that the index has of every memory, and on the cached analysis of its text from an
//! earlier dream. A second dream over unchanged memories therefore reads no file.

mod analysis;
mod merges;
mod planner;

pub(crate) use analysis::{AnalysedMemories, encode_impression};
pub(crate) use planner::plan_with_analysis;
pub use planner::{DEFAULT_CATEGORY, plan_dream};

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use memory_core::{Category, ContentHash, FileVersion, MemoryId};

use crate::classify::CategoryChoice;
use crate::lifecycle::{Exemption, LifecycleAction};

/// The planned changes of a dream. A memory that the plan does not name remains unchanged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DreamPlan {
    /// The memories to move from the inbox to a category.
    pub filings: Vec<Filing>,
    /// The memories that remain in the inbox because no category is probable enough.
    pub unsure: Vec<UnclassifiedMemory>,
    /// The memories to merge.
    pub merges: Vec<Merge>,
    /// Pairs of duplicates that remain separate because both were ingested from notes.
    pub alike: Vec<(MemoryId, MemoryId)>,
    /// Pairs of likely duplicates, which only a person merges.
    pub similar: Vec<(MemoryId, MemoryId)>,
    /// The memories to move to the trash because of their age.
    pub partings: Vec<AgeRemoval>,
    /// The memories that are due for removal but exempt, with the reason.
    pub spared: Vec<(MemoryId, Exemption)>,
    /// Number of files that cannot be parsed and therefore remain unchanged.
    pub damaged: usize,
    /// The reminders to create.
    pub reminders: Vec<NewReminder>,
    /// The reminders to move to the trash because their source no longer names their time.
    pub withdrawn: Vec<CancelledReminder>,
    /// The memories that were searched for requests for reminders.
    pub heard: Vec<MemoryId>,
    /// The memories for which the wikilinks in the text and those to the memory are to be resolved.
    pub followed: Vec<MemoryId>,
}

/// A memory that leaves the inbox.
#[derive(Debug, Clone, PartialEq)]
pub struct Filing {
    /// The memory.
    pub id: MemoryId,
    /// The hash of the text that the decision is based on, see [`memory_core::embedded_text`].
    pub text: ContentHash,
    /// The target category.
    pub category: Category,
    /// The reason for the category.
    pub why: FilingReason,
}

/// The reason why a memory is filed in a category.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FilingReason {
    /// The file of the memory suggests the category.
    Suggested,
    /// The classifier gives the category this probability.
    Sure(f32),
    /// The memory was read this number of times.
    Read(u64),
    /// A language model chose the category.
    Asked,
}

/// A memory that remains in the inbox.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UnclassifiedMemory {
    /// The memory.
    pub id: MemoryId,
    /// The most probable category; it is not certain enough.
    pub choice: CategoryChoice,
}

/// A merge of several memories into one.
#[derive(Debug, Clone, PartialEq)]
pub struct Merge {
    /// The memory that remains.
    pub kept: MemoryId,
    /// The memories that go to the trash.
    pub gone: Vec<MemoryId>,
    /// The headlines of those in `gone`, see [`memory_core::Memory::headline`].
    pub headlines: Vec<String>,
    /// The hashes of the texts that the decision is based on: of `kept`, then of those in `gone`.
    pub texts: Vec<ContentHash>,
    /// The text to append to `kept`, one element per paragraph.
    pub added: Vec<String>,
    /// The text of `kept` after the merge.
    pub content: String,
}

/// A memory to move to the trash because of its age.
#[derive(Debug, Clone, PartialEq)]
pub struct AgeRemoval {
    /// The memory.
    pub id: MemoryId,
    /// The version of the file that the decision is based on.
    pub stamp: FileVersion,
    /// The reason.
    pub fate: LifecycleAction,
    /// The headline of the memory, see [`memory_core::Memory::headline`].
    pub headline: String,
}

/// A reminder to create from a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct NewReminder {
    /// The source memory.
    pub of: MemoryId,
    /// The hash of the text that the decision is based on, see [`memory_core::embedded_text`].
    pub text: ContentHash,
    /// The due time.
    pub at: DateTime<Utc>,
    /// The words of the recurrence, if the time recurs; `at` is then the first occurrence.
    pub repeats: Option<String>,
    /// The text of the reminder.
    pub said: String,
}

/// A reminder to remove because its source no longer names its time.
#[derive(Debug, Clone, PartialEq)]
pub struct CancelledReminder {
    /// The reminder.
    pub id: MemoryId,
    /// The version of the reminder's file that the decision is based on.
    pub stamp: FileVersion,
    /// The source memory.
    pub of: MemoryId,
    /// The hash of the source text that the decision is based on, see [`memory_core::embedded_text`].
    pub text: ContentHash,
    /// The due time of the reminder.
    pub at: DateTime<Utc>,
    /// The headline of the reminder.
    pub said: String,
}

impl DreamPlan {
    /// Returns whether there are no changes; reported pairs and links to resolve are not changes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of changes; a merge counts as one.
    pub fn len(&self) -> usize {
        self.filings.len()
            + self.merges.len()
            + self.partings.len()
            + self.reminders.len()
            + self.withdrawn.len()
    }
}

/// A violation by a plan, which is then not applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PlanViolation {
    /// The plan changes a memory that was not part of its input.
    #[error("the plan changes memory {0}, which does not exist")]
    Unknown(MemoryId),
    /// The plan removes a memory twice, changes it twice in the same way, or removes and changes it.
    #[error("the plan contains conflicting changes of memory {0}")]
    Twice(MemoryId),
}

impl DreamPlan {
    /// Checks that the plan changes only `known` memories and that no two of its changes conflict.
    ///
    /// Each memory remains, is changed, is moved to the trash, or is merged into one that remains.
    ///
    /// # Errors
    /// The first violation.
    pub fn check(&self, known: &HashSet<MemoryId>) -> Result<(), PlanViolation> {
        let mut kept = HashSet::new();
        let mut gone = HashSet::new();
        let going = self
            .merges
            .iter()
            .flat_map(|merge| &merge.gone)
            .chain(self.partings.iter().map(|parting| &parting.id));
        let going = going.chain(self.withdrawn.iter().map(|withdrawal| &withdrawal.id));
        for id in going {
            if !gone.insert(*id) {
                return Err(PlanViolation::Twice(*id));
            }
        }
        for merge in &self.merges {
            if !kept.insert(merge.kept) {
                return Err(PlanViolation::Twice(merge.kept));
            }
        }
        let mut filed = HashSet::new();
        for filing in &self.filings {
            if !filed.insert(filing.id) {
                return Err(PlanViolation::Twice(filing.id));
            }
        }
        if let Some(id) = kept.iter().chain(&filed).find(|id| gone.contains(*id)) {
            return Err(PlanViolation::Twice(*id));
        }
        let all = kept.iter().chain(&filed).chain(&gone);
        all.copied()
            .find(|id| !known.contains(id))
            .map_or(Ok(()), |id| Err(PlanViolation::Unknown(id)))
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{Category, ContentHash, FileVersion};

    use super::*;
    use crate::lifecycle::LifecycleAction;

    fn id(name: &str) -> MemoryId {
        MemoryId::for_path(name)
    }

    fn merge(kept: &str, gone: &[&str]) -> Merge {
        Merge {
            kept: id(kept),
            gone: gone.iter().map(|name| id(name)).collect(),
            headlines: Vec::new(),
            texts: Vec::new(),
            added: Vec::new(),
            content: String::new(),
        }
    }

    fn filing(name: &str) -> Filing {
        Filing {
            id: id(name),
            text: ContentHash::of(name),
            category: Category::People,
            why: FilingReason::Suggested,
        }
    }

    fn parting(name: &str) -> AgeRemoval {
        AgeRemoval {
            id: id(name),
            stamp: FileVersion(ContentHash::of(name)),
            fate: LifecycleAction::Over,
            headline: name.to_owned(),
        }
    }

    #[test]
    fn nobody_is_forgotten_and_nobody_is_named_twice() {
        let known: HashSet<MemoryId> = ["a", "b", "c", "d"].map(id).into_iter().collect();
        let plan = |merges: Vec<Merge>, filings: Vec<Filing>, partings: Vec<AgeRemoval>| {
            DreamPlan {
                filings,
                merges,
                partings,
                ..DreamPlan::default()
            }
            .check(&known)
        };
        assert_eq!(
            plan(
                vec![merge("a", &["b"])],
                vec![filing("a"), filing("d")],
                vec![parting("c")]
            ),
            Ok(())
        );
        assert_eq!(
            plan(vec![merge("a", &["b", "b"])], vec![], vec![]),
            Err(PlanViolation::Twice(id("b")))
        );
        assert_eq!(
            plan(vec![merge("a", &["b"]), merge("b", &["c"])], vec![], vec![]),
            Err(PlanViolation::Twice(id("b")))
        );
        assert_eq!(
            plan(vec![merge("a", &["b"]), merge("a", &["c"])], vec![], vec![]),
            Err(PlanViolation::Twice(id("a")))
        );
        assert_eq!(
            plan(vec![merge("a", &["b"])], vec![filing("b")], vec![]),
            Err(PlanViolation::Twice(id("b")))
        );
        assert_eq!(
            plan(vec![merge("a", &["b"])], vec![], vec![parting("b")]),
            Err(PlanViolation::Twice(id("b")))
        );
        assert_eq!(
            plan(vec![], vec![filing("a"), filing("a")], vec![]),
            Err(PlanViolation::Twice(id("a")))
        );
        assert_eq!(
            plan(vec![], vec![], vec![parting("e")]),
            Err(PlanViolation::Unknown(id("e")))
        );
    }
}
