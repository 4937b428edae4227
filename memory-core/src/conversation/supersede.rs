//! Detects candidates that a newer entry supersedes.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::claim::{EntryClaims, TextClaims};
use super::{ConversationEntry, ConversationIndex, EntryRole, RecallCandidate, RecallMatchKind};

/// The maximum number of candidates that are compared with each other, most relevant first.
const MAX_COMPARED: usize = 64;

/// The maximum number of candidates that are compared with all entries, most relevant first.
const MAX_CONTESTED: usize = 16;

/// The maximum number of newest entries of a conversation that are compared with each of them.
const MAX_NEWEST: usize = 500;

/// Adds newer entries that contradict relevant candidates, except for `known` ones.
///
/// An earlier statement is therefore never returned without the one that superseded it. Each added entry has the relevance of the best
/// candidate that it contradicts.
pub(super) fn add_successors(
    candidates: &mut Vec<RecallCandidate>,
    shelves: &[Arc<ConversationIndex>],
    threshold: f32,
    is_known: &dyn Fn(&ConversationEntry) -> bool,
) {
    let contested: Vec<(f32, DateTime<Utc>, Arc<TextClaims>)> = candidates
        .iter()
        .filter(|candidate| candidate.kind == RecallMatchKind::Statement && threshold <= candidate.relevance)
        .take(MAX_CONTESTED)
        .map(|candidate| (candidate.relevance, candidate.entry.created_at, candidate.claims.clause_claims(&candidate.entry)))
        .filter(|(.., claims)| !claims.is_empty())
        .collect();
    let Some(oldest) = contested.iter().map(|(_, at, _)| *at).min() else { return };
    for shelf in shelves {
        for (entry, claims) in shelf.newest_claims(MAX_NEWEST).filter(|(entry, _)| oldest < entry.created_at) {
            let later = claims.clause_claims(entry);
            let relevance = contested
                .iter()
                .filter(|(_, at, earlier)| *at < entry.created_at && later.supersedes(earlier))
                .map(|(relevance, ..)| *relevance)
                .max_by(f32::total_cmp);
            let Some(relevance) = relevance else { continue };
            match candidates.iter_mut().find(|candidate| candidate.entry.id == entry.id) {
                Some(own) => own.relevance = own.relevance.max(relevance),
                None if is_known(entry) => {}
                None => candidates.extend(shelf.statement_candidate(&entry.id, relevance)),
            }
        }
    }
}

/// Marks the facts and statements that a later text contradicts.
///
/// The later text is another candidate, one of the `known` entries, or the message itself.
pub(super) fn mark_superseded(
    candidates: &mut [RecallCandidate],
    known: &[(Arc<ConversationEntry>, EntryClaims)],
    message: &str,
) {
    let statements = |candidate: &&RecallCandidate| candidate.kind == RecallMatchKind::Statement;
    let compared: Vec<(Arc<ConversationEntry>, EntryClaims)> = candidates
        .iter()
        .filter(statements)
        .take(MAX_COMPARED)
        .map(|candidate| (Arc::clone(&candidate.entry), candidate.claims.clone()))
        .collect();
    if compared.is_empty() {
        return;
    }
    let entries = compared.iter().chain(known.iter().take(MAX_COMPARED));
    let mut all: Vec<(DateTime<Utc>, Arc<TextClaims>)> =
        entries.map(|(entry, claims)| (entry.created_at, claims.clause_claims(entry))).collect();
    all.push((DateTime::<Utc>::MAX_UTC, Arc::new(TextClaims::new(EntryRole::User, message))));
    for (number, (entry, _)) in compared.iter().enumerate() {
        let (at, claims) = &all[number];
        let is_superseded = all.iter().any(|(later, other)| at < later && other.supersedes(claims));
        if is_superseded && let Some(own) = candidates.iter_mut().find(|candidate| candidate.entry.id == entry.id) {
            own.is_superseded = true;
        }
    }
}
