//! Computing embeddings of memories for semantic search.

use std::borrow::Borrow;

use chrono::{DateTime, Utc};

use crate::{
    Change, ChangeSet, ContentHash, EmbedError, Embedder, Embedding, Filter, ListOrder,
    MAX_PASSAGES, Memory, MemoryId, MemoryStore, PageRequest, Progress, Services, StoreError,
    embedded_passages, is_nonzero, passages,
};

/// Number of passages that the model reads at once, and whose vectors are stored together.
const BATCH: usize = 32;

/// Maximum number of passages that a search embeds itself, in about 0.1 s.
const MAX_EMBEDDED_BY_SEARCH: usize = 32;

/// Maximum number of memories of a store in which a search looks for those without a vector, in about 20 ms.
pub(crate) const MAX_SCANNED: u64 = 5_000;

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
    match services.embedder.as_deref() {
        Some(embedder) => embed_newest_with(services, embedder, limit, progress),
        None => Ok(()),
    }
}

fn embed_newest_with(
    services: &Services,
    embedder: &dyn Embedder,
    limit: usize,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), StoreError> {
    let identity = embedder.identity();
    if embedder.is_instant() && 0 < services.store.count_without_vector(identity)? {
        services.store.refresh()?;
        let lacking = services.store.memories_without_vector(identity)?;
        let some = &lacking[..limit.min(lacking.len())];
        embed_listed(services, embedder, some, limit, progress)?;
    }
    Ok(())
}

/// Computes a few missing vectors before a search, unless looking for them takes too long.
pub(crate) fn embed_few(services: &Services, embedder: &dyn Embedder) -> Result<(), StoreError> {
    if embedder.is_instant()
        && 0 < services.store.count_without_vector(embedder.identity())?
        && count_memories(services.store.as_ref(), services.clock.now())? <= MAX_SCANNED
    {
        embed_newest_with(services, embedder, MAX_EMBEDDED_BY_SEARCH, &mut |_| ())?;
    }
    Ok(())
}

/// Returns the number of all memories.
pub(crate) fn count_memories(
    store: &dyn MemoryStore,
    now: DateTime<Utc>,
) -> Result<u64, StoreError> {
    let none = PageRequest {
        order: ListOrder::Created,
        offset: 0,
        limit: Some(0),
    };
    Ok(store.list(&Filter::all(), &none, now)?.total)
}

/// Computes and stores the vectors of memories, until the next one would exceed `limit` passages; returns the number of memories that
/// received vectors, and of those that the model cannot read. The first memory counts whatever its length is.
fn embed_listed(
    services: &Services,
    embedder: &dyn Embedder,
    ids: &[MemoryId],
    limit: usize,
    progress: &mut dyn FnMut(Progress),
) -> Result<(u64, u64), StoreError> {
    let total = Some(ids.len() as u64);
    let (mut kept, mut unreadable) = (0, 0);
    let mut store = |batch: &mut Vec<Memory>| -> Result<(), StoreError> {
        let vectors = embed_memories(embedder, &std::mem::take(batch))?;
        let is_unreadable = |own: &&TextVector| !own.vectors.iter().any(|part| is_nonzero(part));
        unreadable += vectors.iter().filter(is_unreadable).count() as u64;
        kept += services
            .store
            .store_vectors(embedder.identity(), &vectors)?;
        Ok(())
    };
    let (mut batch, mut waiting, mut spent) = (Vec::new(), 0, 0_usize);
    progress(Progress { done: 0, total });
    let mut done = 0;
    for id in ids {
        let Some(memory) = load_memory(services, id)? else {
            done += 1;
            continue;
        };
        let count = passages(&memory.content).len();
        if 0 < spent && limit < spent.saturating_add(count) {
            break;
        }
        batch.push(memory);
        done += 1;
        (spent, waiting) = (spent + count, waiting + count);
        if BATCH <= waiting {
            store(&mut batch)?;
            waiting = 0;
            progress(Progress { done, total });
        }
    }
    store(&mut batch)?;
    progress(Progress { done, total });
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
    memories: &[impl Borrow<Memory>],
) -> Result<Vec<TextVector>, EmbedError> {
    let passages: Vec<Vec<String>> = memories
        .iter()
        .map(|memory| embedded_passages(memory.borrow()))
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
            id: memory.borrow().id,
            text: ContentHash::of(&embedded_text(memory.borrow())),
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

/// The vectors of a memory's text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextVector {
    /// The memory.
    pub id: MemoryId,
    /// The hash of the text, see [`embedded_text`].
    pub text: ContentHash,
    /// The vectors of all its passages in order, each of length 1, see [`crate::embedded_passages`].
    ///
    /// A zero vector means that the model cannot read the passage.
    pub vectors: Vec<Embedding>,
}

/// Returns the text of a memory: its title, if any, and its content. Vectors belong to its hash.
pub fn embedded_text(memory: &Memory) -> String {
    match &memory.title {
        Some(title) => format!("{title}\n\n{}", memory.content),
        None => memory.content.clone(),
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
