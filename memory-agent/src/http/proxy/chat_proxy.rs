//! The shared state of the chat proxy.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, HeaderValue};
use memory_core::conversation::{
    ConversationId, Conversations, JobQueue, RecallResult, RecallRules, format_memories,
};
use memory_core::text::token_count;
use memory_core::{
    Embedder, PrincipalAccess, RecallInterface, RecallLedger, RecallRecord, RecalledId, Services,
    StoreError, View, record_recall,
};
use tokio::sync::Semaphore;

use super::turn_writer::{ProxyObserver, TurnWriter};
use super::upstream::Upstream;
use crate::http::HttpLimits;
use crate::http::body_reader::BodyBudget;

/// A chat proxy with memory. A background thread stores turns until [`ChatProxy::stop`].
pub struct ChatProxy {
    pub(super) conversations: Conversations,
    pub(super) upstream: Upstream,
    /// The name of this proxy in the hop header, used to detect loops.
    pub(super) name: HeaderValue,
    pub(super) rules: ProxyRules,
    pub(super) last_asked: LastModel,
    pub(super) scribe: TurnWriter,
    pub(super) room: BodyBudget,
    pub(super) workers: Arc<Semaphore>,
    told: Arc<dyn ProxyObserver>,
    client_embedder: Option<ClientEmbedder>,
    home: Option<OpenHome>,
    recall_ledger: Option<Arc<dyn RecallLedger>>,
    /// The name of the principal whose conversations these are, if it is not the user of the node.
    principal: Option<String>,
    open_principal: Option<OpenPrincipalChats>,
    /// The proxies of principals, by their names.
    opened: Mutex<HashMap<String, Arc<ChatProxy>>>,
    /// Warnings about degraded recall that were already reported.
    known: Mutex<Vec<String>>,
    /// Why the last response of a conversation is not stored; reported with the next response.
    unheard: Mutex<HashMap<ConversationId, &'static str>>,
}

/// Configuration of recall in a proxy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProxyRules {
    /// How memories are selected.
    pub recall: RecallRules,
    /// Maximum time for recall; after it the chat continues without memories.
    pub patience: Duration,
    /// Whether clients must send an access token of this proxy, which is then not forwarded upstream.
    pub has_token: bool,
}

/// An embedding model of the upstream server that is called with the API keys of clients.
///
/// It returns the model as called with a key; `None` if the text is not a key.
pub type ClientEmbedder = Arc<dyn Fn(&str) -> Option<Arc<dyn Embedder>> + Send + Sync>;

/// Opens the home whose standing instructions and preferences every chat receives.
///
/// It returns `None` while there is no home. It is called on a blocking thread for each chat, so it should return the
/// same services each time.
pub type OpenHome = Arc<dyn Fn() -> Result<Option<Services>, StoreError> + Send + Sync>;

/// The conversations of a principal who calls the proxy with a token.
pub struct PrincipalChats {
    /// The services of the conversations.
    pub conversations: Conversations,
    /// The jobs for fact extraction.
    pub queue: Arc<dyn JobQueue>,
    /// Receives the model of the last chat of the principal.
    pub last_asked: LastModel,
    /// The observer of the conversations.
    pub told: Arc<dyn ProxyObserver>,
}

impl std::fmt::Debug for PrincipalChats {
    /// Prints the services only.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("PrincipalChats")
            .field("conversations", &self.conversations)
            .finish_non_exhaustive()
    }
}

/// Opens the conversations of a principal. It is called once for each principal, and must not block.
pub type OpenPrincipalChats = Box<dyn Fn(&PrincipalAccess) -> PrincipalChats + Send + Sync>;

/// Maximum number of concurrent recalls.
///
/// Others wait, and continue without memories if that takes too long.
const MAX_RECALLS: usize = 16;

/// Maximum size of a chat request, in bytes; messages may contain images.
///
/// All requests that are read at the same time share `MAX_TOTAL` bytes.
pub(super) const LONGEST: usize = 64 << 20;
const MAX_TOTAL: usize = 128 << 20;

/// Maximum number of remembered warnings.
const MAX_WARNINGS: usize = 100;

impl ChatProxy {
    /// Creates a proxy for `upstream` that stores turns in `conversations`.
    ///
    /// Jobs for fact extraction are added to `queue`.
    pub fn new(
        conversations: Conversations,
        queue: Arc<dyn JobQueue>,
        upstream: Upstream,
        rules: ProxyRules,
        last_asked: LastModel,
        told: Arc<dyn ProxyObserver>,
    ) -> Self {
        let scribe = TurnWriter::start(conversations.clone(), queue, Arc::clone(&told));
        let room = BodyBudget::new(HttpLimits {
            body: LONGEST,
            bodies: MAX_TOTAL,
            ..HttpLimits::default()
        });
        let workers = Arc::new(Semaphore::new(MAX_RECALLS));
        let name = HeaderValue::try_from(conversations.ids.operation_id().as_str());
        let name = name.unwrap_or(HeaderValue::from_static("memory"));
        let (opened, known, unheard) = Default::default();
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
            home: None,
            recall_ledger: None,
            principal: None,
            open_principal: None,
            opened,
            known,
            unheard,
        }
    }

    /// Calls the embedding model with the API key of the client, if a chat has one.
    #[must_use]
    pub fn with_client_embedder(mut self, embedder: ClientEmbedder) -> Self {
        self.client_embedder = Some(embedder);
        self
    }

    /// Gives every chat the standing instructions and preferences of a home that it may see.
    #[must_use]
    pub fn with_home(mut self, open: OpenHome) -> Self {
        self.home = Some(open);
        self
    }

    /// Records the memories that each chat receives in this ledger.
    #[must_use]
    pub fn with_recall_ledger(mut self, ledger: Arc<dyn RecallLedger>) -> Self {
        self.recall_ledger = Some(ledger);
        self
    }

    /// Serves principals too, each with the conversations that `open` returns for it; without it, they are refused.
    #[must_use]
    pub fn with_principals(mut self, open: OpenPrincipalChats) -> Self {
        self.open_principal = Some(open);
        self
    }

    /// Returns the proxy with the conversations of a principal; `None` if principals are not served.
    ///
    /// It has the limits of this proxy. Requests of principals have no API key for the upstream server, so they use that of the proxy.
    pub(super) fn for_principal(&self, principal: &PrincipalAccess) -> Option<Arc<Self>> {
        let open = self.open_principal.as_ref()?;
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let proxy = opened.entry(principal.name.clone()).or_insert_with(|| {
            let PrincipalChats {
                conversations,
                queue,
                last_asked,
                told,
            } = open(principal);
            Arc::new(Self {
                name: self.name.clone(),
                room: self.room.clone(),
                workers: Arc::clone(&self.workers),
                home: self.home.clone(),
                recall_ledger: self.recall_ledger.clone(),
                principal: Some(principal.name.clone()),
                ..Self::new(
                    conversations,
                    queue,
                    self.upstream.clone(),
                    self.rules,
                    last_asked,
                    told,
                )
            })
        });
        Some(Arc::clone(proxy))
    }

    /// Records the memories that a chat receives with `message`. Blocks.
    pub(super) fn record_recall(
        &self,
        conversation: &ConversationId,
        message: &str,
        recalled: &RecallResult,
    ) {
        let Some(ledger) = &self.recall_ledger else {
            return;
        };
        let standing = recalled.standing.iter().map(RecalledId::from);
        let record = RecallRecord {
            at: self.conversations.clock.now(),
            agent: self.principal.clone().unwrap_or_default(),
            session: Some(conversation.to_string()),
            project: None,
            interface: RecallInterface::Proxy.as_str().to_owned(),
            tool: "chat".to_owned(),
            query: Some(message.to_owned()),
            memories: standing
                .chain(recalled.memories.iter().map(RecalledId::from))
                .collect(),
            tokens: token_count(&format_memories(recalled, &self.conversations.clock.zone()))
                as u64,
        };
        record_recall(ledger.as_ref(), record);
    }

    /// Returns whether recalls are recorded.
    pub(super) fn has_recall_ledger(&self) -> bool {
        self.recall_ledger.is_some()
    }

    /// Returns the services of the home, if there is one, restricted to what `principal` may see.
    pub(super) fn open_home(
        &self,
        principal: Option<&PrincipalAccess>,
    ) -> Result<Option<Services>, StoreError> {
        let home = self.home.as_ref().map_or(Ok(None), |open| open())?;
        Ok(match principal {
            Some(principal) => {
                let view = View {
                    principal: Some(principal.clone()),
                    ..View::default()
                };
                home.map(|home| home.restrict_to(&view))
            }
            None => home,
        })
    }

    /// Returns the conversation services for a request with these headers.
    pub(super) fn conversations_for(&self, headers: &HeaderMap) -> Conversations {
        let mut conversations = self.conversations.clone();
        let own = self.client_embedder.as_ref().zip(self.client_key(headers));
        if let Some(embedder) = own.and_then(|(embedder, key)| embedder(key)) {
            conversations.embedder = Some(embedder);
        }
        conversations
    }

    /// Returns the API key of a client for the upstream server.
    ///
    /// If clients must send a token, the header contains the token instead, and the result is `None`.
    fn client_key<'h>(&self, headers: &'h HeaderMap) -> Option<&'h str> {
        let value = headers
            .get(AUTHORIZATION)
            .filter(|_| !self.rules.has_token)?
            .to_str()
            .ok()?;
        let (scheme, key) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("Bearer").then(|| key.trim())
    }

    /// Returns the URL of the upstream server.
    pub fn upstream_url(&self) -> String {
        self.upstream.base_url()
    }

    /// Returns the location of the conversation store.
    pub fn store_location(&self) -> String {
        self.conversations.store.location()
    }

    /// Writes all queued turns and stops the writers. Returns the number of turns that could not be written.
    pub fn stop(&self) -> usize {
        let opened: Vec<_> = self
            .opened
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .cloned()
            .collect();
        self.scribe.stop() + opened.iter().map(|proxy| proxy.stop()).sum::<usize>()
    }

    /// Returns why background extraction is failing, if it is; each reason once.
    pub(super) fn extraction_failure(&self) -> Option<String> {
        self.told.extraction_failure()
    }

    /// Reports why recall is degraded; each reason once.
    pub(super) fn report_once(&self, why: &str) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.iter().all(|own| own != why) {
            self.told.report_failure(why);
            if MAX_WARNINGS <= known.len() {
                known.clear();
            }
            known.push(why.to_owned());
        }
    }

    /// Reports that a response is not stored, and adds a warning to the next response of the conversation.
    pub(super) fn report_unstored(&self, conversation: &ConversationId, why: &'static str) {
        self.report_once(&format!(
            "the response in conversation {conversation} is not stored: {why}"
        ));
        let mut unheard = self.unheard.lock().unwrap_or_else(PoisonError::into_inner);
        if MAX_WARNINGS <= unheard.len() {
            unheard.clear();
        }
        unheard.insert(conversation.clone(), why);
    }

    /// Returns and clears the warning that the previous response of a conversation was not stored.
    pub(super) fn take_unstored_warning(&self, conversation: &ConversationId) -> Option<String> {
        let why = self
            .unheard
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(conversation)?;
        Some(format!("the previous response is not stored: {why}"))
    }

    /// Records the model and key of a request, for use by background extraction.
    pub(super) fn record_model(&self, model: Option<&str>, headers: &HeaderMap) {
        let key = self.client_key(headers);
        let asked = model.map(|name| ClientModel {
            name: name.to_owned(),
            key: key.map(str::to_owned),
        });
        if let Some(asked) = asked {
            *self
                .last_asked
                .0
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Some(asked);
        }
    }
}

impl std::fmt::Debug for ChatProxy {
    /// Prints the upstream server only.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ChatProxy")
            .field("upstream", &self.upstream)
            .finish_non_exhaustive()
    }
}

/// The model of the last successful chat, for background requests.
#[derive(Debug, Clone, Default)]
pub struct LastModel(Arc<Mutex<Option<ClientModel>>>);

/// A model with the key of the client that used it.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientModel {
    /// The name of the model.
    pub name: String,
    /// The API key of the client.
    pub key: Option<String>,
}

impl LastModel {
    /// Returns the model of the last chat that got a response.
    pub fn get(&self) -> Option<ClientModel> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl std::fmt::Debug for ClientModel {
    /// Leaves out the key.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Model")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
