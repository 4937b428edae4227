//! The settings, tasks and levels of refinement, and the request for one.

use chrono::TimeDelta;
use memory_core::{InboxTtl, RecallLedger, Verb};

/// The settings of refinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DreamRules {
    /// The time that a memory may stay in the inbox before it expires.
    pub inbox_ttl: InboxTtl,
    /// The age at which a filed memory that was never read is deleted.
    pub decay_after: TimeDelta,
    /// The number of reads after which a memory in the inbox is filed.
    pub filing_accesses: u64,
    /// The time for which a memory remains unchanged after another program wrote its file, because an editor may have it open. Only files
    /// without times of their own show when that was.
    pub edit_pause: TimeDelta,
}

impl Default for DreamRules {
    fn default() -> Self {
        Self {
            inbox_ttl: InboxTtl::default(),
            decay_after: TimeDelta::days(30),
            filing_accesses: 3,
            edit_pause: TimeDelta::zero(),
        }
    }
}

/// A kind of refinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DreamTask {
    /// Moves memories to the trash that were in the inbox too long or have reached their expiry date.
    Expire,
    /// Moves filed memories that are never read to the trash.
    Decay,
    /// Files memories that are read often.
    Upgrade,
    /// Files memories in the inbox that have a sufficiently probable category.
    Classify,
    /// Merges memories of which one contains every sentence of the other.
    Merge,
    /// With [`Self::Merge`], merges memories that are only likely duplicates too. A person requests it.
    MergeSimilar,
    /// Resolves wikilinks and records them in both memories.
    Link,
    /// Creates reminders for memories that request one.
    Remind,
    /// Reviews all memories together for contradictions and clusters.
    Review,
    /// Summarises long texts, if a language model is configured.
    Compress,
}

/// The depth of a dream. Each level includes the tasks of the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DreamLevel {
    /// Sorts the inbox.
    Light = 1,
    /// Also merges duplicates and resolves wikilinks.
    Medium = 2,
    /// Also creates reminders, reviews all memories together and summarises long texts.
    Deep = 3,
}

impl DreamLevel {
    /// Returns the level with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        [Self::Light, Self::Medium, Self::Deep]
            .into_iter()
            .find(|level| *level as u8 == number)
    }

    /// Returns the tasks of a dream of this level.
    pub fn tasks(self) -> &'static [DreamTask] {
        match self {
            Self::Light => &[DreamTask::Classify],
            Self::Medium => &[DreamTask::Classify, DreamTask::Merge, DreamTask::Link],
            Self::Deep => &[
                DreamTask::Classify,
                DreamTask::Merge,
                DreamTask::Link,
                DreamTask::Remind,
                DreamTask::Review,
                DreamTask::Compress,
            ],
        }
    }
}

/// The parameters of a dream.
#[derive(Debug, Clone, Copy)]
pub struct DreamRequest<'d, Tz> {
    /// The verb of the operation in the journal.
    pub verb: Verb,
    /// The tasks to perform.
    pub tasks: &'d [DreamTask],
    /// The thresholds to apply.
    pub rules: DreamRules,
    /// Whether this is a dry run, which only reports the changes of the first round.
    pub is_rehearsal: bool,
    /// The time zone for dates and times in the texts.
    pub zone: &'d Tz,
    /// The memories that agents received, which are not removed because of their age.
    pub recalls: Option<&'d dyn RecallLedger>,
}
