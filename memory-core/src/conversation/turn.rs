//! What was said, and whether that was kept before.

use std::collections::HashMap;

use super::add::without_secrets;
use super::{ConversationId, Conversations, EntryRole};
use crate::ContentHash;

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// By whom: the person, or the model.
    pub role: EntryRole,
    /// What.
    pub text: String,
    /// Whether the model has begun to answer it, as by calling tools, so that it may have been kept before.
    pub is_under_way: bool,
}

/// What was asked last in each conversation, so that what an application sends again is kept once.
#[derive(Debug, Default)]
pub struct Questions {
    known: HashMap<ConversationId, Question>,
}

#[derive(Debug, Clone, Copy)]
struct Question {
    text: ContentHash,
    is_answered: bool,
}

/// More conversations than this are not kept in mind.
const MOST: usize = 10_000;

impl Questions {
    /// Tells whether a turn is another than those that were kept: a question is the same as long as it has no answer, and while the model
    /// is under way to one, also if somebody else asked something in the meantime. Takes it for kept from then on.
    pub fn is_news(&mut self, conversations: &Conversations, conversation: &ConversationId, turn: &Turn) -> bool {
        if MOST <= self.known.len() && !self.known.contains_key(conversation) {
            self.known.clear();
        }
        if turn.role != EntryRole::User {
            if let Some(last) = self.known.get_mut(conversation) {
                last.is_answered = true;
            }
            return true;
        }
        let text = ContentHash::of(turn.text.trim());
        let same = self.known.get(conversation).filter(|last| last.text == text);
        if same.is_some_and(|last| turn.is_under_way || !last.is_answered) {
            return false;
        }
        if turn.is_under_way && was_kept(conversations, conversation, &turn.text) {
            return false;
        }
        self.known.insert(conversation.clone(), Question { text, is_answered: false });
        true
    }
}

/// Tells whether a question stands in a conversation. What cannot be read is better kept twice than not at all.
fn was_kept(conversations: &Conversations, conversation: &ConversationId, question: &str) -> bool {
    let Ok(shelf) = conversations.store.read(conversation) else { return false };
    let kept = without_secrets(question);
    shelf.entries().iter().any(|entry| entry.role == EntryRole::User && entry.content.trim() == kept.trim())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::conversation::keep_turn;
    use crate::testing::{FakeConversations, conversations};

    fn turn(role: EntryRole, text: &str, is_under_way: bool) -> Turn {
        Turn { role, text: text.into(), is_under_way }
    }

    #[test]
    fn a_question_that_is_sent_again_before_it_is_answered_is_the_same() {
        let (all, place, mut last) =
            (conversations(Arc::new(FakeConversations::default())), ConversationId::unnamed(), Questions::default());
        let mut is_news = |role, text, is_under_way| last.is_news(&all, &place, &turn(role, text, is_under_way));
        assert!(is_news(EntryRole::User, "tea?", false));
        assert!(!is_news(EntryRole::User, "tea? ", false), "it was sent again");
        assert!(!is_news(EntryRole::User, "tea?", true), "tools are part of it");
        assert!(is_news(EntryRole::Assistant, "yes", false) && is_news(EntryRole::Assistant, "yes", false));
        assert!(!is_news(EntryRole::User, "tea?", true), "tools go on after words");
        assert!(is_news(EntryRole::User, "tea?", false), "it is asked once more");
        assert!(is_news(EntryRole::User, "coffee?", false));
    }

    #[test]
    fn a_question_first_seen_under_way_is_kept_once_whoever_asks_meanwhile() {
        let (all, place, mut last) =
            (conversations(Arc::new(FakeConversations::default())), ConversationId::unnamed(), Questions::default());
        let key = "my key is AKIAIOSFODNN7EXAMPLF, how many?";
        let question = turn(EntryRole::User, key, true);
        assert!(last.is_news(&all, &place, &question));
        keep_turn(&all, &place, EntryRole::User, key).unwrap();
        assert!(last.is_news(&all, &place, &turn(EntryRole::User, "tea?", false)));
        assert!(!last.is_news(&all, &place, &question));
        assert!(!Questions::default().is_news(&all, &place, &question), "another process has kept it");
    }

    #[test]
    fn what_is_kept_in_mind_has_a_bound() {
        let (all, mut last) = (conversations(Arc::new(FakeConversations::default())), Questions::default());
        for number in 0..=MOST {
            let place = format!("c{number}").parse().unwrap();
            assert!(last.is_news(&all, &place, &turn(EntryRole::User, "tea?", false)));
        }
        assert!(last.known.len() <= MOST);
    }
}
