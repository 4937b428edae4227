//! Filters for memories.

use chrono::{DateTime, Utc};

use crate::standing::{StandingFilter, standing_kind};
use crate::{Category, HomeSection, Phase, Scope, StoredMemory, Tags};

/// A filter for memories; a field that is unset does not restrict the result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only memories in this phase.
    pub phase: Option<Phase>,
    /// Only memories in this category.
    pub category: Option<Category>,
    /// Only memories in this scope.
    pub scope: Option<Scope>,
    /// Only memories in one of these scopes, all if `None`; memories in other scopes count as nonexistent.
    pub within: Option<Vec<Scope>>,
    /// Only memories from this source, ignoring case.
    pub source: Option<String>,
    /// Only memories in this location.
    pub place: Option<HomeSection>,
    /// Only memories that have all of these tags, or tags below them.
    pub tags: Tags,
    /// Only memories that were created at this time or later.
    pub from: Option<DateTime<Utc>>,
    /// Only memories that were created before this time.
    pub until: Option<DateTime<Utc>>,
    /// Only memories with standing instructions or preferences, see [`crate::standing`].
    pub standing: Option<StandingFilter>,
    /// The treatment of memories that have expired or were superseded.
    pub lifetime: Lifetime,
    /// The treatment of proposals.
    pub proposals: ProposalFilter,
}

/// The treatment of memories that have expired or were superseded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// Only memories that are neither expired nor superseded.
    #[default]
    Current,
    /// All memories.
    All,
}

/// The treatment of proposals, which wait for a review.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProposalFilter {
    /// No proposals.
    #[default]
    Exclude,
    /// Only proposals. All of them are in the inbox, and their lifetime does not count.
    Only,
}

impl Filter {
    /// Returns the filter that every memory except proposals passes, including expired and superseded ones.
    pub fn all() -> Self {
        Self {
            lifetime: Lifetime::All,
            ..Self::default()
        }
    }

    /// Returns the filter that every proposal passes.
    pub fn proposals() -> Self {
        Self {
            proposals: ProposalFilter::Only,
            ..Self::default()
        }
    }

    /// Returns the filter, restricted to these scopes if given.
    #[must_use]
    pub fn within(self, scopes: Option<&[Scope]>) -> Self {
        Self {
            within: scopes.map(<[Scope]>::to_vec),
            ..self
        }
    }

    /// Returns whether a stored memory passes the filter at the time `now`.
    pub fn matches(&self, stored: &StoredMemory, now: DateTime<Utc>) -> bool {
        let memory = &stored.memory;
        let holds = memory.superseded_by.is_none() && !memory.has_ended(now);
        let is_wanted = match self.proposals {
            ProposalFilter::Exclude => {
                !memory.is_proposal() && (self.lifetime == Lifetime::All || holds)
            }
            ProposalFilter::Only => memory.is_proposal(),
        };
        is_wanted
            && self.phase.is_none_or(|phase| phase == memory.phase)
            && self
                .category
                .is_none_or(|category| category == memory.category)
            && self
                .scope
                .as_ref()
                .is_none_or(|scope| *scope == memory.scope)
            && self.includes_scope(&memory.scope)
            && self
                .source
                .as_ref()
                .is_none_or(|source| source.to_lowercase() == memory.source.to_lowercase())
            && self
                .place
                .is_none_or(|place| place == HomeSection::of(&stored.path))
            && self
                .tags
                .iter()
                .all(|tag| memory.tags.contains_or_below(tag))
            && self.from.is_none_or(|from| from <= memory.created_at)
            && self.until.is_none_or(|until| memory.created_at < until)
            && self
                .standing
                .is_none_or(|standing| standing.matches(standing_kind(memory)))
    }

    /// Returns whether `scope` is in [`Filter::within`], or that field is `None`.
    pub fn includes_scope(&self, scope: &Scope) -> bool {
        self.within
            .as_ref()
            .is_none_or(|within| within.contains(scope))
    }
}
