//! The in-memory vectors and cached analyses.

use super::{MemFile, MemStore};
use crate::{
    CachedAnalysis, ContentHash, Embeddings, Memory, MemoryId, MemorySummaries, MemorySummary, Scope, StoreError, TextVector,
    embedded_text, is_nonzero,
};

impl Embeddings for MemStore {
    fn memories_without_vector(&self, identity: &str) -> Result<Vec<MemoryId>, StoreError> {
        let state = self.state();
        let memories = state.files.values().map(|file| &file.memory);
        let mut lacking: Vec<&Memory> = memories.filter(|memory| state.vector(identity, memory).is_none()).collect();
        lacking.sort_by_key(|memory| (std::cmp::Reverse(memory.created_at), memory.id));
        Ok(lacking.into_iter().map(|memory| memory.id).collect())
    }

    fn has_vectors(&self, identity: Option<&str>) -> Result<bool, StoreError> {
        let is_wanted = |own: &str| identity.is_none_or(|identity| identity == own);
        Ok(self.state().vectors.iter().any(|(own, vectors)| is_wanted(own) && !vectors.is_empty()))
    }

    fn cosines(&self, pairs: &[(MemoryId, MemoryId)]) -> Result<Vec<Option<f32>>, StoreError> {
        let state = self.state();
        let cosine = |(one, other): &(MemoryId, MemoryId)| {
            let (one, other) = (&state.files.get(one)?.memory, &state.files.get(other)?.memory);
            let mut models: Vec<&String> = state.vectors.keys().collect();
            models.sort();
            let vectors = |model: &&String| Some((state.vector(model, one)?, state.vector(model, other)?));
            let are_nonzero = |(one, other): &(&TextVector, &TextVector)| is_nonzero(&one.vector) && is_nonzero(&other.vector);
            let (one, other) = models.iter().filter_map(vectors).find(are_nonzero)?;
            Some(one.vector.iter().zip(&other.vector).map(|(one, other)| one * other).sum())
        };
        Ok(pairs.iter().map(cosine).collect())
    }

    fn store_vectors(&self, identity: &str, vectors: &[TextVector]) -> Result<u64, StoreError> {
        let mut state = self.state();
        let is_current = |own: &&TextVector| {
            state.files.get(&own.id).is_some_and(|file| ContentHash::of(&embedded_text(&file.memory)) == own.text)
        };
        let current: Vec<TextVector> = vectors.iter().filter(is_current).cloned().collect();
        let count = current.len() as u64;
        state.vectors.entry(identity.to_owned()).or_default().extend(current.into_iter().map(|own| (own.id, own)));
        Ok(count)
    }
}

impl MemorySummaries for MemStore {
    fn summaries(&self) -> Result<Vec<MemorySummary>, StoreError> {
        let state = self.state();
        let summary = |(id, file): (&MemoryId, &MemFile)| {
            let memory = &file.memory;
            let text = ContentHash::of(&embedded_text(memory));
            MemorySummary {
                id: *id,
                phase: memory.phase,
                category: memory.category,
                scope: memory.scope.clone(),
                created_at: memory.created_at,
                updated_at: memory.updated_at,
                is_superseded: memory.superseded_by.is_some(),
                ends_at: memory.ends_at().filter(|_| memory.superseded_by.is_none()),
                access_count: memory.access_count + state.accesses.get(id).copied().unwrap_or_default(),
                is_damaged: false,
                text,
                impression: state.analyses.get(id).filter(|(of, _)| *of == text).map(|(_, bytes)| bytes.clone()),
            }
        };
        Ok(state.files.iter().map(summary).collect())
    }

    fn scopes(&self, ids: &[MemoryId]) -> Result<Vec<Option<Scope>>, StoreError> {
        let state = self.state();
        Ok(ids.iter().map(|id| state.files.get(id).map(|file| file.memory.scope.clone())).collect())
    }

    fn store_analyses(&self, analyses: &[CachedAnalysis]) -> Result<(), StoreError> {
        let mut state = self.state();
        for CachedAnalysis { id, text, bytes } in analyses {
            let current = state.files.get(id).map(|file| ContentHash::of(&embedded_text(&file.memory)));
            if current == Some(*text) {
                state.analyses.insert(*id, (*text, bytes.clone()));
            }
        }
        Ok(())
    }
}
