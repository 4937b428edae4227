//! Computing embeddings of memories for semantic search.

use crate::embeddings::embedded_text;
use crate::{
    Change, ChangeSet, ContentHash, EmbedError, Embedder, MemoryId, Progress, Services, StoreError,
    TextVector, is_nonzero,
};

/// Number of texts that are embedded and stored in one batch.
const BATCH: usize = 32;

/// The result of [`embed()`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EmbedReport {
    /// Number of memories that received a vector.
    pub embedded: u64,
    /// Number of texts among them that the model cannot read, so that their vectors are zero.
    pub unreadable: u64,
    /// Number of memories that still have no vector.
    pub left: u64,
}

/// Computes missing vectors for the current texts of memories, newest first, up to `limit` memories.
///
/// Each batch is stored before the next one starts, so the next run continues after an interruption. No lock is held
/// while the model runs.
///
/// # Errors
/// [`StoreError::NoModel`]; [`StoreError::Embed`] if the model fails; or an error of the store.
pub fn embed(
    services: &Services,
    progress: &mut dyn FnMut(Progress),
    limit: Option<usize>,
) -> Result<EmbedReport, StoreError> {
    let embedder = services.embedder.as_deref().ok_or(StoreError::NoModel)?;
    services.store.refresh()?;
    let lacking = services
        .store
        .memories_without_vector(embedder.identity())?;
    let wanted = &lacking[..limit.map_or(lacking.len(), |limit| limit.min(lacking.len()))];
    let total = Some(wanted.len() as u64);
    let (mut kept, mut unreadable, mut done) = (0, 0, 0);
    progress(Progress { done, total });
    for ids in wanted.chunks(BATCH) {
        let texts = load_texts(services, ids)?;
        let vectors = embed_texts(embedder, &texts)?;
        unreadable += vectors
            .iter()
            .filter(|vector| !is_nonzero(&vector.vector))
            .count() as u64;
        kept += services
            .store
            .store_vectors(embedder.identity(), &vectors)?;
        done += ids.len() as u64;
        progress(Progress { done, total });
    }
    Ok(EmbedReport {
        embedded: kept,
        unreadable,
        left: services
            .store
            .memories_without_vector(embedder.identity())?
            .len() as u64,
    })
}

/// Embeds the texts that a change set wrote, if the model is instant and the texts are few.
///
/// Vectors are derived, so an error only leaves the memories without vectors.
pub(crate) fn embed_written(services: &Services, set: &ChangeSet) {
    let Some(embedder) = services
        .embedder
        .as_deref()
        .filter(|model| model.is_instant())
    else {
        return;
    };
    let texts: Vec<(MemoryId, String)> = set
        .changes
        .iter()
        .filter_map(Change::memory)
        .filter(|memory| memory.proposal.is_none())
        .map(|memory| (memory.id, embedded_text(memory)))
        .collect();
    if (1..=BATCH).contains(&texts.len())
        && let Ok(vectors) = embed_texts(embedder, &texts)
    {
        drop(services.store.store_vectors(embedder.identity(), &vectors));
    }
}

/// Returns the vectors of the texts of memories.
fn embed_texts(
    embedder: &dyn Embedder,
    texts: &[(MemoryId, String)],
) -> Result<Vec<TextVector>, EmbedError> {
    let all: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
    let vectors = embedder.embed(&all)?;
    let vectors = texts
        .iter()
        .zip(vectors)
        .map(|((id, text), vector)| TextVector {
            id: *id,
            text: ContentHash::of(text),
            vector,
        });
    Ok(vectors.collect())
}

/// Returns the texts of memories, without those that were deleted or are damaged.
fn load_texts(
    services: &Services,
    ids: &[MemoryId],
) -> Result<Vec<(MemoryId, String)>, StoreError> {
    let mut texts = Vec::with_capacity(ids.len());
    for id in ids {
        match services.store.get(id) {
            Ok(stored) => texts.push((*id, embedded_text(&stored.memory))),
            // Damaged files are reported by the commands that read them.
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::testing::services;
    use crate::{Draft, Embedding, MemStore, SecretPolicy, write};

    /// A model that is instant or not.
    #[derive(Debug)]
    struct SwitchEmbedder(bool);

    impl Embedder for SwitchEmbedder {
        fn identity(&self) -> &'static str {
            "switch"
        }

        fn is_instant(&self) -> bool {
            self.0
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
            Ok(vec![vec![1.0, 0.0]; texts.len()])
        }
    }

    #[test]
    fn a_write_stores_its_vector_if_the_model_is_instant() {
        for is_instant in [true, false] {
            let services = Services {
                embedder: Some(Arc::new(SwitchEmbedder(is_instant))),
                ..services(Arc::new(MemStore::default()))
            };
            write(&services, Draft::new("green tea"), SecretPolicy::Refuse).expect("it is kept");
            let missing = services.store.memories_without_vector("switch");
            assert_eq!(
                missing.expect("a list").is_empty(),
                is_instant,
                "{is_instant}"
            );
        }
    }
}
