use chrono::{DateTime, TimeDelta};
use proptest::prelude::*;

use super::*;
use crate::conversation::ConversationId;

fn entry(id: &str, text: &str) -> ConversationEntry {
    ConversationEntry::new(
        id.parse().unwrap(),
        &ConversationId::default_conversation(),
        EntryRole::Memory,
        text,
        DateTime::UNIX_EPOCH,
    )
}

fn build_index(texts: &[&str]) -> ConversationIndex {
    let mut shelf = ConversationIndex::default();
    for (number, text) in texts.iter().enumerate() {
        shelf.put(entry(&number.to_string(), text));
    }
    shelf
}

fn found(shelf: &ConversationIndex, message: &str) -> Vec<(String, f32)> {
    let candidates = shelf.candidates(&RecallQuery::of(message), 10, &|_| true);
    candidates
        .into_iter()
        .map(|candidate| (candidate.entry.content.clone(), candidate.relevance))
        .collect()
}

const FACTS: [&str; 8] = [
    "The user's name is Anna.",
    "The user's dog is called Rex.",
    "User lives in Lyon.",
    "User hates pizza.",
    "用户对花生过敏。",
    "用户喜欢爬山。",
    "The user works on a Python project with her colleague Tom.",
    "The user plays the violin on Sundays.",
];

#[test]
fn what_answers_is_more_relevant_than_the_usual_threshold_and_the_rest_is_not() {
    let shelf = build_index(&FACTS);
    for (message, fact) in [
        ("What's my name?", FACTS[0]),
        ("what is my dog called", FACTS[1]),
        ("Where do I live?", FACTS[2]),
        ("Do I like pizza?", FACTS[3]),
        ("我对什么过敏？", FACTS[4]),
        ("爬山", FACTS[5]),
        ("Which project does Tom work on?", FACTS[6]),
    ] {
        let all = found(&shelf, message);
        let relevant: Vec<_> = all
            .iter()
            .filter(|(_, relevance)| 0.35 <= *relevance)
            .map(|(text, _)| text.as_str())
            .collect();
        assert_eq!(relevant, [fact], "{message}: {all:?}");
    }
    assert!(found(&shelf, "What is the capital of France?").is_empty());
    assert!(found(&shelf, "").is_empty());
}

#[test]
fn of_summaries_the_latest_is_kept_and_none_is_searched() {
    let mut shelf = build_index(&[]);
    let summary = |id: &str, text: &str, days: i64| ConversationEntry {
        role: EntryRole::Summary,
        created_at: DateTime::UNIX_EPOCH + TimeDelta::days(days),
        ..entry(id, text)
    };
    shelf.put(summary("a", "old tea", 1));
    shelf.put(summary("b", "new tea", 2));
    shelf.put(summary("c", "older tea", 0));
    assert_eq!(shelf.summary().unwrap().content, "new tea");
    assert!(found(&shelf, "tea").is_empty() && shelf.is_empty());
    shelf.put(summary("b", "newest tea", 0));
    assert_eq!(shelf.summary().unwrap().content, "newest tea");
}

#[test]
fn vectors_find_what_no_word_finds_and_those_of_another_model_are_let_go() {
    let mut shelf = build_index(&["green tea", "black coffee"]);
    let vector = |text: &str, vector: [f32; 2]| EntryVector {
        text: ContentHash::of(text),
        vector: vector.into(),
    };
    shelf.add_vectors(
        "one",
        &[
            vector("green tea", [1.0, 0.0]),
            vector("black coffee", [0.0, 1.0]),
            vector("later", [1.0, 0.0]),
        ],
    );
    shelf.put(entry("2", "later"));
    let wanted = RecallQuery {
        vector: Some(&[1.0, 0.0]),
        ..RecallQuery::of("beverage")
    };
    let found = |shelf: &ConversationIndex| shelf.candidates(&wanted, 5, &|_| true).len();
    assert_eq!(
        (found(&shelf), shelf.entries_without_vector("one").len()),
        (2, 0)
    );
    shelf.add_vectors("two", &[]);
    assert_eq!(
        (
            found(&shelf),
            shelf.entries_without_vector("two").len(),
            shelf.identity()
        ),
        (0, 3, "two")
    );
}

proptest! {
    #[test]
    fn what_was_put_and_taken_away_leaves_no_trace(
        steps in proptest::collection::vec((0_u8..6, prop::sample::select(vec!["tea", "tea, tea", "green tea", "tea green tea", "coffee 茶", "", "茶叶"]), any::<bool>()), 0..30),
    ) {
        let mut shelf = ConversationIndex::default();
        let mut kept = std::collections::BTreeMap::new();
        let mut copies = Vec::new();
        for (number, text, stays) in steps {
            copies.push((shelf.clone(), shelf.entries(), found(&shelf, "green tea")));
            let id = number.to_string();
            if stays {
                shelf.put(entry(&id, text));
                kept.insert(id, text);
            } else {
                shelf.remove(&id.parse().unwrap());
                kept.remove(&id);
            }
        }
        let mut anew = ConversationIndex::default();
        for (id, text) in &kept {
            anew.put(entry(id, text));
        }
        prop_assert_eq!(shelf.len(), kept.len());
        prop_assert_eq!(shelf.entries(), anew.entries());
        for message in ["green tea", "茶", "coffee"] {
            prop_assert_eq!(found(&shelf, message), found(&anew, message));
        }
        for (copy, entries, answer) in &copies {
            prop_assert_eq!(&copy.entries(), entries, "a copy stays what it was");
            prop_assert_eq!(&found(copy, "green tea"), answer);
        }
        prop_assert_eq!(shelf.words.size(), anew.words.size());
        let counts = |shelf: &ConversationIndex| {
            shelf.statements.iter().map(|(statement, own)| (*statement, own.entries)).collect::<std::collections::BTreeMap<_, _>>()
        };
        prop_assert_eq!(counts(&shelf), counts(&anew));
        prop_assert_eq!(shelf.stated_length, shelf.statements.values().map(|own| u64::from(own.length)).sum::<u64>());
        for (term, postings) in anew.words.iter() {
            prop_assert_eq!(shelf.words.get(term).map(|own| own.statements), Some(postings.statements));
        }
    }

    #[test]
    fn however_few_are_wanted_they_are_the_best_of_their_kind(count in 0_usize..400, limit in 0_usize..20, every in 1_usize..50) {
        let text = |number: usize| format!("green tea {}", ["", "black", "black coffee"][number % 3]);
        let mut shelf = ConversationIndex::default();
        for number in 0..count {
            let at = DateTime::UNIX_EPOCH + TimeDelta::milliseconds(i64::try_from(number % 7).unwrap());
            shelf.put(ConversationEntry { created_at: at, ..entry(&format!("turn-{number:05}"), &text(number)) });
        }
        let number = |entry: &ConversationEntry| entry.id.as_str().trim_start_matches("turn-").parse::<usize>().unwrap();
        let is_one = |entry: &ConversationEntry| number(entry) % every == 0;
        let wanted = RecallQuery::of("green tea");
        let some = shelf.candidates(&wanted, limit, &is_one);
        let mut all = shelf.candidates(&wanted, usize::MAX, &is_one);
        all.truncate(limit);
        prop_assert_eq!(some, all);
    }
}
