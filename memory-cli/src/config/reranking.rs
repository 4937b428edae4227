//! Which model reads the best hits of a search again, if any.

use std::path::{Path, PathBuf};
use std::time::Duration;

use memory_core::ParseError;
use memory_core::rank::{Normalise, RerankRules};
use serde_json::Value;

use super::document::Document;
use super::settings::or_plain;
use super::{ConfigError, Environment, Layer, Setting};
use crate::moments;

/// Which model reads the best hits of a search again, if any, and how.
#[derive(Debug, Clone)]
pub(crate) struct Reranking {
    /// The folder with the model.
    pub model: Setting<Option<PathBuf>>,
    /// How its scores become relevance.
    pub normalise: Setting<Normalise>,
    /// What is less relevant is left out.
    pub threshold: Setting<f32>,
    /// How many hits it is shown at most.
    pub candidates: Setting<usize>,
    /// How many characters of each it is shown at most.
    pub max_characters: Setting<usize>,
    /// How long it is waited for.
    pub timeout: Setting<Duration>,
}

impl Reranking {
    /// Takes it out of the file.
    pub(super) fn take(document: &mut Document, environment: &Environment) -> Result<Self, ConfigError> {
        let path = |text: &str| Ok(Some(environment.whole(Path::new(text.trim()))));
        let mut model = or_plain(document.take("reranking.model", path)?, None);
        if let Some(folder) = &environment.reranking_model {
            model = Setting { value: Some(environment.whole(folder)), from: Layer::Environment };
        }
        let usual = RerankRules::default();
        Ok(Self {
            model,
            normalise: or_plain(document.take("reranking.normalise", str::parse)?, usual.normalise),
            threshold: or_plain(document.take("reranking.threshold", share)?, usual.threshold),
            candidates: or_plain(document.take("reranking.candidates", count)?, usual.candidates),
            max_characters: or_plain(document.take("reranking.max_characters", count)?, usual.characters),
            timeout: or_plain(document.take("reranking.timeout", moments::span)?, Duration::from_secs(10)),
        })
    }

    /// Returns how the model is used.
    pub(crate) fn rules(&self) -> RerankRules {
        RerankRules {
            normalise: self.normalise.value,
            threshold: self.threshold.value,
            candidates: self.candidates.value,
            characters: self.max_characters.value,
        }
    }

    /// Returns every key with its value and where that comes from, in the order of the file.
    pub(super) fn all(&self) -> [(&'static str, (Value, Layer)); 6] {
        let Self { model, normalise, threshold, candidates, max_characters, timeout } = self;
        [
            ("reranking.model", model.show(|path| path.as_ref().map(|path| path.display().to_string()).into())),
            ("reranking.normalise", normalise.show(|normalise| normalise.as_str().into())),
            // With the digits it was written with.
            ("reranking.threshold", threshold.show(|share| share.to_string().parse::<f64>().unwrap_or_default().into())),
            ("reranking.candidates", candidates.show(|count| (*count).into())),
            ("reranking.max_characters", max_characters.show(|count| (*count).into())),
            ("reranking.timeout", timeout.show(|span| moments::span_text(*span).into())),
        ]
    }
}

fn share(text: &str) -> Result<f32, ParseError> {
    let share = text.trim().parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| ParseError::new(text, "a number from 0 to 1"))
}

fn count(text: &str) -> Result<usize, ParseError> {
    let count = text.trim().parse().ok().filter(|count| 0 < *count);
    count.ok_or_else(|| ParseError::new(text, "a whole number from 1 on"))
}
