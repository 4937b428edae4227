//! The reranking model that the settings name.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use memory_agent::model::{LocalReranker, Patient};
use memory_core::{RerankError, Reranker};

use crate::config::Reranking;

/// Returns the model that the settings name, if they name one, ready to be opened once there is something to read.
pub(crate) fn open_later(settings: &Reranking) -> Option<memory_core::Reranking> {
    let folder = settings.model.value.clone()?;
    let later = Later { folder, opened: OnceLock::new() };
    let reranker = Arc::new(Patient::new(later, settings.timeout.value));
    Some(memory_core::Reranking { reranker, rules: settings.rules() })
}

/// Returns it for whoever has so much patience at most.
pub(crate) fn open_for(settings: &Reranking, patience: Duration) -> Option<Arc<dyn Reranker>> {
    let later = Later { folder: settings.model.value.clone()?, opened: OnceLock::new() };
    Some(Arc::new(Patient::new(later, settings.timeout.value.min(patience))))
}

/// A model that is opened when it is first asked.
#[derive(Debug)]
struct Later {
    folder: PathBuf,
    opened: OnceLock<Result<LocalReranker, RerankError>>,
}

impl Later {
    fn opened(&self) -> Result<&LocalReranker, RerankError> {
        let opened = self.opened.get_or_init(|| LocalReranker::open(&self.folder, None));
        opened.as_ref().map_err(|RerankError { why, hint }| RerankError { why: why.clone(), hint: hint.clone() })
    }
}

impl Reranker for Later {
    fn identity(&self) -> &str {
        self.opened().map_or("unopened", Reranker::identity)
    }

    fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
        self.opened()?.score(query, texts)
    }
}
