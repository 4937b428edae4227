//! The reranking model in the settings.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use memory_agent::model::{LocalReranker, TimeoutReranker};
use memory_core::{RerankError, Reranker};

use crate::config::RerankingSettings;

/// Returns the configured model, if any; it is opened on first use.
pub(crate) fn open_lazily(settings: &RerankingSettings) -> Option<memory_core::Reranking> {
    let folder = settings.model.value.clone()?;
    let later = LazyReranker {
        folder,
        opened: OnceLock::new(),
    };
    let reranker = Arc::new(TimeoutReranker::new(later, settings.timeout.value));
    Some(memory_core::Reranking {
        reranker,
        rules: settings.rules(),
    })
}

/// Returns the configured model with a timeout of at most `patience`.
pub(crate) fn open_with_timeout(
    settings: &RerankingSettings,
    patience: Duration,
) -> Option<Arc<dyn Reranker>> {
    let later = LazyReranker {
        folder: settings.model.value.clone()?,
        opened: OnceLock::new(),
    };
    Some(Arc::new(TimeoutReranker::new(
        later,
        settings.timeout.value.min(patience),
    )))
}

/// A model that is opened on first use.
#[derive(Debug)]
struct LazyReranker {
    folder: PathBuf,
    opened: OnceLock<Result<LocalReranker, RerankError>>,
}

impl LazyReranker {
    fn get_or_open(&self) -> Result<&LocalReranker, RerankError> {
        let opened = self
            .opened
            .get_or_init(|| LocalReranker::open(&self.folder, None));
        opened
            .as_ref()
            .map_err(|RerankError { why, hint }| RerankError {
                why: why.clone(),
                hint: hint.clone(),
            })
    }
}

impl Reranker for LazyReranker {
    fn identity(&self) -> &str {
        self.get_or_open().map_or("unopened", Reranker::identity)
    }

    fn score(&self, query: &str, texts: &[&str]) -> Result<Vec<f32>, RerankError> {
        self.get_or_open()?.score(query, texts)
    }
}
