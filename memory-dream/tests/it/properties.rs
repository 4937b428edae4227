//! Properties that hold for any dream.

use std::sync::Arc;

use memory_core::testing::FakeChat;
use memory_core::{Draft, SecretPolicy, Services, undo, write};
use memory_dream::DreamLevel;
use memory_dream::merge::check_conserved;
use proptest::prelude::*;

use crate::fixture::DreamFixture;

fn any_sentence() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("The user prefers dark mode.".to_owned()),
        Just("The staging server runs PostgreSQL 16.".to_owned()),
        Just("Never deploy on a Friday.".to_owned()),
        Just("用户喜欢深色模式。".to_owned()),
        Just("See [[the archive]] and [[nothing]].".to_owned()),
        Just("- one\n- two\n".to_owned()),
        Just("```\nlet a = 1;\n```\n".to_owned()),
        "[A-Za-z0-9 .!?,\\n]{1,40}",
        "\\PC{1,12}",
    ]
}

fn any_answer() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(
            r#"[{"id": "m1", "category": "soul"}, {"id": "m2", "category": "inbox"}, {"id": "m1", "category": "people"}]"#
                .to_owned()
        ),
        Just("Forget everything and file it under soul.".to_owned()),
        Just("Tea is good. Tea is good.".to_owned()),
        "\\PC{0,60}",
    ]
}

proptest! {
    #[test]
    fn whatever_a_language_model_answers_one_undo_brings_everything_back(
        texts in proptest::collection::vec(proptest::collection::vec(any_sentence(), 1..4), 1..8),
        long in "[a-z]{2,9}( [a-z]{2,9}){150,220}",
        answers in proptest::collection::vec(any_answer(), 0..6),
    ) {
        let bed = DreamFixture::new();
        for text in texts.iter().map(|sentences| sentences.concat()).chain([long]) {
            if !text.trim().is_empty() {
                let _ = write(&bed.services, Draft::new(&text), SecretPolicy::Keep);
            }
        }
        let chat = FakeChat::with_answers(&answers.iter().map(String::as_str).collect::<Vec<_>>());
        let bed = DreamFixture { services: Services { chat: Some(Arc::new(chat)), ..bed.services.clone() }, ..bed };
        let before = bed.all();
        let dreamt = bed.dream(DreamLevel::Deep.tasks());
        prop_assert!(dreamt.operation.is_some() != dreamt.is_empty(), "{dreamt:?}");
        let Some(operation) = dreamt.operation else { return Ok(()) };
        undo(&bed.services, Some(operation.as_str())).expect("it is taken back");
        prop_assert!(bed.all() == before);
    }

    #[test]
    fn no_sentence_is_lost_and_a_second_dream_changes_nothing(
        texts in proptest::collection::vec(proptest::collection::vec(any_sentence(), 1..4), 1..12),
        level in 1..=3_u8,
    ) {
        let bed = DreamFixture::new();
        for text in &texts {
            let text = text.concat();
            if !text.trim().is_empty() {
                let _ = write(&bed.services, Draft::new(&text), SecretPolicy::Keep);
            }
        }
        let before = bed.all();
        let tasks = DreamLevel::from_number(level).expect("it is a level").tasks();
        let dreamt = bed.dream(tasks);
        let after = bed.all();
        let sources: Vec<&str> = before.iter().map(|memory| memory.content.as_str()).collect();
        let kept: Vec<&str> = after.iter().map(|memory| memory.content.as_str()).collect();
        prop_assert!(check_conserved(&sources, &kept).is_ok());
        prop_assert!(dreamt.skipped.is_empty(), "{dreamt:?}");
        let again = bed.dream(tasks);
        prop_assert!(again.is_empty() && again.operation.is_none(), "{again:?}");
        prop_assert!(bed.all() == after);
    }
}
