//! Computing embeddings of memories for semantic search.

use crate::{
    Change, ChangeSet, ContentHash, EmbedError, Embedder, MAX_PASSAGES, Memory, MemoryId, Progress,
    Services, StoreError, TextVector, embedded_passages, embedded_text, is_nonzero, passages,
};

/// Number of memories that are stored in one batch, and of passages that the model reads at once.
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

/// Computes missing vectors for the passages of the current texts of memories, newest first, up to `limit` memories.
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
        let memories = load_memories(services, ids)?;
        let vectors = embed_memories(embedder, &memories.iter().collect::<Vec<_>>())?;
        unreadable += vectors
            .iter()
            .filter(|own| !own.vectors.iter().any(|vector| is_nonzero(vector)))
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
        left: services.store.count_without_vector(embedder.identity())?,
    })
}

/// Computes all missing vectors if the model is instant, and at most `limit` memories lack one.
///
/// Without a model it does nothing.
///
/// # Errors
/// As for [`embed()`].
pub fn embed_few(
    services: &Services,
    limit: u64,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), StoreError> {
    let Some(embedder) = services.embedder.as_deref() else {
        return Ok(());
    };
    if embedder.is_instant() {
        let missing = services.store.count_without_vector(embedder.identity())?;
        if (1..=limit).contains(&missing) {
            embed(services, progress, None)?;
        }
    }
    Ok(())
}

/// Embeds the texts that a change set wrote, if the model is instant and they have few passages.
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
    let memories: Vec<&Memory> = set
        .changes
        .iter()
        .filter_map(Change::memory)
        .filter(|memory| memory.proposal.is_none())
        .collect();
    let count: usize = match memories.len() {
        1..=BATCH => memories
            .iter()
            .map(|memory| passages(&memory.content).len())
            .sum(),
        _ => return,
    };
    if count <= MAX_PASSAGES
        && let Ok(vectors) = embed_memories(embedder, &memories)
    {
        drop(services.store.store_vectors(embedder.identity(), &vectors));
    }
}

/// Returns the vectors of the passages of memories.
fn embed_memories(
    embedder: &dyn Embedder,
    memories: &[&Memory],
) -> Result<Vec<TextVector>, EmbedError> {
    let passages: Vec<Vec<String>> = memories
        .iter()
        .map(|memory| embedded_passages(memory))
        .collect();
    let all: Vec<&str> = passages.iter().flatten().map(String::as_str).collect();
    let mut computed = Vec::with_capacity(all.len());
    for texts in all.chunks(BATCH) {
        computed.extend(embedder.embed(texts)?);
    }
    let mut computed = computed.into_iter();
    let vectors = memories
        .iter()
        .zip(&passages)
        .map(|(memory, passages)| TextVector {
            id: memory.id,
            text: ContentHash::of(&embedded_text(memory)),
            vectors: computed.by_ref().take(passages.len()).collect(),
        });
    Ok(vectors.collect())
}

/// Returns memories, without those that were deleted or are damaged.
fn load_memories(services: &Services, ids: &[MemoryId]) -> Result<Vec<Memory>, StoreError> {
    let mut memories = Vec::with_capacity(ids.len());
    for id in ids {
        match services.store.get(id) {
            Ok(stored) => memories.push(stored.memory),
            // Damaged files are reported by the commands that read them.
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(memories)
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
