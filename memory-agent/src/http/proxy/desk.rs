//! What a proxy works with.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HeaderValue};
use memory_core::Embedder;
use memory_core::conversation::{ConversationId, Conversations, JobQueue, RecallRules};
use tokio::sync::Semaphore;

use super::scribe::{Scribe, Told};
use super::upstream::Upstream;
use crate::http::limits::HttpLimits;
use crate::http::reading::Room;

/// A language model that remembers. It keeps what was said on a thread of its own until [`ChatProxy::end`].
pub struct ChatProxy {
    pub(super) conversations: Conversations,
    pub(super) upstream: Upstream,
    /// What it is called among proxies.
    pub(super) name: HeaderValue,
    pub(super) rules: ProxyRules,
    pub(super) last_asked: LastAsked,
    pub(super) scribe: Scribe,
    pub(super) room: Room,
    pub(super) workers: Arc<Semaphore>,
    told: Arc<dyn Told>,
    client_embedder: Option<Arc<dyn ClientEmbedder>>,
    /// What was told of what is remembered.
    known: Mutex<Vec<String>>,
    /// Why what the model said last is not kept, until the next answer says so.
    unheard: Mutex<HashMap<ConversationId, &'static str>>,
}

/// How a proxy remembers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProxyRules {
    /// How memories are chosen.
    pub recall: RecallRules,
    /// So long is waited for them; then it goes on without.
    pub patience: Duration,
    /// Whether whoever asks must know a token, which is then not for the server behind.
    pub has_token: bool,
}

/// An embedding model at the server of the chat model, which clients may ask with keys of their own.
pub trait ClientEmbedder: Send + Sync {
    /// Returns the model as a client with this key asks it; nothing where the text is no key.
    fn with_key(&self, key: &str) -> Option<Arc<dyn Embedder>>;
}

/// So many look for memories at once; others wait, and go on without if that takes too long.
const WORKERS: usize = 16;

/// The longest chat, in bytes, and how many all that are read at once may have together: pictures stand in them.
pub(super) const LONGEST: usize = 64 << 20;
const ALL: usize = 128 << 20;

/// More complaints than this are not kept in mind.
const MOST: usize = 100;

impl ChatProxy {
    /// Returns a proxy before `upstream`, which remembers by `conversations`. What is to be made of what was said goes to `queue`.
    pub fn new(
        conversations: Conversations,
        queue: Arc<dyn JobQueue>,
        upstream: Upstream,
        rules: ProxyRules,
        last_asked: LastAsked,
        told: Arc<dyn Told>,
    ) -> Self {
        let scribe = Scribe::begin(conversations.clone(), queue, Arc::clone(&told));
        let room = Room::new(HttpLimits { body: LONGEST, bodies: ALL, ..HttpLimits::default() });
        let workers = Arc::new(Semaphore::new(WORKERS));
        let name = HeaderValue::try_from(conversations.ids.operation_id().as_str());
        let name = name.unwrap_or(HeaderValue::from_static("memory"));
        let (known, unheard) = (Mutex::default(), Mutex::default());
        Self {
            conversations,
            upstream,
            name,
            rules,
            last_asked,
            scribe,
            room,
            workers,
            told,
            client_embedder: None,
            known,
            unheard,
        }
    }

    /// Has the embedding model asked with the key of the client whose chat it serves, where a chat brings one.
    #[must_use]
    pub fn with_client_embedder(mut self, embedder: Arc<dyn ClientEmbedder>) -> Self {
        self.client_embedder = Some(embedder);
        self
    }

    /// Returns what recalls memories for a request with these headers.
    pub(super) fn conversations_for(&self, headers: &HeaderMap) -> Conversations {
        let mut conversations = self.conversations.clone();
        let own = self.client_embedder.as_ref().zip(self.client_key(headers));
        if let Some(embedder) = own.and_then(|(embedder, key)| embedder.with_key(key)) {
            conversations.embedder = Some(embedder);
        }
        conversations
    }

    /// Returns the key that a client brings for the model's server; where a token is asked for, it brings that instead.
    fn client_key<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let value = headers.get(AUTHORIZATION).filter(|_| !self.rules.has_token)?.to_str().ok()?;
        let (scheme, key) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("Bearer").then(|| key.trim())
    }

    /// Returns the address of the server behind it.
    pub fn behind(&self) -> String {
        self.upstream.place()
    }

    /// Returns where conversations are kept.
    pub fn kept(&self) -> String {
        self.conversations.store.place()
    }

    /// Waits until what was said is kept. What is said later is not. Returns how many turns are lost, because they could not be kept.
    pub fn end(&self) -> usize {
        self.scribe.end()
    }

    /// Returns why background extraction is failing, if it is; each reason once.
    pub(super) fn ails(&self) -> Option<String> {
        self.told.ails()
    }

    /// Tells why less is remembered than could be, once.
    pub(super) fn complain(&self, why: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.iter().all(|own| own != why) {
            self.told.trouble(why);
            if MOST <= known.len() {
                known.clear();
            }
            known.push(why.to_owned());
        }
    }

    /// Tells that what the model said in a conversation is not kept, and has its next answer tell it.
    pub(super) fn unheard(&self, conversation: &ConversationId, why: &'static str) {
        self.complain(&format!("what the model said in conversation {conversation} is not kept: {why}"));
        let mut unheard = self.unheard.lock().unwrap_or_else(PoisonError::into_inner);
        if MOST <= unheard.len() {
            unheard.clear();
        }
        unheard.insert(conversation.clone(), why);
    }

    /// Returns that what the model said last in a conversation is not kept, if so, once.
    pub(super) fn unheard_before(&self, conversation: &ConversationId) -> Option<String> {
        let why = self.unheard.lock().unwrap_or_else(PoisonError::into_inner).remove(conversation)?;
        Some(format!("what the model said last is not kept: {why}"))
    }

    /// Notes who was asked, so that they can be asked for facts.
    pub(super) fn note(&self, model: Option<&str>, headers: &HeaderMap) {
        let key = self.client_key(headers);
        let asked = model.map(|name| Model { name: name.to_owned(), key: key.map(str::to_owned) });
        if let Some(asked) = asked {
            *self.last_asked.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(asked);
        }
    }
}

impl std::fmt::Debug for ChatProxy {
    /// Says what stands behind it.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ChatProxy").field("upstream", &self.upstream).finish_non_exhaustive()
    }
}

/// Which model somebody asked last, for whoever has something to ask it.
#[derive(Debug, Clone, Default)]
pub struct LastAsked(Arc<Mutex<Option<Model>>>);

/// A model that was asked.
#[derive(Clone, PartialEq, Eq)]
pub struct Model {
    /// What it is called.
    pub name: String,
    /// The key that whoever asked had for it.
    pub key: Option<String>,
}

impl LastAsked {
    /// Returns the model that somebody asked last, and that answered.
    pub fn get(&self) -> Option<Model> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl std::fmt::Debug for Model {
    /// Leaves out the key.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Model").field("name", &self.name).finish_non_exhaustive()
    }
}
