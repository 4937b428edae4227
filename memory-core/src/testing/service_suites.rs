//! The conformance suites of sources, clocks, ids, models and notifiers.

use std::collections::{HashMap, HashSet};

use crate::is_nonzero;
use crate::{
    ChatMessage, ChatModel, ChatRequest, ChatRole, Clock, Embedder, IdSource, NoteItem,
    Notification, Notifier, Purpose, Reranker, Source, SourceItem, SourceSessionItem,
};

/// Checks the contract of [`Source`] on a source that is readable.
///
/// # Panics
/// If the contract is violated.
pub fn source_suite(source: &dyn Source) {
    let first: Vec<_> = source.items().collect();
    let second: Vec<_> = source.items().collect();
    assert_eq!(first, second, "it may be read again");
    let mut paths = Vec::new();
    for finding in &first {
        if let SourceItem::Note(note) = finding {
            let NoteItem {
                draft,
                front_matter,
                ..
            } = &**note;
            let origin = draft.origin.as_ref().expect("the origin of a note is set");
            assert_eq!(origin.source, source.name());
            assert!(
                front_matter.is_empty() || front_matter.ends_with('\n'),
                "{front_matter:?}"
            );
            paths.push(origin.path.clone());
        }
    }
    let distinct: HashSet<_> = paths.iter().collect();
    assert_eq!(
        distinct.len(),
        paths.len(),
        "each note has a path of its own"
    );
    assert!(
        paths.is_sorted(),
        "notes come in the order of their paths: {paths:?}"
    );
    let sessions: Vec<_> = source.sessions().collect();
    assert_eq!(
        sessions,
        source.sessions().collect::<Vec<_>>(),
        "its conversations may be read again"
    );
    let mut times = HashMap::new();
    for item in &sessions {
        if let SourceSessionItem::Session(session) = item {
            let is_newer = times
                .insert(&session.id, session.updated_at)
                .is_none_or(|earlier| earlier < session.updated_at);
            assert!(
                is_newer,
                "a conversation with the id of an earlier one is newer: {}",
                session.id
            );
            assert!(
                !session.records.is_empty(),
                "a conversation has messages: {}",
                session.id
            );
        }
    }
}

/// Checks the contract of [`Clock`].
///
/// # Panics
/// If the contract is violated.
pub fn clock_suite(clock: &dyn Clock) {
    let (first, second) = (clock.now(), clock.now());
    assert!(first <= second, "{first} {second}");
}

/// Checks the contract of [`IdSource`].
///
/// # Panics
/// If the contract is violated.
pub fn id_suite(ids: &dyn IdSource) {
    let memories: HashSet<_> = (0..1_000).map(|_| ids.memory_id()).collect();
    let operations: HashSet<_> = (0..1_000).map(|_| ids.operation_id()).collect();
    assert_eq!((memories.len(), operations.len()), (1_000, 1_000));
}

/// Checks the contract of [`Embedder`].
///
/// # Panics
/// If the contract is violated.
pub fn embedder_suite(embedder: &dyn Embedder) {
    let texts = ["a red apple", "", "深色模式", "a red apple"];
    let vectors = embedder.embed(&texts).expect("it answers");
    assert_eq!(vectors.len(), texts.len());
    assert_eq!(vectors[0], vectors[3], "the same text has the same vector");
    for vector in &vectors {
        let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
        let is_sound = (length - 1.0).abs() < 1e-3 || !is_nonzero(vector);
        assert!(is_sound && vector.len() == vectors[0].len(), "{length}");
    }
    assert!(!embedder.identity().is_empty());
    assert!(embedder.embed(&[]).expect("it answers").is_empty());
}

/// Checks the contract of [`Reranker`].
///
/// # Panics
/// If the contract is violated.
pub fn reranker_suite(reranker: &dyn Reranker) {
    let query = "which fruit is red?";
    let texts = [
        "a red apple",
        "",
        "深色模式",
        "a red apple",
        "which fruit is red? An apple is, and so is a cherry.",
    ];
    let scores = reranker.score(query, &texts).expect("it answers");
    assert_eq!(scores.len(), texts.len());
    assert!(scores.iter().all(|score| score.is_finite()), "{scores:?}");
    for (text, score) in texts.iter().zip(&scores) {
        let alone = reranker.score(query, &[text]).expect("it answers");
        assert!(
            (alone[0] - score).abs() < 1e-3,
            "the score of {text:?} does not depend on the others: {alone:?} {score}"
        );
    }
    assert!(reranker.score("", &["a red apple"]).expect("it answers")[0].is_finite());
    assert!(!reranker.identity().is_empty());
    assert!(reranker.score(query, &[]).expect("it answers").is_empty());
}

/// Checks the contract of [`ChatModel`] on a model that responds.
///
/// # Panics
/// If the contract is violated.
pub fn chat_suite(model: &dyn ChatModel) {
    let messages = vec![ChatMessage {
        role: ChatRole::User,
        content: "Say one word.".into(),
    }];
    let answer = model
        .answer(&ChatRequest {
            purpose: Purpose::of("test"),
            messages,
            max_tokens: 10,
        })
        .expect("it answers");
    assert!(!answer.text.trim().is_empty(), "an answer is not empty");
    assert!(0 < answer.tokens.answer, "every answer takes a token");
}

/// Checks the contract of [`Notifier`].
///
/// # Panics
/// If the contract is violated.
pub fn notifier_suite(notifier: &dyn Notifier) {
    let notification = Notification {
        title: "提醒".into(),
        body: "call Anna".into(),
    };
    notifier.notify(&notification).expect("it is shown");
}
