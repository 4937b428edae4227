//! The embedding model with a cache.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use memory_agent::model::{BundledEmbedder, LocalEmbedder};
use memory_core::{EmbedError, Embedder, Embedding};

use crate::Outcome;
use crate::data_set::{DataSet, text_field};

/// An embedding model that caches the vector of each text.
///
/// All tables send the same queries, and every copy of a conversation has the same texts.
#[derive(Debug)]
pub(crate) struct CachedModel {
    embedder: Box<dyn Embedder>,
    known: Mutex<HashMap<String, Embedding>>,
}

impl CachedModel {
    pub(crate) fn open(folder: &Path, sets: &[DataSet]) -> Outcome<Self> {
        let embedder: Box<dyn Embedder> = if folder == Path::new("built-in") {
            Box::new(BundledEmbedder::new(None))
        } else {
            Box::new(LocalEmbedder::open(folder, None)?)
        };
        let all: Vec<&str> = sets
            .iter()
            .flat_map(|data| &data.turns)
            .map(|turn| text_field(turn, "text").trim())
            .collect();
        let vectors = embedder.embed(&all)?;
        let known = all.into_iter().map(str::to_owned).zip(vectors).collect();
        Ok(Self {
            embedder,
            known: Mutex::new(known),
        })
    }
}

impl Embedder for CachedModel {
    fn identity(&self) -> &str {
        self.embedder.identity()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let unknown: Vec<&str> = texts
            .iter()
            .map(|text| text.trim())
            .filter(|text| !known.contains_key(*text))
            .collect();
        if !unknown.is_empty() {
            let vectors = self.embedder.embed(&unknown)?;
            known.extend(unknown.into_iter().map(str::to_owned).zip(vectors));
        }
        Ok(texts
            .iter()
            .map(|text| known[text.trim()].clone())
            .collect())
    }
}
