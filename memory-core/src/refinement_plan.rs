//! Planned refinements that a person accepts one by one.

use std::fmt::Debug;

use chrono::{DateTime, TimeDelta, Utc};

use crate::{Category, Memory, MemoryId, OperationId, StoreError};

/// A planner of refinements whose changes a person accepts one by one.
///
/// A plan is data; nothing changes before [`RefinementPlanner::apply`]. The memories may change between both calls, from any
/// process. Each change is then planned again, and is made only if it is still the same.
pub trait RefinementPlanner: Debug + Send + Sync {
    /// Returns the changes that a refinement would make now, ordered by action.
    ///
    /// # Errors
    /// If the memories cannot be read.
    fn plan(&self) -> Result<Vec<PlannedRefinement>, StoreError>;

    /// Makes the planned changes with one of `keys`, as one operation.
    ///
    /// # Errors
    /// If the memories cannot be read or changed.
    fn apply(&self, keys: &[String]) -> Result<AppliedRefinement, StoreError>;

    /// Returns the category for a memory that has none; `None` if no category is probable enough.
    fn suggest_category(&self, memory: &Memory) -> Option<Category>;

    /// Returns the groups of texts that repeat each other, as ascending positions in `texts`. A text is in one group at most.
    fn group_repeats(&self, texts: &[&str]) -> Vec<Vec<usize>>;

    /// Returns the memories that automatic work would remove by age within `time`, the first ones first.
    ///
    /// # Errors
    /// If the memories cannot be read.
    fn expiring(&self, time: TimeDelta) -> Result<Vec<ExpiringMemory>, StoreError>;
}

/// A memory that moves to the trash if nobody changes or receives it before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpiringMemory {
    /// The memory.
    pub id: MemoryId,
    /// Its headline.
    pub headline: String,
    /// The time from which it is removed.
    pub at: DateTime<Utc>,
    /// The reason as a sentence fragment.
    pub why: &'static str,
}

/// A planned change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedRefinement {
    /// Identifies the change. It depends on the action and on the texts of the memories, so it differs after a change of them.
    pub key: String,
    /// The memory that would change.
    pub memory: MemoryId,
    /// Its headline.
    pub headline: String,
    /// The action.
    pub action: PlannedAction,
}

/// The action of a planned change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlannedAction {
    /// The memory is moved from the inbox to this category.
    File {
        /// The category.
        category: Category,
        /// The reason for the category, in words.
        reason: String,
    },
    /// Duplicates are merged into the memory.
    Merge {
        /// The memories that go to the trash, with their headlines.
        duplicates: Vec<(MemoryId, String)>,
        /// The paragraphs that are appended to the memory.
        added: Vec<String>,
        /// The text of the memory after the merge.
        content: String,
    },
    /// The memory goes to the trash because of its age.
    Remove {
        /// The reason, in words.
        reason: String,
    },
    /// A reminder of the memory is created.
    Remind {
        /// The due time.
        at: DateTime<Utc>,
        /// The text of the reminder.
        text: String,
    },
    /// A reminder of the memory goes to the trash, because the memory no longer names its time.
    CancelReminder {
        /// The due time of the reminder.
        at: DateTime<Utc>,
        /// The headline of the reminder.
        text: String,
    },
}

/// The result of accepted refinements.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppliedRefinement {
    /// The operation, if any change was made.
    pub operation: Option<OperationId>,
    /// The number of changes that were made.
    pub applied: u64,
    /// The number of changes that were not made, because a memory was changed or deleted since the plan.
    pub skipped: u64,
}
