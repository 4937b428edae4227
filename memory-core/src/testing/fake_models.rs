//! Models and notifiers that need nothing.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::text::{TokenKind, tokens};
use crate::{
    Allowance, Answer, ChatError, ChatModel, ChatRequest, EmbedError, Embedder, Embedding, Notification, Notifier, NotifyError,
    RerankError, Reranker, Tokens, Trouble,
};

/// A language model that gives the answers it was told to give, in order, and then fails.
#[derive(Debug, Default)]
pub struct FakeChat {
    answers: Mutex<VecDeque<Result<Answer, ChatError>>>,
    asked: Mutex<Vec<ChatRequest>>,
}

impl FakeChat {
    /// Returns a model that will give `answers`, whose tokens are estimated.
    pub fn answering(answers: &[&str]) -> Self {
        let model = Self::default();
        for text in answers {
            model.will_answer(text, Tokens { prompt: 0, answer: Tokens::of(text), estimated: true });
        }
        model
    }

    /// Adds an answer.
    pub fn will_answer(&self, text: &str, tokens: Tokens) {
        held(&self.answers).push_back(Ok(Answer { text: text.to_owned(), tokens }));
    }

    /// Adds a failure.
    pub fn will_fail(&self, error: ChatError) {
        held(&self.answers).push_back(Err(error));
    }

    /// Returns what it was asked.
    pub fn asked(&self) -> Vec<ChatRequest> {
        held(&self.asked).clone()
    }
}

impl ChatModel for FakeChat {
    fn answer(&self, request: &ChatRequest) -> Result<Answer, ChatError> {
        held(&self.asked).push(request.clone());
        let none = || Err(ChatError::Unreachable(Trouble { why: "it has no more answers".into(), hint: None }));
        held(&self.answers).pop_front().unwrap_or_else(none)
    }

    fn allowance(&self) -> Result<Allowance, ChatError> {
        Ok(Allowance::default())
    }
}

/// An embedding model of 64 dimensions in which texts are alike as far as they share words.
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
    // A small constant keeps the vector of a text without words at length 1 too.
    let mut vector = vec![0.01_f32; DIMENSIONS];
    tokens(text, &mut |token| {
        if token.kind != TokenKind::Character {
            let place = token.text.bytes().fold(7_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
            vector[place % DIMENSIONS] += 1.0;
        }
    });
    let length = vector.iter().map(|part| part * part).sum::<f32>().sqrt();
    vector.into_iter().map(|part| part / length).collect()
}

/// A reranking model to which a text is the better an answer the more words of the question stand in it.
#[derive(Debug, Clone, Copy, Default)]
pub struct FakeReranker;

impl Reranker for FakeReranker {
    fn identity(&self) -> &'static str {
        "shared-words"
    }

    fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
        let wanted = words(query);
        Ok(texts.iter().map(|text| wanted.intersection(&words(text)).map(|_| 2.0).sum::<f32>() - 1.0).collect())
    }
}

fn words(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    tokens(text, &mut |token| {
        words.insert(token.text.to_string());
    });
    words
}

/// A notifier that remembers what it was to show.
#[derive(Debug, Default)]
pub struct FakeNotifier(Mutex<Vec<Notification>>);

impl FakeNotifier {
    /// Returns what it was to show.
    pub fn shown(&self) -> Vec<Notification> {
        held(&self.0).clone()
    }
}

impl Notifier for FakeNotifier {
    fn notify(&self, notification: &Notification) -> Result<(), NotifyError> {
        held(&self.0).push(notification.clone());
        Ok(())
    }
}

pub(super) fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
