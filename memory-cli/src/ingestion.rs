//! Ingestion into the memories of a home and the sessions of its history.

use std::path::Path;
use std::sync::Arc;

use memory_agent::instance::{self, InstanceHandle};
use memory_core::instance::InstanceError;
use memory_core::instance::history::Messages;
use memory_core::{IngestOptions, IngestReport, Progress, Services};
use memory_ingest::{SourceName, SourceOptions};

use crate::config::Settings;
use crate::failure::Failure;
use crate::instances::InstanceRegistry;

/// The stores that an ingestion writes to.
pub(crate) struct Ingestion {
    services: Services,
    sessions: Messages,
}

impl Ingestion {
    /// Opens the history instance `instance`, which receives conversations.
    pub(crate) fn open(services: &Services, instance: &str, settings: &Arc<Settings>) -> Result<Self, Failure> {
        let registry = InstanceRegistry::open(settings)?;
        match registry.open_instance(instance::backend("history")?, &instance.parse()?)? {
            InstanceHandle::History(sessions) => Ok(Self { services: services.clone(), sessions }),
            _ => Err(InstanceError::InstanceNotFound { instance: format!("history/{instance}") }.into()),
        }
    }

    /// Ingests the files of `source` at `path`. The sessions of `options` are replaced by those of the instance.
    pub(crate) fn run(
        &self,
        (source, path): (SourceName, &Path),
        source_options: &SourceOptions,
        options: &IngestOptions<'_>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<IngestReport, Failure> {
        let source = memory_ingest::open(source, path, source_options)?;
        let options = IngestOptions { sessions: Some(&self.sessions), ..*options };
        Ok(memory_core::ingest(&self.services, source.as_ref(), &options, progress)?)
    }
}
