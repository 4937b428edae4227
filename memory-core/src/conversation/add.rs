//! Keeping what is said, and facts.

use super::{ConversationId, Conversations, Entry, EntryChange, EntryRole};
use crate::{Secrets, StoreError, secret};

/// Keeps facts in a conversation as they are, in one go, and returns them. Empty ones are left out.
///
/// # Errors
/// [`StoreError::Secret`] if one holds a credential that is to be refused; whatever the store refuses.
pub fn add(
    conversations: &Conversations,
    conversation: &ConversationId,
    facts: &[String],
    secrets: Secrets,
) -> Result<Vec<Entry>, StoreError> {
    let facts: Vec<&str> = facts.iter().map(|fact| fact.trim()).filter(|fact| !fact.is_empty()).collect();
    if secrets == Secrets::Refuse {
        secret::refuse(facts.iter().copied())?;
    }
    let now = conversations.clock.now();
    let entry = |fact: &&str| Entry::new(conversations.entry_id(), conversation, EntryRole::Memory, fact, now);
    let entries: Vec<Entry> = facts.iter().map(entry).collect();
    if !entries.is_empty() {
        let changes: Vec<EntryChange> = entries.iter().cloned().map(EntryChange::Add).collect();
        conversations.store.commit(conversation, &changes)?;
    }
    Ok(entries)
}

/// Keeps what somebody said, with credentials blotted out, and returns it; nothing if it says nothing.
///
/// # Errors
/// Whatever the store refuses.
pub fn keep_turn(
    conversations: &Conversations,
    conversation: &ConversationId,
    role: EntryRole,
    said: &str,
) -> Result<Option<Entry>, StoreError> {
    let safe = without_secrets(said);
    if safe.trim().is_empty() {
        return Ok(None);
    }
    let entry = Entry::new(conversations.entry_id(), conversation, role, &safe, conversations.clock.now());
    conversations.store.commit(conversation, &[EntryChange::Add(entry.clone())])?;
    Ok(Some(entry))
}

/// Returns a text with its credentials blotted out.
pub(super) fn without_secrets(text: &str) -> String {
    secret::redact(text).map_or_else(|| text.to_owned(), |redacted| redacted.text)
}
