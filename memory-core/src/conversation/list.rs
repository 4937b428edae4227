//! Lists conversations, and shows the content of one.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::{ConversationEntry, ConversationId, ConversationStore, EntryRole};
use crate::{Problem, StoreError};

/// A conversation in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversationSummary {
    /// The id.
    pub id: ConversationId,
    /// The number of turns, of the user and of the assistant.
    pub turns: usize,
    /// The number of facts.
    pub facts: usize,
    /// Whether it has a rolling summary.
    pub has_summary: bool,
    /// The creation time of the newest fact, turn or summary.
    pub last_used: DateTime<Utc>,
}

/// All conversations of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversationList {
    /// The conversations, by last use in descending order, then by id.
    pub conversations: Vec<ConversationSummary>,
    /// The files that could not be read, by path.
    pub problems: Vec<Problem>,
}

/// Returns the conversations of a store.
///
/// # Errors
/// If the store cannot be read.
pub fn list(store: &dyn ConversationStore) -> Result<ConversationList, StoreError> {
    let mut list = ConversationList::default();
    for id in store.conversations()? {
        let contents = show(store, &id)?;
        list.problems.extend(contents.problems.iter().cloned());
        let all = contents
            .facts
            .iter()
            .chain(&contents.turns)
            .chain(&contents.summary);
        // A conversation is only listed if it has an entry.
        let Some(last_used) = all.map(|entry| entry.created_at).max() else {
            continue;
        };
        let (turns, facts, has_summary) = (
            contents.turns.len(),
            contents.facts.len(),
            contents.summary.is_some(),
        );
        list.conversations.push(ConversationSummary {
            id,
            turns,
            facts,
            has_summary,
            last_used,
        });
    }
    list.conversations.sort_by(|one, other| {
        other
            .last_used
            .cmp(&one.last_used)
            .then_with(|| one.id.cmp(&other.id))
    });
    // Conversations that share a folder report the same files.
    list.problems
        .sort_by(|one, other| one.path.cmp(&other.path));
    list.problems.dedup();
    Ok(list)
}

/// The content of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversationContents {
    /// The rolling summary, if there is one.
    pub summary: Option<Arc<ConversationEntry>>,
    /// The facts, oldest first.
    pub facts: Vec<Arc<ConversationEntry>>,
    /// The turns of the user and of the assistant, oldest first.
    pub turns: Vec<Arc<ConversationEntry>>,
    /// The files that could not be read, by path.
    pub problems: Vec<Problem>,
}

/// Returns the content of a conversation.
///
/// # Errors
/// [`StoreError::ConversationNotFound`] if it has no entries, or if the store cannot be read.
pub fn show(
    store: &dyn ConversationStore,
    id: &ConversationId,
) -> Result<ConversationContents, StoreError> {
    let index = store.read(id)?;
    let problems: Vec<Problem> = index.problems().cloned().collect();
    let (facts, turns) = index
        .entries()
        .into_iter()
        .partition(|entry| entry.role == EntryRole::Memory);
    let contents = ConversationContents {
        summary: index.summary().cloned(),
        facts,
        turns,
        problems,
    };
    if contents.summary.is_none() && contents.facts.is_empty() && contents.turns.is_empty() {
        let conversation = id.to_string();
        return Err(StoreError::ConversationNotFound {
            conversation,
            place: store.location(),
        });
    }
    Ok(contents)
}

#[cfg(test)]
mod tests {
    use crate::secret::Checked;
    use chrono::TimeDelta;

    use super::*;
    use crate::Code;
    use crate::conversation::{EntryChange, summary_entry};
    use crate::testing::FakeConversations;

    fn put(store: &FakeConversations, conversation: &str, role: EntryRole, day: i64) {
        let conversation: ConversationId = conversation.parse().unwrap();
        let at = DateTime::UNIX_EPOCH + TimeDelta::days(day);
        let entry = match role {
            EntryRole::Summary => summary_entry(&conversation, "They talked about tea.", at),
            role => ConversationEntry::new(
                format!("{role}-{day}").parse().unwrap(),
                &conversation,
                role,
                "tea",
                at,
            ),
        };
        store
            .commit(&conversation, Checked::allowed(&[EntryChange::Add(entry)]))
            .unwrap();
    }

    #[test]
    fn conversations_are_counted_and_the_last_used_comes_first() {
        let store = FakeConversations::default();
        put(&store, "old", EntryRole::User, 1);
        put(&store, "old", EntryRole::Assistant, 2);
        put(&store, "old", EntryRole::Memory, 3);
        put(&store, "new", EntryRole::Memory, 2);
        put(&store, "new", EntryRole::Summary, 9);
        let list = list(&store).unwrap();
        let rows: Vec<_> = list
            .conversations
            .iter()
            .map(|one| {
                (
                    one.id.as_str(),
                    one.turns,
                    one.facts,
                    one.has_summary,
                    one.last_used.timestamp() / 86_400,
                )
            })
            .collect();
        assert_eq!(rows, [("new", 0, 1, true, 9), ("old", 2, 1, false, 3)]);
    }

    #[test]
    fn a_conversation_shows_its_summary_facts_and_turns_and_an_unknown_one_is_an_error() {
        let store = FakeConversations::default();
        put(&store, "work", EntryRole::Summary, 3);
        put(&store, "work", EntryRole::User, 2);
        put(&store, "work", EntryRole::Assistant, 1);
        put(&store, "work", EntryRole::Memory, 4);
        let contents = show(&store, &"work".parse().unwrap()).unwrap();
        let roles: Vec<_> = contents
            .turns
            .iter()
            .map(|turn| turn.role.as_str())
            .collect();
        assert_eq!(roles, ["assistant", "user"]);
        assert_eq!(
            (contents.facts.len(), contents.summary.is_some()),
            (1, true)
        );
        let missing = show(&store, &"play".parse().unwrap()).unwrap_err();
        assert_eq!(
            (missing.code(), missing.to_string()),
            (
                Code::ConversationNotFound,
                "there is no conversation play in memory".into()
            )
        );
    }
}
