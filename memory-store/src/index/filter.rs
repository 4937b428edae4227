//! Translates filters for both engines.

use chrono::{DateTime, Utc};
use memory_core::standing::StandingFilter;
use memory_core::{Filter, Lifetime, Phase, ProposalFilter, Scope};
use rusqlite::types::Value;

use super::lookup_key::LookupKey;
use super::row::{PROPOSAL, nanoseconds};

/// A filter as an SQL condition on a row of `documents`, with its parameters.
#[derive(Debug)]
pub(super) struct SqlCondition {
    /// The condition; its unnamed parameters are bound to `values`.
    pub(super) sql: String,
    /// The values of the parameters.
    pub(super) values: Vec<Value>,
}

/// Returns the SQL condition equivalent to `filter` at `now`.
pub(super) fn sql_condition(filter: &Filter, now: DateTime<Utc>) -> SqlCondition {
    let SqlCondition { sql, mut values } = group_condition(filter);
    let mut parts = vec!["id NOT NULL".to_owned(), sql];
    if let Some(source) = &filter.source {
        parts.push("source = ?".to_owned());
        values.push(Value::from(source.to_lowercase()));
    }
    let mut compare = |part: &str, value: Option<i64>| {
        if let Some(value) = value {
            parts.push(part.to_owned());
            values.push(Value::from(value));
        }
    };
    compare(
        "? < holds_until",
        has_lifetime(filter).then(|| nanoseconds(now)),
    );
    compare("? <= created_at", filter.from.map(nanoseconds));
    compare("created_at < ?", filter.until.map(nanoseconds));
    for tag in &filter.tags {
        compare(
            "EXISTS (SELECT 1 FROM handles WHERE bits = ? AND document = key)",
            Some(LookupKey::Tag(tag).bits()),
        );
    }
    if let Some(standing) = filter.standing {
        // Few documents are standing instructions, so the lookup by handle is faster than any sort order.
        parts.push("key IN (SELECT document FROM handles WHERE bits = ?)".to_owned());
        values.push(Value::from(standing_key(standing).bits()));
    }
    SqlCondition {
        sql: parts.join(" AND "),
        values,
    }
}

/// Returns the part of the SQL condition on the columns that `documents` and `counts` share.
pub(super) fn group_condition(filter: &Filter) -> SqlCondition {
    let (mut parts, mut values) = (vec!["1".to_owned()], Vec::new());
    let mut equal = |column: &str, value: Option<String>| {
        if let Some(value) = value {
            parts.push(format!("{column} = ?"));
            values.push(Value::from(value));
        }
    };
    // All proposals are in the inbox.
    let is_possible =
        filter.proposals == ProposalFilter::Exclude || filter.phase != Some(Phase::Organized);
    match filter.proposals {
        ProposalFilter::Only => equal("phase", Some(PROPOSAL.to_owned())),
        ProposalFilter::Exclude => {
            equal("phase", filter.phase.map(|phase| phase.as_str().to_owned()));
        }
    }
    equal(
        "category",
        filter.category.map(|category| category.as_str().to_owned()),
    );
    equal("scope", filter.scope.as_ref().map(ToString::to_string));
    equal("place", filter.place.map(|place| place.as_str().to_owned()));
    if filter.proposals == ProposalFilter::Exclude && filter.phase.is_none() {
        parts.push(ACCEPTED.to_owned());
    }
    if !is_possible {
        parts.push("0".to_owned());
    }
    if let Some(within) = &filter.within {
        parts.push(scope_condition(within));
        values.extend(within.iter().map(|scope| Value::from(scope.to_string())));
    }
    SqlCondition {
        sql: parts.join(" AND "),
        values,
    }
}

/// The SQL condition that a row is not a proposal.
pub(super) const ACCEPTED: &str = "phase <> 'proposal'";

/// Returns whether `filter` excludes memories that have ended.
pub(super) fn has_lifetime(filter: &Filter) -> bool {
    filter.lifetime == Lifetime::Current && filter.proposals == ProposalFilter::Exclude
}

/// Returns whether `filter` restricts nothing but the lifetime and the columns of [`group_condition`].
pub(super) fn is_by_group(filter: &Filter) -> bool {
    let Filter {
        phase: _,
        category: _,
        scope: _,
        within: _,
        source,
        place: _,
        tags,
        from,
        until,
        standing,
        lifetime: _,
        proposals: _,
    } = filter;
    source.is_none() && tags.is_empty() && from.is_none() && until.is_none() && standing.is_none()
}

/// Returns the key of the documents that pass a filter for standing sentences.
fn standing_key(standing: StandingFilter) -> LookupKey<'static> {
    match standing {
        StandingFilter::Any => LookupKey::Standing,
        StandingFilter::Only(kind) => LookupKey::StandingOf(kind),
    }
}

/// Like [`scope_condition`], for queries that another condition narrows already: SQLite would prefer an index of scopes, in which one
/// scope may have most documents.
pub(super) fn narrow_scope_condition(scopes: &[Scope]) -> String {
    format!("+{}", scope_condition(scopes))
}

/// Returns the SQL condition that a row is in one of `scopes`. Its parameters are their names.
pub(super) fn scope_condition(scopes: &[Scope]) -> String {
    format!("scope IN ({})", vec!["?"; scopes.len()].join(", "))
}

/// A filter for the full-text index. It does not include the scopes of `within`: those are part of the search itself.
#[derive(Debug)]
pub(super) struct TextFilter {
    /// The hashes of the required attributes; a document must have all of them.
    pub(super) bits: Vec<i64>,
    /// Whether proposals are left out.
    pub(super) excludes_proposals: bool,
    /// The document must be current after this time, if set.
    pub(super) holds_after: Option<i64>,
    /// The earliest creation time.
    pub(super) from: Option<i64>,
    /// The creation time must be before this time.
    pub(super) until: Option<i64>,
}

impl TextFilter {
    /// Returns the full-text filter equivalent to `filter` at `now`.
    pub(super) fn of(filter: &Filter, now: DateTime<Utc>) -> Self {
        let mut bits: Vec<i64> = filter
            .tags
            .iter()
            .map(|tag| LookupKey::Tag(tag).bits())
            .collect();
        bits.extend(filter.phase.map(|phase| LookupKey::Phase(phase).bits()));
        bits.extend(
            filter
                .category
                .map(|category| LookupKey::Category(category).bits()),
        );
        bits.extend(
            filter
                .scope
                .as_ref()
                .map(|scope| LookupKey::Scope(scope).bits()),
        );
        bits.extend(filter.place.map(|place| LookupKey::Place(place).bits()));
        bits.extend(
            filter
                .standing
                .map(|standing| standing_key(standing).bits()),
        );
        bits.extend(
            filter
                .source
                .as_ref()
                .map(|source| LookupKey::Source(source).bits()),
        );
        let excludes_proposals = filter.proposals == ProposalFilter::Exclude;
        bits.extend((!excludes_proposals).then(|| LookupKey::Proposal.bits()));
        Self {
            bits,
            excludes_proposals,
            holds_after: has_lifetime(filter).then(|| nanoseconds(now)),
            from: filter.from.map(nanoseconds),
            until: filter.until.map(nanoseconds),
        }
    }
}
