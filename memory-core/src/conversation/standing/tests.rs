//! Tests of standing instructions and preferences in chats.

use chrono::TimeDelta;

use super::*;
use crate::conversation::claim::parse_count;
use crate::conversation::{
    EntryChange, RecallRules, add, message_prefix, recall_with_unwritten, store_turn,
};
use crate::secret::Checked;
use crate::testing::{FakeConversations, conversations, services};
use crate::{Draft, MemStore, Scope, SecretPolicy, SpeakerRole, write};

/// A chat, with a home if it has one.
struct StandingTestChat {
    conversations: Conversations,
    conversation: ConversationId,
    home: Option<Services>,
}

impl StandingTestChat {
    fn new() -> Self {
        Self {
            conversations: conversations(Arc::new(FakeConversations::default())),
            conversation: ConversationId::default_conversation(),
            home: Some(services(Arc::new(MemStore::default()))),
        }
    }

    /// Stores messages of the user, in order.
    fn state(&self, texts: &[&str]) {
        for text in texts {
            store_turn(
                &self.conversations,
                &self.conversation,
                EntryRole::User,
                text,
            )
            .unwrap();
        }
    }

    /// Writes a memory of the person.
    fn write(&self, text: &str, scope: Scope, age: TimeDelta) {
        let home = self.home.as_ref().unwrap();
        let created_at = Some(home.clock.now() - age);
        let draft = Draft {
            role: Some(SpeakerRole::Person),
            scope,
            created_at,
            ..Draft::new(text)
        };
        write(home, draft, SecretPolicy::Refuse).unwrap();
    }

    fn recalled_beside(
        &self,
        message: &str,
        top_k: usize,
        is_known: &dyn Fn(&ConversationEntry) -> bool,
    ) -> RecallResult {
        let rules = RecallRules {
            top_k,
            ..RecallRules::default()
        };
        let mut recalled = recall_with_unwritten(
            &self.conversations,
            &self.conversation,
            message,
            &rules,
            &[],
            is_known,
        )
        .unwrap();
        let request = StandingRequest {
            conversation: &self.conversation,
            message,
            top_k,
            unwritten: &[],
            is_known,
        };
        add_standing(
            &self.conversations,
            &|| Ok(self.home.clone()),
            &request,
            &mut recalled,
        )
        .unwrap();
        recalled
    }

    fn recalled(&self, message: &str) -> RecallResult {
        self.recalled_beside(message, RecallRules::default().top_k, &|_| false)
    }

    fn standing(&self, message: &str) -> Vec<String> {
        self.recalled(message)
            .standing
            .into_iter()
            .map(|own| own.text)
            .collect()
    }
}

const QUESTION: &str = "How far is it to Oslo?";

#[test]
fn standing_memories_of_the_home_that_the_chat_may_see_are_given() {
    let chat = StandingTestChat::new();
    chat.write(
        "Always answer in metric units.",
        Scope::Global,
        TimeDelta::zero(),
    );
    chat.write(
        "Always answer in Dutch.",
        Scope::Conversation("default".into()),
        TimeDelta::days(1),
    );
    chat.write(
        "Always include a joke.",
        Scope::Conversation("other".into()),
        TimeDelta::zero(),
    );
    chat.write(
        "Always quote the manual.",
        Scope::Agent("claude".into()),
        TimeDelta::zero(),
    );
    chat.write(
        "Never mention the budget.",
        Scope::Project("ours".into()),
        TimeDelta::zero(),
    );
    chat.write(
        "The train to Oslo leaves at nine.",
        Scope::Global,
        TimeDelta::zero(),
    );
    let recalled = chat.recalled(QUESTION);
    let texts: Vec<&str> = recalled
        .standing
        .iter()
        .map(|own| own.text.as_str())
        .collect();
    assert_eq!(
        texts,
        ["Always answer in metric units.", "Always answer in Dutch."]
    );
    assert_eq!((recalled.hits(), recalled.memories.len()), (2, 0));
    let text = message_prefix(&recalled, &crate::LocalZone::utc());
    assert!(
        text.contains("\" standing=\"instruction\">\nAlways answer in metric units.\n</memory>\n"),
        "{text}"
    );
}

#[test]
fn preferences_are_given_for_messages_about_them() {
    let chat = StandingTestChat::new();
    chat.state(&[
        "I prefer tabs over spaces.",
        "Please never use emojis.",
        "My dog is Rex.",
    ]);
    assert_eq!(chat.standing(QUESTION), ["Please never use emojis."]);
    let about = "Indent it with tabs, please";
    assert_eq!(
        chat.standing(about),
        ["I prefer tabs over spaces.", "Please never use emojis."]
    );
    let recalled = chat.recalled_beside(about, 1, &|_| false);
    let kinds: Vec<StandingKind> = recalled.standing.iter().map(|own| own.kind).collect();
    assert_eq!(kinds, [StandingKind::Preference, StandingKind::Instruction]);
    assert_eq!(recalled.memories, []);
}

#[test]
fn only_the_standing_sentences_at_the_ends_of_a_long_message_are_given() {
    let chat = StandingTestChat::new();
    let article = "The ferry crossed the bay and the passengers watched the gulls. ".repeat(4_000);
    chat.state(&[&format!("{article}Always wear a life jacket. {article}")]);
    assert_eq!(chat.standing(QUESTION), [""; 0]);
    chat.state(&[&format!("{article}Always wear a life jacket.")]);
    assert_eq!(chat.standing(QUESTION), ["Always wear a life jacket."]);
    let many = StandingTestChat::new();
    let rules = (0..200)
        .map(|number| format!("Always wear jacket number {number} on deck."))
        .collect::<Vec<_>>()
        .join(" ");
    many.state(&[&format!("{article}{rules}")]);
    let size: usize = many
        .standing(QUESTION)
        .iter()
        .map(|text| token_count(text))
        .sum();
    assert!((1..=80).contains(&size), "{size}");
}

#[test]
fn the_size_of_the_standing_texts_is_limited() {
    let chat = StandingTestChat::new();
    let names = [
        "tea", "rain", "maps", "trains", "birds", "stones", "clocks", "boats", "doors", "lamps",
        "bread", "glass",
    ];
    for name in names {
        let words: Vec<String> = (0..8).map(|number| format!("{name}{number}")).collect();
        chat.state(&[&format!("Always mention {}.", words[..4].join(" "))]);
        chat.write(
            &format!("Never discuss {}.", words[4..].join(" ")),
            Scope::Global,
            TimeDelta::zero(),
        );
    }
    let size = |top_k: usize| -> usize {
        let recalled = chat.recalled_beside(QUESTION, top_k, &|_| false);
        recalled
            .standing
            .iter()
            .map(|own| token_count(&own.text) + FENCE_TOKENS)
            .sum()
    };
    assert_eq!(size(0), 0);
    assert!(size(1) < size(5), "{} {}", size(1), size(5));
    assert!((1..=MIN_TOKENS).contains(&size(1)), "{}", size(1));
    assert!(
        (MAX_TOKENS / 2..=MAX_TOKENS).contains(&size(100)),
        "{}",
        size(100)
    );
}

#[test]
fn a_newer_text_replaces_an_older_one_wherever_they_are_stored() {
    let chat = StandingTestChat::new();
    chat.write("Always use emojis.", Scope::Global, TimeDelta::days(1));
    chat.state(&["Never use emojis."]);
    assert_eq!(chat.standing(QUESTION), ["Never use emojis."]);
    assert_eq!(
        chat.standing("Always use emojis."),
        [""; 0],
        "the message replaces both"
    );
    let recalled = chat.recalled_beside(QUESTION, 5, &|entry| entry.content == "Never use emojis.");
    assert_eq!(recalled.standing, [], "the model sees the newer one anyway");
    let (older, newer) = (StandingTestChat::new(), "Always answer in metric units.");
    older.state(&[newer]);
    older.write(newer, Scope::Global, TimeDelta::days(1));
    assert_eq!(older.standing(QUESTION), [newer]);
}

#[test]
fn a_recalled_memory_is_not_given_twice() {
    let chat = StandingTestChat::new();
    chat.state(&[
        "Always answer in metric units!",
        "My sister lives in Oslo. Always call her Ann.",
    ]);
    let texts = |message: &str| -> [Vec<String>; 2] {
        let RecallResult {
            standing, memories, ..
        } = chat.recalled(message);
        [
            standing.into_iter().map(|own| own.text).collect(),
            memories
                .iter()
                .map(|own| own.entry.content.clone())
                .collect(),
        ]
    };
    let [standing, memories] = texts("What are metric units?");
    assert_eq!(
        (standing, memories.len()),
        (
            vec![
                "Always answer in metric units!".to_owned(),
                "Always call her Ann.".into()
            ],
            0
        )
    );
    let scores: Vec<bool> = chat
        .recalled("What are metric units?")
        .standing
        .iter()
        .map(|own| 0.0 < own.score)
        .collect();
    assert_eq!(
        scores,
        [true, false],
        "the first one was recalled for the message"
    );
    // The entry contains more than its instruction.
    let [standing, memories] = texts("Where does my sister live?");
    assert_eq!(
        (standing[0].as_str(), memories[0].as_str()),
        (
            "Always call her Ann.",
            "My sister lives in Oslo. Always call her Ann."
        )
    );
}

#[test]
fn a_fact_is_given_instead_of_its_turn_and_a_deleted_fact_withdraws_its_turn() {
    let chat = StandingTestChat::new();
    chat.state(&["Always answer in metric units."]);
    let turn = chat
        .conversations
        .store
        .read(&chat.conversation)
        .unwrap()
        .entries()[0]
        .id
        .clone();
    let (id, now) = (
        "fact".parse::<EntryId>().unwrap(),
        chat.conversations.clock.now(),
    );
    let fact = ConversationEntry::new(
        id.clone(),
        &chat.conversation,
        EntryRole::Memory,
        "Always answer the user in metric units.",
        now,
    );
    let commit = |change| {
        chat.conversations
            .store
            .commit(&chat.conversation, Checked::allowed(&[change]))
            .unwrap();
    };
    commit(EntryChange::Add(ConversationEntry {
        source_id: Some(turn),
        ..fact
    }));
    assert_eq!(
        chat.standing(QUESTION),
        ["Always answer the user in metric units."]
    );
    commit(EntryChange::Delete {
        id,
        replaced_by: None,
    });
    assert_eq!(chat.standing(QUESTION), [""; 0]);
}

#[test]
fn an_unreadable_home_degrades_the_result() {
    let chat = StandingTestChat::new();
    chat.state(&["Always answer in metric units."]);
    let request = StandingRequest {
        conversation: &chat.conversation,
        message: QUESTION,
        top_k: 5,
        unwritten: &[],
        is_known: &|_| false,
    };
    let open_home = || {
        Err(StoreError::Invalid {
            why: "the disk is gone".into(),
        })
    };
    let mut recalled = RecallResult::default();
    add_standing(&chat.conversations, &open_home, &request, &mut recalled).unwrap();
    assert_eq!(recalled.standing.len(), 1);
    assert!(
        recalled
            .degraded
            .unwrap()
            .contains("standing memories of the home are left out")
    );
}

/// Returns the number of texts that are parsed for a message when `count` facts are standing.
fn parses(count: usize) -> usize {
    let chat = StandingTestChat::new();
    let instruction =
        |number| format!("The user wants to verb{number} noun{number} in 2026 with Name{number}.");
    let preference = |number| format!("The user prefers thing{number} over stuff{number}.");
    let facts: Vec<String> = (0..count)
        .map(|number| {
            if number % 2 == 0 {
                instruction(number)
            } else {
                preference(number)
            }
        })
        .collect();
    add(
        &chat.conversations,
        &chat.conversation,
        &facts,
        SecretPolicy::Refuse,
    )
    .unwrap();
    let about = "Compare thing1 with stuff1";
    assert!(!chat.standing(about).is_empty());
    parse_count::take();
    chat.standing(about);
    parse_count::take()
}

#[test]
fn the_number_of_parsed_texts_does_not_grow_with_the_number_of_instructions() {
    let few = parses(60);
    assert!(few <= 2 * MAX_NEWEST, "{few}");
    assert_eq!(parses(480), few);
}
