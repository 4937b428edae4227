//! Computing embeddings of memories for semantic search.

use crate::{
    Change, ChangeSet, ContentHash, EmbedError, Embedder, MAX_PASSAGES, Memory, MemoryId, Progress,
    Services, StoreError, TextVector, embedded_passages, embedded_text, is_nonzero, passages,
};

/// Number of passages that the model reads at once, and whose vectors are stored together.
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
    let (kept, unreadable) = embed_listed(services, embedder, wanted, usize::MAX, progress)?;
    Ok(EmbedReport {
        embedded: kept,
        unreadable,
        left: services.store.count_without_vector(embedder.identity())?,
    })
}

/// Computes missing vectors of the newest memories if the model is instant: of as many as have at most `limit` passages together.
///
/// Without a model it does nothing. Finding the memories takes time that grows with the store.
///
/// # Errors
/// As for [`embed()`].
pub fn embed_newest(
    services: &Services,
    limit: usize,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), StoreError> {
    let Some(embedder) = services.embedder.as_deref() else {
        return Ok(());
    };
    let identity = embedder.identity();
    if embedder.is_instant() && 0 < services.store.count_without_vector(identity)? {
        services.store.refresh()?;
        let lacking = services.store.memories_without_vector(identity)?;
        let some = &lacking[..limit.min(lacking.len())];
        embed_listed(services, embedder, some, limit, progress)?;
    }
    Ok(())
}

/// Computes and stores the vectors of memories, until the next one would exceed `limit` passages; returns the number of memories that
/// received vectors, and of those that the model cannot read.
fn embed_listed(
    services: &Services,
    embedder: &dyn Embedder,
    ids: &[MemoryId],
    limit: usize,
    progress: &mut dyn FnMut(Progress),
) -> Result<(u64, u64), StoreError> {
    let total = Some(ids.len() as u64);
    let (mut kept, mut unreadable, mut spent) = (0, 0, 0_usize);
    let (mut batch, mut waiting) = (Vec::new(), 0);
    progress(Progress { done: 0, total });
    for (done, id) in (1..).zip(ids) {
        let loaded = load_memory(services, id)?;
        let count = loaded
            .as_ref()
            .map_or(0, |memory| passages(&memory.content).len());
        let is_last = done == ids.len() || limit < spent.saturating_add(count);
        if spent == 0 || !is_last || spent + count <= limit {
            batch.extend(loaded);
            (spent, waiting) = (spent + count, waiting + count);
        }
        if is_last || BATCH <= waiting {
            let vectors = embed_memories(embedder, &batch.iter().collect::<Vec<_>>())?;
            unreadable += vectors
                .iter()
                .filter(|own| !own.vectors.iter().any(|vector| is_nonzero(vector)))
                .count() as u64;
            kept += services
                .store
                .store_vectors(embedder.identity(), &vectors)?;
            (batch, waiting) = (Vec::new(), 0);
            progress(Progress {
                done: done as u64,
                total,
            });
        }
        if is_last {
            break;
        }
    }
    Ok((kept, unreadable))
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

/// Returns a memory, unless it was deleted or is damaged.
fn load_memory(services: &Services, id: &MemoryId) -> Result<Option<Memory>, StoreError> {
    match services.store.get(id) {
        Ok(stored) => Ok(Some(stored.memory)),
        // Damaged files are reported by the commands that read them.
        Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => Ok(None),
        Err(error) => Err(error),
    }
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
