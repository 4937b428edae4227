//! Ingestion into the memories of a home and the sessions of its history.

use std::path::Path;
use std::sync::Arc;

use memory_agent::instance::{self, InstanceHandle};
use memory_core::instance::InstanceError;
use memory_core::instance::history::Messages;
use memory_core::{IngestOptions, IngestReport, Progress, Services};
use memory_dream::conversation::{ConversationPrompts, ModelFactExtractor};
use memory_ingest::{SourceName, SourceOptions};

use crate::config::Settings;
use crate::failure::Failure;
use crate::instances::InstanceRegistry;

/// The stores that an ingestion writes to.
pub(crate) struct Ingestion {
    services: Services,
    sessions: Messages,
    /// Draws facts from conversations, if that is requested.
    extractor: Option<ModelFactExtractor>,
}

/// Opens the history instance `instance`.
pub(crate) fn open_history(instance: &str, settings: &Arc<Settings>) -> Result<Messages, Failure> {
    let registry = InstanceRegistry::open(settings)?;
    match registry.open_instance(instance::backend("history")?, &instance.parse()?)? {
        InstanceHandle::History(messages) => Ok(messages),
        _ => Err(InstanceError::InstanceNotFound {
            instance: format!("history/{instance}"),
        }
        .into()),
    }
}

impl Ingestion {
    /// Opens the history instance `instance`, which receives conversations.
    pub(crate) fn open(
        services: &Services,
        instance: &str,
        settings: &Arc<Settings>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            services: services.clone(),
            sessions: open_history(instance, settings)?,
            extractor: None,
        })
    }

    /// Returns the ingestion with a language model that draws facts from conversations.
    pub(crate) fn with_extraction(self, settings: &Settings) -> Result<Self, Failure> {
        let Some(chat) = self.services.chat.clone() else {
            let hint = "name one with `memory config set llm.model NAME`; `memory config init` creates a file that explains it";
            return Err(Failure::usage(
                "no language model is configured, which --extract requires",
                hint,
            ));
        };
        let folder = settings.root.value.join("prompts");
        let prompts = ConversationPrompts::with(&|name| {
            std::fs::read_to_string(folder.join(format!("{name}.md"))).ok()
        });
        Ok(Self {
            extractor: Some(ModelFactExtractor { chat, prompts }),
            ..self
        })
    }

    /// Ingests the files of `source` at `path`. The stores and the extractor of `options` are those of this ingestion.
    pub(crate) fn run(
        &self,
        (source, path): (SourceName, &Path),
        source_options: &SourceOptions,
        options: &IngestOptions<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<IngestReport, Failure> {
        let source = memory_ingest::open(source, path, source_options)?;
        let extractor = self.extractor.as_ref().map(|extractor| extractor as _);
        let options = IngestOptions {
            sessions: Some(&self.sessions),
            extractor,
            ..*options
        };
        Ok(memory_core::ingest(
            &self.services,
            source.as_ref(),
            &options,
            progress,
        )?)
    }
}
