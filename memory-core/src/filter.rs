//! Which memories are meant.

use chrono::{DateTime, Utc};

use crate::standing::is_standing;
use crate::{Category, Phase, Place, Scope, Stored, Tags};

/// Which memories are meant; what is not said does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only this phase.
    pub phase: Option<Phase>,
    /// Only this category.
    pub category: Option<Category>,
    /// Only this scope.
    pub scope: Option<Scope>,
    /// Only what lies in one of these scopes; `None` means all. What lies elsewhere counts as not there at all.
    pub within: Option<Vec<Scope>>,
    /// Only what came from here; case does not matter.
    pub source: Option<String>,
    /// Only what lies here.
    pub place: Option<Place>,
    /// Only what carries all of these, or tags below them.
    pub tags: Tags,
    /// Only what was created at this moment or later.
    pub from: Option<DateTime<Utc>>,
    /// Only what was created before this moment.
    pub until: Option<DateTime<Utc>>,
    /// Only what holds a standing instruction or preference, see [`crate::standing`].
    pub standing: bool,
    /// Whether what has expired or was superseded counts.
    pub lifetime: Lifetime,
}

/// Whether memories that have expired or were superseded count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// Only what holds now.
    #[default]
    Current,
    /// Everything.
    All,
}

impl Filter {
    /// Returns the filter that lets everything pass, whether it still holds or not.
    pub fn everything() -> Self {
        Self { lifetime: Lifetime::All, ..Self::default() }
    }

    /// Tells whether the memory in a file passes at `now`.
    pub fn matches(&self, stored: &Stored, now: DateTime<Utc>) -> bool {
        let memory = &stored.memory;
        let holds = memory.superseded_by.is_none() && !memory.is_over(now);
        (self.lifetime == Lifetime::All || holds)
            && self.phase.is_none_or(|phase| phase == memory.phase)
            && self.category.is_none_or(|category| category == memory.category)
            && self.scope.as_ref().is_none_or(|scope| *scope == memory.scope)
            && self.reaches(&memory.scope)
            && self.source.as_ref().is_none_or(|source| source.to_lowercase() == memory.source.to_lowercase())
            && self.place.is_none_or(|place| place == Place::of(&stored.path))
            && self.tags.iter().all(|tag| memory.tags.contains_or_below(tag))
            && self.from.is_none_or(|from| from <= memory.created_at)
            && self.until.is_none_or(|until| memory.created_at < until)
            && (!self.standing || is_standing(memory))
    }

    /// Tells whether `scope` is one of those that [`Filter::within`] names, or it names none.
    pub fn reaches(&self, scope: &Scope) -> bool {
        self.within.as_ref().is_none_or(|within| within.contains(scope))
    }
}
