//! Keeping what is said, and facts.

use chrono::{DateTime, TimeDelta, Utc};

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
        secret::refuse(facts.iter().copied().chain([conversation.as_str()]))?;
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
    keep_turns(conversations, conversation, &[(role, said.to_owned())]).map(|mut kept| kept.pop())
}

/// Keeps what was said, in its order and in one go, with credentials blotted out; what says nothing is left out.
///
/// # Errors
/// Whatever the store refuses.
pub fn keep_turns(
    conversations: &Conversations,
    conversation: &ConversationId,
    turns: &[(EntryRole, String)],
) -> Result<Vec<Entry>, StoreError> {
    let now = conversations.clock.now();
    // Who spoke first is told by the time.
    let entry = |(number, (role, text)): (i64, &(EntryRole, String))| {
        said(conversations, conversation, *role, text, now + TimeDelta::microseconds(number))
    };
    let entries: Vec<Entry> = (0..).zip(turns).filter_map(entry).collect();
    if !entries.is_empty() {
        let changes: Vec<EntryChange> = entries.iter().cloned().map(EntryChange::Add).collect();
        conversations.store.commit(conversation, &changes)?;
    }
    Ok(entries)
}

/// Returns what somebody said at a time as it is to be kept: under a name of its own, with credentials blotted out; nothing if it says
/// nothing. Whoever keeps it again because that failed has it kept once.
pub fn said(
    conversations: &Conversations,
    conversation: &ConversationId,
    role: EntryRole,
    text: &str,
    at: DateTime<Utc>,
) -> Option<Entry> {
    let text = without_secrets(text);
    (!text.trim().is_empty()).then(|| Entry::new(conversations.entry_id(), conversation, role, &text, at))
}

/// Returns a text with its credentials blotted out.
pub(super) fn without_secrets(text: &str) -> String {
    secret::redact(text).map_or_else(|| text.to_owned(), |redacted| redacted.text)
}
