//! Evicts the oldest entries of a conversation.

use std::sync::Arc;

use super::{ConversationEntry, EntryChange, EntryRole};

/// Returns the deletions of the oldest facts and turns that leave at most `max_entries`.
///
/// Summaries remain and are not counted.
pub fn plan_eviction(entries: &[Arc<ConversationEntry>], max_entries: usize) -> Vec<EntryChange> {
    let mut oldest: Vec<&Arc<ConversationEntry>> = entries.iter().filter(|entry| entry.role != EntryRole::Summary).collect();
    oldest.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
    let too_many = oldest.len().saturating_sub(max_entries);
    oldest.into_iter().take(too_many).map(|entry| EntryChange::Delete { id: entry.id.clone(), replaced_by: None }).collect()
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};

    use super::*;
    use crate::conversation::ConversationId;

    #[test]
    fn the_oldest_go_and_summaries_stay() {
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
        let roles = [EntryRole::Memory, EntryRole::User, EntryRole::Assistant, EntryRole::Summary];
        let entries: Vec<_> = (0..).zip(roles).map(entry).collect();
        let gone = |most| -> Vec<String> {
            let id =
                |change: &EntryChange| if let EntryChange::Delete { id, .. } = change { id.to_string() } else { String::new() };
            plan_eviction(&entries, most).iter().map(id).collect()
        };
        assert_eq!(gone(2), ["2"]);
        assert_eq!(gone(0), ["2", "1", "0"]);
        assert!(gone(3).is_empty());
    }
}
