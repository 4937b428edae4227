//! Having a model read the memories, so that they are found by what they mean.

use crate::embeddings::embedded_text;
use crate::{ContentHash, MemoryId, Progress, Services, StoreError, TextVector, has_direction};

/// So many texts are embedded and kept at once.
const BATCH: usize = 32;

/// What [`embed()`] did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EmbedReport {
    /// Memories that have a vector now and had none before.
    pub embedded: u64,
    /// Memories among them that the model cannot read, as their vectors of zeros say.
    pub unreadable: u64,
    /// Memories that have none yet.
    pub left: u64,
}

/// Gives vectors to memories that have none for the text they have now, newest first; to `limit` of them, if given.
///
/// Each batch is kept before the next one is begun: whatever stops this, the next run goes on from there. Nobody has to
/// wait for it, since a model is asked while nothing is locked.
///
/// # Errors
/// [`StoreError::NoModel`]; [`StoreError::Embed`] when the model gives no vectors; else when they cannot be kept.
pub fn embed(services: &Services, progress: &mut dyn FnMut(Progress), limit: Option<usize>) -> Result<EmbedReport, StoreError> {
    let embedder = services.embedder.as_deref().ok_or(StoreError::NoModel)?;
    services.store.refresh()?;
    let lacking = services.store.lacking(embedder.identity())?;
    let wanted = &lacking[..limit.map_or(lacking.len(), |limit| limit.min(lacking.len()))];
    let total = Some(wanted.len() as u64);
    let (mut kept, mut unreadable, mut done) = (0, 0, 0);
    progress(Progress { done, total });
    for ids in wanted.chunks(BATCH) {
        let texts = texts(services, ids)?;
        let vectors = embedder.embed(&texts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>())?;
        let vectors: Vec<TextVector> = texts
            .iter()
            .zip(vectors)
            .map(|((id, text), vector)| TextVector { id: *id, text: ContentHash::of(text), vector })
            .collect();
        unreadable += vectors.iter().filter(|vector| !has_direction(&vector.vector)).count() as u64;
        kept += services.store.keep_vectors(embedder.identity(), &vectors)?;
        done += ids.len() as u64;
        progress(Progress { done, total });
    }
    Ok(EmbedReport { embedded: kept, unreadable, left: services.store.lacking(embedder.identity())?.len() as u64 })
}

/// Returns the texts of memories; those that are gone by now are left out.
fn texts(services: &Services, ids: &[MemoryId]) -> Result<Vec<(MemoryId, String)>, StoreError> {
    let mut texts = Vec::with_capacity(ids.len());
    for id in ids {
        match services.store.get(id) {
            Ok(stored) => texts.push((*id, embedded_text(&stored.memory))),
            // What cannot be read is told by whoever looks for it.
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(texts)
}
