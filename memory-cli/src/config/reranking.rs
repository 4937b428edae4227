//! Settings of the reranking model.

use std::path::{Path, PathBuf};
use std::time::Duration;

use memory_core::ParseError;
use memory_core::rank::{RerankRules, ScoreNormalization};

use super::document::{SettingsDocument, parse_share};
use super::setting::{show, show_optional_path, show_share, show_span};
use super::{ConfigError, Environment, Setting};
use crate::datetime;

/// The settings of the reranking model, which rescores the best hits of a search.
#[derive(Debug, Clone)]
pub(crate) struct RerankingSettings {
    /// The folder of the model.
    pub model: Setting<Option<PathBuf>>,
    /// Conversion of the model's scores to relevance.
    pub normalise: Setting<ScoreNormalization>,
    /// Minimum relevance.
    pub threshold: Setting<f32>,
    /// Maximum number of hits that the model scores.
    pub candidates: Setting<usize>,
    /// Maximum number of characters of each hit that the model reads.
    pub max_characters: Setting<usize>,
    /// Timeout of the model.
    pub timeout: Setting<Duration>,
}

impl RerankingSettings {
    /// Takes these settings from the document; the environment has precedence.
    pub(super) fn take(
        document: &mut SettingsDocument,
        environment: &Environment,
    ) -> Result<Self, ConfigError> {
        let path = |text: &str| Ok(Some(environment.absolute_path(Path::new(text.trim()))));
        let variable = environment
            .reranking_model
            .as_deref()
            .map(|folder| Some(environment.absolute_path(folder)));
        let usual = RerankRules::default();
        Ok(Self {
            model: document.read_below(
                variable,
                "reranking.model",
                path,
                None,
                show_optional_path,
            )?,
            normalise: document.read(
                "reranking.normalise",
                str::parse,
                usual.normalise,
                |normalise| normalise.as_str().into(),
            )?,
            threshold: document.read(
                "reranking.threshold",
                parse_share,
                usual.threshold,
                show_share,
            )?,
            candidates: document.read("reranking.candidates", count, usual.candidates, show)?,
            max_characters: document.read(
                "reranking.max_characters",
                count,
                usual.characters,
                show,
            )?,
            timeout: document.read(
                "reranking.timeout",
                datetime::parse_timeout,
                Duration::from_secs(10),
                show_span,
            )?,
        })
    }

    /// Returns the rules for reranking.
    pub(crate) fn rules(&self) -> RerankRules {
        RerankRules {
            normalise: self.normalise.value,
            threshold: self.threshold.value,
            candidates: self.candidates.value,
            characters: self.max_characters.value,
        }
    }
}

fn count(text: &str) -> Result<usize, ParseError> {
    let count = text.trim().parse().ok().filter(|count| 0 < *count);
    count.ok_or_else(|| ParseError::new(text, "a whole number of at least 1"))
}
