//! The conversations of principals who call the proxy with their tokens.

use std::sync::Arc;

use memory_agent::http::{LastModel, PrincipalChats};
use memory_agent::model::ApiKey;
use memory_core::conversation::{Conversations, JobQueue};
use memory_core::{Embedder, PrincipalAccess};
use memory_dream::conversation::ProcessRules;
use memory_store::EventLog;
use memory_store::conversation::JobFile;
use memory_store::postgres::Database;

use super::models::extraction_model;
use super::worker::{WorkerConfig, WorkerStatus, Workers};
use crate::config::Settings;
use crate::conversations;
use crate::shared_store::principal_folder;

/// Opens the conversations of each principal as a replica of those in the database.
pub(super) struct PrincipalChatsOpener {
    pub(super) settings: Settings,
    pub(super) database: Arc<Database>,
    pub(super) base_url: String,
    /// The key for the requests of principals, who have none.
    pub(super) api_key: Option<ApiKey>,
    /// The services of the conversations of the user of the node.
    pub(super) conversations: Conversations,
    pub(super) background_embedder: Option<Arc<dyn Embedder>>,
    pub(super) rules: ProcessRules,
    pub(super) log: Arc<EventLog>,
    pub(super) workers: Workers,
}

impl PrincipalChatsOpener {
    /// Opens the conversations of a principal, and starts a thread that extracts facts from them.
    pub(super) fn open(&self, principal: &PrincipalAccess) -> PrincipalChats {
        let (settings, last_asked) = (&self.settings, LastModel::default());
        let place = principal_folder(settings, principal);
        let store = Arc::new(conversations::open_of_principal(
            settings,
            &self.database,
            principal,
        ));
        let conversations = Conversations {
            store,
            ..self.conversations.clone()
        };
        let (key, clock) = (self.api_key.clone(), &conversations.clock);
        let chat = extraction_model(settings, &self.base_url, &place, &last_asked, key, clock);
        let queue: Arc<dyn JobQueue> = Arc::new(JobFile::new(&place));
        let told = Arc::new(WorkerStatus::new(Arc::clone(&self.log)));
        self.workers.spawn(WorkerConfig {
            conversations: Conversations {
                embedder: self.background_embedder.clone(),
                chat: Some(chat),
                ..conversations.clone()
            },
            queue: Arc::clone(&queue),
            rules: self.rules.clone(),
            prompts: vec![settings.root.value.join("prompts")],
            last_asked: (!settings.llm.is_named()).then(|| last_asked.clone()),
            told: Arc::clone(&told),
        });
        PrincipalChats {
            conversations,
            queue,
            last_asked,
            told,
        }
    }
}
