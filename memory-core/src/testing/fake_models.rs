//! Fake models and notifiers without dependencies.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::text::{TokenKind, tokenize};
use crate::{
    BudgetStatus, ChatAnswer, ChatError, ChatFailure, ChatModel, ChatRequest, EmbedError, Embedder,
    Embedding, Notification, Notifier, NotifyError, RerankError, Reranker, TokenUsage,
};

/// A language model that returns predefined responses in order, and then fails.
#[derive(Debug, Default)]
pub struct FakeChat {
    answers: Mutex<VecDeque<Result<ChatAnswer, ChatError>>>,
    asked: Mutex<Vec<ChatRequest>>,
}

impl FakeChat {
    /// Returns a model with the responses `answers`, with estimated tokens.
    pub fn with_answers(answers: &[&str]) -> Self {
        let model = Self::default();
        for text in answers {
            model.will_answer(
                text,
                TokenUsage {
                    prompt: 0,
                    answer: TokenUsage::of(text),
                    estimated: true,
                },
            );
        }
        model
    }

    /// Adds a response.
    pub fn will_answer(&self, text: &str, tokens: TokenUsage) {
        lock(&self.answers).push_back(Ok(ChatAnswer {
            text: text.to_owned(),
            tokens,
        }));
    }

    /// Adds a failure.
    pub fn will_fail(&self, error: ChatError) {
        lock(&self.answers).push_back(Err(error));
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<ChatRequest> {
        lock(&self.asked).clone()
    }
}

impl ChatModel for FakeChat {
    fn answer(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        lock(&self.asked).push(request.clone());
        let none = || {
            Err(ChatError::Unreachable(ChatFailure {
                why: "it has no more answers".into(),
                hint: None,
            }))
        };
        lock(&self.answers).pop_front().unwrap_or_else(none)
    }

    fn allowance(&self) -> Result<BudgetStatus, ChatError> {
        Ok(BudgetStatus::default())
    }
}

/// An embedding model with 64 dimensions; the similarity of two texts is their word overlap.
#[derive(Debug, Clone, Copy, Default)]
pub struct FakeEmbedder;

const DIMENSIONS: usize = 64;

impl Embedder for FakeEmbedder {
    fn identity(&self) -> &'static str {
        "words-64"
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        Ok(texts.iter().map(|text| embed(text)).collect())
    }
}

fn embed(text: &str) -> Embedding {
    // A small constant also allows a vector of length 1 for a text without words.
    let mut vector = vec![0.01_f32; DIMENSIONS];
    tokenize(text, &mut |token| {
        if token.kind != TokenKind::Character {
            let place = token.text.bytes().fold(7_usize, |sum, byte| {
                sum.wrapping_mul(31).wrapping_add(byte.into())
            });
            vector[place % DIMENSIONS] += 1.0;
        }
    });
    let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
    vector.into_iter().map(|part| part / length).collect()
}

/// A reranking model that scores a text by the number of query words in it.
#[derive(Debug, Clone, Copy, Default)]
pub struct FakeReranker;

impl Reranker for FakeReranker {
    fn identity(&self) -> &'static str {
        "shared-words"
    }

    fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
        let wanted = words(query);
        Ok(texts
            .iter()
            .map(|text| wanted.intersection(&words(text)).map(|_| 2.0).sum::<f32>() - 1.0)
            .collect())
    }
}

fn words(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    tokenize(text, &mut |token| {
        words.insert(token.text.to_string());
    });
    words
}

/// A notifier that records its notifications.
#[derive(Debug, Default)]
pub struct FakeNotifier(Mutex<Vec<Notification>>);

impl FakeNotifier {
    /// Returns the notifications so far.
    pub fn shown(&self) -> Vec<Notification> {
        lock(&self.0).clone()
    }
}

impl Notifier for FakeNotifier {
    fn notify(&self, notification: &Notification) -> Result<(), NotifyError> {
        lock(&self.0).push(notification.clone());
        Ok(())
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
