//! The check that a plan accounts for every memory.

use std::collections::HashSet;

use memory_core::MemoryId;

use super::DreamPlan;

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
        let going = self.merges.iter().flat_map(|merge| &merge.gone).chain(self.partings.iter().map(|parting| &parting.id));
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
        all.copied().find(|id| !known.contains(id)).map_or(Ok(()), |id| Err(PlanViolation::Unknown(id)))
    }
}

#[cfg(test)]
mod tests {
    use memory_core::{Category, ContentHash, FileVersion};

    use super::*;
    use crate::lifecycle::LifecycleAction;
    use crate::plan::{AgeRemoval, Filing, FilingReason, Merge};

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
        }
    }

    fn filing(name: &str) -> Filing {
        Filing { id: id(name), text: ContentHash::of(name), category: Category::People, why: FilingReason::Suggested }
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
            DreamPlan { filings, merges, partings, ..DreamPlan::default() }.check(&known)
        };
        assert_eq!(plan(vec![merge("a", &["b"])], vec![filing("a"), filing("d")], vec![parting("c")]), Ok(()));
        assert_eq!(plan(vec![merge("a", &["b", "b"])], vec![], vec![]), Err(PlanViolation::Twice(id("b"))));
        assert_eq!(plan(vec![merge("a", &["b"]), merge("b", &["c"])], vec![], vec![]), Err(PlanViolation::Twice(id("b"))));
        assert_eq!(plan(vec![merge("a", &["b"]), merge("a", &["c"])], vec![], vec![]), Err(PlanViolation::Twice(id("a"))));
        assert_eq!(plan(vec![merge("a", &["b"])], vec![filing("b")], vec![]), Err(PlanViolation::Twice(id("b"))));
        assert_eq!(plan(vec![merge("a", &["b"])], vec![], vec![parting("b")]), Err(PlanViolation::Twice(id("b"))));
        assert_eq!(plan(vec![], vec![filing("a"), filing("a")], vec![]), Err(PlanViolation::Twice(id("a"))));
        assert_eq!(plan(vec![], vec![], vec![parting("e")]), Err(PlanViolation::Unknown(id("e"))));
    }
}
