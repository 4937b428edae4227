//! Detects questions that an application sends again.

use std::collections::{HashMap, VecDeque};

use chrono::{DateTime, TimeDelta, Utc};

use super::add::redact_secrets;
use super::{ConversationId, Conversations, EntryRole};
use crate::ContentHash;

/// The recent questions of each conversation, so that a resent question is stored only once.
#[derive(Debug, Default)]
pub struct RecentQuestions {
    known: HashMap<ConversationId, VecDeque<RecentQuestion>>,
}

#[derive(Debug, Clone, Copy)]
struct RecentQuestion {
    text: ContentHash,
    at: DateTime<Utc>,
    is_answered: bool,
}

/// The maximum number of conversations, and the maximum number of questions in each.
const MAX_CONVERSATIONS: usize = 10_000;
const MAX_QUESTIONS: usize = 16;

/// A question without a response for this long counts as new when it is sent again.
const UNANSWERED_WINDOW: TimeDelta = TimeDelta::hours(1);

impl RecentQuestions {
    /// Returns whether a question is new, and records it as stored.
    ///
    /// A resent question is not new while it has no response, regardless of other questions, and while the model still works on it
    /// (`is_under_way`), for example by calling tools. Questions from before the start of the process are read from the last turns of the
    /// conversation.
    pub fn record_if_new(
        &mut self,
        conversations: &Conversations,
        conversation: &ConversationId,
        (question, at): (&str, DateTime<Utc>),
        is_under_way: bool,
    ) -> bool {
        if MAX_CONVERSATIONS <= self.known.len() && !self.known.contains_key(conversation) {
            self.known.clear();
        }
        let begin = || load_unanswered(conversations, conversation, (question, at));
        let known = self.known.entry(conversation.clone()).or_insert_with(begin);
        let text = hash(question);
        known.retain(|own| own.is_answered || at - own.at < UNANSWERED_WINDOW);
        if let Some(place) = known.iter().position(|own| own.text == text) {
            if is_under_way || !known[place].is_answered {
                return false;
            }
            known.remove(place);
        } else if is_under_way && is_stored(conversations, conversation, question) {
            return false;
        }
        if MAX_QUESTIONS <= known.len() {
            let least = known
                .iter()
                .position(|own| own.is_answered)
                .unwrap_or_default();
            known.remove(least);
        }
        known.push_back(RecentQuestion {
            text,
            at,
            is_answered: false,
        });
        true
    }

    /// Records that the model has responded to a question. A repetition is then a new question.
    pub fn mark_answered(&mut self, conversation: &ConversationId, question: &str) {
        let text = hash(question);
        let known = self.known.get_mut(conversation).into_iter().flatten();
        known
            .filter(|own| own.text == text)
            .for_each(|own| own.is_answered = true);
    }
}

fn hash(question: &str) -> ContentHash {
    ContentHash::of(question.trim())
}

/// Returns the recent questions after the last response in a conversation.
///
/// If the conversation cannot be read, it returns no questions: a duplicate is preferable to a lost question.
fn load_unanswered(
    conversations: &Conversations,
    conversation: &ConversationId,
    (question, at): (&str, DateTime<Utc>),
) -> VecDeque<RecentQuestion> {
    let Ok(shelf) = conversations.store.read(conversation) else {
        return VecDeque::new();
    };
    let kept = redact_secrets(question);
    let mut found = VecDeque::new();
    for entry in shelf
        .entries()
        .iter()
        .rev()
        .filter(|entry| entry.role != EntryRole::Memory)
    {
        if entry.role != EntryRole::User
            || UNANSWERED_WINDOW < at - entry.created_at
            || MAX_QUESTIONS <= found.len()
        {
            break;
        }
        let text = if entry.content == kept.trim() {
            question
        } else {
            &entry.content
        };
        found.push_front(RecentQuestion {
            text: hash(text),
            at: entry.created_at,
            is_answered: false,
        });
    }
    found
}

/// Returns whether a conversation contains a question.
///
/// If the conversation cannot be read, it returns false: a duplicate is preferable to a lost question.
fn is_stored(conversations: &Conversations, conversation: &ConversationId, question: &str) -> bool {
    let Ok(shelf) = conversations.store.read(conversation) else {
        return false;
    };
    let kept = redact_secrets(question);
    shelf
        .entries()
        .iter()
        .any(|entry| entry.role == EntryRole::User && entry.content.trim() == kept.trim())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::conversation::store_turn;
    use crate::testing::{FakeConversations, conversations};

    /// A process that stores each new question.
    struct QuestionCase {
        all: Conversations,
        questions: RecentQuestions,
        place: ConversationId,
    }

    impl QuestionCase {
        fn new() -> Self {
            let all = conversations(Arc::new(FakeConversations::default()));
            Self {
                all,
                questions: RecentQuestions::default(),
                place: ConversationId::default_conversation(),
            }
        }

        fn asks(&mut self, text: &str, is_under_way: bool) -> bool {
            let now = self.all.clock.now();
            let is_news =
                self.questions
                    .record_if_new(&self.all, &self.place, (text, now), is_under_way);
            if is_news {
                store_turn(&self.all, &self.place, EntryRole::User, text).unwrap();
            }
            is_news
        }

        fn hears(&mut self, question: &str, answer: &str) {
            self.questions.mark_answered(&self.place, question);
            store_turn(&self.all, &self.place, EntryRole::Assistant, answer).unwrap();
        }

        fn starts_again(&mut self) {
            self.questions = RecentQuestions::default();
        }
    }

    #[test]
    fn a_question_that_is_sent_again_before_it_is_answered_is_the_same() {
        let mut case = QuestionCase::new();
        assert!(case.asks("tea?", false));
        assert!(!case.asks("tea? ", false), "it was sent again");
        assert!(!case.asks("tea?", true), "tools are part of it");
        case.hears("tea?", "yes");
        assert!(!case.asks("tea?", true), "tools go on after words");
        assert!(case.asks("tea?", false), "it is asked once more");
        case.hears("tea?", "");
        assert!(
            case.asks("tea?", false),
            "an answer that says nothing is one"
        );
    }

    #[test]
    fn whoever_asks_or_is_answered_in_between_changes_nothing() {
        let mut case = QuestionCase::new();
        assert!(case.asks("tea?", false) && case.asks("coffee?", false));
        assert!(!case.asks("tea?", false), "nobody answered it");
        case.hears("tea?", "yes");
        assert!(
            !case.asks("coffee?", false),
            "the answer was to another question"
        );
        assert!(case.asks("tea?", false));
        case.questions
            .mark_answered(&"work".parse().unwrap(), "coffee?");
        assert!(
            !case.asks("coffee?", false),
            "that was another conversation"
        );
    }

    #[test]
    fn what_nobody_answered_before_the_start_is_the_same_after_it() {
        let mut case = QuestionCase::new();
        let key = "my key is AKIAIOSFODNN7EXAMPLF, how many?";
        assert!(case.asks("tea?", false));
        case.hears("tea?", "yes");
        assert!(case.asks("coffee?", false) && case.asks(key, false));
        case.starts_again();
        assert!(!case.asks(key, false) && !case.asks("coffee?", false));
        assert!(case.asks("tea?", false), "it was answered");
        case.starts_again();
        // The same question is sent again the next day.
        let later = case.all.clock.now() + TimeDelta::days(1);
        assert!(
            case.questions
                .record_if_new(&case.all, &case.place, ("coffee?", later), false)
        );
        let next = later + UNANSWERED_WINDOW;
        assert!(
            case.questions
                .record_if_new(&case.all, &case.place, ("coffee?", next), false),
            "so it is without a new start"
        );
    }

    #[test]
    fn a_question_first_seen_under_way_is_kept_once_whoever_asks_meanwhile() {
        let mut case = QuestionCase::new();
        let key = "my key is AKIAIOSFODNN7EXAMPLF, how many?";
        assert!(case.asks(key, true) && case.asks("tea?", false));
        assert!(!case.asks(key, true));
        case.hears("tea?", "yes");
        case.starts_again();
        assert!(!case.asks(key, true), "another process has kept it");
    }

    #[test]
    fn what_is_kept_in_mind_has_a_bound() {
        let (mut case, now) = (QuestionCase::new(), DateTime::UNIX_EPOCH);
        for number in 0..=MAX_CONVERSATIONS {
            let place = format!("c{number}").parse().unwrap();
            assert!(
                case.questions
                    .record_if_new(&case.all, &place, ("tea?", now), false)
            );
        }
        assert!(case.questions.known.len() <= MAX_CONVERSATIONS);
        for number in 0..=MAX_QUESTIONS {
            assert!(case.questions.record_if_new(
                &case.all,
                &case.place,
                (&format!("{number}?"), now),
                false
            ));
        }
        assert_eq!(case.questions.known[&case.place].len(), MAX_QUESTIONS);
    }
}
