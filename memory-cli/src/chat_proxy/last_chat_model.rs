//! The model for fact extraction if the settings name none: the one that the last client used.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memory_agent::http::{ClientModel, LastModel};
use memory_agent::model::{ApiKey, ChatSettings, RemoteChat};
use memory_core::{BudgetStatus, ChatAnswer, ChatError, ChatFailure, ChatModel, ChatRequest};

/// The model of the last chat, with the key of its client.
#[derive(Debug)]
pub(super) struct LastChatModel {
    pub(super) base_url: String,
    pub(super) last_asked: LastModel,
    /// Key for clients that send none.
    pub(super) api_key: Option<ApiKey>,
    pub(super) timeout: Duration,
    /// The file of trusted certificate authorities.
    pub(super) certificates: Option<PathBuf>,
    pub(super) opened: Mutex<Option<(ClientModel, Arc<RemoteChat>)>>,
}

impl LastChatModel {
    fn get_or_open(&self) -> Result<Arc<RemoteChat>, ChatError> {
        let asked = self.last_asked.get().ok_or_else(|| {
            let why = "no client has used a model yet, and no model is configured".into();
            ChatError::Unreachable(ChatFailure { why, hint: None })
        })?;
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((model, chat)) = opened.as_ref()
            && *model == asked
        {
            return Ok(Arc::clone(chat));
        }
        let own = asked.key.as_deref().and_then(|key| key.parse().ok());
        let api_key = own.or_else(|| self.api_key.clone());
        let usual = ChatSettings::new(&self.base_url, &asked.name);
        let settings = ChatSettings { api_key, timeout: self.timeout, certificates: self.certificates.clone(), ..usual };
        let chat = Arc::new(RemoteChat::new(settings)?);
        *opened = Some((asked, Arc::clone(&chat)));
        Ok(chat)
    }
}

impl ChatModel for LastChatModel {
    fn answer(&self, request: &ChatRequest) -> Result<ChatAnswer, ChatError> {
        self.get_or_open()?.answer(request)
    }

    fn allowance(&self) -> Result<BudgetStatus, ChatError> {
        Ok(BudgetStatus::default())
    }
}
