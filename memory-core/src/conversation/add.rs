//! Stores turns and facts in a conversation, and deletes the oldest above its limits.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use super::{ConversationEntry, ConversationId, Conversations, EntryChange, EntryRole};
use crate::secret::{self, Checked};
use crate::{Operation, SecretPolicy, StoreError, Verb, add_time};

/// Stores facts in a conversation as one operation, and returns the new entries. Empty facts are skipped.
///
/// # Errors
/// [`StoreError::Secret`] if a fact contains a credential and `secrets` refuses them, or an error of the store.
pub fn add(
    conversations: &Conversations,
    conversation: &ConversationId,
    facts: &[String],
    secrets: SecretPolicy,
) -> Result<Vec<ConversationEntry>, StoreError> {
    let facts: Vec<&str> = facts
        .iter()
        .map(|fact| fact.trim())
        .filter(|fact| !fact.is_empty())
        .collect();
    let now = conversations.clock.now();
    let entry = |fact: &&str| {
        ConversationEntry::new(
            conversations.entry_id(),
            conversation,
            EntryRole::Memory,
            fact,
            now,
        )
    };
    let entries: Vec<ConversationEntry> = facts.iter().map(entry).collect();
    let changes: Vec<EntryChange> = entries.iter().cloned().map(EntryChange::Add).collect();
    let changes = Checked::new(changes.as_slice(), [conversation.as_str()], secrets)?;
    if !changes.is_empty() {
        let operation = Operation::new(
            Verb::Write,
            "cli",
            conversations.clock.as_ref(),
            conversations.ids.as_ref(),
        );
        conversations
            .store
            .commit_operation(conversation, changes, &operation)?;
    }
    Ok(entries)
}

/// Stores a turn with its credentials redacted, and returns it; `None` if the text is empty.
///
/// # Errors
/// An error of the store.
pub fn store_turn(
    conversations: &Conversations,
    conversation: &ConversationId,
    role: EntryRole,
    said: &str,
) -> Result<Option<ConversationEntry>, StoreError> {
    store_turns(conversations, conversation, &[(role, said.to_owned())]).map(|mut kept| kept.pop())
}

/// Stores turns in their order in one commit, with credentials redacted. Empty turns are skipped.
///
/// # Errors
/// An error of the store.
pub fn store_turns(
    conversations: &Conversations,
    conversation: &ConversationId,
    turns: &[(EntryRole, String)],
) -> Result<Vec<ConversationEntry>, StoreError> {
    let now = conversations.clock.now();
    // The order of the turns is stored in their times, which therefore differ by a microsecond.
    let entry = |(number, (role, text)): (i64, &(EntryRole, String))| {
        new_turn(
            conversations,
            conversation,
            *role,
            text,
            add_time(now, TimeDelta::microseconds(number)),
        )
    };
    let entries: Vec<ConversationEntry> = (0..).zip(turns).filter_map(entry).collect();
    if !entries.is_empty() {
        let changes: Vec<EntryChange> = entries.iter().cloned().map(EntryChange::Add).collect();
        // New turns are redacted.
        conversations
            .store
            .commit(conversation, Checked::allowed(&changes))?;
    }
    Ok(entries)
}

/// Returns a turn as a new entry with its credentials redacted, or `None` if the text is empty.
///
/// A caller that retries a failed commit must reuse the entry: its id prevents a duplicate.
pub fn new_turn(
    conversations: &Conversations,
    conversation: &ConversationId,
    role: EntryRole,
    text: &str,
    at: DateTime<Utc>,
) -> Option<ConversationEntry> {
    let text = redact_secrets(text);
    (!text.trim().is_empty())
        .then(|| ConversationEntry::new(conversations.entry_id(), conversation, role, &text, at))
}

/// Returns a text with its credentials redacted.
pub(super) fn redact_secrets(text: &str) -> String {
    secret::redact(text).map_or_else(|| text.to_owned(), |redacted| redacted.text)
}

/// Returns the deletions of the oldest turns, then of the oldest facts, that leave at most `max_entries`.
///
/// A fact outlives the turns, which it sums up. Summaries remain and are not counted.
pub fn plan_eviction(entries: &[Arc<ConversationEntry>], max_entries: usize) -> Vec<EntryChange> {
    let mut oldest: Vec<&Arc<ConversationEntry>> = entries
        .iter()
        .filter(|entry| entry.role != EntryRole::Summary)
        .collect();
    let key = |entry: &ConversationEntry| (entry.role == EntryRole::Memory, entry.created_at);
    oldest.sort_by(|one, other| (key(one), &one.id).cmp(&(key(other), &other.id)));
    let too_many = oldest.len().saturating_sub(max_entries);
    oldest
        .into_iter()
        .take(too_many)
        .map(|entry| EntryChange::Delete {
            id: entry.id.clone(),
            replaced_by: None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};

    use super::*;
    use crate::conversation::ConversationId;

    #[test]
    fn the_oldest_turns_go_first_and_summaries_stay() {
        let entry = |(number, role): (i32, EntryRole)| {
            let at = DateTime::UNIX_EPOCH + TimeDelta::days(i64::from(10 - number));
            Arc::new(ConversationEntry::new(
                format!("{number}").parse().unwrap(),
                &ConversationId::default_conversation(),
                role,
                "x",
                at,
            ))
        };
        let roles = [
            EntryRole::User,
            EntryRole::Assistant,
            EntryRole::Memory,
            EntryRole::Summary,
        ];
        let entries: Vec<_> = (0..).zip(roles).map(entry).collect();
        let gone = |most| -> Vec<String> {
            let id = |change: &EntryChange| {
                if let EntryChange::Delete { id, .. } = change {
                    id.to_string()
                } else {
                    String::new()
                }
            };
            plan_eviction(&entries, most).iter().map(id).collect()
        };
        assert_eq!(gone(2), ["1"]);
        assert_eq!(gone(0), ["1", "0", "2"]);
        assert!(gone(3).is_empty());
    }
}
