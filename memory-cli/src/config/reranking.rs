//! Settings of the reranking model.

use std::path::{Path, PathBuf};
use std::time::Duration;

use memory_core::ParseError;
use memory_core::rank::{RerankRules, ScoreNormalization};
use serde_json::Value;

use super::document::SettingsDocument;
use super::setting::or_default;
use super::{ConfigError, Environment, Setting, SettingsLayer};
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
        let mut model = or_default(document.take("reranking.model", path)?, None);
        if let Some(folder) = &environment.reranking_model {
            model = Setting {
                value: Some(environment.absolute_path(folder)),
                from: SettingsLayer::Environment,
            };
        }
        let usual = RerankRules::default();
        Ok(Self {
            model,
            normalise: or_default(
                document.take("reranking.normalise", str::parse)?,
                usual.normalise,
            ),
            threshold: or_default(
                document.take("reranking.threshold", parse_share)?,
                usual.threshold,
            ),
            candidates: or_default(
                document.take("reranking.candidates", count)?,
                usual.candidates,
            ),
            max_characters: or_default(
                document.take("reranking.max_characters", count)?,
                usual.characters,
            ),
            timeout: or_default(
                document.take("reranking.timeout", datetime::parse_timeout)?,
                Duration::from_secs(10),
            ),
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

    /// Returns every key with its value and layer, in file order.
    pub(super) fn all(&self) -> [(&'static str, (Value, SettingsLayer)); 6] {
        let Self {
            model,
            normalise,
            threshold,
            candidates,
            max_characters,
            timeout,
        } = self;
        [
            (
                "reranking.model",
                model.display(|path| path.as_ref().map(|path| path.display().to_string()).into()),
            ),
            (
                "reranking.normalise",
                normalise.display(|normalise| normalise.as_str().into()),
            ),
            // Conversion through text preserves the original digits.
            (
                "reranking.threshold",
                threshold
                    .display(|share| share.to_string().parse::<f64>().unwrap_or_default().into()),
            ),
            (
                "reranking.candidates",
                candidates.display(|count| (*count).into()),
            ),
            (
                "reranking.max_characters",
                max_characters.display(|count| (*count).into()),
            ),
            (
                "reranking.timeout",
                timeout.display(|span| datetime::format_duration(*span).into()),
            ),
        ]
    }
}

fn parse_share(text: &str) -> Result<f32, ParseError> {
    let share = text
        .trim()
        .parse()
        .ok()
        .filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| ParseError::new(text, "a number from 0 to 1"))
}

fn count(text: &str) -> Result<usize, ParseError> {
    let count = text.trim().parse().ok().filter(|count| 0 < *count);
    count.ok_or_else(|| ParseError::new(text, "a whole number of at least 1"))
}
